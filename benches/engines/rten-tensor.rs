
/// Makes a strided copy with tensor-layout. The type `T` must be a number.
fn strided<T>(src: TensorView<T>, dest: &mut [MaybeUninit<T>], strides: &[usize]) {
    use std::ptr::NonNull;

    use tensor_layout::relayout::{copy_strided, Destination, Strided};
    let data_type = match size_of::<T>() {
        1 => tensor_layout::DataType::U8,
        2 => tensor_layout::DataType::U16,
        _ => tensor_layout::DataType::U32,
    };
    let to = NonNull::slice_from_raw_parts(NonNull::from(&mut *dest).cast::<u8>(), size_of_val(dest));
    // SAFETY: the elements are numbers without padding, and the slices have as many bytes. Nothing else uses
    // `dest`.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(src.storage().as_ptr().cast::<u8>(), src.storage().len() * size_of::<T>()),
            Destination::write_only(to),
        )
    };
    let (source, destination) = (Strided { strides: src.strides(), offset: 0 }, Strided { strides, offset: 0 });
    copy_strided(data_type, src.shape(), source, destination, from, to).expect("a strided copy");
}

pub fn copy_into_slice<'a, T: Clone>(src: TensorView<T>, dest: &'a mut [MaybeUninit<T>]) -> &'a mut [T] {
    if !is_known_copy_type::<T>() {
        return cloned_into_slice(src, dest);
    }
    assert!(dest.len() == src.len());
    let mut strides: SmallVec<[usize; 8]> = SmallVec::from_elem(1, src.ndim());
    for axis in (1..src.ndim()).rev() {
        strides[axis - 1] = strides[axis] * src.size(axis);
    }
    strided(src, dest, &strides);
    // SAFETY: the destination is packed, so every element was written.
    unsafe { dest.assume_init() }
}

pub fn copy_into_uninit<T: Clone>(src: TensorView<T>, mut dest: TensorViewMut<MaybeUninit<T>>) {
    if !is_known_copy_type::<T>() {
        return cloned_into_uninit(src, dest);
    }
    assert!(src.shape() == dest.shape());
    let strides: SmallVec<[usize; 8]> = dest.strides().iter().copied().collect();
    let mut storage = dest.storage_mut();
    let (start, length) = (storage.as_mut_ptr(), storage.len());
    // SAFETY: no other view uses the storage of this view.
    strided(src, unsafe { std::slice::from_raw_parts_mut(start, length) }, &strides);
}
