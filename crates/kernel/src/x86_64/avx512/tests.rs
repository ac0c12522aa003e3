use super::tables::{deinterleaved, interleaved, widened};
use super::*;

/// For each byte of three interleaved rows of units, its index among the bytes of the rows.
fn three_rows(unit: usize, row: usize) -> Vec<usize> {
    (0..row / unit).flat_map(|i| (0..3).flat_map(move |r| (0..unit).map(move |b| r * row + i * unit + b))).collect()
}

#[test]
fn tables_of_two_registers_name_the_bytes_of_a_b_a_b() {
    let bytes = |table: [u8; 64]| table.map(usize::from).to_vec();
    for unit in [1, 2, 4, 8, 16] {
        let units = 0..64 / unit;
        let walked: Vec<usize> = units
            .clone()
            .flat_map(|i| [0, 64].into_iter().flat_map(move |register| (0..unit).map(move |b| register + i * unit + b)))
            .collect();
        assert_eq!([bytes(interleaved(unit, 0)), bytes(interleaved(unit, 64))].concat(), walked, "{unit}");
        let every_other = |odd: usize| -> Vec<usize> {
            units.clone().flat_map(|i| (0..unit).map(move |b| (2 * i + odd) * unit + b)).collect()
        };
        assert_eq!(bytes(deinterleaved(unit, 0)), every_other(0), "{unit}");
        assert_eq!(bytes(deinterleaved(unit, 1)), every_other(1), "{unit}");
        // A permutation of wider units takes the index of a unit in its first byte, and ignores the other
        // bytes.
        let wide = widened(deinterleaved(unit, 1), unit);
        for (at, &number) in wide.iter().enumerate() {
            let expected = if at % unit == 0 { every_other(1)[at] / unit } else { 0 };
            assert_eq!(usize::from(number), expected, "{unit} {at}");
        }
    }
}

fn check_three<const UNIT: usize>() {
    let joined = three_rows(UNIT, 64);
    // For each byte of the rows, its index among the interleaved bytes.
    let mut apart = vec![0; 192];
    joined.iter().enumerate().for_each(|(index, &byte)| apart[byte] = index);
    for (interleave, expected) in [(true, joined), (false, apart)] {
        let (first, second) = (Three::<UNIT>::table(interleave, false), Three::<UNIT>::table(interleave, true));
        for (at, &byte) in expected.iter().enumerate() {
            let [first, second] = [first, second].map(|table| usize::from(table[at / 64][at % 64]));
            // The first step chooses among 128 bytes. The second step chooses among the result and the third
            // register.
            let found = if second < 64 {
                usize::from(Three::<UNIT>::table(interleave, false)[at / 64][second])
            } else {
                second + 64
            };
            assert_eq!(found, byte, "{UNIT} {interleave} {at} {first}");
        }
    }
}

#[test]
fn tables_of_three_registers_name_every_byte_in_two_steps() {
    check_three::<1>();
    check_three::<2>();
    check_three::<4>();
    check_three::<8>();
}

#[test]
fn rows_in_a_cache_are_loaded_as_transposed() {
    if !std::is_x86_feature_detected!("avx512vbmi") {
        return;
    }
    let rows: [[u8; 64]; 4] = std::array::from_fn(|row| std::array::from_fn(|i| u8::try_from(64 * row + i).unwrap()));
    let pointers = rows.each_ref().map(|row| row.as_ptr());
    /// Runs the comparison with the features of the vector.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn loaded(rows: [*const u8; 4], in_cache: bool) -> [[u8; 64]; 4] {
        let mut bytes = [[0; 64]; 4];
        // SAFETY: 64 bytes at each pointer, and the features, are the contract of this function.
        unsafe {
            for (line, bytes) in Zmm::load_transposed::<4>(rows, in_cache).into_iter().zip(&mut bytes) {
                line.store(bytes.as_mut_ptr());
            }
        }
        bytes
    }
    let expected: [[u8; 64]; 4] = std::array::from_fn(|line| std::array::from_fn(|i| rows[i / 16][16 * line + i % 16]));
    // SAFETY: the CPU has the instructions, and the rows have 64 bytes.
    unsafe { assert_eq!([loaded(pointers, true), loaded(pointers, false)], [expected; 2]) };
}
