//! `Windows`: divides a range of bytes, with any start, into as many bindings as it takes.

use core::iter::FusedIterator;
use core::ops::Range;

use crate::checked::{self, BYTES, Exact};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;

use super::limits::DeviceLimits;
use super::multiples::{byte_of, common_multiple, whole_elements};
use super::pieces::Pieces;
use super::tensor::Tensor;
use super::validate::piece_alignment;

/// One binding, and the part of a longer range of bytes that a shader reaches through this binding.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, Window, Windows};
///
/// let window: Window = Windows::new(280..1000, 32, &DeviceLimits::webgpu())?.next().unwrap();
/// assert_eq!((window.bound.clone(), window.bytes.clone(), window.base), (256..1000, 280..1000, 24));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Window {
    /// The bytes of the buffer to bind. The start and the length are multiples of the numbers that the device
    /// requires.
    pub bound: Range<u64>,
    /// The bytes of the longer range that this window covers, counted from the start of the buffer.
    pub bytes: Range<u64>,
    /// The number of bytes between the start of the binding and `bytes`. A shader adds this number to its
    /// offsets.
    pub base: u64,
}

/// An iterator over the bindings that cover a range of bytes by the rules of a device.
///
/// A binding begins at a multiple of [`DeviceLimits::offset_alignment`], but a range may begin anywhere. The
/// start is rounded *down*, and the bytes in between are the base of the first window. A range that is longer
/// than [`DeviceLimits::max_binding`] takes several windows. Neighbouring windows meet at multiples of the
/// alignment and never inside an element. If the first binding begins at `start` and is `step` bytes long,
/// byte `b` of the buffer is in window `(b - start) / step`, at byte `(b - start) % step` of its binding.
///
/// The end is rounded up to [`DeviceLimits::size_multiple`], so the buffer must reach to the rounded end.
///
/// The iterator holds a few numbers, however many windows there are, and counts them without iterating.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, Windows};
///
/// // f32 elements 70 to 1069, in bindings of at most 2048 bytes.
/// let mut limits = DeviceLimits::webgpu();
/// limits.max_binding = 2048;
/// let windows = Windows::new(280..4280, 32, &limits)?;
/// let windows: Vec<_> = windows.collect();
/// assert_eq!((windows[0].bound.clone(), windows[0].base), (256..2304, 24));
/// assert_eq!((windows[1].bound.clone(), windows[1].base), (2304..4280, 0));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// The bound ranges, before the end is rounded.
    pieces: Pieces,
    /// The first byte of the range.
    first: u64,
    size_multiple: u64,
}

impl Windows {
    /// Returns the windows of `bytes`. The range holds elements of `element_bits` bits and begins with an
    /// element.
    ///
    /// A [`Piece`](crate::relayout::Piece) of a copy has two ranges for this function: its `source_range` and
    /// its `destination_range`.
    ///
    /// # Errors
    ///
    /// If the range takes several windows,
    /// `offset_unaligned` if an element would be in two
    /// windows, because the range does not begin at a multiple of an element's bytes;
    /// `no_pieces` if the largest binding is below the alignment.
    /// For any range, `overflow` if the rounded end exceeds 64 bits.
    pub fn new(bytes: Range<u64>, element_bits: u32, limits: &DeviceLimits) -> Result<Windows, Error> {
        let Range { start: first, end } = bytes;
        let end = end.max(first);
        let size_multiple = limits.size_multiple.max(1);
        let down = |value: u64, multiple: u64| value.minus(value.modulo(multiple.max(1)));
        // `validate` lets a binding begin at a whole element if the range begins at one.
        let element = whole_elements(element_bits);
        let unit = common_multiple(limits.offset_alignment, element).unwrap_or(u64::MAX);
        let start = down(first, if first.is_multiple_of(element) { unit } else { limits.offset_alignment });
        // The length of every window but the last is a multiple of `size_multiple`, so rounding adds bytes
        // only at the end.
        let rounded = |start| checked::round_up(end.minus(start), size_multiple, BYTES);
        let length = rounded(start)?;
        checked::add(start, length, BYTES)?;
        // An empty range has no window.
        let windows = |start, step| {
            let start = if first < end { start } else { end };
            Ok(Windows { pieces: Pieces::in_steps(start..end, step), first, size_multiple })
        };
        if length <= limits.max_binding {
            return windows(start, length);
        }
        if !first.is_multiple_of(element) {
            return Err(Code::OffsetUnaligned.by(first, element));
        }
        // No window splits an element, so the first window also starts with a whole element.
        let alignment = piece_alignment(element, limits);
        let start = down(first, alignment);
        checked::add(start, rounded(start)?, BYTES)?;
        let step = down(limits.max_binding, alignment);
        if step == 0 {
            return Err(Code::NoPieces.by(limits.max_binding, alignment));
        }
        windows(start, step)
    }
}

impl Iterator for Windows {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        let Range { start, end } = self.pieces.next()?;
        let bytes = start.max(self.first)..end;
        // This cannot fail, because the end of the last window was rounded in `new`.
        let length = end.minus(start).checked_next_multiple_of(self.size_multiple)?;
        let base = bytes.start.minus(start);
        Some(Window { bound: start..start.checked_add(length)?, bytes, base })
    }

    fn count(self) -> usize {
        self.pieces.count()
    }
}

impl FusedIterator for Windows {}

/// Returns the windows of a whole layout whose buffer begins `offset` bytes into a larger buffer. The windows
/// cover the bytes that [`validate`](super::validate) binds, before rounding. With
/// [`DeviceLimits::base_offset_in_binding`] the windows begin near the first element. Without it they begin
/// with the layout's buffer, and the offsets of the layout's index map count from there.
///
/// # Errors
///
/// The errors of [`Windows::new`] and of [`ToIndexMap::to_index_map`].
///
/// ```
/// use tensor_layout::{upload::{windows_of, DeviceLimits}, ArrayShape};
///
/// // 32,000 rows in tiles of 8 x 128: 256 MiB, two bindings of the default size and a little more.
/// let weights: ArrayShape = "bf16[32000,4096]{1,0:T(8,128)(2,1)}".parse()?;
/// let windows = windows_of(&weights, 0, &DeviceLimits::webgpu())?;
/// assert_eq!(windows.clone().count(), 2);
/// assert_eq!(windows.last().unwrap().bound, 128 << 20..32000 * 4096 * 2);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn windows_of<L: ToIndexMap + ?Sized>(layout: &L, offset: u64, limits: &DeviceLimits) -> Result<Windows, Error> {
    let tensor = Tensor::of(layout)?;
    let bits = tensor.element_bits();
    let base = if limits.base_offset_in_binding { tensor.base_offset() } else { 0 };
    let first = checked::add(offset, byte_of(base, bits)?, BYTES)?;
    let end = checked::add(offset, checked::bytes_for(tensor.span_elements(), bits)?, BYTES)?;
    Windows::new(first..end, bits, limits)
}

#[cfg(test)]
mod tests;
