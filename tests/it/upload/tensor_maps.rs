//! Boxes of CUDA tensor maps, against the rules of cuda.h and CCCL (tests/data/tensor_maps.py).

use tensor_layout::upload::{DeviceLimits, Im2col, Interleave, TensorMapBox, validate_description};
use tensor_layout::{AnyLayout, BufferTensorDesc, Error};

fn list<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split(',').map(|number| number.parse().unwrap_or_else(|_| panic!("{text}"))).collect()
}

fn read_box(sizes: &str, options: &str) -> TensorMapBox {
    let mut found = if sizes.is_empty() { TensorMapBox::default() } else { TensorMapBox::new(&list(sizes)) };
    for option in options.split(';').filter(|option| !option.is_empty()) {
        if let Some(fields) = option.strip_prefix("im2col:") {
            let of =
                |name: &str| fields.split('|').find_map(|field| field.strip_prefix(name)?.strip_prefix('=')).unwrap();
            found = found.with_im2col(Im2col {
                lower: list(of("lower")),
                upper: list(of("upper")),
                channels: of("channels").parse().unwrap(),
                pixels: of("pixels").parse().unwrap(),
            });
        } else if let Some(steps) = option.strip_prefix("steps=") {
            found = found.with_element_strides(&list(steps));
        } else {
            let bytes = option.strip_prefix("interleave=").unwrap();
            found = found.with_interleave(if bytes == "16" { Interleave::Bytes16 } else { Interleave::Bytes32 });
        }
    }
    found
}

#[test]
fn every_case_of_the_headers() {
    let mut met = 0;
    for line in include_str!("../../data/tensor_maps.tsv").lines().skip(1) {
        let [limits, layout, sizes, options, codes, source] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let limits: DeviceLimits = limits.parse().unwrap();
        let layout: AnyLayout = layout.parse().unwrap();
        let found = read_box(sizes, options);
        let mut errors: Vec<Error> = validate_description(&layout, &found.limits(&limits))
            .err()
            .map(|errors| errors.to_vec())
            .unwrap_or_default();
        errors.extend(found.check(&layout, &limits).err().unwrap_or_default());
        let given: Vec<&str> = errors.iter().map(Error::code).collect();
        let given = if given.is_empty() { "ok".into() } else { given.join(" ") };
        assert_eq!(given, codes, "{line}\n{source}\n{errors:?}");
        met += 1;
    }
    assert!(met >= 200, "{met}");
}

#[test]
fn where_a_box_is_stored() {
    // As Triton 3.9.0 records its nvmma_shared layouts (tests/data/swizzles.jsonl).
    for (limits, text, sizes, bytes, alignment, places) in [
        ("cuda-tensor-map:128", "f16[512,64]:[64,1]", [64, 64], 8192, 1024, [([1, 0], 72), ([7, 63], 455)]),
        ("cuda-tensor-map:64", "f16[512,64]:[64,1]", [8, 32], 512, 512, [([2, 0], 72), ([1, 31], 63)]),
        ("cuda-tensor-map:32", "f16[512,64]:[64,1]", [8, 16], 256, 256, [([4, 0], 72), ([3, 15], 63)]),
        ("cuda-tensor-map", "f16[512,64]:[64,1]", [8, 64], 1024, 128, [([1, 0], 64), ([7, 63], 511)]),
        ("cuda-tensor-map:128", "f32[512,64]:[64,1]", [8, 32], 1024, 1024, [([1, 0], 36), ([2, 0], 72)]),
        ("cuda-tensor-map:128", "u4[512,256]:[256,1]", [8, 256], 1024, 1024, [([1, 0], 288), ([0, 255], 255)]),
    ] {
        let desc: BufferTensorDesc = text.parse().unwrap();
        let report = TensorMapBox::new(&sizes).check(&desc, &limits.parse().unwrap()).unwrap();
        assert_eq!((report.bytes, report.alignment), (bytes, alignment), "{limits} {text}");
        let layout = report.layout.unwrap();
        for (index, offset) in places {
            assert_eq!(layout.offset(&index), Ok(offset), "{limits} {text} at {index:?}");
        }
    }
    // Every second row, and boxes whose places the headers do not tell.
    let desc: BufferTensorDesc = "f16[512,64]:[64,1]".parse().unwrap();
    let limits = "cuda-tensor-map:128".parse().unwrap();
    let every_second = TensorMapBox::new(&[15, 64]).with_element_strides(&[2, 5]).check(&desc, &limits).unwrap();
    assert_eq!((every_second.sizes, every_second.cuda_sizes, every_second.bytes), (vec![15, 64], vec![64, 15], 1024));
    assert_eq!(every_second.layout.unwrap().sizes(), [8, 64]);
    let narrow = TensorMapBox::new(&[8, 32]).check(&desc, &limits).unwrap();
    assert!(narrow.layout.is_none() && narrow.no_layout.contains("narrower"));
}

#[test]
fn limits_without_boxes_refuse_them() {
    let desc: BufferTensorDesc = "f16[512,64]:[64,1]".parse().unwrap();
    for limits in [DeviceLimits::none(), DeviceLimits::directml()] {
        let errors = TensorMapBox::new(&[8, 64]).check(&desc, &limits).unwrap_err();
        assert_eq!(errors[0].code(), "not_expressible", "{}", errors[0]);
    }
}
