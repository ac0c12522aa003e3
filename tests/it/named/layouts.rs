//! Every layout with a name, against cases that were made from the sources' own loops
//! (tests/data/named_layouts.jsonl): every sampled place, the size, the inverse, and round trips of copies.

use serde_json::Value;
use tensor_layout::element::BlockType;
use tensor_layout::map::same_layout;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::upload::{DeviceLimits, PackedBuffer, Role, UploadBuffer, validate};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_text::named::{NamedLayout, Row, names_of, rows};
use tensor_layout_text::{Layout, Notation};

struct Case {
    /// The layout as text, such as `tensorrt.kCHW32:s8[2,33,3,2]`.
    text: String,
    value: Value,
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

impl Case {
    fn layout(&self) -> NamedLayout {
        self.text.parse().unwrap_or_else(|error| panic!("{}: {error}", self.text))
    }

    fn sizes(&self) -> Vec<u64> {
        numbers(&self.value["sizes"])
    }

    /// Sampled indices, with the places where they are stored.
    fn samples(&self) -> Vec<(Vec<u64>, u64)> {
        let split = |sample: &Value| {
            let mut index = numbers(sample);
            let offset = index.pop().unwrap();
            (index, offset)
        };
        self.value["offsets"].as_array().unwrap().iter().map(split).collect()
    }
}

fn cases() -> Vec<Case> {
    let case = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let name = value["name"].as_str().unwrap();
        let words: &[&str] = match name {
            "flashinfer.block_major_k" => &["block_k"],
            "flashinfer.shuffle_matrix_a" => &["block"],
            "cutlass.ColumnMajorInterleaved" | "cutlass.RowMajorInterleaved" => &["k"],
            "cutlass.TensorNCxHWx" | "cutlass.TensorCxRSKx" => &["x"],
            "cudnn.NCHW_VECT_C" => &["v"],
            "xnnpack.f32_gemm_goi.weights" => &["nr", "kr"],
            "xnnpack.f32_gemm_goi_s4.weights" => &["nr"],
            "ggml.q8_0x4.qs" => &["interleave"],
            _ => &[],
        };
        let given: Vec<String> = words.iter().map(|word| value["params"][word].to_string()).collect();
        let given = if given.is_empty() { String::new() } else { format!("<{}>", given.join(",")) };
        let text = format!("{name}{given}:{}{}", value["dtype"].as_str().unwrap(), value["sizes"]);
        Case { text, value }
    };
    include_str!("../../data/named_layouts.jsonl").lines().map(case).collect()
}

#[test]
fn every_name_has_cases_and_every_case_a_name() {
    let cases = cases();
    // Blocks and orders of bits are held against recorded answers in blocks.rs.
    let is_elsewhere = |row: &&Row| row.types.parse::<BlockType>().is_ok() || row.name.starts_with("bits.");
    let mut names: Vec<&str> = rows().iter().filter(|row| !is_elsewhere(row)).map(|row| row.name.as_str()).collect();
    let recorded = super::recorded::names();
    let mut tested: Vec<&str> = cases.iter().map(|case| case.value["name"].as_str().unwrap()).collect();
    tested.extend(recorded.iter().map(String::as_str));
    names.sort_unstable();
    names.dedup();
    tested.sort_unstable();
    tested.dedup();
    assert_eq!((names.len(), cases.len()), (122, 154));
    assert_eq!(names, tested);
    let mut systems: Vec<&str> = names.iter().map(|name| name.split_once('.').unwrap().0).collect();
    systems.dedup();
    println!("{} systems", systems.len());
    assert!(rows().iter().all(|row| !row.source.is_empty() && !row.about.is_empty()), "no claim without a source");
    let known = |row: &tensor_layout_text::named::Row| {
        ["run,", "compiled,", "read"].iter().any(|word| row.known.starts_with(word))
    };
    assert!(rows().iter().all(known), "each rule says how it is known");
    let padding = ["must be zero", "zero", "undefined", "not stated", "none"];
    assert!(rows().iter().all(|row| padding.contains(&row.padding)));
}

