//! Runs that are side by side in the destination: past the cache, every line is stored once and whole, also
//! those that two runs share.

use super::lines::{copy_lines, short};
use super::vector::Vector;
use super::walk::Iteration;
use crate::cost::LINE;
use crate::nest::{NestLoop, Stride};

/// What to prefetch while runs are copied.
pub(super) struct LaterRun<'a> {
    pub(super) iteration: &'a Iteration,
    pub(super) count: Stride,
    /// How many runs ahead.
    pub(super) distance: usize,
    pub(super) run: usize,
    /// Does the hardware prefetcher follow the runs?
    pub(super) followed: bool,
}

impl LaterRun<'_> {
    /// Where a run begins that is read some time after this one; in a long run, a place further on.
    #[inline(always)]
    pub(super) fn than(&self, i: usize) -> Option<*const u8> {
        if self.followed {
            return self.iteration.later_in_rows(self.run).map(|later| later.wrapping_add(i * self.count.source));
        }
        let from = self.iteration.from;
        match (i + self.distance).checked_sub(self.count.extent) {
            None => self.iteration.prefetch.then(|| from.wrapping_add((i + self.distance) * self.count.source)),
            Some(i) => self.iteration.later.map(|later| later.wrapping_add(i * self.count.source)),
        }
    }
}

/// Runs of neighbouring iterations that are side by side in the destination: tiles that are put together to
/// rows.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    extent: usize,
    /// Bytes from a run to the next one on the source.
    source: usize,
}

impl Beside {
    /// The innermost loop, if it goes from run to run.
    pub(super) fn of(loops: &[NestLoop], run: usize) -> Option<Beside> {
        let NestLoop::Strided(Stride { extent, source, destination }) = *loops.last()? else { return None };
        (destination == run && source >= run && run >= LINE).then_some(Beside { extent, source })
    }

    /// Where the run before is on the source, seen from one of this iteration, and whether there is one
    /// after.
    #[inline(always)]
    pub(super) fn neighbours(&self, number: usize) -> (Option<usize>, bool) {
        let place = number % self.extent;
        ((place > 0).then_some(self.source), place + 1 < self.extent)
    }
}

/// Copies a run past the cache whose neighbours in the destination are of other iterations. The line that it
/// shares with the one before, which is `before` bytes in front of it on the source, is stored whole, and
/// what it has of the last line is left to the one `after`.
///
/// # Safety
///
/// `run`, at least a line, is readable at `from`, and writable at `to`. With `before`, at least `run`, the
/// bytes from `from - before` on are readable, and the line that `to` is in is writable.
#[inline(always)]
pub(super) unsafe fn continue_run<V: Vector>(
    from: *const u8,
    to: *mut u8,
    run: usize,
    before: Option<usize>,
    after: bool,
    later: Option<*const u8>,
) {
    debug_assert!(run >= LINE);
    let head = to.align_offset(LINE);
    // SAFETY: `head` bytes, the lines after them, and what is left are all of the run. The shared line takes
    // its first `rest` bytes from the end of the run before: `LINE` bytes from there end within the first
    // `LINE` bytes of this run, and `LINE` bytes that end `head` bytes into it begin after `from - before`.
    unsafe {
        if head > 0 {
            if let Some(later) = later {
                V::prefetch(later);
            }
            let rest = LINE - head;
            match before {
                Some(before) => shared_line::<V>(from.sub(before).add(run - rest), from.sub(rest), rest, to.sub(rest)),
                None => short(from, to, head),
            }
        }
        let mut at = head;
        while at + LINE <= run {
            if let Some(later) = later {
                V::prefetch(later.wrapping_add(at));
            }
            copy_lines::<V, 1>(from.add(at), to.add(at), true);
            at += LINE;
        }
        if !after {
            short(from.add(at), to.add(at), run - at);
        }
    }
}

/// Copies runs that are side by side in the destination past the cache: every line of it is stored once, also
/// those that two runs share.
///
/// # Safety
///
/// `run` is at least a line. `count.extent` runs, `count.source` bytes apart, are readable at `from`, and the
/// gap between them, and all of them in a row writable at `to`.
#[inline(always)]
pub(super) unsafe fn join_runs<V: Vector>(
    from: *const u8,
    to: *mut u8,
    run: usize,
    count: Stride,
    later: &LaterRun<'_>,
) {
    debug_assert!(run >= LINE);
    let total = run * count.extent;
    let head = to.align_offset(LINE).min(total);
    // SAFETY: place `at` of the run `start..end` is `at - start` in the source. Streamed lines begin whole
    // lines after `head`, which is below the first run. A shared line takes the rest of one run and less than
    // a line of the next; runs are a line or more, and as far apart, so whole lines stay inside.
    unsafe {
        short(from, to, head);
        let mut at = head;
        for i in 0..count.extent {
            let (start, end) = (i * run, (i + 1) * run);
            let from = from.add(i * count.source);
            let later = later.than(i);
            while at + LINE <= end {
                if let Some(later) = later {
                    V::prefetch(later.wrapping_add(at - start));
                }
                copy_lines::<V, 1>(from.add(at - start), to.add(at), true);
                at += LINE;
            }
            let rest = end - at;
            if rest == 0 {
                continue;
            }
            if let Some(later) = later {
                V::prefetch(later.wrapping_add(at - start));
            }
            let tail = from.add(at - start);
            if i + 1 == count.extent {
                return short(tail, to.add(at), rest);
            }
            if count.source >= LINE {
                shared_line::<V>(tail, from.add(count.source).sub(rest), rest, to.add(at));
            } else {
                let mut line = [0_u8; LINE];
                short(tail, line.as_mut_ptr(), rest);
                short(from.add(count.source), line.as_mut_ptr().add(rest), LINE - rest);
                copy_lines::<V, 1>(line.as_ptr(), to.add(at), true);
            }
            at += LINE;
        }
    }
}

/// Stores a line past the cache whose first `rest` bytes are those at `first`, and whose others are those
/// `rest` bytes and more after `second`.
///
/// # Safety
///
/// `LINE` bytes are readable at `first` and at `second`, and writable at `to`, a multiple of a line; `rest`
/// is at most a line.
#[inline(always)]
unsafe fn shared_line<V: Vector>(first: *const u8, second: *const u8, rest: usize, to: *mut u8) {
    /// Bytes of ones, then of zeros: a line of it that begins `rest` bytes before the middle selects the
    /// first `rest` bytes.
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
        // SAFETY: parts of the two lines and of `to`, aligned as it is; `LINE` bytes of the table follow
        // `LINE - rest`.
        unsafe {
            let mask = V::load(ONES.as_ptr().add(LINE - rest + at));
            V::load(first.add(at)).select(V::load(second.add(at)), mask).stream(to.add(at));
        }
    }
}
