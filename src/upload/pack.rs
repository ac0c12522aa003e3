//! `pack_buffer`: places many tensors in one buffer, with the alignments that a device requires.

use alloc::vec::Vec;

use crate::checked::{self, BYTES, Exact};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;

use super::limits::DeviceLimits;
use super::multiples::common_multiple;
use super::tensor::Tensor;
use super::validate::{Role, check_unplaced};

/// The offsets that [`pack_buffer`] chose for the tensors.
///
/// ```
/// use tensor_layout::upload::{pack_buffer, DeviceLimits, PackedBuffer};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let (bias, weight) = (BufferTensorDesc::packed(DataType::F16, &[5])?, BufferTensorDesc::packed(DataType::F16, &[5, 5])?);
/// let packed: PackedBuffer = pack_buffer(&[&bias, &weight], &DeviceLimits::directml())?;
/// assert_eq!((packed.offsets, packed.len), (vec![0, 16], 68));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackedBuffer {
    /// The offset of each tensor's buffer, in bytes, in the order of the tensors. The tensor's own base
    /// offset is added to this offset, as in [`UploadBuffer`](super::UploadBuffer).
    pub offsets: Vec<u64>,
    /// The length of the buffer, in bytes.
    pub len: u64,
}

/// Places tensors, in any layouts, one after the other in one buffer. Each tensor is aligned as the device
/// and its descriptor require, and gets the bytes of its total size. No two ranges overlap.
///
/// This function only chooses offsets. [`validate`](super::validate) checks the other rules.
///
/// # Errors
///
/// `binding_limit` for a tensor that is too large for one
/// binding (use [`split_binding`](super::split_binding) and pack the pieces). `overflow` if the size
/// of the buffer does not fit 64 bits. `buffer_limit` if the
/// size exceeds the device's limit. The errors of [`ToIndexMap::to_index_map`].
///
/// ```
/// use tensor_layout::upload::{pack_buffer, DeviceLimits};
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
///
/// let bias = BufferTensorDesc::packed(DataType::F16, &[3])?;
/// let tiled: ArrayShape = "f32[5]{0:T(8)}".parse()?;
/// let packed = pack_buffer(&[&bias, &tiled], &DeviceLimits::webgpu())?;
/// assert_eq!((packed.offsets, packed.len), (vec![0, 256], 288));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn pack_buffer(layouts: &[&dyn ToIndexMap], limits: &DeviceLimits) -> Result<PackedBuffer, Error> {
    let mut packed = PackedBuffer { offsets: Vec::new(), len: 0 };
    for layout in layouts {
        let (offset, end) = place(*layout, packed.len, Role::Input, limits)?;
        packed.offsets.push(offset);
        packed.len = end;
    }
    if packed.len > limits.max_buffer {
        return Err(Code::BufferLimit.by(packed.len, limits.max_buffer));
    }
    Ok(packed)
}

/// Places a tensor behind the first `used` bytes of a buffer. Returns the offset of the tensor's buffer, and
/// the end of its binding.
pub(super) fn place(
    layout: &dyn ToIndexMap,
    used: u64,
    role: Role,
    limits: &DeviceLimits,
) -> Result<(u64, u64), Error> {
    let tensor = Tensor::of(layout)?;
    let (report, _) = check_unplaced(&tensor, limits);
    if report.total_bytes > limits.max_binding {
        return Err(Code::BindingLimit.by(report.total_bytes, limits.max_binding));
    }
    // If the base offset is part of the binding, the sum of both offsets must be aligned.
    let base_bytes = report.bound.start;
    let earliest = checked::add(used, base_bytes, BYTES)?;
    // If the device requires no alignment, elements still begin at multiples of their size, and outputs are
    // apart by units that are written at once.
    let unit = if role == Role::Output { limits.write_unit } else { 1 };
    let alignment = common_multiple(common_multiple(report.alignment_required, tensor.element_bytes())?, unit)?;
    let start = checked::round_up(earliest, alignment, BYTES)?;
    let length = checked::round_up(report.total_bytes, unit.max(1), BYTES)?;
    Ok((start.minus(base_bytes), checked::add(start, length, BYTES)?))
}
