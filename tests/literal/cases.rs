//! The number of cases of a property.

use proptest::prelude::ProptestConfig;

/// TENSOR_LAYOUT_CASES, or `default`. The cases differ each time, unless PROPTEST_RNG_SEED is set.
pub fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("TENSOR_LAYOUT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}
