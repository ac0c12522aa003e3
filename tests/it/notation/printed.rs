//! Layouts as other libraries print them, against what these libraries say about them.

use proptest::prelude::*;
use tensor_layout::map::same_layout;
use tensor_layout::{AnyLayout, BufferTensorDesc, IndexMap, ToIndexMap};
use tensor_layout_text::{Layout, Notation, to_notation};

use crate::literal::{any_shape, cases};

fn numbers(list: &str) -> Vec<i64> {
    let list = list.trim_matches(['[', ']']);
    list.split(", ").filter(|number| !number.is_empty()).map(|number| number.parse().unwrap()).collect()
}

#[test]
fn recorded_prints_are_read_as_their_libraries_read_them() {
    let mut lines = 0;
    let recorded = [include_str!("../../data/printed_layouts.tsv"), include_str!("../../data/printed_tools.tsv")];
    for line in recorded.iter().flat_map(|lines| lines.lines()) {
        let [library, text, sizes, place] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let read: Layout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.notation().to_string(), library, "{text}");
        let map = &read.values().parts()[0].map;
        assert_eq!(map.sizes().iter().map(|&size| size as i64).collect::<Vec<_>>(), numbers(sizes), "{text}");
        if library == "jax" {
            let xla: Layout = format!("{}{place}", text.split(' ').next().unwrap()).parse().unwrap();
            assert_eq!(map, xla.whole().unwrap(), "{text}");
        } else if let Some((data_type, tag)) = place.split_once(':') {
            let tagged: Layout = format!("{data_type}{}:{tag}", sizes.replace(" ", "")).parse().unwrap();
            assert_eq!(same_layout(map, &tagged), Ok(true), "{text}");
        } else {
            let (strides, offset) = place.rsplit_once(' ').unwrap();
            let strides = numbers(strides);
            let signed = BufferTensorDesc::from_signed(map.data_type(), map.sizes(), &strides).unwrap();
            assert_eq!(read.values().reversed(), signed.reversed, "{text}");
            let base = offset.parse::<u64>().unwrap() - signed.first;
            let desc = if base > 0 { signed.desc.with_base_offset(base).unwrap() } else { signed.desc };
            assert_eq!(same_layout(map, &desc), Ok(true), "{text}");
        }
        // The text in the notation's own form is read back.
        let back: Layout = read.to_string().parse().unwrap();
        assert_eq!(back.difference(&read), Ok(None), "{text}");
        assert!(back.notation() == read.notation() || !read.values().reversed().is_empty(), "{text}");
        lines += 1;
    }
    assert_eq!(lines, 61 + 73);
}

#[test]
fn recorded_lines_of_older_versions_of_onednn() {
    let mut lines = 0;
    for (text, bytes) in include_str!("../../data/onednn_old.tsv").lines().filter_map(|line| line.split_once('\t')) {
        let (data_type, rest) = text.trim_start_matches("dst_").split_once(':').unwrap();
        let tag = rest.split(':').find(|word| word.contains('b') && *word != "blocked").unwrap();
        let sizes = text.split_once(' ').unwrap().1.replace('x', ",");
        let map = crate::read::map(text);
        assert_eq!(map.physical_size_in_bytes(), bytes.parse::<u64>().unwrap(), "{text}");
        assert_eq!(map, crate::read::map(&format!("{data_type}[{sizes}]:{tag}")), "{text}");
        lines += 1;
    }
    assert_eq!(lines, 14);
}

/// What JAX before 0.7 prints, and Triton's encoding.
const DEVICE_LOCAL: &str =
    "DeviceLocalLayout(major_to_minor=(1, 0), _tiling=((8, 128),), _sub_byte_element_size_in_bits=0)";
