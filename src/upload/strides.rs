//! The rules of devices that are given strides, and boxes.

use crate::checked::{self, Dims, Exact, OFFSET, at, wide_product};
use crate::element::DataType;
use crate::error::{DeviceRule, Error};
use crate::map::ToIndexMap;
use crate::strided::set_free_strides;
use alloc::vec;
use alloc::vec::Vec;

use super::limits::DeviceLimits;
use super::multiples::common_multiple;
use super::report::{Errors, UploadReport};
use super::tensor::Tensor;
use super::validate::{check_unplaced, tensor};

/// Every stride against every rule, and the size of the last axis.
///
/// Strides of axes of size 1 are free, and all strides are if there are no elements. The device compares
/// numbers all the same, so the rules are applied to the strides as they are and, if those break one, again
/// with free ones as the device takes them. What the free ones alone break is an error of its own kind, of
/// the axis of size 1.
pub(super) fn check_strides(tensor: &Tensor<'_>, given: &[u64], limits: &DeviceLimits, errors: &mut Vec<Error>) {
    let sizes = tensor.sizes();
    if sizes.contains(&0) {
        return;
    }
    if !limits.sizes_only && broken_rules(tensor, given, limits).is_empty() {
        return;
    }
    let legal = with_free_strides((sizes, given), (tensor.data_type(), tensor.element_bits()), limits);
    let settled = broken_rules(tensor, &legal, limits);
    let mut free = Vec::new();
    if !limits.sizes_only && *legal != *given {
        let literal = broken_rules(tensor, given, limits);
        for (axis, _) in literal
            .into_iter()
            .filter(|(axis, error)| !settled.iter().any(|other| other.0 == *axis && other.1.code() == error.code()))
        {
            // A rule of an axis is about the axis inside it as well.
            let blamed = [axis, axis.plus(1)]
                .into_iter()
                .find(|&axis| sizes.get(axis) == Some(&1) && at(given, axis) != at(&legal, axis));
            free.extend(blamed.filter(|axis| !free.contains(axis)));
        }
    }
    errors.extend(settled.into_iter().map(|(_, error)| error));
    errors.extend(free.into_iter().map(|axis| DeviceRule::FreeStride.at(axis, at(given, axis), at(&legal, axis))));
}

/// What these strides break, each with its axis.
fn broken_rules(tensor: &Tensor<'_>, strides: &[u64], limits: &DeviceLimits) -> Vec<(usize, Error)> {
    let (sizes, bits, data_type) = (tensor.sizes(), tensor.element_bits(), tensor.data_type());
    let in_elements = |bytes: u64| bits_to(wide_product(bytes, 8_u64).checked_div(bits.into()));
    let multiple = limits.stride_multiple_of(data_type);
    let max_stride = limits.max_stride.min(in_elements(limits.max_stride_bytes));
    let last = sizes.len().saturating_sub(1);
    let mut errors = Vec::new();
    for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
        if stride > max_stride {
            errors.push((axis, DeviceRule::StrideLimit.at(axis, stride, max_stride)));
        }
        if axis == last {
            if limits.unit_inner_stride && stride != 1 {
                errors.push((axis, DeviceRule::InnerStride.at(axis, stride, 0)));
            }
            let multiple = limits.inner_size_multiple_of(data_type);
            if !size.is_multiple_of(multiple) {
                errors.push((axis, DeviceRule::SizeUnaligned.at(axis, size, multiple)));
            }
            continue;
        }
        // Strides of any number of elements need not be whole bytes.
        if multiple > 1 && !wide_product(stride, bits).is_multiple_of(wide_product(multiple, 8_u64)) {
            errors.push((axis, DeviceRule::StrideUnaligned.in_bits(Some(axis), stride, multiple, bits)));
        }
        let next = axis.plus(1);
        let inside = strides.get(next).zip(sizes.get(next)).map_or(1, |(stride, size)| stride.saturating_mul(*size));
        if limits.packed_outside.is_some_and(|packed| last.minus(axis) >= packed) {
            if stride != inside {
                errors.push((axis, DeviceRule::StrideNotPacked.at(axis, stride, inside)));
            }
        } else if limits.ordered_strides && stride < inside {
            errors.push((axis, DeviceRule::StrideOrder.at(axis, stride, inside)));
        }
    }
    if let (Some(&size), Some(&stride)) = (sizes.first(), strides.first()) {
        let extent = wide_product(stride, bits).saturating_mul(size.into()).div_ceil(8);
        if extent > limits.max_extent.into() {
            errors.push((0, DeviceRule::BindingLimit.by(bits_to(Some(extent)), limits.max_extent)));
        }
    }
    errors
}

