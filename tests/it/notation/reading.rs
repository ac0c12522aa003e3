//! One layout in every notation: every written text reads back to the same layout.

use crate::literal::{any_shape, cases, indices};
use proptest::prelude::*;
use tensor_layout::AnyLayout;
use tensor_layout::element::Naming;
use tensor_layout::map::same_layout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_text::{Layout, Line, Notation};

/// Types of every width, some that NumPy or DirectML do not have.
fn any_type() -> impl Strategy<Value = DataType> {
    prop::sample::select(DataType::ALL.to_vec())
}

/// Strides of any kind: packed in any order, padded, repeated, overlapping.
fn any_desc() -> impl Strategy<Value = BufferTensorDesc> {
    let axis = prop_oneof![1 => Just(0_u64), 2 => Just(1_u64), 6 => 2..=7_u64];
    let stride = prop_oneof![1 => Just(0_u64), 2 => Just(1_u64), 4 => 2..=40_u64];
    let base = prop_oneof![2 => Just(0_u64), 1 => 1..=20_u64];
    (prop::collection::vec((axis, stride, 0..=2_u64), 0..=5), any_type(), any::<bool>(), base, 0..=3_u64).prop_flat_map(
        |(axes, data_type, packed, base, rest)| {
            let order = Just((0..axes.len()).collect::<Vec<_>>()).prop_shuffle();
            order.prop_map(move |order| {
                let sizes: Vec<u64> = axes.iter().map(|&(size, ..)| size).collect();
                let mut strides: Vec<u64> = axes.iter().map(|&(_, stride, _)| stride).collect();
                if packed {
                    let mut next = 1;
                    for axis in order {
                        strides[axis] = next;
                        // Most axes have no gap after them.
                        next *= sizes[axis].max(1) + axes[axis].2.saturating_sub(1);
                    }
                }
                let desc = BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap();
                let desc = desc.with_base_offset(base).unwrap();
                let total = desc.min_size_in_bytes() + 4 * rest;
                desc.with_total_size_in_bytes(total).unwrap()
            })
        },
    )
}

/// Tiles with any type and element width, and views of them.
fn any_map() -> impl Strategy<Value = IndexMap> {
    let shape = (any_shape(800), any_type(), prop::sample::select(vec![0_u32, 0, 1, 2, 4, 6, 8, 16]));
    (shape, any::<prop::sample::Index>(), 1..=3_u64).prop_map(|((shape, data_type, bits), turn, step)| {
        let mut layout = shape.layout().clone();
        layout.element_bits = Some(bits).filter(|&bits| bits != 0);
        let shape = ArrayShape::new(data_type, shape.sizes(), layout).unwrap();
        let map = shape.to_index_map().unwrap();
        if shape.rank() == 0 {
            return map;
        }
        let mut order: Vec<usize> = (0..shape.rank()).collect();
        order.rotate_left(turn.index(shape.rank()));
        let map = map.permute(&order).unwrap();
        let part: Vec<_> = map.sizes().iter().map(|&size| size.min(step - 1)..size).collect();
        map.slice(&part).unwrap_or(map)
    })
}

/// The offset of every index in bits, by the map's own evaluation. Other tests compare that with the literal
/// offsets.
fn places(layout: &impl ToIndexMap) -> Vec<u64> {
    let map = layout.to_index_map().unwrap();
    let bits = u64::from(map.element_bits());
    indices(map.sizes()).map(|index| map.offset(&index).unwrap() * bits).collect()
}

