//! Nothing that a reader does not understand is dropped: it is refused by name.

use proptest::prelude::*;
use tensor_layout::map::same_layout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, LayoutClass, ToIndexMap};
use tensor_layout_text::{Layout, Notation, to_notation};

use crate::literal::{any_shape, cases};

#[test]
fn words_that_no_reader_knows_are_refused() {
    for (text, sentence) in [
        ("memref<4x8xf32, #map>", "`#map` stands for a layout in another line"),
        ("memref<4x8xf32, #map1, 2>", "`#map1` stands for a layout in another line"),
        ("memref<4x8xf32, #tpu.memory_space<hbm>, #map>", "one layout and then one memory space"),
        ("memref<4x8xf32, @foo>", "column 17"),
        ("memref<4x8xf32, 1 : f32>", "a memory space such as `1`"),
        ("memref<4x8xf32, 1, 2>", "column 17"),
        ("memref<4x8xf32, strided<[8, 1]>, strided<[8, 1]>>", "column 34"),
        ("memref<4x8xf32, #amdgpu.swizzle<4,4>>", "`#amdgpu.swizzle<..>` may be any layout"),
        ("memref<4x8xf32, #sparse>", "`#sparse` stands for a layout in another line"),
        ("memref<272x256xi32, #tpu.tiled<(8,128),[1,34]>>", "the strides of tiles in row-major order"),
        ("memref<272x256xi32, #tpu.tiled<(8,128),[2]>>", "the strides of tiles in row-major order"),
        ("memref<272x256xi32, #tpu.tiled<(8,0),[2,1]>>", "each at least 1"),
        ("memref<272x256xi32, #tpu.tiled<(8,128)>>", "the strides of tiles"),
        ("f16 ne=[384,256] nb1=1000", "column 18 of `f16 ne=[384,256] nb1=1000`: expected ne= or nb="),
        ("f32 shape=[2, 3], strides=[3, 1], offset=7", "column 35"),
        ("f32 shape=[2, 3], strides=[3, 1], dtype=float32", "column 35"),
        ("f32 shape=[2, 3], strides=[3, 1], layouts=Cc (0x5)", "column 35"),
        ("f32 Layout { shape: [2, 3], stride: [3, 1], start_offset: 0, device: 1 }", "column 62"),
        ("f32 shape=(2, 3), strides=(12, 4), dtype=float32", "not given before"),
        ("f32 torch.Size([2, 3]) stride=(3, 1) offset=7", "column 38"),
        ("torch.empty_strided((2, 3), (3, 1), dtype=torch.float32, layout=torch.sparse_coo)", "column 58"),
        ("f32[8, 64][64, 1]gpu:0", "a device of PyTorch"),
        ("foo.f32[2,3]", "column 1"),
        ("buf0 = foo", "column 8"),
        ("{\"dtype\":\"BF16\",\"shape\":[2,4],\"offsets\":[20,36]}", "\"dtype\":"),
        ("ShapeDtypeStruct(shape=(2, 3), dtype=int4, layout=None)", "shape=, dtype="),
        ("<Output: names[x] shape[?,3,224,224] type: f16>", "found `?`"),
        ("f16 Tensor<0x00005585446ae9c0@generic o (?,4):(1,?{i64})>", "known when the program runs"),
        (
            "f16[64,128] SwizzledSharedLayout(vec=8, per_phase=2, maxPhase=4, order=[1, 0])",
            "max_phase, order, cga_layout, f",
        ),
        ("f16[2,2] SharedLinearLayout(offset_bases=[[0, 1]], block_bases=[[1, 0]], alignment=16)", "among the blocks"),
        ("f16[2,4] PaddedSharedLayout(order=[1, 0], shape=[2, 4])", "interval_padding_pairs, shape, offset_bases"),
        ("a b = f32[2,3]", "column 1"),
        (
            "f32[2,3]{1,0}, f32[4]",
            "column 16 of `f32[2,3]{1,0}, f32[4]`: expected nothing more, because a text is one value",
        ),
        ("memref<2x3xf32> memref<4xf32>", "one value and the second begins here, found `memref`"),
        ("f32[2,3], 7", "column 9"),
        (
            "float32[batch,3]",
            "column 9 of `float32[batch,3]`: expected a size, or `?` if it is known at run time, found `batch`",
        ),
        ("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "column 35"),
        ("<KerasTensor shape=(None, 8), dtype=float32>", "column 21"),
        ("{'name': 'x', 'shape': array([2], dtype=int64), 'dtype': <class 'numpy.int8'>}", "column 33"),
        ("ShapedArray(float32[2,3], junk)", "column 31"),
        ("ShapedArray(float32[b,3])", "expected a size, found `b`"),
        ("TensorInfo { dtype: F32, shape: [2], junk: 1 }", "column 38"),
        ("9: 6 | 3, 2, 1, x | F16 | a", "column 17"),
        ("a: b: f32[2,3]", "column 4"),
        ("relu: \"f32[2][1]cpu\" = foo", "column 22"),
        ("empty_strided_cuda((8, 64), (64, 1), torch.float33)", "a dtype such as"),
        ("empty_strided_cuda((8, 64), (64, 1), torch.float32, junk=1)", "column 53"),
        ("f32 assert_size_stride(arg0_1, (8, 64), (64, 1), (1, 2))", "column 50"),
        ("FixedLayout('cpu', torch.float32, size=[3, 1030], stride=[1056, 1], junk=2)", "column 69"),
        ("\"f32[8, 64][64, 1]cuda:0", "column 25"),
        ("f32[4,6] Format(layout=Layout(major_to_minor=(0, 1), tiling=()), junk=1)", "`sharding=`"),
        ("tensor<ptr<f32, junk> o (4,6):(6,1)>", "a memory space"),
        ("tensor<ptr<f32, smem> o S<2,3,3> o 0 o (4,64):(64,1)>", "the unit of the bits: `f32 S<2,3,3>b"),
        ("arg0_1: \"f32[8, 64][64, 1]cuda:0", "column 33"),
        ("check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.float32, size=[2, 3], strides=[3, 1])", "size= or"),
        ("f64 empty_strided_cuda((8, 64), (64, 1), torch.float32)", "not given before"),
        ("{'shape': (2, 3), 'typestr': '>f4', 'version': 3}", "little-endian"),
        ("{'shape': (2, 3), 'typestr': '<f4', 'masks': 1}", "'shape':, 'typestr':"),
        ("{'shape': (2, 3), 'typestr': '<f4', 'mask': 7}", "None, because any other value is not read"),
        ("{'shape': (2, 3), typestr': '<f4'}", "`'` and a key"),
        ("{\"data_type\":\"HALF\",\"dim\":[2],\"reordering_type\":\"F8_128x4\"}", "\"NONE\", because any other value"),
        ("{\"data_type\":\"HALFS\",\"dim\":[2],\"stride\":[1]}", "a dtype such as"),
        ("{\"data_type\":\"HALF\",\"dim\":[2],\"strides\":[1]}", "\"data_type\":, \"dim\":"),
        ("<halide.Buffer of type float32 shape:[[1,6,1],[0,4,6]]>", "the minimum 0"),
        ("<halide.Buffer of type float32 shape:[[0,6],[0,4,6]]>", "a stride"),
        ("<halide.Buffer of type float32 shape:[[0,6,1]], junk>", "`>`"),
        ("index=0, dims=[1, 4, 6, 3], w_stride = 5, fmt=NHWC, type=INT8", "at least the size of the axis `W`"),
        ("index=0, dims=[1, 4, 6, 3], w_stride = 8, fmt=UNDEFINED, type=INT8", "0, or a distance of rows"),
        ("index=0, dims=[1, 4, 6, 3], fmt=NC1HWC2, type=INT8", "rknn.NC1HWC2"),
        ("index=0, dims=[1, 4, 6, 3], h_stride=8, fmt=NHWC, type=INT8", "dims=, type=, fmt= or w_stride="),
        ("T.Buffer((4, 6), \"float32\", layout=T.TileLayout(T.S[(4, 6):(8, 1)]))", "shape=, dtype="),
        ("T.Buffer((4, 6), \"float33\")", "a dtype such as"),
        ("T.Buffer((4, 6), \"int8\", dtype=\"int8\")", "not given before"),
        ("T.Buffer((4, 6), axis_separators=[1])", "strides= or elem_offset="),
        ("f32 T.TileLayout(T.S[(4, (2, 3)):(6, (3, 1))])", "without tuples inside"),
        ("f32 T.TileLayout(T.S[(4, 6):(6, 1)] + T.R[2:1])", "replicas"),
        ("llama_model_loader: - tensor 0, split 0: a.weight f99 [ 2, 3 ]", "a dtype such as"),
        ("llama_model_loader: - tensor 0, split 0: a.weight f16 [ 2, 3 ] 7", "nothing more"),
        ("common_debug_cb_eval: x = (f32) ADD(a{2, 3}, b{2, 3}})", "`=`"),
        ("tensor<2x?xf32>", "known when the program runs"),
        ("tensor<2x3xf32, #blocked>", "registers"),
        ("tensor<2x3xf32, dense>", "an encoding may be any layout"),
        ("memref<4x8xf32, affine_map<(d0, d1) -> (d0 + 1, d1)>>", "no order of the dimensions"),
        ("memref<4x8xf32, affine_map<(d0, d1) -> (d0, d0)>>", "no order of the dimensions"),
        ("memref<4x8xf32, affine_map<(d0) -> (d0)>>", "no order of the dimensions"),
        ("memref<4x8xf32, affine_map<(d0, d1)[s0] -> (d0, d1)>>", "no order of the dimensions"),
        ("src:f32:0:blocked:ab:70x1:f0 10x20", "offsets"),
        ("src:f32::any:any::f0 10x20", "`blocked:`"),
        ("wei:s8:p:blocked:AB4b16a4b::f8:s8m1 10x20", "`:f0`"),
        ("src:f32::blocked:ab::f0 10x20x3", "an axis order of 3 letters"),
        ("src:f32::blocked:aB16b:70x1:f0 10x20", "a tag of letters"),
        ("f32 gmem_ptr[16b](0x7f00) o (8,64):(64,1)", "32, the bits of f32"),
        ("gmem_ptr[16b](0x7f00) o (8,64):(64,1)", "a type in front"),
        ("f16 Sw<3,4,3> o smem_ptr[16b](0x7f00) o (8,64):(64,1)", "an address is no offset"),
        ("!cute.memref<f32, junk, \"(4,6):(6,1)\">", "a memory space"),
        ("!cute.memref<f32, gmem, junk<16>, \"(4,6):(6,1)\">", "column 23"),
        ("FLOATS[2,3]", "column 1"),
    ] {
        let error = text.parse::<Layout>().unwrap_err().to_string();
        assert!(error.contains(sentence), "{text}: {error}");
    }
    let error = "f16 [ 11008, 4096, 1, 1 ]".parse::<Layout>().unwrap_err();
    assert_eq!(error.column(), Some(5));
    assert_eq!(
        error.expected(),
        "f16[1,1,4096,11008] if the innermost size is first, as llama.cpp prints sizes, or f16[11008,4096,1,1] if it is last"
    );
    assert!("q4_0 [ 4096, 32000, 1, 1 ]".parse::<Layout>().is_err());
}

#[test]
fn words_that_change_no_place_are_skipped() {
    for (text, same) in [
        ("shape=(2, 3), strides=(12, 4), dtype=float32", "f32[2,3]:[3,1]"),
        ("empty_strided_cuda((8, 64), (1, 8), torch.float32)", "f32[8,64]:[1,8]"),
        ("f32 assert_size_stride(arg0_1, (8, 64), (64, 1))", "f32[8,64]:[64,1]"),
        ("f16 assert_size_stride(buf1, (8, 64), (64, 1), 'torch.ops.aten.mm.default')", "f16[8,64]:[64,1]"),
        ("FixedLayout('cpu', torch.float32, size=[3, 1030], stride=[1056, 1])", "f32[3,1030]:[1056,1]"),
        (
            "TensorMetadata(shape=torch.Size([6, 4]), dtype=torch.float32, requires_grad=False, stride=(1, 6), \
             memory_format=None, is_quantized=False, qparams={})",
            "f32[6,4]:[1,6]",
        ),
        ("\"f32[8, 64][64, 1]cuda:0\"", "f32[8,64]:[64,1]"),
        ("f16 ne = {3, 2, 1, 1}, nb = {2, 6, 12, 12}", "f16[1,1,2,3]:[6,6,3,1]"),
        (
            "f32[4,6] Format(layout=Layout(major_to_minor=(1, 0), tiling=(), sub_byte_element_size_in_bits=0), \
             sharding=SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device))",
            "f32[4,6]{0,1}",
        ),
        ("f32[4,6] DeviceLocalLayout(major_to_minor=(1, 0), tiling=())", "f32[4,6]{0,1}"),
        ("tensor<ptr<f32, generic> o (4,6):(6,1)>", "f32[4,6]:[6,1]"),
        ("f32 8:2", "f32[8]:[2]"),
        ("shape=(2, 3), dtype='<f2', strides=(2, 4)", "f16[2,3]:[1,2]"),
        ("arg0_1: \"f32[8, 64][64, 1]cuda:0\"", "f32[8,64]:[64,1]"),
        ("%arg0: tensor<2x3xf32>", "f32[2,3]"),
        ("{\"dtype\":\"BF16\",\"shape\":[2,4],\"data_offsets\":[20,36]}", "bf16[2,4]"),
        ("\"h.weight\":{\"dtype\":\"F8_E8M0\",\"shape\":[2,3],\"data_offsets\":[46,52]}", "f8e8m0fnu[2,3]"),
        ("\"i\": {\"dtype\":\"F4\",\"shape\":[2,8],\"data_offsets\":[67,75]}", "f4e2m1fn[2,8]:[8,1]"),
        ("ShapeDtypeStruct(shape=(2, 3), dtype=int4)", "s4[2,3]{1,0}"),
        (
            "ShapeDtypeStruct(shape=(8, 6), dtype=float32, sharding=NamedSharding(mesh=Mesh('a': 4), spec=P('a',)))",
            "f32[8,6]",
        ),
        ("<ConstOutput: names[x] shape[2,3] type: f32>", "f32[2,3]"),
        ("<Output: names[x] shape[2,3] type: boolean>", "pred[2,3]"),
        ("A = T.match_buffer(a, (4, 6), \"float16\", strides=(8, 1), elem_offset=3)", "f16[4,6]:[8,1]+3"),
        ("C = T.alloc_shared((16, 16), \"bfloat16\")", "bf16[16,16]"),
        ("A: T.Buffer((4, 6), \"float16\", strides=(8, 1))", "f16[4,6]:[8,1]"),
        ("buf0.layout = FixedLayout('cpu', torch.float32, size=[3, 4], stride=[1, 3])", "f32[3,4]:[1,3]"),
        (
            "check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.float32, device=None, requires_grad=False, \
             size=[2, 3], stride=[1, 2])",
            "f32[2,3]:[1,2]",
        ),
        (
            "{\"data_type\":\"HALF\",\"dim\":[17,32,1,128],\"is_virtual\":false,\"name\":\"Q\",\
             \"reordering_type\":\"NONE\",\"stride\":[4096,128,128,1],\"uid\":1}",
            "f16[17,32,1,128]:[4096,128,128,1]",
        ),
        (
            "index=0, name=images, n_dims=4, dims=[1, 640, 640, 3], n_elems=1228800, size=1228800, w_stride = 640, \
             size_with_stride=1228800, fmt=NHWC, type=INT8, qnt_type=AFFINE, zp=-128, scale=0.003922",
            "s8[1,640,640,3]",
        ),
        ("index=0, dims=[1, 4, 6, 3], w_stride = 8, fmt=NHWC, type=FP16", "f16[1,4,6,3]:[96,24,3,1]"),
        ("index=0, dims=[1, 3, 4, 6], w_stride = 8, fmt=NCHW, type=UINT8", "u8[1,3,4,6]:[96,32,8,1]"),
        ("T.Buffer((128, 128), \"float32\", strides=[130, 1], elem_offset=4)", "f32[128,128]:[130,1]+4"),
        ("T.Buffer((128, 128), strides=(130, 1))", "f32[128,128]:[130,1]"),
        ("T.Buffer((2, 3), dtype=\"float16\", align=16)", "f16[2,3]"),
        ("f32 ((4, 6):(6, 1))", "f32[4,6]"),
        ("f32 (24:1)", "f32[24]"),
        ("f32 Tensor<0x55f6@generic o (4,6):(1,4)>", "f32[4,6]:[1,4]"),
        ("!cute.memref<f32, generic, \"(4,6):(6,1)\">", "f32[4,6]"),
        ("!cute.memref<f32, gmem, align<16>, \"(4,6):(6,1)\">", "f32[4,6]"),
        (
            "tensor(raw_ptr(0x000000000a5f1d50: f8E4M3FN, gmem, align<4>) o (4,3):(1,4), data=\n [[ 0.0, ",
            "f8e4m3fn[4,3]:[1,4]",
        ),
        ("tensor(raw_ptr(0x7f00: f32, rmem) o ((1,4)):((0,1)))", "f32[4]"),
        ("u4 smem_subptr[4b](0x7f0000000000.0) o (_8,_64):(_64,_1)", "u4[8,64]:[64,1]"),
        ("f16 gmem_ptr[16b](0x7f0000000000) o (_8,_64):(_64,_1)", "f16[8,64]"),
        ("tensor<2x3xf32>", "f32[2,3]"),
        ("memref<4x8xf32, affine_map<(d0, d1) -> (d0, d1)>>", "f32[4,8]"),
        ("memref<4x6x5xf32, affine_map<(i, j, k) -> (k, i, j)>, 1>", "f32[4,6,5]:[6,1,24]"),
        ("dst:bf16:p:blocked:ABcd16b16a2b::f0 24x96x1x1", "bf16[24,96,1,1]:ABcd16b16a2b"),
        ("FLOAT[1,3,224,224]", "f32[1,3,224,224]"),
        (
            "common_debug_cb_eval:       model.embed_tokens = (f32)   GET_ROWS(token_embd.weight{1024, 151936, 1, 1}, \
             inp_tokens{9, 1, 1, 1}}) = {1024, 9, 1, 1}",
            "f32[1,1,9,1024]",
        ),
        (
            "llama_model_loader: - tensor    0, split  0:        token_embd.weight f16      [ 11008,  4096,     1,     1 ]",
            "f16[1,1,4096,11008]",
        ),
        ("f32 [2,3]:[5,1]", "f32[2,3]:[5,1]"),
        ("f32 shape=[2, 3], strides=[3, 1], layout=Cc (0x5), const ndim=2", "f32[2,3]:[3,1]"),
        (
            "torch.empty_strided((2, 3), (3, 1), device=device(type='cuda', index=0), dtype=torch.float32)",
            "f32[2,3]:[3,1]",
        ),
        ("torch.empty_strided((2, 3), (3, 1), dtype=torch.float32, requires_grad=True)", "f32[2,3]:[3,1]"),
        ("memref<4x8xf32, \"a, b\">", "f32[4,8]:[8,1]"),
        ("memref<4x8xf32, strided<[9, 1]>, #gpu.address_space<workgroup>>", "f32[4,8]:[9,1]"),
        ("memref<4x8xf32, #hal.descriptor_type<storage_buffer>>", "f32[4,8]:[8,1]"),
        ("memref<4x8xf32, #spirv.storage_class<StorageBuffer>>", "f32[4,8]:[8,1]"),
        ("memref<4x8xf32, #amdgpu.address_space<fat_raw_buffer>>", "f32[4,8]:[8,1]"),
        // What the Mosaic compiler of TPUs prints, in its old spelling and in that of libtpu 0.0.52.
        ("memref<272x256xi32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<hbm>>", "s32[272,256]{1,0:T(8,128)}"),
        (
            "memref<16x128xbf16, #xir.tiled<(8,128)(2,1),[1,1]>, #xir.memory_space<vmem, tc>>",
            "bf16[16,128]{1,0:T(8,128)(2,1)}",
        ),
        ("memref<5x272x200xf32, #tpu.tiled<(8,128),[68,2,1]>>", "f32[5,272,200]{2,1,0:T(8,128)}"),
        ("memref<2048xi32, #tpu.tiled<(1024),[1]>>", "s32[2048]{0:T(1024)}"),
    ] {
        let read: Layout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let same: Layout = same.parse().unwrap();
        assert_eq!(same_layout(&read, &same), Ok(true), "{text}");
        assert_eq!(read.to_string().parse::<Layout>().unwrap().to_index_map(), read.to_index_map(), "{text}");
    }
    let tiled: Layout = "memref<272x256xi32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<hbm>>".parse().unwrap();
    assert_eq!(tiled.to_index_map().unwrap().offset(&[1, 0]), Ok(128));
    assert_eq!(tiled.to_string(), "memref<272x256xs32, #tpu.tiled<(8,128),[2,1]>>".replace("xs32", "xi32"));
}

/// The words and the numbers of a text.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Checks that a changed text is refused, or that what was read, written again in the same notation, holds
/// every number of it and every word that the notation does not have.
fn holds_all(changed: &str, original: &str) -> Result<(), TestCaseError> {
    let Ok(read) = changed.parse::<Layout>() else { return Ok(()) };
    let is_affine = read.to_index_map().is_ok_and(|map| map.class() == LayoutClass::Affine);
    if changed.contains("#tpu.tiled<") {
        // One tile of whole rows is written as their pitch, and one that is longer than its axis is XLA's. So
        // are tiles whose only odd stride is one that nothing uses.
        let numbers = ["7654321", "1232"];
        let is_one_tile = changed.split_once("),[").is_some_and(|(tile, _)| numbers.iter().any(|n| tile.contains(n)));
        if is_affine || is_one_tile || numbers.iter().any(|number| is_free_stride(changed, number, &read)) {
            return Ok(());
        }
    }
    if read.notation() == Notation::Mlir && changed.ends_with(", 7654321>") {
        // A memory space.
        return Ok(());
    }
    let written = read.to_string();
    let mut written: Vec<&str> = words(&written).into_iter().collect();
    for word in words(changed) {
        match written.iter().position(|other| *other == word) {
            Some(place) => drop(written.swap_remove(place)),
            // A word of the notation itself may be left out in its shortest form, but no number.
            None => prop_assert!(
                words(original).contains(&word) && word.parse::<f64>().is_err(),
                "`{}` lost {}: {}",
                changed,
                word,
                read
            ),
        }
    }
    Ok(())
}

/// Whether a number is in a stride of tiles that changes nothing: an axis with one tile has a free stride.
fn is_free_stride(changed: &str, word: &str, read: &Layout) -> bool {
    let strides = changed.split_once("),[").and_then(|(tile, rest)| Some((tile, rest.split_once(']')?)));
    let Some((tile, (strides, rest))) = strides else { return false };
    let strides: Vec<&str> = strides.split(',').collect();
    strides.iter().enumerate().filter(|(_, own)| own.contains(word)).any(|(place, _)| {
        let mut others = strides.clone();
        others[place] = "97";
        let other = format!("{tile}),[{}]{rest}", others.join(",")).parse::<Layout>();
        other.is_ok_and(|other| other.to_index_map() == read.to_index_map())
    })
}

fn changes(text: &str) -> Result<(), TestCaseError> {
    for end in text.char_indices().map(|(end, _)| end) {
        // The end of a text may cut a number or a word in two, and then has another word.
        holds_all(&text[..end], &text[..end])?;
    }
    for (place, c) in text.char_indices().filter(|(_, c)| matches!(c, ',' | ')' | ']' | '}' | '>')) {
        for junk in ["junk=7", "junk: 7", "\"junk\":7", "#junk", "junk", "7654321"] {
            for separator in [", ", " "] {
                holds_all(&format!("{}{separator}{junk}{}", &text[..place], &text[place..]), text)?;
                let after = place + c.len_utf8();
                holds_all(&format!("{}{separator}{junk}{}", &text[..after], &text[after..]), text)?;
            }
        }
    }
    for word in words(text) {
        for other in ["junk", "1232"] {
            let place = word.as_ptr() as usize - text.as_ptr() as usize;
            holds_all(&format!("{}{other}{}", &text[..place], &text[place + word.len()..]), text)?;
        }
    }
    Ok(())
}

/// Sizes of 2 and more, because strides of shorter axes are free.
fn any_desc() -> impl Strategy<Value = BufferTensorDesc> {
    let data_type = prop::sample::select(vec![DataType::F32, DataType::BF16, DataType::U8, DataType::F64]);
    (data_type, prop::collection::vec((2..=7_u64, 1..=99_u64), 1..=3), 0..=1_u64, any::<bool>()).prop_map(
        |(data_type, axes, base, is_packed)| {
            let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let strides = if is_packed { None } else { Some(strides) };
            let desc = BufferTensorDesc::new(data_type, &sizes, strides.as_deref()).unwrap();
            desc.with_base_offset(base * 64).unwrap()
        },
    )
}

/// Names, also of several parts, caches with and without a block table, planes of scales, and strides.
#[test]
fn changed_texts_of_every_kind_lose_nothing() {
    for text in [
        "tensorrt.kCHW32:s8[2,33,3,2]",
        "ggml.q8_0x4.qs<8>:s8[8,96]",
        "ggml.q8_0x4<8>:q8_0[4,64]",
        "sglang.packed_vnni2:bf16[48,32]",
        "xnnpack.f32_gemm_goi_s4.weights<8>:f32[8,8]",
        "kv:LBNHC:bf16[L=2,B=4,H=2,N=4,C=8]",
        "kv:LBNHC:bf16[L=2,B=[3,0]/4,H=2,N=4,C=8]",
        "kv:LBNHC:bf16[L=2,B=[3,0]/4,T=7,H=2,N=4,C=8]",
        "f4e2m1fn[128,320]:[320,1] with f8e8m0fnu[128,10]:[10,1] per 32",
        "memref<4x6xf32, strided<[11, 13], offset: 5>>",
        "(f32[5]{0}, s8[3]{0})",
        "frame.nv12<pitch=2048>:u8[1080,1920]",
        "kv page B=4 { conv: bf16[3,5], ssm: f32[2,3] } to 64",
        "q4_0[4,64]:[40,18]",
        "q4_0[4,64]:[36,18], axes [0] backwards",
        "f32[1,5]{1,0:T(2,2)}+12",
        "sglang.packed_vnni2:bf16[48,32] --slice 16:40,:",
    ] {
        assert!(text.parse::<Layout>().is_ok(), "{text}");
        changes(text).unwrap();
    }
}

#[test]
fn a_number_of_a_name_has_its_own_key() {
    let read = |text: &str| text.parse::<Layout>().map(|layout| layout.to_string());
    assert_eq!(read("ggml.q8_0x4.qs<bl=8>:s8[8,96]"), read("ggml.q8_0x4.qs<8>:s8[8,96]"));
    let error = read("ggml.q8_0x4.qs<foo=8>:s8[8,96]").unwrap_err().to_string();
    assert!(error.contains("the numbers that it takes"), "{error}");
}

/// The stride of an axis with one tile may be any number, also where the tile is longer than the axis.
#[test]
fn free_strides_of_tiles_are_no_loss() {
    for text in [
        "memref<2x8x6xf32, #tpu.tiled<(2,4,2),[6,3,1]>>",
        "memref<2x8x6xf32, #tpu.tiled<(2,4),[8,2,1]>>",
        "memref<7x2x9xf32, #tpu.tiled<(2,2),[5,5,1]>>",
    ] {
        assert!(text.parse::<Layout>().is_ok(), "{text}");
        changes(text).unwrap();
    }
}

/// A view that runs backwards keeps its signs, also where NumPy has no text for it.
#[test]
fn signs_of_views_are_printed() {
    let flipped = |text: &str, step: &str| {
        let layout: Layout = text.parse().unwrap();
        let steps = tensor_layout_text::ViewStep::read_all_on("slice", step, layout.sizes()).unwrap();
        steps.iter().fold(layout, |layout, step| layout.view(step).unwrap())
    };
    let values = flipped("f4e2m1fn[4,64] with f8e8m0fnu per 32", "::-1,:");
    assert_eq!(values.to_string().parse::<Layout>().unwrap().difference(&values), Ok(None), "{values}");
    let part = flipped("f4e2m1fn[4,64]:[64,1]", "3:1:-1,:");
    assert!(part.to_string().contains("axes [0] backwards"), "{part}");
    assert_eq!(part.to_string().parse::<Layout>().unwrap().difference(&part), Ok(None));
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn changed_texts_of_strides_lose_nothing(desc in any_desc()) {
        for &notation in Notation::ALL {
            let Ok(text) = to_notation(&desc, notation) else { continue };
            changes(&text)?;
        }
    }

    #[test]
    fn changed_texts_of_tiles_lose_nothing(shape in any_shape(400)) {
        prop_assume!(shape.sizes().iter().all(|&size| size > 1));
        let shape = ArrayShape::new(DataType::F32, shape.sizes(), shape.layout().clone()).unwrap();
        for &notation in Notation::ALL {
            let Ok(text) = to_notation(&shape, notation) else { continue };
            changes(&text)?;
        }
    }
}
