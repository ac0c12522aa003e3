//! Many small blocks whose elements change places, several blocks in one register.
//!
//! Thousands of matrices of 2 x 7 numbers are transposed, one after the other. Each is smaller than two cache
//! lines, so a kernel that is called for each matrix spends its time on beginning and ending. The same
//! happens to weights of 4 bits whose order inside tiles of 512 bytes is rearranged for a GPU.
//!
//! The idea: such a copy is a *periodic permutation*. Blocks follow each other without a gap on the
//! destination, and at a constant step on the source. Where the bytes of a destination vector come from is
//! then a question of its position inside a block. After some blocks (a *period*) positions repeat. So the
//! answer is computed once, when the copy is planned, and a period is a short list of instructions without a
//! branch:
//!
//! ```text
//! for each period:
//!     for each destination vector of the period:
//!         for each round:
//!             load one window of 16 bytes of the source into each lane      // offsets from a table
//!             shuffle the bytes inside each lane                            // indices from a table
//!             or the result into the vector                                 // index 0x80 gives a zero
//!         store the vector
//! ```
//!
//! ```text
//! source     a0 a1 a2 a3 a4 a5 a6 | b0 b1 b2 b3 b4 b5 b6 | next block ..       2 rows of 7
//!            [---------]            [---------]                                windows of lane 0
//!                   [---------]            [---------]                         windows of lane 1
//! vector     a0 b0 a1 b1   a2 b2 a3 b3                                         2 lanes, 2 rounds
//! ```
//!
//! The windows of a lane are found greedily: the first begins at the lowest byte that is needed, the next at
//! the lowest byte that the first does not hold. No set of windows of this length is smaller. Lanes that need
//! fewer windows than the other lanes of their vector load one again, with indices that choose nothing. The
//! vectors of a period are made in the order of their rounds, so that each number of rounds has a loop of its
//! own, without a count.
//!
//! Registers of 64 bytes have a shuffle over up to four whole registers (`vpermi2b`), so there a window is as
//! long as a vector and a round is one more register of that shuffle, if four windows suffice; else it is
//! done in lanes as above.
//!
//! Elements of 4 bits are shuffled as bytes, twice: once for the low half of each destination byte, and once
//! for the high half. Each result holds its element in one of its halves; a table of bits then chooses
//! between the result and the result shifted by four bits.
//!
//! No load or store is partial. A window that would end after the source bytes of its period begins earlier.
//! The last vector of a period ends where the period ends, and may overlap the vector in front of it, which
//! then stores the same bytes twice. The last period ends where the copy ends, and may overlap the period in
//! front of it. Fewer blocks than a period are copied element by element.

use std::ops::Range;
use std::sync::Arc;

use crate::kernel::Stride;

pub(crate) use gathers::{Gathers, LONGEST_PERIOD, Tables};

mod gathers;

/// What stays together when a block is permuted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Atom {
    /// Half a byte; the first of two is the low half.
    Nibble,
    /// A byte.
    Byte,
}

impl Atom {
    /// How many make a byte.
    pub(crate) fn per_byte(self) -> usize {
        match self {
            Atom::Nibble => 2,
            Atom::Byte => 1,
        }
    }
}

/// Bytes of a destination block, at most: a limit of the time that planning takes. A block is looked at atom
/// by atom.
const LONGEST_BLOCK: usize = 1 << 10;

/// Blocks of one shape, permuted in the same way: block `i` begins `i * source_step` bytes after the first on
/// the source, and right after block `i - 1` on the destination.
///
/// Fields are private and set together by [`of`](Self::of): that the vector kernel is sound rests on the
/// offsets in the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPermutation {
    /// How many blocks, at least one.
    blocks: usize,
    shape: Arc<Shape>,
}

/// What is the same for any number of blocks.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    atom: Atom,
    /// For each atom of a destination block, where it is in the source block, in atoms.
    sources: Vec<u32>,
    /// Bytes of a destination block.
    block: usize,
    /// Bytes of the source from one block to the next.
    source_step: usize,
    /// Bytes of the source that a block spans.
    source_span: usize,
    gathers: Gathers,
}

/// A copy as blocks and the loops around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermutedBlocks {
    /// What an iteration of the loops does.
    pub permutation: BlockPermutation,
    /// The other loops in their order, with steps in bytes.
    pub outer: Vec<Stride>,
    /// Where the first iteration begins on the source and on the destination, in bytes.
    pub start: (usize, usize),
}

