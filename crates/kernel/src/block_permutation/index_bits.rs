//! Permutes blocks of 4-bit elements. An element's destination index must have the same bits as its source
//! index, in another order.
//!
//! Write the index of an element in binary. If a block is loaded into registers, the lowest bits are the
//! element's place in its register, and the other bits are the number of the register. If the sizes of all
//! loops are powers of two, a permutation of the elements only changes the order of the bits. A step combines
//! pairs of registers whose numbers differ in one bit. It brings this bit into the register, and takes
//! another bit out into the number. Each place gets its bit, the lowest place first:
//!
//! ```text
//! numbers   places                in turns, from the source to the destination
//! d e       a b c                 e comes in at the lowest place, and c goes out: interleave
//! d c       e a b                 b comes out, and c goes to the highest place: deinterleave
//! d b       e a c                 b comes in after e: interleave
//! d c       e b a
//! ```
//!
//! Weights in GPTQ's layout become Marlin's layout in five steps. By tables (`gathers`), each shuffle would
//! take eight windows. On a Xeon with registers of 32 bytes, the steps take 0.43 of the time of tables.

/// The most registers that a block may fill. In registers of 32 bytes, so many hold 1 KiB.
pub(crate) const MOST_REGISTERS: usize = 32;

/// The number of the index bit that stands for 16 bytes (32 elements), the longest unit that is interleaved.
/// No bit is brought to a higher place.
const LANE_PLACE: usize = 5;

/// One step: what is done to each pair of registers whose numbers differ by `apart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) change: Change,
    /// The length in bytes of the units that are interleaved or deinterleaved.
    pub(crate) unit: usize,
    /// By how much the numbers of the two registers of a pair differ: a power of two.
    pub(crate) apart: usize,
}

/// How a pair of registers is combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Exchanges halves of bytes: the bit in which the register numbers differ and the lowest index bit
    /// change places.
    Halves,
    /// Interleaves units. The bit in which the register numbers differ becomes the place bit of a unit, and
    /// the highest place bit in a register becomes the bit of the register number.
    Interleave,
    /// Deinterleaves units. The place bit of a unit becomes the bit in which the register numbers differ, and
    /// that bit of the number becomes the highest place bit in a register.
    Deinterleave,
}

/// The steps that permute a block.
///
/// # Invariants
///
/// 1. Each offset of `from` is at least `register` bytes before the end of a block on the source.
/// 2. `from` and `order` have an entry for each register of a block: at most [`MOST_REGISTERS`] entries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexBits {
    pub(crate) register: usize,
    /// Where each register of a block is loaded from, in bytes from the start of the block on the source.
    pub(crate) from: Vec<u32>,
    pub(crate) steps: Vec<Step>,
    /// For each register of the destination, the number of the register that is stored there after all steps.
    pub(crate) order: Vec<u8>,
}

impl IndexBits {
    /// Returns the steps for a block that spans `span` bytes of the source. For each nibble of a destination
    /// block, `sources` has its index on the source. `None` if no steps of these kinds permute the block.
    pub(super) fn new(sources: &[u32], span: usize, register: usize) -> Option<IndexBits> {
        let (first, registers) = (*sources.first()?, sources.len() / (2 * register));
        if !sources.len().is_power_of_two() || !(2..=MOST_REGISTERS).contains(&registers) || !first.is_multiple_of(2) {
            return None;
        }
        // For each bit of a destination index: by how much the source index grows when that bit is set.
        let bits = 0..sources.len().trailing_zeros();
        let added: Vec<u32> = bits.map(|bit| sources[1 << bit].checked_sub(first)).collect::<Option<_>>()?;
        let lowest = |i: usize| i & i.wrapping_neg();
        let is_sum = |i| sources[i - lowest(i)].checked_add(sources[lowest(i)] - first) == Some(sources[i]);
        if !(1..sources.len()).all(is_sum) {
            return None;
        }
        // The numbers of destination index bits: `inside` has those that are a place in a register, the
        // lowest place first. `outside` has those that are the number of a register.
        let places = (2 * register).trailing_zeros();
        let with_place = |place: u32| added.iter().position(|&added| added == 1 << place);
        let mut inside: Vec<usize> = (0..places).map(with_place).collect::<Option<_>>()?;
        let mut outside: Vec<usize> = (0..added.len()).filter(|bit| !inside.contains(bit)).collect();
        // The source index of the first nibble of register `number`.
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
            // If the bit for this place is another place bit, a step first makes it a bit of the register
            // number: an interleave if it is the highest place bit, else a deinterleave.
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
