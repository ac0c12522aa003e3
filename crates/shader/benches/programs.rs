//! What the compute shaders of a planned relayout cost, with their text: nanoseconds and allocations of
//! `Program::new` for every pair of the relayout suite.
//!
//! ```text
//! cargo bench -p tensor-layout-shader -- [--only PART_OF_A_NAME]
//! ```
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use std::hint::black_box;

use tensor_layout::relayout::Relayout;
use tensor_layout_shader::{Profile, Program};
use tensor_layout_text::Layout;

#[path = "../../../benches/measure/mod.rs"]
#[expect(dead_code, reason = "its lines for programs are the other bench's")]
mod measure;

fn main() {
    // `cargo test --benches` runs this file as well: there is nothing to test then.
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let only = arguments.iter().position(|argument| argument == "--only").map(|place| arguments[place + 1].as_str());
    let mut most = 0_f64;
    let lines = include_str!("../../../benches/relayout_suite.tsv").lines();
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [size, case, from, to] = fields[..] else { panic!("a line of four fields: {line}") };
        let name = format!("{size}/{case}");
        if only.is_some_and(|part| !name.contains(part)) {
            continue;
        }
        let [from, to]: [Layout; 2] = [from, to].map(|text| text.parse().unwrap());
        let (relayout, profile) = (Relayout::new(&from, &to).unwrap(), Profile::webgpu());
        let cost = measure::measure(|| Program::new(black_box(&relayout), &profile).unwrap());
        println!("{name:<36}{:>12.0} ns, {:.0} allocations", cost.nanoseconds, cost.allocations);
        most = most.max(cost.nanoseconds);
    }
    println!("{most:.0} ns at most");
}
