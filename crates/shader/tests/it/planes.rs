//! Random planes, for the forms that copy rows and columns.

use proptest::prelude::*;
use tensor_layout::{BufferTensorDesc, DataType};

use crate::literal::pairs::{Side, with_own_bits};

/// Planes of rows and columns round the sizes of words, tiles and workgroups, turned, interleaved, with gaps
/// or as they are.
pub(crate) fn planes() -> impl Strategy<Value = (Side, Side)> {
    let near = || {
        prop_oneof![
            2 => 1..=6_u64,
            2 => prop::sample::select(vec![8_u64, 16, 32, 64, 128]),
            2 => (prop::sample::select(vec![8_u64, 16, 32, 64]), 0..=2_u64).prop_map(|(n, d)| n + d - 1),
        ]
    };
    let kinds = prop::sample::select(vec![
        DataType::U8,
        DataType::BF16,
        DataType::F32,
        DataType::F64,
        DataType::C128,
        DataType::S4,
        DataType::U2,
        DataType::S1,
    ]);
    let gap = || prop_oneof![2 => Just(0_u64), 1 => 0..4_u64, 2 => prop::sample::select(vec![8_u64, 32])];
    (near(), near(), 1..=3_u64, kinds, (gap(), gap()), 0..7_usize, any::<bool>()).prop_map(
        |(rows, columns, planes, data_type, (gap, other), kind, turn)| {
            let sizes = [planes, rows, columns];
            let desc =
                |strides: [u64; 3]| Side::strided(&BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap());
            let text = |layout: &str| {
                let shape = format!("{data_type}[{planes},{rows},{columns}]{layout}");
                Side::tiled(&with_own_bits(shape.parse().unwrap()))
            };
            let (pitch, height) = (columns + gap, rows + other);
            let rows_first = || desc([pitch * rows, pitch, 1]);
            let columns_first = || desc([height * columns, 1, height]);
            let (from, to) = match kind {
                0 | 1 => (rows_first(), columns_first()),
                2 => (rows_first(), desc([(columns + other) * rows, columns + other, 1])),
                // The planes are channels that stay together, or are innermost on one side.
                3 => (desc([1, planes * columns, planes]), desc([1, planes, planes * rows])),
                4 => (rows_first(), desc([1, planes * columns, planes])),
                5 => (rows_first(), text("{2,1,0:T(8,128)(2,1)}")),
                _ => (rows_first(), text("{2,1,0:T(4,32)(4,1)}")),
            };
            if turn { (to, from) } else { (from, to) }
        },
    )
}
