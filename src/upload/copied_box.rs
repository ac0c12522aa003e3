//! `validate_box`: checks the box of a tensor that a device copies at once.

use alloc::vec;
use alloc::vec::Vec;

use crate::checked::{Exact, wide_product};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;

use super::limits::DeviceLimits;
use super::report::{Errors, UploadReport};
use super::strides::bits_to;
use super::validate::{check_unplaced, tensor};

/// Checks the box of a tensor that a device copies at once against the rules in [`DeviceLimits::box_limits`].
/// The box has a size for each axis. It may reach past the end of the tensor. Limits without box rules accept
/// every box of the right rank. This function does not check the tensor itself: see
/// [`validate_description`](super::validate_description).
///
/// # Errors
///
/// A list of every [`Error`] that was found, at least one: `rank_mismatch` if the box
/// does not have one size for each axis; `box_limit` for a size
/// that is 0 or above the limit; `box_unaligned` for rows whose
/// bytes are not a multiple of the required number; the errors of [`ToIndexMap::to_index_map`].
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
            errors.push(Code::BoxLimit.at(axis, size, max));
        }
        let row = wide_product(size, bits);
        if is_row && !row.is_multiple_of(wide_product(rules.row_multiple.max(1), 8_u64)) {
            errors.push(Error::in_bits(Code::BoxUnaligned, Some(axis), size, rules.row_multiple, bits));
        }
    }
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
}
