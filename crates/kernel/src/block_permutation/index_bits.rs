//! Blocks of elements of 4 bits whose indices on both sides are the same bits in another order.
//!
//! Write the index of an element in binary. On either side, the lowest bits are its place in a register, and
//! the other bits are the number of the register. If the sizes of all loops are powers of two, a permutation
//! gives every bit another place. Steps over pairs of registers, whose numbers differ in one bit, bring the
//! bits of a place in a register to their places, the lowest first:
//!
//! ```text
//! numbers   places                in turns, from the source to the destination
//! d e       a b c                 e comes in at the lowest place, and c goes out: interleave
//! d c       e a b                 b comes out, and c goes to the highest place: deinterleave
//! d b       e a c                 b comes in after e: interleave
//! d c       e b a
//! ```
//!
//! Weights of GPTQ become those of Marlin in five steps, where tables would take eight windows for each half
//! of a byte (registers of 32 bytes, a Xeon: 0.43 of the time).

/// The most registers of a block, which has up to 1 KiB.
pub(crate) const MOST_REGISTERS: usize = 32;

/// The place of the bit that stands for 16 bytes, the longest unit that is interleaved.
const LANE_PLACE: usize = 5;

/// A step over all pairs of registers whose numbers differ in one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) change: Change,
    /// The bytes of the units that are interleaved or separated.
    pub(crate) unit: usize,
    /// The difference of the numbers of a pair.
    pub(crate) apart: usize,
}

/// What becomes of a pair of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The bit of the number and the lowest bit change places.
    Halves,
    /// The bit of the number comes in at the place of a unit, and the highest bit becomes that of the number.
    Interleave,
    /// The bit of a unit becomes that of the number, which becomes the highest bit.
    Deinterleave,
}

/// The steps that permute a block.
///
/// # Invariants
///
/// 1. Each offset of `from` is at least `register` bytes in front of the end of a block on the source.
/// 2. `from` and `order` have an entry for each register of a block, and at most [`MOST_REGISTERS`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexBits {
    pub(crate) register: usize,
    /// The source offset of each register of a block, in bytes.
    pub(crate) from: Vec<u32>,
    pub(crate) steps: Vec<Step>,
    /// In the order of the destination, the number of each register after all steps.
    pub(crate) order: Vec<u8>,
}

impl IndexBits {
    /// Returns the steps for a block that spans `span` bytes of the source. `sources` has the source index of
    /// each nibble of the destination. `None` if some bits of an index cannot change places by these steps.
    pub(super) fn new(sources: &[u32], span: usize, register: usize) -> Option<IndexBits> {
        let (first, registers) = (*sources.first()?, sources.len() / (2 * register));
        if !sources.len().is_power_of_two() || !(2..=MOST_REGISTERS).contains(&registers) || !first.is_multiple_of(2) {
            return None;
        }
        // What each bit of a destination index adds to the source index.
        let bits = 0..sources.len().trailing_zeros();
        let added: Vec<u32> = bits.map(|bit| sources[1 << bit].checked_sub(first)).collect::<Option<_>>()?;
        let lowest = |i: usize| i & i.wrapping_neg();
        let is_sum = |i| sources[i - lowest(i)].checked_add(sources[lowest(i)] - first) == Some(sources[i]);
        if !(1..sources.len()).all(is_sum) {
            return None;
        }
        // The bits of the place in a register, the lowest first, and of the number of a register.
        let places = (2 * register).trailing_zeros();
        let with_place = |place: u32| added.iter().position(|&added| added == 1 << place);
        let mut inside: Vec<usize> = (0..places).map(with_place).collect::<Option<_>>()?;
        let mut outside: Vec<usize> = (0..added.len()).filter(|bit| !inside.contains(bit)).collect();
        // Where the register of this number begins on the source, in nibbles.
        let offset = |number: usize| {
            let bits = outside.iter().zip(0..).filter(|&(_, place)| number >> place & 1 == 1);
            bits.map(|(&bit, _): (&usize, u32)| added[bit]).try_fold(first, u32::checked_add)
        };
        let from: Vec<u32> = (0..registers).map(|number| Some(offset(number)? / 2)).collect::<Option<_>>()?;
        let fits = |&offset: &u32| usize::try_from(offset).is_ok_and(|offset| offset + register <= span);
        if outside.iter().any(|&bit| !added[bit].is_multiple_of(2)) || !from.iter().all(fits) {
            return None;
        }
        let mut steps = Vec::new();
        if inside[0] != 0 {
            let number = outside.iter().position(|&bit| bit == 0)?;
            steps.push(Step { change: Change::Halves, unit: 1, apart: 1 << number });
            std::mem::swap(&mut inside[0], &mut outside[number]);
        }
        let top = inside.len() - 1;
        for place in 1..=top {
            if inside[place] == place {
                continue;
            }
            if place > LANE_PLACE {
                return None;
            }
            let mut step = |change, at: usize, number: usize| {
                steps.push(Step { change, unit: 1 << (at - 1), apart: 1 << number });
            };
            // A bit that is inside comes out first, below the highest place or at it.
            let number = match inside.iter().position(|&bit| bit == place) {
                Some(at) if at == top => {
                    step(Change::Interleave, place, 0);
                    inside.insert(place, outside[0]);
                    outside[0] = inside.pop()?;
                    0
                }
                Some(at) => {
                    step(Change::Deinterleave, at, 0);
                    inside.push(outside[0]);
                    outside[0] = inside.remove(at);
                    0
                }
                None => outside.iter().position(|&bit| bit == place)?,
            };
            step(Change::Interleave, place, number);
            inside.insert(place, outside[number]);
            outside[number] = inside.pop()?;
        }
        let number = |register: usize| {
            let bits = outside.iter().zip(0..).filter(|&(&bit, _)| register << inside.len() >> bit & 1 == 1);
            u8::try_from(bits.map(|(_, place): (_, u32)| 1_usize << place).sum::<usize>()).ok()
        };
        let order = (0..registers).map(number).collect::<Option<_>>()?;
        Some(IndexBits { register, from, steps, order })
    }
}