#[test]
fn every_sampled_place() {
    let mut samples = 0;
    for case in cases() {
        let layout = case.layout();
        let elements = case.value["elements"].as_u64().unwrap();
        let end = layout.parts.iter().map(|part| part.map.physical_elements()).max();
        assert_eq!(end, Some(elements), "{}", case.text);
        for (index, offset) in case.samples() {
            // Exactly one part holds the index.
            let mut found = 0;
            for part in &layout.parts {
                let inside: Option<Vec<u64>> = part
                    .indices
                    .iter()
                    .zip(&index)
                    .map(|(slice, &i)| {
                        let moved = i.checked_sub(slice.start)?;
                        let in_reach = slice.end.is_none_or(|end| i < end) && moved % slice.step == 0;
                        in_reach.then_some(moved / slice.step)
                    })
                    .collect();
                let Some(inside) = inside else { continue };
                assert_eq!(part.map.offset(&inside).unwrap(), offset, "{} {index:?}", case.text);
                assert_eq!(part.map.inverse(offset).unwrap().as_deref(), Some(&inside[..]), "{}", case.text);
                found += 1;
            }
            assert_eq!(found, 1, "{} {index:?}", case.text);
            samples += 1;
        }
    }
    assert_eq!(samples, 3_664);
}

#[test]
fn the_texts_of_the_sources_and_the_strides() {
    let (mut texts, mut strided) = (0, 0);
    for case in cases() {
        let layout = case.layout();
        // A buffer of pitches ends with its last row, which no tile expresses.
        if let Some(xla) = case.value["xla"].as_str().filter(|_| case.value["elements_xla"].is_null()) {
            assert_eq!(layout.to_index_map(), xla.parse::<ArrayShape>().unwrap().to_index_map(), "{}", case.text);
            texts += 1;
        } else if let Some(xla) = case.value["xla"].as_str() {
            let shape: ArrayShape = xla.parse().unwrap();
            assert!(layout.as_descriptor().is_some(), "{}", case.text);
            assert!(same_layout(&shape, &layout).unwrap(), "{xla}");
        }
        if !case.value["strides"].is_null() {
            let strides = layout.to_index_map().unwrap().strides().unwrap();
            assert_eq!(*strides, numbers(&case.value["strides"]), "{}", case.text);
            strided += 1;
        }
    }
    assert_eq!((texts, strided), (139, 50));
}

/// Data is copied there, part by part, and back.
#[test]
fn there_and_back() {
    for case in cases() {
        let layout = case.layout();
        let sizes = case.sizes();
        let data_type = layout.parts[0].map.data_type();
        let packed = BufferTensorDesc::packed(data_type, &sizes).unwrap().to_index_map().unwrap();
        let bytes = usize::try_from(packed.physical_size_in_bytes()).unwrap();
        let source: Vec<u8> = (0..bytes).map(|byte| (byte * 167 + byte / 256 * 59 + 13) as u8).collect();
        let end = layout.parts.iter().map(|part| part.map.physical_size_in_bytes()).max().unwrap();
        let mut there = vec![0xa5; usize::try_from(end).unwrap()];
        let mut back = vec![0; bytes];
        for part in &layout.parts {
            let slice = packed.slice(&part.indices).unwrap();
            Relayout::new(&slice, &part.map).unwrap().run(&source, &mut there).unwrap();
        }
        for part in &layout.parts {
            let slice = packed.slice(&part.indices).unwrap();
            Relayout::new(&part.map, &slice).unwrap().run(&there, &mut back).unwrap();
        }
        assert_eq!(back, source, "{}", case.text);
        // Every sampled element is at the place that the source of the case gives.
        let bits = usize::try_from(data_type.bits()).unwrap();
        let element = |buffer: &[u8], at: u64| -> Vec<bool> {
            let at = usize::try_from(at).unwrap() * bits;
            (at..at + bits).map(|bit| buffer[bit / 8] >> (bit % 8) & 1 == 1).collect()
        };
        for (index, offset) in case.samples() {
            let from = packed.offset(&index).unwrap();
            assert_eq!(element(&there, offset), element(&source, from), "{} {index:?}", case.text);
        }
    }
}

