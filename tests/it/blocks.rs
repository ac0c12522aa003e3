//! Tensors of ggml's block types, held against what ggml and gguf answered (tests/data/ggml).

use serde_json::Value;
use tensor_layout::element::BlockType;
use tensor_layout::relayout::Settings;
use tensor_layout::strided::{BlockTensorDesc, Slice};
use tensor_layout::upload::{Arena, DeviceLimits, Role, ScaledTensor, UploadBuffer, split_binding, validate};
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::copies;
use tensor_layout_text::named::NamedLayout;

pub(crate) fn records(name: &str) -> Vec<Value> {
    let path = format!("{}/data/ggml/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The block types in a file of records, each with its record.
fn types(file: &str) -> impl Iterator<Item = (BlockType, Value)> {
    let name = |record: &Value| record["name"].as_str().or(record["type"].as_str()).map(str::to_owned);
    records(file).into_iter().filter_map(move |record| Some((name(&record)?.parse().ok()?, record)))
}

#[test]
fn padded_rows_of_blocks_begin_aligned() {
    for (block_type, _) in types("blocks") {
        for (alignment, outer) in [1, 7, 32, 256].into_iter().flat_map(|a| [0_u64, 1, 3].map(|outer| (a, outer))) {
            let sizes = [outer, 4, 5 * block_type.values()];
            let rows = BlockTensorDesc::padded_rows(block_type, &sizes, alignment).unwrap();
            let row = (5 * block_type.bytes()).div_ceil(alignment) * alignment;
            assert_eq!((rows.sizes(), rows.strides()), (&sizes[..], &[4 * row, row, block_type.bytes()][..]), "{rows}");
        }
        let none = BlockTensorDesc::padded_rows(block_type, &[block_type.values()], 0);
        assert_eq!(none.unwrap_err().code(), "out_of_limits");
    }
}

#[test]
fn sizes_and_strides_are_those_of_ggml() {
    let mut seen = 0;
    for (block_type, record) in types("blocks") {
        assert_eq!(block_type.number(), u32::try_from(record["type"].as_u64().unwrap()).unwrap());
        assert_eq!(BlockType::from_number(block_type.number()), Some(block_type));
        assert_eq!(
            (block_type.values(), block_type.bytes()),
            (record["values"].as_u64().unwrap(), record["bytes"].as_u64().unwrap())
        );
        for (values, bytes) in record["row_size"].as_object().unwrap() {
            let row = BlockTensorDesc::packed(block_type, &[values.parse::<u64>().unwrap()]).unwrap();
            assert_eq!(row.bytes().exact_size_in_bytes(), bytes.as_u64().unwrap(), "{row}");
        }
        let shapes = record["ne_nb_bytes"].as_array().unwrap();
        assert_eq!(shapes.len(), 20);
        for shape in shapes {
            let (mut ne, mut nb) = (numbers(&shape[0]), numbers(&shape[1]));
            nb.truncate(ne.len());
            ne.reverse();
            nb.reverse();
            let desc = BlockTensorDesc::packed(block_type, &ne).unwrap();
            assert_eq!(
                (desc.strides(), desc.bytes().exact_size_in_bytes()),
                (&nb[..], shape[2].as_u64().unwrap()),
                "{desc}"
            );
            assert_eq!(BlockTensorDesc::new(block_type, &ne, Some(&nb)), Ok(desc.clone()));
            assert_eq!(desc.to_string().parse(), Ok(desc.clone()));
            assert_eq!(BlockTensorDesc::from_bytes(block_type, desc.bytes().clone()), Ok(desc));
        }
        // A row that is no multiple, for which a release build of ggml answers.
        let ragged = record["row_size_of_no_multiple"]["NDEBUG"]["asked"].as_array().unwrap();
        for values in ragged {
            let error = BlockTensorDesc::packed(block_type, &[3, values.as_u64().unwrap()]).unwrap_err();
            assert_eq!(
                (error.code(), error.axis(), error.limit()),
                ("inside_block", Some(1), Some(block_type.values()))
            );
        }
        seen += 1;
    }
    assert_eq!(seen, BlockType::ALL.len());
}

#[test]
fn ten_thousand_offsets() {
    let (mut state, mut compared) = (1_u64, 0);
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for (block_type, record) in types("blocks") {
        for shape in record["ne_nb_bytes"].as_array().unwrap() {
            let (ne, nb) = (numbers(&shape[0]), numbers(&shape[1]));
            let sizes: Vec<u64> = ne.iter().rev().copied().collect();
            let desc = BlockTensorDesc::packed(block_type, &sizes).unwrap();
            let map = desc.to_index_map().unwrap();
            for _ in 0..19 {
                let index: Vec<u64> = ne.iter().map(|&size| next(size)).collect();
                // ggml: the first index counts values, and nb[0] is the size of a block.
                let block = index[0] / block_type.values() * nb[0];
                let expected: u64 = index.iter().zip(&nb).skip(1).map(|(i, nb)| i * nb).sum::<u64>() + block;
                let index: Vec<u64> = index.into_iter().rev().collect();
                let place = desc.place(&index).unwrap();
                assert_eq!(
                    (place.block, place.value),
                    (expected, index.last().unwrap() % block_type.values()),
                    "{desc} {index:?}"
                );
                assert_eq!(map.inverse(place.block).unwrap().unwrap().last(), Some(&0));
                compared += 1;
            }
        }
    }
    assert!(compared >= 10_000, "{compared}");
}

#[test]
fn each_bit_of_a_value_is_where_ggml_has_it() {
    let mut seen = 0;
    for (block_type, record) in types("bits") {
        for k in 0..block_type.values() {
            let bits: Vec<u64> = block_type.value_bits(k).into_iter().flatten().collect();
            if bits.is_empty() {
                continue;
            }
            // ggml cannot dequantise q8_1 and q8_K. Its structs have 4 bytes of scales, and then the values.
            if record["value_bits"].is_null() {
                assert!(matches!(block_type, BlockType::Q81 | BlockType::Q8K), "{block_type}");
                assert_eq!(bits, Vec::from_iter((4 + k) * 8..(5 + k) * 8), "value {k} of {block_type}");
                continue;
            }
            let recorded = record["value_bits"][usize::try_from(k).unwrap()].as_array().unwrap();
            let recorded: Vec<u64> = recorded.iter().map(numbers).map(|bit| bit[0] * 8 + bit[1]).collect();
            assert_eq!(bits, recorded, "value {k} of {block_type}");
            seen += 1;
        }
        assert!(block_type.value_bits(block_type.values()).is_empty());
    }
    assert_eq!(seen, 7 * 32 + 2 * 64 + 128 + 7 * 256);
}

#[test]
fn views_keep_whole_blocks() {
    let experts: BlockTensorDesc = "q4_K[8,4,512]".parse().unwrap();
    let turned = experts.permute(&[1, 0, 2]).unwrap();
    assert_eq!(turned.to_string(), "q4_K[4,8,512]:[288,1152,144]");
    assert_eq!(experts.reshape(&[32, 512]).unwrap().to_string(), "q4_K[32,512]:[288,144]");
    assert_eq!(experts.permute(&[2, 1, 0]).unwrap_err().code(), "not_a_view");
    assert_eq!(
        experts.reshape(&[128, 128]).unwrap_err().to_string(),
        "size 128 of axis 1 is not a multiple of 256, the values of a block of q4_K"
    );
    // The number of elements counts values, as the sizes do.
    for sizes in [&[4, 96][..], &[4, 33], &[]] {
        let counts: u64 = sizes.iter().product();
        let error = "q8_0[4,64]".parse::<BlockTensorDesc>().unwrap().reshape(sizes).unwrap_err();
        assert_eq!((error.code(), error.value(), error.limit()), ("element_count_mismatch", Some(counts), Some(256)));
    }
    let slice = |last: Slice| experts.slice(&[Slice::ALL, Slice::ALL, last]);
    assert_eq!(slice((256..).into()).unwrap().to_string(), "q4_K[8,4,256]:[1152,288,144]+144");
    assert_eq!(
        slice((0..300).into()).unwrap_err().to_string(),
        "end 300 of axis 2 is not a multiple of 256, the values of a block of q4_K"
    );
    assert_eq!(slice(Slice::ALL.step_by(2)).unwrap_err().code(), "not_a_view");
    assert_eq!(slice((0..600).into()).unwrap_err().code(), "index_out_of_range");
}

#[test]
fn devices_take_bytes_or_refuse() {
    let weights: BlockTensorDesc = "q8_0[4096,4096]".parse().unwrap();
    let bytes = 4096 * 128 * 34;
    let buffer = UploadBuffer::new(bytes, 0, Role::Input);
    for name in ["webgpu", "vulkan", "metal", "d3d12", "none"] {
        let limits: DeviceLimits = name.parse().unwrap();
        assert_eq!(validate(&weights, &buffer, &limits).unwrap().total_bytes, bytes, "{name}");
    }
    for name in ["directml", "webnn", "metal-tensor", "cuda-tensor-map", "vulkan-tensor"] {
        let limits: DeviceLimits = name.parse().unwrap();
        let errors = validate(&weights, &buffer, &limits).unwrap_err();
        assert_eq!(errors.codes(), ["unsupported_data_type"], "{name}");
    }
    let error = validate(&weights, &buffer, &DeviceLimits::directml()).unwrap_err();
    assert!(
        error.to_string().contains("takes tensors of elements, not of blocks, and has no data type for q8_0"),
        "{error}"
    );
}

#[test]
fn pieces_begin_with_a_block_and_say_how_far_behind_the_binding() {
    // One row of 2^27 bytes and more, so that rows have to be divided.
    let weights = BlockTensorDesc::packed(BlockType::Q80, &[2, 1 << 27]).unwrap();
    let limits = DeviceLimits::webgpu();
    let pieces = split_binding(&weights, &limits).unwrap();
    let mut next = vec![0, 0];
    for piece in &pieces {
        let indices = weights.indices_of_piece(&piece.indices).unwrap();
        let place = weights.place(&[indices[0].start, indices[1].start]).unwrap();
        let desc: &BufferTensorDesc = piece.layout.as_descriptor().unwrap();
        // The binding begins at an alignment, and the first block after the bytes of the base offset.
        assert_eq!((piece.bound.start % 256, place.value), (0, 0));
        assert_eq!(piece.bound.start + desc.base_offset(), place.block);
        assert!(desc.base_offset() < 256 && piece.bound.end - piece.bound.start <= limits.max_binding);
        assert_eq!([indices[0].start, indices[1].start], next[..]);
        next = if indices[1].end == 1 << 27 { vec![indices[0].end, 0] } else { vec![indices[0].start, indices[1].end] };
    }
    assert_eq!(next, [2, 0]);
    assert!(weights.indices_of_piece(&[0..2, 0..4, 0..17]).is_err());
}

/// Copies a plain tensor to a named layout, and from there to the other buffer.
fn there_and_back(named: &NamedLayout, plain: impl Into<Layout>, bytes: &[u8], [there, back]: [&mut [u8]; 2]) {
    let (plain, named) = (plain.into(), Layout::try_from(named.clone()).unwrap());
    copies(&plain, &named, &Settings::default()).unwrap().run(bytes, there).unwrap();
    copies(&named, &plain, &Settings::default()).unwrap().run(there, back).unwrap();
}

/// Runs a repack and the way back. `plain` has one block for each row, or several.
fn repacked(name: &str, sizes: &[u64], block_type: BlockType, plain: &[u8]) -> Vec<u8> {
    let rows = BlockTensorDesc::packed(block_type, sizes).unwrap();
    let layout = NamedLayout::of_blocks(name, &rows).unwrap();
    assert_eq!(layout.to_string().parse::<NamedLayout>().as_ref(), Ok(&layout));
    let (mut there, mut back) = (vec![0; plain.len()], vec![0; plain.len()]);
    there_and_back(&layout, rows, plain, [&mut there, &mut back]);
    assert!(back == plain, "{layout}: the way back");
    there
}

/// The bits of a source in the record: a byte, two nibbles or eight bits.
fn bits_of(source: &Value) -> Vec<u64> {
    let parts = source.as_u64().map_or_else(|| numbers(source), |byte| vec![byte]);
    let width = 8 / u64::try_from(parts.len()).unwrap();
    parts.iter().flat_map(|part| part * width..(part + 1) * width).collect()
}

#[test]
fn repacks_are_those_of_ggml() {
    let (mut named, mut without, mut bytes, mut cases) = (0, 0, 0, 0);
    for record in records("repack").iter().skip(1) {
        let number = |key: &str| record[key].as_u64().unwrap();
        let (block_type, rows, interleave) = (record["type"].as_str().unwrap(), number("rows"), number("interleave"));
        // The interleave of q1_0 counts values.
        let name = match (block_type, rows) {
            ("q8_0" | "q4_0" | "q1_0", 4) | ("q4_K" | "q5_K" | "q6_K", 8) => {
                format!("ggml.{block_type}x{rows}<{interleave}>")
            }
            _ => format!("ggml.{block_type}x{rows}"),
        };
        let block_type: BlockType = block_type.parse().unwrap();
        // The source of each bit of a group, from the source of each byte: a byte, nibbles or bits.
        let source: Vec<u64> = record["source"].as_array().unwrap().iter().flat_map(bits_of).collect();
        let Ok(layout) = format!("{name}:{block_type}[{rows},{}]", block_type.values()).parse::<NamedLayout>() else {
            // These move bits inside bytes, which fields of bytes cannot say.
            assert!(["q1_0", "q4_K", "q5_K"].contains(&block_type.to_string().as_str()), "{name}");
            without += 1;
            continue;
        };
        for (at, from) in (0..).zip(source.chunks(8)) {
            let (row, byte) = (from[0] / 8 / block_type.bytes(), from[0] / 8 % block_type.bytes());
            assert_eq!(layout.offset(&[row, 0, byte]), Ok(at), "{name}: byte {at}");
        }
        let flipped = |at: usize| {
            let range = |range: &Value| numbers(range)[0] <= at as u64 && (at as u64) < numbers(range)[1];
            let xor = record["xor"].as_object().unwrap();
            xor.iter()
                .filter(|(_, ranges)| ranges.as_array().unwrap().iter().any(range))
                .fold(0, |all, (flip, _)| all ^ flip.parse::<u8>().unwrap())
        };
        for round in 0..2_u32 {
            let plain: Vec<u8> = (0..u32::try_from(source.len() / 8).unwrap())
                .map(|i| if round == 0 { i as u8 } else { (i >> 8) as u8 ^ (i * 167) as u8 })
                .collect();
            let bit = |from: &u64| plain[usize::try_from(from / 8).unwrap()] >> (from % 8) & 1;
            let group = repacked(&name, &[rows, block_type.values()], block_type, &plain);
            for (at, (byte, from)) in group.iter().zip(source.chunks(8)).enumerate() {
                let expected = from.iter().rev().fold(0, |byte, from| byte << 1 | bit(from));
                assert_eq!(*byte, expected ^ flipped(at), "{name}: byte {at}");
                bytes += 1;
            }
        }
        for case in record["cases"].as_array().unwrap() {
            let ne = numbers(&case["ne"]);
            let length = ne[0] / block_type.values() * block_type.bytes() * ne[1];
            let plain: Vec<u8> = (0..length).map(|i| (7 * i * i + 31 * i + 13 * (i >> 8)) as u8).collect();
            let there = repacked(&name, &[ne[1], ne[0]], block_type, &plain);
            assert_eq!(sha256(&there), case["sha256"].as_str().unwrap(), "{name} {ne:?}");
            cases += 1;
        }
        for rows in numbers(&record["rows_refused"]) {
            let refused = NamedLayout::of_blocks(
                &name,
                &BlockTensorDesc::packed(block_type, &[rows, block_type.values()]).unwrap(),
            );
            assert_eq!(refused.unwrap_err().code(), "not_expressible", "{name} {rows}");
        }
        named += 1;
    }
    assert_eq!((named, without, cases), (17, 6, 68));
    assert!(bytes > 10_000, "{bytes}");
}

#[test]
fn every_repack_is_copied_to_and_from_any_layout() {
    // Padded rows of blocks, blocks apart, and blocks of whom the bytes are apart.
    for plain in ["q6_K[16,512]:[480,210]", "q6_K[16,512]:[210,3360]"] {
        let rows: BlockTensorDesc = plain.parse().unwrap();
        round_trip("ggml.q6_Kx8<4>:q6_K[16,512]", &rows.bytes().to_index_map().unwrap());
    }
    let apart: BufferTensorDesc = "u8[2,8,3,18]:[8,1,16,48]".parse().unwrap();
    for name in ["ggml.q4_0x4<8>", "ggml.q4_0x8"] {
        round_trip(&format!("{name}:q4_0[2,8,96]"), &apart.to_index_map().unwrap());
    }
    let names = ["ggml.q8_0x4<4>:q8_0[16,64]", "ggml.q8_0x4<8>:q8_0[16,64]", "ggml.q8_0x16:q8_0[16,64]"];
    let layouts = names.map(|name| name.parse::<Layout>().unwrap());
    let packed: Layout = "u8[16,2,34]".parse().unwrap();
    let copied = |from: &Layout, to: &Layout| copies(from, to, &Settings::default());
    let bytes: Vec<u8> = (0..1088_u32).map(|i| (i * i / 7 + i) as u8).collect();
    for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (from, to))) {
        let [mut one, mut two, mut other] = [(); 3].map(|()| vec![0; bytes.len()]);
        copied(&packed, from).unwrap().run(&bytes, &mut one).unwrap();
        copied(from, to).unwrap().run(&one, &mut two).unwrap();
        copied(&packed, to).unwrap().run(&bytes, &mut other).unwrap();
        assert_eq!(two, other, "{from} to {to}");
    }
    let other: Layout = "ggml.q4_0x8:q4_0[16,64]".parse().unwrap();
    assert_eq!(copied(&layouts[0], &other).unwrap_err().code(), "data_type_mismatch");
}

