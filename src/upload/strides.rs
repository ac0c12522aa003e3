//! Checks the rules on strides, for devices that get sizes and strides instead of a range of bytes.

use crate::checked::{self, Dims, OFFSET, Proven, nth_or_panic, wide_product};
use crate::element::DataType;
use crate::error::{Code, Error};
use crate::short_sort::sort_by_key;
use crate::strided::set_free_strides;
use alloc::vec::Vec;
use core::cmp::Reverse;

use smallvec::SmallVec;

use super::limits::{DeviceLimits, common_multiple};
use super::tensor::Tensor;

/// Checks every stride against every rule, and the size of the last axis.
///
/// The strides of axes of size 1 are never used, and no stride is used if there are no elements. But the
/// device compares the numbers, so the rules are first applied to the strides as they are. A tensor without
/// elements has to obey them, unless the device ignores such strides or is given none. If another tensor
/// breaks a rule, the rules are applied again, with legal strides in place of the unused ones. Errors that
/// then remain are reported. An error that goes away was caused by an unused stride, and becomes a
/// `free_stride` of that axis.
pub(super) fn check_strides(tensor: &Tensor<'_>, given: &[u64], limits: &DeviceLimits, errors: &mut Vec<Error>) {
    let sizes = tensor.sizes();
    if sizes.contains(&0) {
        let reads_strides = !limits.sizes_only && !limits.ignores_unit_strides;
        let broken = broken_rules(tensor, given, limits).into_iter();
        return errors.extend(broken.filter(|error| reads_strides || error.code() == "size_unaligned"));
    }
    // A device that is given sizes alone sees no strides.
    let literal = if limits.sizes_only { Vec::new() } else { broken_rules(tensor, given, limits) };
    if !limits.sizes_only && literal.is_empty() {
        return;
    }
    let legal = with_free_strides((sizes, given), (tensor.data_type, tensor.element_bits), limits);
    let settled = broken_rules(tensor, &legal, limits);
    let mut free = Vec::new();
    let is_free = |axis: usize| sizes.get(axis) == Some(&1) && nth_or_panic(given, axis) != nth_or_panic(&legal, axis);
    let same = |a: &Error, b: &Error| (a.axis(), a.code()) == (b.axis(), b.code());
    for error in literal.iter().filter(|error| !settled.iter().any(|other| same(other, error))) {
        // The rule of an axis also reads the stride of the next axis, so the unused stride of either may be
        // the cause. In another order of memory the cause is a further axis. An error of the whole tensor has
        // no axis, so any axis may be the cause.
        let axis = error.axis().unwrap_or(0);
        let blamed = [axis, axis.plus(1)].into_iter().chain(0..sizes.len()).find(|&axis| is_free(axis));
        free.extend(blamed.filter(|axis| !free.contains(axis)));
    }
    errors.extend(settled);
    errors.extend(
        free.into_iter()
            .map(|axis| Code::FreeStride.on_axis(axis, nth_or_panic(given, axis), nth_or_panic(&legal, axis))),
    );
}

