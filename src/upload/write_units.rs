//! Which units of memory a tensor is written in, and whether two tensors share one.
//!
//! A device writes whole units: bytes, or words of 4. Elements that are narrower share them, and two outputs that write into
//! one unit undo each other's writes although no element of theirs overlaps. The units of a tensor are a
//! tensor again: a run of elements becomes a run of units, and an axis whose stride is no whole number of units falls into as
//! many as it takes for the remainders to repeat.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "bits of tensors whose bytes fit 64 bits fit 68, and are added a few times in 128; the unit is not zero"
)]

use smallvec::SmallVec;

use crate::element::DataType;
use crate::strided::{BufferTensorDesc, Overlap};

/// The most pairs of parts that are compared.
const MAX_PAIRS: usize = 1 << 12;

/// A unit that two tensors share.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shared {
    No,
    /// The first byte of the unit.
    Byte(u64),
    TooHard,
}

/// Do two tensors, described over buffers that begin at these bytes of a larger one, have elements in one unit of
/// `unit` bytes?
pub(super) fn shared_unit(a: (&BufferTensorDesc, u64), b: (&BufferTensorDesc, u64), unit: u64) -> Shared {
    let unit = unit.max(1);
    let (Some(first), Some(second)) = (units(a, unit), units(b, unit)) else { return Shared::TooHard };
    if first.len().saturating_mul(second.len()) > MAX_PAIRS {
        return Shared::TooHard;
    }
    let mut answer = Shared::No;
    for (a, b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
        match a.overlap_with(b) {
            Overlap::No => {}
            Overlap::Yes { offset, .. } => return Shared::Byte(offset.saturating_mul(unit)),
            Overlap::TooHard => answer = Shared::TooHard,
        }
    }
    answer
}

/// One part of the units: where it begins, in bits, and its axes, sizes and strides in units.
struct Part {
    start: u128,
    axes: SmallVec<[(u64, u64); 8]>,
}

/// The units as tensors of single units; `None` if there are too many parts, or a number does not fit.
fn units((desc, at): (&BufferTensorDesc, u64), unit: u64) -> Option<Vec<BufferTensorDesc>> {
    if desc.logical_elements() == 0 {
        return Some(Vec::new());
    }
    let (bits, unit) = (u128::from(desc.data_type().bits()), u128::from(unit) * 8);
    let axes = desc.sizes().iter().zip(desc.strides()).filter(|(size, _)| **size > 1);
    let mut axes: SmallVec<[(u64, u128); 8]> = axes.map(|(&size, &stride)| (size, u128::from(stride) * bits)).collect();
    axes.sort_by_key(|&(_, stride)| stride);
    let start = u128::from(at) * 8 + u128::from(desc.base_offset()) * bits;
    let mut parts = vec![Part { start, axes: SmallVec::new() }];
    // The bits from an element on that follow each other without a gap.
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
        let of_part = |part: &Part| {
            let (start, axes) = (part.start, part.axes.clone());
            (0..remainders).map(move |index| {
                let mut axes = axes.clone();
                axes.push(((size - index).div_ceil(period), step));
                Part { start: start + u128::from(index) * stride, axes }
            })
        };
        parts = parts.iter().flat_map(of_part).collect();
    }
    parts.into_iter().map(|part| tensor(part, run, unit)).collect()
}

fn tensor(part: Part, run: u128, unit: u128) -> Option<BufferTensorDesc> {
    let (first, last) = (part.start / unit, (part.start + run - 1) / unit);
    let (mut sizes, mut strides): (SmallVec<[u64; 9]>, SmallVec<[u64; 9]>) = part.axes.into_iter().unzip();
    sizes.push(u64::try_from(last - first + 1).ok()?);
    strides.push(1);
    let units = BufferTensorDesc::new(DataType::U8, &sizes, Some(&strides)).ok()?;
    units.with_base_offset(u64::try_from(first).ok()?).ok()
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn literal((desc, at): (&BufferTensorDesc, u64), unit: u64) -> BTreeSet<u64> {
        let bits = u64::from(desc.data_type().bits());
        let of_element = |offset| (0..bits).map(move |bit| (8 * at + offset * bits + bit) / (8 * unit));
        desc.offsets().flat_map(of_element).collect()
    }

    fn any_desc() -> impl Strategy<Value = BufferTensorDesc> {
        let axes = proptest::collection::vec((0..6_u64, 0..30_u64), 0..4);
        let types = vec![DataType::U1, DataType::S2, DataType::U4, DataType::F16, DataType::F32];
        (axes, 0..40_u64, proptest::sample::select(types)).prop_map(|(axes, base, data_type)| {
            let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_unit_is_shared_exactly_if_some_bits_of_both_lie_in_it(
            a in any_desc(),
            b in any_desc(),
            at in (0..20_u64, 0..20_u64),
            unit in proptest::sample::select(vec![1, 2, 4, 16_u64]),
        ) {
            let (a, b) = ((&a, at.0), (&b, at.1));
            let (first, second) = (literal(a, unit), literal(b, unit));
            let common: BTreeSet<u64> = first.intersection(&second).map(|number| number * unit).collect();
            match shared_unit(a, b, unit) {
                Shared::No => prop_assert!(common.is_empty()),
                Shared::Byte(byte) => prop_assert!(common.contains(&byte), "{byte} not in {common:?}"),
                // A few of the axes that repeat places are; most of the tensors here must be decided.
                Shared::TooHard => prop_assume!(false, "too hard"),
            }
        }
    }
}
