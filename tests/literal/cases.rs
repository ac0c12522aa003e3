//! The number of cases of a property.

use proptest::prelude::ProptestConfig;

/// The most cases of a property in a plain `cargo test`.
const MOST: u32 = 256;

/// The number of cases that TENSOR_LAYOUT_CASES names; `own` is that of the property itself, `full`. Without
/// the variable it is `full`, but at most 256: `.ci/run` runs all. The cases differ each time, unless
/// PROPTEST_RNG_SEED is set.
pub fn cases(full: u32) -> ProptestConfig {
    let cases = match std::env::var("TENSOR_LAYOUT_CASES") {
        Ok(text) if text == "own" => full,
        Ok(text) => text.parse().unwrap_or(full),
        Err(_) => full.min(MOST),
    };
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}
