//! Finds boxes that permute elements inside many small blocks, and decides which of them get a block
//! permutation.

use smallvec::SmallVec;
use strided_copy::kernel::{Kernel, Loop as ByteLoop, Plane, Stride, is_in_register};
use strided_copy::{Access, Atom, BlockLoops, BlockPermutation, PermutedBlocks, Prefetch, SMALL_PROGRAM};

use crate::error::Error;
use crate::map::{self, CopyBox, Loop, each_element};

use super::cost::LINE;
use super::machine::{Knobs, Site};
use super::nest::{NestLoops, checked, front_to_back, overflow, stride_in_bytes};
use super::planned::{Copy, CopyLoops};

/// Blocks that have fewer bytes than this together are copied by other kernels, because planning the tables
/// of a permutation takes 3 to 25 us (Zen 3).
const LEAST_PERMUTED: usize = 1 << 14;

/// The size of a block, in bytes, from which on another kernel is called for each block. By trial (Zen 3): by
/// block permutations, `tile_1d_bf16`, whose blocks have 512 bytes, takes 1.4 times as long.
const CALLED_FROM: usize = 1 << 9;

/// The most source windows from which one lane is made, if blocks consist of bytes. Blocks that need more
/// windows get another kernel. With 8 windows and more, kernels that transpose in registers were up to three
/// times as fast as permutations (Zen 3, planes of 16 x 8 numbers of 16 bits).
const MOST_WINDOWS: usize = 6;

/// The most boxes that are planned as one permutation. Each pair of boxes is compared loop by loop, so this
/// limits the time of planning.
const MOST_TOGETHER: usize = 64;

/// The longest block, in bytes, of boxes that are planned as one permutation: as in `BlockPermutation`.
const LONGEST_BLOCK: usize = 1 << 10;

/// The longest unit, in bytes, for which a block permutation reverses the order of units.
const LONGEST_REVERSED: usize = 16;

/// The least number of bytes of an iteration that a block permutation reverses or interleaves. By trial (Zen
/// 5).
const LEAST_SHUFFLED: usize = 256;

/// The most boxes of a copy that get tables. Further boxes get another kernel. The tables of a box take up to
/// 30 KB.
pub(super) const MOST_BOXES: usize = 256;

/// Returns the copy that permutes the elements of some blocks. The error is `overflow` if an iteration ends
/// after the last address.
pub(super) fn copy(blocks: PermutedBlocks, site: Site<'_>) -> Result<Copy, Error> {
    let PermutedBlocks { permutation, outer, start } = blocks;
    let mut loops: CopyLoops = outer.into_iter().map(ByteLoop::Strided).collect();
    let start = front_to_back(&mut loops, start).ok_or_else(overflow)?;
    let access = Access { streaming: site.streaming, prefetch: Prefetch::None };
    checked(Kernel::PermuteBlocks(permutation), loops, start, access, site)
}

