//! Ranks and lists of axes.

use crate::read::{map, strided};
use tensor_layout::strided::NewAxes;
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};

const NO_AXES: [u64; 0] = [];

#[test]
fn ranks_change_without_changing_other_strides() {
    let packed = |sizes: &[u64]| BufferTensorDesc::packed(DataType::F32, sizes).unwrap();
    let parts = |desc: &BufferTensorDesc| (desc.sizes().to_vec(), desc.strides().to_vec());
    // Chromium makes `[1]:[1]` of a scalar, and fills in zeros.
    assert_eq!(parts(&packed(&[]).rank_at_least(1, NewAxes::Front)), (vec![1], vec![1]));
    assert_eq!(parts(&packed(&[]).rank_at_least(3, NewAxes::Front)), (vec![1, 1, 1], vec![0, 0, 1]));
    assert_eq!(parts(&packed(&[]).rank_at_least(3, NewAxes::Back)), (vec![1, 1, 1], vec![1, 0, 0]));
    assert_eq!(parts(&strided(&[1, 3], &[77, 1]).rank_at_least(3, NewAxes::Front)).1, [0, 77, 1]);
}

#[test]
fn one_element_broadcasts_to_a_scalar() {
    let one = strided(&[1], &[7]).with_base_offset(3).unwrap();
    let scalar = one.broadcast_to(&NO_AXES).unwrap();
    assert_eq!((scalar.rank(), scalar.offset(&NO_AXES)), (0, Ok(3)));
    assert_eq!(one.to_index_map().unwrap().broadcast_to(&NO_AXES).unwrap().offset(&NO_AXES), Ok(3));
    assert_eq!(strided(&[2], &[1]).broadcast_to(&NO_AXES).unwrap_err().code(), "rank_mismatch");
    assert_eq!(strided(&[1, 1], &[1, 1]).broadcast_to(&NO_AXES).unwrap_err().code(), "rank_mismatch");
    assert_eq!(map("f32[1,1]").broadcast_to(&NO_AXES).unwrap_err().code(), "rank_mismatch");
}
