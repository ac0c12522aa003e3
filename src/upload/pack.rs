//! `pack_buffer`: places many tensors in one buffer, with the alignments that a device requires.

use alloc::vec::Vec;

use crate::checked::{self, BYTES, Exact};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;

use super::limits::DeviceLimits;
use super::multiples::common_multiple;
use super::tensor::Tensor;
use super::validate::check_unplaced;

/// The offsets that [`pack_buffer`] chose for the tensors.
///
/// ```
/// use tensor_layout::upload::{pack_buffer, DeviceLimits, PackedBuffer};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let (bias, weight) = (BufferTensorDesc::packed(DataType::F16, &[5])?, BufferTensorDesc::packed(DataType::F16, &[5, 5])?);
/// let packed: PackedBuffer = pack_buffer([&bias, &weight], &DeviceLimits::directml())?;
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

/// Places tensors one after the other in one buffer. Each tensor is aligned as the device and its descriptor
/// require, and gets the bytes of its total size. No two ranges overlap.
///
/// This function only chooses offsets. [`validate`](super::validate) checks the other rules.
///
/// # Errors
///
/// `binding_limit` for a tensor that is too large for one
/// binding (use [`pieces_along`](super::pieces_along) and pack the pieces). `overflow` if the size
/// of the buffer does not fit 64 bits. `buffer_limit` if the
/// size exceeds the device's limit. The errors of [`ToIndexMap::to_index_map`].
///
/// ```
/// use tensor_layout::upload::{pack_buffer, DeviceLimits};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let bias = BufferTensorDesc::packed(DataType::F16, &[3])?;
/// let weights = BufferTensorDesc::packed(DataType::F32, &[5])?;
/// let packed = pack_buffer([&bias, &weights], &DeviceLimits::directml())?;
/// assert_eq!((packed.offsets, packed.len), (vec![0, 16], 36));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn pack_buffer<'a, L: ToIndexMap + ?Sized + 'a>(
    layouts: impl IntoIterator<Item = &'a L>,
    limits: &DeviceLimits,
) -> Result<PackedBuffer, Error> {
    let mut packed = PackedBuffer { offsets: Vec::new(), len: 0 };
    for layout in layouts {
        let tensor = Tensor::of(layout)?;
        let (report, _) = check_unplaced(&tensor, limits);
        // If the base offset is part of the binding, the sum of both offsets must be aligned.
        if report.total_bytes > limits.max_binding {
            return Err(Code::BindingLimit.by(report.total_bytes, limits.max_binding));
        }
        let base_bytes = report.bound.start;
        let earliest = checked::add(packed.len, base_bytes, BYTES)?;
        // If the device requires no alignment, elements still begin at multiples of their size.
        let alignment = common_multiple(report.alignment_required, tensor.element_bytes())?;
        let start = checked::round_up(earliest, alignment, BYTES)?;
        packed.offsets.push(start.minus(base_bytes));
        packed.len = checked::add(start, report.total_bytes, BYTES)?;
    }
    if packed.len > limits.max_buffer {
        return Err(Code::BufferLimit.by(packed.len, limits.max_buffer));
    }
    Ok(packed)
}
