//! Elements smaller than a byte in safe Rust: what bits.rs does with registers, with eight bytes at a time.

use super::super::schedule::Turns;

/// Lets rows take turns, or takes them apart.
pub(super) fn turns(source: &[u8], destination: &mut [u8], turns: &Turns) {
    match turns.rows {
        2 => rows::<2>(source, destination, turns),
        4 => rows::<4>(source, destination, turns),
        8 => rows::<8>(source, destination, turns),
        16 => rows::<16>(source, destination, turns),
        _ => rows::<32>(source, destination, turns),
    }
}

fn rows<const ROWS: usize>(source: &[u8], destination: &mut [u8], turns: &Turns) {
    let Turns { bits, row, pitch, apart, .. } = *turns;
    let mut words = [0; ROWS];
    for first in (0..row).step_by(8) {
        let bytes = (row - first).min(8);
        if apart {
            let (from, _) = source[first * ROWS..(first + bytes) * ROWS].as_chunks::<ROWS>();
            for (i, word) in words.iter_mut().enumerate() {
                let mut line = [0; 8];
                line.iter_mut().zip(from).for_each(|(byte, turn)| *byte = turn[ordered_place(bits, ROWS, i)]);
                *word = u64::from_le_bytes(line);
            }
            for width in [4, 2, 1].into_iter().filter(|&width| width >= bits) {
                exchange(&mut words, width, row_bit(width, bits, ROWS));
            }
            for (i, word) in words.into_iter().enumerate() {
                destination[i * pitch + first..][..bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
            }
        } else {
            for (i, word) in words.iter_mut().enumerate() {
                let mut line = [0; 8];
                line[..bytes].copy_from_slice(&source[i * pitch + first..][..bytes]);
                *word = u64::from_le_bytes(line);
            }
            for width in [1, 2, 4].into_iter().filter(|&width| width >= bits) {
                exchange(&mut words, width, row_bit(width, bits, ROWS));
            }
            let (to, _) = destination[first * ROWS..(first + bytes) * ROWS].as_chunks_mut::<ROWS>();
            for (i, word) in words.into_iter().enumerate() {
                let place = ordered_place(bits, ROWS, i);
                to.iter_mut().zip(word.to_le_bytes()).for_each(|(turn, byte)| turn[place] = byte);
            }
        }
    }
}

/// With every byte in parts of `width` bits: exchanges the odd parts of each word whose number lacks the bit `apart` with the
/// even parts of the one whose number has it.
fn exchange(words: &mut [u64], width: usize, apart: usize) {
    let even = match width {
        1 => 0x5555_5555_5555_5555,
        2 => 0x3333_3333_3333_3333,
        _ => 0x0f0f_0f0f_0f0f_0f0f,
    };
    for i in (0..words.len()).filter(|i| i & apart == 0) {
        let changed = ((words[i] >> width) ^ words[i | apart]) & even;
        words[i] ^= changed << width;
        words[i | apart] ^= changed;
    }
}

/// The bit of the row that is swapped with the bit of the part that `width` bits make up: one after the other, and from the
/// first on again where there are fewer.
#[inline(always)]
pub(super) const fn row_bit(width: usize, bits: usize, rows: usize) -> usize {
    1 << ((width / bits).ilog2() % rows.ilog2())
}

/// Where the row at `i` comes once all bits are swapped: those that were bits of the part come first.
#[inline(always)]
pub(super) const fn ordered_place(bits: usize, rows: usize, i: usize) -> usize {
    let turn = (8 / bits).ilog2() % rows.ilog2();
    (i >> turn) | (i << (rows.ilog2() - turn)) & (rows - 1)
}
