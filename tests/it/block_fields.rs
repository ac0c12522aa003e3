//! The fields of ggml's blocks, and blocks as planes of values and scales, held against what gguf answered
//! (tests/data/ggml/planes.jsonl).

use std::collections::BTreeMap;

use serde_json::Value;
use tensor_layout::DataType;
use tensor_layout::element::{BlockField, BlockType, FieldRole};
use tensor_layout::relayout::Settings;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout_text::Layout;
use tensor_layout_text::layout::copies;

fn records() -> Vec<Value> {
    let path = format!("{}/data/ggml/planes.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bytes_of(record: &Value) -> Vec<u8> {
    let hex = record["bytes"].as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn layout(text: &str) -> Layout {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The `width` bits of element `number`, the first in the low bits.
fn bits(bytes: &[u8], number: usize, width: usize) -> u32 {
    let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
    (0..width).map(|place| bit(number * width + place) << place).sum()
}

fn f4(code: u32) -> f32 {
    let value = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][code as usize & 7];
    if code < 8 { value } else { -value }
}

/// A half or an `f8e4m3fn`, by the widths of its exponent and mantissa.
fn float(code: u32, exponent: i32, mantissa: i32) -> f32 {
    let (fraction, power) = (code & ((1 << mantissa) - 1), code >> mantissa & ((1 << exponent) - 1));
    let bias = (1 << (exponent - 1)) - 1;
    let one = if power == 0 { 0.0 } else { 1.0 };
    let power = i32::try_from(power).unwrap().max(1) - bias;
    let value = (one + fraction as f32 / (1 << mantissa) as f32) * 2.0_f32.powi(power);
    if code >> (exponent + mantissa) == 0 { value } else { -value }
}

fn half(code: u32) -> f32 {
    float(code, 5, 10)
}

fn signed(code: u32, width: u32) -> f32 {
    ((code << (32 - width)).cast_signed() >> (32 - width)) as f32
}

#[test]
fn planes_have_the_values_of_gguf() {
    type Decoded = fn(u32) -> f32;
    let records = records();
    let mut values_of = 0;
    for (name, value_type, scale_type, per, widths, value, scale) in [
        ("q4_0", "u4", "f16", 32, [4, 16], (|code| code as f32 - 8.0) as Decoded, half as Decoded),
        ("q4_0", "s4", "f16", 32, [4, 16], |code| signed(code, 4), half),
        ("q8_0", "s8", "f16", 32, [8, 16], |code| signed(code, 8), half),
        ("mxfp4", "f4e2m1fn", "f8e8m0fnu", 32, [4, 8], f4, |code| 2.0_f32.powi(code.cast_signed() - 127)),
        ("nvfp4", "f4e2m1fn", "f8e4m3fn", 16, [4, 8], f4, |code| float(code, 4, 3)),
        ("tq2_0", "u2", "f16", 256, [2, 16], |code| code as f32 - 1.0, half),
    ] {
        let record = records.iter().find(|record| record["type"] == name && record["values"].is_array()).unwrap();
        let sizes: Vec<usize> =
            record["sizes"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
        let bytes = bytes_of(record);
        let blocks = layout(&format!("{name}{sizes:?}").replace(' ', ""));
        let planes = layout(&format!("{value_type}{sizes:?} with {scale_type} per {per}").replace(", ", ","));
        let there = copies(&blocks, &planes, &Settings::default()).unwrap();
        let mut buffer = vec![0; usize::try_from(there.destination_size_in_bytes()).unwrap()];
        there.run(&bytes, &mut buffer).unwrap();
        let start = usize::try_from(there.planes()[1][1]).unwrap();
        for (place, expected) in record["values"].as_array().unwrap().iter().enumerate() {
            let (row, column) = (place / sizes[1], place % sizes[1]);
            let number = row * (sizes[1] / per) + column / per;
            // gguf has no negative zero of 4 bits.
            let own = value(bits(&buffer, place, widths[0])) + 0.0;
            let scaled = own * scale(bits(&buffer[start..], number, widths[1]));
            assert_eq!(u64::from(scaled.to_bits()), expected.as_u64().unwrap(), "{name} to {value_type}: {place}");
            values_of += 1;
        }
        let mut back = vec![0; bytes.len()];
        copies(&planes, &blocks, &Settings::default()).unwrap().run(&buffer, &mut back).unwrap();
        assert_eq!(back, bytes, "{name} from {value_type}");
    }
    assert_eq!(values_of, 3 * (64 * 4 + 128 + 512));
}

/// Each bit of scales and minima changes the values that share its number, by its weight there, and no other
/// bit changes 16 values.
#[test]
fn bits_of_scales_are_where_gguf_has_them() {
    let mut found = 0;
    for record in records().iter().filter(|record| record["scale_bits"].is_array()) {
        let Ok(of) = record["type"].as_str().unwrap().parse::<BlockType>() else { continue };
        let mut recorded: BTreeMap<u64, &Value> = BTreeMap::new();
        recorded.extend(record["scale_bits"].as_array().unwrap().iter().map(|row| (row[0].as_u64().unwrap(), row)));
        for field in of.fields().iter().filter(|field| field.role != FieldRole::Values) {
            for entry in 0..of.values() / field.per {
                for (place, bit) in (field.lowest_bit..).zip(field.bits(entry)) {
                    // The scale of nvfp4 has no sign.
                    let Some(row) = recorded.remove(&bit) else {
                        assert_eq!((of, place), (BlockType::Nvfp4, 7), "bit {bit}");
                        continue;
                    };
                    let what = format!("bit {bit} of {of}, a bit of {field:?}: {row}");
                    assert_eq!([&row[1], &row[2]], [entry * field.per, (entry + 1) * field.per - 1], "{what}");
                    // The scales of scales and of minima do not add, nor have bits of exponents a weight.
                    let is_integer =
                        [DataType::U1, DataType::U2, DataType::U4, DataType::S8].contains(&field.data_type);
                    if is_integer && (of != BlockType::Iq1M || field.per == 16 || place < 10) {
                        assert_eq!(row[3], place, "{what}");
                        assert_eq!(row[4], u64::from(field.role == FieldRole::Minima), "{what}");
                    }
                    found += 1;
                }
            }
        }
        // Of each 32 values of iq1_s a bit says whether an eighth is added or subtracted.
        let signs: Vec<u64> = if of == BlockType::Iq1S { (287..400).step_by(16).collect() } else { Vec::new() };
        assert_eq!(recorded.into_keys().collect::<Vec<_>>(), signs, "{of}");
    }
    assert!(found > 1200, "{found}");
}

/// The bits of a number in a block, put together: of floats as they are, of other numbers the integer.
fn number(block: &[u8], field: &[BlockField], entry: u64) -> f32 {
    let bit = |at: u64| u32::from(block[usize::try_from(at / 8).unwrap()] >> (at % 8) & 1);
    let (mut code, mut flip, mut width) = (0, 0, 0);
    for piece in field {
        assert_eq!(piece.lowest_bit, width);
        for at in piece.bits(entry) {
            code |= bit(at) << width;
            width += 1;
        }
        flip |= u32::from(piece.flip) << piece.lowest_bit;
    }
    match field[0].data_type {
        DataType::F16 => half(code),
        DataType::S8 => signed(code, 8),
        _ if flip != 0 => signed(code ^ flip, width),
        _ => code as f32,
    }
}

#[test]
fn numbers_that_are_put_together_are_those_of_gguf() {
    const TABLE: [f32; 16] =
        [-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0];
    let mut seen = Vec::new();
    for record in records().iter().filter(|record| record["values"].is_array()) {
        let of: BlockType = record["type"].as_str().unwrap().parse().unwrap();
        if [BlockType::Mxfp4, BlockType::Nvfp4, BlockType::Tq20].contains(&of) {
            continue;
        }
        let values = record["values"].as_array().unwrap();
        let text = format!("{of}[{}]", values.len());
        let blocks = layout(&text);
        let fields: Vec<_> = blocks.values().block_fields().collect();
        for (block, values) in bytes_of(record).chunks(of.bytes() as usize).zip(values.chunks(of.values() as usize)) {
            for (k, expected) in (0..).zip(values) {
                let (mut factors, mut minima) = ([1.0, 1.0], false);
                let mut value = 0.0;
                for (_, field) in &fields {
                    let number = number(block, field, k / field[0].per);
                    match field[0].role {
                        FieldRole::Values if of == BlockType::Iq4Xs => value = TABLE[number as usize],
                        FieldRole::Values => value = number,
                        FieldRole::Minima => (factors[1], minima) = (factors[1] * number, true),
                        _ => factors[0] *= number,
                    }
                }
                let minimum = match of {
                    _ if !minima => 0.0,
                    BlockType::Q41 | BlockType::Q51 => -factors[1],
                    _ => factors[1],
                };
                let found = factors[0] * value - minimum;
                assert_eq!(found, f32::from_bits(expected.as_u64().unwrap() as u32), "value {k} of {of}");
            }
        }
        seen.push(of.to_string());
    }
    assert_eq!(seen.join(" "), "q4_0 q8_0 q4_1 q5_0 q5_1 q2_K q3_K q4_K q5_K q6_K iq4_xs");
}

#[test]
fn a_number_has_a_place_in_rows_of_any_form() {
    // The same block as rows of a file, and as a group of eight rows of which the bytes take turns.
    for (text, field, index, offset, bits) in [
        ("q4_K[4,512]", "scales per 32", [1, 9], 437, vec![(437, 0..6)]),
        ("q4_K[4,512]", "minima per 32", [1, 14], 446, vec![(446, 4..8), (442, 6..8)]),
        ("q3_K[2,256]", "scales per 16", [1, 9], 207, vec![(207, 4..8), (215, 4..6)]),
        ("iq1_m[2,256]", "scales per 16", [0, 2], 48, vec![(48, 6..8), (49, 0..1)]),
        ("iq1_m[2,256]", "scales per 256", [1, 0], 105, vec![(105, 4..8), (107, 4..8), (109, 4..8), (111, 4..8)]),
        ("ggml.q6_Kx8<8>:q6_K[8,256]", "scales per 16", [3, 2], 35, vec![(35, 0..8)]),
    ] {
        let layout = layout(text);
        let (_, pieces) = layout.values().block_fields().find(|(name, _)| name == field).unwrap();
        let place = layout.values().place_in(pieces, &index).unwrap();
        assert_eq!((place.offset, place.bits), (offset, bits), "{text} {field}");
        let held = layout.values().index_at(offset).unwrap().unwrap();
        let in_byte = layout.values().numbers_in_byte(*held.last().unwrap());
        assert!(
            in_byte
                .iter()
                .any(|(name, _, numbers)| name == field && numbers.contains(&place.in_block.as_ref().unwrap().0))
        );
        let outside = layout.values().place_in(pieces, &[0, 512]).unwrap_err();
        assert_eq!(outside.code(), "index_out_of_range");
    }
}

#[test]
fn every_field_is_inside_its_block_and_no_two_share_a_bit() {
    for of in BlockType::ALL {
        let mut taken = vec![false; usize::try_from(of.bytes() * 8).unwrap()];
        for field in of.fields() {
            for bit in (0..of.values() / field.per).flat_map(|entry| field.bits(entry)) {
                let place = &mut taken[usize::try_from(bit).unwrap()];
                assert!(!std::mem::replace(place, true), "{of}: bit {bit} twice");
            }
        }
    }
}

#[test]
fn what_is_no_plane_is_refused() {
    let refused = |blocks: &str, planes: &str| {
        let (blocks, planes) = (layout(blocks), layout(planes));
        let error = copies(&blocks, &planes, &Settings::default()).unwrap_err();
        assert_eq!(copies(&planes, &blocks, &Settings::default()).unwrap_err().code(), error.code());
        format!("{}: {error}", error.code())
    };
    for (blocks, planes, expected) in [
        ("q4_1[4,64]", "u4[4,64] with f16 per 32", "minima f16 per 32"),
        (
            "q5_0[4,64]",
            "u4[4,64] with f16 per 32",
            "values u4, bits from 4 on of values u1 and scales f16 per 32, and the planes",
        ),
        ("q6_K[4,256]", "u4[4,256] with s8 per 16 with f16 per 256", "bits from 4 on of values u2"),
        ("iq4_xs[4,256]", "u4[4,256] with f16 per 256", "scales u4 per 32, bits from 4 on of scales u2 per 32"),
        (
            "q4_K[4,256]",
            "u4[4,256] with f16 per 256",
            "bits from 4 on of minima u2 per 32, scales f16 per 256 and minima f16 per 256, and the planes",
        ),
        ("q8_1[4,32]", "s8[4,32] with f16 per 32", "16 bits of a block in no field"),
        ("q8_0[4,64]", "s8[4,64] with f16 per 16", "the planes are values s8 and scales f16 per 16"),
        ("q8_0[4,64]", "u8[4,64] with f16 per 32", "the planes are values u8"),
        ("q8_0[4,64]", "s8[4,64] with f32 per 32", "scales f32 per 32"),
        ("q8_0[4,64]", "s8[4,64] with f16 per [2,32]", "scales f16 per [2,32]"),
        ("nvfp4[4,64]", "f4e2m1fn[4,64] with f8e8m0fnu per 32", "scales f8e4m3fn per 16"),
        ("q4_0[4,64]", "s4[4,64]{1,0} with f16 per 32", "a byte each"),
        ("q8_0[4,64]", "s8[4,32] with f16 per 32", "size_mismatch"),
    ] {
        let said = refused(blocks, planes);
        assert!(said.contains(expected), "{blocks}, {planes}: {said}");
    }
    // Rows of 35 bytes are no whole halves apart; their values are.
    let odd: BlockTensorDesc = "q8_0[2,32]:[35,34]".parse().unwrap();
    let [values, scales] = odd.block_type().fields() else { panic!() };
    assert_eq!(odd.field(values).unwrap().offset(&[1, 3]), Ok(40));
    assert_eq!(odd.field(scales).unwrap_err().code(), "not_expressible");
    assert!(odd.field(scales).unwrap_err().to_string().contains("steps of 280 bits, which are no whole f16"));
    let empty: BlockTensorDesc = "q8_0[0,32]".parse().unwrap();
    assert_eq!(empty.field(values).unwrap().sizes(), [0, 32]);
}

/// Padded rows, and a part of a larger buffer.
#[test]
fn fields_of_any_rows_are_copied() {
    let bytes: Vec<u8> = (0..=255).cycle().take(512).collect();
    for text in ["q4_0[4,64]:[48,18]", "q4_0[4,64]:[18,72]", "q4_0[2,32]:[40,18]+44", "q4_0[0,64]", "q4_0[3,0]"] {
        let blocks = layout(text);
        let sizes: Vec<String> = blocks.sizes().iter().map(u64::to_string).collect();
        let planes = layout(&format!("u4[{}] with f16 per 32", sizes.join(",")));
        let there = copies(&blocks, &planes, &Settings::default()).unwrap();
        let mut buffer = vec![0; usize::try_from(there.destination_size_in_bytes()).unwrap()];
        there.run(&bytes, &mut buffer).unwrap();
        let desc: BlockTensorDesc = text.parse().unwrap();
        for row in 0..desc.sizes()[0] {
            for column in 0..desc.sizes()[1] {
                let place = desc.place(&[row, column]).unwrap();
                let at = usize::try_from(place.block * 8 + place.bits[0].start).unwrap() / 4;
                let number = usize::try_from(row * desc.sizes()[1] + column).unwrap();
                assert_eq!(bits(&buffer, number, 4), bits(&bytes, at, 4), "{text}: {row},{column}");
            }
        }
        // What is no field of these blocks is kept.
        let mut back: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
        let home = copies(&planes, &blocks, &Settings::default()).unwrap();
        home.run(&buffer, &mut back).unwrap();
        let of = desc.bytes();
        let held: usize = back.iter().zip(&bytes).filter(|(a, b)| a == b).count();
        assert_eq!(held as u64, of.sizes().iter().product::<u64>(), "{text}");
    }
}
