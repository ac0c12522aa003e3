//! Runs that continue each other in the destination, wherever they end: whole lines are stored, and what is
//! left waits for the next run.

use std::mem::MaybeUninit;

use super::lines::{copy_lines, short};
use super::vector::Vector;
use crate::line::LINE;

/// What is left of a run after its last whole line of the destination, at the end of a line.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Leftover(MaybeUninit<[u8; LINE]>);

impl Leftover {
    pub(super) const NOTHING: Leftover = Leftover(MaybeUninit::uninit());
}

/// Stores a run past the cache, after what was left of the one before unless it is the first, and leaves what
/// does not fill a line unless it is the last.
///
/// # Safety
///
/// `bytes` bytes are readable at `from` and writable at `to`. Unless the run is the first, a line in front of
/// `from` is writable, and `kept` was left by a run that ends at `to`, where its last line is writable still.
/// Unless it is the last, it is at least a line.
#[inline(always)]
pub(super) unsafe fn drain<V: Vector>(
    from: *mut u8,
    to: *mut u8,
    bytes: usize,
    (is_first, is_last): (bool, bool),
    kept: &mut Leftover,
) {
    debug_assert!(is_last || bytes >= LINE);
    let kept = kept.0.as_mut_ptr().cast::<u8>();
    // SAFETY: what goes to the destination is the run and what was left in front of it, less than a line, for
    // which there is a line in front of `from`; vectors go to whole lines of it. A run of less than a line is
    // the last, of which nothing is kept.
    unsafe {
        let (at, to, left) = if is_first {
            let head = to.align_offset(LINE).min(bytes);
            short(from, to, head);
            (from.add(head).cast_const(), to.add(head), bytes - head)
        } else {
            let before = to.addr() % LINE;
            copy_lines::<V, 1>(kept, from.sub(LINE), false);
            (from.sub(before).cast_const(), to.sub(before), bytes + before)
        };
        let whole = left - left % LINE;
        for part in (0..whole).step_by(V::BYTES) {
            V::load(at.add(part)).store_past_cache(to.add(part));
        }
        if is_last {
            short(at.add(whole), to.add(whole), left - whole);
        } else {
            copy_lines::<V, 1>(from.add(bytes - LINE), kept, false);
        }
    }
}
