//! Layouts of a few words, as many tests need them.

use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_text::Layout;

pub(crate) fn map(text: &str) -> IndexMap {
    let layout: Layout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    layout.to_index_map().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn desc(text: &str) -> BufferTensorDesc {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn shape(text: &str) -> ArrayShape {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A tensor of `f32`.
pub(crate) fn strided(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap()
}

/// A tensor of `f32`.
pub(crate) fn packed(sizes: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::packed(DataType::F32, sizes).unwrap()
}
