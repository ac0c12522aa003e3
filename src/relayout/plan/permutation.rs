//! Boxes of many small blocks whose elements are permuted, and the choice of boxes that are permuted block by
//! block.

use strided_copy::kernel::{Kernel, Loop as ByteLoop, Stride};
use strided_copy::{Access, Atom, BlockLoops, Copy, PermutedBlocks, Prefetch};

use crate::error::Error;
use crate::map::{CopyBox, Loop};

use super::machine::Site;
use super::select;

/// Blocks that have fewer bytes than this together are not permuted, because planning the tables takes 3 to
/// 25 us (Zen 3).
const LEAST_PERMUTED: usize = 1 << 14;

/// The size of a block, in bytes, from which on a kernel is called for each block. By trial (Zen 3): with
/// permuted blocks, `tile_1d_bf16`, whose blocks have 512 bytes, takes 1.4 times as long.
const CALLED_FROM: usize = 1 << 9;

/// The most windows of a lane, for blocks of bytes. Blocks that need more get another kernel. With 8 windows
/// and more, kernels that transpose in registers were up to three times as fast as permutations (Zen 3,
/// planes of 16 x 8 numbers of 16 bits).
const MOST_WINDOWS: usize = 6;

/// The most boxes of a copy that get tables. Further boxes get another kernel. The tables of a box take up to
/// 30 KB.
pub(super) const MOST_BOXES: usize = 256;

/// Returns the copy that permutes the elements of some blocks.
///
/// # Errors
///
/// `overflow` if an iteration ends after the last address.
pub(super) fn copy(blocks: PermutedBlocks, site: Site<'_>) -> Result<Copy, Error> {
    let PermutedBlocks { permutation, outer, start } = blocks;
    let loops = outer.into_iter().map(ByteLoop::Strided).collect();
    let access = Access { streaming: site.streaming, prefetch: Prefetch::None };
    select::checked(Kernel::PermuteBlocks(permutation), loops, start, access, site)
}

/// Returns the blocks of a box whose elements are permuted inside small blocks. `None` for other boxes.
///
/// Blocks of whole bytes must follow each other on both sides, because other copies of bytes have kernels of
/// their own. Blocks of elements of 4 bits may be anywhere on the source, because they would otherwise be
/// copied bit by bit.
pub(super) fn blocks(copy: &CopyBox, bits: u32, site: Site<'_>) -> Option<PermutedBlocks> {
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
    let blocks = BlockLoops::of(atom, start, loops)?;
    // The tables are made last, because they take longer than the rest of planning.
    let bytes = blocks.blocks().checked_mul(blocks.block())?;
    let dense = blocks.source_step() == blocks.block();
    let most_windows = match atom {
        Atom::Nibble => usize::MAX,
        Atom::Byte if dense => MOST_WINDOWS,
        Atom::Byte => return None,
    };
    if bytes < LEAST_PERMUTED {
        return None;
    }
    blocks.permuted(site.knobs.level.register(), most_windows)
}

/// Whether some loop goes from block to block without a gap, on both sides. This check is cheap. It comes
/// first, because tables take long to make.
fn has_small_blocks(copy: &CopyBox, bytes: u32) -> bool {
    let called_from = u64::try_from(CALLED_FROM).unwrap_or(u64::MAX).div_euclid(bytes.into());
    let small = |step: &Loop| match *step {
        Loop::Strided { source, destination, .. } => source == destination && (2..called_from).contains(&source),
        Loop::Reversed { .. } | Loop::Table(_) => false,
    };
    // Another loop, whose strides differ on the two sides, must permute the elements of a block.
    copy.loops.iter().any(small)
        && copy
            .loops
            .iter()
            .any(|step| matches!(step, Loop::Strided { source, destination, .. } if source != destination))
}
