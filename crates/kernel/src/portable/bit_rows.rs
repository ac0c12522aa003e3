//! Copies of a row of bits that may start at any bit of a byte, eight bytes at a time.

fn byte(bit: u64) -> usize {
    number(bit / 8)
}

fn number(number: u64) -> usize {
    // Nothing saturates: the number is an index into a buffer.
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Copies a row of `bits` bits from bit `from` of the source to bit `to` of the destination. The bits around
/// the row keep their values.
///
/// # Panics
///
/// If the row is not inside both buffers.
pub fn copy_row(source: &[u8], from: u64, destination: &mut [u8], to: u64, bits: u64) {
    // The row is its head, the bits up to the first whole byte of the destination, then whole bytes, then its
    // tail.
    let head = (to.next_multiple_of(8) - to).min(bits);
    let (whole, tail) = ((bits - head) / 8, (bits - head) % 8);
    if head > 0 {
        put(destination, to, head, take(source, from, head));
    }
    if whole > 0 {
        let (from, to) = (from + head, byte(to + head));
        shifted(&source[byte(from)..], from % 8, &mut destination[to..to + number(whole)]);
    }
    if tail > 0 {
        let done = head + 8 * whole;
        put(destination, to + done, tail, take(source, from + done, tail));
    }
}

/// Fills the destination with source bits, from bit `shift` of the first source byte on.
fn shifted(source: &[u8], shift: u64, destination: &mut [u8]) {
    if shift == 0 {
        return destination.copy_from_slice(&source[..destination.len()]);
    }
    let (words, rest) = destination.as_chunks_mut::<8>();
    let after = 8 * words.len();
    let (low, high) = (source.as_chunks::<8>().0, source[1..].as_chunks::<8>().0);
    for ((word, low), high) in words.iter_mut().zip(low).zip(high) {
        // Eight bytes of the result need nine source bytes, loaded as two words that share seven.
        *word = ((u64::from_le_bytes(*low) >> shift) | (u64::from_le_bytes(*high) << (8 - shift))).to_le_bytes();
    }
    for (byte, pair) in rest.iter_mut().zip(source[after..].windows(2)) {
        *byte = (pair[0] >> shift) | (pair[1] << (8 - shift));
    }
}

/// Reads `bits` bits, at most 8, from bit `start` on. The higher bits of the result may be anything.
fn take(source: &[u8], start: u64, bits: u64) -> u8 {
    let (first, shift) = (byte(start), start % 8);
    match source.get(first + 1) {
        Some(next) if shift + bits > 8 => (source[first] >> shift) | (next << (8 - shift)),
        _ => source[first] >> shift,
    }
}

/// Writes the low `bits` bits of `value` to the destination, from bit `start` on. They are all in one byte.
fn put(destination: &mut [u8], start: u64, bits: u64, value: u8) {
    let shift = start % 8;
    let mask = (u8::MAX >> (8 - bits)) << shift;
    let byte = &mut destination[byte(start)];
    *byte = (*byte & !mask) | ((value << shift) & mask);
}
