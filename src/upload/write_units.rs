//! The units of memory that a tensor is written in, and whether two tensors share a unit.
//!
//! A device writes whole units: bytes, or words of 4 bytes. Narrower elements share units. If two outputs
//! write into one unit, they may undo each other's writes although their elements do not overlap. The units
//! of a tensor form tensors again, whose elements are units. A run of elements becomes a run of units. If the
//! stride of an axis is not a whole number of units, indices of the axis begin at different bits of a unit.
//! The tensor is then split into one part for each of these bit positions.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "bits of tensors whose bytes fit 64 bits fit 68, and are added a few times in 128; the unit is not zero"
)]

use crate::checked::Dims;
use crate::checked::{Proven, gcd};
use alloc::vec;
use alloc::vec::Vec;

use crate::element::DataType;
use crate::short_sort::sort_by_key;
use crate::strided::{BufferTensorDesc, Overlap};

/// The most pairs of parts that are compared. With more pairs, the answer is `Undecided`.
const MAX_PAIRS: usize = 1 << 12;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shared {
    No,
    /// The tensors share a unit that begins at this byte.
    Byte(u64),
    Undecided,
}

/// Whether two tensors have elements in the same unit of `unit` bytes. Their buffers begin at the given bytes
/// of one larger buffer.
pub(super) fn shared_unit(a: (&BufferTensorDesc, u64), b: (&BufferTensorDesc, u64), unit: u64) -> Shared {
    let unit = unit.max(1);
    let (Some(first), Some(second)) = (units(a, unit), units(b, unit)) else { return Shared::Undecided };
    if first.len().saturating_mul(second.len()) > MAX_PAIRS {
        return Shared::Undecided;
    }
    let mut answer = Shared::No;
    for (a, b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
        match a.overlap_with(b) {
            Overlap::No => {}
            Overlap::Yes { offset, .. } => return Shared::Byte(offset.times(unit)),
            Overlap::Undecided => answer = Shared::Undecided,
        }
    }
    answer
}

/// The bits of the units that hold an element. If two rows share a unit, it may be counted twice.
pub(super) fn bits_in_units(tensor: (&BufferTensorDesc, u64), unit: u64) -> Option<u128> {
    let units = units(tensor, unit.max(1))?;
    Some(units.iter().map(|part| u128::from(part.element_count()) * u128::from(unit.max(1)) * 8).sum())
}

/// A part of a tensor's units: its first bit, and sizes and strides of its axes in units.
struct UnitAxes {
    start: u128,
    axes: Vec<(u64, u64)>,
}

/// The units that hold elements, as tensors, or `None` for more than [`MAX_PAIRS`] parts or past 64 bits.
fn units((desc, at): (&BufferTensorDesc, u64), unit: u64) -> Option<Vec<BufferTensorDesc>> {
    if desc.element_count() == 0 {
        return Some(Vec::new());
    }
    let (bits, unit) = (u128::from(desc.data_type().bits()), u128::from(unit) * 8);
    let axes = desc.sizes().iter().zip(desc.strides()).filter(|(size, _)| **size > 1);
    let mut axes: Vec<(u64, u128)> = axes.map(|(&size, &stride)| (size, u128::from(stride) * bits)).collect();
    sort_by_key(&mut axes, |&(_, stride)| stride);
    let start = u128::from(at) * 8 + u128::from(desc.base_offset()) * bits;
    let mut parts = vec![UnitAxes { start, axes: Vec::new() }];
    // The number of contiguous bits from the start of an element on that belong to elements.
    let mut run = bits;
    for (size, stride) in axes {
        if stride <= run {
            run += stride * u128::from(size - 1);
            continue;
        }
        let period = u64::try_from(unit / gcd(stride, unit)).ok()?;
        let step = u64::try_from(stride * u128::from(period) / unit).ok()?;
        let remainders = period.min(size);
        if usize::try_from(remainders).ok()?.saturating_mul(parts.len()) > MAX_PAIRS {
            return None;
        }
        let of_part = |part: &UnitAxes| {
            let (start, axes) = (part.start, part.axes.clone());
            (0..remainders).map(move |index| {
                let mut axes = axes.clone();
                axes.push(((size - index).div_ceil(period), step));
                UnitAxes { start: start + u128::from(index) * stride, axes }
            })
        };
        parts = parts.iter().flat_map(of_part).collect();
    }
    parts.into_iter().map(|part| tensor(part, run, unit)).collect()
}

fn tensor(part: UnitAxes, run: u128, unit: u128) -> Option<BufferTensorDesc> {
    let (first, last) = (part.start / unit, (part.start + run - 1) / unit);
    let (mut sizes, mut strides): (Dims, Dims) = part.axes.into_iter().unzip();
    sizes.push(u64::try_from(last - first + 1).ok()?);
    strides.push(1);
    let units = BufferTensorDesc::new(DataType::U8, &sizes, Some(&strides)).ok()?;
    units.with_base_offset(u64::try_from(first).ok()?).ok()
}
