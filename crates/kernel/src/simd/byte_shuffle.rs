//! A few rows of odd runs interleaved into one row, and the way back, by byte shuffles: tiles of three
//! elements, pixels of three 16-bit channels. `byte_table.rs` has the idea and the tables.

use super::run::apart;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::byte_table::{ByteTable, MOST_REGISTERS, TABLE};

/// Bytes of a destination row that are written before the next row: the source bytes that the rows share stay
/// in the L1 cache.
const ROW_PIECE: usize = 1 << 11;

/// Shuffles all planes of a walk.
///
/// # Safety
///
/// The table is `Some`, and was made for vectors of `V::BYTES` bytes. In every iteration, the span of its
/// plane is readable on the source and writable on the destination.
pub(super) unsafe fn shuffle_bytes<V: Vector>(walk: &Walk<'_>, table: Option<ByteTable>) {
    let shuffle = &table.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a table"));
    // SAFETY: the caller's promise; each arm has the number of source vectors of the table.
    unsafe {
        match shuffle.registers {
            2 => apart::<V, _>(ShufflePlanes::<2> { shuffle, walk }),
            3 => apart::<V, _>(ShufflePlanes::<3> { shuffle, walk }),
            _ => apart::<V, _>(ShufflePlanes::<4> { shuffle, walk }),
        }
    }
}

/// Shuffles all planes of a walk, from `REGISTERS` source vectors.
struct ShufflePlanes<'a, const REGISTERS: usize> {
    shuffle: &'a ByteTable,
    walk: &'a Walk<'a>,
}

impl<const REGISTERS: usize> Operation for ShufflePlanes<'_, REGISTERS> {
    /// # Safety
    ///
    /// `shuffle` was made for vectors of `V::BYTES` bytes and has `REGISTERS` source vectors. In every
    /// iteration, the span of its plane is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(REGISTERS >= 2 && REGISTERS <= MOST_REGISTERS) };
        // Pieces of a row that is streamed begin as aligned as the first.
        const { assert!(ROW_PIECE.is_multiple_of(V::BYTES)) };
        #[cfg(feature = "software")]
        crate::observed::ran("byte shuffle");
        let ShufflePlanes { shuffle, walk } = self;
        assert!(shuffle.registers == REGISTERS && shuffle.period <= TABLE - V::BYTES + 1);
        let piece = if shuffle.rows == 1 { shuffle.row } else { ROW_PIECE };
        for iteration in walk.iterations() {
            let in_row = || (walk.in_row() > 0).then(|| iteration.from.wrapping_add(walk.in_row()));
            let later = iteration.later.or_else(in_row);
            if walk.streaming && shuffle.rows == 1 {
                // The line in which the row ends is stored in part: by then it has come.
                // SAFETY: a prefetch may go anywhere.
                unsafe { V::prefetch_to_write(iteration.to.wrapping_add(shuffle.row)) };
            }
            for first in (0..shuffle.row).step_by(piece) {
                for number in 0..shuffle.rows {
                    let row = Row {
                        shuffle,
                        from: iteration.from.wrapping_add(number * shuffle.source_step),
                        to: iteration.to.wrapping_add(number * shuffle.pitch),
                        later,
                        number,
                    };
                    // SAFETY: the row is one of the plane, and `first..first + piece` a part of it or more,
                    // which is cut off.
                    unsafe {
                        if walk.streaming {
                            row.piece::<V, REGISTERS, true>(first, piece);
                        } else {
                            row.piece::<V, REGISTERS, false>(first, piece);
                        }
                    }
                }
            }
        }
    }
}

/// A destination row of a plane.
struct Row<'a> {
    shuffle: &'a ByteTable,
    /// Where its first source vector begins, and where it begins itself.
    from: *const u8,
    to: *mut u8,
    later: Option<*const u8>,
    number: usize,
}

