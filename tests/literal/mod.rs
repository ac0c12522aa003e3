//! The literal meaning of a tiled layout, written with ndarray. The elements are numbered, the dimensions are
//! put in physical order, and each tile combines, pads, reshapes and transposes, as XLA's page says.
//!
//! This code shares no line with the crate's own evaluation.
#![allow(dead_code, unreachable_pub, reason = "some programs of tests have it as a module, and use a part of it")]

pub mod bits;
pub mod blocked;
mod cases;
pub mod edges;
pub mod pairs;
pub mod replanned;

#[allow(unused_imports, reason = "wgpu's tests take no cases from here")]
pub use cases::cases;

use ndarray::{ArrayD, IxDyn, Slice};
use proptest::prelude::*;
use tensor_layout::tiled::{Layout, Tile, TileSize};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};

/// For every physical place, the logical row-major number of its element, or `None` for padding.
pub fn physical(shape: &ArrayShape) -> Vec<Option<usize>> {
    let sizes: Vec<usize> = shape.sizes().iter().map(|&size| size as usize).collect();
    let count = sizes.iter().product();
    let mut array = ArrayD::from_shape_vec(sizes, (0..count).map(Some).collect()).unwrap();
    let order: Vec<usize> = shape.layout().minor_to_major().iter().rev().copied().collect();
    array = array.permuted_axes(order);
    for tile in shape.layout().tiles() {
        array = apply(array, tile);
    }
    let mut flat: Vec<_> = array.iter().copied().collect();
    let tail = shape.layout().tail_padding_alignment as usize;
    flat.resize(flat.len().next_multiple_of(tail), None);
    flat
}

fn apply(array: ArrayD<Option<usize>>, tile: &Tile) -> ArrayD<Option<usize>> {
    let mut dims = array.shape().to_vec();
    while dims.len() < tile.entries().len() {
        dims.insert(0, 1);
    }
    let prefix = dims.len() - tile.entries().len();
    // Combine.
    let (mut combined, mut sizes, mut product) = (dims[..prefix].to_vec(), vec![], 1);
    for (&dim, entry) in dims[prefix..].iter().zip(tile.entries()) {
        product *= dim;
        if let TileSize::Size(size) = entry {
            combined.push(product);
            sizes.push(size.get() as usize);
            product = 1;
        }
    }
    let array = array.as_standard_layout().into_owned().into_shape_with_order(IxDyn(&combined)).unwrap();
    // Pad.
    let mut padded = combined.clone();
    for (dim, &size) in padded[prefix..].iter_mut().zip(&sizes) {
        *dim = dim.next_multiple_of(size);
    }
    let mut full = ArrayD::from_elem(IxDyn(&padded), None);
    full.slice_each_axis_mut(|axis| Slice::from(0..combined[axis.axis.index()])).assign(&array);
    // Reshape.
    let mut split = padded[..prefix].to_vec();
    for (&dim, &size) in padded[prefix..].iter().zip(&sizes) {
        split.extend([dim / size, size]);
    }
    let full = full.into_shape_with_order(IxDyn(&split)).unwrap();
    // Transpose: the counts of tiles come first, and then the places inside a tile.
    let mut axes: Vec<usize> = (0..prefix).collect();
    axes.extend((0..sizes.len()).map(|i| prefix + 2 * i));
    axes.extend((0..sizes.len()).map(|i| prefix + 2 * i + 1));
    full.permuted_axes(axes).as_standard_layout().into_owned()
}

/// The offset of every index in row-major order.
pub fn offsets(shape: &ArrayShape) -> Vec<usize> {
    offsets_of(&physical(shape))
}

/// The offset of every element, by its number.
fn offsets_of(places: &[Option<usize>]) -> Vec<usize> {
    let mut offsets = vec![0; places.iter().flatten().count()];
    for (offset, element) in places.iter().enumerate() {
        if let Some(element) = element {
            offsets[*element] = offset;
        }
    }
    offsets
}

