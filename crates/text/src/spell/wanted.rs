//! `Wanted`: the properties that a spelling must have, and the comparison of candidates with these
//! properties.

use tensor_layout::tiled::{ArrayShape, Layout, Tile};
use tensor_layout::{Error, IndexMap, ToIndexMap};

/// A map to be spelled, and the attributes of its layout besides the dimension order and the tiles.
#[derive(Clone)]
pub(super) struct Wanted<'a> {
    map: &'a IndexMap,
    /// The element width, the memory space, the tail alignment and the other attributes. This layout has no
    /// tiles.
    attributes: Layout,
    dynamic: Vec<bool>,
}

impl<'a> Wanted<'a> {
    /// Returns the properties for a map, without further attributes.
    pub(super) fn new(map: &'a IndexMap) -> Wanted<'a> {
        let layout = Layout::row_major(map.sizes().len());
        let dynamic = vec![false; map.sizes().len()];
        Wanted { map, attributes: with_width_of(map, layout), dynamic }
    }

    /// Returns the properties for the map of a view, with the attributes of the operand's layout, except the
    /// dimension order and the tiles.
    pub(super) fn view(map: &'a IndexMap, own: &IndexMap, operand: &ArrayShape) -> Wanted<'a> {
        let mut wanted = Wanted::new(map);
        let layout = operand.layout().clone().with_tiles(&[]);
        // This cannot fail, because row-major is a permutation.
        let layout = in_order(layout, wanted.attributes.minor_to_major()).unwrap_or(wanted.attributes);
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

    /// Returns a shape of the map's sizes without tiles, in the dimension order `order`, major to minor.
    pub(super) fn untiled(&self, order: &[usize]) -> Option<ArrayShape> {
        let minor_to_major: Vec<usize> = order.iter().rev().copied().collect();
        let layout = in_order(self.attributes.clone(), &minor_to_major).ok()?;
        ArrayShape::new(self.map.data_type(), self.map.sizes(), layout).ok()?.with_dynamic(&self.dynamic).ok()
    }

    /// Returns the layout of this dimension order, major to minor, and these tiles, if it describes the map.
    pub(super) fn spelling(&self, order: &[usize], tiles: &[Tile]) -> Option<ArrayShape> {
        let shape = self.untiled(order)?;
        let layout = shape.layout().clone().with_tiles(tiles);
        let shape = ArrayShape::new(shape.data_type(), shape.sizes(), layout).ok()?.with_dynamic(&self.dynamic).ok()?;
        is_spelling(&shape, self.map).then_some(shape)
    }
}

/// Whether a shape has the type and width of a map's elements, their offsets, and the size of the map's
/// buffer.
///
/// The normal forms are compared, so the time does not depend on the sizes.
pub(super) fn is_spelling(shape: &ArrayShape, map: &IndexMap) -> bool {
    // XLA has no notation for a part of a larger buffer, so the mark is taken from the map.
    shape.to_index_map().is_ok_and(|own| own.with_owned(map.owns()) == *map)
}

fn with_width_of(map: &IndexMap, mut layout: Layout) -> Layout {
    let bits = map.element_bits();
    layout.element_bits = (bits != map.data_type().bits().next_multiple_of(8)).then_some(bits);
    layout
}

/// Returns an untiled layout of this dimension order, with the attributes of `layout`.
fn in_order(layout: Layout, minor_to_major: &[usize]) -> Result<Layout, Error> {
    let mut ordered = Layout::new(minor_to_major)?;
    ordered.tail_padding_alignment = layout.tail_padding_alignment;
    ordered.element_bits = layout.element_bits;
    ordered.memory_space = layout.memory_space;
    ordered.split_configs = layout.split_configs;
    ordered.metadata_prefix_bytes = layout.metadata_prefix_bytes;
    ordered.index_type = layout.index_type;
    ordered.pointer_type = layout.pointer_type;
    Ok(ordered)
}

/// Returns which sizes of the view are bounds: the sizes of dimensions that the view takes unchanged from
/// bounded dimensions of the operand. A dimension that was divided or joined has no bound of its own.
fn dynamic(map: &IndexMap, own: &IndexMap, operand: &ArrayShape) -> Vec<bool> {
    let mut dynamic = vec![false; map.sizes().len()];
    for component in map.components() {
        let of_operand = own
            .components()
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