/// Copies a tensor to a named layout and back, and compares each byte with the place that the layout says.
fn round_trip(name: &str, plain: &IndexMap) {
    let layout: NamedLayout = name.parse().unwrap();
    let length = usize::try_from(plain.physical_size_in_bytes()).unwrap();
    let bytes: Vec<u8> = (0..length).map(|i| (i * i / 5 + 3 * i) as u8).collect();
    let (mut there, mut back) = (vec![0; usize::try_from(layout.size_in_bytes()).unwrap()], bytes.clone());
    // The gaps are kept.
    for offset in (0..plain.physical_elements()).filter(|offset| plain.inverse(*offset).unwrap().is_some()) {
        back[usize::try_from(offset).unwrap()] = 0;
    }
    there_and_back(&layout, AnyLayout::from(plain.clone()), &bytes, [&mut there, &mut back]);
    assert_eq!(back, bytes, "{name}");
    let packed = BufferTensorDesc::packed(DataType::U8, plain.sizes()).unwrap().to_index_map().unwrap();
    let flip = |to: u64| {
        let last = layout.blocks().is_some_and(|blocks| blocks.block_type() == BlockType::Q40 && to % 18 >= 2);
        if last { 0x88 } else { 0 }
    };
    for from in 0..packed.physical_elements() {
        let source = plain.offset(&packed.inverse(from).unwrap().unwrap()).unwrap();
        let byte = bytes[usize::try_from(source).unwrap()] ^ flip(from);
        let place = layout.offset(&packed.inverse(from).unwrap().unwrap()).unwrap();
        assert_eq!(there[usize::try_from(place).unwrap()], byte, "{name} {from}");
    }
}