impl BlockPermutation {
    /// The copy of these loops, outer to inner, as permuted blocks, for vectors of `register` bytes. Their
    /// strides count atoms. The first atom is at `start` on the source and on the destination, in atoms.
    ///
    /// `None` if it is not of this form, or if the vector kernel would not pay: if there is no chain of loops
    /// that fills the destination without a gap, a block of at most 1 KiB and several of them; if blocks are
    /// not whole bytes, do not begin at whole bytes, or are too few to fill a vector; or if a lane needs more
    /// windows than there is code for.
    #[must_use]
    pub fn of(atom: Atom, start: (usize, usize), loops: &[Stride], register: usize) -> Option<PermutedBlocks> {
        if !matches!(register, 32 | 64) {
            return None;
        }
        let per_byte = atom.per_byte();
        let in_bytes = |step: isize| {
            let per_byte = isize::try_from(per_byte).ok()?;
            (step % per_byte == 0).then(|| step / per_byte)
        };
        // The loops that fill the destination without a gap, inner to outer, by their places.
        let mut chain = Vec::new();
        let mut filled = 1_usize;
        let next = |filled: usize, chain: &[usize]| {
            let at = |step: &Stride| step.extent > 1 && usize::try_from(step.destination) == Ok(filled);
            loops.iter().enumerate().position(|(place, step)| at(step) && !chain.contains(&place))
        };
        let mut sizes = vec![1];
        while let Some(place) = next(filled, &chain) {
            chain.push(place);
            filled = filled.checked_mul(loops[place].extent)?;
            sizes.push(filled);
        }
        // The longest block that another loop of the chain repeats.
        let inner = (1..chain.len()).rev().find(|&inner| sizes[inner] <= LONGEST_BLOCK * per_byte)?;
        let count = loops[chain[inner]];
        let (sources, front) = sources_of(chain[..inner].iter().map(|&place| loops[place]))?;
        let block = sizes[inner];
        if !block.is_multiple_of(per_byte) || !start.1.is_multiple_of(per_byte) {
            return None;
        }
        let first = start.0.checked_add_signed(front)?;
        let odd = u32::try_from(first % per_byte).ok()?;
        let sources: Vec<u32> = sources.into_iter().map(|source| source + odd).collect();
        let source_step = usize::try_from(in_bytes(count.source)?).ok()?;
        let is_outer = |place: &usize, step: &Stride| step.extent != 1 && !chain[..=inner].contains(place);
        let outer = loops.iter().enumerate().filter(|(place, step)| is_outer(place, step));
        let outer = outer.map(|(_, &Stride { extent, source, destination })| {
            Some(Stride { extent, source: in_bytes(source)?, destination: in_bytes(destination)? })
        });
        let outer = outer.collect::<Option<Vec<_>>>()?;
        let span = usize::try_from(*sources.iter().max()?).ok()? / per_byte + 1;
        let block = block / per_byte;
        let gathers = Gathers::new(atom, &sources, [block, source_step, span], count.extent, register)?;
        let shape = Shape { atom, sources, block, source_step, source_span: span, gathers };
        let permutation = BlockPermutation { blocks: count.extent, shape: Arc::new(shape) };
        Some(PermutedBlocks { permutation, outer, start: (first / per_byte, start.1 / per_byte) })
    }

    /// How many blocks it has.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Bytes of a block on the destination.
    #[must_use]
    pub fn block(&self) -> usize {
        self.shape.block
    }

    /// Bytes of the source from one block to the next.
    #[must_use]
    pub fn source_step(&self) -> usize {
        self.shape.source_step
    }

    /// What stays together.
    #[must_use]
    pub fn atom(&self) -> Atom {
        self.shape.atom
    }

    /// The most windows that a lane of a destination vector is put together from.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.shape.gathers.groups().iter().map(|group| group.rounds).max().unwrap_or(0)
    }

    /// The bytes that all blocks span on the source and on the destination, from the beginning of the first;
    /// `None` if that does not fit.
    #[must_use]
    pub fn span(&self) -> (Option<usize>, Option<usize>) {
        let last = self.blocks.saturating_sub(1).checked_mul(self.shape.source_step);
        (last.and_then(|last| last.checked_add(self.shape.source_span)), self.blocks.checked_mul(self.shape.block))
    }

    /// Some of the blocks, and where the first of them begins on the source and on the destination, in bytes:
    /// what a thread does of a copy, or what is done until progress is told. `None` if there are no such
    /// blocks.
    #[must_use]
    pub fn part(&self, blocks: Range<usize>) -> Option<(BlockPermutation, (usize, usize))> {
        if blocks.is_empty() || blocks.end > self.blocks {
            return None;
        }
        let start = (blocks.start * self.shape.source_step, blocks.start * self.shape.block);
        Some((BlockPermutation { blocks: blocks.len(), shape: Arc::clone(&self.shape) }, start))
    }

    pub(crate) fn gathers(&self) -> &Gathers {
        &self.shape.gathers
    }

    /// For each atom of a destination block, where it is in the source block, in atoms.
    pub(crate) fn sources(&self) -> &[u32] {
        &self.shape.sources
    }
}

/// For each atom that loops fill on the destination, inner to outer, where it is on the source; and where the
/// lowest of these is, before or at the first. They count from the lowest.
fn sources_of(loops: impl Iterator<Item = Stride>) -> Option<(Vec<u32>, isize)> {
    let mut offsets = vec![0_isize];
    for Stride { extent, source, .. } in loops {
        let inner = offsets.len();
        for i in 1..extent {
            let step = source.checked_mul(isize::try_from(i).ok()?)?;
            for place in 0..inner {
                offsets.push(offsets[place].checked_add(step)?);
            }
        }
    }
    let front = *offsets.iter().min()?;
    let from_front = |offset: isize| u32::try_from(offset.checked_sub(front)?).ok().filter(|&from| from < 1 << 30);
    Some((offsets.into_iter().map(from_front).collect::<Option<_>>()?, front))
}
