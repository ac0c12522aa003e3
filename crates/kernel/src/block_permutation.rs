//! Many small blocks whose elements are permuted, several blocks in one register.
//!
//! Thousands of matrices of 2 x 7 numbers are transposed, one after the other. Each matrix is smaller than
//! two cache lines, so a kernel that is called once a matrix spends its time on starting and finishing. The
//! same happens to weights of 4 bits that are rearranged inside tiles of 512 bytes for a GPU.
//!
//! Such a copy is a *periodic permutation*. Blocks follow each other without a gap on the destination, and at
//! a constant stride on the source. Which source bytes a destination vector needs depends only on where the
//! vector begins inside a block, and after some blocks (a *period*) these positions repeat. So the source
//! bytes are looked up once, when the copy is planned, and a period becomes a short list of instructions
//! without a branch:
//!
//! ```text
//! for each period:
//!     for each destination vector of the period:
//!         for each round:
//!             load one window of 16 source bytes into each lane             // offsets from a table
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
//! The windows of a lane are found greedily. The first window begins at the lowest byte that the lane needs,
//! and each further window at the lowest byte that is not in a window yet. No smaller set of windows of this
//! length covers the bytes. A lane that needs fewer windows than its neighbours loads one of its windows
//! again, with indices that select nothing. The vectors of a period are sorted by their number of rounds, so
//! that each number of rounds has an unrolled loop.
//!
//! Registers of 64 bytes have a shuffle over up to four whole registers (`vpermi2b`). There a window is as
//! long as a vector, and the shuffle takes up to four windows, if four are enough for every vector of the
//! period. Otherwise the lanes are shuffled one by one, as above.
//!
//! Elements of 4 bits are shuffled as bytes, twice: once for the low half of each destination byte, and once
//! for the high half. Each result has the wanted element in one half of its byte; a table of bits says in
//! which, and moves it to the right one.
//!
//! No load or store is partial. A window that would end after the source bytes of its period begins earlier.
//! The last vector of a period ends with the period, and may overlap the vector in front of it; both store
//! equal bytes there. The last period ends with the copy, and may overlap the period in front of it. If there
//! are fewer blocks than a period, the blocks are copied element by element.

use std::ops::Range;
use std::sync::Arc;

use crate::kernel::Stride;

pub(crate) use gathers::{Gathers, LONGEST_PERIOD, Tables};

mod gathers;

/// The smallest unit that a permutation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Atom {
    /// Half a byte. The first element of a byte is its low half.
    Nibble,
    /// A whole byte.
    Byte,
}

impl Atom {
    /// How many atoms a byte holds.
    pub(crate) fn per_byte(self) -> usize {
        match self {
            Atom::Nibble => 2,
            Atom::Byte => 1,
        }
    }
}

/// The longest destination block, in bytes. Planning looks at a block atom by atom, so this bounds the time
/// of planning.
const LONGEST_BLOCK: usize = 1 << 10;

/// Equal blocks, permuted in the same way. Block `i` begins `i * source_step` bytes after the first block on
/// the source, and right after block `i - 1` on the destination.
///
/// The fields are private and are set together by [`of`](Self::of). The vector kernel is sound only if the
/// offsets in its tables are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPermutation {
    /// How many blocks, at least one.
    blocks: usize,
    shape: Arc<Shape>,
}

/// The data that does not depend on the number of blocks.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    atom: Atom,
    /// For each atom of a destination block, its index among the atoms of the source block.
    sources: Vec<u32>,
    /// Size of a destination block in bytes.
    block: usize,
    /// How many bytes a block begins after the previous one on the source.
    source_step: usize,
    /// How many bytes of the source a block spans.
    source_span: usize,
    gathers: Gathers,
}

/// A copy as permuted blocks inside a nest of loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermutedBlocks {
    /// What runs in each iteration of the loops.
    pub permutation: BlockPermutation,
    /// The remaining loops, outer to inner, with strides in bytes.
    pub outer: Vec<Stride>,
    /// Where the first iteration begins on the source and on the destination, in bytes.
    pub start: (usize, usize),
}