const LITERT: &str = "{'name': 'x', 'index': 0, 'shape': array([1, 8, 8, 3], dtype=int32), 'shape_signature': array([1, 8, 8, 3], \
    dtype=int32), 'dtype': <class 'numpy.int8'>, 'quantization': (0.5, 0), 'quantization_parameters': {'scales': array([0.5], \
    dtype=float32), 'zero_points': array([0], dtype=int32), 'quantized_dimension': 0, 'block_size': 0}, 'sparsity_parameters': {}}";
const SHARED: &str = "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>";

/// The texts of ndarray 0.17, candle-core 0.11, rten-tensor 0.27, safetensors 0.8, JAX 0.10.2, TensorFlow
/// 2.21, Keras 3.15, coremltools 9.0, LiteRT 2.3, cuDNN's frontend 1.32, gguf-dump 0.19, and ggml's fields.
#[test]
fn prints_of_rust_libraries_and_of_ggml() {
    let array = ndarray::Array2::<f32>::zeros((2, 3));
    let fields = |printed: String| printed[printed.find("shape=").unwrap()..].to_owned();
    for (text, own) in [
        (format!("f32 {}", fields(format!("{array:?}"))), "f32[2,3]:[3,1]"),
        (format!("f32 {array:?}"), "f32[2,3]:[3,1]"),
        (format!("f32 {}", fields(format!("{:?}", array.t()))), "f32[3,2]:[1,3]"),
        (format!("f32 {}", fields(format!("{:?}", array.clone().into_dyn()))), "f32[2,3]:[3,1]"),
        ("bf16 Layout { shape: [2, 3], stride: [1, 2], start_offset: 6 }".into(), "bf16[2,3]:[1,2]+6"),
        ("f32 NdLayout { shape: [4, 2, 3], strides: [1, 12, 4] }".into(), "f32[4,2,3]:[1,12,4]"),
        ("{\"data_offsets\":[0,16],\"dtype\":\"F32\",\"shape\":[4]}".into(), "f32[4]"),
        ("TensorInfo { dtype: F8_E5M2, shape: [2, 3], data_offsets: (0, 6) }".into(), "f8e5m2[2,3]"),
        ("TensorView { dtype: BF16, shape: [1, 2], data: [0, 0, 0, 0] }".into(), "bf16[1,2]"),
        ("ShapedArray(float32[2,3], weak_type=True)".into(), "f32[2,3]"),
        ("TensorSpec(shape=(2, 3), dtype=tf.bfloat16, name='x')".into(), "bf16[2,3]"),
        (
            "<tf.Tensor: shape=(2, 1), dtype=float32, numpy=\narray([[0.],\n       [0.]], dtype=float32)>".into(),
            "f32[2,1]",
        ),
        ("<KerasTensor shape=(8, 3), dtype=float32, sparse=False, ragged=False, name=a>".into(), "f32[8,3]"),
        ("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }".into(), "f16[2,3]"),
        (LITERT.into(), "s8[1,8,8,3]"),
        ("\"x\": {\"dim\": [2, 3], \"stride\": [1, 2], \"dtype\": \"data_type.HALF\", \"is_virtual\": false, \"uid\": 1}".into(), "f16[2,3]:[1,2]"),
        ("{\"dataType\":\"float32\",\"shape\":[2,3]}".into(), "f32[2,3]"),
        ("llama_model_loader: - tensor 0: a.weight i8 [ 32, 3, 1, 1 ]".into(), "s8[1,1,3,32]"),
        ("ndarray(shape=(2,), dtype=i8)".into(), "s64[2]"),
        ("TensorType(name=x, shape=(1, 3, 224, 224), dtype=fp32)".into(), "f32[1,3,224,224]"),
        ("      9:       1536 |   512,     3,     1,     1 | F16     | blk.0.F16".into(), "f16[1,1,3,512]"),
        ("      8:       1536 |   512,     3,     1,     1 | Q4_K    | blk.0.Q4_K".into(), "q4_K[1,1,3,512]"),
        ("f16 ne=[3, 2, 1, 1] nb=[2, 6, 12, 12]".into(), "f16[1,1,2,3]:[6,6,3,1]"),
        ("f32 ne=(3, 2), nb=(8, 4)".into(), "f32[2,3]:[1,2]"),
        ("q4_0 ne=[64, 3] nb=[18, 36]".into(), "q4_0[3,64]"),
        ("f32[1,32,4,4]:NCHW4c".into(), "f32[1,32,4,4]:nChw4c"),
        ("f32[8,16,3,3]:OIHW4i4o".into(), "f32[8,16,3,3]:OIhw4i4o"),
        ("f32 (8,(2,2)):(1,(16,8))".into(), "f32(8,(2,2)):(1,(16,8))"),
        ("bf16 torch.Size([2, 3]), stride=(3, 1), storage_offset=4".into(), "bf16[2,3]:[3,1]+4"),
        ("f32 torch.Size([8, 64]) (64, 1)".into(), "f32[8,64]:[64,1]"),
        ("f32 (torch.Size([8, 64]), (1, 8))".into(), "f32[8,64]:[1,8]"),
        ("torch.empty_strided((2, 3), stride=(4, 1), dtype=torch.int8, device='cpu')".into(), "s8[2,3]:[4,1]"),
        ("TensorMeta(shape=torch.Size([6, 4]), stride=(1, 6), dtype=torch.float32)".into(), "f32[6,4]:[1,6]"),
        (format!("f32[64,256] {DEVICE_LOCAL}"), "f32[64,256]{0,1:T(8,128)}"),
        (format!("f32[64,256] Layout(device_local_layout={DEVICE_LOCAL}, sharding=None)"), "f32[64,256]{0,1:T(8,128)}"),
        (format!("f16[16,32] #shared = {SHARED}"), &format!("f16[16,32] {SHARED}")),
    ] {
        let read: Layout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let own: Layout = own.parse().unwrap();
        assert_eq!(same_layout(&read, &own), Ok(true), "{text}");
    }
    let rows = format!("f32 {}", fields(format!("{:?}", array.slice(ndarray::s![..;-1, ..]))));
    let rows: Layout = rows.parse().unwrap();
    assert_eq!(rows.to_notation(Notation::Strides).unwrap(), "f32[2,3]:[3,1], axes [0] backwards");
    assert_eq!(rows.values().reversed(), [0]);
    assert_eq!("f32((2,2),3):((-3,-6),1)".parse::<Layout>().unwrap().values().reversed(), [0]);
}

