//! What the crate does, seen from outside: a module a topic.

mod assigned;
mod auto_traits;
mod dumps;
mod joined_lines;
mod loops;
mod memory;
mod memory_names;
mod memory_sharing;
mod memory_tpu;
mod operations;
mod out_of_memory;
mod report;
mod reports_of_people;

/// The text as one of a TPU: most of its results are tiled. A computation that is never called has them.
fn for_a_tpu(text: &str) -> String {
    let (header, rest) = text.split_once("\n").unwrap();
    let results: String = (0..99).map(|i| format!("  %tiled.{i} = f32[1]{{0:T(128)}} negate(%tiled)\n")).collect();
    format!(
        "{header}\n%unused (tiled: f32[1]) -> f32[1] {{\n  %tiled = f32[1]{{0:T(128)}} parameter(0)\n{results}}}\n{rest}"
    )
}
