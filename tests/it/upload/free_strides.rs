//! Strides of axes of size 1 have no meaning. The values were worked out by hand, from the strides that
//! PyTorch, NumPy, DLPack and XLA leave there.
#![cfg_attr(feature = "directml", allow(unsafe_code, reason = "reading a raw structure back, as DirectML would"))]

use super::named;
use crate::read::desc;
use tensor_layout::upload::{suggest, validate_description};
use tensor_layout::{AxisOrder, BufferTensorDesc, DataType, Error, calc_buffer_tensor_size};
use tensor_layout_text::{Layout, Notation, all_notations, axis_orders};

fn numpy(text: &str) -> Result<BufferTensorDesc, Error> {
    let layout: Layout = text.parse()?;
    layout.any().map(|one| tensor_layout::ToIndexMap::as_descriptor(one).unwrap().clone())
}

#[test]
fn canonical_strides_are_those_of_a_packed_neighbour() {
    for (sizes, strides, canonical) in [
        (&[2, 1, 4, 5][..], &[20, 77, 5, 1][..], &[20, 20, 5, 1][..]),
        // NHWC, as it was asked for.
        (&[2, 1, 4, 5], &[20, 1, 5, 1], &[20, 1, 5, 1]),
        // NHWC with one channel, batch 1.
        (&[1, 3, 4, 5], &[7, 1, 15, 3], &[60, 1, 15, 3]),
        (&[4, 1, 5], &[1, 99, 4], &[1, 20, 4]),
        (&[3, 1], &[1, 99], &[1, 1]),
        (&[1, 1, 1], &[9, 0, 4096], &[1, 1, 1]),
        // `a[:, :1]` of 8 columns keeps the pitch, which is used.
        (&[6, 1], &[8, 1], &[8, 1]),
        // Rows are repeated. The neighbour has stride 0.
        (&[1, 5], &[3, 0], &[1, 0]),
        (&[0, 3, 4], &[7, 7, 7], &[12, 4, 1]),
        (&[], &[], &[]),
    ] {
        let one = BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap();
        let other = one.clone().with_canonical_strides();
        assert_eq!(other.strides(), canonical, "{one}");
        assert_eq!(one, other);
        assert_eq!(other.clone().with_canonical_strides().strides(), canonical);
    }
    let huge = BufferTensorDesc::new(DataType::U8, &[1, 1 << 40, 1], Some(&[3, 1 << 20, u64::MAX])).unwrap();
    assert_eq!(huge.with_canonical_strides().strides(), [1 << 60, 1 << 20, 1]);
}

/// The layout, the limits, the axis of size 1, and a stride that would be legal for it.
#[test]
fn a_device_that_checks_them_names_the_axis_and_no_byte_moves() {
    for (text, name, axis, legal) in [
        ("f32[2,1,4,5]:[20,1,5,1]", "metal-tensor", 1, 20),
        ("f32[2,1,4,5]:[20,1,5,1]", "vulkan-tensor", 1, 20),
        ("f32[2,3,1]:[3,1,7]", "metal-tensor", 2, 1),
        // A single row has 10 bytes, and a tensor map requires 16.
        ("f16[1,5]:[5,1]", "cuda-tensor-map", 0, 8),
        ("f16[1,8]:[1,1]", "cuda-tensor-map:128", 0, 8),
        ("f32[1,5]:[4294967296,1]", "directml", 0, 5),
        ("f32[4,1,64]:[64,9,1]", "metal-tensor:ml", 1, 64),
        // In memory the axis of size 1 comes last, and the error is of the axis before it.
        ("f32[1,3]:[1,1]", "d3d12-linear-algebra", 0, 4),
        ("f32[2,3,1]:[3,1,40]", "none:takes_strides=true,max_extent=64", 2, 1),
    ] {
        let (layout, limits) = (desc(text), named(name));
        let errors = validate_description(&layout, &limits).unwrap_err();
        assert_eq!(errors.codes(), ["free_stride"], "{text} {name}");
        let words = errors[0].to_string();
        let says = [
            format!("axis {axis} has size 1"),
            "any stride would do".into(),
            format!("{legal} would do"),
            "no byte moves".into(),
        ];
        assert!(says.iter().all(|says| words.contains(says)), "{words}");
        let found = suggest(&layout, &limits).unwrap().unwrap();
        assert!(!found.moves_bytes() && found.desc == layout && found.desc.strides()[axis] == legal, "{}", found.desc);
        assert_eq!(found.bytes, found.source_bytes);
    }
}

#[test]
fn readers_take_any_number_there() {
    let array = numpy("ndarray(shape=(1,10), dtype=float64, strides=(4,8))").unwrap();
    assert_eq!((array.min_size_in_bytes(), array.to_string().as_str()), (80, "f64[1,10]:[10,1]"));
    for strides in ["(-8,8)", "(-7,8)", "(9223372036854775807,8)", "(0,8)"] {
        let array = numpy(&format!("ndarray(shape=(1,10), dtype=float64, strides={strides})")).unwrap();
        assert_eq!(array.to_string(), "f64[1,10]:[10,1]");
    }
    assert_eq!(numpy("ndarray(shape=(0,10), dtype=int16, strides=(-3,1))").unwrap().min_size_in_bytes(), 0);
    let error = numpy("ndarray(shape=(2,10), dtype=float64, strides=(-80,8))").unwrap_err();
    assert!(error.to_string().contains("axis 0 runs backwards"), "{error}");
    let error = numpy("ndarray(shape=(2,10), dtype=float64, strides=(84,8))").unwrap_err();
    assert!(error.to_string().contains("multiples of 8 bytes"), "{error}");

    let json = |strides: &str| numpy(&format!("{{\"DataType\":\"FLOAT32\",\"Sizes\":[1,4],\"Strides\":{strides}}}"));
    for strides in ["[-1,1]", "[99999999999,1]", "[4,1]"] {
        assert_eq!(json(strides).unwrap().to_string(), "f32[1,4]:[4,1]");
    }
    assert_eq!(json("[1,-1]").unwrap_err().column(), Some(50));

    let huge = BufferTensorDesc::new(DataType::U8, &[1, 4], Some(&[usize::MAX, 1])).unwrap();
    assert_eq!(huge.min_size_in_bytes(), 4);
    assert_eq!(BufferTensorDesc::new(DataType::U8, &[1, 4], Some(&[-9, 1])).unwrap().min_size_in_bytes(), 4);
    let signed = BufferTensorDesc::from_signed(DataType::U8, &[1_i64, 4], &[i128::MAX, -1]).unwrap();
    assert_eq!((signed.reversed, signed.first, signed.desc.min_size_in_bytes()), (vec![1], 3, 4));
    assert_eq!(calc_buffer_tensor_size(DataType::F64, &[1, 10], Some(&[-4, 1])), Ok(80));
    assert_eq!(calc_buffer_tensor_size(DataType::F64, &[2, 10], Some(&[-4, 1])).unwrap_err().code(), "negative");
}

