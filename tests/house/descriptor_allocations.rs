//! Describing a tensor of up to 8 axes allocates nothing. This holds for constructors, facts, views and
//! checks.
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use tensor_layout::strided::NewAxes;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{AxisOrder, BufferTensorDesc, DataType};

fn assert_free<T>(what: &str, operation: impl FnOnce() -> T) -> T {
    let (result, allocations) = crate::counting::count(operation);
    assert_eq!(allocations, 0, "{what} allocates");
    result
}

#[test]
fn nothing_up_to_rank_8_allocates() {
    let sizes = [2, 3, 1, 4, 5, 2, 3, 8];
    let strides = [11520, 3840, 7, 960, 192, 96, 32, 1];
    let limits = DeviceLimits::directml();
    for rank in 0..=8 {
        let (sizes, strides) = (&sizes[..rank], &strides[..rank]);
        let packed = assert_free("packed", || BufferTensorDesc::packed(DataType::F32, sizes).unwrap());
        let desc = assert_free("new", || BufferTensorDesc::new(DataType::F32, sizes, Some(strides)).unwrap());
        assert_free("clone", || desc.clone());
        assert_free("eq", || desc == packed);
        assert_free("facts", || desc.facts());
        assert_free("overlap", || desc.overlap());
        assert_free("overlap_with", || desc.overlap_with(&BufferTensorDesc::packed(DataType::F32, &[0]).unwrap()));
        assert_free("coalesce", || desc.coalesce());
        assert_free("offsets", || desc.offsets().last());
        assert_free("reshape", || packed.reshape(&[packed.element_count()]).unwrap());
        assert_free("rank_at_least", || desc.rank_at_least(8, NewAxes::Front));
        // An output with gaps has a warning, and the list of warnings is allocated.
        let buffer = UploadBuffer::new(1 << 20, 256, Role::Input);
        if rank > 0 {
            assert_free("validate", || validate(&desc, &buffer, &limits).unwrap());
            let output = UploadBuffer::new(1 << 20, 256, Role::Output);
            assert_free("validate an output", || validate(&packed, &output, &limits).unwrap());
        }
        if rank > 1 {
            let reversed: [usize; 8] = std::array::from_fn(|axis| rank.saturating_sub(axis + 1));
            assert_free("permute", || desc.permute(&reversed[..rank]).unwrap());
            assert_free("slice", || desc.slice_axis(1, 1..2).unwrap());
            assert_free("select", || desc.select(0, 1).unwrap());
        }
    }
    assert_free("nhwc", || BufferTensorDesc::nhwc(DataType::F16, [1, 3, 224, 224]).unwrap());
    assert_free("with_order", || {
        BufferTensorDesc::with_order(DataType::F16, &[1, 3, 4, 224, 224], AxisOrder::NDHWC).unwrap()
    });
}
