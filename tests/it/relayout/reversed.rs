//! Copies that walk axes backwards, against the literal copy.

use super::{check, level};
use crate::literal::cases;
use crate::literal::pairs::{Side, noise, padding, pair, with_own_bits, within};
use crate::literal::replanned::{Replanned, levels, reversing};
use proptest::prelude::*;
use tensor_layout::relayout::{Level, Padding};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, LayoutClass};

fn axes_of(side: &Side, chosen: u8) -> Vec<usize> {
    (0..side.map.sizes().len()).filter(|axis| chosen >> axis & 1 == 1).collect()
}

/// Checks a copy that walks these axes backwards.
fn check_backwards(
    (from, to): (&Side, &Side),
    axes: &[usize],
    padding: Padding,
    (level, streaming): (Level, bool),
    shift: usize,
    pieces: usize,
) -> Result<(), TestCaseError> {
    let relayout = reversing(&from.map, &to.map, axes).unwrap().with_padding_of_whole_buffer(padding).unwrap();
    let relayout = relayout.with_kernel_level(level).with_streaming(streaming);
    check(&relayout, (&from.backwards(axes), to), padding, shift, pieces)
}

/// Images and planes around the lengths of registers and lines: channels last, first, or in the middle.
fn images() -> impl Strategy<Value = (Side, Side)> {
    let length = || {
        prop_oneof![
            (prop::sample::select(vec![8_u64, 16, 32, 64, 128, 192]), 0..=2_u64).prop_map(|(n, more)| n + more - 1),
            1..=200_u64,
        ]
    };
    let kinds = prop::sample::select(vec![
        DataType::U8,
        DataType::BF16,
        DataType::F32,
        DataType::F64,
        DataType::C128,
        DataType::S4,
    ]);
    let orders = || prop::sample::select(vec!["2,1,0", "1,0,2", "0,1,2", "2,0,1", "2,1,0:T(8,128)", "2,1,0:T(2,1)"]);
    (1..=20_u64, length(), 1..=5_u64, kinds, orders(), orders()).prop_map(
        |(rows, columns, channels, data_type, from, to)| {
            let side = |order: &str| {
                let text = format!("{data_type}[{rows},{columns},{channels}]{{{order}}}");
                Side::tiled(&with_own_bits(text.parse().unwrap()))
            };
            (side(from), side(to))
        },
    )
}

/// Some channels of each pixel, on one side or on both: groups of up to 9 units, rows at a pitch, planes.
fn frames() -> impl Strategy<Value = (Side, Side)> {
    let side = || (0..3_usize, 0..6_u64, prop::sample::select(vec![0_u64, 0, 3, 64]), 1..=2_u64);
    let kinds = prop::sample::select(vec![DataType::U8, DataType::BF16, DataType::F32]);
    (1..=3_u64, 100..=400_u64, 1..=5_u64, kinds, side(), side()).prop_map(
        |(rows, columns, channels, data_type, from, to)| {
            let strides = |(kind, more, gap, apart): (usize, u64, u64, u64)| {
                let group = channels * apart + more;
                match kind {
                    0 => [columns + gap, 1, rows * (columns + gap)],
                    _ => [columns * group + gap, group, apart],
                }
            };
            let side = |strides: [u64; 3]| {
                Side::strided(&BufferTensorDesc::new(data_type, &[rows, columns, channels], Some(&strides)).unwrap())
            };
            (side(strides(from)), side(strides(to)))
        },
    )
}