fn broken_rules(tensor: &Tensor<'_>, strides: &[u64], limits: &DeviceLimits) -> Vec<Error> {
    let (sizes, bits, data_type) = (tensor.sizes(), tensor.element_bits, tensor.data_type);
    let in_elements = |bytes: u64| bits_to(wide_product(bytes, 8_u64).checked_div(bits.into()));
    let multiple = limits.stride_multiple_of(data_type);
    let max_stride = limits.max_stride.min(in_elements(limits.max_stride_bytes));
    let mut order: SmallVec<[usize; 8]> =
        (0..sizes.len()).filter(|&axis| !limits.ignores_unit_strides || nth_or_panic(sizes, axis) != 1).collect();
    if limits.any_order {
        sort_by_key(&mut order, |&axis| Reverse((nth_or_panic(strides, axis), nth_or_panic(sizes, axis))));
    }
    let last = order.last().copied().unwrap_or(0);
    let mut errors = Vec::new();
    for (place, &axis) in order.iter().enumerate() {
        let (size, stride) = (nth_or_panic(sizes, axis), nth_or_panic(strides, axis));
        if stride > max_stride {
            errors.push(Code::StrideLimit.on_axis(axis, stride, max_stride));
        }
        if axis == last {
            if limits.unit_inner_stride && stride != 1 {
                errors.push(Code::InnerStride.on_axis(axis, stride, 0));
            }
            let multiple = limits.strictest(data_type, 1, |limits| limits.inner_size_multiple);
            if !size.is_multiple_of(multiple) {
                errors.push(Code::SizeUnaligned.on_axis(axis, size, multiple));
            }
        }
        if limits.repeats_outermost_only && stride == 0 && size > 1 && sizes.iter().take(axis).any(|&size| size > 1) {
            errors.push(Code::StrideRepeated.on_axis(axis, 0, 0));
        }
        // Elements of arrays are apart along all axes; the other rule is for all axes but the last. The
        // strides may be any number of elements, so without a rule they need not be whole bytes.
        let apart = if size > 1 { limits.array_stride() } else { 1 };
        let multiple = if axis == last { apart } else { common_multiple(multiple, apart).unwrap_or(u64::MAX) };
        let whole_bytes = limits.whole_byte_rows && stride > 1;
        if (multiple > 1 || whole_bytes) && !wide_product(stride, bits).is_multiple_of(wide_product(multiple, 8_u64)) {
            errors.push(Code::StrideUnaligned.on_axis(axis, stride, multiple).with_other(bits.into()));
        }
        if axis == last {
            continue;
        }
        let inside = order
            .get(place.plus(1))
            .map_or(1, |&next| nth_or_panic(strides, next).saturating_mul(nth_or_panic(sizes, next)));
        if limits.packed_outside.is_some_and(|packed| order.len().minus(place) > packed) {
            if stride != inside {
                errors.push(Code::StrideNotPacked.on_axis(axis, stride, inside));
            }
        } else if limits.ordered_strides && stride < inside {
            errors.push(Code::StrideOrder.on_axis(axis, stride, inside));
        }
    }
    if limits.run_multiple > 1 && !sizes.contains(&0) {
        let (axis, run) = contiguous_run(sizes, strides);
        if !wide_product(run, bits).is_multiple_of(wide_product(limits.run_multiple, 8_u64)) {
            errors.push(Code::RunUnaligned.on_axis(axis, run, limits.run_multiple).with_other(bits.into()));
        }
    }
    let steps = order
        .iter()
        .map(|&axis| wide_product(nth_or_panic(strides, axis), bits).saturating_mul(nth_or_panic(sizes, axis).into()));
    let extent = steps.max().unwrap_or(0).div_ceil(8);
    if extent > limits.max_extent.into() {
        errors.push(Code::BindingLimit.for_value(bits_to(Some(extent)), limits.max_extent));
    }
    errors
}

/// The outermost axis of the contiguous runs of elements, and their length.
fn contiguous_run(sizes: &[u64], strides: &[u64]) -> (usize, u64) {
    let (mut axis, mut run) = (sizes.len().saturating_sub(1), 1_u64);
    for (place, (&size, &stride)) in sizes.iter().zip(strides).enumerate().rev().filter(|(_, (size, _))| **size > 1) {
        if stride != run {
            break;
        }
        (axis, run) = (place, run.saturating_mul(size));
    }
    (axis, run)
}

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

/// The number that the strides of all axes but the last must be a multiple of, in elements.
pub(super) fn stride_multiple(data_type: DataType, bits: u32, limits: &DeviceLimits) -> Result<u64, Error> {
    let bytes = common_multiple(limits.stride_multiple_of(data_type), limits.array_stride())?;
    let bits = u64::from(bits);
    if bytes <= 1 && !limits.whole_byte_rows {
        return Ok(1);
    }
    Ok(common_multiple(checked::mul(bytes, 8, OFFSET)?, bits)?.divided_by(bits))
}

pub(super) fn bits_to(value: Option<u128>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(u64::MAX)
}