#[test]
fn what_is_no_layout_is_named() {
    for (text, sentence) in [
        ("S<3,4,3> o 0 o (8,64):(64,1)", "a type in front"),
        ("#blocked<{sizePerThread = [1, 4]}>", "divides a tensor among the registers of threads"),
        ("#linear = #ttg.linear<{register = [[0, 1]]}>", "divides a tensor among the registers of threads"),
        ("SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[1, 0])", "a type in front"),
        (SHARED, "a type in front"),
        ("#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128}>", "a type in front"),
        ("f16[16,32] #shared", "`#shared`: an alias"),
        ("8:2", "a type in front"),
        (":2", "data type"),
        ("Tensor[dims 2, 3; f32]", "without strides"),
        ("Tensor(shape=[3, 2], dtype=float32, place=Place(cpu), stop_gradient=True, [[0.]])", "without strides"),
        ("FakeTensor(..., size=(1, 3, 8, 8), dtype=torch.float16)", "without strides"),
        ("f32 tensor(..., device='meta', size=(2, 3))", "without strides"),
        ("permute: \"f32[6, 4]\" = torch.ops.aten.permute.default(x_1, [1, 0]);  x_1 = None", "column 20"),
        ("float32[2][3]", "column 11"),
        ("ndarray(shape=(2,), dtype=f16)", "found `f16`"),
        ("T.Buffer((4, 6), \"long\")", "found `long`"),
        ("TensorSpec(shape=(2,), dtype=tf.string)", "column 33"),
        ("shape: [2, 3], stride: [3, 1]", "may count elements, f32[2,3]:[3,1], or bytes"),
        ("TensorMeta(shape=torch.Size([6, 4]), strides=(1, 6), dtype=torch.float32)", "stride="),
        ("f32[4,8] DeviceLocalLayout(major_to_minor=(1, 0), _tile=())", "tiling="),
        ("f32[4,8] Layout(device_local_layout=DeviceLocalLayout(major_to_minor=(1, 0))", "`)`"),
        ("memref<4x6xf32, affine_map<(d0, d1) -> (d1 * 8, d0)>>", "may be any function"),
        ("memref<4x?xf32>", "`?` is known when the program runs"),
        ("memref<4x6xindex>", "a type of whole bytes"),
        ("memref<4x6xi4>", "a type of whole bytes"),
        ("memref<4x6xf32, strided<[-10, 1], offset: 3>>", "108 bytes before its buffer"),
        ("memref<4x6xf32", "`,` or `>`"),
        ("(8,2):(1,8)", "a type in front"),
        ("shape=[2, 3], strides=[3, 1]", "a type in front"),
        ("Layout(major_to_minor=(0, 1), tiling=())", "a type in front"),
        ("f32 shape=[2, 3], strides=[3]", "2 strides, one for each size"),
        ("f32 shape=[2, 3], stride=[3, 1]", "shape= or strides="),
        ("f32 shape=[2, 3], shape=[2, 3], strides=[3, 1]", "not given before"),
        ("f32 ne=[3, 2] nb=[4, 13]", "multiples of 4 bytes"),
        ("f32[8,2]:NCHW4c", "a letter for each size"),
        ("f32(8,(2,2)):(4,(1,-2))", "strides of one sign in mode 1"),
        ("f32[16,256] Layout(major_to_minor=(0, 0))", "a dimension that was not named before"),
        ("f32[16] Layout(major_to_minor=(0,), tiling=((0,),))", "tile"),
    ] {
        let error = text.parse::<Layout>().unwrap_err().to_string();
        assert!(error.contains(sentence), "{text}: {error}");
    }
}