/// Checks that every text reads back to the same type, sizes and places, in the notation that it claims.
/// Every other line has a reason.
fn check(layout: &AnyLayout) -> Result<Vec<Line>, TestCaseError> {
    let map = layout.to_index_map().unwrap();
    let lines = tensor_layout_text::all_notations(layout);
    // Each notation has one line, and the table of named layouts has one line for every name.
    let (named, others): (Vec<_>, Vec<_>) =
        Notation::LISTED.iter().copied().partition(|notation| notation.to_string() == "named");
    let mut found: Vec<_> = lines.iter().map(|line| line.notation).collect();
    // If axes of size 1 allow it, there are several axis orders.
    found.dedup();
    prop_assert_eq!(&found[..others.len()], &others[..]);
    prop_assert!(found[others.len()..].iter().all(|notation| named.contains(notation)));
    for line in &lines {
        prop_assert_eq!(line.to_string().lines().count(), 1, "{}", line);
        match &line.text {
            Ok(text) => {
                let read: Layout = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
                let back = read.to_index_map().unwrap();
                prop_assert_eq!(back.data_type(), map.data_type(), "{}", text);
                prop_assert_eq!(back.sizes(), map.sizes(), "{}", text);
                prop_assert_eq!(places(&back), places(&map), "{}", text);
                prop_assert!(same_layout(&back, &map).unwrap(), "{}", text);
                prop_assert_eq!(back.element_bits(), map.element_bits(), "{}", text);
                // A tag without blocks is an axis order too.
                let both = (line.notation, read.notation()) == (Notation::OneDnn, Notation::AxisOrder);
                prop_assert!(both || read.notation() == line.notation, "{}", text);
                // A text that was read is written back unchanged.
                prop_assert_eq!(read.to_string().to_lowercase(), text.to_lowercase());
            }
            Err(error) => {
                prop_assert!(!line.reason().unwrap().is_empty(), "{:?}", error);
                prop_assert!(
                    matches!(error.code(), "not_expressible" | "unsupported_data_type" | "overflow"),
                    "{}",
                    error
                );
            }
        }
    }
    Ok(lines)
}

