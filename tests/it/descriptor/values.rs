//! Descriptors as values, and the sentences of the errors of their constructors and views.

use crate::read::{packed, strided};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use tensor_layout::strided::{Slice, Slices};
use tensor_layout::{AxisOrder, BufferTensorDesc, DataType, Error};

fn sentence<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn equal_descriptors_are_one_key_of_a_map() {
    // Strides of axes of size 1 have no meaning, and implicit strides are the packed strides.
    let same = [packed(&[1, 3, 5]), strided(&[1, 3, 5], &[15, 5, 1]), strided(&[1, 3, 5], &[99, 5, 1])];
    let hashes = |of: &[BufferTensorDesc]| -> HashSet<u64> {
        of.iter().map(|desc| BuildHasherDefault::<DefaultHasher>::default().hash_one(desc)).collect()
    };
    assert_eq!(hashes(&same).len(), 1);
    assert_eq!(same.into_iter().collect::<HashSet<_>>().len(), 1);
    let others = [
        packed(&[1, 3, 5]),
        strided(&[1, 3, 5], &[0, 6, 1]),
        packed(&[1, 3, 5]).with_base_offset(1).unwrap(),
        packed(&[1, 3, 5]).with_total_size_in_bytes(64).unwrap(),
        packed(&[1, 3, 5]).reinterpret(DataType::S32).unwrap(),
    ];
    // The hash takes the width of the type, and not the type.
    assert_eq!(hashes(&others).len(), 4);
    assert_eq!(others.into_iter().collect::<HashSet<_>>().len(), 5);
}

#[test]
fn a_channels_first_volume_is_packed_without_strides() {
    let volume = BufferTensorDesc::ncdhw(DataType::F16, [2, 3, 4, 5, 6]).unwrap();
    assert_eq!((volume.strides(), volume.explicit_strides()), (&[360, 120, 30, 6, 1][..], None));
    assert_eq!(format!("{:?} {:?}", AxisOrder::NCDHW, AxisOrder::NHWC), "AxisOrder(NCDHW) AxisOrder(NHWC)");
}

/// The table has 4 rows of 4 elements. If it is read as rows times rows, it reaches element 3 * 4 + 3 * 4.
#[test]
fn a_total_that_a_view_outgrows_is_the_least_again() {
    let table = packed(&[4, 4]).with_total_size_in_bytes(80).unwrap();
    assert_eq!(table.transpose(0, 1).unwrap().total_tensor_size_in_bytes(), 80);
    assert_eq!(table.broadcast_to(&[2, 4, 4]).unwrap().total_tensor_size_in_bytes(), 80);
    let wide = packed(&[2, 3]).with_total_size_in_bytes(28).unwrap();
    assert_eq!(wide.reinterpret(DataType::U8).unwrap().total_tensor_size_in_bytes(), 28);
}

#[test]
fn lists_of_another_length_are_refused_with_both_lengths() {
    for (refused, words) in [
        (
            sentence(BufferTensorDesc::with_order(DataType::F32, &[2, 3], AxisOrder::NHWC)),
            "sizes must be 4, one for each axis, but is 2",
        ),
        (sentence(packed(&[2, 3]).permute(&[1])), "axes must be 2, one for each axis, but is 1"),
    ] {
        assert_eq!(refused, format!("the number of {words}"));
    }
}

#[test]
fn axes_that_do_not_exist_are_refused_with_the_rank() {
    let desc = packed(&[2, 3]);
    assert_eq!(sentence(desc.slice_axis(2, ..)), "axis 2 does not exist: the rank is 2");
    assert_eq!(sentence(packed(&[2]).transpose(0, 1)), "axis 1 does not exist: the rank is 1");
}

#[test]
fn parts_that_do_not_fit_are_refused_with_the_numbers() {
    let desc = packed(&[2, 3]);
    assert_eq!(sentence(desc.reshape(&[0_u64; 0])), "the new sizes hold 1 element, but there are 6");
    assert_eq!(packed(&[1, 1]).reshape(&[0_u64; 0]).unwrap().rank(), 0);
}

#[test]
fn slices_are_a_list_of_slices() {
    let slices: Slices = [Slice::from(2..5), Slice::from(..).step_by(2)].into_iter().collect();
    assert_eq!(slices.to_string(), "[2:5,::2]");
    assert_eq!(Slices::from(Vec::from(slices.clone())), slices);
    assert_eq!(Vec::from(slices), [Slice { start: 2, end: Some(5), step: 1 }, Slice { start: 0, end: None, step: 2 }]);
}