#[test]
fn bits_are_those_of_openvino() {
    // u2 and u4 are low bits first, as ours.
    let records = records("../openvino_bits");
    for record in records.iter().skip(1) {
        let (bits, values) = (record["bits"].as_u64().unwrap(), numbers(&record["values"]));
        let plain = BufferTensorDesc::packed(DataType::U1, &[values.len() as u64, bits]).unwrap();
        let mut packed = vec![0; usize::try_from(plain.exact_size_in_bytes()).unwrap()];
        for (at, bit) in (0..).zip(values.iter().flat_map(|value| (0..bits).map(move |bit| value >> bit & 1))) {
            packed[at / 8] |= (bit as u8) << (at % 8);
        }
        let there = match bits {
            1 => ordered("bits.high_first", DataType::U1, &[values.len() as u64], &packed),
            2 | 4 => packed,
            // The upper bits of 8 values of u3, and of 4 of u6, are in a byte of their own.
            _ => ordered(&format!("bits.openvino_u{bits}"), DataType::U1, plain.sizes(), &packed),
        };
        let hex: String = there.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, record["bytes"].as_str().unwrap(), "u{bits}");
    }
    assert_eq!(records.len(), 26);
    assert!("bits.openvino_u3:u1[8,4]".parse::<NamedLayout>().is_err());
}

