//! Relayout against the literal copy, on random pairs of layouts, element widths and padding modes. The
//! literal copy reads each element at its literal offset on one side, and writes it at its literal offset on
//! the other side.

use super::{check, level};
use crate::literal::replanned::{CACHES, Replanned, levels, write_only};

use crate::literal::cases;
use crate::literal::pairs::{Side, literal_copy, noise, padding, pair, with_bits, with_own_bits, within};
use proptest::prelude::*;
use tensor_layout::relayout::{Level, Padding, Relayout, Settings};
use tensor_layout::strided::Slice;
use tensor_layout::tiled::Layout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, LayoutClass, ToIndexMap};

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn every_pair_copies_as_the_literal_one(
        (from, to) in pair(), padding in padding(), guard in 0..5_usize, level in level(), shift in 0..3_usize,
    ) {
        let bits = from.map.element_bits();
        let padding = within(padding, bits);
        let mut distinct = to.offsets.clone();
        distinct.sort_unstable();
        distinct.dedup();
        match Relayout::new(&from.map, &to.map) {
            Ok(relayout) => {
                prop_assert_eq!(distinct.len(), to.offsets.len(), "an overlapping destination was accepted");
                let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap().with_kernel_level(level);
                prop_assert_eq!(relayout.destination_size_in_bytes(), to.bytes() as u64);
                prop_assert!(!relayout.explain().is_empty());
                // Addresses are odd, and bytes before and after the buffers must not change.
                let source = noise(shift + from.bytes() + guard, 1);
                let mut expected = noise(shift + to.bytes() + guard, 2);
                let mut destination = expected.clone();
                literal_copy(&from, &to, &source[shift..], &mut expected[shift..], padding);
                relayout.run(&source[shift..], &mut destination[shift..]).unwrap();
                prop_assert_eq!(destination, expected);
            }
            Err(error) if error.code() == "overlapping_destination" => {
                let index = |text: &str| serde_json::from_str::<Vec<u64>>(text).unwrap();
                let (first, second, offset) = (index(error.what()), index(error.found()), error.value().unwrap());
                prop_assert_ne!(&first, &second);
                prop_assert_eq!(to.map.offset(&first), Ok(offset));
                prop_assert_eq!(to.map.offset(&second), Ok(offset));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn pieces_together_are_the_whole_copy(
        (from, to) in pair(), padding in padding(), pieces in 0..9_usize, alignment in 0..9_usize, guard in 0..5_usize,
        order: u64,
    ) {
        let bits = from.map.element_bits();
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let relayout = relayout.with_padding_of_whole_buffer(within(padding, bits)).unwrap();
        let source = noise(from.bytes() + guard, 1);
        let start = noise(to.bytes() + guard, 2);
        let mut expected = start.clone();
        relayout.run(&source, &mut expected).unwrap();

        let pieces = relayout.cut(pieces, alignment);
        let mut next = 0;
        for piece in &pieces {
            prop_assert_eq!(piece.destination_range().start, next);
            prop_assert!(next.is_multiple_of(alignment.max(1)));
            next = piece.destination_range().end;
        }
        prop_assert_eq!(next, to.bytes());

        // Each piece is written to a buffer of its own, which begins with the old bytes of exactly its range.
        let mut joined = start.clone();
        let mut order: Vec<usize> = (0..pieces.len()).map(|i| (i + order as usize % pieces.len()) % pieces.len()).collect();
        order.reverse();
        for piece in order.into_iter().map(|place| &pieces[place]) {
            let range = piece.destination_range();
            let mut own = start[range.clone()].to_vec();
            own.extend([0xa5; 3]);
            piece.run(&source, &mut own).unwrap();
            prop_assert_eq!(own.split_off(range.len()), [0xa5; 3], "a piece wrote after its range");
            // Bytes outside the source's range have no effect. Its first and its last byte have an effect.
            let reads = piece.source_range();
            let piece_of = |inverted: &dyn Fn(usize) -> bool| {
                let other: Vec<u8> = (0..).zip(&source).map(|(at, &byte)| if inverted(at) { !byte } else { byte }).collect();
                let mut own = start[range.clone()].to_vec();
                piece.run(&other, &mut own).unwrap();
                own
            };
            prop_assert!(piece_of(&|at| !reads.contains(&at)) == own, "{reads:?} is not all that is read");
            if pieces.len() > 1 && !reads.is_empty() {
                prop_assert!(piece_of(&|at| at == reads.start) != own && piece_of(&|at| at + 1 == reads.end) != own);
            }
            joined[range].copy_from_slice(&own);
        }
        prop_assert!(joined == expected, "{}", relayout.explain());
    }

    /// Copies go into memory that is only written: whole, and in pieces. A copy that has to read its
    /// destination is refused before a byte is written.
    #[test]
    fn memory_that_is_not_read_gets_the_same_bytes(
        (from, to) in pair(), padding in padding(), level in level(), streaming: bool, pieces in 1..6_usize, guard in 0..3_usize,
    ) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let relayout = relayout.with_padding_of_whole_buffer(within(padding, from.map.element_bits())).unwrap();
        let relayout = relayout.with_kernel_level(level).with_streaming(streaming);
        let source = noise(from.bytes() + guard, 1);
        let before = noise(to.bytes() + guard, 2);
        let mut expected = before.clone();
        relayout.run(&source, &mut expected).unwrap();
        let is_irreducible = [&from, &to].iter().any(|side| side.map.class() == LayoutClass::Irreducible);
        let may_read = !from.map.element_bits().is_multiple_of(8) || padding == Padding::Keep && is_irreducible;

        let mut written = before.clone();
        match relayout.run(&source, write_only(&mut written)) {
            Ok(()) => prop_assert!(written == expected, "{}", relayout.explain()),
            Err(error) => prop_assert!(error.code() == "destination_read" && may_read && written == before),
        }
        let mut joined = before.clone();
        for piece in &relayout.cut(pieces, 1) {
            let own = &mut joined[piece.destination_range()];
            let before = own.to_vec();
            if let Err(error) = piece.run(&source, write_only(own)) {
                prop_assert!(error.code() == "destination_read" && may_read && own == before);
                piece.run(&source, own).unwrap();
            }
        }
        prop_assert!(joined == expected, "{}", relayout.explain());
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn threads_copy_as_one_does((from, to) in pair(), padding in padding()) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let relayout = relayout.with_padding_of_whole_buffer(within(padding, from.map.element_bits())).unwrap();
        let source = noise(from.bytes(), 1);
        let mut expected = noise(to.bytes(), 2);
        let mut parallel = expected.clone();
        relayout.run(&source, &mut expected).unwrap();
        relayout.run_parallel(&source, &mut parallel).unwrap();
        prop_assert!(parallel == expected, "{}", relayout.explain());
    }

    #[test]
    fn there_and_back_again_is_the_identity((from, to) in pair()) {
        let packed = ArrayShape::new(from.map.data_type(), from.map.sizes(), Layout::row_major(from.map.sizes().len())).unwrap();
        let packed = with_bits(packed, from.map.element_bits());
        let bytes = (from.offsets.len() * from.map.element_bits() as usize).div_ceil(8);
        let Ok(there) = Relayout::new(&packed, &to.map) else { return Ok(()) };
        let back = Relayout::new(&to.map, &packed).unwrap();
        let mut original = noise(bytes, 7);
        let spare = bytes * 8 - from.offsets.len() * from.map.element_bits() as usize;
        if let Some(last) = original.last_mut() {
            *last &= 0xff >> spare;
        }
        let mut moved = vec![0; to.bytes()];
        let mut returned = vec![0; bytes];
        there.run(&original, &mut moved).unwrap();
        back.run(&moved, &mut returned).unwrap();
        prop_assert_eq!(returned, original);
    }

    #[test]
    fn short_buffers_are_refused_before_a_byte_is_written((from, to) in pair()) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        if from.offsets.is_empty() {
            return Ok(());
        }
        let needs = |side: &Side| (side.map.span_elements() as usize * side.map.element_bits() as usize).div_ceil(8);
        let source = noise(from.bytes(), 1);
        let mut destination = noise(to.bytes(), 2);
        let before = destination.clone();
        let error = relayout.run(&source[..needs(&from) - 1], &mut destination).unwrap_err();
        prop_assert_eq!(error.code(), "buffer_too_short");
        let error = relayout.run(&source, &mut destination[..needs(&to) - 1]).unwrap_err();
        prop_assert_eq!(error.code(), "buffer_too_short");
        prop_assert_eq!(&destination, &before);
    }
}

