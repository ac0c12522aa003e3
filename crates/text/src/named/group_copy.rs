//! `GroupCopy`: the copy between [groups](super::groups) and rows of blocks.
//!
//! A table says where each unit of a group comes from: whole bytes in units of 8, 4, 2 and 1, other bits a
//! few at a time. Groups of two fields, scales and then values in turn, need no table: their four numbers are
//! constants, so that the compiler unrolls a group and needs no check inside it.

use tensor_layout::checked::{Dims, Exact, next_index};
use tensor_layout::{IndexMap, LayoutClass};

use super::Group;

/// Returns the bytes of scales and of values, the rows, and the bytes of a row in turn, if a group is scales
/// of all rows and then values in turn.
fn form_of(group: &Group) -> Option<[u64; 4]> {
    let (rows, bytes) = (group.rows, group.bytes().checked_div(group.rows)?);
    let (first, second) = (group.runs.first()?, group.runs.get(usize::try_from(rows).ok()?)?);
    let (scales, unit) = (first.bits.div_euclid(8), second.bits.div_euclid(8).max(1));
    let fields = format!("{rows}: 0+{scales}, {scales}+{} by {unit}", bytes.checked_sub(scales)?);
    let same = Group::read(&fields, &super::Values::default(), group.blocks, second.flip).ok()?;
    (same == *group).then_some([scales, bytes.minus(scales), rows, unit])
}

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
    /// The bytes of scales and of values of a block, the rows of a group and the bytes of a row in turn, if
    /// the group has these two fields, and the bits that are flipped in the values.
    form: Option<[u64; 4]>,
    flip: u8,
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
            form: form_of(group),
            flip: group.runs.last().map_or(0, |run| run.flip),
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
    clippy::indexing_slicing,
    reason = "offsets are below the spans of maps, which fit, and those of the moves below the length of a group"
)]
impl GroupCopy {
    /// Copies all groups. Returns `None` if a buffer is shorter than its layout needs.
    pub(super) fn run(&self, source: &[u8], destination: &mut [u8], to_rows: bool) -> Option<()> {
        macro_rules! forms {
            ($($s:literal $v:literal $r:literal $u:literal;)*) => {
                match (self.form, self.flip) {
                    $((Some([$s, $v, $r, $u]), 0) => self.each(|starts, at| {
                        form::<$s, $v, $r, $u, 0>(source, destination, starts, at, to_rows)
                    }),
                    (Some([$s, $v, $r, $u]), 0x88) => self.each(|starts, at| {
                        form::<$s, $v, $r, $u, 0x88>(source, destination, starts, at, to_rows)
                    }),)*
                    _ => self.each(|starts, at| self.moves(source, destination, starts, at, to_rows)),
                }
            };
        }
        forms! {
            2 32 4 4; 2 32 4 8; 2 32 16 1;
            2 16 4 4; 2 16 4 8; 2 16 8 8; 2 16 4 1; 2 16 16 1;
            1 16 4 4; 1 16 8 8;
        }
    }

    /// Calls `copy` for each group, with the first byte of each row of it and of the group.
    #[inline(always)]
    fn each(&self, mut copy: impl FnMut(&[usize], usize) -> Option<()>) -> Option<()> {
        let (mut index, mut more, mut group) = (Dims::from_elem(0, self.rows.len()), !self.rows.contains(&0), 0);
        let mut starts = vec![0; self.rows_of_group];
        while more && self.blocks > 0 {
            for start in &mut starts {
                let offset = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<u64>();
                *start = self.base + usize::try_from(offset).ok()?;
                more = next_index(&mut index, &self.rows);
            }
            for _ in 0..self.blocks {
                copy(&starts, group)?;
                starts.iter_mut().for_each(|start| *start += self.pitch);
                group += self.bytes;
            }
        }
        Some(())
    }

    /// Copies a group by the table.
    fn moves(
        &self,
        source: &[u8],
        destination: &mut [u8],
        starts: &[usize],
        group: usize,
        to_rows: bool,
    ) -> Option<()> {
        for (bits, flip, moves) in &self.moves {
            let moved = moves.iter().map(|step| {
                let (row, place) = (starts.get(step.row)? * 8 + step.from, group * 8 + step.to);
                Some(if to_rows { (place, row) } else { (row, place) })
            });
            match bits {
                64 => units::<8>(source, destination, moved, *flip)?,
                32 => units::<4>(source, destination, moved, *flip)?,
                16 => units::<2>(source, destination, moved, *flip)?,
                8 => units::<1>(source, destination, moved, *flip)?,
                _ => {
                    let mask = (1_u8 << *bits) - 1;
                    for places in moved {
                        let (from, to) = places?;
                        let taken = source.get(from / 8)? >> (from % 8) & mask;
                        let byte = destination.get_mut(to / 8)?;
                        *byte = *byte & !(mask << (to % 8)) | taken << (to % 8);
                    }
                }
            }
        }
        Some(())
    }
}

/// Copies a group of `R` rows, of `S` bytes of scales and `V` of values, of which `U` of each row in turn.
/// The compiler unrolls it, and needs no check inside.
#[inline(always)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "offsets in a block are products of constants"
)]
fn form<const S: usize, const V: usize, const R: usize, const U: usize, const FLIP: u8>(
    source: &[u8],
    destination: &mut [u8],
    starts: &[usize],
    group: usize,
    to_rows: bool,
) -> Option<()> {
    let group = group..group + R * (S + V);
    if to_rows {
        let group = source.get(group)?;
        for (r, start) in starts.iter().enumerate().take(R) {
            let row = destination.get_mut(*start..)?.get_mut(..S + V)?;
            move_unit::<S, 0>(&group[r * S..], row);
            for j in 0..V / U {
                move_unit::<U, FLIP>(&group[R * S + (j * R + r) * U..], &mut row[S + j * U..]);
            }
        }
    } else {
        let group = destination.get_mut(group)?;
        for (r, start) in starts.iter().enumerate().take(R) {
            let row = source.get(*start..)?.get(..S + V)?;
            move_unit::<S, 0>(row, &mut group[r * S..]);
            for j in 0..V / U {
                move_unit::<U, FLIP>(&row[S + j * U..], &mut group[R * S + (j * R + r) * U..]);
            }
        }
    }
    Some(())
}

/// Moves one unit of `U` bytes. It is moved as an array, because `copy_from_slice` is not always inlined.
#[inline(always)]
fn move_unit<const U: usize, const FLIP: u8>(from: &[u8], to: &mut [u8]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<U>(), to.first_chunk_mut::<U>()) {
        *to = from.map(|byte| byte ^ FLIP);
    }
}

/// Moves units of whole bytes, of which the first bits are given.
#[inline(always)]
fn units<const U: usize>(
    source: &[u8],
    destination: &mut [u8],
    moved: impl Iterator<Item = Option<(usize, usize)>>,
    flip: u8,
) -> Option<()> {
    for places in moved {
        let (from, to) = places?;
        let unit = source.get(from.div_euclid(8)..)?.first_chunk::<U>()?;
        *destination.get_mut(to.div_euclid(8)..)?.first_chunk_mut::<U>()? = unit.map(|byte| byte ^ flip);
    }
    Some(())
}
