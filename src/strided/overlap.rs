//! Do two indices of a strided tensor share an offset? Exactly, with the two indices.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{Dims, Exact, gcd};
use crate::short_sort::sort_by_key;

/// How many search steps [`BufferTensorDesc::overlap`](crate::BufferTensorDesc::overlap) spends before it
/// gives up.
///
/// ```
/// use tensor_layout::strided::Overlap;
/// use tensor_layout::plan::OVERLAP_WORK_LIMIT;
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// // Strides that do not nest, and no overlap: found well within the limit.
/// let interleaved = BufferTensorDesc::new(DataType::F32, &[4, 4], Some(&[3, 4]))?;
/// assert_eq!(interleaved.overlap(), Overlap::No);
/// println!("undecided after {OVERLAP_WORK_LIMIT} steps");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub const OVERLAP_WORK_LIMIT: u64 = 100_000;

/// The answer to "do two different indices share an offset?".
///
/// The question is a bounded integer equation and hard in general (numpy's `may_share_memory` page says as
/// much), so a search may end in [`Overlap::TooHard`]. It does not for the layouts of practice: no search is
/// needed where each stride is larger than the largest offset of all axes with smaller strides, where a
/// stride is 0, or where two are equal.
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
    /// Two different indices that are stored at the same offset.
    Yes {
        /// One index.
        first: Vec<u64>,
        /// The other.
        second: Vec<u64>,
        /// Their offset, in elements.
        offset: u64,
    },
    /// Not decided within the work limit.
    TooHard,
}

/// One axis of the equation: `stride * d` for a difference `d` in `-bound..=bound`.
struct Term {
    axis: usize,
    stride: i128,
    bound: i128,
    /// The terms after it.
    rest: Tail,
}

/// Looks for two indices with the same offset, in at most `work` steps.
pub(crate) fn find_overlap(sizes: &[u64], strides: &[u64], work: u64) -> Overlap {
    if sizes.contains(&0) {
        return Overlap::No;
    }
    let mut terms: SmallVec<[Term; 16]> = SmallVec::new();
    for (axis, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
        if size > 1 {
            terms.push(Term { axis, stride: stride.into(), bound: i128::from(size).minus(1), rest: Tail::default() });
        }
    }
    sort_by_key(&mut terms, |term| core::cmp::Reverse(term.stride));
    let mut tail = Tail::default();
    let mut quick = true;
    for term in terms.iter_mut().rev() {
        term.rest = tail;
        quick &= term.stride > tail.largest;
        tail = Tail {
            // Cannot saturate: strides and sizes have 64 bits and the ranks are small.
            largest: tail.largest.plus(term.stride.times(term.bound)),
            gcd: gcd(term.stride, tail.gcd),
        };
    }
    if quick {
        return Overlap::No;
    }
    let mut search = Search { terms: &terms, left: work, chosen: SmallVec::new() };
    match search.solve(0, 0) {
        Found::No => Overlap::No,
        Found::TooHard => Overlap::TooHard,
        Found::Yes => witness(sizes, strides, &terms, &search.chosen),
    }
}

#[derive(Clone, Copy, Default)]
struct Tail {
    /// The largest sum of some last terms.
    largest: i128,
    /// What divides every sum of theirs.
    gcd: i128,
}

enum Found {
    No,
    Yes,
    TooHard,
}

/// Solves `sum(stride * d) = 0` for differences that are not all zero, largest stride first.
struct Search<'a> {
    terms: &'a [Term],
    left: u64,
    chosen: SmallVec<[i128; 16]>,
}

impl Search<'_> {
    /// `sum` is what the terms before `depth` add up to; the rest must add up to its negative.
    fn solve(&mut self, depth: usize, sum: i128) -> Found {
        let Some(term) = self.terms.get(depth) else {
            let nontrivial = sum == 0 && self.chosen.iter().any(|&d| d != 0);
            return if nontrivial { Found::Yes } else { Found::No };
        };
        let rest = term.rest;
        let (low, high) = if term.stride == 0 {
            (0, 1)
        } else {
            // -sum - rest.largest <= stride * d <= -sum + rest.largest
            let negated = 0_i128.minus(sum);
            let low = div_ceil(negated.minus(rest.largest), term.stride);
            let high = negated.plus(rest.largest).div_euclid(term.stride);
            (low.max(term.bound.saturating_neg()), high.min(term.bound))
        };
        // A solution and its negative are the same pair: the first difference may be taken as positive.
        let low = if self.chosen.iter().all(|&d| d == 0) { low.max(0) } else { low };
        // Largest first: a difference of zero everywhere is not an answer, so try it last.
        let mut d = high;
        while d >= low {
            let Some(left) = self.left.checked_sub(1) else {
                return Found::TooHard;
            };
            self.left = left;
            let next = sum.plus(term.stride.times(d));
            if rest.gcd == 0 && next == 0 || rest.gcd != 0 && next.checked_rem(rest.gcd) == Some(0) {
                self.chosen.push(d);
                match self.solve(depth.plus(1), next) {
                    Found::No => {}
                    found => return found,
                }
                self.chosen.pop();
            }
            d = d.minus(1);
        }
        Found::No
    }
}

fn witness(sizes: &[u64], strides: &[u64], terms: &[Term], differences: &[i128]) -> Overlap {
    let mut first: Dims = Dims::from_elem(0, sizes.len());
    let mut second = first.clone();
    for (term, &d) in terms.iter().zip(differences) {
        let size = u64::try_from(d.unsigned_abs()).unwrap_or(0);
        let target = if d > 0 { &mut first } else { &mut second };
        if let Some(slot) = target.get_mut(term.axis) {
            *slot = size;
        }
    }
    let offset = first.iter().zip(strides).fold(0_u64, |sum, (&i, &s)| sum.plus(i.times(s)));
    Overlap::Yes { first: first.into(), second: second.into(), offset }
}

fn div_ceil(a: i128, b: i128) -> i128 {
    0_i128.minus(0_i128.minus(a).div_euclid(b))
}
