//! Runs that are side by side on the destination, written with non-temporal stores.
//!
//! A non-temporal store is fast only if the CPU can send a whole cache line to memory. Runs that are side by
//! side start and end inside lines. If each run stored its own bytes, every line on a border between runs
//! would be written twice, each time in part, and a partial write costs a read and a write of memory.
//!
//! So a run completes the line that it shares with the run in front of it, and leaves its own last, partial
//! line to the run after it:
//!
//! ```text
//! destination lines     |................|................|................|
//! runs                  aaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbccccccc
//! stored by run a       [ line of a      ]
//! stored by run b                        [ a and b        ]
//! stored by run c                                         [ b and c        ]
//! ```
//!
//! The bytes of the run in front are loaded again from the source, a known distance before this run, and a
//! mask joins both parts of the line ([`shared_line`]). If the distance is less than a line, loads of whole
//! lines might leave the readable bytes. Then the shared line is composed on the stack.

use super::lines::{copy_lines, short};
use super::vector::Vector;
use super::walk::Iteration;
use crate::kernel::{Loop, Stride};
use crate::machine::LINE;

/// Finds the source address of a later run, which is prefetched while another run is copied.
pub(super) struct LaterRun<'a> {
    pub(super) iteration: &'a Iteration,
    pub(super) count: Stride,
    pub(super) ahead: usize,
}

impl LaterRun<'_> {
    /// The source address that is prefetched while run `i` is copied. It is the address of a later run, of
    /// this iteration or of a later one.
    #[inline(always)]
    pub(super) fn than(&self, i: usize) -> Option<*const u8> {
        if self.ahead == 0 {
            return None;
        }
        let source = self.count.source.cast_unsigned();
        match (i + self.ahead).checked_sub(self.count.extent) {
            None => Some(self.iteration.from.wrapping_add((i + self.ahead) * source)),
            Some(i) => self.iteration.later.map(|later| later.wrapping_add(i * source)),
        }
    }
}

/// Runs of neighbouring iterations that are side by side on the destination: for example, rows of tiles that
/// become one row.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    extent: usize,
    /// The distance from one run to the next on the source, in bytes.
    source: usize,
}

impl Beside {
    /// Returns the neighbours of each run, if the iterations of the innermost loop are runs that follow each
    /// other on the destination.
    pub(super) fn of(loops: &[Loop], run: usize) -> Option<Beside> {
        let Stride { extent, source, destination } = loops.last()?.stride()?;
        let (source, destination) = (usize::try_from(source).ok()?, usize::try_from(destination).ok()?);
        (destination == run && source >= run && run >= LINE).then_some(Beside { extent, source })
    }

