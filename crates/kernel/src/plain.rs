//! Small copies that run before a kernel is chosen: nested `for` loops around a run of bytes.

use std::fmt;

use crate::destination::Destination;
use crate::kernel::{FixedList, Stride};

/// The most loops of a [`PlainNest`].
pub const MOST_PLAIN_LOOPS: usize = 8;

/// A loop nest around a run of bytes. [`PlainNest::new`] computes where it ends, with checked arithmetic.
///
/// `L` is the type of the list of loops: a list that is kept, or a slice for a nest that runs once.
#[derive(Clone, Copy)]
pub struct PlainNest<L = Vec<Stride>> {
    run: usize,
    start: (usize, usize),
    loops: L,
    /// The number of bytes that the copy spans on the source, and on the destination: one more than the
    /// largest offset of a byte.
    end: (usize, usize),
    runs: usize,
}

/// Prints the nest on one line, in the form in which a [`Copy`](struct@crate::Copy) prints itself.
impl<L: FixedList<Stride>> fmt::Debug for PlainNest<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, destination) = self.start;
        write!(f, "{} bytes at +{source} -> +{destination}; ", self.bytes())?;
        self.loops().iter().try_for_each(|step| write!(f, "{step:?}; "))?;
        write!(f, "plain loops around {} bytes", self.run)
    }
}

impl<L: FixedList<Stride>> PlainNest<L> {
    /// Makes a nest that copies a run of `run` bytes in each iteration of `loops`, outer to inner.
    ///
    /// Returns `None` if there are more than [`MOST_PLAIN_LOOPS`] loops, if a loop has no iterations, if the
    /// run is empty, or if an iteration would begin before byte 0 or end after the last address.
    #[inline]
    // Proved for every input (proofs/lemmas.py):
    // * reach.inside: every run of an answer begins at or after byte 0, and ends at or before the end.
    // * reach.reached: one of the runs ends at the end.
    pub fn new(run: usize, start: (usize, usize), loops: L) -> Option<PlainNest<L>> {
        let (mut least, mut end, steps) = (start, start, loops.as_ref());
        for step in steps {
            step.extent.checked_sub(1)?;
            let (source, destination) = step.last()?;
            let (source_least, source_end) = if source < 0 { (source, 0) } else { (0, source) };
            let (destination_least, destination_end) =
                if destination < 0 { (destination, 0) } else { (0, destination) };
            least = (least.0.checked_add_signed(source_least)?, least.1.checked_add_signed(destination_least)?);
            end = (end.0.checked_add_signed(source_end)?, end.1.checked_add_signed(destination_end)?);
        }
        let end = (end.0.checked_add(run)?, end.1.checked_add(run)?);
        let runs = steps.iter().try_fold(1_usize, |runs, step| runs.checked_mul(step.extent))?;
        (run > 0 && steps.len() <= MOST_PLAIN_LOOPS).then_some(PlainNest { run, start, loops, end, runs })
    }

    /// The length of a run in bytes.
    #[must_use]
    pub fn bytes_of_run(&self) -> usize {
        self.run
    }

    /// The offsets of the first iteration, source and destination, in bytes.
    #[must_use]
    pub fn start(&self) -> (usize, usize) {
        self.start
    }

    /// The loops, outer to inner.
    #[must_use]
    pub fn loops(&self) -> &[Stride] {
        self.loops.as_ref()
    }

    /// The number of runs of all iterations together.
    #[inline]
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// How many bytes all runs have together.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let as_u64 = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        as_u64(self.run).saturating_mul(as_u64(self.runs))
    }

    /// The shortest buffers that the nest can run on, source and destination, in bytes.
    #[must_use]
    pub fn reach(&self) -> (usize, usize) {
        self.end
    }

    /// Whether all runs are inside buffers of `source` and `destination` bytes.
    #[inline]
    pub fn is_inside(&self, source: usize, destination: usize) -> bool {
        self.end.0 <= source && self.end.1 <= destination
    }

    /// Copies all runs.
    ///
    /// # Panics
    ///
    /// If a buffer is too short, so that a run would not be [inside](Self::is_inside) it.
    #[inline]
    pub fn run(&self, source: &[u8], mut destination: Destination<'_>) {
        assert!(self.is_inside(source.len(), destination.len()), "a copy reaches past the end of its buffers");
        // SAFETY: `new` checked that no run begins before byte 0 or ends after `end`. `end` is inside both
        // buffers, as asserted. The buffers do not overlap, because the destination is borrowed exclusively.
        unsafe {
            let (from, to) = (source.as_ptr().add(self.start.0), destination.as_mut_ptr().add(self.start.1));
            if self.loops().is_empty() {
                return std::ptr::copy_nonoverlapping(from, to, self.run);
            }
            copy_all(self.run, self.loops(), from, to);
        }
    }
}

