//! `GroupCopy`: the copy between rows of blocks and groups of two fields, scales and then values in turn.
//!
//! The four numbers of each known form are constants, so that the compiler unrolls a group and needs no
//! bounds check inside it. Without this code, scales and values are copied as two parts, which takes twice
//! the time. If the values take turns after each byte, it takes up to eight times as long as a plain copy.

use tensor_layout::checked::{Dims, next_index};
use tensor_layout::{IndexMap, LayoutClass};

/// The four numbers of a form: the bytes of scales in a block, the bytes of values in a block, the rows of a
/// group, and how many bytes of a row are stored before those of the next row.
type Form = [u64; 4];

#[derive(Debug, Clone)]
pub(super) struct GroupCopy {
    /// The offset of the first row, in bytes.
    base: usize,
    /// The sizes of all axes in front of the blocks; the last of these axes counts rows. `strides` has their
    /// strides.
    rows: Dims,
    strides: Dims,
    /// The number of blocks in a row. `pitch` is the distance from one block to the next, in bytes.
    blocks: usize,
    pitch: usize,
    form: Form,
    /// The mask of the bits that are flipped in each byte of the values.
    flip: u8,
}

impl GroupCopy {
    /// Returns the copy between the groups and the bytes that `plain` describes. The last three axes of
    /// `plain` are the rows, the blocks of a row, and the bytes of a block. `None` if the bytes of a block
    /// are not contiguous, or if there is no code for the form.
    pub(super) fn new(form: Form, flip: u8, plain: &IndexMap) -> Option<GroupCopy> {
        let strides = plain.strides().filter(|strides| strides.last() == Some(&1))?;
        let ([rows @ .., blocks, _], [row_strides @ .., pitch, _]) = (plain.sizes(), &strides[..]) else { return None };
        let place = |number: u64| usize::try_from(number).ok();
        let copy = GroupCopy {
            base: place(plain.base())?,
            rows: Dims::from_slice(rows),
            strides: Dims::from_slice(row_strides),
            blocks: place(*blocks)?,
            pitch: place(*pitch)?,
            form,
            flip,
        };
        let is_affine = plain.class() == LayoutClass::Affine;
        // A copy without blocks succeeds only if there is code for the form.
        (is_affine && GroupCopy { blocks: 0, ..copy.clone() }.run(&[], &mut [], false).is_some()).then_some(copy)
    }
}

#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "offsets are below the spans of maps, which fit, and those in a group below its length"
)]
impl GroupCopy {
    /// Copies all groups. Returns `None` if a buffer is shorter than its layout needs.
    pub(super) fn run(&self, source: &[u8], destination: &mut [u8], to_rows: bool) -> Option<()> {
        macro_rules! forms {
            ($($s:literal $v:literal $r:literal $u:literal;)*) => {
                match (self.form, self.flip) {
                    $(([$s, $v, $r, $u], 0) => self.each::<$r, { $r * ($s + $v) }>(|starts, at| {
                        form::<$s, $v, $r, $u, 0>(source, destination, starts, at, to_rows)
                    }),
                    ([$s, $v, $r, $u], 0x88) => self.each::<$r, { $r * ($s + $v) }>(|starts, at| {
                        form::<$s, $v, $r, $u, 0x88>(source, destination, starts, at, to_rows)
                    }),)*
                    _ => None,
                }
            };
        }
        forms! {
            2 32 4 4; 2 32 4 8; 2 32 16 1;
            2 16 4 4; 2 16 4 8; 2 16 8 8; 2 16 4 1; 2 16 16 1;
            1 16 4 4; 1 16 8 8;
        }
    }

    /// Calls `copy` for each group of `R` rows and `BYTES` bytes. The arguments are the offset of each row's
    /// block and the offset of the group, in bytes.
    #[inline(always)]
    fn each<const R: usize, const BYTES: usize>(
        &self,
        mut copy: impl FnMut(&[usize; R], usize) -> Option<()>,
    ) -> Option<()> {
        let (mut index, mut more, mut group) = (Dims::from_elem(0, self.rows.len()), !self.rows.contains(&0), 0);
        let mut starts = [0; R];
        while more && self.blocks > 0 {
            for start in &mut starts {
                let offset = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<u64>();
                *start = self.base + usize::try_from(offset).ok()?;
                more = next_index(&mut index, &self.rows);
            }
            for _ in 0..self.blocks {
                copy(&starts, group)?;
                starts.iter_mut().for_each(|start| *start += self.pitch);
                group += BYTES;
            }
        }
        Some(())
    }
}

/// Copies a group of `R` rows. A block has `S` bytes of scales and `V` bytes of values. The group stores the
/// values in turns of `U` bytes from each row. The compiler unrolls this function and needs no bounds check
/// inside it.
#[inline(always)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "offsets in a block are products of constants"
)]
fn form<const S: usize, const V: usize, const R: usize, const U: usize, const FLIP: u8>(
    source: &[u8],
    destination: &mut [u8],
    starts: &[usize; R],
    group: usize,
    to_rows: bool,
) -> Option<()> {
    let group = group..group + R * (S + V);
    if to_rows {
        let group = source.get(group)?;
        for (r, start) in starts.iter().enumerate() {
            let row = destination.get_mut(*start..)?.get_mut(..S + V)?;
            move_unit::<S, 0>(&group[r * S..], row);
            for j in 0..V / U {
                move_unit::<U, FLIP>(&group[R * S + (j * R + r) * U..], &mut row[S + j * U..]);
            }
        }
    } else {
        let group = destination.get_mut(group)?;
        for (r, start) in starts.iter().enumerate() {
            let row = source.get(*start..)?.get(..S + V)?;
            move_unit::<S, 0>(row, &mut group[r * S..]);
            for j in 0..V / U {
                move_unit::<U, FLIP>(&row[S + j * U..], &mut group[R * S + (j * R + r) * U..]);
            }
        }
    }
    Some(())
}

/// Moves one unit of `U` bytes. It is moved as an array, because neither `copy_from_slice` nor the `map` of
/// arrays is always inlined: without optimisation at link time, `map` took 25 times as long.
#[inline(always)]
fn move_unit<const U: usize, const FLIP: u8>(from: &[u8], to: &mut [u8]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<U>(), to.first_chunk_mut::<U>()) {
        *to = *from;
        if FLIP != 0 {
            to.iter_mut().for_each(|byte| *byte ^= FLIP);
        }
    }
}
