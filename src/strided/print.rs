//! Writes a `BufferTensorDesc` as text.

use core::fmt;

use crate::typed_sizes::write_list;

use super::desc::BufferTensorDesc;

impl fmt::Debug for BufferTensorDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferTensorDesc")
            .field("data_type", &self.data_type())
            .field("flags", &self.flags())
            .field("sizes", &self.sizes())
            .field("strides", &self.explicit_strides())
            .field("base_offset", &self.base_offset())
            .field("total_tensor_size_in_bytes", &self.total_tensor_size_in_bytes())
            .field("guaranteed_base_offset_alignment", &self.base_offset_alignment())
            .finish()
    }
}

impl fmt::Display for BufferTensorDesc {
    /// Writes the notation `f32[2,3]:[5,1]`, followed by `+n` for the base offset of a part of
    /// a larger buffer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.data_type())?;
        write_list(f, self.sizes())?;
        f.write_str(":")?;
        write_list(f, self.strides())?;
        if self.is_part() {
            write!(f, "+{}", self.base_offset())?;
        }
        Ok(())
    }
}
