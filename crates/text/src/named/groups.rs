//! `Group`: blocks whose bits are stored in another order, those of some rows together.
//!
//! The repacks of ggml and the orders of bits of OpenVINO have one form. `R` rows of one block become one
//! group, field by field, and of each field some bytes of each row in turn. Groups follow each other block by
//! block, then the next `R` rows. `group of 4: 0+1, 1+3 by 1` is
//!
//! ```text
//! row 0   s0 | a0 a1 a2             s0 s1 s2 s3 | a0 b0 c0 d0  a1 b1 c1 d1  a2 ..
//! row 1   s1 | b0 b1 b2      ->
//! row 2   s2 | c0 c1 c2
//! row 3   s3 | d0 d1 d2
//! ```
//!
//! A field is `first byte + bytes`, or `byte:first bit-last bit`, or several of these with `&` between them.
//! `by` says how many bytes, or bits, of a row are taken before the next row; without it, the whole field.
//!
//! `4+12 scales` are the scales of q4_K and q5_K. A block packs the 6-bit scales and minima of 8 sub-blocks
//! in 12 bytes ([`six_bits`]). A group packs those of one sub-block of 8 rows by the same rule, eight times.
//!
//! So a group is a permutation of bits, and it is stored as one: a list of runs in the order of the group.

use tensor_layout::Error;
use tensor_layout::checked::Exact;

use super::{Values, no_value};

/// The order of bits in a group of rows of one block, for a tensor.
///
/// ```
/// use tensor_layout_text::named::NamedLayout;
///
/// let layout: NamedLayout = "ggml.q1_0x4<4>:q1_0[4,128]".parse()?;
/// let group = layout.group.unwrap();
/// // Value 4 of row 1 is bit 4 of byte 2 of its block of 18 bytes. The upper nibbles follow 8 bytes of
/// // scales and 2 of lower nibbles.
/// assert_eq!(group.place(18 * 8 + 2 * 8 + 4), Some(10 * 8 + 4));
/// assert_eq!(group.inverse(10 * 8 + 4), Some(18 * 8 + 2 * 8 + 4));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    pub(super) rows: u64,
    /// The blocks of a row.
    pub(super) blocks: u64,
    /// The bits of a block.
    bits: u64,
    /// The bits of a group, in its order.
    pub(super) runs: Vec<Run>,
}

/// Bits of a row of a group that follow each other in the block and in the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) row: u64,
    /// The first bit in the block, and in the group.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) bits: u64,
    pub(super) flip: u8,
}

impl Group {
    /// Reads the rule `4: 0+2, 2+32 by bl` for rows of `blocks`. The bits of `flip` differ in the last field.
    pub(super) fn read(text: &str, values: &Values<'_>, blocks: u64, flip: u8) -> Result<Group, Error> {
        let (rows, fields) = text.split_once(':').ok_or_else(|| no_value(text))?;
        let mut group = Group { rows: values.evaluate(rows)?, blocks, bits: 0, runs: Vec::new() };
        let mut fields = fields.split(", ").map(str::trim).peekable();
        while let Some(field) = fields.next() {
            let flip = if fields.peek().is_none() { flip } else { 0 };
            if let Some((first, _)) = field.split_once("+12 scales") {
                group.scales(values.evaluate(first)?.times(8));
                continue;
            }
            let (pieces, unit) = field.split_once(" by ").unwrap_or((field, ""));
            let unit = match unit.strip_suffix(" bits") {
                Some(bits) => values.evaluate(bits)?,
                None if unit.is_empty() => u64::MAX,
                None => values.evaluate(unit)?.times(8),
            };
            let pieces: Option<Vec<[u64; 2]>> = pieces.split('&').map(piece).collect();
            let pieces = pieces.ok_or_else(|| no_value(field))?;
            let turns = pieces.first().map_or(0, |[_, bits]| bits.div_ceil(unit));
            for turn in 0..turns {
                let before = turn.saturating_mul(unit);
                for row in 0..group.rows {
                    for [first, bits] in &pieces {
                        group.push(Run {
                            row,
                            from: first.plus(before),
                            to: 0,
                            bits: bits.minus(before).min(unit),
                            flip,
                        });
                    }
                }
            }
        }
        group.bits = group.end().divided_by(group.rows);
        Ok(group)
    }

