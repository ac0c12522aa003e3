//! `GroupCopy`: the copy between [groups](super::groups) and rows of blocks.
//!
//! Whole bytes are moved in units of 8, 4, 2 and 1, other bits a few at a time. A table says where each unit
//! of a group comes from, and each length has a loop of its own, whose units stay in registers.

use tensor_layout::checked::{Dims, Exact, next_index};
use tensor_layout::{IndexMap, LayoutClass};

use super::Group;

/// A copy between groups and rows of blocks.
#[derive(Debug, Clone)]
pub(super) struct GroupCopy {
    /// The first byte of the rows.
    base: usize,
    /// The sizes and strides of all axes in front of the blocks. The last one is that of the rows.
    rows: Dims,
    strides: Dims,
    /// The blocks of a row, and the bytes from one to the next.
    blocks: usize,
    pitch: usize,
    rows_of_group: usize,
    /// The bytes of a group.
    bytes: usize,
    /// Lists of moves of as many bits, of which some are flipped.
    moves: Vec<(u64, u8, Vec<Move>)>,
}

/// Bits of a row that are moved at once: the first in the block, and in the group.
#[derive(Debug, Clone, Copy)]
struct Move {
    row: usize,
    from: usize,
    to: usize,
}

impl GroupCopy {
    /// Returns the copy between the groups and bytes with the axes of rows, of blocks and of the bytes of a
    /// block at the end. `None` if the bytes of a block do not follow each other.
    pub(super) fn new(group: &Group, plain: &IndexMap) -> Option<GroupCopy> {
        let strides = plain.strides().filter(|strides| strides.last() == Some(&1))?;
        let ([rows @ .., blocks, _], [row_strides @ .., pitch, _]) = (plain.sizes(), &strides[..]) else { return None };
        let place = |number: u64| usize::try_from(number).ok();
        let mut copy = GroupCopy {
            base: place(plain.base())?,
            rows: Dims::from_slice(rows),
            strides: Dims::from_slice(row_strides),
            blocks: place(*blocks)?,
            pitch: place(*pitch)?,
            rows_of_group: place(group.rows)?,
            bytes: place(group.bytes())?,
            moves: Vec::new(),
        };
        if plain.class() != LayoutClass::Affine {
            return None;
        }
        for run in &group.runs {
            let (mut from, mut to, mut left) = (run.from, run.to, run.bits);
            while left > 0 {
                let is_whole = from.is_multiple_of(8) && to.is_multiple_of(8) && left >= 8;
                let bits = match is_whole {
                    true => [64, 32, 16, 8].into_iter().find(|bits| *bits <= left)?,
                    false => left.min(8_u64.minus(from.modulo(8))).min(8_u64.minus(to.modulo(8))),
                };
                let step = Move { row: place(run.row)?, from: place(from)?, to: place(to)? };
                match copy.moves.last_mut() {
                    Some((width, flip, moves)) if (*width, *flip) == (bits, run.flip) => moves.push(step),
                    _ => copy.moves.push((bits, run.flip, vec![step])),
                }
                [from, to, left] = [from.plus(bits), to.plus(bits), left.minus(bits)];
            }
        }
        Some(copy)
    }
}

#[allow(
    clippy::arithmetic_side_effects,
    reason = "offsets are below the spans of maps, which fit, and those of the moves below the length of a group"
)]
impl GroupCopy {
    /// Copies all groups. Returns `None` if a buffer is shorter than its layout needs.
    pub(super) fn run(&self, source: &[u8], destination: &mut [u8], to_rows: bool) -> Option<()> {
        let (mut index, mut more, mut group) = (Dims::from_elem(0, self.rows.len()), !self.rows.contains(&0), 0);
        let mut starts = vec![0; self.rows_of_group];
        while more && self.blocks > 0 {
            for start in &mut starts {
                let offset = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<u64>();
                *start = self.base + usize::try_from(offset).ok()?;
                more = next_index(&mut index, &self.rows);
            }
            for _ in 0..self.blocks {
                for (bits, flip, moves) in &self.moves {
                    let place = |step: &Move| {
                        let row = starts.get(step.row)?;
                        let places = if *bits < 8 {
                            (row * 8 + step.from, group * 8 + step.to)
                        } else {
                            (row + step.from / 8, group + step.to / 8)
                        };
                        Some(if to_rows { (places.1, places.0) } else { places })
                    };
                    match bits {
                        64 => units::<8>(moves, *flip, source, destination, place)?,
                        32 => units::<4>(moves, *flip, source, destination, place)?,
                        16 => units::<2>(moves, *flip, source, destination, place)?,
                        8 => units::<1>(moves, *flip, source, destination, place)?,
                        _ => some_bits(moves, *bits, source, destination, place)?,
                    }
                }
                starts.iter_mut().for_each(|start| *start += self.pitch);
                group += self.bytes;
            }
        }
        Some(())
    }
}

/// Moves units of whole bytes. They are moved as arrays, which the compiler keeps in registers.
#[inline(always)]
fn units<const U: usize>(
    moves: &[Move],
    flip: u8,
    source: &[u8],
    destination: &mut [u8],
    place: impl Fn(&Move) -> Option<(usize, usize)>,
) -> Option<()> {
    for step in moves {
        let (from, to) = place(step)?;
        let unit = source.get(from..)?.first_chunk::<U>()?;
        *destination.get_mut(to..)?.first_chunk_mut::<U>()? = unit.map(|byte| byte ^ flip);
    }
    Some(())
}

/// Moves bits inside a byte.
fn some_bits(
    moves: &[Move],
    bits: u64,
    source: &[u8],
    destination: &mut [u8],
    place: impl Fn(&Move) -> Option<(usize, usize)>,
) -> Option<()> {
    let mask = 0xff_u8.checked_shr(8_u32.checked_sub(u32::try_from(bits).ok()?)?)?;
    for step in moves {
        let (from, to) = place(step)?;
        let taken = source.get(from.div_euclid(8))? >> from.rem_euclid(8) & mask;
        let byte = destination.get_mut(to.div_euclid(8))?;
        *byte = *byte & !(mask << to.rem_euclid(8)) | taken << to.rem_euclid(8);
    }
    Some(())
}
