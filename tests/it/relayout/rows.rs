//! Rows of every short length, planes of units of several bytes, and rows that are interleaved are copied
//! exactly. Nothing is written beside them.

use crate::literal::replanned::{Replanned, levels};
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, DataType};

/// Copies `[sizes]` bytes between strides at every level, in buffers of exactly the needed length, and
/// compares the result with a loop over the indices.
fn check<const RANK: usize>(sizes: [u64; RANK], from: [u64; RANK], to: [u64; RANK]) {
    let desc = |strides: [u64; RANK]| BufferTensorDesc::new(DataType::U8, &sizes, Some(&strides)).unwrap();
    let (from, to) = (desc(from), desc(to));
    let source: Vec<u8> = (1..=255).cycle().take(usize::try_from(from.span_elements()).unwrap()).collect();
    let mut expected = vec![0; usize::try_from(to.span_elements()).unwrap()];
    for (from, to) in from.offsets().zip(to.offsets()) {
        expected[usize::try_from(to).unwrap()] = source[usize::try_from(from).unwrap()];
    }
    for level in levels() {
        for stream in [false, true] {
            let relayout = Relayout::new(&from, &to).unwrap().with_kernel_level(level).with_streaming(stream);
            let mut destination = vec![0; expected.len()];
            relayout.run(&source, &mut destination).unwrap();
            assert!(destination == expected, "{sizes:?} at {level}:\n{}", relayout.explain());
        }
    }
}

#[test]
fn rows_of_every_short_length() {
    for length in 1..=300 {
        check([1, 5, length], [1, length, 1], [1, length + 3, 1]);
        check([3, 5, length], [6 * length, length + 1, 1], [5 * length, length, 1]);
    }
}

#[test]
fn planes_of_units() {
    for (rows, columns) in [(2, 2), (5, 7), (8, 8), (33, 31), (33, 32), (1, 40)] {
        for unit in [8, 12, 16, 24, 32] {
            let packed = [columns * unit, unit, 1];
            check([rows, columns, unit], packed, [unit, rows * unit, 1]);
            check([rows, columns, unit], [columns * unit + 5, unit, 1], [unit, rows * unit + 16, 1]);
        }
    }
}

/// A run of every power of two is repeated in rows that begin and end anywhere in a register.
#[test]
fn rows_that_are_filled() {
    for unit in [1, 2, 4, 8, 16, 32, 64] {
        for count in (1..=70).chain([128, 129, 255, 300]) {
            for gap in [0, 3] {
                check([3, count, unit], [unit, 0, 1], [count * unit + gap, unit, 1]);
            }
        }
    }
}

/// Units of 3 to 33 bytes in 2 to 5 rows are interleaved and deinterleaved, around every number of registers
/// and a piece of a row.
#[test]
fn rows_that_are_interleaved() {
    for unit in (3..=33).filter(|unit: &u64| !unit.is_power_of_two() || *unit == 32) {
        for rows in 2..=5 {
            let whole = |bytes: u64| bytes / (rows * unit);
            let counts = [1, 2, whole(255), whole(320) + 1, whole(1000), whole(1024) + 1, 2048 / unit, 2200 / unit + 1];
            for columns in counts.into_iter().filter(|&columns| columns > 0) {
                for gap in [0, 5] {
                    let apart = [columns * unit + gap, unit, 1];
                    let interleaved = [unit, rows * unit, 1];
                    check([rows, columns, unit], apart, interleaved);
                    check([rows, columns, unit], interleaved, apart);
                }
            }
        }
    }
}

/// Several planes of interleaved rows follow each other, and their rows begin anywhere in a line.
#[test]
fn planes_whose_rows_are_interleaved() {
    for (rows, columns, unit) in [(2, 41, 12), (2, 300, 3), (3, 77, 24), (2, 400, 20), (4, 31, 20), (3, 90, 6)] {
        let whole = rows * columns * unit;
        for gap in [0, 8, 13] {
            let sizes = [5, rows, columns, unit];
            let apart = [whole + rows * gap, columns * unit + gap, unit, 1];
            let interleaved = [whole + gap, unit, rows * unit, 1];
            check(sizes, apart, interleaved);
            check(sizes, interleaved, apart);
        }
    }
}
