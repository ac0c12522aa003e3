//! A few rows of odd chunks that take turns in one row, and the way back: tiles of three elements, pixels of three channels.
//!
//! Every register of the destination takes its bytes from a few windows on the source, a register each: one in each row, all
//! as far into their rows; or, on the way back, some that follow each other. Which bytes those are repeats with every turn.
//! So one table names the bytes of a turn and of a register more: a register that begins somewhere in a turn reads the
//! table from there on.
//!
//! # Safety
//!
//! As for [`lines`](super::lines): the features of `V`, and planes that lie inside both sides.

use super::super::schedule::Plane;
use super::task::Task;
use super::vector::Vector;

/// The most windows.
pub(super) const WINDOWS: usize = 4;

/// The longest turn, four chunks of half a register, and a register.
const TABLE: usize = 4 * 32 + 64;

/// Shorter destination rows are not worth a table.
const LEAST: usize = 256;

/// Planes with fewer bytes than this are asked for one ahead of the other.
const SMALL: usize = 1 << 16;

/// So many bytes of a destination row are written before the next row is: the source is in the nearest cache until then.
const PIECE: usize = 1 << 11;

/// How the destination rows of a plane are made of turns.
pub(super) struct OddTurns {
    /// For each byte of the destination, which byte of the windows it is.
    table: [u8; TABLE],
    /// The bytes of a turn on the destination, and how far the windows move in one.
    turn: usize,
    step: usize,
    /// How many windows, and how far apart.
    pub(super) windows: usize,
    apart: usize,
    /// The bytes that can be read from the first window on, and how many of them each further window has less.
    readable: usize,
    less: usize,
    /// Destination rows: how many, how long, how far apart, and how far apart they begin on the source.
    rows: usize,
    bytes: usize,
    pitch: usize,
    shift: usize,
    /// The bytes of a source row.
    stream: usize,
}

impl OddTurns {
    /// The turns of a plane, if it is made of some that registers of so many bytes can take.
    pub(super) fn of(plane: &Plane, register: usize) -> Option<OddTurns> {
        let (chunk, across, along) = (plane.chunk, plane.across.extent, plane.along.extent);
        let (target, origin) = (plane.across.stride()?, plane.along.stride()?);
        let whole = chunk * across * along;
        if !(3..=register / 2).contains(&chunk) {
            return None;
        }
        if (2..=WINDOWS).contains(&along) && target == along * chunk && whole >= LEAST {
            let row = across * chunk;
            let turns = OddTurns {
                table: [0; TABLE],
                turn: target,
                step: chunk,
                windows: along,
                apart: origin,
                readable: row,
                less: 0,
                rows: 1,
                bytes: whole,
                pitch: 0,
                shift: 0,
                stream: row,
            };
            return turns.with_table(register, |turn, place| place / chunk * register + turn * chunk + place % chunk);
        }
        if (2..WINDOWS).contains(&across) && origin == across * chunk && along * chunk >= LEAST {
            let turns = OddTurns {
                table: [0; TABLE],
                turn: chunk,
                step: origin,
                windows: WINDOWS,
                apart: register,
                readable: whole,
                less: register,
                rows: across,
                bytes: along * chunk,
                pitch: target,
                shift: chunk,
                stream: whole,
            };
            return turns.with_table(register, |turn, place| turn * origin + place);
        }
        None
    }

    /// Fills in the table: place `place` of turn `turn` is which byte of the windows? `None` if they do not reach so far.
    fn with_table(mut self, register: usize, byte: impl Fn(usize, usize) -> usize) -> Option<OddTurns> {
        let (mut turn, mut place, mut last) = (0, 0, 0);
        for entry in &mut self.table[..self.turn + register - 1] {
            *entry =
                u8::try_from(byte(turn, place)).ok().filter(|&byte| usize::from(byte) < self.windows * register)?;
            last = last.max(usize::from(*entry) / register);
            place += 1;
            if place == self.turn {
                (turn, place) = (turn + 1, 0);
            }
        }
        self.windows = (last + 1).max(2);
        Some(self)
    }

