//! Copies to and from the layouts of devices and libraries, by their names (docs/DEVICE_LAYOUTS.md has all of
//! them): weights for AMD's kernels, tiles of Tenstorrent, bindings of TensorRT, int4 weights, and blocks of
//! GGUF.
//!
//! `cargo run --release --example device_layouts`

use std::error::Error;

use tensor_layout::map::IndexMap;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::named::{NamedLayout, names_of};

type Answer = Result<(), Box<dyn Error>>;

/// Some bytes that differ.
fn bytes(count: u64) -> Vec<u8> {
    (0..count).map(|byte| (byte * 37 + 11) as u8).collect()
}

/// A weight `[N,K]`, or `[experts,N,K]`, for AMD's kernels. hipBLASLt has the same bytes under another name
/// and on exchanged axes.
fn aiter() -> Answer {
    let plain: ArrayShape = "bf16[8,64,128]".parse()?;
    let shuffled: NamedLayout = "aiter.shuffle_weight_16x16:bf16[8,64,128]".parse()?;
    let source = bytes(8 * 64 * 128 * 2);
    let there = Relayout::new(&plain, &shuffled)?.to_vec(&source)?;
    assert!(there != source && Relayout::new(&shuffled, &plain)?.to_vec(&there)? == source);

    let names = names_of(&"bf16[64,128]{1,0:T(16,8)}".parse::<ArrayShape>()?.to_index_map()?);
    assert_eq!(names[0].to_string(), "aiter.shuffle_weight_16x16:bf16[64,128]");
    assert_eq!(names[1].to_string(), "hipblaslt.COL16_4R8:bf16[128,64] on axes 1,0");

    // What the shuffle does not take is refused, not padded.
    let error = "aiter.shuffle_weight_16x16:bf16[40,128]".parse::<NamedLayout>().unwrap_err();
    assert!(error.to_string().ends_with("needs N % 16 = 0, and N is 40"));
    Ok(())
}

/// Tiles of 32 x 32 in four faces, padded with zeros.
fn tenstorrent() -> Answer {
    let plain: ArrayShape = "bf16[2,40,70]".parse()?;
    let tiles: NamedLayout = "tenstorrent.tile:bf16[2,40,70]".parse()?;
    let map = tiles.to_index_map()?;
    assert_eq!((map.physical_size_in_bytes(), map.offset(&[0, 33, 65])?), (2 * 64 * 96 * 2, 5137));
    let source = bytes(2 * 40 * 70 * 2);
    let there = Relayout::new(&plain, &tiles)?.with_padding(Padding::Zero)?.to_vec(&source)?;
    assert_eq!(Relayout::new(&tiles, &plain)?.to_vec(&there)?, source);
    Ok(())
}

/// The bindings of a TensorRT engine say their format; `getBindingFormat` has the name in the table.
fn tensorrt() -> Answer {
    let image = BufferTensorDesc::nhwc(DataType::U8, [1, 3, 2, 4])?;
    let input: NamedLayout = "kHWC:u8[1,3,2,4]".parse()?;
    let pixels = bytes(24);
    assert_eq!(Relayout::new(&image, &input)?.to_vec(&pixels)?, pixels, "an image as it is decoded");

    // Out of an int8 engine: vectors of 32 channels, of which 5 are used.
    let output: NamedLayout = "kCHW32:s8[1,5,2,2]".parse()?;
    let plain = BufferTensorDesc::nchw(DataType::S8, [1, 5, 2, 2])?;
    let from_engine: Vec<u8> = (0..128).collect();
    assert_eq!(Relayout::new(&output, &plain)?.to_vec(&from_engine)?[..4], [0, 32, 64, 96]);

    // The DLA requires rows that are multiples of 64 bytes.
    let dla: NamedLayout = "kDLA_LINEAR:f16[1,2,3,5]".parse()?;
    assert_eq!(dla.to_index_map()?.strides().as_deref(), Some(&[0, 96, 32, 1][..]));
    Ok(())
}

