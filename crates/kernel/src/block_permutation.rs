//! Permutes many small blocks of bytes in the same way, several blocks in one register.
//!
//! Thousands of matrices of 2 x 7 numbers are transposed, one after the other. Each matrix is smaller than
//! two cache lines, so a kernel that is called once for each matrix spends its time on starting and
//! finishing. Weights of 4 bits that are rearranged for a GPU inside tiles of 512 bytes have the same
//! problem.
//!
//! A copy of such blocks is a *periodic permutation*. Blocks follow each other without a gap on the
//! destination, and at a constant stride on the source. Which source bytes a destination vector needs depends
//! only on where the vector begins inside a block. After some blocks (a *period*) vectors begin at the same
//! places again. So the source bytes are looked up once, when the copy is planned, and a period becomes a
//! short list of instructions without a branch:
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
//! The windows for a lane are found greedily. The first window begins at the lowest byte that the lane needs,
//! and each further window at the lowest needed byte that is in no window yet. No smaller set of windows
//! covers the needed bytes. A lane that needs fewer windows than its neighbours loads one of its windows
//! again, with indices that select nothing. The vectors of a period are sorted by their number of rounds, so
//! that each number of rounds has an unrolled loop.
//!
//! Registers of 64 bytes have a shuffle over up to four whole registers (`vpermi2b`). With these registers a
//! window is as long as a vector. One shuffle then makes a vector of up to four windows. If a vector of the
//! period needs more, all vectors are made lane by lane, as described above.
//!
//! Elements of 4 bits are shuffled as bytes, twice: once for the low half of each destination byte, and once
//! for the high half. Each shuffled byte has the wanted element in one of its halves. A mask says in which
//! half, and the element is moved to its half of the destination byte.
//!
//! In some permutations of 4-bit elements, the index of an element on the destination has the same bits as
//! its index on the source, in another order. The module `index_bits` permutes such blocks without tables, by
//! interleaving registers in pairs.
//!
//! If whole blocks fit a register, and are as long on the source as on the destination, one vector of indices
//! is enough: it permutes as many blocks as the register holds, and the next vector begins after these
//! blocks. RGB becomes BGR and rows are mirrored like this.
//!
//! Reversals and byte shuffles once had code of their own. This mechanism replaced both, and takes longer in
//! some cases (Zen 5, AVX-512, 27 November 2026). The benchmark `combine_dims_f32` of large tensors takes
//! 1.24 to 1.37 times as long as with the byte shuffle. Swapping RGB to BGR takes 1.32 to 1.38 times as long
//! for large images, and 0.90 to 0.94 times for small ones.
//!
//! With tables, all loads and stores are whole registers or lanes. A window that would end after the source
//! bytes of its period begins earlier. The last vector of a period ends with the period, and may overlap the
//! vector in front of it; both vectors store the same bytes there. The last period ends with the copy, and
//! may overlap the period in front of it. If there are fewer blocks than a period has, these blocks are
//! copied element by element.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::loops::Stride;
use crate::machine::LINE;

pub use gathers::Atom;
use gathers::LEAST_PERIOD;
pub(crate) use gathers::{Gathers, LONGEST_PERIOD, Tables};
pub(crate) use index_bits::{Change, IndexBits, MOST_REGISTERS};

mod gathers;
mod index_bits;

/// The longest destination block, in bytes. Planning goes through the atoms of a block, so this bounds its
/// time.
const LONGEST_BLOCK: usize = 1 << 10;

/// Equal blocks, permuted in the same way. Block `i` begins `i * source_step` bytes after the first block on
/// the source, and right after block `i - 1` on the destination. If `source_step` is negative, the last block
/// has the lowest address, and the source span of the permutation begins there.
///
/// The fields are private, and [`BlockLoops::permuted`] sets them together. The kernel over vectors is sound
/// only if the tables have the right offsets.
#[derive(Clone, PartialEq, Eq)]
pub struct BlockPermutation {
    /// The number of blocks, at least one.
    blocks: usize,
    shape: Arc<Shape>,
}