/// Two-dimensional pairs around every block boundary of the kernels: 8, 16, 32 and 64 units, and a few units
/// more or less.
fn planes() -> impl Strategy<Value = (Side, Side)> {
    let near = || {
        prop_oneof![
            2 => 1..=6_u64,
            3 => (prop::sample::select(vec![4_u64, 8, 16, 32, 64, 128]), 0..=2_u64).prop_map(|(n, d)| n + d - 1),
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
    (near(), near(), 1..=3_u64, kinds, 0..3_u64, prop::sample::select(vec![1_u64, 2, 3, 4, 8, 16])).prop_map(
        |(rows, columns, planes, data_type, gap, block)| {
            let sizes = [planes, rows, columns];
            let rows_first = [(columns + gap) * rows, columns + gap, 1];
            let columns_first = [columns * rows, 1, rows];
            let desc =
                |strides: &[u64]| Side::strided(&BufferTensorDesc::new(data_type, &sizes, Some(strides)).unwrap());
            if block == 1 {
                return (desc(&rows_first), desc(&columns_first));
            }
            if block == 16 {
                // These are micro-tiles, which are units that are small planes themselves. Both sides are
                // tiled, with opposite orders.
                let text = |order: &str| format!("{data_type}[{planes},{rows},{columns}]{{{order}:T(8,16)(2,1)}}");
                let side = |order: &str| Side::tiled(&with_own_bits(text(order).parse().unwrap()));
                return (side("2,1,0"), side("1,2,0"));
            }
            // Rows are interleaved in blocks: (2,1), (3,1), (4,1) ...
            let text = format!("{data_type}[{planes},{rows},{columns}]{{2,1,0:T({block},{columns})({block},1)}}");
            (desc(&rows_first), Side::tiled(&with_own_bits(text.parse().unwrap())))
        },
    )
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn every_kernel_agrees_with_the_literal_copy_round_its_block_sizes(
        (a, b) in planes(), level in level(), turn: bool, shift in 0..70_usize, large: bool,
    ) {
        let (from, to) = if turn { (b, a) } else { (a, b) };
        let relayout = Relayout::new(&from.map, &to.map).unwrap().with_kernel_level(level).with_streaming(large);
        check(&relayout, (&from, &to), Padding::Keep, shift, 2)?;
    }
}

/// Sub-byte elements in rows that are interleaved, or are columns on the other side. The lengths are around
/// the lengths of registers. Rows begin and end anywhere, also inside a byte whose other elements must not
/// change.
fn bits() -> impl Strategy<Value = (Side, Side)> {
    let kinds = prop::sample::select(vec![DataType::S4, DataType::U2, DataType::S1]);
    let rows =
        (prop::sample::select(vec![2_u64, 4, 8, 16, 32]), 1..=2_u64, prop_oneof![2 => Just(0_u64), 1 => 0..4_u64]);
    // Columns are whole bytes of every width, whole registers and a few more, or any number.
    let columns = prop_oneof![
        3 => (1..=20_u64).prop_map(|n| 8 * n),
        2 => (1..=4_u64, 0..=2_u64).prop_map(|(n, more)| 128 * n + 8 * more),
        1 => Just(1032_u64),
        2 => 1..=140_u64,
    ];
    // Bases and gaps are whole bytes, or any number.
    let place = || prop_oneof![3 => Just(0_u64), 1 => Just(8_u64), 1 => 0..9_u64];
    (kinds, rows, columns, [place(), place(), place()], 0..4_usize).prop_map(
        |(data_type, (block, blocks, fewer), columns, [base, gap, other], kind)| {
            let rows = (block * blocks).saturating_sub(fewer).max(1);
            let desc = |strides: [u64; 2], base: u64| {
                let desc = BufferTensorDesc::new(data_type, &[rows, columns], Some(&strides)).unwrap();
                Side::strided(&desc.with_base_offset(base).unwrap())
            };
            let packed = desc([columns + gap, 1], base);
            match kind {
                // Rows are interleaved with a base of their own, become columns with gaps, or stay rows.
                0 => (packed, desc([1, rows], other)),
                1 => (packed, desc([1, rows + other], base)),
                2 => (packed, desc([columns + other, 1], other)),
                _ => {
                    let text = format!("{data_type}[{rows},{columns}]{{1,0:T({block},64)({block},1)}}");
                    (packed, Side::tiled(&with_own_bits(text.parse().unwrap())))
                }
            }
        },
    )
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn bits_are_copied_as_literally_and_their_neighbours_left(
        (a, b) in bits(), level in level(), turn: bool, shift in 0..70_usize, large: bool,
    ) {
        let (from, to) = if turn { (b, a) } else { (a, b) };
        let relayout = Relayout::new(&from.map, &to.map).unwrap().with_kernel_level(level).with_streaming(large);
        check(&relayout, (&from, &to), Padding::Keep, shift, 2)?;
    }
}

/// Copies one pair of layouts as it is planned for several caches, with non-temporal and ordinary stores,
/// with the kernels of this CPU.
fn check_caches(from: &Side, to: &Side, name: impl std::fmt::Display) {
    let source = noise(from.bytes(), 3);
    let mut expected = vec![0x5a; to.bytes()];
    literal_copy(from, to, &source, &mut expected, Padding::Keep);
    let plan = Relayout::new(&from.map, &to.map).unwrap();
    let safe = plan.clone().with_kernel_level(Level::Portable);
    let planned = CACHES.into_iter().map(|caches| plan.clone().with_caches(caches));
    let plans = planned.flat_map(|plan| [plan.clone(), plan.clone().with_streaming(true), plan.with_streaming(false)]);
    for plan in plans.chain([safe]) {
        let mut destination = vec![0x5a; to.bytes()];
        plan.run(&source, &mut destination).unwrap();
        assert!(destination == expected, "{name}: {}", plan.explain());
    }
}

/// Planes are staged in runs of any length. Their rows conflict in the cache or do not, and destinations
/// begin anywhere.
#[test]
fn staged_panels_change_no_byte() {
    for (data_type, columns, rows, pitch) in [
        (DataType::U8, 70, 1100, 1152_u64),
        (DataType::U8, 64, 2048, 4096),
        (DataType::BF16, 130, 600, 640),
        (DataType::BF16, 64, 1024, 2048),
        (DataType::F32, 37, 530, 544),
        (DataType::F32, 32, 512, 1024),
        (DataType::F64, 19, 300, 304),
        (DataType::C128, 17, 150, 152),
    ] {
        for (base, gap) in [(0, 0), (16, 0), (3, 1)] {
            let desc = |strides: [u64; 2], base: u64| {
                let desc = BufferTensorDesc::new(data_type, &[rows, columns], Some(&strides)).unwrap();
                Side::strided(&desc.with_base_offset(base).unwrap())
            };
            let (from, to) = (desc([if gap == 0 { pitch } else { columns + gap }, 1], 0), desc([1, pitch], base));
            check_caches(&from, &to, data_type);
        }
    }
}

/// Copies that stay in the L2 cache have blocks and lines in an order that hardware prefetchers do not
/// follow. There are whole blocks, and remaining lines. (Smaller copies would fit an L1 cache, and larger
/// copies would be prefetched, on any machine.)
#[test]
fn an_order_changes_no_byte() {
    let side = |data_type, sizes: &[u64], strides: &[u64]| {
        Side::strided(&BufferTensorDesc::new(data_type, sizes, Some(strides)).unwrap())
    };
    for (data_type, rows, columns) in [
        (DataType::U8, 300, 290),
        (DataType::BF16, 250, 170),
        (DataType::F32, 150, 140),
        (DataType::F64, 105, 100),
        (DataType::C128, 70, 75),
    ] {
        let (from, to) =
            (side(data_type, &[rows, columns], &[columns, 1]), side(data_type, &[rows, columns], &[1, rows]));
        check_caches(&from, &to, data_type);
    }
    // Rows share a set of the L1 cache, on the source or on the destination.
    for (data_type, rows, columns, pitch) in [
        (DataType::F32, 40, 500, 1024),
        (DataType::F32, 16, 1024, 1024),
        (DataType::F64, 24, 500, 512),
        (DataType::BF16, 70, 600, 2048),
    ] {
        let sizes = [rows, columns];
        check_caches(&side(data_type, &sizes, &[pitch, 1]), &side(data_type, &sizes, &[1, rows]), data_type);
        let sizes = [columns, rows];
        check_caches(&side(data_type, &sizes, &[rows, 1]), &side(data_type, &sizes, &[1, pitch]), data_type);
    }
    // Runs of all lengths jump on one side. Runs of one line go to a few rows that share a set.
    for [outer, inner, run] in
        [[20, 8, 130], [40, 9, 75], [40, 8, 64], [80, 14, 17], [300, 14, 5], [6, 4, 1000], [5, 1, 4200], [64, 16, 16]]
    {
        let sizes = [outer, inner, run];
        let from = side(DataType::F32, &sizes, &[inner * run, run, 1]);
        let to = side(DataType::F32, &sizes, &[run, outer * run, 1]);
        check_caches(&from, &to, DataType::F32);
        check_caches(&to, &from, DataType::F32);
    }
}

/// Short destination runs have rows that are whole pages apart, and are joined with the runs of neighbouring
/// tiles.
#[test]
fn joined_runs_change_no_byte() {
    for (shape, pitch) in [
        ("s8[64,4096]{1,0:T(8,128)(4,1)}", 4096_u64),
        ("s8[61,4000]{1,0:T(8,128)(4,1)}", 4096),
        ("s8[16,1100]{1,0:T(8,64)(2,1)}", 4096),
        ("bf16[32,2048]{1,0:T(8,64)(2,1)}", 2048),
        ("bf16[33,4001]{1,0:T(8,32)(4,1)}", 4096),
        ("u8[48,1024]{1,0:T(16,96)(3,1)}", 4096),
        ("f32[16,1024]{1,0:T(8,32)}", 1024),
        ("f32[18,1000]{1,0:T(8,16)(2,1)}", 1024),
        ("s4[64,8192]{1,0:T(8,128)(8,1)E(4)}", 8192),
    ] {
        let shape: ArrayShape = shape.parse().unwrap();
        let from = Side::tiled(&shape);
        for base in [0, 16, 64, 6] {
            let desc = BufferTensorDesc::new(shape.data_type(), shape.sizes(), Some(&[pitch, 1])).unwrap();
            let to = Side::strided(&desc.with_base_offset(base).unwrap());
            check_caches(&from, &to, &shape);
        }
    }
}

/// Planes of bits are cut into blocks, in either direction, with smaller blocks at the edges.
#[test]
fn large_planes_of_bits_are_copied() {
    for level in levels() {
        for data_type in [DataType::S4, DataType::U2, DataType::S1] {
            for (rows, columns, gap) in
                [(515, 1037, 1), (1040, 520, 0), (3, 17000, 3), (17000, 3, 0), (8, 5003, 5), (5000, 8, 0)]
            {
                let desc = |strides: [u64; 2], base: u64| {
                    let desc = BufferTensorDesc::new(data_type, &[rows, columns], Some(&strides)).unwrap();
                    Side::strided(&desc.with_base_offset(base).unwrap())
                };
                let (from, to) = (desc([columns + gap, 1], gap), desc([1, rows + gap / 4], 0));
                let relayout = Relayout::new(&from.map, &to.map).unwrap().with_kernel_level(level);
                let source = noise(from.bytes(), 3);
                let (mut destination, mut expected) = (vec![0x5a; to.bytes()], vec![0x5a; to.bytes()]);
                literal_copy(&from, &to, &source, &mut expected, Padding::Keep);
                relayout.run(&source, &mut destination).unwrap();
                assert!(destination == expected, "{rows} x {columns} at {level}: {}", relayout.explain());
            }
        }
    }
}

#[test]
fn kernel_levels_this_machine_lacks_are_named() {
    for level in Level::ALL.into_iter().filter(|level| !level.is_available()) {
        println!("skipped: this CPU has no {level}");
    }
    assert!(tensor_layout::relayout::level_in_use().is_available());
    for level in Level::ALL {
        assert_eq!(level.to_string().parse(), Ok(level));
    }
    for name in ["sse2", "AVX2", "", "software32"] {
        let sentence = format!("expected a kernel level: portable, neon, avx2, avx512, found `{name}`");
        assert_eq!(name.parse::<Level>().unwrap_err().to_string(), sentence);
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    let code = |a: &str, b: &str| Relayout::new(&shape(a), &shape(b)).unwrap_err().code();
    assert_eq!(code("f32[2,3]", "f32[6]"), "rank_mismatch");
    assert_eq!(code("f32[2,3]", "f32[3,2]"), "size_mismatch");
    assert_eq!(code("f32[2,3]", "s32[2,3]"), "data_type_mismatch");
    assert_eq!(code("s2[2,3]{1,0:E(2)}", "s2[2,3]{1,0:E(4)}"), "element_bits_mismatch");
    let relayout = Relayout::new(&shape("s4[3]{0:E(4)}"), &shape("s4[3]{0:E(4)}")).unwrap();
    assert_eq!(relayout.clone().with_padding_of_whole_buffer(Padding::Fill(16)).unwrap_err().code(), "fill_too_wide");
    let broadcast = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[0, 1])).unwrap();
    assert_eq!(Relayout::new(&shape("f32[2,3]"), &broadcast).unwrap_err().code(), "overlapping_destination");
    assert!(Relayout::new(&broadcast, &shape("f32[2,3]")).is_ok());
}

#[test]
fn more_pieces_than_there_can_be_are_not_counted_through() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    let (from, to) = (shape("u8[4096,4096]{1,0}"), shape("u8[4096,4096]{0,1}"));
    let relayout = Relayout::new(&from, &to).unwrap();
    for count in [20_000, 400_000_000, usize::MAX] {
        let pieces = relayout.cut(count, 1);
        assert!((4096..=16_384).contains(&pieces.len()), "{} pieces", pieces.len());
        assert_eq!(pieces.last().unwrap().destination_range().end, 4096 * 4096);
    }
    let short = Relayout::new(&shape("u8[3]{0}"), &shape("u8[3]{0}")).unwrap();
    assert!(short.cut(usize::MAX, 1).len() <= 3);
}