    #[inline(always)]
    pub(super) fn neighbours(&self, number: usize) -> Neighbours {
        let index = number % self.extent;
        Neighbours { before: (index > 0).then_some(self.source), after: index + 1 < self.extent }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    /// How far before this run the run in front begins on the source, in bytes. `None` if there is no run in
    /// front.
    pub(super) before: Option<usize>,
    pub(super) after: bool,
}

impl Neighbours {
    pub(super) const NONE: Neighbours = Neighbours { before: None, after: false };
}

/// Copies a run with non-temporal stores, and prefetches `run` bytes at `later`. The line that the run shares
/// with the run in front is stored whole. If a run follows, the last, partial line is left to it.
///
/// # Safety
///
/// * `run` bytes are readable at `from` and writable at `to`.
/// * If another run is in front of this run or follows it on the destination, `run` is at least a line.
/// * If another run is in front, all source bytes from the start of that run to the end of this run are
///   readable, and the whole destination line that `to` points into is writable.
#[inline(always)]
pub(super) unsafe fn stream_run<V: Vector>(
    from: *const u8,
    to: *mut u8,
    run: usize,
    Neighbours { before, after }: Neighbours,
    later: Option<*const u8>,
) {
    debug_assert!(run >= LINE || before.is_none() && !after);
    let head = to.align_offset(LINE).min(run);
    let prefetch = |at: usize| {
        if let Some(later) = later {
            // SAFETY: a prefetch may be given any address.
            unsafe { V::prefetch(later.wrapping_add(at)) };
        }
    };
    // Runs of one line are frequent, and are copied here, before branches that would take as long as the
    // copy.
    if head == 0 && run == LINE {
        prefetch(0);
        // SAFETY: the run is one line, so a `head` of 0 means that `to` is at a line.
        return unsafe { copy_lines::<V, 1>(from, to, true) };
    }
    if head > 0 || run < LINE {
        prefetch(0);
        let rest = LINE - head;
        match before {
            // SAFETY: the contract covers the run, and `head` is at most its length.
            None => unsafe { short(from, to, head) },
            // SAFETY: with a run in front, this run has a line at least, so `to` is `head` bytes before a
            // line, and the line at `to - rest` is writable. All source bytes from `from - before` to the end
            // of this run are readable. Both loaded lines are inside these bytes: the one at `end` begins
            // `run - rest` bytes after their start and ends `before - head` bytes before their end, and the
            // one at `from - rest` begins less than a line before `from` and ends `head` bytes after it.
            Some(before) if before >= LINE => unsafe {
                let end = from.sub(before).add(run - rest);
                shared_line::<V>(end, from.sub(rest), rest, to.sub(rest));
            },
            // SAFETY: with a run in front, the destination line at `to - rest` is writable, and the last
            // `rest` bytes of the run in front are readable. So are the first `head` bytes of this run. The
            // line on the stack has room for both.
            Some(before) => unsafe {
                let mut line = [0_u8; LINE];
                let start = line.as_mut_ptr();
                short(from.sub(before).add(run - rest), start, rest);
                short(from, start.add(rest), head);
                copy_lines::<V, 1>(start, to.sub(rest), true);
            },
        }
    }
    let mut at = head;
    // If registers are half a line, four lines are loaded before the first of these lines is stored.
    while V::BYTES < LINE && at + 4 * LINE <= run {
        (0..4).for_each(|line| prefetch(at + line * LINE));
        // SAFETY: the four lines from `at` on are inside the run. `to + head` is at a line.
        unsafe { copy_lines::<V, 4>(from.add(at), to.add(at), true) };
        at += 4 * LINE;
    }
    while at + LINE <= run {
        prefetch(at);
        // SAFETY: the line from `at` on is inside the run. `to + head` is at a line.
        unsafe { copy_lines::<V, 1>(from.add(at), to.add(at), true) };
        at += LINE;
    }
    if !after {
        // SAFETY: `at` is at most `run`, so the last `run - at` bytes, less than a line, are inside the run.
        unsafe { short(from.add(at), to.add(at), run - at) };
    }
}

/// Stores a line with non-temporal stores. Its first `rest` bytes come from the line at `first`, and its
/// other bytes come from the line at `second`. A byte's position in its line stays the same.
///
/// # Safety
///
/// * `LINE` bytes are readable at `first` and at `second`.
/// * `LINE` bytes are writable at `to`, which is a multiple of a line.
/// * `rest` is at most a line.
#[inline(always)]
unsafe fn shared_line<V: Vector>(first: *const u8, second: *const u8, rest: usize, to: *mut u8) {
    /// A line of 0xff and a line of zeros. From `rest` bytes before the zeros on, `LINE` bytes are a mask of
    /// the first `rest` bytes.
    static ONES: [u8; 2 * LINE] = {
        let mut bytes = [0; 2 * LINE];
        let mut i = 0;
        while i < LINE {
            bytes[i] = 0xff;
            i += 1;
        }
        bytes
    };
    debug_assert!(rest <= LINE && to.align_offset(LINE) == 0);
    for at in (0..LINE).step_by(V::BYTES) {
        // SAFETY: `at` is a multiple of the size of a vector and below `LINE`, so the loads from `first` and
        // `second` and the store to `to` stay inside their lines. The load of the mask ends inside the `2 *
        // LINE` bytes of `ONES`.
        unsafe {
            let mask = V::load(ONES.as_ptr().add(LINE - rest + at));
            V::load(first.add(at)).choose_bits(V::load(second.add(at)), mask).stream(to.add(at));
        }
    }
}