/// Bias values, scales and sums that are stored beside the elements are left alone. Other padding is set.
#[test]
fn what_is_stored_beside_the_elements_stays() {
    let layout: NamedLayout = "ggml.q8_0x4.qs<4>:s8[4,32]".parse().unwrap();
    let packed: BufferTensorDesc = "s8[4,32]:[32,1]".parse().unwrap();
    let copy = Relayout::new(&packed, &layout).unwrap();
    assert_eq!(copy.clone().with_padding(Padding::Zero).unwrap_err().code(), "padding_of_part");
    let mut block = vec![7; 136];
    copy.run(&[1; 128], &mut block).unwrap();
    assert_eq!((&block[..8], &block[8..]), (&[7; 8][..], &[1; 128][..]));
}

#[test]
fn names_are_a_notation() {
    for case in cases().iter().filter(|case| case.layout().parts.len() == 1) {
        let layout = case.layout();
        let read: Layout = case.text.parse().unwrap();
        assert_eq!(read.notation(), Notation::Named);
        assert_eq!(read.to_string(), case.text);
        assert_eq!(read.to_index_map().unwrap(), layout.to_index_map().unwrap());
        assert_eq!(read.to_notation(Notation::Named).unwrap(), case.text);
    }
    let short: Layout = "kCHW32:s8[2,33,3,2]".parse().unwrap();
    assert_eq!(short.to_string(), "tensorrt.kCHW32:s8[2,33,3,2]");
    let spaced: Layout = " xnnpack.f32_gemm_goi.weights< 8, 2 > : f32[10, 5] ".parse().unwrap();
    assert_eq!(spaced.to_string(), "xnnpack.f32_gemm_goi.weights<8,2>:f32[10,5]");
}

/// A layout finds the name that it was made from, in whatever form it is given.
#[test]
fn layouts_know_their_names() {
    for case in cases().iter().filter(|case| case.layout().parts.len() == 1) {
        let map = case.layout().to_index_map().unwrap();
        let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap().to_index_map().unwrap();
        if map == packed {
            assert!(names_of(&map).iter().all(|known| known.axes.is_some()), "{}", case.text);
            continue;
        }
        let names: Vec<String> = names_of(&map).iter().map(ToString::to_string).collect();
        assert!(names.contains(&case.text), "{}: {names:?}", case.text);
        for known in names_of(&map) {
            let order = known.axes.clone().unwrap_or_else(|| (0..map.sizes().len()).collect());
            let named: IndexMap = known.layout.to_index_map().unwrap();
            assert!(same_layout(&map.permute(&order).unwrap(), &named).unwrap(), "{}: {known}", case.text);
        }
    }
}