/// Blocks of 48 and blocks of 32 have common boundaries at multiples of 96 only. Their common digit is a
/// table.
#[test]
fn blocks_of_48_become_blocks_of_32() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    for rows in [96, 100, 480, 4608, 4600] {
        let from = shape(&format!("u16[{rows},5]{{1,0:T(48,1)}}"));
        let to = shape(&format!("u16[{rows},5]{{1,0:T(32,1)}}"));
        let (from, to) = (Side::tiled(&from), Side::tiled(&to));
        let relayout = Relayout::new(&from.map, &to.map).unwrap().with_padding_of_whole_buffer(Padding::Zero).unwrap();
        let source = noise(from.bytes(), 3);
        let (mut destination, mut expected) = (vec![1; to.bytes()], vec![1; to.bytes()]);
        relayout.run(&source, &mut destination).unwrap();
        literal_copy(&from, &to, &source, &mut expected, Padding::Zero);
        assert_eq!(destination, expected, "{rows} rows");
        assert!(relayout.explain().contains("table of 6 offsets"), "{}", relayout.explain());
    }
}

/// The boundaries of this pair have no common divisor. A table would list every row, so the copy goes through
/// a packed buffer.
#[test]
fn tiles_that_would_need_an_endless_table_are_copied_in_two_passes() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    let (from, to) = (shape("u8[300000,2]{1,0:T(10007,1)}"), shape("u8[300000,2]{1,0:T(99991,1)}"));
    let (from, to) = (Side::tiled(&from), Side::tiled(&to));
    let relayout = Relayout::new(&from.map, &to.map).unwrap();
    let source = noise(from.bytes(), 5);
    let (mut destination, mut expected) = (vec![1; to.bytes()], vec![1; to.bytes()]);
    relayout.run(&source, &mut destination).unwrap();
    literal_copy(&from, &to, &source, &mut expected, Padding::Keep);
    assert!(destination == expected);
    assert!(relayout.explain().contains("pass 2 of 2"), "{}", relayout.explain());
}