proptest! {
    #![proptest_config(cases(700))]

    #[test]
    fn channels_of_frames_are_copied_as_literally(
        (from, to) in frames(), chosen: u8, level in level(), streaming: bool, shift in 0..70_usize, pieces in 0..4_usize,
    ) {
        check_backwards((&from, &to), &axes_of(&from, chosen & chosen >> 4), Padding::Keep, (level, streaming), shift, pieces)?;
    }

    #[test]
    fn any_pair_is_copied_backwards_as_literally(
        (from, to) in pair(), chosen: u8, padding in padding(), level in level(), streaming: bool,
        shift in 0..3_usize, pieces in 0..5_usize,
    ) {
        let mut distinct = to.offsets.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < to.offsets.len() {
            return Ok(());
        }
        let padding = within(padding, from.map.element_bits());
        check_backwards((&from, &to), &axes_of(&from, chosen), padding, (level, streaming), shift, pieces)?;
    }

    #[test]
    fn images_are_copied_backwards_as_literally(
        (from, to) in images(), chosen: u8, level in level(), streaming: bool, shift in 0..70_usize, pieces in 0..4_usize,
    ) {
        check_backwards((&from, &to), &axes_of(&from, chosen), Padding::Keep, (level, streaming), shift, pieces)?;
    }

    #[test]
    fn arrays_that_run_backwards_are_laid_out_as_they_read(
        sizes in prop::collection::vec(1..=5_usize, 0..=4), order: u32, turned: u8, broadcast: bool, tiled: bool,
    ) {
        use ndarray::{ArrayD, Axis, IxDyn, Slice};
        use tensor_layout::interop::ndarray::{array_from_bytes, relayout_array, view as view_of};

        let count = sizes.iter().product::<usize>() as u16;
        let array = ArrayD::from_shape_vec(IxDyn(&sizes), (0..count).collect()).unwrap();
        let mut axes: Vec<usize> = (0..sizes.len()).collect();
        axes.sort_by_key(|&axis| order.rotate_left(5 * axis as u32) % 97);
        let mut view = array.view().permuted_axes(axes);
        for axis in (0..sizes.len()).filter(|axis| turned >> axis & 1 == 1) {
            view.slice_axis_inplace(Axis(axis), Slice::new(0, None, -1));
        }
        let signed = BufferTensorDesc::from_signed(DataType::U16, view.shape(), view.strides()).unwrap();
        let (desc, reversed) = (signed.desc, signed.reversed);
        let mut forwards = view_of::<u16>(&desc, array.as_slice().unwrap()).unwrap();
        reversed.iter().for_each(|&axis| forwards.invert_axis(Axis(axis)));
        prop_assert_eq!(forwards, view.clone());
        let wide: Vec<usize> = std::iter::once(3).chain(view.shape().iter().copied()).collect();
        let view = if broadcast { view.broadcast(IxDyn(&wide)).unwrap() } else { view };
        let shape: Vec<String> = view.shape().iter().map(|size| size.to_string()).collect();
        let order: Vec<String> = (0..view.ndim()).rev().map(|axis| axis.to_string()).collect();
        let tiles = if tiled { ":T(2,3)" } else { "" };
        let layout: ArrayShape = format!("u16[{}]{{{}{tiles}}}", shape.join(","), order.join(",")).parse().unwrap();
        let buffer = relayout_array(&view, &layout).unwrap();
        prop_assert_eq!(array_from_bytes::<u16>(&layout, bytemuck::cast_slice(&buffer)).unwrap(), view);
    }
}

/// Each kind of mirror has its kernel, and the ragged edges of two tilings need an intermediate buffer.
/// Pixels of 1 to 16 bytes are mirrored, and their channels are reversed. Shuffles write some bytes after a
/// vector's whole units again.
#[test]
fn units_of_every_length_are_reversed_at_every_level() {
    for (unit, columns) in (1..=17_usize).flat_map(|unit| (1..=70).map(move |columns| (unit, columns))) {
        let rows = 3;
        let image = BufferTensorDesc::packed(DataType::U8, &[rows, columns as u64, unit as u64]).unwrap();
        let source = noise(3 * columns * unit + 5, unit as u64);
        let (mut mirrored, mut turned) = (source[5..].to_vec(), source[5..].to_vec());
        for row in mirrored.chunks_exact_mut(columns * unit) {
            row.reverse();
        }
        mirrored.chunks_exact_mut(unit).chain(turned.chunks_exact_mut(unit)).for_each(<[u8]>::reverse);
        for (axis, expected) in [(1, &mirrored), (2, &turned)] {
            let relayout = reversing(&image, &image, &[axis]).unwrap();
            for level in levels() {
                let relayout = relayout.clone().with_kernel_level(level);
                let mut destination = vec![0xa5; relayout.destination_size_in_bytes() as usize + 2];
                relayout.run(&source[5..], &mut destination[1..]).unwrap();
                assert_eq!(
                    destination[1..=expected.len()],
                    expected[..],
                    "axis {axis} of {columns} x {unit} at {level}"
                );
                assert_eq!((destination[0], destination.last()), (0xa5, Some(&0xa5)), "{columns} x {unit} at {level}");
            }
        }
    }
}