impl BlockPermutation {
    /// Finds the permuted blocks in a loop nest, outer to inner, for vectors of `register` bytes. Strides
    /// count atoms, and so does `start`, the index of the first atom on the source and on the destination.
    ///
    /// `None` if the copy has no such form, or if the vector kernel would not pay:
    ///
    /// * No chain of loops fills the destination without a gap, as a block of at most 1 KiB and several of
    ///   these.
    /// * Blocks are not whole bytes, do not begin at whole bytes, or are too few to fill a vector.
    /// * A lane needs more windows than there is code for.
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
        // The chain: loops that fill the destination without a gap, inner to outer, as indices into `loops`.
        let mut chain = Vec::new();
        let mut filled = 1_usize;
        let next = |filled: usize, chain: &[usize]| {
            let at = |step: &Stride| step.extent > 1 && usize::try_from(step.destination) == Ok(filled);
            loops.iter().enumerate().position(|(index, step)| at(step) && !chain.contains(&index))
        };
        let mut sizes = vec![1];
        while let Some(index) = next(filled, &chain) {
            chain.push(index);
            filled = filled.checked_mul(loops[index].extent)?;
            sizes.push(filled);
        }
        // The longest block that another loop of the chain repeats.
        let inner = (1..chain.len()).rev().find(|&inner| sizes[inner] <= LONGEST_BLOCK * per_byte)?;
        let count = loops[chain[inner]];
        let (sources, front) = sources_of(chain[..inner].iter().map(|&index| loops[index]))?;
        let block = sizes[inner];
        if !block.is_multiple_of(per_byte) || !start.1.is_multiple_of(per_byte) {
            return None;
        }
        let first = start.0.checked_add_signed(front)?;
        let odd = u32::try_from(first % per_byte).ok()?;
        let sources: Vec<u32> = sources.into_iter().map(|source| source + odd).collect();
        let source_step = usize::try_from(in_bytes(count.source)?).ok()?;
        let is_outer = |index: &usize, step: &Stride| step.extent != 1 && !chain[..=inner].contains(index);
        let outer = loops.iter().enumerate().filter(|(index, step)| is_outer(index, step));
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

    /// The number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Size of a destination block in bytes.
    #[must_use]
    pub fn block(&self) -> usize {
        self.shape.block
    }

    /// How many bytes a block begins after the previous one on the source.
    #[must_use]
    pub fn source_step(&self) -> usize {
        self.shape.source_step
    }

    /// The smallest unit that the permutation moves.
    #[must_use]
    pub fn atom(&self) -> Atom {
        self.shape.atom
    }

    /// The largest number of windows that a lane of a destination vector is composed of.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.shape.gathers.groups().iter().map(|group| group.rounds).max().unwrap_or(0)
    }

    /// How many bytes all blocks span on the source and on the destination, from the start of the first
    /// block. `None` if the number overflows.
    #[must_use]
    pub fn span(&self) -> (Option<usize>, Option<usize>) {
        let last = self.blocks.saturating_sub(1).checked_mul(self.shape.source_step);
        (last.and_then(|last| last.checked_add(self.shape.source_span)), self.blocks.checked_mul(self.shape.block))
    }

    /// The permutation of some of the blocks, and where the first of them begins, in bytes on the source and
    /// on the destination. A thread, or a step between two reports of progress, copies such a part. `None` if
    /// the range is empty or not inside.
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

    /// For each atom of a destination block, its index among the atoms of the source block.
    pub(crate) fn sources(&self) -> &[u32] {
        &self.shape.sources
    }
}

/// For each atom that the loops (inner to outer) write, in the order of the destination, its offset on the
/// source. Offsets count atoms from the lowest one. The second result is the offset of that lowest atom from
/// the first atom: at most 0.
fn sources_of(loops: impl Iterator<Item = Stride>) -> Option<(Vec<u32>, isize)> {
    let mut offsets = vec![0_isize];
    for Stride { extent, source, .. } in loops {
        let inner = offsets.len();
        for i in 1..extent {
            let step = source.checked_mul(isize::try_from(i).ok()?)?;
            for index in 0..inner {
                offsets.push(offsets[index].checked_add(step)?);
            }
        }
    }
    let front = *offsets.iter().min()?;
    let from_front = |offset: isize| u32::try_from(offset.checked_sub(front)?).ok().filter(|&from| from < 1 << 30);
    Some((offsets.into_iter().map(from_front).collect::<Option<_>>()?, front))
}