/// Large copies are cut between tiles, and into the requested number of pieces.
#[test]
fn the_pieces_of_large_copies_are_of_one_size() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    for (from, to) in [
        ("f32[512,384]{1,0}", "f32[512,384]{0,1}"),
        ("f32[511,385]{1,0}", "f32[511,385]{1,0:T(8,128)}"),
        ("bf16[512,384]{0,1}", "bf16[512,384]{1,0:T(8,128)(2,1)}"),
        ("u16[4800,5]{1,0:T(48,1)}", "u16[4800,5]{1,0:T(32,1)}"),
        ("s4[512,384]{1,0:E(4)}", "s4[512,384]{1,0:T(64,128)(8,1)E(4)}"),
    ] {
        let (from, to) = (Side::tiled(&shape(from)), Side::tiled(&shape(to)));
        let relayout = Relayout::new(&from.map, &to.map).unwrap().with_padding_of_whole_buffer(Padding::Zero).unwrap();
        let source = noise(from.bytes(), 3);
        let mut expected = vec![1; to.bytes()];
        relayout.run(&source, &mut expected).unwrap();
        for count in [2, 3, 7] {
            let pieces = relayout.cut(count, 1);
            assert_eq!(pieces.len(), count);
            let mut joined = vec![2; to.bytes()];
            for piece in &pieces {
                let length = piece.destination_range().len();
                assert!(length.abs_diff(to.bytes() / count) <= to.bytes() / count / 4, "{length} of {}", to.bytes());
                piece.run(&source, &mut joined[piece.destination_range()]).unwrap();
            }
            assert!(joined == expected, "{}", relayout.explain());
        }
    }
}