/// The numbers, without the tables.
impl fmt::Debug for BlockPermutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks of {} bytes, source {:+}, ", self.blocks, self.block(), self.source_step())?;
        match self.shuffles() {
            Shuffles::Whole { step, .. } => write!(f, "{step} bytes in a register"),
            Shuffles::Bits(bits) => write!(f, "{} steps over bits of an index", bits.steps.len()),
            Shuffles::Tables(gathers) => write!(f, "{} windows of {} bytes", self.windows(), gathers.window()),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Shape {
    atom: Atom,
    /// For each atom of a destination block, its index among the atoms of the source block.
    sources: Vec<u32>,
    /// Size of a destination block in bytes.
    block: usize,
    /// The distance from one block to the next on the source, in bytes; negative if blocks go backwards.
    source_step: isize,
    /// How many bytes of the source a block spans.
    source_span: usize,
    by: Shuffles,
}

#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "it is behind an `Arc` in every copy, and made once")]
pub(crate) enum Shuffles {
    /// Whole blocks fit a register, and follow each other without a gap on both sides. `step` is the length
    /// of the blocks that a register of `register` bytes holds, and there are as many indices for them.
    Whole { register: usize, step: usize, indices: [u8; LINE] },
    /// The destination index of an element has the bits of its source index, in another order. The bits are
    /// moved by interleaving registers in pairs.
    Bits(IndexBits),
    /// Any other blocks, by tables.
    Tables(Gathers),
}

/// A copy as permuted blocks inside a nest of loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermutedBlocks {
    /// The permutation of the blocks that an iteration of the outer loops copies.
    pub permutation: BlockPermutation,
    /// The loops outside of the blocks, outer to inner, with strides in bytes.
    pub outer: Vec<Stride>,
    /// Where the first iteration begins on the source and on the destination, in bytes.
    pub start: (usize, usize),
}

/// The loops of a copy, divided into the loops that make up many small blocks and the remaining loops.
/// Finding the blocks takes little time, and making the tables takes longer. So a caller can look at the
/// blocks before it asks for tables.
#[derive(Debug, Clone)]
pub struct BlockLoops {
    atom: Atom,
    /// The loops inside a block, inner to outer; then the loop from block to block; then the remaining loops,
    /// outer to inner. Their strides count atoms.
    loops: Vec<Stride>,
    /// How many loops are inside a block.
    inside: usize,
    block: usize,
    source_step: isize,
    /// The index of the first atom on the source and on the destination.
    start: (usize, usize),
}

impl BlockLoops {
    /// Finds the blocks in a loop nest, whose loops are given outer to inner. Strides count atoms. `start` is
    /// the index of the first atom on the source and on the destination.
    ///
    /// A chain of one loop with a negative source stride is a reversal, in which each atom is a block.
    ///
    /// Returns `None` if no chain of loops fills the destination without a gap, as several blocks of at most
    /// 1 KiB each. Also returns `None` if blocks are not whole bytes, or do not begin at whole bytes.
    #[must_use]
    pub fn of(atom: Atom, start: (usize, usize), mut loops: Vec<Stride>) -> Option<BlockLoops> {
        let per_byte = atom.per_byte();
        loops.retain(|step| step.extent != 1);
        // The loops inside a block, and the loop from block to block, are a chain: on the destination, each
        // loop continues where the loops before it end. The last loop of the chain goes from block to block.
        let (mut chain, mut block, mut filled) = (0, 1, 1_usize);
        let continues = |step: &Stride, filled| step.extent > 1 && usize::try_from(step.destination) == Ok(filled);
        // A long run that goes backwards is reversed as a whole, and is no part of a longer block.
        let is_reversal = |chain: usize, filled: usize, loops: &[Stride]| {
            chain > 0 && loops[chain - 1].source < 0 && filled >= LEAST_PERIOD * per_byte
        };
        while filled <= LONGEST_BLOCK * per_byte
            && !is_reversal(chain, filled, &loops)
            && let Some(index) = loops[chain..].iter().position(|step| continues(step, filled))
        {
            let next = loops.remove(chain + index);
            loops.insert(chain, next);
            block = filled;
            filled = filled.checked_mul(loops[chain].extent)?;
            chain += 1;
        }
        let inside = chain.checked_sub(1).filter(|&inside| inside > 0 || loops[inside].source < 0)?;
        if !block.is_multiple_of(per_byte) || !start.1.is_multiple_of(per_byte) {
            return None;
        }
        let source_step = in_bytes(atom, loops[inside].source)?;
        Some(BlockLoops { atom, loops, inside, block: block / per_byte, source_step, start })
    }

