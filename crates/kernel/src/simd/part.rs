//! Shuffles the columns of interleaved rows that do not fill a register.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::interleave::{ROWS, Shuffling};
use super::lines::short;
use super::vector::Vector;
use crate::line::LINE;

/// Memory for one register of each row.
#[repr(align(64))]
struct Registers(MaybeUninit<[[u8; LINE]; ROWS]>);

/// Shuffles some columns through memory for whole registers. The columns are copied to this memory, the block
/// runs on it, and the result is copied to the destination.
///
/// # Safety
///
/// * The shuffle was made for `V`.
/// * The columns are readable in the rows at `from` and writable in the rows at `to`.
#[inline(never)]
pub(super) unsafe fn part<V: Vector>(
    shuffling: Shuffling,
    (from, from_pitch): (*const u8, usize),
    (to, to_pitch): (*mut u8, usize),
    columns: Range<usize>,
    signed: bool,
) {
    let Shuffling { block, sources, destinations, source_apart } = shuffling;
    let (mut loaded, mut stored) = (Registers(MaybeUninit::uninit()), Registers(MaybeUninit::uninit()));
    let (loaded, stored): (*mut u8, *mut u8) = (loaded.0.as_mut_ptr().cast(), stored.0.as_mut_ptr().cast());
    for first in columns.clone().step_by(V::BYTES) {
        let bytes = (columns.end - first).min(V::BYTES);
        // SAFETY: `bytes` columns of each row are copied to the register of the row, whose other bytes are
        // zero. All bytes of `stored` that are read were written by the block.
        unsafe {
            std::ptr::write_bytes(loaded, 0, sources * V::BYTES);
            if source_apart {
                for i in 0..sources {
                    let from = from.wrapping_add(i.wrapping_mul(from_pitch)).wrapping_add(first);
                    short(from, loaded.add(i * V::BYTES), bytes);
                }
            } else {
                std::ptr::copy_nonoverlapping(from.add(first * sources), loaded, bytes * sources);
            }
            block(loaded, stored, 1, V::BYTES, 0, (false, signed));
            if source_apart {
                std::ptr::copy_nonoverlapping(stored, to.add(first * destinations), bytes * destinations);
            } else {
                for i in 0..destinations {
                    let to = to.wrapping_add(i.wrapping_mul(to_pitch)).wrapping_add(first);
                    short(stored.add(i * V::BYTES), to, bytes);
                }
            }
        }
    }
}
