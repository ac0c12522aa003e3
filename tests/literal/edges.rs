//! The edges of the range of a number, where the arithmetic of sizes goes wrong first.

/// Small numbers, and 2^31, 2^32, 2^63 and 2^64 with their neighbours.
pub fn edges() -> Vec<u64> {
    let small = [0, 1, 2, 3, 5, 255, 4096];
    let around = [31, 32, 63].into_iter().flat_map(|bits| {
        let middle = 1_u64 << bits;
        [middle - 1, middle, middle + 1]
    });
    small.into_iter().chain(around).chain([u64::MAX - 1, u64::MAX]).collect()
}

/// Asks what `proofs/lemmas.py` proves of a model: `name` is that of the lemma.
#[track_caller]
pub fn lemma(name: &str, holds: bool, what: impl std::fmt::Debug) {
    assert!(holds, "{name} does not hold for {what:?}");
}