    /// Copies all planes of a task.
    #[inline(always)]
    pub(super) unsafe fn run<V: Vector, const WINDOWS: usize>(&self, task: &Task<'_>) {
        let piece = if self.rows == 1 { self.bytes } else { PIECE };
        for visit in task.visits(self.bytes * self.rows) {
            // The rows of a small plane end too soon for what lies further on in them.
            let next = visit.ahead.filter(|_| self.bytes * self.rows < SMALL);
            let ahead = next.or_else(|| visit.ahead_of_row(self.stream));
            for first in (0..self.bytes).step_by(piece) {
                for row in 0..self.rows {
                    let job = Row {
                        from: visit.from.wrapping_add(row * self.shift),
                        to: visit.to.wrapping_add(row * self.pitch),
                        ahead,
                        row,
                        stream: task.stream,
                    };
                    // SAFETY: the caller's promise, passed on.
                    unsafe { self.piece::<V, WINDOWS>(&job, first, piece) };
                }
            }
        }
    }

    /// Writes some bytes of a destination row. Registers that are stored round the cache are aligned, so the first piece is
    /// longer than asked for by what lies before them, and the others begin as much later.
    #[inline(always)]
    unsafe fn piece<V: Vector, const WINDOWS: usize>(&self, row: &Row, first: usize, piece: usize) {
        let head = if row.stream { row.to.align_offset(V::BYTES).min(self.bytes) } else { 0 };
        let end = (first + piece + head).min(self.bytes);
        let readable = self.readable - row.row * self.shift;
        let all_windows = (WINDOWS - 1) * self.less + V::BYTES;
        let mut at = first + head;
        let (mut place, mut phase) = (at / self.turn * self.step, at % self.turn);
        let (more, rest) = (V::BYTES / self.turn * self.step, V::BYTES % self.turn);
        let next = |at: usize, place: usize, phase: usize| match (phase + rest).checked_sub(self.turn) {
            None => (at + V::BYTES, place + more, phase + rest),
            Some(phase) => (at + V::BYTES, place + more + self.step, phase),
        };
        // SAFETY: a row of the plane is written, from windows that lie inside it or are read in part; registers that are
        // streamed lie whole registers behind `head`. The table reaches a register behind any place of a turn.
        unsafe {
            if first == 0 && head > 0 {
                self.register::<V, WINDOWS>(row.from, readable, 0).store_partial(row.to, head);
            }
            while at < end {
                // As many registers as can be read and written whole for sure: each moves the windows this far at most.
                let whole = match (readable - place).checked_sub(all_windows) {
                    Some(open) => (open / (more + self.step) + 1).min((end - at) / V::BYTES),
                    None => 0,
                };
                for _ in 0..whole {
                    if let Some(ahead) = row.ahead {
                        // Windows of several rows move on by less than themselves: they are asked for in turns.
                        let window = if self.rows == 1 { at / V::BYTES % WINDOWS } else { row.row };
                        V::prefetch(ahead.wrapping_add(place + window * self.apart));
                    }
                    let mut windows = [V::zero(); WINDOWS];
                    for (i, window) in windows.iter_mut().enumerate() {
                        *window = V::load(row.from.add(place + i * self.apart));
                    }
                    let line = V::pick(windows, V::load(self.table.as_ptr().add(phase)));
                    let to = row.to.add(at);
                    if row.stream {
                        line.stream(to)
                    } else {
                        line.store(to)
                    }
                    (at, place, phase) = next(at, place, phase);
                }
                if whole == 0 {
                    let line = self.register::<V, WINDOWS>(row.from.add(place), readable - place, phase);
                    let (to, bytes) = (row.to.add(at), (end - at).min(V::BYTES));
                    if row.stream && bytes == V::BYTES {
                        line.stream(to)
                    } else {
                        line.store_partial(to, bytes)
                    }
                    (at, place, phase) = next(at, place, phase);
                }
            }
        }
    }

    /// A register of the destination whose windows begin here, of which so many bytes can be read.
    #[inline(always)]
    unsafe fn register<V: Vector, const WINDOWS: usize>(&self, from: *const u8, readable: usize, phase: usize) -> V {
        // SAFETY: each window is read as far as the plane goes; the table reaches a register behind any place of a turn.
        unsafe {
            let mut windows = [V::zero(); WINDOWS];
            for (i, window) in windows.iter_mut().enumerate() {
                let bytes = readable.saturating_sub(i * self.less).min(V::BYTES);
                *window = V::load_partial(from.wrapping_add(i * self.apart), bytes);
            }
            V::pick(windows, V::load(self.table.as_ptr().add(phase)))
        }
    }
}

/// A destination row of a plane.
struct Row {
    from: *const u8,
    to: *mut u8,
    ahead: Option<*const u8>,
    /// Which of the plane.
    row: usize,
    stream: bool,
}
