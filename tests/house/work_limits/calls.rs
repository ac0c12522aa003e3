//! Calls that are checked against the limits, for every hostile layout and for copies between them.

use std::sync::LazyLock;

use tensor_layout::BufferTensorDesc;
use tensor_layout::map::IndexMap;
use tensor_layout::relayout::Relayout;

use super::hostile::{Subject, others, subjects};
use super::steps::{self, MOST_STEPS};
use crate::counting;

/// The most memory that a call may hold at a time.
pub(crate) const MOST_BYTES: u64 = 100_000_000;

/// Runs one call and checks it against the limits.
pub(crate) fn limited<T>(name: &str, text: &str, operation: impl FnOnce() -> T) -> T {
    let ((result, bytes), steps) =
        steps::counted(&format!("{name} of {text}"), || counting::most_bytes(std::hint::black_box(operation)));
    if std::env::var_os("WORK_LIMITS_SHOWN").is_some() && (steps > MOST_STEPS / 10 || bytes > MOST_BYTES / 10) {
        println!("{name}: {steps} steps, {bytes} bytes: {text}");
    }
    assert!(bytes <= MOST_BYTES, "{name} of {text} takes {bytes} bytes, more than {MOST_BYTES}");
    assert!(steps <= MOST_STEPS, "{name} of {text} takes {steps} steps, more than {MOST_STEPS}");
    result
}

/// Runs one call for every layout.
pub(crate) fn each<T>(name: &str, operation: impl Fn(&Subject) -> T) {
    for subject in &subjects() {
        limited(name, &subject.text, || operation(subject));
    }
}

/// Runs an operation on each layout, and on its reshape to one dimension, which joins all digits of the
/// layout in one chain.
pub(crate) fn each_map<T>(name: &str, operation: impl Fn(&IndexMap) -> T) {
    for Subject { text, map, .. } in &subjects() {
        limited(name, text, || operation(map));
        if let Ok(line) = limited("reshape", text, || map.reshape(&[map.element_count()])) {
            limited(name, &format!("{text} in one dimension"), || operation(&line));
        }
    }
}

/// Runs an operation on each descriptor.
pub(crate) fn each_desc<T>(name: &str, operation: impl Fn(&BufferTensorDesc) -> T) {
    for Subject { text, desc, .. } in &subjects() {
        if let Some(desc) = desc {
            limited(name, text, || operation(desc));
        }
    }
}

/// Copies between each layout and some others, both ways.
pub(crate) static PLANS: LazyLock<Vec<(String, Relayout)>> = LazyLock::new(|| {
    let mut plans = Vec::new();
    for Subject { text, map, .. } in &subjects() {
        for other in others(map).iter().chain([map]) {
            for (from, to) in [(map, other), (other, map)] {
                let plan = limited("Relayout::new", text, || Relayout::new(from, to));
                plans.extend(plan.ok().map(|plan| (text.clone(), plan)));
            }
        }
    }
    plans
});

/// Runs an operation on each copy.
pub(crate) fn each_plan<T>(name: &str, operation: impl Fn(&Relayout) -> T) {
    for (text, plan) in PLANS.iter() {
        limited(name, text, || operation(plan));
    }
}
