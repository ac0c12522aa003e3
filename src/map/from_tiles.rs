//! Makes an index map from tiles.

use alloc::boxed::Box;

use smallvec::SmallVec;

use crate::checked::{self, Dims, PHYSICAL};
use crate::element::DataType;
use crate::error::Error;

use super::index_map::{Components, IndexMap};
use super::levels::{TileEntries, TileLevels};
use super::normal_form;

impl IndexMap {
    /// Returns the map of a tiled layout. `order` lists the dimensions, the major dimension first.
    pub(crate) fn from_tiles(
        data_type: DataType,
        element_bits: u32,
        sizes: &[u64],
        order: SmallVec<[usize; 8]>,
        tiles: &[TileEntries],
        tail_alignment: u64,
    ) -> Result<IndexMap, Error> {
        if tiles.iter().all(|tile| tile.is_empty()) {
            return Self::untiled((data_type, element_bits), sizes, order.iter().copied(), tail_alignment);
        }
        let physical: Dims = order.iter().filter_map(|&axis| sizes.get(axis).copied()).collect();
        let levels = TileLevels::new(order, physical, tiles)?;
        let physical_elements = checked::round_up(levels.elements, tail_alignment, PHYSICAL)?;
        let (components, levels) = if levels.elements == 0 {
            (Components::new(), None)
        } else {
            match normal_form::components(&levels) {
                Some(components) => (components, None),
                None => (Components::new(), Some(Box::new(levels.without_idle_tiles()))),
            }
        };
        IndexMap::made((data_type, element_bits), Dims::from_slice(sizes), components, levels, 0, physical_elements)
    }

    #[cfg(feature = "relayout")]
    pub(crate) fn row_major(data_type: DataType, element_bits: u32, sizes: &[u64]) -> Result<IndexMap, Error> {
        Self::untiled((data_type, element_bits), sizes, 0..sizes.len(), 1)
    }

    fn untiled(
        (data_type, element_bits): (DataType, u32),
        sizes: &[u64],
        order: impl DoubleEndedIterator<Item = usize>,
        tail_alignment: u64,
    ) -> Result<IndexMap, Error> {
        let elements = checked::product(sizes, PHYSICAL)?;
        let (mut strides, mut next) = (Dims::from_elem(0, sizes.len()), 1_u64);
        for axis in order.rev() {
            if let (Some(stride), Some(&size)) = (strides.get_mut(axis), sizes.get(axis)) {
                *stride = next;
                // Saturates only where another size is 0, and then no element has an offset.
                next = next.saturating_mul(size);
            }
        }
        let physical_elements = checked::round_up(elements, tail_alignment, PHYSICAL)?;
        IndexMap::from_strides(data_type, element_bits, sizes, &strides, 0, physical_elements)
    }
}