/// Different systems have different names for one layout.
#[test]
fn aliases_are_equal() {
    let same = |names: &[&str], shape: &str| {
        let maps: Vec<IndexMap> = names
            .iter()
            .map(|name| format!("{name}:{shape}").parse::<NamedLayout>().unwrap().to_index_map().unwrap())
            .collect();
        assert!(maps.iter().all(|map| *map == maps[0]), "{names:?}");
        let known: Vec<String> = names_of(&maps[0]).iter().map(|known| known.layout.name()).collect();
        assert!(names.iter().all(|name| known.iter().any(|known| known == name)), "{names:?}: {known:?}");
    };
    same(&["tensorrt.kCHW16", "openvino.b_fs_yx_fsv16", "onnxruntime.NCHWc16"], "f16[2,20,3,2]");
    same(&["tensorrt.kCHW4", "openvino.b_fs_yx_fsv4"], "s8[2,5,3,2]");
    same(&["tensorrt.kCHW32", "cudnn.NCHW_VECT_C<32>", "cutlass.TensorNCxHWx<32>"], "s8[2,64,3,2]");
    same(&["cublaslt.COL32", "cutlass.ColumnMajorInterleaved<32>"], "s8[5,64]");
    same(&["d3d12.row_pitch_256", "webgpu.bytes_per_row_256"], "f32[3,100]");
    // These are oneDNN's tags.
    for (tag, named) in [
        ("f16[2,19,3,2]:nChw16c", "openvino.b_fs_yx_fsv16:f16[2,19,3,2]"),
        ("f32[2,12,2,2]:nChw8c", "onnxruntime.NCHWc8:f32[2,12,2,2]"),
        ("s8[18,21,2,2]:NChw16n16c", "openvino.bs_fs_yx_bsv16_fsv16:s8[18,21,2,2]"),
        ("f16[20,35,3,2]:OIhw16i16o", "openvino.os_is_yx_isv16_osv16:f16[20,35,3,2]"),
        ("f16[20,35,3,2]:OIhw16o16i", "openvino.os_is_yx_osv16_isv16:f16[20,35,3,2]"),
        ("f16[20,35,3,2]:IOhw16i16o", "openvino.is_os_yx_isv16_osv16:f16[20,35,3,2]"),
        ("f16[20,32,1,3]:OIhw8i16o2i", "openvino.os_is_yx_isv8_osv16_isv2:f16[20,32,1,3]"),
        ("s8[70,100]:BA16a64b4a", "onednn.BA16a64b4a:s8[70,100]"),
        ("bf16[40,70]:BA16a64b2a", "onednn.BA16a64b2a:bf16[40,70]"),
    ] {
        let map = |text: &str| text.parse::<Layout>().unwrap().to_index_map().unwrap();
        assert_eq!(map(tag), map(named), "{tag}");
    }
    // These are names on other axes.
    let known = names_of(&"f32[2,2,2,6]{2,1,3,0:T(4,1,1)}".parse::<ArrayShape>().unwrap().to_index_map().unwrap());
    let on_axes: Vec<String> = known.iter().map(ToString::to_string).collect();
    assert!(on_axes.contains(&"tflite_gpu.PHWC4:f32[2,2,2,6]".to_owned()), "{on_axes:?}");
    assert!(on_axes.contains(&"openvino.b_fs_yx_fsv4:f32[2,6,2,2] on axes 0,3,1,2".to_owned()), "{on_axes:?}");
}

#[test]
fn refusals_say_why() {
    for row in include_str!("refusals.txt").lines().skip(1) {
        let (text, end) = row.split_once(" | ").unwrap();
        let error = text.parse::<NamedLayout>().unwrap_err().to_string();
        assert!(error.ends_with(end), "{text}: {error}");
        assert!(text.parse::<Layout>().unwrap_err().to_string().ends_with(end), "{text}");
    }
    // No single map describes a layout of several, and the error has the number of parts.
    let parts = "xnnpack.f32_gemm_goi_s4.weights<8>:f32[8,8]";
    assert_eq!(parts.parse::<NamedLayout>().unwrap().parts.len(), 16);
    let error = parts.parse::<Layout>().unwrap().whole().unwrap_err().to_string();
    assert!(error.contains("it lies in 16 parts, each with a map of its own"), "{error}");
}

/// No sizes and no name make the reader panic. Layouts that are read stay within 64 bits.
#[test]
fn extreme_sizes_are_refused_or_exact() {
    const TYPES: &[&str] = &["s8", "u8", "f16", "f32", "u4", "c128", "f8e4m3fn", "f8e8m0fnu"];
    let (huge, most) = (1_u64 << 62, u64::MAX);
    for row in rows() {
        let name = |numbers: &[u64]| {
            let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
            if numbers.is_empty() { row.name.clone() } else { format!("{}<{}>", row.name, numbers.join(",")) }
        };
        let numbers: Vec<u64> = row.numbers.iter().map(|(_, values)| *values.last().unwrap()).collect();
        let axes = row.axes.split(',').count();
        for data_type in TYPES.iter().map(|name| name.parse().unwrap()) {
            for size in [0, 1, 2, 31, 32, 64, 576, 4096, 1 << 32, huge, most] {
                for rank in [0, axes.saturating_sub(1), axes, axes + 1] {
                    let mut sizes = vec![1; rank];
                    sizes.iter_mut().for_each(|other| *other = if size > 4096 { 1 } else { size });
                    for place in 0..rank {
                        let mut sizes = sizes.clone();
                        sizes[place] = size;
                        let Ok(layout) = NamedLayout::new(&name(&numbers), data_type, &sizes) else { continue };
                        for part in &layout.parts {
                            assert!(part.map.span_elements() <= part.map.physical_elements(), "{layout}");
                        }
                    }
                }
            }
        }
    }
}

