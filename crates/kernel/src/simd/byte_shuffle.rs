//! Byte shuffles, which interleave or deinterleave a few rows of odd runs. `byte_table.rs` explains the
//! algorithm and makes the tables.

use super::run::apart;
use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::byte_table::{ByteTable, MOST_REGISTERS, TABLE};

/// How many bytes of a destination row are written before the next row. The source bytes that the rows share
/// then stay in the L1 cache.
const ROW_PIECE: usize = 1 << 11;

/// Shuffles all planes of a walk.
///
/// # Safety
///
/// * `table` is `Some`, and was made for vectors of `V::BYTES` bytes.
/// * In every iteration, the span of its plane is readable on the source and writable on the destination.
pub(super) unsafe fn shuffle_bytes<V: Vector>(walk: &Walk<'_>, table: Option<ByteTable>) {
    let shuffle = &table.unwrap_or_else(|| unreachable!("`Kernel::fit` asks for a table"));
    // SAFETY: the contract of this function. Each arm has the table's number of source vectors.
    unsafe {
        match shuffle.registers {
            2 => apart::<V, _>(ShufflePlanes::<2> { shuffle, walk }),
            3 => apart::<V, _>(ShufflePlanes::<3> { shuffle, walk }),
            _ => apart::<V, _>(ShufflePlanes::<4> { shuffle, walk }),
        }
    }
}

/// All planes of a walk. They are shuffled from `REGISTERS` source vectors.
struct ShufflePlanes<'a, const REGISTERS: usize> {
    shuffle: &'a ByteTable,
    walk: &'a Walk<'a>,
}

