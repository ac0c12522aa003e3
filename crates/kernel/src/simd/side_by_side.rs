//! Runs that are side by side in the destination: past the cache, every line is stored once and whole, also
//! those that two runs share.

use super::lines::{copy_lines, short};
use super::vector::Vector;
use super::walk::Iteration;
use crate::kernel::{Loop, Stride};
use crate::line::LINE;

/// What to prefetch while runs are copied.
pub(super) struct LaterRun<'a> {
    pub(super) iteration: &'a Iteration,
    pub(super) count: Stride,
    /// How many runs ahead; 0: nothing is prefetched.
    pub(super) ahead: usize,
}

impl LaterRun<'_> {
    /// Where the run begins on the source that is to be prefetched while run `i` is copied: a run further on
    /// in this iteration, or one of a later iteration.
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
    pub(super) fn of(loops: &[Loop], run: usize) -> Option<Beside> {
        let Stride { extent, source, destination } = loops.last()?.stride()?;
        let (source, destination) = (usize::try_from(source).ok()?, usize::try_from(destination).ok()?);
        (destination == run && source >= run && run >= LINE).then_some(Beside { extent, source })
    }

    /// Those of a run of this iteration.
    #[inline(always)]
    pub(super) fn neighbours(&self, number: usize) -> Neighbours {
        let place = number % self.extent;
        Neighbours { before: (place > 0).then_some(self.source), after: place + 1 < self.extent }
    }
}

/// The neighbours of a run in the destination.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    /// How far in front of the run the one before it begins on the source.
    pub(super) before: Option<usize>,
    /// Is there one after it?
    pub(super) after: bool,
}

impl Neighbours {
    pub(super) const NONE: Neighbours = Neighbours { before: None, after: false };
}

/// Copies a run past the cache, and prefetches as many bytes at `later`. The line that it shares with the run
/// before it is stored whole, and what it has of the last line is left to the run after it.
///
/// # Safety
///
/// `run` bytes are readable at `from` and writable at `to`. With neighbours they are at least a line. With
/// one before it, all bytes from its beginning on are readable, and the line that `to` is in is writable.
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
    // SAFETY: `head` bytes, the lines after them, and what is left are all of the run. The shared line takes
    // its first `rest` bytes from the end of the run before. If that begins a line or more in front of this
    // one, a line from there ends within this run, and one that ends `head` bytes into it begins after it.
    unsafe {
        if head > 0 || run < LINE {
            if let Some(later) = later {
                V::prefetch(later);
            }
            let rest = LINE - head;
            match before {
                None => short(from, to, head),
                Some(before) if before >= LINE => {
                    let end = from.sub(before).add(run - rest);
                    shared_line::<V>(end, from.sub(rest), rest, to.sub(rest));
                }
                Some(before) => {
                    let mut line = [0_u8; LINE];
                    short(from.sub(before).add(run - rest), line.as_mut_ptr(), rest);
                    short(from, line.as_mut_ptr().add(rest), head);
                    copy_lines::<V, 1>(line.as_ptr(), to.sub(rest), true);
                }
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
