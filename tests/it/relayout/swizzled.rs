//! Copies from and to swizzled layouts, against the literal copy: the modes of CUDA's tensor maps in sizes
//! for which blocks are permuted together, and random swizzles of random strides.

use super::check;
use crate::literal::pairs::{Side, flips, padding, within};
use crate::literal::replanned::{Replanned, levels};
use crate::literal::{cases, indices};
use proptest::prelude::*;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::Layout;

fn check_all(from: &Side, to: &Side, padding: Padding, pieces: usize) -> Result<(), TestCaseError> {
    let padding = within(padding, from.map.element_bits());
    let plan = Relayout::new(&from.map, &to.map).unwrap().with_padding_of_whole_buffer(padding).unwrap();
    levels()
        .into_iter()
        .try_for_each(|level| check(&plan.clone().with_kernel_level(level), (from, to), padding, 0, pieces))
}

fn side(text: &str) -> Side {
    let map = text.parse::<Layout>().unwrap().to_index_map().unwrap();
    let offsets = indices(map.sizes()).map(|index| map.offset(&index).unwrap() as usize).collect();
    Side { elements: map.physical_elements() as usize, offsets, map }
}

/// The mode of this many bytes, for elements of `1 << shift` bytes.
fn mode(bytes: u32, shift: u32) -> Vec<(u32, u64)> {
    (4..bytes.trailing_zeros()).map(|bit| (bit - shift, 1_u64 << (bit + 3 - shift))).collect()
}

#[test]
fn the_modes_of_tensor_maps() {
    // Packed, padded rows, spans side by side, columns first, and rows that are no whole number of spans.
    for (text, shift, from) in [
        ("f16[256,64]:[64,1]", 1, "f16[256,64]:[64,1]"),
        ("f16[256,64]:[64,1]", 1, "f16[256,64]:[1,256]"),
        ("f16[256,64]:[64,1]", 1, "f16[256,64]:[72,1]+3"),
        ("f16(256,(64,2)):(64,(1,16384))", 1, "f16[256,128]:[128,1]"),
        ("f16[64,256]:[1,64]", 1, "f16[64,256]:[256,1]"),
        ("f16[250,64]:[64,1]", 1, "f16[250,64]:[64,1]"),
        ("f16[250,40]:[64,1]", 1, "f16[250,40]:[40,1]"),
        ("f32[512,32]:[32,1]", 2, "f32[512,32]:[32,1]"),
        ("s8[256,128]:[128,1]", 0, "s8[256,128]:[128,1]"),
        ("f64[256,16]:[16,1]", 3, "f64[256,16]:[16,1]"),
    ] {
        for bytes in [32, 64, 128] {
            let swizzled = side(text).swizzled(&mode(bytes, shift));
            let plain = side(from);
            for (from, to) in [(&plain, &swizzled), (&swizzled, &plain)] {
                check_all(from, to, Padding::Zero, 3).unwrap_or_else(|error| panic!("{text}, {bytes}: {error}"));
            }
        }
    }
    let [a, b] = [64, 128].map(|bytes| side("f16[256,64]:[64,1]").swizzled(&mode(bytes, 1)));
    check_all(&a, &b, Padding::Keep, 2).unwrap();
}

/// Offsets inside a window and of windows carry into bit 3, which is flipped.
#[test]
fn windows_that_overlap() {
    let windows = side("u8[8,4]:[2,1]").swizzled(&[(3, 1 << 4)]);
    check_all(&windows, &side("u8[8,4]:[4,1]"), Padding::Keep, 1).unwrap();
}

#[test]
fn blocks_of_a_swizzle_are_permuted_together() {
    let plain = side("f16[256,64]:[64,1]");
    let swizzled = plain.clone().swizzled(&mode(128, 1));
    for (from, to) in [(&plain, &swizzled), (&swizzled, &plain)] {
        let boxes = Relayout::new(&from.map, &to.map).unwrap();
        assert_eq!(boxes.passes().next().unwrap().box_count, 8);
    }
    // Rows 1 to 7 begin inside a span: pieces of one, two and four rows, and a box for each row.
    let part = swizzled.map.slice(&[1..8, 0..64]).unwrap();
    let boxes = Relayout::new(&part, &side("f16[7,64]:[72,1]").map).unwrap();
    assert_eq!(boxes.passes().map(|pass| pass.box_count).collect::<Vec<_>>(), [7]);
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn random_swizzles_of_powers_of_two(
        bits in Just((0..8_u32).collect::<Vec<_>>()).prop_shuffle(), cut in 1..8_usize, swizzles in [flips(), flips()],
        both: bool, odd in 0..3_u64, padding in padding(), pieces in 1..5_usize, data_type in prop::sample::select(vec![DataType::U8, DataType::F16, DataType::F32, DataType::S4]),
    ) {
        // An index of eight bits in two axes, each bit with a stride of its own, in any order.
        let (rows, columns) = bits.split_at(cut);
        let strides = |bits: &[u32]| bits.iter().map(|bit| format!("{}", 1_u64 << bit)).collect::<Vec<_>>().join(",");
        let twos = |count: usize| vec!["2"; count].join(",");
        let text = format!(
            "{data_type}(({}),({})):(({}),({}))", twos(cut), twos(8 - cut), strides(rows), strides(columns),
        );
        let (from, to) = (side(&text), {
            let sizes = [1 << cut, 1 << (8 - cut)];
            let desc = BufferTensorDesc::new(data_type, &sizes, Some(&[sizes[1] + odd, 1])).unwrap();
            Side::strided(&desc)
        });
        let from = from.swizzled(&swizzles[0]);
        let to = if both { to.swizzled(&swizzles[1]) } else { to };
        check_all(&from, &to, padding, pieces)?;
        check_all(&to, &from, padding, pieces)?;
    }
}