    /// Appends the scales of 8 rows, whose blocks have theirs from bit `first` on.
    fn scales(&mut self, first: u64) {
        for block in 0..8 {
            let mut places: Vec<[u64; 3]> = Vec::new();
            for (row, kind) in (0..8).flat_map(|row| [(row, 0), (row, 1)]) {
                places.extend((0..6).map(|bit| [six_bits(row, kind, bit), row, six_bits(block, kind, bit)]));
            }
            places.sort_unstable();
            for [_, row, from] in places {
                self.push(Run { row, from: first.plus(from), to: 0, bits: 1, flip: 0 });
            }
        }
    }

    /// Appends a run. Single bits that follow each other in a byte are joined.
    fn push(&mut self, run: Run) {
        let to = self.end();
        match self.runs.last_mut() {
            Some(last) if run.bits == 1 && last.row == run.row && last.from.plus(last.bits) == run.from => {
                last.bits = last.bits.plus(1);
            }
            _ => self.runs.push(Run { to, ..run }),
        }
    }

    /// The bits of the runs so far.
    fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.to.plus(run.bits))
    }

    /// The bytes of a group.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.times(self.rows).div_ceil(8)
    }

    /// The number of rows of which blocks are in a group.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the place of a bit of the packed tensor, row by row, in the buffer of the groups.
    #[must_use]
    pub fn place(&self, bit: u64) -> Option<u64> {
        let (block, from) = (bit.checked_div(self.bits)?, bit.checked_rem(self.bits)?);
        let (row, block) = (block.checked_div(self.blocks)?, block.checked_rem(self.blocks)?);
        let (group, row) = (row.checked_div(self.rows)?, row.checked_rem(self.rows)?);
        let run = self.runs.iter().find(|run| run.row == row && (run.from..run.from.plus(run.bits)).contains(&from))?;
        let before = group.checked_mul(self.blocks)?.checked_add(block)?.checked_mul(self.bits.times(self.rows))?;
        before.checked_add(run.to.plus(from.minus(run.from)))
    }

    /// Returns the bit of the packed tensor, row by row, that is stored at a place in the buffer.
    #[must_use]
    pub fn inverse(&self, place: u64) -> Option<u64> {
        let length = self.bits.times(self.rows);
        let (group, to) = (place.checked_div(length)?, place.checked_rem(length)?);
        let (group, block) = (group.checked_div(self.blocks)?, group.checked_rem(self.blocks)?);
        let run = self.runs.iter().find(|run| (run.to..run.to.plus(run.bits)).contains(&to))?;
        let row = group.checked_mul(self.rows)?.checked_add(run.row)?;
        let before = row.checked_mul(self.blocks)?.checked_add(block)?.checked_mul(self.bits)?;
        before.checked_add(run.from.plus(to.minus(run.to)))
    }
}

/// Returns the range `2+32`, `4` (one byte) or `4:0-3` (bits 0 to 3 of byte 4) as its first bit and its bits.
fn piece(text: &str) -> Option<[u64; 2]> {
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    match text.split_once(':') {
        None => {
            let (first, bytes) = text.split_once('+').unwrap_or((text, "1"));
            Some([number(first)?.checked_mul(8)?, number(bytes)?.checked_mul(8)?])
        }
        Some((byte, bits)) => {
            let (first, last) = bits.split_once('-').unwrap_or((bits, bits));
            let (first, last) = (number(first)?, number(last)?);
            Some([number(byte)?.checked_mul(8)?.checked_add(first)?, last.checked_add(1)?.checked_sub(first)?])
        }
    }
}

/// Returns the place of a bit of a 6-bit number in 12 bytes. The numbers are 8 scales (`kind` 0) and 8 minima
/// (1). The first four have bytes of their own, whose upper two bits are those of the last four. The lower
/// four bits of these share a byte.
fn six_bits(number: u64, kind: u64, bit: u64) -> u64 {
    let byte = number.modulo(4);
    match (number < 4, bit < 4) {
        (true, _) => kind.times(32).plus(byte.times(8)).plus(bit),
        (false, true) => byte.times(8).plus(64).plus(kind.times(4)).plus(bit),
        (false, false) => kind.times(32).plus(byte.times(8)).plus(bit).plus(2),
    }
}
