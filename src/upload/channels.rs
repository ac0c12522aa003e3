//! `channel_conflict`: finds row pitches that put all rows on few of a GPU's memory channels.

use crate::checked::wide_product;
use crate::short_sort::sort_by_key;
use core::fmt;

use alloc::vec::Vec;

use crate::strided::BufferTensorDesc;

/// The number of memory channels of a GPU, and the bytes on one channel before the next begins, for today's
/// GPUs of AMD.
const CHANNELS: u64 = 16;
const CHANNEL_BYTES: u64 = 256;

/// Rows that begin on more memory channels than this are not reported as a conflict.
const CROWDED: u64 = 2;

/// A row pitch that makes all rows begin on one or two memory channels. Reads of a column, or of a narrow
/// block of many rows, then wait for these channels while the others are idle.
///
/// llama.cpp found this conflict on AMD GPUs (its issue 27703). The memory of these GPUs is spread over 16
/// channels in turns of 256 bytes, so rows share channels if their pitch is a multiple of 256 bytes times a
/// power of two. A pitch that is 256 bytes larger spreads the rows again.
///
/// `Display` writes the conflict as a sentence.
///
/// ```
/// use tensor_layout::upload::{channel_conflict, ChannelConflict};
///
/// let conflict: ChannelConflict = channel_conflict(&"f16[64,1024]:[1024,1]".parse()?).unwrap();
/// assert!(conflict.to_string().starts_with("axis 0 has a row pitch of 2048 bytes"));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelConflict {
    /// The axis whose stride is the row pitch.
    pub axis: usize,
    /// The row pitch, in bytes.
    pub pitch: u64,
    /// The number of memory channels, out of 16, on which rows begin.
    pub channels: u64,
    /// The next larger pitch with which rows begin on all channels, in bytes.
    pub better: u64,
}

impl fmt::Display for ChannelConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChannelConflict { axis, pitch, channels, better } = self;
        write!(
            f,
            "axis {axis} has a row pitch of {pitch} bytes, so that rows begin on {channels} of {CHANNELS} memory channels of a GPU that \
             spreads its memory {CHANNEL_BYTES} bytes at a time; {better} would spread them"
        )
    }
}

/// Returns the conflict if the row pitch makes all rows begin on one or two memory channels. The row pitch is
/// the stride of the second innermost axis in memory. A tensor of 16 rows or fewer has no conflict.
///
/// ```
/// use tensor_layout::{upload::channel_conflict, BufferTensorDesc, DataType};
///
/// let square = BufferTensorDesc::packed(DataType::F32, &[4096, 4096])?;
/// let conflict = channel_conflict(&square).unwrap();
/// assert_eq!((conflict.axis, conflict.pitch, conflict.channels, conflict.better), (0, 16384, 1, 16640));
/// let rows = BufferTensorDesc::padded_rows(DataType::F32, &[4096, 4096], 16640)?;
/// assert_eq!((rows.strides(), channel_conflict(&rows)), (&[4160, 1][..], None));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn channel_conflict(desc: &BufferTensorDesc) -> Option<ChannelConflict> {
    let axes = desc.sizes().iter().zip(desc.strides()).enumerate();
    let mut axes: Vec<(usize, u64, u64)> = axes
        .filter(|(_, (size, stride))| **size > 1 && **stride > 0)
        .map(|(axis, (&size, &stride))| (axis, size, stride))
        .collect();
    // The sort is stable: of axes with equal strides, the first axis comes first.
    sort_by_key(&mut axes, |&(_, _, stride)| stride);
    let &(axis, rows, stride) = axes.get(1)?;
    let pitch_bits = wide_product(stride, desc.data_type().bits());
    let pitch = u64::try_from(pitch_bits.div_euclid(8)).ok().filter(|_| pitch_bits.is_multiple_of(8))?;
    let steps = pitch.div_euclid(CHANNEL_BYTES);
    if rows <= CHANNELS || steps == 0 || !pitch.is_multiple_of(CHANNEL_BYTES) {
        return None;
    }
    let shared = 1_u64.checked_shl(steps.trailing_zeros()).unwrap_or(CHANNELS).min(CHANNELS);
    let channels = CHANNELS.div_euclid(shared);
    (channels <= CROWDED).then(|| ChannelConflict {
        axis,
        pitch,
        channels,
        better: pitch.saturating_add(CHANNEL_BYTES),
    })
}
