//! `tensor-layout` in the browser: each function answers one question of the page, as JSON text.
//!
//! Numbers beyond 2^53 are not numbers in JavaScript, so every size and offset is a decimal string. A
//! question that cannot be answered gets `{"error": {"message", "code", "column"}}`, the column counted from
//! 1 and `null` if no text is at fault.

mod answer;
mod comparison;
mod description;
mod place;
#[cfg(test)]
mod tests;
mod tpu;
mod upload;
mod view;

use wasm_bindgen::prelude::wasm_bindgen;

/// Everything about one layout: sizes, bytes, class, lowering, notations.
#[wasm_bindgen]
pub fn describe(layout: &str) -> String {
    answer::text(description::describe(layout))
}

/// The picture of a layout as SVG, or of its corner if it is large: `{"svg"}`.
#[wasm_bindgen]
pub fn picture(layout: &str) -> String {
    answer::text(description::picture(layout))
}

/// Like [`picture`], around the index (as `1,2`) if the layout is large.
#[wasm_bindgen]
pub fn picture_around(layout: &str, index: &str) -> String {
    answer::text(description::picture_around(layout, index))
}

/// Where the element at `index` (as `1,2`) is stored, and how that is calculated.
#[wasm_bindgen]
pub fn place(layout: &str, index: &str) -> String {
    answer::text(place::of_index(layout, index))
}

/// What is stored at an offset: an index and how it leads there, or padding.
#[wasm_bindgen]
pub fn inverse(layout: &str, offset: &str) -> String {
    answer::text(place::of_offset(layout, offset))
}

/// Do two layouts put every element at the same place? If not, where first?
#[wasm_bindgen]
pub fn compare(first: &str, second: &str) -> String {
    answer::text(comparison::compare(first, second))
}

/// The copy from one layout to the other: the plan as text, its loop nests, and the first contiguous runs in
/// order.
#[wasm_bindgen]
pub fn relayout(source: &str, destination: &str) -> String {
    answer::text(comparison::relayout(source, destination))
}

/// The layout of a view. `steps` are lines of a name, a blank and an argument: `permute 1,0`.
#[wasm_bindgen]
pub fn view(layout: &str, steps: &str) -> String {
    answer::text(view::view(layout, steps))
}

/// The names of the sets of limits, as a list.
#[wasm_bindgen]
pub fn limit_names() -> String {
    answer::text(Ok(upload::limit_names()))
}

/// May a tensor of this layout be bound at `offset` bytes in a buffer of `bytes` bytes?
#[wasm_bindgen]
pub fn check(layout: &str, limits: &str, bytes: &str, offset: &str, is_output: bool) -> String {
    answer::text(upload::check(layout, limits, bytes, offset, is_output))
}

/// The layout that the compiler of a TPU generation gives to bare sizes, beside row-major.
#[wasm_bindgen]
pub fn tpu(sizes: &str, generation: &str) -> String {
    answer::text(tpu::choose(sizes, generation))
}