/// GPTQ, AWQ and Marlin keep the same nibbles in different orders, so every way between them is a copy.
/// (Their zero points differ by arithmetic: an offset of one in GPTQ's first format, a permutation of the
/// scales in Marlin's.)
fn int4() -> Answer {
    let sizes = [32, 128];
    let layout = |name| NamedLayout::new(name, DataType::U4, &sizes);
    let (gptq, awq, marlin) = (layout("gptq.qweight_u4")?, layout("awq.qweight_u4")?, layout("marlin.qweight_u4")?);
    let plain: ArrayShape = "u4[32,128]{1,0:E(4)}".parse()?;
    let nibbles = bytes(32 * 128 / 2);

    let as_awq = Relayout::new(&plain, &awq)?.to_vec(&nibbles)?;
    let as_gptq = Relayout::new(&awq, &gptq)?.to_vec(&as_awq)?;
    let as_marlin = Relayout::new(&gptq, &marlin)?.to_vec(&as_gptq)?;
    assert_eq!(Relayout::new(&marlin, &plain)?.to_vec(&as_marlin)?, nibbles);

    // Nibble 1 of word 0 of GPTQ is row 1; of AWQ it is column 2.
    assert_eq!((gptq.to_index_map()?.offset(&[1, 0])?, awq.to_index_map()?.offset(&[0, 2])?), (1, 1));
    Ok(())
}

/// llama.cpp keeps four rows of Q8_0 in one block: four scales, then their values, interleaved by 4 or 8
/// bytes. Each field of a block is a layout, and a repack is one copy a field into the same buffer: what is
/// stored beside a field is left alone. The same with other numbers (`d` scales, `qs` values, `e` exponents):
///
/// | repack | block | four rows | values, interleaved by |
/// |---|---|---|---|
/// | q8_0x4 | 34 bytes: f16 d, s8 qs[32] | 136 bytes: d[4], qs[128] | 4 or 8 bytes |
/// | iq4_nlx4 | 18 bytes: f16 d, u8 qs[16] | 72 bytes: d[4], qs[64] | 4 bytes |
/// | mxfp4x4 | 17 bytes: u8 e, u8 qs[16] | 68 bytes: e[4], qs[64] | 4 bytes |
/// | iq4_nlx8, eight rows | 18 bytes: f16 d, u8 qs[16] | 144 bytes: d[8], qs[128] | 8 bytes |
/// | mxfp4x8, eight rows | 17 bytes: u8 e, u8 qs[16] | 136 bytes: e[8], qs[128] | 8 bytes |
///
/// They and 12 others, with those that flip bits (q4_0), are named layouts of whole blocks:
/// `ggml.q6_Kx8<8>:q6_K[8,512]`.
fn gguf() -> Answer {
    let (rows, blocks) = (8, 3);
    // block_q8_0: an f16 scale, then 32 values: 34 bytes, 17 f16.
    let in_blocks = vec![(blocks, 34), (32, 1)];
    let values = IndexMap::from_digits(DataType::S8, 8, &[vec![(rows, 34 * blocks)], in_blocks])?.with_base(2)?;
    let [row, block] = [(rows, 17 * blocks), (blocks, 17)];
    let scales = IndexMap::from_digits(DataType::F16, 16, &[vec![row], vec![block]])?;
    let values_x4 = NamedLayout::new("ggml.q8_0x4.qs<8>", DataType::S8, &[rows, 32 * blocks])?;
    let scales_x4 = NamedLayout::new("ggml.q8_0x4.d", DataType::F16, &[rows, blocks])?;

    let q8_0 = bytes(34 * rows * blocks);
    let mut q8_0x4 = vec![0; q8_0.len()];
    Relayout::new(&scales, &scales_x4)?.run(&q8_0, &mut q8_0x4)?;
    Relayout::new(&values, &values_x4)?.run(&q8_0, &mut q8_0x4)?;
    // The scale of row 1 is the second of the first block, and its values follow 8 of row 0.
    assert_eq!(q8_0x4[2..4], q8_0[34 * 3..34 * 3 + 2]);
    assert_eq!(q8_0x4[8 + 8..8 + 16], q8_0[34 * 3 + 2..34 * 3 + 10]);
    Ok(())
}

fn main() -> Answer {
    for (name, copies) in [
        ("AITER", aiter as fn() -> Answer),
        ("Tenstorrent", tenstorrent),
        ("TensorRT", tensorrt),
        ("int4", int4),
        ("GGUF", gguf),
    ] {
        copies()?;
        println!("{name}: every byte is where it belongs");
    }
    Ok(())
}