/// Copies with padding of all kinds are large enough to run in blocks.
#[test]
fn padding_of_large_copies_is_written() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    for (from, to, written) in [
        // Padding is in runs of a few bytes everywhere, then in long runs, and then in half bytes.
        ("u16[600000,3]{1,0}", "u16[600000,3]{1,0:T(1,4)}", Padding::Zero),
        ("f32[1001,1500]{0,1}", "f32[1001,1500]{1,0:T(8,128)}", Padding::Fill(0b0101)),
        ("s4[3001,3003]{0,1:E(4)}", "s4[3001,3003]{1,0:T(64,128)(8,1)E(4)}", Padding::Fill(0b0101)),
        // Padding is in blocks of 16 channels, of which the second has three; then a byte after each row;
        // then two places in each row of tiles.
        ("f32[8,3500,19]{1,2,0}", "f32[8,3500,19]{2,1,0:T(3500,16)}", Padding::Fill(0b0101)),
        ("u8[2100,2047]{1,0}", "u8[2100,2047]{1,0:T(1,2048)}", Padding::Zero),
        ("f32[800,1100]{1,0}", "f32[800,1100]{1,0:T(2,3)}", Padding::Zero),
    ] {
        let (from, to) = (Side::tiled(&shape(from)), Side::tiled(&shape(to)));
        let source = noise(from.bytes(), 3);
        for padding in [Padding::Keep, written] {
            let relayout = Relayout::new(&from.map, &to.map).unwrap().with_padding_of_whole_buffer(padding).unwrap();
            let (mut destination, mut expected) = (vec![1; to.bytes()], vec![1; to.bytes()]);
            relayout.run(&source, &mut destination).unwrap();
            literal_copy(&from, &to, &source, &mut expected, padding);
            assert!(destination == expected, "{padding:?}");
            destination.fill(1);
            for piece in relayout.cut(5, 1) {
                piece.run(&source, &mut destination[piece.destination_range()]).unwrap();
            }
            assert!(destination == expected, "{padding:?} in pieces");
        }
    }
}

