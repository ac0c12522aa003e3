//! The rules of devices that are given strides, and boxes.

use crate::checked::{Exact, wide_product};
use crate::error::{DeviceRule, Error};
use crate::map::ToIndexMap;
use alloc::vec;
use alloc::vec::Vec;

use super::limits::Limits;
use super::tensor::Tensor;

/// Every stride against every rule, and the size of the last axis.
pub(super) fn check_strides(tensor: &Tensor<'_>, strides: &[u64], limits: &Limits, errors: &mut Vec<Error>) {
    let (sizes, bits, data_type) = (tensor.sizes(), tensor.element_bits(), tensor.data_type());
    let in_elements = |bytes: u64| bits_to(wide_product(bytes, 8_u64).checked_div(bits.into()));
    let multiple = limits.stride_multiple_of(data_type);
    let max_stride = limits.max_stride.min(in_elements(limits.max_stride_bytes));
    let last = sizes.len().saturating_sub(1);
    for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
        if stride > max_stride {
            errors.push(DeviceRule::StrideLimit.at(axis, stride, max_stride));
        }
        if axis == last {
            if limits.unit_inner_stride && stride != 1 {
                errors.push(DeviceRule::InnerStride.at(axis, stride, 0));
            }
            let multiple = limits.inner_size_multiple_of(data_type);
            if !size.is_multiple_of(multiple) {
                errors.push(DeviceRule::SizeUnaligned.at(axis, size, multiple));
            }
            continue;
        }
        // Strides of any number of elements need not be whole bytes.
        if multiple > 1 && !wide_product(stride, bits).is_multiple_of(wide_product(multiple, 8_u64)) {
            errors.push(DeviceRule::StrideUnaligned.in_bits(Some(axis), stride, multiple, bits));
        }
        let next = axis.plus(1);
        let inside = strides.get(next).zip(sizes.get(next)).map_or(1, |(stride, size)| stride.saturating_mul(*size));
        if limits.packed_outside.is_some_and(|packed| last.minus(axis) >= packed) {
            if stride != inside {
                errors.push(DeviceRule::StrideNotPacked.at(axis, stride, inside));
            }
        } else if limits.ordered_strides && stride < inside {
            errors.push(DeviceRule::StrideOrder.at(axis, stride, inside));
        }
    }
    if let (Some(&size), Some(&stride)) = (sizes.first(), strides.first()) {
        let extent = wide_product(stride, bits).saturating_mul(size.into()).div_ceil(8);
        if extent > limits.max_extent.into() {
            errors.push(DeviceRule::BindingLimit.by(bits_to(Some(extent)), limits.max_extent));
        }
    }
}

fn bits_to(value: Option<u128>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(u64::MAX)
}

/// Checks the box that a device copies of a tensor at once, which has a size for each axis, against the rules
/// in [`Limits::box_limits`]. A box may pass the end of the tensor. Limits without such rules accept every
/// box of the right rank.
///
/// # Errors
///
/// Every [`Error`] that was found, at least one: [`RankMismatch`](crate::ArgumentRule);
/// [`DeviceRule::BoxLimit`](crate::DeviceRule::BoxLimit) for a size that is 0, or more than the device
/// copies; [`DeviceRule::BoxUnaligned`](crate::DeviceRule::BoxUnaligned) for rows that are not multiple of
/// what it asks; that of [`ToIndexMap::to_index_map`].
///
/// ```
/// use tensor_layout::upload::{validate_box, Limits, Swizzle};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let limits = Limits::cuda_tensor_map(Swizzle::Bytes128);
/// let weights = BufferTensorDesc::packed(DataType::BF16, &[4096, 4096])?;
/// assert!(validate_box(&weights, &[128, 64], &limits).is_ok());
/// // 128 elements are 256 bytes, twice the swizzle.
/// let errors = validate_box(&weights, &[128, 128], &limits).unwrap_err();
/// assert_eq!(errors[0].to_string(), "the box has size 128 on axis 1, but the device copies 1 to 64");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate_box<L: ToIndexMap + ?Sized>(layout: &L, sizes: &[u64], limits: &Limits) -> Result<(), Vec<Error>> {
    let tensor = Tensor::of(layout).map_err(|error| vec![error])?;
    let (rank, bits) = (tensor.sizes().len(), tensor.element_bits());
    if sizes.len() != rank {
        return Err(vec![Error::rank_mismatch("sizes of the box", rank, sizes.len())]);
    }
    let Some(rules) = limits.box_limits else { return Ok(()) };
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
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