/// Returns a box as a permutation of many small blocks, if it is one. `None` for other boxes.
///
/// Blocks of whole bytes must follow each other on both sides, because there are other kernels for all other
/// copies of bytes. Blocks of elements of 4 bits may be anywhere on the source, because the other kernels
/// would copy such elements bit by bit.
pub(super) fn blocks(copy: &CopyBox, bits: u32, site: Site<'_>) -> Option<PermutedBlocks> {
    let (atom, each) = match bits {
        4 if !SMALL_PROGRAM => (Atom::Nibble, 1),
        _ if bits.is_multiple_of(8) => (Atom::Byte, bits.div_euclid(8)),
        _ => return None,
    };
    if !site.knobs.level.has_vectors() || atom == Atom::Byte && !has_small_blocks(copy, each) {
        return None;
    }
    if matches!(each, 4 | 8) && is_square(copy, each, site) {
        return None;
    }
    let in_atoms = |elements: u64| usize::try_from(elements.checked_mul(each.into())?).ok();
    let mut loops = Vec::with_capacity(copy.loops.len().saturating_add(1));
    for outer in &copy.loops {
        loops.push(stride_in_bytes(outer.stride()?, |(a, b)| Some((in_atoms(a)?, in_atoms(b)?)))?);
    }
    loops.push(Stride { extent: usize::try_from(each).ok()?, source: 1, destination: 1 });
    let start = (in_atoms(copy.source)?, in_atoms(copy.destination)?);
    let blocks = BlockLoops::of(atom, start, loops)?;
    // The tables are made last, because they take longer than the rest of planning.
    let bytes = blocks.blocks().checked_mul(blocks.block())?;
    let dense = blocks.source_step().unsigned_abs() == blocks.block();
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

/// Returns boxes that together fill the same small blocks, such as those of a swizzle, as one permutation.
/// All boxes have the loop from block to block, and the loops outside of it, in common. With their other
/// loops, the boxes fill a block of the destination without a gap. `None` for all others.
pub(super) fn together(boxes: &[CopyBox], bits: u32, site: Site<'_>) -> Option<PermutedBlocks> {
    let register = site.knobs.level.register();
    if !(2..=MOST_TOGETHER).contains(&boxes.len()) || !site.knobs.level.has_vectors() || !bits.is_multiple_of(8) {
        return None;
    }
    let each = u64::from(bits.div_euclid(8));
    let in_bytes = |elements: u64| usize::try_from(elements.checked_mul(each)?).ok();
    // The loops that all boxes share are among those that the first two boxes share. This check is cheap.
    let (first, others) = boxes.split_first()?;
    let second = others.first()?;
    let is_shared = |step: &map::Stride| second.loops.contains(&Loop::Strided(*step));
    let innermost = first.loops.iter().rev().filter_map(Loop::stride).find(is_shared)?;
    if in_bytes(innermost.destination)? > LONGEST_BLOCK {
        return None;
    }
    let mut shared: SmallVec<[map::Stride; 4]> = first.loops.iter().map(Loop::stride).collect::<Option<_>>()?;
    shared.retain(|step| others.iter().all(|copy| copy.loops.contains(&Loop::Strided(*step))));
    // Loops are sorted by falling destination stride. So the innermost loop that all boxes share goes from
    // block to block.
    let from_block = shared.pop().filter(|step| step.source > 0)?;
    let (block, blocks) = (in_bytes(from_block.destination)?, usize::try_from(from_block.extent).ok()?);
    let row = block.checked_mul(blocks)?;
    let rows = shared.iter().map(|step| step.extent).fold(1, u64::saturating_mul);
    let bytes = row.saturating_mul(usize::try_from(rows).unwrap_or(usize::MAX));
    // If the boxes fill the blocks, both have the same number of bytes.
    let copied = in_bytes(boxes.iter().map(CopyBox::elements).fold(0, u64::saturating_add))?;
    if block > LONGEST_BLOCK || row < LEAST_SHUFFLED || bytes < LEAST_PERMUTED || bytes != copied {
        return None;
    }
    // The loops of each box inside a block. (Loops outside of blocks may go backwards on the source.)
    let inside = |copy: &CopyBox| {
        let is_inside = |step: &&Loop| step.stride().is_some_and(|own| own != from_block && !shared.contains(&own));
        CopyBox { loops: copy.loops.iter().filter(is_inside).cloned().collect(), ..copy.clone() }
    };
    let boxes: Vec<CopyBox> = boxes.iter().map(inside).collect();
    let start =
        (boxes.iter().map(|copy| copy.source_span().start).min()?, boxes.iter().map(|copy| copy.destination).min()?);
    // The source index of each element of a destination block, counted from the block's lowest source
    // element.
    let mut elements: Vec<Option<u64>> = vec![None; usize::try_from(from_block.destination).ok()?];
    let mut filled = true;
    for copy in &boxes {
        each_element(&copy.loops, copy.source, copy.destination, &mut |from, to| {
            let slot = usize::try_from(to.saturating_sub(start.1)).ok().and_then(|at| elements.get_mut(at));
            match slot.filter(|slot| slot.is_none()) {
                Some(slot) => *slot = from.checked_sub(start.0),
                None => filled = false,
            }
        });
    }
    let mut sources = Vec::with_capacity(block);
    for from in elements {
        let first = from?.checked_mul(each)?;
        sources.extend((first..first.checked_add(each)?).map_while(|byte| u32::try_from(byte).ok()));
    }
    let source_step = in_bytes(u64::try_from(from_block.source).ok()?)?;
    let whole = filled && sources.len() == block;
    let permutation =
        whole.then(|| BlockPermutation::from_bytes(sources, blocks, source_step, register, MOST_WINDOWS))??;
    let outer = shared.iter().map(|&step| stride_in_bytes(step, |(a, b)| Some((in_bytes(a)?, in_bytes(b)?))));
    let start = (in_bytes(start.0)?, in_bytes(start.1)?);
    Some(PermutedBlocks { permutation, outer: outer.collect::<Option<_>>()?, start })
}

/// Takes the loops that reverse the order of units of `unit` bytes out of the nest, as one block permutation.
/// Also returns where the permutation starts: at its lowest address on each side. `None` for other nests, and
/// for few bytes, which are copied unit by unit.
pub(super) fn reversed(
    loops: &mut NestLoops,
    unit: usize,
    start: (usize, usize),
    knobs: &Knobs,
) -> Option<(BlockPermutation, (usize, usize))> {
    let step = isize::try_from(unit).ok()?;
    let backwards = step.checked_neg()?;
    let is_reversed = |stride: Stride| stride.source == backwards && stride.destination == step;
    if !knobs.level.has_vectors()
        || unit > LONGEST_REVERSED
        || !loops.iter().filter_map(ByteLoop::stride).any(is_reversed)
    {
        return None;
    }
    let mut strides = loops.iter().map(ByteLoop::stride).collect::<Option<Vec<_>>>()?;
    strides.push(Stride { extent: unit, source: 1, destination: 1 });
    let blocks = BlockLoops::of(Atom::Byte, start, strides)?;
    if blocks.blocks().saturating_mul(blocks.block()) < LEAST_SHUFFLED {
        return None;
    }
    let PermutedBlocks { permutation, outer, start } = blocks.permuted(knobs.level.register(), MOST_WINDOWS)?;
    loops.clear();
    loops.extend(outer.into_iter().map(ByteLoop::Strided));
    Some((permutation, start))
}

/// If a plane interleaves two to four rows of units that other kernels do not hold in registers, such as 3
/// bytes, returns it as a block permutation. `None` for other planes.
pub(super) fn interleaved(plane: &Plane, site: Site<'_>) -> Option<BlockPermutation> {
    let Plane { unit, columns, rows, micro_tile: None } = plane else { return None };
    let (unit, register) = (*unit, site.register());
    if !site.knobs.level.has_vectors()
        || is_in_register(unit)
        || !(3..=register.div_euclid(2)).contains(&unit)
        || !(2..=4).contains(&rows.extent)
        || plane.destination_row().saturating_mul(columns.extent) < LEAST_SHUFFLED
    {
        return None;
    }
    let stride = |extent, source: usize, destination: usize| {
        Some(Stride { extent, source: isize::try_from(source).ok()?, destination: isize::try_from(destination).ok()? })
    };
    // If the pitch of the rows is negative, other kernels interleave the plane.
    plane.interleaves().filter(|&pitch| pitch >= 0)?;
    let loops = vec![
        stride(columns.extent, unit, plane.destination_row())?,
        stride(rows.extent, rows.stride()?, unit)?,
        stride(unit, 1, 1)?,
    ];
    let PermutedBlocks { permutation, outer, .. } =
        BlockLoops::of(Atom::Byte, (0, 0), loops)?.permuted(register, MOST_WINDOWS)?;
    outer.is_empty().then_some(permutation)
}

/// Whether the two innermost loops of a box transpose a square of elements, and its rows are registers or
/// half a line. In registers, a block of one such square takes 0.2 to 0.5 of the time of tables (Zen 5).
fn is_square(copy: &CopyBox, bytes: u32, site: Site<'_>) -> bool {
    let [.., Loop::Strided(outer), Loop::Strided(inner)] = copy.loops() else { return false };
    let packed = (outer.source, inner.destination) == (1, 1) && !site.streaming;
    let dense = u64::try_from(inner.source) == Ok(outer.extent) && outer.destination == inner.extent;
    let row = inner.extent.checked_mul(bytes.into()).and_then(|row| usize::try_from(row).ok());
    packed && dense && outer.extent == inner.extent && row.is_some_and(|row| row == site.register() || row == LINE / 2)
}

/// Whether some loop goes from block to block without a gap, on both sides. This check takes little time, so
/// it comes before the tables are made.
fn has_small_blocks(copy: &CopyBox, bytes: u32) -> bool {
    let called_from = u64::try_from(CALLED_FROM).unwrap_or(u64::MAX).div_euclid(bytes.into());
    let mut strides = copy.loops.iter().filter_map(Loop::stride);
    let keeps = |stride: map::Stride| stride.ascends() && stride.source.unsigned_abs() == stride.destination;
    let small = |stride| keeps(stride) && (2..called_from).contains(&stride.destination);
    // Inside a block, elements are permuted by another loop, whose strides differ on the two sides.
    strides.clone().any(small) && strides.any(|stride| stride.ascends() && !keeps(stride))
}
