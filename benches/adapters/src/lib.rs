//! Tensors of burn and cubecl as descriptors. docs/RECIPES.md names this file: copy from it.

pub mod burn {
    use burn_tensor::{DType, TensorData};
    use tensor_layout::relayout::copy;
    use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error};

    /// Returns the type of elements. `None` for booleans, quantized values and `Flex32`.
    pub fn data_type(dtype: DType) -> Option<DataType> {
        Some(match dtype {
            DType::F64 => DataType::F64,
            DType::F32 => DataType::F32,
            DType::F16 => DataType::F16,
            DType::BF16 => DataType::BF16,
            DType::I64 => DataType::S64,
            DType::I32 => DataType::S32,
            DType::I16 => DataType::S16,
            DType::I8 => DataType::S8,
            DType::U64 => DataType::U64,
            DType::U32 => DataType::U32,
            DType::U16 => DataType::U16,
            DType::U8 => DataType::U8,
            DType::Bool(_) | DType::Flex32 | DType::QFloat(_) => return None,
        })
    }

    /// Returns the descriptor of the data, which is packed and row-major.
    pub fn described(data: &TensorData) -> Option<Result<BufferTensorDesc, Error>> {
        Some(BufferTensorDesc::new(data_type(data.dtype)?, &data.shape[..], None))
    }

    /// Copies bytes of any layout to a `TensorData`.
    pub fn read(layout: &ArrayShape, bytes: &[u8], dtype: DType) -> Result<TensorData, Error> {
        let shape: Vec<usize> = layout.sizes().iter().map(|&size| size as usize).collect();
        let packed = BufferTensorDesc::new(layout.data_type(), &shape, None)?;
        let mut copied = vec![0; packed.logical_size_in_bytes() as usize];
        copy(layout, &packed, bytes, &mut copied[..])?;
        Ok(TensorData::from_bytes_vec(copied, shape, dtype))
    }

    #[test]
    fn tiles_become_tensor_data() {
        let tiled: ArrayShape = "u8[2,3]{1,0:T(2,2)}".parse().unwrap();
        let data = read(&tiled, b"abdec.f.", DType::U8).unwrap();
        assert_eq!((&data.shape[..], &data.bytes[..]), (&[2, 3][..], &b"abcdef"[..]));
        assert_eq!(described(&data).unwrap().unwrap().to_string(), "u8[2,3]:[3,1]");
    }
}

pub mod cubecl {
    use cubecl_runtime::server::Handle;
    use cubecl_zspace::{Shape, Strides};
    use tensor_layout::{BufferTensorDesc, DataType, Error};

    /// The tensor of a handle, whose rows may have a pitch, in the buffer that the handle is a part of.
    pub fn described(
        handle: &Handle,
        shape: &Shape,
        strides: &Strides,
        of: DataType,
    ) -> Result<BufferTensorDesc, Error> {
        in_buffer(handle.offset_start, shape, strides, of)
    }

    /// Returns the descriptor of a part of a buffer. The part begins at byte `start`.
    pub fn in_buffer(
        start: Option<u64>,
        shape: &Shape,
        strides: &Strides,
        of: DataType,
    ) -> Result<BufferTensorDesc, Error> {
        BufferTensorDesc::new(of, &shape[..], Some(&strides[..]))?.with_base_offset_in_bytes(start.unwrap_or(0))
    }

    #[test]
    fn rows_at_a_pitch() {
        let desc = in_buffer(Some(512), &Shape::new([3, 100]), &Strides::new(&[128, 1]), DataType::F32).unwrap();
        assert_eq!(desc.to_string(), "f32[3,100]:[128,1]+128");
        assert_eq!(desc.min_size_in_bytes(), 1936);
    }
}
