//! Elements that are not whole bytes.

use smallvec::SmallVec;

use crate::element::{read_bits, write_bits};
use crate::map::{CopyBox, Loop};

use super::execute::each_element;
use super::schedule::{Kernel, LONGEST_TRANSPOSED, Nest, Step, Stride, Turns, along_source};

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

/// The nest of a box of rows that take turns on one side, if it is one, and all begin and end at whole bytes.
pub(super) fn in_turns(copy: &CopyBox, bits: u32) -> Option<Nest> {
    let place = |test: fn(u64, u64) -> bool| {
        copy.loops
            .iter()
            .position(|step| matches!(step, Loop::Strided { source, destination, .. } if test(*source, *destination)))
    };
    let (across, along) = (place(|source, _| source == 1)?, place(|_, destination| destination == 1)?);
    let (
        Loop::Strided { extent: columns, destination: target, .. },
        Loop::Strided { extent: rows, source: origin, .. },
    ) = (copy.loops.get(across)?, copy.loops.get(along)?)
    else {
        return None;
    };
    let in_bytes = |elements: u64| -> Option<usize> {
        let total = elements.checked_mul(bits.into())?;
        total.is_multiple_of(8).then(|| usize::try_from(total / 8).ok()).flatten()
    };
    let few = |rows: &u64| [2, 4, 8, 16, 32].contains(rows);
    let (apart, rows, columns, pitch) = if few(rows) && target == rows {
        (false, rows, columns, origin)
    } else if few(columns) && origin == columns {
        (true, columns, rows, target)
    } else {
        return None;
    };
    if across == along || ![1, 2, 4].contains(&bits) {
        return None;
    }
    let (bits, rows) = (usize::try_from(bits).ok()?, usize::try_from(*rows).ok()?);
    let turns = Turns { bits, rows, row: in_bytes(*columns)?, pitch: in_bytes(*pitch)?, apart };
    let mut loops: SmallVec<[Step; 6]> = SmallVec::new();
    for (i, step) in copy.loops.iter().enumerate() {
        match step {
            _ if i == across || i == along => {}
            Loop::Strided { extent, source, destination } => loops.push(Step::Strided(Stride {
                extent: usize::try_from(*extent).ok()?,
                source: in_bytes(*source)?,
                destination: in_bytes(*destination)?,
            })),
            Loop::Table(entries) => {
                let entries = entries.iter().map(|&(a, b)| Some((in_bytes(a)?, in_bytes(b)?)));
                loops.push(Step::Table(entries.collect::<Option<_>>()?));
            }
        }
    }
    if !turns.apart && turns.rows.saturating_mul(turns.row) > LONGEST_TRANSPOSED {
        along_source(&mut loops);
    }
    Some(Nest::around(Kernel::Turns(turns), loops, in_bytes(copy.source)?, in_bytes(copy.destination)?))
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