    /// The number of blocks in each iteration of the loops outside of the blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.loops[self.inside].extent
    }

    /// Size of a destination block in bytes.
    #[must_use]
    pub fn block(&self) -> usize {
        self.block
    }

    /// The distance from one block to the next on the source, in bytes; negative if blocks go backwards.
    #[must_use]
    pub fn source_step(&self) -> isize {
        self.source_step
    }

    /// Returns the permutation of the blocks, for vectors of `register` bytes. Every 16-byte lane of a vector
    /// is put together from at most `most_windows` windows of 16 bytes. A vector of 64 bytes may also be made
    /// by one shuffle, of at most four whole registers.
    ///
    /// Returns `None` if there is no vector kernel for the permutation: the blocks together are shorter than
    /// a vector, or a lane needs more windows than `most_windows` or 16.
    #[must_use]
    pub fn permuted(self, register: usize, most_windows: usize) -> Option<PermutedBlocks> {
        if !matches!(register, 32 | 64) {
            return None;
        }
        let BlockLoops { atom, mut loops, inside, block, source_step, start } = self;
        let per_byte = atom.per_byte();
        let blocks = loops[inside].extent;
        // On the source, a block begins at its lowest byte.
        let (before, after) = offsets_around(&loops[..inside])?;
        let first = start.0.checked_sub(before)?;
        let odd = first % per_byte;
        let sources = sources_of(&loops[..inside], before + odd)?;
        let source_span = (odd + before + after) / per_byte + 1;
        let by = shuffles(atom, &sources, [block, source_span], source_step, blocks, [register, most_windows])?;
        // The source span begins at the block with the lowest address.
        let behind = if source_step < 0 { (blocks - 1).checked_mul(source_step.unsigned_abs())? } else { 0 };
        let lowest = (first / per_byte).checked_sub(behind)?;
        loops.drain(..=inside);
        for Stride { source, destination, .. } in &mut loops {
            (*source, *destination) = (in_bytes(atom, *source)?, in_bytes(atom, *destination)?);
        }
        let shape = Shape { atom, sources, block, source_step, source_span, by };
        let permutation = BlockPermutation { blocks, shape: Arc::new(shape) };
        Some(PermutedBlocks { permutation, outer: loops, start: (lowest, start.1 / per_byte) })
    }
}

