//! The fields of ggml's blocks, and blocks as planes of values and scales, held against what gguf answered
//! (tests/data/ggml/planes.jsonl).

use serde_json::Value;
use tensor_layout::element::{BlockField, BlockType, FieldRole};
use tensor_layout::relayout::Settings;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout_text::Layout;
use tensor_layout_text::layout::copies;

fn records() -> Vec<Value> {
    let path = format!("{}/data/ggml/planes.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
        let hex = record["bytes"].as_str().unwrap();
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
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

/// A byte of scales changes the values of its entries, and none of the others.
#[test]
fn scales_are_where_gguf_has_them() {
    let mut found = 0;
    for record in records().iter().filter(|record| record["changed"].is_array()) {
        let Ok(of) = record["type"].as_str().unwrap().parse::<BlockType>() else { continue };
        let is_factor = |field: &&BlockField| [FieldRole::Scales, FieldRole::Minima].contains(&field.role);
        for changed in record["changed"].as_array().unwrap() {
            let [byte, first, last] = [0, 1, 2].map(|place| changed[place].as_u64().unwrap());
            let here = |field: &BlockField, entry: u64| field.bits(entry).any(|bit| bit / 8 == byte);
            let entries = of.fields().iter().filter(is_factor).flat_map(|field| {
                let all = 0..of.values() / field.per;
                all.filter(|&entry| here(field, entry)).map(|entry| (entry * field.per, (entry + 1) * field.per))
            });
            let Some((start, end)) = entries.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { continue };
            assert!(start <= first && last < end, "{of}: byte {byte} changes {first} to {last}, not {start}..{end}");
            assert!(2 * (last - first + 1) > end - start, "{of}: byte {byte} changes {first} to {last} alone");
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
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
        ("q5_0[4,64]", "u4[4,64] with f16 per 32", "upper bits u1"),
        ("q6_K[4,256]", "u4[4,256] with s8 per 16 with f16 per 256", "upper bits u2"),
        ("iq4_xs[4,256]", "u4[4,256] with f16 per 256", "48 bits of a block in no field"),
        ("q4_K[4,256]", "u4[4,256] with f16 per 256", "96 bits of a block in no field"),
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
    for text in ["q4_0[4,64]:[48,18]", "q4_0[4,64]:[18,72]", "q4_0[2,32]:[40,18]+44"] {
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
