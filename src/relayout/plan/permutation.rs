//! Boxes of many small blocks whose elements are permuted, and which of them are permuted block by block.

use strided_copy::kernel::{Kernel, Loop as ByteLoop, Stride};
use strided_copy::{Access, Atom, BlockPermutation, Copy, PermutedBlocks, Prefetch};

use crate::error::Error;
use crate::map::{CopyBox, Loop};

use super::select;
use super::site::Site;

/// The least number of bytes of all blocks together: planning the tables takes tens of microseconds.
const LEAST_PERMUTED: usize = 1 << 14;

/// The size of a block, in bytes, from which on one call of a kernel for each block is as fast. By trial (Zen
/// 3).
const LARGEST_PERMUTED: usize = 1 << 10;

/// Windows of a lane, at most, for blocks of bytes: with 8 and more, transposes in registers were up to three
/// times as fast (Zen 3, planes of 16 x 8 numbers of 16 bits).
const MOST_WINDOWS: usize = 6;

/// The most boxes of a copy that are looked at: the tables of a box are up to 30 KB.
pub(super) const MOST_BOXES: usize = 256;

/// The copy of a box whose elements are permuted inside small blocks, if it is one.
///
/// Blocks of whole bytes have to follow each other on both sides, as other copies of bytes have kernels of
/// their own. Blocks of elements of 4 bits may be anywhere on the source: the other way is bit by bit.
///
/// # Errors
///
/// [`Error::Overflow`] if an iteration ends after the last address.
pub(super) fn copy(copy: &CopyBox, bits: u32, site: Site<'_>) -> Result<Option<Copy>, Error> {
    let Some(PermutedBlocks { permutation, outer, start }) = blocks(copy, bits, site) else { return Ok(None) };
    let loops = outer.into_iter().map(ByteLoop::Strided).collect();
    let access = Access { streaming: site.streaming, prefetch: Prefetch::None };
    select::checked(Kernel::PermuteBlocks(permutation), loops, start, access, site).map(Some)
}

fn blocks(copy: &CopyBox, bits: u32, site: Site<'_>) -> Option<PermutedBlocks> {
    let (atom, each) = match bits {
        4 => (Atom::Nibble, 1),
        _ if bits.is_multiple_of(8) => (Atom::Byte, bits.div_euclid(8)),
        _ => return None,
    };
    if !site.knobs.level.has_vectors() || atom == Atom::Byte && !has_small_blocks(copy, each) {
        return None;
    }
    let in_atoms = |elements: u64| usize::try_from(elements.checked_mul(each.into())?).ok();
    let step = |elements: u64| isize::try_from(in_atoms(elements)?).ok();
    let mut loops = Vec::with_capacity(copy.loops.len().saturating_add(1));
    for outer in &copy.loops {
        let (extent, source, destination, backwards) = outer.strides()?;
        if backwards {
            return None;
        }
        let (source, destination) = (step(source)?, step(destination)?);
        loops.push(Stride { extent: usize::try_from(extent).ok()?, source, destination });
    }
    loops.push(Stride { extent: usize::try_from(each).ok()?, source: 1, destination: 1 });
    let start = (in_atoms(copy.source)?, in_atoms(copy.destination)?);
    let blocks = BlockPermutation::of(atom, start, &loops, site.knobs.level.register())?;
    let permutation = &blocks.permutation;
    let dense = permutation.source_step() == permutation.block() && permutation.windows() <= MOST_WINDOWS;
    let bytes = permutation.blocks().checked_mul(permutation.block())?;
    (bytes >= LEAST_PERMUTED && (atom == Atom::Nibble || dense)).then_some(blocks)
}

/// Whether some loop goes from block to block without a gap, on both sides: a first look, as the tables are
/// not made for nothing.
fn has_small_blocks(copy: &CopyBox, bytes: u32) -> bool {
    let largest = u64::try_from(LARGEST_PERMUTED).unwrap_or(u64::MAX).div_euclid(bytes.into());
    let small = |step: &Loop| match *step {
        Loop::Strided { source, destination, .. } => source == destination && (2..=largest).contains(&source),
        Loop::Reversed { .. } | Loop::Table(_) => false,
    };
    // The rest of the loops permute the block.
    copy.loops.iter().any(small)
        && copy
            .loops
            .iter()
            .any(|step| matches!(step, Loop::Strided { source, destination, .. } if source != destination))
}
