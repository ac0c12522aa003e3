//! Copies that change the storage width of their elements, against the literal copy: 1, 2, 4 and 6 bits are
//! unpacked to 8 bits, and packed.

use super::{check, level};
use crate::literal::cases;
use crate::literal::pairs::{Side, packed_and_bytes, pair_of};
use crate::literal::replanned::{Replanned, levels};
use proptest::prelude::*;
use tensor_layout::ArrayShape;
use tensor_layout::relayout::{Level, Padding, Relayout};
use tensor_layout_text::Layout;

/// The layouts of weights, around the lengths of registers, lines and the staging buffer.
fn weights() -> impl Strategy<Value = (Side, Side)> {
    let length = || {
        prop_oneof![
            (prop::sample::select(vec![8_u64, 32, 64, 128, 256, 512]), 0..=2_u64).prop_map(|(n, more)| n + more - 1),
            1..=300_u64,
        ]
    };
    let layout = || {
        prop::sample::select(vec![
            "1,0",
            "0,1",
            "1,0:T(8,128)",
            "1,0:T(8,32)",
            "1,0:T(8,128)(8,1)",
            "0,1:T(64,128)(8,1)",
            "1,0:T(16,128)(16,1)",
            "1,0:T(32,96)(32,1)",
        ])
    };
    (length(), length(), packed_and_bytes(), layout(), layout()).prop_map(
        |(rows, columns, (data_type, [bits, _]), from, to)| {
            let colon = |layout: &str| if layout.contains(':') { "" } else { ":" };
            let shape = |layout: &str, end: String| -> ArrayShape {
                format!("{data_type}[{rows},{columns}]{{{layout}{end}}}").parse().unwrap()
            };
            let packed = shape(from, format!("{}E({bits})", colon(from)));
            (Side::tiled(&packed), Side::tiled(&shape(to, String::new())))
        },
    )
}

/// Checks a copy that packs or unpacks its elements.
fn check_width(
    (from, to): (&Side, &Side),
    padding: Padding,
    (level, streaming): (Level, bool),
    shift: usize,
    pieces: usize,
) -> Result<(), TestCaseError> {
    if to.overlaps() {
        prop_assert_eq!(Relayout::new(&from.map, &to.map).unwrap_err().code(), "overlapping_destination");
        return Ok(());
    }
    let relayout = Relayout::new(&from.map, &to.map).unwrap().with_padding_of_whole_buffer(padding).unwrap();
    let relayout = relayout.with_kernel_level(level).with_streaming(streaming);
    prop_assert!(relayout.changes_width());
    prop_assert!(from.offsets.is_empty() || relayout.explain().to_lowercase().contains("pack"));
    check(&relayout, (from, to), padding, shift, pieces)
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn any_pair_is_unpacked_and_packed_as_literally(
        (packed, bytes) in pair_of(packed_and_bytes()), unpack: bool, level in level(), streaming: bool, shift in 0..3_usize, pieces in 0..5_usize,
        padding in prop_oneof![Just(Padding::Keep), Just(Padding::Zero), Just(Padding::Fill(1))],
    ) {
        let sides = if unpack { (&packed, &bytes) } else { (&bytes, &packed) };
        check_width(sides, padding, (level, streaming), shift, pieces)?;
    }

    #[test]
    fn weights_are_unpacked_and_packed_as_literally(
        (packed, bytes) in weights(), unpack: bool, level in level(), streaming: bool, shift in 0..70_usize, pieces in 0..5_usize,
    ) {
        let sides = if unpack { (&packed, &bytes) } else { (&bytes, &packed) };
        check_width(sides, Padding::Keep, (level, streaming), shift, pieces)?;
    }
}