/// A dimension that is fused with another dimension is reversed, on the way to a layout that is copied index
/// by index.
#[test]
fn one_of_two_fused_dimensions_is_reversed_for_an_irreducible_layout() {
    let fused = Side::tiled(&"f32[7,5]{0,1:T(*,3)(2,1)}".parse().unwrap());
    let irreducible = Side::tiled(&"f32[7,5]{0,1:T(2,2)(*,3,1)}".parse().unwrap());
    assert_eq!((fused.map.class(), irreducible.map.class()), (LayoutClass::Fused, LayoutClass::Irreducible));
    for (from, to) in [(&fused, &irreducible), (&irreducible, &fused)] {
        for axes in [&[0][..], &[1], &[0, 1]] {
            check_backwards((from, to), axes, Padding::Zero, (Level::Portable, true), 0, 3).unwrap();
        }
    }
}

/// Elements of 4 bits are packed and unpacked, with an axis backwards.
#[test]
fn widths_change_backwards_too() {
    let side = |text: &str| Side::tiled(&text.parse().unwrap());
    for (packed, bytes) in [
        ("s4[13,70]{1,0:E(4)}", "s4[13,70]{1,0}"),
        ("s4[16,70]{0,1:E(4)}", "s4[16,70]{1,0}"),
        ("s4[64,128]{1,0:T(64,128)(8,1)E(4)}", "s4[64,128]{1,0}"),
        ("s4[60,128]{1,0:T(64,128)(8,1)E(4)}", "s4[60,128]{1,0:T(8,128)}"),
    ] {
        let (packed, bytes) = (side(packed), side(bytes));
        for level in levels() {
            for axes in [&[0][..], &[1], &[0, 1]] {
                check_backwards((&packed, &bytes), axes, Padding::Zero, (level, true), 0, 3).unwrap();
                check_backwards((&bytes, &packed), axes, Padding::Zero, (level, false), 1, 3).unwrap();
            }
        }
    }
}

#[test]
fn axes_that_are_not_there_are_refused_and_short_ones_change_nothing() {
    let desc = BufferTensorDesc::packed(DataType::U8, &[1, 4]).unwrap();
    assert_eq!(reversing(&desc, &desc, &[2]).unwrap_err().code(), "axis_out_of_range");
    let relayout = reversing(&desc, &desc, &[0]).unwrap();
    assert!(relayout.reversed_axes().is_empty());
    let twice = reversing(&desc, &desc, &[1, 1]).unwrap();
    let mut turned = [0; 4];
    twice.run(b"abcd", &mut turned).unwrap();
    assert_eq!((&turned, twice.reversed_axes()), (b"dcba", &[1][..]));
}

/// Rows upside down: the piece that writes the first two rows reads the last two.
#[test]
fn a_piece_reads_the_rows_that_it_writes_mirrored() {
    let rows: ArrayShape = "u8[4,10]{1,0}".parse().unwrap();
    let pieces = reversing(&rows, &rows, &[0]).unwrap().cut(2, 1);
    let ranges: Vec<_> = pieces.iter().map(|piece| (piece.destination_range(), piece.source_range())).collect();
    assert_eq!(ranges, [(0..20, 20..40), (20..40, 0..20)]);
}
