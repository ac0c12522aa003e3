
/// Makes the copies of this backend with tensor-layout. Sizes, strides and starts are passed unchanged.
fn strided_<T: Copy>(
    src: &[T],
    dst: &mut [T],
    sizes: &[usize],
    (src_strides, src_start): (&[usize], usize),
    (dst_strides, dst_start): (&[usize], usize),
) {
    use tensor_layout::relayout::{copy_strided, Strided};
    let data_type = match size_of::<T>() {
        1 => tensor_layout::DataType::U8,
        2 => tensor_layout::DataType::U16,
        4 => tensor_layout::DataType::U32,
        _ => tensor_layout::DataType::U64,
    };
    // SAFETY: the elements are numbers without padding, and the slices have as many bytes.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(src.as_ptr().cast::<u8>(), size_of_val(src)),
            std::slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<u8>(), size_of_val(dst)),
        )
    };
    let source = Strided { strides: src_strides, offset: src_start };
    let destination = Strided { strides: dst_strides, offset: dst_start };
    copy_strided(data_type, sizes, source, destination, from, to).expect("a strided copy");
}

#[allow(clippy::too_many_arguments)]
fn copy2d_<T: Copy>(
    src: &[T],
    dst: &mut [T],
    d1: usize,
    d2: usize,
    src_stride1: usize,
    dst_stride1: usize,
    src_offset: usize,
    dst_offset: usize,
) {
    strided_(src, dst, &[d1, d2], (&[src_stride1, 1], src_offset), (&[dst_stride1, 1], dst_offset))
}

fn copy_strided_src_<T: Copy>(src: &[T], dst: &mut [T], dst_offset: usize, src_l: &Layout) {
    let packed = src_l.shape().stride_contiguous();
    strided_(src, dst, src_l.dims(), (src_l.stride(), src_l.start_offset()), (&packed, dst_offset))
}
