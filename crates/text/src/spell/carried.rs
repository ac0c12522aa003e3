//! Spells a view with the tiles of its operand, or with the tiles that the TPU rule gives for the view's
//! sizes.

use core::cmp::Reverse;
use std::collections::BTreeSet;
use tensor_layout::short_sort::sort_by_key;
use tensor_layout::tiled::TpuTiles;
use tensor_layout::tiled::{ArrayShape, Layout, Tile};
use tensor_layout::{IndexMap, ToIndexMap};

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

    /// Returns a shape of the map's sizes without tiles, in the dimension order `order`, major to minor.
    pub(super) fn untiled(&self, order: &[usize]) -> Option<ArrayShape> {
        let minor_to_major: Vec<usize> = order.iter().rev().copied().collect();
        let layout = self.attributes.clone().with_minor_to_major(&minor_to_major).ok()?;
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
    shape.to_index_map().is_ok_and(|own| own.with_gap_owner(map.gap_owner()) == *map)
}

fn with_width_of(map: &IndexMap, mut layout: Layout) -> Layout {
    let bits = map.element_bits();
    layout.element_bits = (bits != map.data_type().bits().next_multiple_of(8)).then_some(bits);
    layout
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

/// The most dimension orders that are tried with one set of tiles. A view that needs another order gets other
/// tiles. 1024 orders cover every choice of two minor dimensions among 32.
const MOST_ORDERS: usize = 1024;

/// Spells the view in the operand's tiles, or in the tiles that a TPU would give the view.
///
/// If the operand has the tiles of the TPU rule, the view gets the tiles of this rule too. The rule depends
/// on the sizes, so the view's tiles may differ; the operand's own tiles are preferred if they fit. All other
/// tiles are carried over unchanged.
pub(super) fn in_tiles_of(operand: &ArrayShape, wanted: &Wanted<'_>) -> Option<ArrayShape> {
    let tiles = operand.layout().tiles();
    let (followed, others): (Vec<_>, Vec<_>) = TpuTiles::ALL
        .into_iter()
        .partition(|&rule| !tiles.is_empty() && operand.tpu_tiles(rule).is_ok_and(|ruled| ruled == tiles));
    let others = if tiles.is_empty() { Vec::new() } else { others };
    let of_rules = orders(wanted.map(), Some(operand), 2);
    by_rules(&of_rules, &followed, wanted, |ruled| ruled == tiles)
        .or_else(|| by_rules(&of_rules, &followed, wanted, |_| true))
        .or_else(|| unchanged(operand, wanted))
        .or_else(|| by_rules(&of_rules, &others, wanted, |_| true))
}

pub(super) fn as_on_a_tpu(wanted: &Wanted<'_>) -> Option<ArrayShape> {
    by_rules(&orders(wanted.map(), None, 2), &TpuTiles::ALL, wanted, |_| true)
}

/// Spells the map in one of the orders and the tiles that one of `rules` chooses for it, if they are allowed.
fn by_rules(
    orders: &[Vec<usize>],
    rules: &[TpuTiles],
    wanted: &Wanted<'_>,
    is_allowed: impl Fn(&[Tile]) -> bool,
) -> Option<ArrayShape> {
    let pairs = orders.iter().flat_map(|order| rules.iter().map(move |&rule| (order, rule)));
    pairs.into_iter().find_map(|(order, rule)| {
        let tiles = wanted.untiled(order)?.tpu_tiles(rule).ok()?;
        if is_allowed(&tiles) { wanted.spelling(order, &tiles) } else { None }
    })
}

/// Spells the map in the operand's tiles, unchanged.
fn unchanged(operand: &ArrayShape, wanted: &Wanted<'_>) -> Option<ArrayShape> {
    let tiles = operand.layout().tiles();
    if let Some(levels) = wanted.map().levels() {
        return wanted.spelling(levels.order(), tiles);
    }
    let tiled = tiles.iter().map(|tile| tile.entries().len()).max().unwrap_or(0);
    orders(wanted.map(), Some(operand), tiled).into_iter().find_map(|order| wanted.spelling(&order, tiles))
}

/// Returns the dimension orders, major to minor, that are tried with tiles over the `tiled` minor dimensions.
///
/// In every order, the remaining dimensions are sorted by their largest strides. Dimensions of size 1 take
/// the positions of the operand's dimensions of size 1, if their number is equal. Otherwise they are put
/// where the whole order is nearest to row-major.
fn orders(map: &IndexMap, operand: Option<&ArrayShape>, tiled: usize) -> Vec<Vec<usize>> {
    let rank = map.sizes().len();
    let major_first = by_stride(map);
    if tiled == 0 {
        return vec![near_row_major(map, &major_first)];
    }
    let mut orders = Vec::new();
    let mut seen: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut minor: Vec<usize> = Vec::new();
    choose(&major_first, tiled.min(rank), &mut minor, &mut |minor| {
        let others: Vec<usize> = major_first.iter().copied().filter(|dimension| !minor.contains(dimension)).collect();
        let mut order = near_row_major(map, &others);
        order.extend(minor.iter().rev());
        for order in [operand.and_then(|operand| like_operand(map, operand, &order)), Some(order)].into_iter().flatten()
        {
            if seen.insert(order.clone()) {
                orders.push(order);
            }
        }
        orders.len() < MOST_ORDERS
    });
    orders
}

/// Extends `chosen` by `left` more dimensions of `from`, in every choice and order, and calls `found` with
/// each result until `found` returns false. The last dimension of `from` is chosen first.
fn choose(from: &[usize], left: usize, chosen: &mut Vec<usize>, found: &mut impl FnMut(&[usize]) -> bool) -> bool {
    let Some(left) = left.checked_sub(1) else { return found(chosen) };
    for &dimension in from.iter().rev() {
        if chosen.contains(&dimension) {
            continue;
        }
        chosen.push(dimension);
        let goes_on = choose(from, left, chosen, found);
        chosen.pop();
        if !goes_on {
            return false;
        }
    }
    true
}

/// Returns the dimensions of size 1, followed by the other dimensions in the order of descending strides.
pub(super) fn by_stride(map: &IndexMap) -> Vec<usize> {
    let mut order: Vec<usize> = (0..map.sizes().len()).collect();
    // The key is the stride, then the position among dimensions that `*` has joined. Dimensions of size 1
    // have no key and come first.
    let stride = |dimension: &usize| {
        map.components().iter().find_map(|component| {
            let place = component.dims().iter().position(|other| other == dimension)?;
            Some((Reverse(component.chain.digits().iter().map(|digit| digit.stride).max()), place))
        })
    };
    sort_by_key(&mut order, stride);
    order
}

/// Returns `order` with its dimensions of size 1 moved to where the whole order is nearest to row-major.
pub(super) fn near_row_major(map: &IndexMap, order: &[usize]) -> Vec<usize> {
    let is_one = |dimension: &usize| map.sizes().get(*dimension) == Some(&1);
    let (mut ones, mut live): (Vec<usize>, Vec<usize>) = order.iter().partition(|dimension| is_one(dimension));
    sort_by_key(&mut ones, |&dimension| dimension);
    let mut minor_to_major = Vec::with_capacity(order.len());
    // The order nearest to row-major takes the later of the two candidate dimensions each time, from the
    // minor end on.
    while let Some(next) = if ones.last() > live.last() { ones.pop() } else { live.pop() } {
        minor_to_major.push(next);
    }
    minor_to_major.reverse();
    minor_to_major
}

/// Moves the dimensions of size 1 in `order` to the positions that the operand's dimensions of size 1 have.
/// Returns `None` unless the map has as many dimensions of size 1, and as many larger dimensions, as the
/// operand. For a scalar operand the dimensions are in descending order.
fn like_operand(map: &IndexMap, operand: &ArrayShape, order: &[usize]) -> Option<Vec<usize>> {
    let is_one = |dimension: &usize| map.sizes().get(*dimension) == Some(&1);
    let (mut ones, live): (Vec<usize>, Vec<usize>) = order.iter().partition(|dimension| is_one(dimension));
    sort_by_key(&mut ones, |&dimension| dimension);
    if operand.rank() == 0 {
        ones.reverse();
        return Some(ones);
    }
    let (mut ones, mut live) = (ones.into_iter(), live.into_iter());
    let own = operand.layout().minor_to_major().iter().rev();
    let next = |&dimension: &usize| if operand.sizes().get(dimension) == Some(&1) { ones.next() } else { live.next() };
    let order: Vec<usize> = own.map(next).collect::<Option<_>>()?;
    (order.len() == map.sizes().len()).then_some(order)
}