/// Converts packed elements, the first in the low bits, to a named order of bits and back.
fn ordered(name: &str, data_type: DataType, sizes: &[u64], packed: &[u8]) -> Vec<u8> {
    let plain = BufferTensorDesc::packed(data_type, sizes).unwrap();
    let layout = NamedLayout::new(name, data_type, sizes).unwrap();
    let (mut there, mut back) = (vec![0; layout.size_in_bytes() as usize], vec![0; packed.len()]);
    there_and_back(&layout, plain, packed, [&mut there, &mut back]);
    assert_eq!(back, packed, "{layout}");
    there
}

#[test]
fn bits_in_the_order_of_each_library() {
    // 1 to 5 by HDF5's N-bit filter, and nibbles as bitsandbytes and torchao have them.
    assert_eq!(ordered("bits.high_first", DataType::U4, &[5], &[0x21, 0x43, 0x05]), [0x12, 0x34, 0x50]);
    assert_eq!(ordered("bits.high_first", DataType::U4, &[2, 4], &[0x21, 0x43, 0x65, 0x87]), [0x12, 0x34, 0x56, 0x78]);
    // OpenVINO's u1, and bits of a type of two.
    assert_eq!(ordered("high_first", DataType::U1, &[16], &[0b0000_0001, 0b1011_0010]), [0b1000_0000, 0b0100_1101]);
    assert_eq!(ordered("high_first", DataType::U2, &[4], &[0b11_10_01_00]), [0b00_01_10_11]);
    assert!("bits.high_first:u4[2,5]".parse::<NamedLayout>().is_err());
    let long: Vec<u8> = (0..40_000_u32).map(|i| (i * i / 7 + i) as u8).collect();
    let swapped: Vec<u8> = long.iter().map(|byte| byte.rotate_left(4)).collect();
    assert_eq!(ordered("high_first", DataType::U4, &[80, 1000], &long), swapped);
    let reversed: Vec<u8> = long.iter().map(|byte| byte.reverse_bits()).collect();
    assert_eq!(ordered("high_first", DataType::U1, &[320, 1000], &long), reversed);
    let halves = |packed: &[u8]| ordered("bits.apart<16>", DataType::U4, &[32], packed);
    let first: Vec<u8> = (0..16).map(|i| (2 * i % 16) | ((2 * i + 1) % 16) << 4).collect();
    assert_eq!(halves(&first), (0..16).map(|i| i * 0x11).collect::<Vec<u8>>());
}

