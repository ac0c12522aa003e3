use super::*;

/// Reads a field bit by bit, in the order that the module documents.
fn literal(bytes: &[u8], start: usize, width: usize) -> u128 {
    (0..width).fold(0, |value, i| {
        let bit = start + i;
        value | (u128::from(bytes[bit / 8] >> (bit % 8) & 1) << i)
    })
}

#[test]
fn every_field_of_a_buffer_reads_and_writes_as_the_literal_one() {
    let bytes: Vec<u8> = (0..20_u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
    for start in 0..40_u64 {
        for width in [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 31, 64, 100, 120] {
            let (s, w) = (usize::try_from(start).unwrap(), width as usize);
            let old = literal(&bytes, s, w);
            assert_eq!(read_bits(&bytes, start, width), Some(old));
            let mut changed = bytes.clone();
            let new = !old & mask(width);
            write_bits(&mut changed, start, width, !old).unwrap();
            assert_eq!(literal(&changed, s, w), new);
            write_bits(&mut changed, start, width, old).unwrap();
            assert_eq!(changed, bytes, "bits outside the field changed");
        }
    }
    assert_eq!(read_bits(&bytes, 16 * 8, 33), None);
    assert_eq!(read_bits(&bytes, u64::MAX, 8), None);
    assert_eq!(write_bits(&mut [0; 32], 0, 129, 0), None);
}
