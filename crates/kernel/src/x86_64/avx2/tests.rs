use super::*;

fn check<const UNIT: usize>() {
    // `joined` has, for each byte of three interleaved halves, the index of its source byte. `apart` is the
    // inverse of this permutation.
    let joined: Vec<usize> =
        (0..16 / UNIT).flat_map(|i| (0..3).flat_map(move |r| (0..UNIT).map(move |b| r * 16 + i * UNIT + b))).collect();
    let mut apart = vec![0; 48];
    joined.iter().enumerate().for_each(|(index, &byte)| apart[byte] = index);
    for (interleave, expected) in [(true, joined), (false, apart)] {
        let table = Three::<UNIT>::table(interleave);
        for (at, &byte) in expected.iter().enumerate() {
            let choices = table[at / 16].map(|half| half[at % 16]);
            let mut wanted = [0x80; 3];
            wanted[byte / 16] = (byte % 16).to_le_bytes()[0];
            assert_eq!(choices, wanted, "{UNIT} {interleave} {at}");
        }
    }
}

#[test]
fn tables_of_three_halves_take_every_byte_from_one_of_them() {
    check::<1>();
    check::<2>();
    check::<4>();
    check::<8>();
}
