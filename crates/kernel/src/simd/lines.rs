//! Copies of one to four whole cache lines, and of runs of at most 256 bytes, for the other kernels.
//!
//! A run of any length up to 256 bytes is copied without a loop. For a length of `SIZE` to `2 * SIZE` bytes,
//! the first `SIZE` bytes and the last `SIZE` bytes are copied. The two halves overlap unless the length is
//! exactly `2 * SIZE`, and both are loaded before either is stored:
//!
//! ```text
//! 13 bytes        0 1 2 3 4 5 6 7 8 9 a b c
//! first 8         [-------------]
//! last 8                    [-------------]
//! ```

use super::vector::Vector;
use crate::machine::LINE;

/// Copies up to four lines. All lines are loaded before a line is stored.
///
/// # Safety
///
/// * `LINES * LINE` bytes are readable at `from` and writable at `to`.
/// * If `streaming` is set, `to` is a multiple of a line.
#[inline(always)]
pub(super) unsafe fn copy_lines<V: Vector, const LINES: usize>(from: *const u8, to: *mut u8, streaming: bool) {
    const { assert!(LINE / V::BYTES <= 2 && LINE.is_multiple_of(V::BYTES)) };
    debug_assert!(!streaming || to.align_offset(LINE) == 0);
    // SAFETY: a line is `LINE / V::BYTES` vectors, so every access is inside the lines of the contract. It is
    // aligned for its vector if the lines are aligned.
    unsafe {
        let mut parts = [[V::zero(); 2]; LINES];
        for (i, line) in parts.iter_mut().enumerate() {
            for (j, part) in line.iter_mut().enumerate().take(LINE / V::BYTES) {
                *part = V::load(from.add(i * LINE + j * V::BYTES));
            }
        }
        for (i, line) in parts.iter().enumerate() {
            for (j, &part) in line.iter().enumerate().take(LINE / V::BYTES) {
                let to = to.add(i * LINE + j * V::BYTES);
                if streaming { part.stream(to) } else { part.store(to) }
            }
        }
    }
}

/// Copies at most 256 bytes as two halves that may overlap.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(crate) unsafe fn short(from: *const u8, to: *mut u8, bytes: usize) {
    debug_assert!(bytes <= 256);
    // SAFETY: `first_and_last` has this contract, and `bytes` is at least the `SIZE` of each arm.
    unsafe {
        match bytes {
            128..=256 => first_and_last::<128>(from, to, bytes),
            64..128 => first_and_last::<64>(from, to, bytes),
            32..64 => first_and_last::<32>(from, to, bytes),
            16..32 => first_and_last::<16>(from, to, bytes),
            8..16 => first_and_last::<8>(from, to, bytes),
            4..8 => first_and_last::<4>(from, to, bytes),
            2..4 => first_and_last::<2>(from, to, bytes),
            1 => to.write(from.read()),
            _ => {}
        }
    }
}

/// Copies a run of `bytes` bytes as two copies of `SIZE` bytes, which may overlap: the first and the last
/// bytes of the run. If the run is longer than `2 * SIZE`, the bytes between them are not copied.
///
/// # Safety
///
/// * `bytes` is at least `SIZE`.
/// * `bytes` bytes are readable at `from` and writable at `to`.
#[inline(always)]
pub(super) unsafe fn first_and_last<const SIZE: usize>(from: *const u8, to: *mut u8, bytes: usize) {
    debug_assert!(bytes >= SIZE);
    // SAFETY: `bytes` is at least `SIZE`, so both halves are inside the run of the contract.
    unsafe {
        let first = from.cast::<[u8; SIZE]>().read();
        let last = from.add(bytes - SIZE).cast::<[u8; SIZE]>().read();
        to.cast::<[u8; SIZE]>().write(first);
        to.add(bytes - SIZE).cast::<[u8; SIZE]>().write(last);
    }
}