#[test]
fn elements_apart_are_where_ggml_has_them() {
    let orders = [
        ("q4_0", 16, 4),
        ("mxfp4", 16, 4),
        ("q4_1", 16, 4),
        ("nvfp4", 8, 4),
        ("q4_K", 32, 4),
        ("q6_K", 64, 4),
        ("tq2_0", 32, 2),
        ("q2_K", 32, 2),
    ];
    let recorded: Vec<(BlockType, Value)> = types("bits").collect();
    for (name, apart, bits) in orders {
        let (block_type, record) = recorded.iter().find(|(block_type, _)| block_type.to_string() == name).unwrap();
        let data_type = if bits == 4 { DataType::U4 } else { DataType::U2 };
        let map = NamedLayout::new(&format!("bits.apart<{apart}>"), data_type, &[block_type.values()])
            .unwrap()
            .to_index_map()
            .unwrap();
        let first = |k: usize| {
            let bit = numbers(&record["value_bits"][k][0]);
            bit[0] * 8 + bit[1]
        };
        for k in 0..block_type.values() {
            assert_eq!(
                map.offset(&[k]).unwrap() * bits,
                first(usize::try_from(k).unwrap()) - first(0),
                "value {k} of {name}"
            );
        }
    }
}

#[test]
fn block_floats_and_their_exponents_are_where_ttnn_has_them() {
    let layout = |name: &str, data_type, sizes: &[u64]| {
        NamedLayout::new(&format!("tenstorrent.{name}"), data_type, sizes).unwrap()
    };
    let (values, exponents) =
        (layout("bfp8_b.values", DataType::U8, &[40, 70]), layout("bfp8_b.exponents", DataType::U8, &[40, 5]));
    // ttnn 0.81.1: 6528 and 3456 bytes; (0,16) is at 320, its exponent at 16.
    let tensor = ScaledTensor::new(&values, &[(&exponents, &[1, 16])]).unwrap();
    assert_eq!((values.size_in_bytes(), exponents.size_in_bytes()), (6528, 6528));
    assert_eq!(tensor.offsets(&[0, 16]).unwrap(), [320, 16]);
    let (values, exponents) =
        (layout("bfp4_b.values", DataType::U4, &[40, 70]), layout("bfp4_b.exponents", DataType::U8, &[40, 5]));
    assert_eq!((values.size_in_bytes(), exponents.size_in_bytes()), (3456, 3456));
}

