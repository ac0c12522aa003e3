//! Equality and hash: whether descriptors put the same elements at the same offsets.

use core::hash::{Hash, Hasher};

use crate::dims::is_same;
use crate::element::DataType;

use super::{BufferTensorDesc, TensorFlags};

impl BufferTensorDesc {
    /// The fields that equality compares, without the sizes and strides.
    fn plain_fields(&self) -> (DataType, TensorFlags, u32, (u64, bool), u64) {
        let begins = (self.base_offset, self.is_part());
        (self.data_type, self.flags, self.base_offset_alignment, begins, self.larger_total)
    }

    /// The strides that elements use. The stride is 0 where the size is 1 or the tensor is empty.
    pub(in crate::strided) fn used_strides(&self) -> impl Iterator<Item = u64> {
        let empty = self.elements == 0;
        self.sizes().iter().zip(self.strides()).map(move |(&size, &stride)| if empty || size == 1 { 0 } else { stride })
    }
}

impl PartialEq for BufferTensorDesc {
    fn eq(&self, other: &Self) -> bool {
        self.plain_fields() == other.plain_fields()
            && is_same(self.sizes(), other.sizes())
            && self.used_strides().eq(other.used_strides())
    }
}

impl Eq for BufferTensorDesc {}

impl Hash for BufferTensorDesc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plain_fields().hash(state);
        self.sizes().hash(state);
        self.used_strides().for_each(|stride| stride.hash(state));
    }
}