#[cfg(feature = "serde")]
#[test]
fn json_of_serde_takes_any_number_there() {
    for stride in ["-5", "0", "18446744073709551615", "170141183460469231731687303715884105727"] {
        let text = format!(r#"{{"data_type":"f32","sizes":[1,4],"strides":[{stride},1]}}"#);
        let read: BufferTensorDesc = serde_json::from_str(&text).unwrap();
        assert_eq!(read, desc("f32[1,4]:[4,1]"), "{text}");
    }
    assert!(serde_json::from_str::<BufferTensorDesc>(r#"{"data_type":"f32","sizes":[4],"strides":[-1]}"#).is_err());
}

#[cfg(all(feature = "dlpack", feature = "pjrt", feature = "directml"))]
#[test]
fn structures_are_written_with_canonical_ones() {
    use tensor_layout::interop::{
        directml::DirectmlTensor,
        dlpack::{DlFields, DlLayout},
        pjrt::{PjrtFields, PjrtLayout},
    };
    use tensor_layout::upload::FeatureLevel;

    let layout = desc("f32[2,1,4,5]:[20,1,5,1]");
    assert_eq!(DlLayout::try_from(&layout).unwrap().fields().strides, Some(&[20, 1, 5, 1][..]));
    assert_eq!(PjrtLayout::try_from(&layout).unwrap().fields(), PjrtFields::Strides(&[80, 4, 20, 4]));
    let huge = desc("f32[1,5]:[4294967296,1]");
    let tensor = DirectmlTensor::new(&huge, FeatureLevel::LATEST).unwrap();
    // SAFETY: `tensor` owns the lists.
    assert_eq!(unsafe { tensor.lend().to_desc() }.unwrap().strides(), [5, 1]);
    let fields = DlFields {
        dtype: DataType::F32.into(),
        shape: &[1, 3],
        strides: Some(&[i64::MIN, 1]),
        byte_offset: 0,
        is_padded_to_bytes: false,
    };
    assert_eq!(BufferTensorDesc::try_from(fields).unwrap(), desc("f32[1,3]:[3,1]"));
    let odd = PjrtFields::Strides(&[-7, 4]).to_signed(DataType::F32, &[1, 3]).unwrap();
    assert_eq!((odd.desc, odd.reversed), (desc("f32[1,3]:[3,1]"), vec![]));
}

#[test]
fn texts_are_written_with_canonical_ones() {
    let texts: Vec<String> =
        all_notations(desc("f32[2,1,4,5]:[20,1,5,1]")).into_iter().filter_map(|line| line.text.ok()).collect();
    for says in [
        "f32(2,1,4,5):(20,20,5,1)",
        "ndarray(shape=(2,1,4,5), dtype=float32, strides=(80,4,20,4))",
        "{\"DataType\":\"FLOAT32\",\"Sizes\":[2,1,4,5],\"Strides\":[20,1,5,1],\"TotalTensorSizeInBytes\":160}",
    ] {
        assert!(texts.iter().any(|text| text == says), "{says} in {texts:?}");
    }
}

#[test]
fn every_axis_order_that_fits_is_named() {
    let names = |text: &str| axis_orders(&desc(text)).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    for (text, orders) in [
        ("f32[63,1,3,3]:[9,1,3,1]", "NCHW NHWC"),
        ("f32[63,1,3,3]:[9,9,3,1]", "NCHW NHWC"),
        ("f32[2,3,4,5]:[60,1,15,3]", "NHWC"),
        ("f32[1,3,4,5]:[60,20,5,1]", "NCHW CHWN"),
        ("f32[1,3,1,1]:[3,1,1,1]", "NCHW NHWC CHWN HWCN"),
        ("f32[2,3,4,5]:[64,20,5,1]", ""),
        ("f32[2,3,4]:[12,4,1]", ""),
        ("f32[2,1,2,3,4]:[24,1,12,4,1]", "NCDHW NDHWC"),
    ] {
        assert_eq!(names(text), orders, "{text}");
    }
    assert_eq!(axis_orders(&desc("f32[2,1,4,5]:NHWC")), [AxisOrder::NCHW, AxisOrder::NHWC]);
    let written: Layout = "f32[63,1,3,3]:NHWC".parse().unwrap();
    let orders: Vec<String> = written
        .all_notations()
        .into_iter()
        .filter(|line| line.notation == Notation::AxisOrder)
        .map(|line| line.text.unwrap())
        .collect();
    assert_eq!(orders, ["f32[63,1,3,3]:NHWC", "f32[63,1,3,3]:NCHW"]);
}
