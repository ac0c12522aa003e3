//! Properties of a map's buffer besides the offsets: an alignment, zeros in the padding, a total size, and an
//! order of the axes. Equality ignores all of them.

use alloc::boxed::Box;

use super::index_map::{IndexMap, Storage};

impl IndexMap {
    /// The start of the buffer must be a multiple of this number, in bytes. The number is 1 unless a
    /// descriptor promises more or the name of a layout demands more.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.storage.as_ref().map_or(1, |storage| storage.alignment)
    }

    /// Whether the padding must hold zeros, as some layouts with a name demand. A copy to such a layout
    /// writes zeros there.
    #[must_use]
    pub fn has_zero_padding(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.has_zero_padding)
    }

    /// The size by which the buffer is allocated, in bytes. For a descriptor it is
    /// [`total_tensor_size_in_bytes`](crate::BufferTensorDesc::total_tensor_size_in_bytes), and for any other
    /// layout [`physical_size_in_bytes`](Self::physical_size_in_bytes).
    #[must_use]
    pub fn total_size_in_bytes(&self) -> u64 {
        self.physical_size_in_bytes().max(self.least_total)
    }

    /// The order of the axes in memory, the fastest axis first, which the strides of axes of size 1 follow.
    /// `None` means row-major order.
    pub(crate) fn minor_to_major(&self) -> Option<&[usize]> {
        let order = self.storage.as_ref().map(|storage| &*storage.minor_to_major);
        order.filter(|order| !order.is_empty())
    }

    /// Returns this map as one whose buffer begins at a multiple of `alignment` bytes.
    #[doc(hidden)]
    #[must_use]
    pub fn with_alignment(self, alignment: u64) -> IndexMap {
        let set = |storage: &mut Storage| storage.alignment = alignment.max(1);
        if self.alignment() == alignment.max(1) { self } else { self.with_storage(set) }
    }

    /// Returns this map as one whose padding must hold zeros.
    #[doc(hidden)]
    #[must_use]
    pub fn with_zero_padding(self) -> IndexMap {
        self.with_storage(|storage| storage.has_zero_padding = true)
    }

    pub(crate) fn with_total(self, least_total: u64) -> IndexMap {
        IndexMap { least_total, ..self }
    }

    pub(crate) fn with_minor_to_major(self, order: &[usize]) -> IndexMap {
        // The order of the axes only determines the strides of axes of size 1.
        let is_row_major = order.iter().rev().copied().eq(0..order.len());
        if is_row_major || !self.sizes.iter().any(|&size| size <= 1) {
            return self;
        }
        self.with_storage(|storage| storage.minor_to_major = order.into())
    }

    fn with_storage(mut self, set: impl FnOnce(&mut Storage)) -> IndexMap {
        let plain = || Box::new(Storage { alignment: 1, has_zero_padding: false, minor_to_major: Box::default() });
        set(self.storage.get_or_insert_with(plain));
        self
    }
}