/// The strides with those of axes of size 1 as the device takes them.
pub(super) fn with_free_strides(
    (sizes, strides): (&[u64], &[u64]),
    (data_type, bits): (DataType, u32),
    limits: &DeviceLimits,
) -> Dims {
    let mut strides = Dims::from_slice(strides);
    let last = sizes.len().saturating_sub(1);
    let multiple = stride_multiple(data_type, bits, limits).unwrap_or(1);
    set_free_strides(sizes, &mut strides, |axis, inside, packed| match last.saturating_sub(axis) {
        depth if depth == 0 || limits.packed_outside.is_some_and(|outside| depth >= outside) => inside,
        _ => {
            let least = if limits.ordered_strides { inside } else { packed };
            checked::round_up(least, multiple, OFFSET).unwrap_or(least)
        }
    });
    strides
}

/// What strides of outer axes are multiples of, in elements.
pub(super) fn stride_multiple(data_type: DataType, bits: u32, limits: &DeviceLimits) -> Result<u64, Error> {
    let (bytes, bits) = (limits.stride_multiple_of(data_type), u64::from(bits));
    if bytes <= 1 {
        return Ok(1);
    }
    Ok(common_multiple(checked::mul(bytes, 8, OFFSET)?, bits)?.divided_by(bits))
}

fn bits_to(value: Option<u128>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(u64::MAX)
}

/// Checks the box that a device copies of a tensor at once, which has a size for each axis, against the rules
/// in [`DeviceLimits::box_limits`]. A box may pass the end of the tensor. Limits without such rules accept
/// every box of the right rank. Of the tensor itself nothing is checked: see [`validate_description`].
///
/// # Errors
///
/// Every [`Error`] that was found, at least one: [`RankMismatch`](crate::ArgumentRule);
/// [`DeviceRule::BoxLimit`](crate::DeviceRule::BoxLimit) for a size that is 0, or more than the device
/// copies; [`DeviceRule::BoxUnaligned`](crate::DeviceRule::BoxUnaligned) for rows that are not multiple of
/// what it asks; that of [`ToIndexMap::to_index_map`].
///
/// ```
/// use tensor_layout::upload::{validate_box, DeviceLimits, Swizzle};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let limits = DeviceLimits::cuda_tensor_map(Swizzle::Bytes128);
/// let weights = BufferTensorDesc::packed(DataType::BF16, &[4096, 4096])?;
/// assert!(validate_box(&weights, &[128, 64], &limits).is_ok());
/// // 128 elements are 256 bytes, twice the swizzle.
/// let errors = validate_box(&weights, &[128, 128], &limits).unwrap_err();
/// assert_eq!(errors[0].to_string(), "the box has size 128 on axis 1, but the device copies 1 to 64");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate_box<L: ToIndexMap + ?Sized>(
    layout: &L,
    sizes: &[u64],
    limits: &DeviceLimits,
) -> Result<UploadReport, Errors> {
    let tensor = tensor(layout, limits)?;
    let (report, _) = check_unplaced(&tensor, limits);
    let (rank, bits) = (tensor.sizes().len(), tensor.element_bits());
    if sizes.len() != rank {
        return Err(Errors::new(vec![Error::rank_mismatch("sizes of the box", rank, sizes.len())], report));
    }
    let Some(rules) = limits.box_limits else { return Ok(report) };
    let mut errors = Vec::new();
    for (axis, &size) in sizes.iter().enumerate() {
        let is_row = axis.plus(1) == rank;
        let widest = bits_to(wide_product(rules.max_row, 8_u64).checked_div(bits.into()));
        let max = if is_row { rules.max_size.min(widest) } else { rules.max_size };
        if size == 0 || size > max {
            errors.push(DeviceRule::BoxLimit.at(axis, size, max));
        }
        let row = wide_product(size, bits);
        if is_row && !row.is_multiple_of(wide_product(rules.row_multiple.max(1), 8_u64)) {
            errors.push(DeviceRule::BoxUnaligned.in_bits(Some(axis), size, rules.row_multiple, bits));
        }
    }
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
}
