//! Searches for a bit that two tensors in one buffer share.

use alloc::vec;
use alloc::vec::Vec;

use crate::checked::{Dims, Proven};
use crate::short_sort::sort_by_key;

use super::desc::BufferTensorDesc;
use super::overlap::{OVERLAP_WORK_LIMIT, Overlap, Term, Terms, solve};

impl BufferTensorDesc {
    /// Searches for memory that this tensor and `other` share, if both describe the same buffer. A write to
    /// shared memory is visible through the other tensor.
    ///
    /// The result is exact, up to [`OVERLAP_WORK_LIMIT`] steps. For example, two sets of interleaved rows of
    /// one matrix do not overlap, although their ranges do. `first` is an index of this tensor, `second` is
    /// an index of `other`, and the offset is the offset of `first`. The element types may differ.
    #[must_use]
    pub fn overlap_with(&self, other: &BufferTensorDesc) -> Overlap {
        self.overlap_with_at(0, other, 0)
    }

    /// [`overlap_with`](Self::overlap_with) for two buffers that begin at these bytes of a larger buffer.
    pub(crate) fn overlap_with_at(&self, at: u64, other: &BufferTensorDesc, other_at: u64) -> Overlap {
        if self.element_count() == 0 || other.element_count() == 0 {
            return Overlap::No;
        }
        let Some((joined, target)) = equation((self, at), (other, other_at)) else {
            return Overlap::Undecided;
        };
        let term = |term: &JoinedTerm| Term { coefficient: term.coefficient, least: 0, most: term.bound };
        let terms: Terms = joined.iter().map(term).collect();
        match solve(&terms, target, false, OVERLAP_WORK_LIMIT) {
            Some(Some(values)) => witness(self, other, &joined, &values),
            Some(None) => Overlap::No,
            None => Overlap::Undecided,
        }
    }
}

/// The tensor and the axis whose index a term counts.
#[derive(Clone, Copy)]
enum Of {
    First(usize),
    /// An axis of the second tensor. The index is counted backwards from the last index, so that its
    /// coefficient is positive.
    Second(usize),
    /// The difference of two bit positions, one inside each of the two elements.
    Bits,
}

/// A term `coefficient * z` for `0 <= z <= bound`. Terms are joined if the multiples of one term fill the
/// gaps of the other: two axes of equal stride, or the rows and the columns of a packed matrix.
struct JoinedTerm {
    coefficient: i128,
    bound: i128,
    /// The parts of z, the smallest multiple first: z is `sum(multiple * part)` for `0 <= part <= bound`.
    parts: Vec<Unknown>,
}

struct Unknown {
    of: Of,
    multiple: i128,
    bound: i128,
}

impl JoinedTerm {
    /// Joins another term to this term, if the sums of both are all multiples of this coefficient up to the
    /// largest sum. The other coefficient must be at least as large. Returns whether the term was joined.
    fn take_in(&mut self, of: Of, coefficient: i128, bound: i128) -> bool {
        let (Some(multiple), Some(0)) =
            (coefficient.checked_div(self.coefficient), coefficient.checked_rem(self.coefficient))
        else {
            return false;
        };
        let joint = multiple.checked_mul(bound).and_then(|bound| bound.checked_add(self.bound));
        match joint {
            Some(joint) if multiple <= self.bound.plus(1) => {
                self.bound = joint;
                self.parts.push(Unknown { of, multiple, bound });
                true
            }
            _ => false,
        }
    }
}

/// Writes the equation "bit x of element i is bit y of element j" as a sum of terms that must equal a target.
/// The largest coefficient comes first. The unknowns are the differences between the bounds and the values of
/// z, so that the smallest z are tried first. Returns `None` if a number does not fit 128 bits.
fn equation(first: (&BufferTensorDesc, u64), second: (&BufferTensorDesc, u64)) -> Option<(Vec<JoinedTerm>, i128)> {
    let start = |(desc, at): (&BufferTensorDesc, u64)| {
        let base = i128::from(desc.base_offset()).checked_mul(desc.data_type().bits().into())?;
        i128::from(at).checked_mul(8)?.checked_add(base)
    };
    // The equation: start_1 + sum(s_i i) + x  ==  start_2 + sum(s_j j) + y, with j = u - z and y = u - z
    let mut target = start(second)?.checked_sub(start(first)?)?;
    let mut pieces: Vec<(i128, i128, Of)> = Vec::new();
    let mut push = |of, coefficient: i128, bound: i128| {
        if coefficient > 0 && bound > 0 {
            pieces.push((coefficient, bound, of));
        }
    };
    let (bits, other_bits) = (i128::from(first.0.data_type().bits()), i128::from(second.0.data_type().bits()));
    for (axis, (&size, &stride)) in first.0.sizes().iter().zip(first.0.strides()).enumerate() {
        push(Of::First(axis), i128::from(stride).checked_mul(bits)?, i128::from(size).checked_sub(1)?);
    }
    for (axis, (&size, &stride)) in second.0.sizes().iter().zip(second.0.strides()).enumerate() {
        let (coefficient, bound) = (i128::from(stride).checked_mul(other_bits)?, i128::from(size).checked_sub(1)?);
        if bound > 0 {
            target = target.checked_add(coefficient.checked_mul(bound)?)?;
        }
        push(Of::Second(axis), coefficient, bound);
    }
    let within = bits.checked_add(other_bits)?.checked_sub(2)?;
    target = target.checked_add(other_bits.checked_sub(1)?)?;
    push(Of::Bits, 1, within);
    sort_by_key(&mut pieces, |&(coefficient, ..)| coefficient);
    let mut joined: Vec<JoinedTerm> = Vec::new();
    let mut largest = 0_i128;
    for (coefficient, bound, of) in pieces {
        largest = largest.checked_add(coefficient.checked_mul(bound)?)?;
        if !joined.last_mut().is_some_and(|term| term.take_in(of, coefficient, bound)) {
            let parts = vec![Unknown { of, multiple: 1, bound }];
            joined.push(JoinedTerm { coefficient, bound, parts });
        }
    }
    joined.reverse();
    Some((joined, largest.checked_sub(target)?))
}

fn witness(a: &BufferTensorDesc, b: &BufferTensorDesc, joined: &[JoinedTerm], lacking: &[i128]) -> Overlap {
    let mut first = Dims::from_elem(0, a.rank());
    let mut second: Dims =
        b.sizes().iter().zip(b.strides()).map(|(&size, &stride)| if stride == 0 { 0 } else { size.minus(1) }).collect();
    for (term, &lacking) in joined.iter().zip(lacking) {
        let mut left = term.bound.minus(lacking);
        for part in term.parts.iter().rev() {
            let count = left.div_euclid(part.multiple).min(part.bound);
            left = left.minus(count.times(part.multiple));
            let (slot, value) = match part.of {
                Of::First(axis) => (first.get_mut(axis), count),
                Of::Second(axis) => (second.get_mut(axis), part.bound.minus(count)),
                Of::Bits => continue,
            };
            if let (Some(slot), Ok(value)) = (slot, u64::try_from(value)) {
                *slot = value;
            }
        }
    }
    let offset = a.offset(&first).unwrap_or(a.base_offset());
    Overlap::Yes { first: first.into_vec(), second: second.into_vec(), offset }
}
