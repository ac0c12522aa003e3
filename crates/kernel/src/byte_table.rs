//! The tables of byte shuffles. A table names the source byte of each destination byte.
//!
//! The problem: a few rows of runs are interleaved into one row, and the length of a run is odd, as in tiles
//! of three elements, or pixels of three 16-bit channels. The shuffles of whole units are only for units of
//! 1, 2, 4 or 8 bytes. A shuffle of single bytes works for units of any length, once the index of every byte
//! is computed.
//!
//! The indices repeat. After a *period* of the destination, each source row has moved on by a constant number
//! of bytes, the *advance*, and the pattern starts again. A destination vector needs bytes of two to four
//! source vectors:
//!
//! * To interleave, one vector of each row. All vectors begin at the same offset of their rows.
//! * To deinterleave, up to four consecutive vectors of the joined row.
//!
//! ```text
//! rows      aa1 aa2 aa3 ..          units of 3 bytes in two rows
//!           bb1 bb2 bb3 ..
//! joined    aa1bb1aa2bb2aa3bb3 ..   the period is 6 bytes, the advance 3 bytes
//! indices   012abc345def678ghi ..   0 is byte 0 of the first source vector, a is byte 0 of the second
//! ```
//!
//! The table holds the indices of one period and one vector. A vector that begins `phase` bytes into a period
//! loads its indices from entry `phase` on. So one table serves for all phases. `simd/byte_shuffle.rs` goes
//! through a row:
//!
//! ```text
//! at, source, phase = 0, 0, 0
//! while at < row:
//!     load a source vector at source + i * distance, for each i
//!     shuffle them by table[phase .. phase + vector]
//!     store the result at destination byte at
//!     at += vector; phase += vector; source += advance for every period that phase has passed
//! ```

use crate::kernel::{Plane, Stride, side_by_side};

/// The most source vectors of a shuffle. An index is a `u8`. With vectors of 64 bytes, two of its bits name
/// one of four vectors, and six bits name a byte of that vector.
pub(crate) const MOST_REGISTERS: usize = 4;

/// The size of a table in bytes: the longest period and one vector. The longest period is four runs of half a
/// 64-byte vector each.
pub(crate) const TABLE: usize = MOST_REGISTERS * 32 + 64;

/// How the destination rows of a plane are shuffled from its source.
pub(crate) struct ByteTable {
    /// For each byte of the destination, the index of its source byte. The source vectors count as one array.
    pub(crate) table: [u8; TABLE],
    /// The length of a period on the destination, and the advance of the source vectors in one period, in
    /// bytes.
    pub(crate) period: usize,
    pub(crate) advance: usize,
    /// The number of source vectors, and the distance from one source vector to the next, in bytes.
    pub(crate) registers: usize,
    pub(crate) distance: usize,
    /// How many bytes are readable from the start of the first source vector. From the start of each further
    /// source vector, `fewer` bytes less are readable than from the one before.
    pub(crate) readable: usize,
    pub(crate) fewer: usize,
    /// The destination rows: their number, the length of a row, and the distance from one row to the next on
    /// the destination and on the source, in bytes.
    pub(crate) rows: usize,
    pub(crate) row: usize,
    pub(crate) pitch: usize,
    pub(crate) source_step: usize,
}

impl ByteTable {
    /// Returns the shuffle that transposes a plane with vectors of `vector` bytes. `None` unless the plane
    /// interleaves two to four rows, or deinterleaves into two or three rows.
    pub(crate) fn of(plane: &Plane, vector: usize) -> Option<ByteTable> {
        let (run, columns, rows) = (plane.unit, plane.columns.extent, plane.rows.extent);
        let (source, destination) = (plane.rows.stride()?, plane.columns.stride()?);
        let whole = run * columns * rows;
        if !(3..=vector / 2).contains(&run) {
            return None;
        }
        if (2..=MOST_REGISTERS).contains(&rows) && destination == rows * run {
            let shuffle = ByteTable {
                table: [0; TABLE],
                period: destination,
                advance: run,
                registers: rows,
                distance: source,
                readable: columns * run,
                fewer: 0,
                rows: 1,
                row: whole,
                pitch: 0,
                source_step: 0,
            };
            return shuffle.with_table(vector, |period, inside| inside / run * vector + period * run + inside % run);
        }
        if (2..MOST_REGISTERS).contains(&columns) && source == columns * run {
            let shuffle = ByteTable {
                table: [0; TABLE],
                period: run,
                advance: source,
                registers: MOST_REGISTERS,
                distance: vector,
                readable: whole,
                fewer: vector,
                rows: columns,
                row: rows * run,
                pitch: destination,
                source_step: run,
            };
            return shuffle.with_table(vector, |period, inside| period * source + inside);
        }
        None
    }

    /// Returns the shuffle that reverses runs of `extent` units of `unit` bytes with vectors of `vector`
    /// bytes. `None` unless the runs are side by side on both sides, and at most half a vector long.
    pub(crate) fn reversing(unit: usize, extent: usize, count: Stride, vector: usize) -> Option<ByteTable> {
        let (run, whole) = (unit * extent, unit * extent * count.extent);
        if !side_by_side(unit, extent, count, vector / 2) {
            return None;
        }
        let shuffle = ByteTable {
            table: [0; TABLE],
            period: run,
            advance: run,
            registers: MOST_REGISTERS,
            distance: vector,
            readable: whole,
            fewer: vector,
            rows: 1,
            row: whole,
            pitch: 0,
            source_step: 0,
        };
        shuffle.with_table(vector, |period, inside| period * run + (run - unit - inside / unit * unit) + inside % unit)
    }

    /// Fills in the table. `byte(period, inside)` is the index of the source byte for destination byte
    /// `inside` of a period. `None` if that index is after the last source vector.
    fn with_table(mut self, vector: usize, byte: impl Fn(usize, usize) -> usize) -> Option<ByteTable> {
        let (mut period, mut inside, mut last) = (0, 0, 0);
        for entry in &mut self.table[..self.period + vector - 1] {
            *entry =
                u8::try_from(byte(period, inside)).ok().filter(|&byte| usize::from(byte) < self.registers * vector)?;
            last = last.max(usize::from(*entry) / vector);
            inside += 1;
            if inside == self.period {
                (period, inside) = (period + 1, 0);
            }
        }
        self.registers = (last + 1).max(2);
        Some(self)
    }
}

/// Whether there is a byte table that transposes this plane in registers of `register` bytes. There is one if
/// the plane interleaves two to four rows of odd runs into a dense row, or deinterleaves a dense row into two
/// or three rows.
#[must_use]
pub fn shuffles_plane(plane: &Plane, register: usize) -> bool {
    ByteTable::of(plane, register).is_some()
}

/// Whether there is a byte table that reverses runs of `extent` units of `unit` bytes in registers of
/// `register` bytes. There is one if the runs are side by side, and at most half as long as a register.
#[must_use]
pub fn shuffles_reversed(unit: usize, extent: usize, count: Stride, register: usize) -> bool {
    ByteTable::reversing(unit, extent, count, register).is_some()
}