impl Row<'_> {
    /// Writes bytes `first..first + piece` of the row, as far as it goes. Vectors that are streamed are
    /// aligned, so the first piece is longer by what is before the first of them, and the others begin as
    /// much later.
    ///
    /// # Safety
    ///
    /// The shuffle was made for vectors of `V::BYTES` bytes;
    /// `shuffle.readable - number * shuffle.source_step` bytes are readable at `from` (and at each further
    /// source vector as many as `ByteTable` says), `shuffle.row` bytes writable at `to`.
    #[inline(always)]
    unsafe fn piece<V: Vector, const REGISTERS: usize, const STREAMING: bool>(&self, first: usize, piece: usize) {
        let Row { shuffle, from, to, .. } = *self;
        let head = if STREAMING { to.align_offset(V::BYTES).min(shuffle.row) } else { 0 };
        let end = (first + piece + head).min(shuffle.row);
        let readable = shuffle.readable - self.number * shuffle.source_step;
        let all_registers = (REGISTERS - 1) * shuffle.fewer + V::BYTES;
        let mut at = first + head;
        let (mut place, mut phase) = (at / shuffle.period * shuffle.advance, at % shuffle.period);
        let (more, rest) = (V::BYTES / shuffle.period * shuffle.advance, V::BYTES % shuffle.period);
        let next = |(at, place, phase): (usize, usize, usize)| match (phase + rest).checked_sub(shuffle.period) {
            None => (at + V::BYTES, place + more, phase + rest),
            Some(phase) => (at + V::BYTES, place + more + shuffle.advance, phase),
        };
        // SAFETY: byte `at` is `phase` bytes into the period at `place`, less than a period, so the table has
        // a vector there. Source vectors are read whole while `place + all_registers` is readable, else in
        // part. Whole vectors end before `end`; streamed ones begin after the aligned `head`.
        unsafe {
            if first == 0 && head > 0 {
                self.partial::<V, REGISTERS>(from, readable, 0).store_partial(to, head);
            }
            while at < end {
                // As many vectors as can be read and written whole for sure: each moves the source vectors
                // this far at most.
                let whole = match (readable - place).checked_sub(all_registers) {
                    Some(open) => (open / (more + shuffle.advance) + 1).min((end - at) / V::BYTES),
                    None => 0,
                };
                // The fourth vector reads the table from where the first does.
                if (3 * V::BYTES).is_multiple_of(shuffle.period) && whole >= 3 {
                    let second = next((at, place, phase));
                    let third = next(second);
                    let steps = [0, second.1 - place, third.1 - place];
                    let tables = [phase, second.2, third.2].map(|phase| V::load(shuffle.table.as_ptr().add(phase)));
                    for _ in 0..whole / 3 {
                        for (i, (step, table)) in steps.into_iter().zip(tables).enumerate() {
                            self.vector::<V, REGISTERS, STREAMING>(at + i * V::BYTES, place + step, table);
                        }
                        at += 3 * V::BYTES;
                        place += 3 * V::BYTES / shuffle.period * shuffle.advance;
                    }
                    continue;
                }
                for _ in 0..whole {
                    let table = V::load(shuffle.table.as_ptr().add(phase));
                    self.vector::<V, REGISTERS, STREAMING>(at, place, table);
                    (at, place, phase) = next((at, place, phase));
                }
                if whole == 0 {
                    let line = self.partial::<V, REGISTERS>(from.add(place), readable - place, phase);
                    let (to, bytes) = (to.add(at), (end - at).min(V::BYTES));
                    if STREAMING && bytes == V::BYTES {
                        line.stream(to)
                    } else {
                        line.store_partial(to, bytes)
                    }
                    (at, place, phase) = next((at, place, phase));
                }
            }
        }
    }

    /// Writes the vector at byte `at` of the row, whose first source vector begins at `place`.
    ///
    /// # Safety
    ///
    /// Vectors are readable at `place` and at each further source vector, and one is writable at `at`,
    /// aligned if it is streamed.
    #[inline(always)]
    unsafe fn vector<V: Vector, const REGISTERS: usize, const STREAMING: bool>(
        &self,
        at: usize,
        place: usize,
        table: V,
    ) {
        let shuffle = self.shuffle;
        // SAFETY: the caller's promise; a prefetch may go anywhere.
        unsafe {
            if let Some(later) = self.later {
                // Source vectors of several rows move on by less than themselves: they are prefetched one
                // after the other.
                let register = if shuffle.rows == 1 { at / V::BYTES % REGISTERS } else { self.number };
                V::prefetch(later.wrapping_add(place + register * shuffle.distance));
            }
            let mut registers = [V::zero(); REGISTERS];
            for (i, register) in registers.iter_mut().enumerate() {
                *register = V::load(self.from.add(place + i * shuffle.distance));
            }
            let line = V::shuffle(registers, table);
            let to = self.to.add(at);
            if STREAMING { line.stream(to) } else { line.store(to) }
        }
    }

    /// A vector of the destination whose first source vector begins at `from`, where `readable` bytes are.
    ///
    /// # Safety
    ///
    /// `readable` bytes are readable at `from`, and `i * shuffle.fewer` fewer at each further source vector
    /// `i`; `phase` is below the period.
    #[inline(always)]
    unsafe fn partial<V: Vector, const REGISTERS: usize>(&self, from: *const u8, readable: usize, phase: usize) -> V {
        let shuffle = self.shuffle;
        // SAFETY: no source vector is read further than the caller says; a vector of the table is readable
        // from any place of a period on.
        unsafe {
            let mut registers = [V::zero(); REGISTERS];
            for (i, register) in registers.iter_mut().enumerate() {
                let bytes = readable.saturating_sub(i * shuffle.fewer).min(V::BYTES);
                *register = V::load_partial(from.wrapping_add(i * shuffle.distance), bytes);
            }
            V::shuffle(registers, V::load(shuffle.table.as_ptr().add(phase)))
        }
    }
}