impl BlockPermutation {
    /// Returns the permutation of `blocks` blocks of bytes, for vectors of `register` bytes. Byte `i` of each
    /// block is byte `sources[i]` of the block on the source. Blocks follow each other on the destination,
    /// and begin `source_step` bytes apart on the source. [`BlockLoops::permuted`] explains `most_windows`.
    ///
    /// Returns `None` if a block has no bytes or more than 1 KiB, or if there is no vector kernel for the
    /// permutation.
    ///
    /// ```
    /// use strided_copy::BlockPermutation;
    ///
    /// // Pairs of bytes change places.
    /// let swapped = BlockPermutation::from_bytes(vec![1, 0], 64, 2, 32, 6).expect("pairs fit a register");
    /// assert_eq!((swapped.block(), swapped.span()), (2, (Some(128), Some(128))));
    /// ```
    #[must_use]
    pub fn from_bytes(
        sources: Vec<u32>,
        blocks: usize,
        source_step: usize,
        register: usize,
        most_windows: usize,
    ) -> Option<BlockPermutation> {
        let (block, atom) = (sources.len(), Atom::Byte);
        if !matches!(register, 32 | 64) || !(1..=LONGEST_BLOCK).contains(&block) || blocks == 0 {
            return None;
        }
        let source_span = usize::try_from(*sources.iter().max()?).ok()?.checked_add(1)?;
        let source_step = isize::try_from(source_step).ok()?;
        // Offsets in the tables have 32 bits, so a block may not span 1 GiB or more of the source.
        if source_span >= 1 << 30 {
            return None;
        }
        let by = shuffles(atom, &sources, [block, source_span], source_step, blocks, [register, most_windows])?;
        let shape = Shape { atom, sources, block, source_step, source_span, by };
        Some(BlockPermutation { blocks, shape: Arc::new(shape) })
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

    /// The distance from one block to the next on the source, in bytes; negative if blocks go backwards.
    #[must_use]
    pub fn source_step(&self) -> isize {
        self.shape.source_step
    }

    /// The smallest unit that the permutation moves.
    #[must_use]
    pub fn atom(&self) -> Atom {
        self.shape.atom
    }

    /// The largest number of source windows that make up a lane of a destination vector.
    #[must_use]
    pub fn windows(&self) -> usize {
        match &self.shape.by {
            Shuffles::Whole { .. } | Shuffles::Bits(_) => 1,
            Shuffles::Tables(gathers) => gathers.groups().iter().map(|group| group.rounds).max().unwrap_or(0),
        }
    }

    /// How many bytes all blocks span on the source, and on the destination. `None` if a number overflows.
    #[must_use]
    pub fn span(&self) -> (Option<usize>, Option<usize>) {
        let last = self.blocks.saturating_sub(1).checked_mul(self.source_step().unsigned_abs());
        (last.and_then(|last| last.checked_add(self.shape.source_span)), self.blocks.checked_mul(self.shape.block))
    }

    /// Where the source span of some blocks begins, in bytes from the start of the source span of all blocks.
    #[inline(always)]
    pub(crate) fn source_of(&self, blocks: Range<usize>) -> usize {
        let before = if self.source_step() < 0 { self.blocks - blocks.end } else { blocks.start };
        before * self.source_step().unsigned_abs()
    }

    /// Returns the permutation of some of the blocks, and the offsets of the span of these blocks, in bytes
    /// on the source and on the destination. A thread copies such a part. `None` if the range is empty, or
    /// not inside the range of all blocks.
    #[must_use]
    pub fn part(&self, blocks: Range<usize>) -> Option<(BlockPermutation, (usize, usize))> {
        if blocks.is_empty() || blocks.end > self.blocks {
            return None;
        }
        let start = (self.source_of(blocks.clone()), blocks.start * self.shape.block);
        Some((BlockPermutation { blocks: blocks.len(), shape: Arc::clone(&self.shape) }, start))
    }

    pub(crate) fn shuffles(&self) -> &Shuffles {
        &self.shape.by
    }

    pub(crate) fn sources(&self) -> &[u32] {
        &self.shape.sources
    }
}

/// Returns how registers permute the blocks: whole blocks at once, by bits of an index, or by tables. `None`
/// if there is no vector kernel for them.
fn shuffles(
    atom: Atom,
    sources: &[u32],
    [block, source_span]: [usize; 2],
    source_step: isize,
    blocks: usize,
    [register, most_windows]: [usize; 2],
) -> Option<Shuffles> {
    match whole_blocks(atom, sources, [block, source_span], source_step, register) {
        Some(_) if blocks.checked_mul(block)? < register => None,
        Some(whole) if most_windows > 0 => Some(whole),
        _ => {
            if atom == Atom::Nibble
                && most_windows > 0
                && let Some(bits) = IndexBits::new(sources, source_span, register)
            {
                return Some(Shuffles::Bits(bits));
            }
            let windows = [register, most_windows];
            let gathers = Gathers::new(atom, sources, [block, source_span], source_step, blocks, windows)?;
            Some(Shuffles::Tables(gathers))
        }
    }
}

/// Returns one vector of indices that permutes all whole blocks in a register. `None` unless atoms are bytes,
/// a block fits a register, and blocks follow each other without a gap on both sides.
fn whole_blocks(
    atom: Atom,
    sources: &[u32],
    [block, span]: [usize; 2],
    step: isize,
    register: usize,
) -> Option<Shuffles> {
    if atom != Atom::Byte || block > register || span != block || step.unsigned_abs() != block {
        return None;
    }
    let held = register / block;
    let mut indices = [0; LINE];
    for (i, index) in indices.iter_mut().enumerate().take(held * block) {
        let number = if step < 0 { held - 1 - i / block } else { i / block };
        *index = u8::try_from(number * block + usize::try_from(sources[i % block]).ok()?).ok()?;
    }
    Some(Shuffles::Whole { register, step: held * block, indices })
}

/// Converts a stride in atoms to a stride in bytes. `None` if the stride is not whole bytes.
fn in_bytes(atom: Atom, stride: isize) -> Option<isize> {
    let per_byte = isize::try_from(atom.per_byte()).ok()?;
    (stride % per_byte == 0).then(|| stride / per_byte)
}

/// How far the loops read before the first atom and after it, in atoms. `None` if the sum is 2^30 or more, so
/// that offsets in tables fit 32 bits.
fn offsets_around(loops: &[Stride]) -> Option<(usize, usize)> {
    let (mut before, mut after) = (0_usize, 0_usize);
    for &Stride { extent, source, .. } in loops {
        let last = extent.checked_sub(1)?.checked_mul(source.unsigned_abs())?;
        let side = if source < 0 { &mut before } else { &mut after };
        *side = side.checked_add(last)?;
    }
    (before.checked_add(after)? < 1 << 30).then_some((before, after))
}

/// The source offset of each atom that the loops (inner to outer) write, in destination order. The first atom
/// has offset `first`. Offsets count atoms. `None` if an offset is negative or does not fit 32 bits.
fn sources_of(loops: &[Stride], first: usize) -> Option<Vec<u32>> {
    let mut offsets = Vec::with_capacity(loops.iter().map(|step| step.extent).product());
    offsets.push(u32::try_from(first).ok()?);
    for &Stride { extent, source, .. } in loops {
        let inner = offsets.len();
        for i in 1..extent {
            let step = i32::try_from(source.checked_mul(isize::try_from(i).ok()?)?).ok()?;
            let begins = offsets.len();
            offsets.extend_from_within(..inner);
            for offset in &mut offsets[begins..] {
                *offset = offset.checked_add_signed(step)?;
            }
        }
    }
    Some(offsets)
}
