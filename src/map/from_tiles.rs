//! Makes an index map from tiles.

use alloc::boxed::Box;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::checked::{self, Dims, PHYSICAL};
use crate::element::DataType;
use crate::error::Error;

use super::index_map::IndexMap;
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
        let physical: Dims = order.iter().filter_map(|&axis| sizes.get(axis).copied()).collect();
        let levels = TileLevels::new(order, physical, tiles)?;
        let physical_elements = checked::round_up(levels.elements, tail_alignment, PHYSICAL)?;
        let (components, levels) = if levels.elements == 0 {
            (Vec::new(), None)
        } else {
            match normal_form::components(&levels) {
                Some(components) => (components, None),
                None => (Vec::new(), Some(Box::new(levels.without_idle_tiles()))),
            }
        };
        IndexMap::whole((data_type, element_bits), Dims::from_slice(sizes), components, levels, physical_elements)
    }
}
