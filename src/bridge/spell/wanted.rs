//! What a spelling has to say, and the comparison of candidates with it.

use alloc::vec;
use alloc::vec::Vec;

use crate::map::{IndexMap, ToIndexMap};
use crate::tiled::{ArrayShape, Layout, Tile};

/// A map to be spelled, and what its layout says besides an order and tiles.
#[derive(Clone)]
pub(super) struct Wanted<'a> {
    map: &'a IndexMap,
    /// Element width, memory space, tail alignment and so on; no tiles.
    attributes: Layout,
    dynamic: Vec<bool>,
}

impl<'a> Wanted<'a> {
    /// The map alone.
    pub(super) fn new(map: &'a IndexMap) -> Wanted<'a> {
        let layout = Layout::row_major(map.sizes().len());
        let dynamic = vec![false; map.sizes().len()];
        Wanted { map, attributes: with_width_of(map, layout), dynamic }
    }

    /// The map of a view, with all that the operand's layout says besides the places of its elements.
    pub(super) fn view(map: &'a IndexMap, own: &IndexMap, operand: &ArrayShape) -> Wanted<'a> {
        let mut wanted = Wanted::new(map);
        let layout = operand.layout().clone().with_tiles(&[]);
        // Cannot fail: row-major is a permutation.
        let layout = layout.with_minor_to_major(wanted.attributes.minor_to_major()).unwrap_or(wanted.attributes);
        wanted.attributes =
            if operand.element_bits() == map.element_bits() { layout } else { with_width_of(map, layout) };
        wanted.dynamic = dynamic(map, own, operand);
        wanted
    }

    pub(super) fn map(&self) -> &'a IndexMap {
        self.map
    }

    /// Returns the wanted layout with its end padded to the size of the map's buffer.
    pub(super) fn padded_to_the_buffer(&self) -> Option<Wanted<'a>> {
        let mut attributes = self.attributes.clone();
        attributes.tail_padding_alignment = self.map.physical_elements();
        Some(Wanted { attributes, ..self.clone() })
    }

    /// The sizes in this order, major to minor.
    pub(super) fn untiled(&self, order: &[usize]) -> Option<ArrayShape> {
        let minor_to_major: Vec<usize> = order.iter().rev().copied().collect();
        let layout = self.attributes.clone().with_minor_to_major(&minor_to_major).ok()?;
        ArrayShape::new(self.map.data_type(), self.map.sizes(), layout).ok()?.with_dynamic(&self.dynamic).ok()
    }

    /// The layout of this order, major to minor, and these tiles, if it says what the map says.
    pub(super) fn spelling(&self, order: &[usize], tiles: &[Tile]) -> Option<ArrayShape> {
        let shape = self.untiled(order)?;
        let layout = shape.layout().clone().with_tiles(tiles);
        let shape = shape.with_layout(layout).ok()?;
        is_spelling(&shape, self.map).then_some(shape)
    }
}

/// Does a shape say what a map says: the type and width of elements, their places, and the size of the
/// buffer?
///
/// Normal forms are compared, which takes no longer for large tensors.
pub(super) fn is_spelling(shape: &ArrayShape, map: &IndexMap) -> bool {
    // XLA has no word for a part of a larger buffer.
    shape.to_index_map().is_ok_and(|own| own.with_slice_mark(map.is_part()) == *map)
}

fn with_width_of(map: &IndexMap, layout: Layout) -> Layout {
    let bits = map.element_bits();
    layout.with_element_bits(if bits == map.data_type().xla_storage_bits() { 0 } else { bits })
}

/// Which sizes of the view are bounds: all that are dimensions of the operand as they were. A dimension that
/// was divided or joined has no bound of its own.
fn dynamic(map: &IndexMap, own: &IndexMap, operand: &ArrayShape) -> Vec<bool> {
    let mut dynamic = vec![false; map.sizes().len()];
    for component in &map.components {
        let of_operand = own
            .components
            .iter()
            .find(|other| (other.dims().len(), other.extent, &other.chain) == (1, component.extent, &component.chain));
        if let ([dimension], Some(&[other])) = (component.dims(), of_operand.map(|other| other.dims()))
            && let Some(mark) = dynamic.get_mut(*dimension)
        {
            *mark = operand.dynamic().get(other) == Some(&true);
        }
    }
    dynamic
}