/// The bytes between the elements of a slice are not written, unless a call requests that by name.
#[test]
fn the_gaps_of_a_slice_are_not_its_own() {
    let cache = BufferTensorDesc::packed(DataType::U8, &[3, 4, 2]).unwrap();
    let own = BufferTensorDesc::new(DataType::U8, &[3, 1, 2], Some(&[8, 2, 1])).unwrap();
    let tiled: ArrayShape = "u8[4,4]{1,0:T(2,2)}".parse().unwrap();
    let tile = tiled.to_index_map().unwrap().slice(&[0..2, 0..2]).unwrap();
    let slices = [
        cache.slice_axis(1, 0..1).unwrap(),
        cache.slice_axis(1, 2..3).unwrap(),
        cache.slice_axis(1, Slice::from(..).step_by(4)).unwrap(),
        cache.slice_axis(1, 0..1).unwrap().permute(&[2, 0, 1]).unwrap(),
        cache.select(1, 0).unwrap(),
        cache.slice_axis(1, 0..1).unwrap().coalesce(),
        "u8[3,1,2]:[8,2,1]+0".parse().unwrap(),
        "u8[3,1,2]:[8,2,1]+5".parse().unwrap(),
    ];
    for slice in slices {
        let from = BufferTensorDesc::packed(DataType::U8, slice.sizes()).unwrap();
        let map = slice.to_index_map().unwrap();
        for append in [Relayout::new(&from, &slice).unwrap(), Relayout::new(&from, &map).unwrap()] {
            for padding in [Padding::Zero, Padding::Fill(7)] {
                let error = append.clone().with_padding(padding).unwrap_err();
                assert_eq!(error.code(), "padding_of_part");
                assert!(error.to_string().contains("with_padding_of_whole_buffer"), "{error}");
            }
            assert!(append.clone().with_padding(Padding::Keep).is_ok());
            let mut buffer = [9; 32];
            append.with_padding_of_whole_buffer(Padding::Zero).unwrap().run(&[1; 32], &mut buffer).unwrap();
            assert!(buffer.contains(&0));
        }
        assert_eq!(slice.to_string().parse().as_ref(), Ok(&slice));
    }
    let from = BufferTensorDesc::packed(DataType::U8, &[2, 2]).unwrap();
    assert!(Relayout::new(&from, &tile).unwrap().with_padding(Padding::Zero).is_err());
    // The pitch of rows and the padding of tiles belong to the tensor. Rows without a gap have no padding.
    let from = BufferTensorDesc::packed(DataType::U8, own.sizes()).unwrap();
    assert!(Relayout::new(&from, &own).unwrap().with_padding(Padding::Zero).is_ok());
    let rows = cache.slice_axis(0, 0..2).unwrap();
    let from = BufferTensorDesc::packed(DataType::U8, rows.sizes()).unwrap();
    assert!(Relayout::new(&from, &rows).unwrap().with_padding(Padding::Zero).is_ok());
    assert_ne!("u8[3,1,2]:[8,2,1]+0".parse::<BufferTensorDesc>().unwrap(), own);
}

