//! Searches for two indices of a strided tensor that share an offset.

use alloc::vec::Vec;

use alloc::vec;

use crate::checked::{Dims, Proven, gcd};
use crate::short_sort::sort_by_key;

/// The most search steps that [`BufferTensorDesc::overlap`](crate::BufferTensorDesc::overlap) takes before it
/// returns [`Overlap::Undecided`].
pub const OVERLAP_WORK_LIMIT: u64 = 100_000;

/// The result of a search for two different indices that share an offset.
///
/// The question is a bounded integer equation, which is hard in general (see NumPy's page about
/// `may_share_memory`), so a search may end with [`Overlap::Undecided`]. Layouts in use are decided. No
/// search is needed if each stride is larger than the largest offset of all axes with smaller strides, if a
/// stride is 0, or if two strides are equal.
///
/// ```
/// use tensor_layout::{strided::Overlap, BufferTensorDesc, DataType};
///
/// // The usual quick test calls this one overlapping. It is not: 4i = 3j has no solution here.
/// let desc = BufferTensorDesc::new(DataType::F32, &[3, 4], Some(&[4, 3]))?;
/// assert_eq!(desc.overlap(), Overlap::No);
///
/// let desc = BufferTensorDesc::new(DataType::F32, &[4, 5], Some(&[4, 3]))?;
/// assert_eq!(desc.overlap(), Overlap::Yes { first: vec![3, 0], second: vec![0, 4], offset: 12 });
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// Every index has an offset of its own.
    No,
    /// Two different indices are stored at the same offset.
    Yes {
        /// The first of the two indices.
        first: Vec<u64>,
        /// The second of the two indices.
        second: Vec<u64>,
        /// The offset of both elements, in elements.
        offset: u64,
    },
    /// The search reached the work limit.
    Undecided,
}

/// A term of the equation: `coefficient * value` for a value in `least..=most`, and a coefficient of 0 or
/// more.
pub(super) struct Term {
    pub(super) coefficient: i128,
    pub(super) least: i128,
    pub(super) most: i128,
}

pub(super) type Terms = Vec<Term>;

pub(super) type Values = Vec<i128>;

pub(crate) fn find_overlap(sizes: &[u64], strides: &[u64], work: u64) -> Overlap {
    if sizes.contains(&0) {
        return Overlap::No;
    }
    let all = sizes.iter().zip(strides).enumerate();
    let mut axes: Vec<(usize, i128, i128)> = all
        .filter(|&(_, (&size, _))| size > 1)
        .map(|(axis, (&size, &stride))| (axis, stride.into(), i128::from(size).minus(1)))
        .collect();
    sort_by_key(&mut axes, |&(_, stride, _)| core::cmp::Reverse(stride));
    let mut largest = 0_i128;
    let steps_over = axes.iter().rev().all(|&(_, stride, bound)| {
        let above = stride > largest;
        // The sum fits 128 bits, because strides and sizes have 64 bits and ranks are small.
        largest = largest.plus(stride.times(bound));
        above
    });
    if steps_over {
        return Overlap::No;
    }
    // Each term is the difference of two indices on an axis. Along an axis of stride 0, a difference of 1 is
    // enough.
    let terms: Terms = axes
        .iter()
        .map(|&(_, coefficient, bound)| match coefficient {
            0 => Term { coefficient, least: 0, most: 1 },
            _ => Term { coefficient, least: bound.saturating_neg(), most: bound },
        })
        .collect();
    match solve(&terms, 0, true, work) {
        Some(Some(differences)) => witness(sizes, strides, axes.iter().map(|&(axis, ..)| axis).zip(differences)),
        Some(None) => Overlap::No,
        None => Overlap::Undecided,
    }
}

/// Searches for values with which the terms add up to `target`. Terms with large coefficients come first,
/// and large values are tried first. If `differences` is set, the values must not all be 0. Returns `None`
/// after `work` steps.
pub(super) fn solve(terms: &[Term], target: i128, differences: bool, work: u64) -> Option<Option<Values>> {
    let mut rests: Vec<Rest> = vec![Rest::default(); terms.len()];
    let mut rest = Rest::default();
    for (&Term { coefficient, least, most }, slot) in terms.iter().zip(&mut rests).rev() {
        *slot = rest;
        rest = Rest {
            least: rest.least.plus(coefficient.times(least)),
            most: rest.most.plus(coefficient.times(most)),
            gcd: gcd(coefficient, rest.gcd),
        };
    }
    let mut search = Search { terms, rests: &rests, differences, left: work, chosen: Vec::new() };
    Some(search.solve(0, target)?.then_some(search.chosen))
}

/// The sums that the terms after a given term can form: multiples of `gcd` from `least` to `most`.
#[derive(Clone, Copy, Default)]
struct Rest {
    least: i128,
    most: i128,
    gcd: i128,
}

struct Search<'a> {
    terms: &'a [Term],
    rests: &'a [Rest],
    differences: bool,
    left: u64,
    chosen: Values,
}

impl Search<'_> {
    /// Whether the terms from `depth` on can add up to `target`. `None` when the work limit is reached.
    fn solve(&mut self, depth: usize, target: i128) -> Option<bool> {
        let same = self.differences && self.chosen.iter().all(|&value| value == 0);
        let (Some(term), Some(rest)) = (self.terms.get(depth), self.rests.get(depth)) else {
            return Some(target == 0 && !same);
        };
        let coefficient = term.coefficient;
        let (mut low, mut value) = (term.least, term.most);
        if coefficient > 0 {
            // The later terms must be able to form the remainder:
            // target - rest.most <= coefficient * value <= target - rest.least
            low = low.max(div_ceil(target.minus(rest.most), coefficient));
            value = value.min(target.minus(rest.least).div_euclid(coefficient));
        }
        // A solution and its negative are the same pair of indices, so the first difference may be
        // taken as positive.
        let low = if same { low.max(0) } else { low };
        // Large values are tried first, because zero for all differences is not a solution.
        while value >= low {
            self.left = self.left.checked_sub(1)?;
            let left = target.minus(coefficient.times(value));
            if rest.gcd == 0 && left == 0 || rest.gcd != 0 && left.checked_rem(rest.gcd) == Some(0) {
                self.chosen.push(value);
                if self.solve(depth.plus(1), left)? {
                    return Some(true);
                }
                self.chosen.pop();
            }
            value = value.minus(1);
        }
        Some(false)
    }
}

fn witness(sizes: &[u64], strides: &[u64], differences: impl Iterator<Item = (usize, i128)>) -> Overlap {
    let mut first: Dims = Dims::from_elem(0, sizes.len());
    let mut second = first.clone();
    for (axis, d) in differences {
        let target = if d > 0 { &mut first } else { &mut second };
        if let Some(slot) = target.get_mut(axis) {
            *slot = u64::try_from(d.unsigned_abs()).unwrap_or(0);
        }
    }
    let offset = first.iter().zip(strides).fold(0_u64, |sum, (&i, &s)| sum.plus(i.times(s)));
    Overlap::Yes { first: first.into_vec(), second: second.into_vec(), offset }
}

fn div_ceil(a: i128, b: i128) -> i128 {
    0_i128.minus(0_i128.minus(a).div_euclid(b))
}
