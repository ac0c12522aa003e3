//! Copies between groups of four units and up to four rows, one for each unit, by transposing inside lanes.

use super::vector::Vector;
use crate::channels::Line;
use crate::machine::LINE;

/// Interleaves the units of four rows, `UNIT` bytes each, and stores the bytes that the mask `written`
/// selects. The other bytes keep their value. `PAIR` is the length of two units, in bytes. With tables of
/// shuffle indices, each half of a register would take three shuffles and a store. `planes_to_bgra_224` takes
/// 0.4 of that time (a Xeon with AVX2).
///
/// ```text
/// rows           a0 a1 ..    b0 b1 ..    c0 c1 ..    d0 d1 ..    in each lane
/// units          a0 b0 a1 b1 ..          c0 d0 c1 d1 ..
/// pairs          a0 b0 c0 d0 a1 b1 c1 d1 ..
/// lanes          the first lane of all registers, then the second
/// ```
///
/// # Safety
///
/// * The CPU has the vectors `V`, of two lanes.
/// * At least one of the rows is `Some`. For each row, `count` vectors are readable at its offset from the
///   first address. At the second address, `4 * count` vectors are readable and writable.
#[inline(always)]
pub(super) unsafe fn join_four<V: Vector, const UNIT: usize, const PAIR: usize>(
    rows: [Option<usize>; 4],
    written: &Line,
    (mut from, mut to): (*const u8, *mut u8),
    count: usize,
) {
    // SAFETY: a line is as long as two vectors. Vector `i` of each row and vectors `4 * i` to `4 * i + 3` of
    // the destination are accessed for each `i < count`, as the contract of this function allows.
    unsafe {
        let written = load_table::<V>(written);
        let any = rows.into_iter().flatten().next().unwrap_or(0);
        for _ in 0..count {
            let [a, b, c, d] = rows.map(|row| from.wrapping_add(row.unwrap_or(any)));
            let (low, high) = V::load(a).unpack::<UNIT>(V::load(b));
            let (other_low, other_high) = V::load(c).unpack::<UNIT>(V::load(d));
            let (first, second) = low.unpack::<PAIR>(other_low);
            let (third, fourth) = high.unpack::<PAIR>(other_high);
            let (line_0, line_2) = first.interleave::<16>(second);
            let (line_1, line_3) = third.interleave::<16>(fourth);
            for line in [line_0, line_1, line_2, line_3] {
                line.choose_bits(V::load(to), written).store(to);
                to = to.wrapping_add(V::BYTES);
            }
            from = from.wrapping_add(V::BYTES);
        }
    }
}

/// Separates groups of four units of `UNIT` bytes, and stores a register for each unit that has a row. With
/// tables of shuffle indices, each row would take four shuffles.
///
/// ```text
/// lanes          a0 b0 c0 d0 a1 b1 c1 d1 ..     lanes of one place in four registers follow each other
/// shuffled       a0 a1 a2 a3 b0 b1 ..           4 bytes of each unit
/// transposed     a0 a1 a2 a3 a4 ..              4 x 4 such, of four registers
/// ```
///
/// # Safety
///
/// * The CPU has the vectors `V`, of lanes of 16 bytes.
/// * `4 * count` vectors are readable at the first address. For each row, `count` vectors are writable at its
///   offset from the second address.
#[inline(always)]
pub(super) unsafe fn split_four<V: Vector, const UNIT: usize, const LANES: usize>(
    rows: [Option<usize>; 4],
    (mut from, mut to): (*const u8, *mut u8),
    count: usize,
) {
    const { assert!(UNIT == 1 || UNIT == 2 || UNIT == 4) };
    let order = if UNIT == 1 { &UNITS_TOGETHER.0 } else { &UNITS_TOGETHER.1 };
    for _ in 0..count {
        // SAFETY: each lane of the four registers is one of the `LANES * 4` lanes of four vectors at `from`.
        // A vector of each row is writable, by the contract of this function.
        unsafe {
            // The loop is no closure, because a closure would be compiled without the features of `V`.
            let mut registers = [V::zero(); 4];
            for (i, register) in registers.iter_mut().enumerate() {
                *register = V::load_lanes::<LANES>(std::array::from_fn(|lane| from.wrapping_add((4 * lane + i) * 16)));
                if UNIT < 4 {
                    *register = register.shuffle_lanes(order);
                }
            }
            let [a, b, c, d] = registers;
            let ((low, high), (other_low, other_high)) = (a.unpack::<4>(b), c.unpack::<4>(d));
            let ((first, second), (third, fourth)) = (low.unpack::<8>(other_low), high.unpack::<8>(other_high));
            for (row, register) in rows.into_iter().zip([first, second, third, fourth]) {
                if let Some(row) = row {
                    register.store(to.wrapping_add(row));
                }
            }
        }
        (from, to) = (from.wrapping_add(4 * V::BYTES), to.wrapping_add(V::BYTES));
    }
}

/// The shuffle indices that bring equal units of a lane's groups together: all first units, all second units,
/// and so on. Groups have four units, of 1 byte in the first order and of 2 bytes in the second.
const UNITS_TOGETHER: ([u8; 16], [u8; 16]) =
    ([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]);

/// # Safety
///
/// * The table is readable.
#[inline(always)]
pub(super) unsafe fn load_table<V: Vector>(table: *const Line) -> V {
    const { assert!(V::BYTES <= LINE) };
    // SAFETY: the table is readable, by the contract. It is a line, which has at least the bytes of a vector.
    unsafe { V::load(table.cast()) }
}