#[test]
fn values_and_scales_are_packed_and_found_together() {
    // NVFP4: f8e4m3fn for 16 values, in the order of the tensor cores, and a second level of f32.
    let values = BufferTensorDesc::packed(DataType::F4E2M1FN, &[200, 160]).unwrap();
    let scales: NamedLayout = "nvidia.sf_128x4:f8e4m3fn[200,10]".parse().unwrap();
    let global = BufferTensorDesc::packed(DataType::F32, &[1, 1]).unwrap();
    let tensor = ScaledTensor::new(&values, &[(&scales, &[1, 16]), (&global, &[200, 160])]).unwrap();
    let packed = tensor.pack(&DeviceLimits::webgpu()).unwrap();
    assert_eq!((packed.offsets.as_slice(), packed.len), (&[0, 16_128, 19_200][..], 19_204));
    for (row, column) in [(0, 0), (130, 95), (199, 159)] {
        let expected = [row * 160 + column, scales.offset(&[row, column / 16]).unwrap(), 0];
        assert_eq!(tensor.offsets(&[row, column]).unwrap(), expected);
    }
    assert_eq!(tensor.offsets(&[200, 0]).unwrap_err().code(), "index_out_of_range");
    assert_eq!(tensor.offsets(&[0]).unwrap_err().code(), "rank_mismatch");
    assert!(ScaledTensor::new(&values, &[(&global, &[200, 80])]).is_err());
    assert!(ScaledTensor::new(&values, &[(&global, &[200, 0])]).is_err());
}

