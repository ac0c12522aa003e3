//! Random pairs of layouts, as the property tests of the crate have them.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tensor_layout::IndexMap;

use crate::literal::pairs::pair_of_any_widths;

pub(crate) use crate::literal::pairs::{padding, within};

/// Values of a strategy: TENSOR_LAYOUT_CASES of them, or `default`. Every run draws equal values.
pub(crate) fn values<S: Strategy>(strategy: &S, default: usize) -> impl Iterator<Item = S::Value> + '_ {
    let cases = std::env::var("TENSOR_LAYOUT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..cases).map(move |_| strategy.new_tree(&mut runner).expect("a value").current())
}

/// Two layouts of one tensor, either of any kind, with elements of any widths that are copied.
pub(crate) fn pair() -> impl Strategy<Value = (IndexMap, IndexMap)> {
    pair_of_any_widths().prop_map(|(from, to)| (from.map, to.map))
}
