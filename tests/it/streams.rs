//! Streams of 3, 5, 6 and 7 bits: types that layouts and copies have, and devices refuse.

use tensor_layout::relayout::{Relayout, copy};
use tensor_layout::upload::{DeviceLimits, validate_description};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::Layout;

const STREAMS: [(DataType, u32); 4] = [(DataType::U3, 3), (DataType::U5, 5), (DataType::U6, 6), (DataType::U7, 7)];

/// The numbers of a stream, lowest bit first, as MLX, Core ML and compressed-tensors 0.18 pack them.
fn packed(values: &[u8], bits: usize) -> Vec<u8> {
    let mut bytes = vec![0; (values.len() * bits).div_ceil(8)];
    for bit in 0..values.len() * bits {
        bytes[bit / 8] |= (values[bit / bits] >> (bit % bits) & 1) << (bit % 8);
    }
    bytes
}

/// Core ML 9.0 writes the numbers 1, 2, 3, 4, 5, 6, 7, 0 of 3 bits to its file of weights as d1 58 1f.
#[test]
fn numbers_are_stored_as_core_ml_stores_them() {
    assert_eq!(packed(&[1, 2, 3, 4, 5, 6, 7, 0], 3), [0xd1, 0x58, 0x1f]);
}

#[test]
fn streams_are_transposed_and_taken_out() {
    for (data_type, bits) in STREAMS {
        let (rows, columns) = (11_usize, 37_usize);
        let values: Vec<u8> = (0..rows * columns).map(|i| (i * 37 % (1 << bits)) as u8).collect();
        let turned: Vec<u8> =
            (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c)).map(|i| values[i]).collect();
        let desc = |strides: &[u64]| BufferTensorDesc::new(data_type, &[11, 37], Some(strides)).unwrap();
        let mut found = vec![0; (rows * columns * bits as usize).div_ceil(8)];
        copy(&desc(&[37, 1]), &desc(&[1, 11]), &packed(&values, bits as usize), &mut found).unwrap();
        assert_eq!(found, packed(&turned, bits as usize), "{data_type}");
        // To a byte each, which XLA writes as E(8), and back.
        let bytes: ArrayShape = format!("{data_type}[11,37]{{1,0:E(8)}}").parse().unwrap();
        let mut wide = vec![0xff; rows * columns];
        copy(&desc(&[37, 1]), &bytes, &packed(&values, bits as usize), &mut wide).unwrap();
        assert_eq!(wide, values, "{data_type}");
        copy(&bytes, &desc(&[1, 11]), &wide, &mut found).unwrap();
        assert_eq!(found, packed(&turned, bits as usize), "{data_type}");
        // Rows of 37 elements begin inside bytes, on the last one too.
        let offset = desc(&[37, 1]).offset(&[10, 36]).unwrap();
        assert_eq!(desc(&[37, 1]).to_index_map().unwrap().inverse(offset).unwrap(), Some(vec![10, 36]));
        let same: Layout = format!("{data_type}[11,37]").parse().unwrap();
        assert_eq!(same.difference(&format!("{data_type}[11,37]:[37,1]").parse().unwrap()), Ok(None), "{data_type}");
    }
}

#[test]
fn devices_refuse_streams_by_name() {
    for (data_type, _) in STREAMS {
        let desc = BufferTensorDesc::packed(data_type, &[2, 64]).unwrap();
        for limits in ["none", "webgpu", "vulkan", "directml", "cuda-tensor-map", "metal"] {
            let errors = validate_description(&desc, &limits.parse::<DeviceLimits>().unwrap()).unwrap_err();
            assert_eq!(errors.codes(), ["unsupported_data_type"], "{limits}");
            assert!(errors.to_string().contains(&data_type.to_string()), "{errors}");
        }
        let other = BufferTensorDesc::packed(DataType::U4, &[2, 64]).unwrap();
        assert_eq!(Relayout::new(&desc, &other).unwrap_err().code(), "data_type_mismatch");
    }
    for text in ["u9[2]:[1]", "u3[2,64]:[63,1] x", "s3[2]:[1]"] {
        assert!(text.parse::<Layout>().is_err(), "{text}");
    }
}
