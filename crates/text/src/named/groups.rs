//! `Groups`: the copy of a repacked tensor of blocks, group by group.
//!
//! Most repacks of ggml have one form. `R` rows of one block, each `S` bytes of scales and `V` bytes of
//! values, become one group: the scales of all rows, then `U` bytes of the values of each row in turn.
//!
//! ```text
//! row 0   s0 | a0 a1 a2 ..             s0 s1 s2 s3 | a0 b0 c0 d0  a1 b1 c1 d1  a2 ..
//! row 1   s1 | b0 b1 b2 ..     ->
//! row 2   s2 | c0 c1 c2 ..
//! ```
//!
//! A copy of each part by itself visits every cache line twice, and moves scales of two bytes one by one.
//! This takes 2.3 to 3.0 times as long as a plain copy (`q8_0x4`, 4096 x 4096 and 8192 x 8192 values, Zen
//! 5). The four numbers are constants, so that the compiler unrolls a group and needs no check inside it.

use tensor_layout::checked::{Dims, next_index};
use tensor_layout::{IndexMap, LayoutClass};

use super::rule::LayoutPart;

#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// The plain side: bytes, with the axes of rows, of blocks and of the bytes of a block at the end.
    plain: IndexMap,
    /// S, V, R and U.
    form: [u64; 4],
}

impl Groups {
    /// Returns the form of a layout of these parts, if it is one that the head of this file describes.
    pub(super) fn of(parts: &[LayoutPart], plain: &IndexMap) -> Option<Groups> {
        let [scales, values] = parts else { return None };
        let (&s, &v) = (scales.map.sizes().last()?, values.map.sizes().last()?);
        let mut second_row = vec![0; plain.sizes().len()];
        *second_row.iter_mut().rev().nth(2)? = 1;
        let first = values.map.base();
        let unit = values.map.offset(&second_row).ok()?.checked_sub(first)?;
        let is_plain = plain.class() == LayoutClass::Affine && plain.strides()?.last() == Some(&1);
        let groups = Groups { plain: plain.clone(), form: [s, v, first.checked_div(s)?, unit] };
        (is_plain && plain.element_count() > 0 && groups.is_known()).then_some(groups)
    }

    fn is_known(&self) -> bool {
        self.run(&[], &mut [], false, 0).is_some()
    }

    /// Copies all groups. Returns `None` for a form that is not in the list. The buffers have the lengths
    /// that their layouts need, or are empty.
    pub(super) fn run(&self, source: &[u8], destination: &mut [u8], to_plain: bool, flip: u8) -> Option<()> {
        macro_rules! forms {
            ($($s:literal $v:literal $r:literal $u:literal;)*) => {
                match (self.form, flip) {
                    $(([$s, $v, $r, $u], 0) => self.copy::<$s, $v, $r, $u, 0>(source, destination, to_plain),
                    ([$s, $v, $r, $u], 0x88) => self.copy::<$s, $v, $r, $u, 0x88>(source, destination, to_plain),)*
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

    #[allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "offsets in a block are products of constants, and those in a buffer are below the span of the map, which fits"
    )]
    fn copy<const S: usize, const V: usize, const R: usize, const U: usize, const FLIP: u8>(
        &self,
        source: &[u8],
        destination: &mut [u8],
        to_plain: bool,
    ) -> Option<()> {
        let place = |number: u64| usize::try_from(number).ok();
        let (sizes, strides) = (self.plain.sizes(), self.plain.strides()?);
        let [rows @ .., blocks, _] = sizes else { return None };
        let (blocks, pitch) = (place(*blocks)?, place(*strides.get(rows.len())?)?);
        if source.is_empty() {
            return Some(());
        }
        let (mut index, mut more, mut group_at) = (Dims::from_elem(0, rows.len()), true, 0);
        while more {
            let mut starts = [0; R];
            for start in &mut starts {
                let offset = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<u64>();
                *start = place(self.plain.base() + offset)?;
                more = next_index(&mut index, rows);
            }
            for block in 0..blocks {
                let group = group_at..group_at + R * (S + V);
                group_at = group.end;
                if to_plain {
                    let group = source.get(group)?;
                    for (r, start) in starts.iter().enumerate() {
                        let row = destination.get_mut(start + block * pitch..)?.get_mut(..S + V)?;
                        move_unit::<S, 0>(&group[r * S..], row);
                        for j in 0..V / U {
                            move_unit::<U, FLIP>(&group[R * S + (j * R + r) * U..], &mut row[S + j * U..]);
                        }
                    }
                } else {
                    let group = destination.get_mut(group)?;
                    for (r, start) in starts.iter().enumerate() {
                        let row = source.get(start + block * pitch..)?.get(..S + V)?;
                        move_unit::<S, 0>(row, &mut group[r * S..]);
                        for j in 0..V / U {
                            move_unit::<U, FLIP>(&row[S + j * U..], &mut group[R * S + (j * R + r) * U..]);
                        }
                    }
                }
            }
        }
        Some(())
    }
}

/// Moves one unit of `U` bytes. It is moved as an array, because `copy_from_slice` is not always inlined.
#[inline(always)]
fn move_unit<const U: usize, const FLIP: u8>(from: &[u8], to: &mut [u8]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<U>(), to.first_chunk_mut::<U>()) {
        let mut unit = *from;
        for byte in &mut unit {
            *byte ^= FLIP;
        }
        *to = unit;
    }
}