/// The numbers of each type, in order.
#[test]
fn numbers_keep_their_value() {
    for (text, packed, unpacked) in [
        (
            "s4",
            vec![0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe],
            (0..16).map(|i| if i < 8 { i } else { i - 16 }).collect(),
        ),
        ("u4", vec![0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe], (0..16).collect::<Vec<i16>>()),
        ("s2", vec![0b1110_0100], vec![0, 1, -2, -1]),
        ("u2", vec![0b1110_0100], vec![0, 1, 2, 3]),
        ("s1", vec![0b1000_0110], vec![0, -1, -1, 0, 0, 0, 0, -1]),
        ("pred", vec![0b1000_0110], vec![0, 1, 1, 0, 0, 0, 0, 1]),
        // The bits are 111111 000010 100001 000011, the last element first. No element is sign-extended.
        ("f6e2m3fn", vec![0b0100_0011, 0b0010_1000, 0b1111_1100], vec![0b00_0011, 0b10_0001, 0b00_0010, 0b11_1111]),
        ("f6e3m2fn", vec![0x42, 0x0c, 0x40, 0xff, 0x07, 0xfc], vec![2, 49, 0, 16, 63, 31, 0, 63]),
    ] {
        let bits = packed.len() * 8 / unpacked.len();
        let [narrow, wide]: [ArrayShape; 2] = [format!("{{0:E({bits})}}"), "{0}".into()]
            .map(|layout| format!("{text}[{}]{layout}", unpacked.len()).parse().unwrap());
        let expected: Vec<u8> = unpacked.iter().map(|&number| number as u8).collect();
        for level in levels() {
            let mut bytes = vec![0x55; expected.len()];
            Relayout::new(&narrow, &wide).unwrap().with_kernel_level(level).run(&packed, &mut bytes).unwrap();
            assert_eq!(bytes, expected, "{text} at {level}");
            let mut again = vec![0x55; packed.len()];
            Relayout::new(&wide, &narrow).unwrap().with_kernel_level(level).run(&bytes, &mut again).unwrap();
            assert_eq!(again, packed, "{text} at {level}");
        }
    }
}

/// The arrays are larger than the staging buffer, with remaining elements in each direction.
#[test]
fn large_arrays_are_unpacked_and_packed() {
    for (packed, bytes) in [
        ("s4[1030,515]{1,0:E(4)}", "s4[1030,515]{1,0}"),
        ("s4[1030,515]{0,1:E(4)}", "s4[1030,515]{1,0}"),
        ("s4[130,515]{1,0:T(64,128)(8,1)E(4)}", "s4[130,515]{1,0}"),
        ("u2[515,600]{1,0:T(8,128)(4,1)E(2)}", "u2[515,600]{0,1:T(8,128)}"),
        ("pred[515,600]{1,0:E(1)}", "pred[515,600]{1,0:T(8,128)(4,1)}"),
        ("s4[480,5]{1,0:T(48,1)E(4)}", "s4[480,5]{1,0:T(32,1)}"),
        ("f6e2m3fn[515,601]{1,0:E(6)}", "f6e2m3fn[515,601]{1,0}"),
        ("f6e3m2fn[515,601]{0,1:E(6)}", "f6e3m2fn[515,601]{1,0:T(8,128)}"),
    ] {
        let side = |text: &str| Side::tiled(&text.parse().unwrap());
        let (packed, bytes) = (side(packed), side(bytes));
        for level in levels() {
            check_width((&packed, &bytes), Padding::Zero, (level, true), 0, 4).unwrap();
            check_width((&bytes, &packed), Padding::Zero, (level, false), 1, 3).unwrap();
        }
    }
}

#[test]
fn other_widths_and_types_are_refused() {
    let code = |a: &str, b: &str| {
        let (a, b): (Layout, Layout) = (a.parse().unwrap(), b.parse().unwrap());
        Relayout::new(&a, &b).unwrap_err().code()
    };
    assert_eq!(code("f16[2,3]", "f32[2,3]"), "data_type_mismatch");
    assert_eq!(code("s4[2,3]{1,0:E(4)}", "f16[2,3]"), "data_type_mismatch");
    assert_eq!(code("s4[2,3]{1,0:E(4)}", "u4[2,3]"), "data_type_mismatch");
    assert_eq!(code("s2[2,3]{1,0:E(2)}", "s2[2,3]{1,0:E(4)}"), "element_bits_mismatch");
    assert_eq!(code("s4[2,3]{1,0:E(4)}", "s4[2,3]{1,0:E(16)}"), "element_bits_mismatch");
    assert_eq!(code("s8[2,3]", "s8[2,3]{1,0:E(4)}"), "element_bits_mismatch");
    assert_eq!(code("f6e2m3fn[2,3]{1,0:E(6)}", "f6e2m3fn[2,3]{1,0:E(16)}"), "element_bits_mismatch");
}