/// An empty part of an array whose elements take fewer bits than their type.
#[test]
fn empty_views_keep_the_width_of_their_elements() {
    let shape: ArrayShape = "u8[1]{0:E(1)}".parse().unwrap();
    let part = shape.to_index_map().unwrap().slice(&[tensor_layout::strided::Slice::from(1..1)]).unwrap();
    check(&AnyLayout::from(&part)).unwrap();
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn strided_layouts_read_back_from_every_notation(desc in any_desc()) {
        let lines = check(&AnyLayout::from(&desc))?;
        // Sizes and strides express every strided layout.
        prop_assert!(lines[1].text.is_ok());
        // NumPy expresses it too, if the type has whole bytes.
        let whole = desc.data_type().bits() >= 8;
        let line = |notation| lines.iter().find(|line| line.notation == notation).unwrap();
        let (numpy, json) = (line(Notation::Numpy), line(Notation::Directml));
        prop_assert_eq!(numpy.text.is_ok(), whole && desc.data_type().name_in(Naming::Numpy).is_some(), "{}", numpy);
        let directml = desc.data_type().name_in(Naming::Directml).is_some() && desc.base_offset() == 0
            && desc.rank() > 0 && !desc.sizes().contains(&0);
        prop_assert_eq!(json.text.is_ok(), directml, "{}", json);
        // DirectML's form also has the size of the buffer.
        if let Ok(text) = &json.text {
            let AnyLayout::Strided(back) = text.parse::<Layout>().unwrap().any().unwrap().clone() else { panic!() };
            let round = |bytes: u64| bytes.next_multiple_of(4);
            let exact = desc.to_index_map().unwrap().physical_size_in_bytes();
            prop_assert_eq!(back.total_tensor_size_in_bytes(), round(exact));
        }
    }

    #[test]
    fn tiled_layouts_read_back_from_every_notation(shape in any_shape(800), data_type in any_type(), bits in prop::sample::select(vec![0_u32, 0, 0, 2, 4, 8])) {
        let mut layout = shape.layout().clone();
        layout.element_bits = Some(bits).filter(|&bits| bits != 0);
        let shape = ArrayShape::new(data_type, shape.sizes(), layout).unwrap();
        let lines = check(&AnyLayout::from(&shape))?;
        prop_assert_eq!(lines[0].text.clone().unwrap(), shape.to_string());
    }

    #[test]
    fn views_read_back_from_every_notation(map in any_map()) {
        check(&AnyLayout::from(&map))?;
    }

    #[test]
    fn damaged_texts_are_read_or_refused_at_a_column(desc in any_desc(), at in any::<prop::sample::Index>(), byte in 32..127_u8) {
        for line in tensor_layout_text::all_notations(&desc) {
            let Ok(text) = line.text else { continue };
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let text = String::from_utf8(bytes).unwrap();
            match text.parse::<Layout>() {
                Ok(read) => prop_assert!(read.to_string().parse::<Layout>().is_ok(), "{}", text),
                Err(error) => if let Some(column) = error.column() {
                    prop_assert!((1..=text.len() + 1).contains(&column), "{}", text);
                },
            }
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.parse::<Layout>().unwrap().all_notations().iter().map(ToString::to_string).collect()
}

#[test]
fn one_layout_in_seven_notations() {
    assert_eq!(
        lines("f32[8,3,4,5]:NHWC"),
        [
            "XLA                f32[8,3,4,5]{1,3,2,0}",
            "sizes and strides  f32[8,3,4,5]:[60,1,15,3]",
            "axis order         f32[8,3,4,5]:NHWC",
            "oneDNN tag         f32[8,3,4,5]:acdb",
            "CuTe               f32(8,3,4,5):(60,1,15,3)",
            "NumPy              ndarray(shape=(8,3,4,5), dtype=float32, strides=(240,4,60,12))",
            r#"DirectML           {"DataType":"FLOAT32","Sizes":[8,3,4,5],"Strides":[60,1,15,3],"TotalTensorSizeInBytes":1920}"#,
            "named layout       tensorrt.kHWC:f32[8,3,4,5]",
        ]
    );
    assert_eq!(
        lines("bf16[16,256]{1,0:T(8,128)(2,1)S(1)}"),
        [
            "XLA                bf16[16,256]{1,0:T(8,128)(2,1)S(1)}",
            "sizes and strides  no: dimension 0 is cut into digits of 2 x 4 x 2 and dimension 1 into digits of 2 x 128",
            "axis order         no: dimension 0 is cut into digits of 2 x 4 x 2 and dimension 1 into digits of 2 x 128",
            "oneDNN tag         bf16[16,256]:AB4a128b2a",
            "CuTe               bf16((2,4,2),(128,2)):((1,256,2048),(2,1024))",
            "NumPy              no: dimension 0 is cut into digits of 2 x 4 x 2 and dimension 1 into digits of 2 x 128",
            "DirectML           no: dimension 0 is cut into digits of 2 x 4 x 2 and dimension 1 into digits of 2 x 128",
        ]
    );
}

/// For types below a byte, XLA and NumPy give an element a byte, and other notations give it its own bits.
#[test]
fn widths_below_a_byte() {
    let own = lines("s4[2,3]:[3,1]");
    assert_eq!(own[0], "XLA                s4[2,3]{1,0:E(4)}");
    assert_eq!(own[5], "NumPy              no: an element of s4 takes 4 bits here, and 8 in NumPy");
    assert!(own[6].contains(r#"{"DataType":"INT4","Sizes":[2,3],"Strides":[3,1],"TotalTensorSizeInBytes":4}"#));
    let bytes = lines("s4[2,3]");
    assert_eq!(bytes[1], "sizes and strides  no: an element of s4 takes 8 bits here, and 4 in this notation");
    assert_eq!(bytes[5], "NumPy              ndarray(shape=(2,3), dtype=int4, strides=(3,1))");
    assert_eq!(bytes[6], "DirectML           no: an element of s4 takes 8 bits here, and 4 in DirectML");
}

#[test]
fn a_divided_array_says_why() {
    let shape: ArrayShape = "pred[123,456]{1,0:SC(1:50,200)}".parse().unwrap();
    let lines = tensor_layout_text::all_notations(&shape);
    assert_eq!(lines[0].text.as_deref(), Ok("pred[123,456]{1,0:SC(1:50,200)}"));
    for line in &lines[1..] {
        assert!(line.reason().unwrap().contains("several memories"), "{line}");
    }
}

/// NumPy's arguments and DirectML's object can be written in several ways.
#[test]
fn other_spellings_are_read() {
    let same = |text: &str, canonical: &str| {
        let read: Layout = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.to_string(), canonical, "{text}");
    };
    let canonical = "ndarray(shape=(2,3), dtype=float32, strides=(12,4))";
    for text in [
        "np.ndarray(shape=(2, 3), dtype=np.float32)",
        "numpy.ndarray(dtype='<f4', shape=[2,3], strides=(12, 4,))",
        r#"ndarray( shape=(2,3), dtype="float32" )"#,
    ] {
        same(text, canonical);
    }
    // A text that gives a start has a larger buffer, even if the start is 0.
    let part = "ndarray(shape=(2,3), dtype=float32, strides=(12,4), offset=0)";
    same("ndarray(shape=(2,3), dtype=float32, offset=0)", part);
    same("ndarray(shape=7, dtype=int8)", "ndarray(shape=(7,), dtype=int8, strides=(1,))");
    same("ndarray(shape=(), dtype=torch.bfloat16)", "ndarray(shape=(), dtype=bfloat16, strides=())");
    let canonical = r#"{"DataType":"FLOAT16","Sizes":[1,1,2,3],"Strides":[6,6,3,1],"TotalTensorSizeInBytes":12}"#;
    for text in [
        r#"{ "DataType": "FLOAT16", "Sizes": [1,1,2,3] }"#,
        r#"{"Type":"DML_TENSOR_TYPE_BUFFER","Desc":{"DataType":"DML_TENSOR_DATA_TYPE_FLOAT16","DimensionCount":4,
            "Flags":"DML_TENSOR_FLAG_NONE","Sizes":[1,1,2,3],"Strides":null,"GuaranteedBaseOffsetAlignment":0}}"#,
    ] {
        same(text, canonical);
    }
    // The letters are letters that only oneDNN has, and more letters than an axis order can have.
    same("f32[5,2,8]:tnc", "f32[5,2,8]:tnc");
    same("u8[1,2,1,1,1,1,1,1,3]:abcdefghi", "u8[1,2,1,1,1,1,1,1,3]:abcdefghi");
}

/// No element has an offset in such a tensor, so no stride of it is too large.
#[test]
fn sizes_beside_a_zero_may_have_any_product() {
    let read: Layout = "f32[0,4294967296,4294967296]".parse().unwrap();
    assert_eq!(read.to_index_map().unwrap().physical_elements(), 0);
}

#[test]
fn what_cannot_be_read_says_where() {
    for (text, column, words) in [
        ("ndarray(shape=(2,3), dtype=float32, strides=(13,4))", 46, "multiples of 4 bytes"),
        ("ndarray(shape=(2,3), dtype=float32, strides=(12,))", 45, "2 strides"),
        ("ndarray(shape=(2,3), dtype=float33)", 28, "a dtype such as"),
        ("ndarray(shape=(2,3), shape=(2,3))", 22, "not given before"),
        ("ndarray(dtype=int8)", 1, "shape="),
        ("ndarray(shape=(2,3), order=C)", 22, "strides="),
        ("pred-1,1,1,4]:[16,4,4,1]", 5, "`[` and the sizes"),
        ("f16)7,7]:[1,7]", 4, "`[` and the sizes"),
        (r#"{"DataType":"FLOAT32"}"#, 1, "Sizes"),
        (r#"{"DataType":"FLOAT31","Sizes":[1]}"#, 13, "FLOAT32"),
        (r#"{"DataType":"FLOAT32","Sizes":[0]}"#, 32, "from 1"),
        (r#"{"DataType":"FLOAT32","Sizes":[]}"#, 1, "1 to 8 dimensions"),
        (r#"{"DataType":"FLOAT32","Sizes":[4294967296]}"#, 32, "2^32"),
        (r#"{"DataType":"FLOAT32","Sizes":[2],"Strides":[1,2]}"#, 45, "1 strides"),
        (r#"{"DataType":"FLOAT32","DimensionCount":2,"Sizes":[2]}"#, 40, "the number of sizes"),
        (r#"{"DataType":"FLOAT32","Size":[2]}"#, 23, "Strides"),
        (r#"{"DataType":"FLOAT32","Sizes":[2]"#, 34, "`}`"),
    ] {
        let error = text.parse::<Layout>().unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{text}: {error}");
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
    let total = r#"{"DataType":"FLOAT32","Sizes":[2],"TotalTensorSizeInBytes":4}"#;
    assert_eq!(total.parse::<Layout>().unwrap_err().code(), "total_size_too_small");
}