/// The elements of every piece are those of the plane: values and scales are cut at the same rows, each index
/// is in one piece, and each binding is one that the device allows.
#[test]
fn values_and_scales_are_cut_at_the_same_rows() {
    let mut cut = 0;
    for (rows, columns, block, most) in [
        (128_u64, 320_u64, [1, 32], "8KiB"),
        (200, 160, [1, 16], "4KiB"),
        (96, 64, [4, 16], "1KiB"),
        (7, 1024, [1, 32], "2KiB"),
        (1, 4096, [1, 64], "1KiB"),
        (64, 64, [64, 64], "16KiB"),
    ] {
        let values = BufferTensorDesc::packed(DataType::U8, &[rows, columns]).unwrap();
        let per: [u64; 2] = block;
        let scales =
            BufferTensorDesc::packed(DataType::F16, &[rows.div_ceil(per[0]), columns.div_ceil(per[1])]).unwrap();
        let tensor = ScaledTensor::new(&values, &[(&scales, &per)]).unwrap();
        let limits = DeviceLimits::webgpu().with("max_binding", most).unwrap();
        let pieces = tensor.split_binding(&limits).unwrap();
        cut += usize::from(pieces.len() > 1);
        let mut next = [0, 0];
        for piece in &pieces {
            let axis = (0..2).find(|&axis| piece.indices[axis] != (0..values.sizes()[axis])).unwrap_or(0);
            assert_eq!(piece.indices[axis].start, next[axis], "{rows} x {columns}");
            next[axis] = piece.indices[axis].end;
            for ((plane, bound), per) in [&values, &scales].into_iter().zip(&piece.planes).zip([[1, 1], per]) {
                assert!(bound.bound.start.is_multiple_of(limits.offset_alignment));
                assert!(bound.bound.end - bound.bound.start <= limits.max_binding);
                let (map, bytes) = (bound.layout.to_index_map().unwrap(), u64::from(plane.data_type().bits() / 8));
                let [first, second] = [0, 1].map(|axis| {
                    let range = piece.indices[axis].start / per[axis]..piece.indices[axis].end.div_ceil(per[axis]);
                    assert_eq!(bound.indices[axis], range);
                    range
                });
                for (i, j) in first.clone().flat_map(|i| second.clone().map(move |j| (i, j))) {
                    let inside = bound.bound.start + map.offset(&[i - first.start, j - second.start]).unwrap() * bytes;
                    assert_eq!(inside, plane.offset(&[i, j]).unwrap() * bytes, "{rows} x {columns} at {i}, {j}");
                    assert!(inside + bytes <= bound.bound.end);
                }
            }
        }
        assert!(next.contains(&rows) || next.contains(&columns), "{rows} x {columns}: {next:?}");
        let arena = Arena::of_scaled(&[(&tensor, Role::Input)], &limits).unwrap();
        assert_eq!(arena.tensors.iter().map(Vec::len).collect::<Vec<_>>(), [pieces.len(); 2]);
        assert_eq!(arena.bindings().len(), 2 * pieces.len());
    }
    assert_eq!(cut, 5);
    let values = BufferTensorDesc::packed(DataType::U8, &[64, 64]).unwrap();
    let scale = BufferTensorDesc::packed(DataType::F32, &[1, 1]).unwrap();
    let tensor = ScaledTensor::new(&values, &[(&scale, &[64, 64])]).unwrap();
    let limits = DeviceLimits::webgpu().with("max_binding", "1KiB").unwrap();
    assert_eq!(tensor.split_binding(&limits).unwrap_err().code(), "no_pieces");
}

/// The SHA-256 of FIPS 180-4, in which the recorded answers are kept short.
fn sha256(bytes: &[u8]) -> String {
    let root = |number: f64, cube: bool| {
        let root = if cube { number.cbrt() } else { number.sqrt() };
        (root.fract() * 4_294_967_296.0) as u32
    };
    let primes: Vec<f64> = (2..312_u32).filter(|n| (2..*n).all(|d| n % d != 0)).map(f64::from).collect();
    let k: Vec<u32> = primes.iter().map(|&prime| root(prime, true)).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|&prime| root(prime, false)).collect();
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks(64) {
        let mut w: Vec<u32> = block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let (a, b) = (
                a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3),
                b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10),
            );
            w.push(w[t - 16].wrapping_add(a).wrapping_add(w[t - 7]).wrapping_add(b));
        }
        let mut v = h.clone();
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let first = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[t]).wrapping_add(w[t]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v[3] = v[3].wrapping_add(first);
            v[7] = first.wrapping_add(s0).wrapping_add(majority);
            v.rotate_right(1);
        }
        h.iter_mut().zip(v).for_each(|(h, v)| *h = h.wrapping_add(v));
    }
    h.iter().map(|word| format!("{word:08x}")).collect()
}
