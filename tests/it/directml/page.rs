//! The nine cases of DirectML's page on strides, by name, and the traps of the page.
//!
//! The page's letters A, B, C, ... are the elements. A case is right if a walk in logical order reads the
//! letters in alphabetical order from the buffer that the page draws.

use tensor_layout::map::same_layout;
use tensor_layout::strided::NewAxes;
use tensor_layout::{AxisOrder, BufferTensorDesc, DataType};

fn desc(sizes: &[u64], strides: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::U8, sizes, Some(strides)).unwrap()
}

fn read(desc: &BufferTensorDesc, buffer: &str) -> String {
    desc.offsets().map(|offset| char::from(buffer.as_bytes()[usize::try_from(offset).unwrap()])).collect()
}

#[test]
fn case_1_rows_major_2_by_3() {
    let tensor = BufferTensorDesc::packed(DataType::U8, &[2, 3]).unwrap();
    assert_eq!((tensor.strides(), tensor.min_size_in_bytes()), (&[3, 1][..], 8));
    assert_eq!(read(&tensor, "ABCDEF"), "ABCDEF");
}

#[test]
fn case_2_columns_major_2_by_3() {
    let tensor = BufferTensorDesc::with_order(DataType::U8, &[2, 3], "WH".parse().unwrap());
    // In an order of W and H only, these are letters of the engines: the sizes are in the order H, W.
    let tensor = tensor.unwrap();
    assert_eq!((tensor.strides(), tensor.min_size_in_bytes()), (&[1, 2][..], 8));
    assert_eq!(read(&tensor, "ADBECF"), "ABCDEF");
}

#[test]
fn case_3_dhw_2_by_2_by_3() {
    let tensor = BufferTensorDesc::with_order(DataType::U8, &[2, 2, 3], "DHW".parse().unwrap()).unwrap();
    assert_eq!((tensor.strides(), tensor.min_size_in_bytes()), (&[6, 3, 1][..], 12));
    assert_eq!(read(&tensor, "ABCDEFGHIJKL"), "ABCDEFGHIJKL");
    assert_eq!(tensor.offset(&[1, 0, 1]), Ok(7), "H");
}

#[test]
fn case_4_packed_2_by_2_by_3_has_12_elements() {
    let tensor = desc(&[2, 2, 3], &[6, 3, 1]);
    assert!(tensor.is_packed());
    assert_eq!((tensor.element_count(), tensor.span_elements()), (12, 12));
}

#[test]
fn case_5_broadcast_of_one_row() {
    let tensor = desc(&[2, 3], &[0, 1]);
    assert_eq!(read(&tensor, "ABC"), "ABCABC");
    assert_eq!((tensor.element_count(), tensor.span_elements(), tensor.min_size_in_bytes()), (6, 3, 4));
    assert!(tensor.facts().broadcast && !tensor.is_packed());
    // If the C-stride is 0, every channel has the same values.
    let channels = BufferTensorDesc::packed(DataType::U8, &[1, 1, 2, 2]).unwrap().broadcast_to(&[1, 3, 2, 2]).unwrap();
    assert_eq!(read(&channels, "ABCD"), "ABCDABCDABCD");
}

#[test]
fn case_6_padding_rows_to_5() {
    let tensor = desc(&[2, 3], &[5, 1]);
    assert_eq!(read(&tensor, "ABCxxDEFxx"), "ABCDEF");
    assert!(tensor.facts().padded && !tensor.is_packed());
    // The page draws 10 elements. The smallest buffer ends with the last element that is used.
    assert_eq!((tensor.span_elements(), tensor.min_size_in_bytes()), (8, 8));
    let drawn = tensor.with_total_size_in_bytes(12).unwrap();
    assert_eq!(drawn.total_tensor_size_in_bytes(), 12);
    let floats = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1])).unwrap();
    assert_eq!(floats.min_size_in_bytes(), 32);
}

#[test]
fn case_7_nchw_3_by_5_with_implicit_strides() {
    let tensor = BufferTensorDesc::nchw(DataType::F32, [1, 1, 3, 5]).unwrap();
    assert_eq!((tensor.explicit_strides(), tensor.min_size_in_bytes()), (None, 60));
    let padded = BufferTensorDesc::packed(DataType::F32, &[3, 5]).unwrap().rank_at_least(4, NewAxes::Front);
    assert!(same_layout(&padded, &tensor).unwrap(), "HW is {{1, 1, H, W}}");
}

#[test]
fn case_8_nchw_3_by_5_with_explicit_strides() {
    let implicit = BufferTensorDesc::nchw(DataType::F32, [1, 1, 3, 5]).unwrap();
    let explicit = BufferTensorDesc::new(DataType::F32, &[1, 1, 3, 5], Some(&[15, 15, 5, 1])).unwrap();
    assert_eq!(implicit, explicit);
    assert_eq!(implicit.strides(), [15, 15, 5, 1]);
}

#[test]
fn case_9_nhwc_3_by_5() {
    let tensor = BufferTensorDesc::nhwc(DataType::F32, [1, 1, 3, 5]).unwrap();
    assert_eq!(
        (tensor.sizes(), tensor.strides(), tensor.min_size_in_bytes()),
        (&[1, 1, 3, 5][..], &[15, 1, 5, 1][..], 60)
    );
}

#[test]
fn five_axes_are_n_c_d_h_w() {
    let tensor = BufferTensorDesc::with_order(DataType::F32, &[2, 3, 4, 5, 6], AxisOrder::NDHWC).unwrap();
    assert_eq!(tensor.sizes(), [2, 3, 4, 5, 6]);
    assert_eq!(tensor.strides(), [360, 1, 90, 18, 3]);
}

// "Packed when the physical size equals the logical size" needs the words that follow it.
#[test]
fn trap_equal_sizes_alone_do_not_make_it_packed() {
    let tensor = desc(&[2, 2], &[0, 3]);
    assert_eq!(tensor.element_count(), tensor.span_elements());
    let facts = tensor.facts();
    assert!(!facts.packed && facts.broadcast && facts.padded);
}

// Broadcasting is only the most common case of overlap.
#[test]
fn trap_overlap_without_a_stride_of_0() {
    let facts = desc(&[2, 2], &[1, 1]).facts();
    assert!(facts.overlapping == Some(true) && !facts.broadcast && !facts.packed);
}

#[test]
fn trap_padding_and_broadcast_together() {
    let facts = desc(&[2, 2], &[0, 3]).facts();
    assert!(facts.broadcast && facts.padded && facts.overlapping == Some(true));
}

#[test]
fn trap_strides_of_size_1_axes_are_ignored_but_must_fit() {
    assert_eq!(desc(&[1, 1, 3, 5], &[15, 15, 5, 1]), desc(&[1, 1, 3, 5], &[0, 0, 5, 1]));
    let wide = desc(&[1, 1, 3, 5], &[1 << 32, 0, 5, 1]);
    let limits = tensor_layout::upload::DeviceLimits::directml();
    let buffer = tensor_layout::upload::UploadBuffer::new(64, 0, tensor_layout::upload::Role::Input);
    assert_eq!(tensor_layout::upload::validate(&wide, &buffer, &limits).unwrap_err().codes(), ["free_stride"]);
}