const PRINTS: [Notation; 7] = [
    Notation::Torch,
    Notation::Jax,
    Notation::Mlir,
    Notation::Ndarray,
    Notation::Candle,
    Notation::Ggml,
    Notation::Tvm,
];

/// What a text is read back from, without the padding after the last element.
fn reads_back(map: &IndexMap) -> Result<(), TestCaseError> {
    for notation in PRINTS {
        let Ok(text) = to_notation(AnyLayout::from(map.clone()), notation) else { continue };
        let read: Layout = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert!(same_layout(&read, map).unwrap(), "{}", text);
        let back = read.to_index_map().unwrap();
        prop_assert_eq!(back.sizes(), map.sizes(), "{}", text);
        prop_assert_eq!(&read.to_string().to_lowercase(), &text.to_lowercase());
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn texts_of_tiles_read_back(shape in any_shape(800)) {
        reads_back(&shape.to_index_map().unwrap())?;
    }

    #[test]
    fn texts_of_strides_read_back(axes in prop::collection::vec((0..5_u64, 0..40_u64), 0..5), base in 0..9_u64) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(tensor_layout::DataType::BF16, &sizes, Some(&strides)).unwrap();
        let desc = if base > 4 { desc.with_base_offset(base).unwrap() } else { desc };
        reads_back(&desc.to_index_map().unwrap())?;
    }

    #[test]
    fn no_text_panics(text in "(f32|memref<|Layout\\(|torch.Size\\(|ne=|shape=|[0-9\\[\\]\\(\\)<>:,=x? -]|strided<|tiling=|stride=|Sw<){0,14}") {
        let _ = text.parse::<Layout>();
    }
}
