//! Elements that are not whole bytes.

use crate::element::{read_bits, write_bits};
use crate::map::{CopyBox, Loop};

use super::execute::each_element;

/// The same box over whole bytes, if nothing in it begins or ends inside one.
///
/// The innermost loop must be packed on both sides and fill whole bytes; every other stride and both bases must be
/// whole bytes as well.
pub(super) fn in_whole_bytes(copy: &CopyBox, bits: u32) -> Option<CopyBox> {
    let in_bytes = |elements: u64| -> Option<u64> {
        let total = elements.checked_mul(bits.into())?;
        total.is_multiple_of(8).then_some(total / 8)
    };
    let (last, outer) = copy.loops.split_last()?;
    let Loop::Strided { extent, source: 1, destination: 1 } = last else { return None };
    let mut whole =
        CopyBox { source: in_bytes(copy.source)?, destination: in_bytes(copy.destination)?, loops: copy.loops.clone() };
    whole.loops.clear();
    for step in outer {
        whole.loops.push(match step {
            Loop::Strided { extent, source, destination } => {
                Loop::Strided { extent: *extent, source: in_bytes(*source)?, destination: in_bytes(*destination)? }
            }
            Loop::Table(entries) => {
                Loop::Table(entries.iter().map(|&(a, b)| Some((in_bytes(a)?, in_bytes(b)?))).collect::<Option<_>>()?)
            }
        });
    }
    whole.loops.push(Loop::Strided { extent: in_bytes(*extent)?, source: 1, destination: 1 });
    Some(whole)
}

/// Copies a box element by element, and says how many bytes that were.
pub(super) fn run(copy: &CopyBox, bits: u32, source: &[u8], destination: &mut [u8]) -> u64 {
    let width = u64::from(bits);
    let mut elements = 0_u64;
    each_element(&copy.loops, copy.source, copy.destination, &mut |from, to| {
        elements = elements.saturating_add(1);
        // `None` only past the end of a buffer, and the buffers were measured.
        if let Some(value) = read_bits(source, from.saturating_mul(width), bits) {
            let _ = write_bits(destination, to.saturating_mul(width), bits, value);
        }
    });
    elements.saturating_mul(width).div_ceil(8)
}