/// `u8[3]` takes 4 bytes. The last byte is padding like any other, and belongs to the last piece.
#[test]
fn the_bytes_that_a_size_is_rounded_up_by_are_padding() {
    let three = BufferTensorDesc::packed(DataType::U8, &[3]).unwrap();
    let own_size = three.clone().with_total_size_in_bytes(8).unwrap();
    let odd = BufferTensorDesc::packed(DataType::S4, &[3]).unwrap();
    for (desc, padding, size, written, expected) in [
        (&three, Padding::Keep, 4, 3, [1, 2, 3, 9, 9, 9, 9, 9, 9, 9]),
        (&three, Padding::Zero, 4, 4, [1, 2, 3, 0, 9, 9, 9, 9, 9, 9]),
        (&three, Padding::Fill(7), 4, 4, [1, 2, 3, 0, 9, 9, 9, 9, 9, 9]),
        (&own_size, Padding::Zero, 8, 8, [1, 2, 3, 0, 0, 0, 0, 0, 9, 9]),
        (&odd, Padding::Zero, 4, 4, [1, 2, 0, 0, 9, 9, 9, 9, 9, 9]),
        // The half byte behind the third element is filled, as ONNX Runtime has 8 there and bitsandbytes 7.
        (&odd, Padding::Fill(8), 4, 4, [1, 0x82, 0, 0, 9, 9, 9, 9, 9, 9]),
    ] {
        let settings = Settings { padding, least_piece: Some(1), ..Settings::default() };
        let relayout = Relayout::with_settings(desc, desc, &settings).unwrap();
        assert_eq!(relayout.destination_size_in_bytes(), size);
        let mut runs = [[9; 10]; 3];
        relayout.run(&[1, 2, 3], &mut runs[0]).unwrap();
        if relayout.run(&[1, 2, 3], write_only(&mut runs[1])).is_err() {
            runs[1] = expected;
        }
        let pieces = relayout.partition(3, 1).unwrap();
        for piece in &pieces {
            piece.run(&[1, 2, 3], &mut runs[2][piece.destination_range()]).unwrap();
        }
        assert!(runs == [expected; 3], "{desc} {padding:?}: {runs:?}");
        assert_eq!(pieces.last().unwrap().destination_range().end, written, "{desc} {padding:?}");
        // If padding is set, the buffer must hold all of it.
        let error = relayout.run(&[1, 2, 3], &mut runs[0][..written - 1]).unwrap_err();
        assert_eq!(error.code(), "buffer_too_short");
        assert_eq!(relayout.to_vec(&[1, 2, 3]).unwrap()[..3], expected[..3]);
    }
    // The bytes after a slice do not belong to it.
    let rows = BufferTensorDesc::packed(DataType::U8, &[2, 3]).unwrap().select(0, 0).unwrap();
    let mut buffer = [9; 6];
    Relayout::new(&three, &rows).unwrap().with_padding(Padding::Zero).unwrap().run(&[1, 2, 3], &mut buffer).unwrap();
    assert_eq!(buffer, [1, 2, 3, 9, 9, 9]);
}
