//! The tables of byte shuffles: which byte of some source vectors each byte of the destination is.
//!
//! A few rows of odd runs are interleaved into one row: tiles of three elements, pixels of three 16-bit
//! channels. No shuffle of whole units does that. But which source bytes a vector of the destination takes
//! repeats with a *period* of the destination, and they come from two to four source vectors: one in each row
//! at the same place in its row, or, where one row is separated into several, some that follow each other.
//!
//! ```text
//! rows      aa1 aa2 aa3 ..          units of 2 and 1 byte: the period is 3 bytes per row
//!           bb1 bb2 bb3 ..
//! joined    aa1bb1aa2bb2aa3bb3 ..   period 6; source vectors move on by 3 bytes in one
//! ```
//!
//! So the table names the source byte of each byte of one period and of a vector more, and a vector that
//! begins somewhere inside a period reads the table from there on.

use crate::kernel::{Plane, Stride, side_by_side};

/// The most source vectors of a shuffle: a byte of the table names one of them in two bits, and a byte of 64
/// in six.
pub(crate) const MOST_REGISTERS: usize = 4;

/// The longest period, four runs of half a vector, and a vector.
pub(crate) const TABLE: usize = MOST_REGISTERS * 32 + 64;

/// How the destination rows of a plane are shuffled from its source.
pub(crate) struct ByteTable {
    /// For each byte of the destination, which byte of the source vectors it is.
    pub(crate) table: [u8; TABLE],
    /// The bytes of a period on the destination, and how far the source vectors move on in one.
    pub(crate) period: usize,
    pub(crate) advance: usize,
    /// How many source vectors, and how far apart.
    pub(crate) registers: usize,
    pub(crate) distance: usize,
    /// The bytes that are readable from the first source vector on, and how many fewer from each further one
    /// on.
    pub(crate) readable: usize,
    pub(crate) fewer: usize,
    /// Destination rows: how many, how many bytes each, how far apart they are stored, and how far apart they
    /// begin on the source.
    pub(crate) rows: usize,
    pub(crate) row: usize,
    pub(crate) pitch: usize,
    pub(crate) source_step: usize,
}

impl ByteTable {
    /// The shuffle that transposes a plane, for vectors of `vector` bytes, if the plane interleaves or
    /// deinterleaves so few rows.
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
            return shuffle.with_table(vector, |period, place| place / run * vector + period * run + place % run);
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
            return shuffle.with_table(vector, |period, place| period * source + place);
        }
        None
    }

    /// The shuffle that reverses runs of `extent` units of `unit` bytes, for vectors of `vector` bytes, if
    /// they are short and are side by side.
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
        shuffle.with_table(vector, |period, place| period * run + (run - unit - place / unit * unit) + place % unit)
    }

    /// Fills in the table: `byte` says which byte of the source vectors becomes byte `place` of period
    /// `period`. `None` if that is stored after the last of them.
    fn with_table(mut self, vector: usize, byte: impl Fn(usize, usize) -> usize) -> Option<ByteTable> {
        let (mut period, mut place, mut last) = (0, 0, 0);
        for entry in &mut self.table[..self.period + vector - 1] {
            *entry =
                u8::try_from(byte(period, place)).ok().filter(|&byte| usize::from(byte) < self.registers * vector)?;
            last = last.max(usize::from(*entry) / vector);
            place += 1;
            if place == self.period {
                (period, place) = (period + 1, 0);
            }
        }
        self.registers = (last + 1).max(2);
        Some(self)
    }
}

/// Whether there is a table of bytes that transposes this plane in registers of `register` bytes: the plane
/// interleaves two to four rows of odd runs into a dense row, or separates two or three.
#[must_use]
pub fn shuffles_plane(plane: &Plane, register: usize) -> bool {
    ByteTable::of(plane, register).is_some()
}

/// Whether there is a table of bytes that reverses runs of `extent` units of `unit` bytes in registers of
/// `register` bytes: the runs are side by side and at most half as long as a register.
#[must_use]
pub fn shuffles_reversed(unit: usize, extent: usize, count: Stride, register: usize) -> bool {
    ByteTable::reversing(unit, extent, count, register).is_some()
}
