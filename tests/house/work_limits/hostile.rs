//! Layouts of at most 200 bytes of text, or of rank 64, that require the most work.

use tensor_layout::tiled;
use tensor_layout::{ArrayShape, BufferTensorDesc, IndexMap, ToIndexMap};
use tensor_layout_text::Layout;

/// One layout, as a text, as a map, and as a descriptor or a shape if it is one.
pub(crate) struct Subject {
    pub(crate) text: String,
    pub(crate) notated: Layout,
    pub(crate) map: IndexMap,
    pub(crate) desc: Option<BufferTensorDesc>,
    pub(crate) shape: Option<ArrayShape>,
}

fn list(items: impl IntoIterator<Item = u64>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

fn minor_last(rank: u64) -> String {
    list((0..rank).rev())
}

/// A layout of rank `rank` with sizes of 3, in tiles of 2 x 2 x ... Every dimension has a ragged edge.
fn tiles_of_two(rank: u64) -> String {
    let (sizes, tiles) = (list((0..rank).map(|_| 3)), list((0..rank).map(|_| 2)));
    format!("u8[{sizes}]{{{}:T({tiles})}}", minor_last(rank))
}

fn strided(sizes: impl IntoIterator<Item = u64>, strides: impl IntoIterator<Item = u64>) -> String {
    format!("u8[{}]:[{}]", list(sizes), list(strides))
}

/// Tiles in tiles. Each tile is smaller than the tile around it by the factor `ratio` (in tenths), so blocks
/// do not divide each other.
fn ragged(ratio: u64, digits: usize, size: impl Fn(u64) -> u64) -> String {
    let mut tiles = vec![2_u64];
    while tiles.len() <= digits {
        let last = tiles[tiles.len() - 1];
        let next = (last * ratio).div_ceil(10);
        tiles.push(if next.is_multiple_of(last) { next + 1 } else { next });
    }
    let top = tiles.pop().unwrap();
    let tiles: String = tiles.iter().rev().map(|tile| format!("({tile})")).collect();
    format!("u8[{}]{{0:T{tiles}}}", size(top))
}

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        // These have no elements, or an overlap that is found late.
        "f32[1000000000,0,3]",
        "f32[1073741824,1073741823]:[1073741823,1073741824]",
        "f32[1073741824,1073741824]:[0,1]",
        // These have strides that do not nest, or nest by a small margin.
        "f32[100,100,100]:[10007,10009,10037]",
        "f32[65536,65536,65536]:[65537,65539,65543]",
        // These have buffers as large as memory has addresses, and padding of that size.
        "f32[1152921504606846975]",
        "f32[1000000,1000000]{0,1}",
        "f32[4000000,1]{1,0:T(4194301)}",
        "f32[3]{0:T(1000000007)(1000003)}",
        "u4[1000000007,3]:[5,1]",
        "s4[1000003,1000003]{1,0:T(32,32)E(4)}",
        // These have tiles that contradict each other, in the layout itself and with the tiles of `others`.
        "f32[1000000007,1000000009]{0,1:T(48,48)(32,32)}",
        "pred[1000000007,3]{1,0:T(7,5)(4,3)(3,2)(2,2)}",
        "f32[1000000000]{0:T(4)(2)(3)(2)}",
        // These have digits that cannot be separated.
        "f32[480,480,480]{2,1,0:T(2,3,2)(*,2,1)}",
        "f32[6000,6000]{1,0:T(*,7)(5)}",
        "f32[6000,6000]{1,0:T(2001,3001)(*,35)(7)(5,1)}",
        "f32[65537,65539]{1,0:T(*,65521)(32749)(16363)}",
        "f32[1000000007]{0:T(500000003)(250000013)(125000003)}",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([5, 12, 20, 31].map(tiles_of_two));
    texts.extend([
        ragged(16, 20, |top| top - 1),
        ragged(16, 27, |top| top - 1),
        ragged(21, 15, |top| top * 1_000_003),
        ragged(26, 20, |top| top * 1_000_003),
        format!("f32[999999999]{{0:T{}}}", (20..45).rev().map(|tile| format!("({tile})")).collect::<String>()),
        format!("f32[9,9,9,9]{{3,2,1,0:T{}}}", "(5)(*,7)".repeat(12)),
        format!("f32[9999,9999]{{1,0:T(7,11){}}}", "(*,13,5)".repeat(15)),
        format!("f32[3]{{0:T{}}}", "(2)".repeat(60)),
        format!("f32[3]{{0:T({}2)}}", "1,".repeat(80)),
        format!("u8[{}]{{{}:T({}3)(2)}}", list([2; 31]), minor_last(31), "*,".repeat(30)),
        // These have ranks from 36 to 64.
        strided([2; 36], [1; 36]),
        strided([2; 60], (0..60).map(|axis| 1_000_003 + axis * 7919)),
        strided([2; 60], (0..60).map(|axis| 1 << (axis * 7 % 60))),
        strided([3; 28], (0..28).rev().map(|axis| 4_u64.pow(axis))),
        strided([1; 64], [7; 64]),
    ]);
    texts
}

pub(crate) fn subjects() -> Vec<Subject> {
    let subject = |text: String| {
        let notated: Layout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let map = notated.to_index_map().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(text.len() <= 200 || map.sizes().len() >= 20, "{} bytes: {text}", text.len());
        Subject { desc: text.parse().ok(), shape: text.parse().ok(), notated, map, text }
    };
    texts().into_iter().map(subject).collect()
}

/// Other layouts of these sizes: packed, in reverse order, and in tiles that contradict most other tiles.
pub(crate) fn others(map: &IndexMap) -> Vec<IndexMap> {
    let Ok(rows) = ArrayShape::row_major(map.data_type(), map.sizes()) else { return Vec::new() };
    let order: Vec<usize> = (0..map.sizes().len()).collect();
    let layouts = [
        rows.layout().clone(),
        tiled::Layout::new(&order).unwrap(),
        rows.layout().clone().with_tiles(&["(48,7)".parse().unwrap()]),
    ];
    let in_layout = |mut layout: tiled::Layout| {
        layout.element_bits = Some(map.element_bits());
        ArrayShape::new(map.data_type(), map.sizes(), layout).ok()?.to_index_map().ok()
    };
    layouts.into_iter().filter_map(in_layout).collect()
}
