//! Copies.

mod caches;
mod choices;
mod copy;
mod explain;
mod liars;
mod pieces;
pub(crate) mod plan_as_data;
mod plans;
mod properties;
mod reversed;
mod rows;
mod streamed;
mod swizzled;
mod threads;
mod widths;

use proptest::prelude::*;
use tensor_layout::relayout::{Level, Padding, Relayout};

use crate::literal::pairs::{Side, literal_copy, noise};
use crate::literal::replanned::{Replanned, levels, write_only};

/// Every kernel level this CPU has.
fn level() -> impl Strategy<Value = Level> {
    prop::sample::select(levels())
}

/// Runs a copy whole, in pieces, on threads and into memory that is only written, `shift` bytes into each
/// buffer, and compares each with the literal copy.
fn check(
    relayout: &Relayout,
    (from, to): (&Side, &Side),
    padding: Padding,
    shift: usize,
    pieces: usize,
) -> Result<(), TestCaseError> {
    let words = relayout.explain();
    let source = noise(shift + from.bytes() + 3, 1);
    let before = noise(shift + to.bytes() + 3, 2);
    let mut expected = before.clone();
    literal_copy(from, to, &source[shift..], &mut expected[shift..], padding);
    let mut destination = before.clone();
    relayout.run(&source[shift..], &mut destination[shift..]).unwrap();
    prop_assert!(destination == expected, "{}", words);
    let mut joined = before.clone();
    for piece in relayout.cut(pieces, 1) {
        let range = piece.destination_range();
        piece.run(&source[shift..], &mut joined[shift..][range]).unwrap();
    }
    prop_assert!(joined == expected, "in {} pieces: {}", pieces, words);
    #[cfg(feature = "rayon")]
    {
        let mut parallel = before.clone();
        relayout.run_parallel(&source[shift..], &mut parallel[shift..]).unwrap();
        prop_assert!(parallel == expected, "on threads: {}", words);
    }
    let mut written = before.clone();
    match relayout.run(&source[shift..], write_only(&mut written[shift..])) {
        Ok(()) => prop_assert!(written == expected, "without a read: {}", words),
        Err(error) => prop_assert!(error.code() == "destination_read" && written == before, "{}", words),
    }
    Ok(())
}