/// Copies the runs of a nest whose first run is at `from` and `to`.
///
/// # Safety
///
/// * Every run of the nest is readable on the source and writable on the destination.
// Inlined, because a call would take 3 ns of the 9 ns of a copy of six elements (Zen 5).
#[cfg_attr(not(feature = "small"), inline(always))]
#[cfg_attr(feature = "small", inline(never))]
unsafe fn copy_all(run: usize, loops: &[Stride], mut from: *const u8, mut to: *mut u8) {
    let (inner, outer) = loops.split_last().unwrap_or((&Stride::ONCE, &[]));
    let (middle, outer) = outer.split_last().unwrap_or((&Stride::ONCE, &[]));
    let mut begun = [0_usize; MOST_PLAIN_LOOPS];
    loop {
        let rows = (from, to, middle, inner);
        // SAFETY: the contract covers every run that `walk` passes on. Each arm copies the length in its
        // pattern.
        unsafe {
            match run {
                1 => walk(rows, |from, to| one::<1>(from, to)),
                2 => walk(rows, |from, to| one::<2>(from, to)),
                3 => walk(rows, |from, to| two::<2>(from, to, 3)),
                4 => walk(rows, |from, to| one::<4>(from, to)),
                5..=7 => walk(rows, |from, to| two::<4>(from, to, run)),
                8 => walk(rows, |from, to| one::<8>(from, to)),
                9..=15 => walk(rows, |from, to| two::<8>(from, to, run)),
                16 => walk(rows, |from, to| one::<16>(from, to)),
                17..=32 => walk(rows, |from, to| two::<16>(from, to, run)),
                33..=64 => walk(rows, |from, to| two::<32>(from, to, run)),
                65..=128 => walk(rows, |from, to| two::<64>(from, to, run)),
                _ => walk(rows, |from, to| std::ptr::copy_nonoverlapping(from, to, run)),
            }
        }
        // Moves to the next iteration of the outer loops. The last of these loops turns fastest.
        let mut at = outer.len();
        loop {
            let Some(next) = at.checked_sub(1) else { return };
            at = next;
            let step = &outer[at];
            from = from.wrapping_offset(step.source);
            to = to.wrapping_offset(step.destination);
            begun[at] += 1;
            if begun[at] < step.extent {
                break;
            }
            begun[at] = 0;
            let extent = step.extent.cast_signed();
            from = from.wrapping_offset(step.source.wrapping_mul(extent).wrapping_neg());
            to = to.wrapping_offset(step.destination.wrapping_mul(extent).wrapping_neg());
        }
    }
}

/// The addresses of the first run, source and destination, and the two innermost loops, outer to inner.
type Rows<'a> = (*const u8, *mut u8, &'a Stride, &'a Stride);

/// Calls `copy` with the source and the destination address of every run of the two innermost loops.
///
/// # Safety
///
/// * `copy` may be called with the addresses of every run of the two loops.
#[inline(always)]
unsafe fn walk((mut from, mut to, middle, inner): Rows<'_>, copy: impl Fn(*const u8, *mut u8)) {
    for _ in 0..middle.extent {
        let (mut unit_from, mut unit_to) = (from, to);
        for _ in 0..inner.extent {
            copy(unit_from, unit_to);
            unit_from = unit_from.wrapping_offset(inner.source);
            unit_to = unit_to.wrapping_offset(inner.destination);
        }
        from = from.wrapping_offset(middle.source);
        to = to.wrapping_offset(middle.destination);
    }
}

/// # Safety
///
/// * `N` bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn one<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: `N` bytes are readable and writable, by the contract. Arrays of bytes have an alignment of 1.
    unsafe { to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read()) }
}

/// Copies `run` bytes, `N` to `2 * N`, as two arrays of `N` bytes: the first `N` bytes and the last `N`
/// bytes, which may overlap.
///
/// # Safety
///
/// * `run` is at least `N` and at most `2 * N`.
/// * `run` bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn two<const N: usize>(from: *const u8, to: *mut u8, run: usize) {
    // SAFETY: the run has at least `N` bytes, so its first `N` bytes and its last `N` bytes are inside it.
    unsafe {
        one::<N>(from, to);
        one::<N>(from.add(run - N), to.add(run - N));
    }
}
