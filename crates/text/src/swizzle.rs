//! The suffix ` xor<bytes 4-6 ^= 7-9>` of a text: bits of the offset that higher bits flip.
//!
//! A bit that is flipped is followed by the bits that flip it: a range of bits by a range as long, or one bit
//! by a sum. The unit is part of the suffix. For the 128 byte mode of f16, CuTe prints `S<3,4,3> o 0 o
//! (8,64):(64,1)`. There 3,4,3 are bits of a byte offset, and the layout counts elements. If the same object
//! is called as a function, both count elements.

use tensor_layout::Error;
use tensor_layout::cursor::Cursor;
use tensor_layout::map::{Flip, IndexMap, Swizzle};

/// Returns the suffix of a swizzle. The text is empty if there is no swizzle.
pub(crate) fn suffix(swizzle: Option<&Swizzle>, element_bits: u32) -> String {
    swizzle.map_or_else(String::new, |swizzle| format!(" xor<{}>", swizzle.text(element_bits)))
}

/// Reads a swizzle after `xor<`, up to `>`.
pub(crate) fn read(cursor: &mut Cursor<'_>, element_bits: u32) -> Result<Swizzle, Error> {
    let unit = cursor.position();
    let in_bytes = match cursor.word() {
        "bytes" => true,
        "elements" => false,
        _ => return Err(cursor.error_at(unit, "`bytes` or `elements`, in which the bits are counted")),
    };
    let flips = cursor.list(">", |cursor| {
        let start = cursor.position();
        let targets = bits(cursor)?;
        cursor.expect("^=", "`^=` and the bits that flip them")?;
        let sources = bits(cursor)?;
        let mut by = sources.first().map_or(0, |&bit| mask(bit));
        while sources.len() == 1 && cursor.eat("+") {
            by ^= bits(cursor)?.iter().fold(0, |sum, &bit| sum ^ mask(bit));
        }
        if sources.len() != targets.len() {
            return Err(cursor.error_at(start, "as many bits on both sides of `^=`"));
        }
        let is_sum = by.count_ones() != 1;
        let of = |(&bit, &source): (&u32, &u32)| (bit, if is_sum { by } else { mask(source) });
        Ok(targets.iter().zip(&sources).map(of).collect::<Vec<_>>())
    })?;
    let flips = flips.concat();
    if in_bytes { Swizzle::from_bytes(&flips, element_bits) } else { Swizzle::new(&flips) }
}

/// The units of the bits of CuTe's `S<B,M,S>`: bytes and elements.
pub(crate) const UNITS: [(&str, bool); 2] = [("b", true), ("e", false)];

/// Returns CuTe's text of a swizzled map, `f16 S<3,4,3>b o 0 o (8,64):(64,1)`, with a letter for its unit.
/// `None` if its bits are no single run.
pub(crate) fn composed_text(map: &IndexMap, plain: &str) -> Option<String> {
    let flips = map.swizzle()?.flips();
    let first = flips.first()?;
    let shift = first.by.trailing_zeros().checked_sub(first.bit)?;
    let in_a_run = |(bit, flip): (u32, &Flip)| flip.bit == bit && flip.by == mask(bit.saturating_add(shift));
    if !(first.bit..).zip(flips).all(in_a_run) {
        return None;
    }
    // CuTe counts bits of the byte offset if elements are whole bytes.
    let bytes = map.element_bits().checked_div(8).filter(|_| map.element_bits().is_multiple_of(8));
    let (unit, lowest) = match bytes.filter(|bytes| bytes.is_power_of_two()) {
        Some(bytes) => ("b", first.bit.checked_add(bytes.trailing_zeros())?),
        None => ("e", first.bit),
    };
    let layout = plain.strip_prefix(&map.data_type().to_string())?;
    Some(format!("{} S<{},{lowest},{shift}>{unit} o {} o {layout}", map.data_type(), flips.len(), map.base()))
}

pub(crate) fn mask(bit: u32) -> u64 {
    1_u64.checked_shl(bit).unwrap_or(0)
}

/// Reads one bit, or a range of bits such as `4-6`.
fn bits(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, Error> {
    let mut bit = |what: &str| {
        let start = cursor.position();
        let number = cursor.number(what)?;
        let found = u32::try_from(number).ok().filter(|&bit| bit < 64);
        found.ok_or_else(|| cursor.error_at(start, "a bit below 64"))
    };
    let first = bit("a bit, or bits such as 4-6")?;
    let start = cursor.position();
    if !cursor.eat("-") {
        return Ok(vec![first]);
    }
    let mut bit = |what: &str| cursor.number(what).map(u32::try_from);
    match bit("the last bit of a range")? {
        Ok(last) if (first..64).contains(&last) => Ok((first..=last).collect()),
        _ => Err(cursor.error_at(start, "a last bit below 64, and not below the first")),
    }
}