/// The offset of every index of a strided tensor in row-major order.
pub fn strided_offsets(desc: &BufferTensorDesc) -> Vec<usize> {
    each_index(desc.sizes())
        .map(|index| {
            let dot: u64 = index.iter().zip(desc.strides()).map(|(i, s)| i * s).sum();
            (desc.base_offset() + dot) as usize
        })
        .collect()
}

/// Every index in row-major order.
pub fn indices(sizes: &[u64]) -> std::vec::IntoIter<Vec<u64>> {
    each_index(sizes).collect::<Vec<_>>().into_iter()
}

fn each_index(sizes: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let shape: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
    ndarray::indices(IxDyn(&shape))
        .into_iter()
        .map(|i| (0..ndarray::Dimension::ndim(&i)).map(|axis| i[axis] as u64).collect())
}

/// Sizes of a small tensor, some of which are 0 or 1.
pub fn sizes(max_rank: usize, max: u64) -> impl Strategy<Value = Vec<u64>> {
    let size = prop_oneof![1 => Just(1_u64), 8 => 1..=max];
    prop_oneof![
        24 => prop::collection::vec(size, 0..=max_rank),
        1 => prop::collection::vec(0..=3_u64, 1..=max_rank),
    ]
}

/// The kinds of tiles that a random layout has.
#[derive(Clone, Copy, Debug)]
pub enum Tiles {
    /// Tiles whose entries are 1, 2, 4 and 8.
    PowersOfTwo,
    /// Tiles whose entries are 1 to 6, none of them `*`.
    Ragged,
    /// Tiles whose entries are 1 to 6, or `*` wherever it is legal.
    Combined,
}

/// A random layout of these sizes. It has up to three tiles, some longer than the rank, and sometimes a tail
/// alignment.
pub fn shape_of(sizes: Vec<u64>, kind: Tiles, data_type: DataType) -> impl Strategy<Value = ArrayShape> {
    let rank = sizes.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let entry = move || match kind {
        Tiles::PowersOfTwo => prop::sample::select(vec![1_i64, 2, 4, 8]).boxed(),
        Tiles::Ragged => (1..=6_i64).boxed(),
        Tiles::Combined => prop_oneof![3 => 1..=6_i64, 1 => Just(-1_i64)].boxed(),
    };
    let tile = (prop::collection::vec(entry(), 0..=4), 1..=6_i64).prop_map(|(mut entries, last)| {
        if entries.last() == Some(&-1) {
            *entries.last_mut().unwrap() = last;
        }
        Tile::try_from(&entries[..]).unwrap()
    });
    let tail = prop_oneof![5 => Just(1_u64), 1 => 2..=9_u64];
    (order, prop::collection::vec(tile, 0..=3), tail).prop_map(move |(order, tiles, tail)| {
        let mut layout = Layout::new(&order).unwrap().with_tiles(&tiles);
        layout.tail_padding_alignment = tail;
        ArrayShape::new(data_type, &sizes, layout).unwrap()
    })
}

/// A random small tiled shape of any kind, with at most `limit` physical elements.
pub fn any_shape(limit: usize) -> impl Strategy<Value = ArrayShape> {
    let kind = prop::sample::select(vec![Tiles::PowersOfTwo, Tiles::Ragged, Tiles::Combined]);
    (sizes(4, 9), kind)
        .prop_flat_map(|(sizes, kind)| shape_of(sizes, kind, DataType::F32))
        .prop_filter("too large", move |shape| bounded(shape, limit))
}

/// Whether the padded shape has at most `limit` elements. The count is an upper bound at first, computed
/// without the crate.
pub fn bounded(shape: &ArrayShape, limit: usize) -> bool {
    let mut count: f64 = shape.sizes().iter().map(|&size| size.max(1) as f64).product();
    for tile in shape.layout().tiles() {
        for entry in tile.entries() {
            if let TileSize::Size(size) = entry {
                count *= size.get() as f64;
            }
        }
    }
    // Padding multiplies a dimension by less than its tile size, and usually by much less.
    count < limit as f64 * 500.0 && physical(shape).len() <= limit
}