impl<const REGISTERS: usize> Operation for ShufflePlanes<'_, REGISTERS> {
    /// # Safety
    ///
    /// * `shuffle` was made for vectors of `V::BYTES` bytes and has `REGISTERS` source vectors.
    /// * In every iteration, the span of its plane is readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(REGISTERS >= 2 && REGISTERS <= MOST_REGISTERS) };
        // All pieces of a row that is streamed have the alignment of the first piece.
        const { assert!(ROW_PIECE.is_multiple_of(V::BYTES)) };
        let ShufflePlanes { shuffle, walk } = self;
        assert!(shuffle.registers == REGISTERS && shuffle.period <= TABLE - V::BYTES + 1);
        let piece = if shuffle.rows == 1 { shuffle.row } else { ROW_PIECE };
        for iteration in walk.iterations() {
            let in_row = || (walk.in_row() > 0).then(|| iteration.from.wrapping_add(walk.in_row()));
            let later = iteration.later.or_else(in_row);
            if walk.streaming && shuffle.rows == 1 {
                // SAFETY: a prefetch may be given any address. (The row ends inside a line, which is stored
                // in part. That line is fetched now, so it is in the cache when the row ends.)
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
                    // SAFETY: the row is a row of the plane. `piece` cuts `first..first + piece` off at the
                    // end of the row.
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

/// One destination row of a plane.
struct Row<'a> {
    shuffle: &'a ByteTable,
    /// The address of the first source vector of an iteration, and of its first destination byte.
    from: *const u8,
    to: *mut u8,
    later: Option<*const u8>,
    number: usize,
}

impl Row<'_> {
    /// Writes bytes `first..first + piece` of the row, cut off at the end of the row. With non-temporal
    /// stores, vectors are aligned: the first piece is longer by the bytes in front of the first aligned
    /// vector, and the other pieces begin later by these bytes.
    ///
    /// # Safety
    ///
    /// * The shuffle was made for vectors of `V::BYTES` bytes.
    /// * `shuffle.readable - number * shuffle.source_step` bytes are readable at `from`, and `shuffle.fewer`
    ///   bytes less at each further source vector.
    /// * `shuffle.row` bytes are writable at `to`.
    #[inline(always)]
    unsafe fn piece<V: Vector, const REGISTERS: usize, const STREAMING: bool>(&self, first: usize, piece: usize) {
        let Row { shuffle, from, to, .. } = *self;
        let head = if STREAMING { to.align_offset(V::BYTES).min(shuffle.row) } else { 0 };
        let end = (first + piece + head).min(shuffle.row);
        let readable = shuffle.readable - self.number * shuffle.source_step;
        let all_registers = (REGISTERS - 1) * shuffle.fewer + V::BYTES;
        let mut at = first + head;
        let (mut source, mut phase) = (at / shuffle.period * shuffle.advance, at % shuffle.period);
        let (more, rest) = (V::BYTES / shuffle.period * shuffle.advance, V::BYTES % shuffle.period);
        let next = |(at, source, phase): (usize, usize, usize)| match (phase + rest).checked_sub(shuffle.period) {
            None => (at + V::BYTES, source + more, phase + rest),
            Some(phase) => (at + V::BYTES, source + more + shuffle.advance, phase),
        };
        // SAFETY: byte `at` is `phase` bytes into its period, so the table has a vector of indices from
        // `phase` on. Source vectors are loaded whole only while `all_registers` bytes are readable, and
        // otherwise in part. Stores end before `end`. Streamed stores follow the aligned `head`.
        unsafe {
            if first == 0 && head > 0 {
                self.partial::<V, REGISTERS>(from, readable, 0).store_partial(to, head);
            }
            while at < end {
                // How many vectors can certainly be loaded and stored whole, if each of them moves the source
                // by `more` bytes and one advance, the most that it may.
                let whole = match (readable - source).checked_sub(all_registers) {
                    Some(open) => (open / (more + shuffle.advance) + 1).min((end - at) / V::BYTES),
                    None => 0,
                };
                // The fourth vector has the phase of the first vector, so three vectors of indices serve all
                // vectors.
                if (3 * V::BYTES).is_multiple_of(shuffle.period) && whole >= 3 {
                    let second = next((at, source, phase));
                    let third = next(second);
                    let steps = [0, second.1 - source, third.1 - source];
                    let tables = [phase, second.2, third.2].map(|phase| V::load(shuffle.table.as_ptr().add(phase)));
                    for _ in 0..whole / 3 {
                        for (i, (step, table)) in steps.into_iter().zip(tables).enumerate() {
                            self.vector::<V, REGISTERS, STREAMING>(at + i * V::BYTES, source + step, table);
                        }
                        at += 3 * V::BYTES;
                        source += 3 * V::BYTES / shuffle.period * shuffle.advance;
                    }
                    continue;
                }
                for _ in 0..whole {
                    let table = V::load(shuffle.table.as_ptr().add(phase));
                    self.vector::<V, REGISTERS, STREAMING>(at, source, table);
                    (at, source, phase) = next((at, source, phase));
                }
                if whole == 0 {
                    let line = self.partial::<V, REGISTERS>(from.add(source), readable - source, phase);
                    let (to, bytes) = (to.add(at), (end - at).min(V::BYTES));
                    if STREAMING && bytes == V::BYTES {
                        line.stream(to)
                    } else {
                        line.store_partial(to, bytes)
                    }
                    (at, source, phase) = next((at, source, phase));
                }
            }
        }
    }

    /// Writes the vector at byte `at` of the row. Its first source vector begins `source` bytes after `from`.
    ///
    /// # Safety
    ///
    /// * A vector is readable at `source`, and at the same offset of each further source vector.
    /// * A vector is writable at `at`, and is aligned if it is streamed.
    #[inline(always)]
    unsafe fn vector<V: Vector, const REGISTERS: usize, const STREAMING: bool>(
        &self,
        at: usize,
        source: usize,
        table: V,
    ) {
        let shuffle = self.shuffle;
        // SAFETY: the contract of this function. A prefetch may be given any address.
        unsafe {
            if let Some(later) = self.later {
                // To interleave, each vector of the destination moves the source rows by less than a vector.
                // So it prefetches one of these rows, in turn.
                let register = if shuffle.rows == 1 { at / V::BYTES % REGISTERS } else { self.number };
                V::prefetch(later.wrapping_add(source + register * shuffle.distance));
            }
            let mut registers = [V::zero(); REGISTERS];
            for (i, register) in registers.iter_mut().enumerate() {
                *register = V::load(self.from.add(source + i * shuffle.distance));
            }
            let line = V::shuffle(registers, table);
            let to = self.to.add(at);
            if STREAMING { line.stream(to) } else { line.store(to) }
        }
    }

    /// Computes a vector of the destination whose first source vector begins at `from`.
    ///
    /// # Safety
    ///
    /// * `readable` bytes are readable at `from`, and `i * shuffle.fewer` bytes less at source vector `i`.
    /// * `phase` is below the period.
    #[inline(always)]
    unsafe fn partial<V: Vector, const REGISTERS: usize>(&self, from: *const u8, readable: usize, phase: usize) -> V {
        let shuffle = self.shuffle;
        // SAFETY: no source vector is loaded beyond its readable bytes. The table has a vector of indices
        // from every phase on.
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
