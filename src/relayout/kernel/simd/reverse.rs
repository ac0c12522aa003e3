//! Runs whose units come in the opposite order: mirrored images, `a[::-1]`, RGB to BGR.

use super::super::super::plan::cost::{LINE, LONGEST_REVERSED, PREFETCH_IN_RUN};
use super::super::super::plan::nest::Stride;
use super::byte_shuffle::{ByteShuffle, ShufflePlanes};
use super::vector::{Operation, Vector};
use super::walk::Walk;

/// Reverses `count.extent` runs of `extent` units of `unit` bytes an iteration.
///
/// # Safety
///
/// `unit` is above 0 and at most [`LONGEST_REVERSED`]. In every iteration, each run is readable on the source and writable on the destination.
#[inline(always)]
pub(super) unsafe fn reverse_runs<V: Vector>(walk: &Walk<'_>, unit: usize, extent: usize, count: Stride) {
    // SAFETY: the shuffle was made for these runs, which lie side by side, and for this vector; the rest is the caller's promise.
    unsafe {
        if let Some(shuffle) = ByteShuffle::reversing(unit, extent, count, V::BYTES) {
            return match shuffle.registers {
                2 => V::vectorize(ShufflePlanes::<2> { shuffle: &shuffle, walk }),
                3 => V::vectorize(ShufflePlanes::<3> { shuffle: &shuffle, walk }),
                _ => V::vectorize(ShufflePlanes::<4> { shuffle: &shuffle, walk }),
            };
        }
        V::vectorize(ReverseRuns { walk, unit, run: unit * extent, count });
    }
}

/// The bytes of the longest vector.
const LONGEST: usize = 64;

/// Where the bytes of a vector come from that begins `i` bytes into a unit: byte `i + j` of this table is the place of its byte `j` in two source
/// vectors, which end with the unit that it begins in.
type Table = [u8; LONGEST_REVERSED + LONGEST];

struct ReverseRuns<'a> {
    walk: &'a Walk<'a>,
    unit: usize,
    /// The bytes of a run, whole units.
    run: usize,
    count: Stride,
}

impl Operation for ReverseRuns<'_> {
    /// # Safety
    ///
    /// `unit` is above 0 and at most [`LONGEST_REVERSED`], `run` a multiple of it. In every iteration, each run is readable on the
    /// source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(V::BYTES <= LONGEST && V::BYTES >= 2 * LONGEST_REVERSED && LINE.is_multiple_of(V::BYTES)) };
        let ReverseRuns { walk, unit, run, count } = self;
        debug_assert!((1..=LONGEST_REVERSED).contains(&unit) && run.is_multiple_of(unit));
        let mut table: Table = [0; LONGEST_REVERSED + LONGEST];
        for (place, byte) in table.iter_mut().enumerate().take(unit - 1 + V::BYTES) {
            // At most two vectors, less a unit; and at least 0, since a vector holds two units.
            *byte = u8::try_from(2 * V::BYTES - unit - place / unit * unit + place % unit).unwrap_or(0);
        }
        for iteration in walk.iterations(run * count.extent) {
            for i in 0..count.extent {
                let from = iteration.from.wrapping_add(i * count.source);
                let to = iteration.to.wrapping_add(i * count.destination);
                let part = Part { from, to, unit, run, table: &table };
                // SAFETY: a run of this iteration.
                unsafe { part.reverse::<V>(walk.streaming, iteration.prefetch) };
            }
        }
    }
}

/// One run.
struct Part<'a> {
    from: *const u8,
    to: *mut u8,
    unit: usize,
    run: usize,
    table: &'a Table,
}

impl Part<'_> {
    /// # Safety
    ///
    /// `run` bytes, a multiple of `unit`, are readable at `from` and writable at `to`; the table is that of this unit and of `V`.
    #[inline(always)]
    unsafe fn reverse<V: Vector>(&self, streaming: bool, prefetch: bool) {
        let Part { from, to, unit, run, table } = *self;
        let head = if streaming { to.align_offset(LINE).min(run) } else { 0 };
        // While two vectors that end with the unit at hand begin inside the run.
        let open = (run + 1).saturating_sub(2 * V::BYTES + head);
        let whole = open.div_ceil(V::BYTES) * V::BYTES;
        let whole = if streaming { whole - whole % LINE } else { whole };
        // SAFETY: places up to `head`, from there to `head + whole`, and those behind are all of the run. Whole vectors are written where their
        // place is at most `run - 2 * V::BYTES`: they end inside the run, and so do the source vectors, which begin at least where
        // `run - place` is two vectors. Where they are streamed, they lie whole vectors behind the beginning of a line.
        unsafe {
            for place in (0..head).step_by(V::BYTES) {
                self.vector_at::<V>(place).store_partial(to.add(place), (head - place).min(V::BYTES));
            }
            let (mut inside, step) = (head % unit, V::BYTES % unit);
            for place in (head..head + whole).step_by(V::BYTES) {
                let end = run - (place - inside);
                let low = from.add(end - 2 * V::BYTES);
                if prefetch {
                    V::prefetch(low.wrapping_sub(PREFETCH_IN_RUN));
                }
                let registers = [V::load(low), V::load(low.add(V::BYTES))];
                let line = V::shuffle(registers, V::load(table.as_ptr().add(inside)));
                if streaming {
                    line.stream(to.add(place));
                } else {
                    line.store(to.add(place));
                }
                // Without a division, whose latency every vector would wait for.
                inside += step;
                inside -= if inside < unit { 0 } else { unit };
            }
            for place in (head + whole..run).step_by(V::BYTES) {
                self.vector_at::<V>(place).store_partial(to.add(place), (run - place).min(V::BYTES));
            }
        }
    }

    /// The vector at a place of the destination; what lies behind the run means nothing.
    ///
    /// # Safety
    ///
    /// As for [`reverse`](Self::reverse), and `place` is below `run`.
    #[inline(always)]
    unsafe fn vector_at<V: Vector>(&self, place: usize) -> V {
        let Part { from, unit, run, table, .. } = *self;
        let inside = place % unit;
        let end = run - (place - inside);
        let mut bytes = [0_u8; 2 * LONGEST];
        let few = end.min(2 * V::BYTES);
        // SAFETY: the source up to `end` is inside the run, and the last `few` bytes of it fit behind what is missing in front; two
        // vectors of the array and one of the table, from any place of a unit on, are inside these.
        unsafe {
            let missing = 2 * V::BYTES - few;
            std::ptr::copy_nonoverlapping(from.add(end - few), bytes.as_mut_ptr().add(missing), few);
            let registers = [V::load(bytes.as_ptr()), V::load(bytes.as_ptr().add(V::BYTES))];
            V::shuffle(registers, V::load(table.as_ptr().add(inside)))
        }
    }
}
