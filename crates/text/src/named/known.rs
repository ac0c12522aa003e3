//! `known_as`: finds the names that a layout has.

use core::fmt;

use tensor_layout::Error;
use tensor_layout::map::{IndexMap, ToIndexMap, same_layout};
use tensor_layout::strided::BufferTensorDesc;

use super::layout::NamedLayout;
use super::table::{Row, rows};

/// A name of a layout, perhaps with its axes in another order.
///
/// ```
/// use tensor_layout::{ArrayShape, ToIndexMap};
/// use tensor_layout_text::named::{known_as, KnownAs};
///
/// let shuffled: ArrayShape = "bf16[32,64]{1,0:T(16,8)}".parse()?;
/// let names: Vec<KnownAs> = known_as(&shuffled.to_index_map()?);
/// assert_eq!((names[1].layout.name().as_str(), &names[1].axes), ("hipblaslt.COL16_4R8", &Some(vec![1, 0])));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KnownAs {
    /// The layout with this name.
    pub layout: NamedLayout,
    /// For each axis of the named layout, the number of the matching axis in the layout that was passed.
    /// `None` if the axes are in the same order.
    pub axes: Option<Vec<usize>>,
}

impl fmt::Display for KnownAs {
    /// Writes `hipblaslt.COL16_4R8:bf16[64,32] on axes 1,0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)?;
        let Some(axes) = &self.axes else { return Ok(()) };
        let axes: Vec<String> = axes.iter().map(usize::to_string).collect();
        write!(f, " on axes {}", axes.join(","))
    }
}

/// Returns every name in the table that a layout has. Names on its own axes come first. Layouts are compared,
/// not texts: type, sizes, the offset of every element, and the size of the buffer. The size is not compared
/// if the layout's buffer ends after its last element.
///
/// A row-major packed layout has no names here, because nearly every system has a name for it.
///
/// Matrices are also looked up with the last two axes exchanged, and images with the channels last or first.
/// For example, hipBLASLt's orders are AITER's with rows and columns exchanged.
///
/// ```
/// use tensor_layout::{ArrayShape, ToIndexMap};
/// use tensor_layout_text::named::known_as;
///
/// let names = |text: &str| -> Result<Vec<String>, tensor_layout::Error> {
///     Ok(known_as(&text.parse::<ArrayShape>()?.to_index_map()?).iter().map(ToString::to_string).collect())
/// };
/// let vectors = names("f16[2,33,3,2]{3,2,1,0:T(16,1,1)}")?;
/// assert_eq!(vectors[..2], ["tensorrt.kCHW16:f16[2,33,3,2]", "openvino.b_fs_yx_fsv16:f16[2,33,3,2]"]);
/// let shuffled = names("bf16[32,64]{1,0:T(16,8)}")?;
/// assert_eq!(shuffled, ["aiter.shuffle_weight_16x16:bf16[32,64]", "hipblaslt.COL16_4R8:bf16[64,32] on axes 1,0"]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn known_as(map: &IndexMap) -> Vec<KnownAs> {
    let rank = map.sizes().len();
    let same: Vec<usize> = (0..rank).collect();
    let mut orders = vec![same.clone()];
    if let Some(last) = rank.checked_sub(2) {
        // Other orders of the axes to look up: the last two axes exchanged, the first of the last three axes
        // moved to the end, and the last axis moved in front of the other two.
        let exchanged = |turn: fn(&mut [usize]), from: usize| {
            let mut order = same.clone();
            order.get_mut(from..).map(turn);
            order
        };
        orders.push(exchanged(|axes| axes.rotate_left(1), last));
        if let Some(from) = rank.checked_sub(3) {
            orders.push(exchanged(|axes| axes.rotate_left(1), from));
            orders.push(exchanged(|axes| axes.rotate_right(1), from));
        }
    }
    let mut known = Vec::new();
    for order in orders {
        let Ok(turned) = map.permute(&order) else { continue };
        if is_row_major(&turned) {
            continue;
        }
        let axes = (order != same).then_some(&order);
        for row in rows().iter().filter(|row| row.has_rank(rank) && row.is_for(map.data_type())) {
            let named = every_choice(row).into_iter().filter_map(|numbers| named_like(row, &numbers, &turned).ok()?);
            known.extend(named.map(|layout| KnownAs { layout, axes: axes.cloned() }));
        }
    }
    known
}

fn is_row_major(map: &IndexMap) -> bool {
    let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).and_then(|packed| packed.to_index_map());
    packed.is_ok_and(|packed| packed == *map)
}

/// Returns all combinations of numbers that may follow a name.
pub(super) fn every_choice(row: &Row) -> Vec<Vec<u64>> {
    row.numbers.iter().fold(vec![Vec::new()], |choices, (_, values)| {
        let longer =
            |choice: &Vec<u64>| values.iter().map(|&value| [choice.as_slice(), &[value]].concat()).collect::<Vec<_>>();
        choices.iter().flat_map(longer).collect()
    })
}

/// Returns the layout of the row if it equals the layout of `map`.
fn named_like(row: &'static Row, numbers: &[u64], map: &IndexMap) -> Result<Option<NamedLayout>, Error> {
    let (data_type, sizes) = (map.data_type(), map.sizes());
    if row.unmet(&row.values(data_type, sizes, numbers))?.is_some() {
        return Ok(None);
    }
    let layout = NamedLayout::of_row(row, data_type, sizes, numbers)?;
    let [part] = layout.parts.as_slice() else { return Ok(None) };
    let end = map.physical_elements();
    let ends_alike = part.map.physical_elements() == end || map.span_elements() == end;
    Ok((ends_alike && same_layout(&part.map, map)?).then_some(layout))
}
