//! oneDNN's reorder between two strided tensors, through the shim `onednn.cc`.

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn onednn_new(rank: c_int, sizes: *const i64, from: *const i64, to: *const i64, bits: c_int) -> *mut c_void;
    fn onednn_run(made: *mut c_void, source: *const c_void, destination: *mut c_void) -> c_int;
    fn onednn_free(made: *mut c_void);
}

/// A reorder that oneDNN has planned and compiled.
pub(crate) struct Reorder {
    made: *mut c_void,
    /// The bytes from the first element to the last element, of the source and of the destination.
    lengths: (usize, usize),
}

impl Reorder {
    /// Returns `None` if oneDNN has no reorder for these strides, or no type of `width` bytes.
    pub(crate) fn new(sizes: &[usize], from: &[usize], to: &[usize], width: usize) -> Option<Reorder> {
        // oneDNN takes 12 axes.
        if !matches!(width, 1 | 2 | 4) || sizes.is_empty() || sizes.len() > 12 {
            return None;
        }
        let signed = |numbers: &[usize]| numbers.iter().map(|&number| number as i64).collect::<Vec<_>>();
        let (rank, bits) = (sizes.len() as c_int, 8 * width as c_int);
        // SAFETY: The three lists have `rank` numbers each, and the shim copies them.
        let made =
            unsafe { onednn_new(rank, signed(sizes).as_ptr(), signed(from).as_ptr(), signed(to).as_ptr(), bits) };
        let length = |strides: &[usize]| {
            width * (sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum::<usize>() + 1)
        };
        (!made.is_null()).then(|| Reorder { made, lengths: (length(from), length(to)) })
    }

    pub(crate) fn run(&self, source: &[u8], destination: &mut [u8]) {
        assert_eq!((source.len(), destination.len()), self.lengths);
        // SAFETY: `made` comes from `onednn_new`, and the buffers have the lengths that its strides reach.
        let status = unsafe { onednn_run(self.made, source.as_ptr().cast(), destination.as_mut_ptr().cast()) };
        assert_eq!(status, 0, "oneDNN refuses the buffers");
    }
}

impl Drop for Reorder {
    fn drop(&mut self) {
        // SAFETY: `made` comes from `onednn_new`, and is freed once.
        unsafe { onednn_free(self.made) }
    }
}