/// llama.cpp's repacks that only move bytes are one copy for each field, compared with the loop over blocks.
#[test]
fn gguf_repacks_are_copies() {
    let (rows, blocks) = (8_u64, 3_u64);
    // The numbers are the bytes of a block's scale, the bytes of its values, and how many bytes of values are
    // interleaved.
    for (scale, values, interleave) in [(2_u64, 32_u64, 4_u64), (2, 32, 8), (2, 16, 4), (1, 16, 4)] {
        let block = scale + values;
        let source: Vec<u8> = (0..rows * blocks * block).map(|byte| (byte * 89 + byte / 256) as u8).collect();
        let mut wanted = vec![0; source.len()];
        for (group, b) in (0..rows / 4).flat_map(|group| (0..blocks).map(move |b| (group, b))) {
            let to = ((group * blocks + b) * 4 * block) as usize;
            for r in 0..4 {
                let from = (((group * 4 + r) * blocks + b) * block) as usize;
                for byte in 0..scale as usize {
                    wanted[to + r as usize * scale as usize + byte] = source[from + byte];
                }
                for k in 0..values {
                    let place = 4 * scale + k / interleave * 4 * interleave + r * interleave + k % interleave;
                    wanted[to + place as usize] = source[from + (scale + k) as usize];
                }
            }
        }
        // Q8_0 is made by its table, and the other formats by digits.
        let bytes = |digits: [Vec<(u64, u64)>; 2], base: u64| {
            IndexMap::from_digits(DataType::U8, 8, &digits).unwrap().with_base(base).unwrap()
        };
        let field = |length, at| bytes([vec![(rows, block * blocks)], vec![(blocks, block), (length, 1)]], at);
        let four = |length, at, run| {
            let row = vec![(rows / 4, 4 * block * blocks), (4, run)];
            bytes([row, vec![(blocks, 4 * block), (length / run, 4 * run), (run, 1)]], at)
        };
        let copies =
            [(field(scale, 0), four(scale, 0, scale)), (field(values, scale), four(values, 4 * scale, interleave))];
        let mut repacked = vec![0; source.len()];
        for (from, to) in &copies {
            Relayout::new(from, to).unwrap().run(&source, &mut repacked).unwrap();
        }
        assert_eq!(repacked, wanted, "{block} bytes a block, interleaved by {interleave}");
        if block == 34 {
            let name = format!("ggml.q8_0x4.qs<{interleave}>");
            let named = NamedLayout::new(&name, DataType::S8, &[rows, 32 * blocks]).unwrap().to_index_map().unwrap();
            assert!(named.same_places(&copies[1].1).unwrap(), "{name}");
        }
    }
}

#[test]
fn buffers_are_aligned() {
    let scales: Layout = "nvidia.sf_128x4:f8e4m3fn[200,10]".parse().unwrap();
    let at = |offset| validate(&scales, &UploadBuffer::new(4096, offset, Role::Input), &DeviceLimits::none());
    assert_eq!(at(8).unwrap_err().codes(), ["offset_unaligned"]);
    let report = at(16).unwrap();
    assert!(report.zero_padding && report.alignment_required == 16);
    let pitch: Layout = "d3d12.row_pitch_256:f32[3,100]".parse().unwrap();
    let report = validate(&pitch, &UploadBuffer::new(4096, 512, Role::Input), &DeviceLimits::none()).unwrap();
    assert!(!report.zero_padding && report.alignment_required == 512);
    assert!(validate(&pitch, &UploadBuffer::new(4096, 256, Role::Input), &DeviceLimits::none()).is_err());

    // There are two tensors of scales, and a tensor without an alignment in front of them.
    let odd: Layout = "u8[5]:[1]".parse().unwrap();
    let packed = PackedBuffer::new(&[&odd, &scales, &scales], &DeviceLimits::none()).unwrap();
    assert_eq!(packed.offsets, [0, 16, 16 + 3072]);
}
