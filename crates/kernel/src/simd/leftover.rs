//! Runs that continue each other on the destination and end inside cache lines. Non-temporal stores write
//! whole lines only, so a partial line waits for the next run.
//!
//! A row of the destination is produced in parts, by one panel after the other. If a part ends inside a line,
//! storing the partial line now and the rest of the line later would cost two writes to memory. So the last
//! line of a part is kept, and put in front of the next part:
//!
//! ```text
//! destination lines   |line 0          |line 1          |line 2          |
//! first part               aaaaaaaaaaaaaaaaa                                stored: the rest of line 0; kept: its part of line 1
//! second part                               bbbbbbbbbbbbbbbbbb              stored: line 1, whole; kept: its part of line 2
//! last part                                                   cccccc        stored: line 2 up to the end of the row
//! ```
//!
//! The parts are in a staging buffer that has a free line in front of each row. [`drain`] copies the kept
//! bytes into that line, right in front of the part, and starts from the last line border before it.

use std::mem::MaybeUninit;

use super::lines::{copy_lines, short};
use super::vector::Vector;
use crate::line::LINE;

/// The last `LINE` bytes of a run. The bytes after the run's last whole destination line are still to be
/// stored.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Leftover(MaybeUninit<[u8; LINE]>);

impl Leftover {
    pub(super) const NOTHING: Leftover = Leftover(MaybeUninit::uninit());
}

/// Stores a run with non-temporal stores. Unless the run is the first of its row, the kept bytes are stored
/// in front of it. Unless the run is the last of its row, its last `LINE` bytes are kept.
///
/// # Safety
///
/// * `bytes` bytes are readable at `from` and writable at `to`.
/// * Unless the run is the first, a line in front of `from` is writable, `kept` was filled by a run that ends
///   at `to`, and the destination line that holds `to` is writable from its start.
/// * Unless the run is the last, `bytes` is at least a line.
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
    // SAFETY: the destination gets the run and less than a line in front of it, for which there is a free
    // line in front of `from`. Vectors are stored to whole lines of these bytes. `kept` is filled only from a
    // run of at least a line.
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
            V::load(at.add(part)).store_non_temporal(to.add(part));
        }
        if is_last {
            short(at.add(whole), to.add(whole), left - whole);
        } else {
            copy_lines::<V, 1>(from.add(bytes - LINE), kept, false);
        }
    }
}
