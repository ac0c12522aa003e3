//! `Form`: the plan of all outputs of a line whose sources have equal layouts: the layout, and the copies.
//!
//! A form is divided into windows, ranges of the destination that share no byte, so that an output is written
//! by several threads and through little memory. A window that one piece fills is one copy, which is divided
//! further when it runs. A window of several pieces is at most [`WINDOW`] bytes long where the layout can be
//! cut so.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use tensor_layout::plan::Code;
use tensor_layout::relayout::{Padding, Relayout, Settings, Stores};
use tensor_layout::strided::{GapOwner, Slice};
use tensor_layout::upload::DeviceLimits;
use tensor_layout::{AnyLayout, Error};
use tensor_layout_text::layout::{Copies, PartCopy, copies};
use tensor_layout_text::rule::{Rule, layout_or_rule};
use tensor_layout_text::{Layout, ViewStep};

use super::value::{Piece, Unit, Value};

/// About how many bytes of an output are in memory at once for each thread.
pub(super) const WINDOW: u64 = 8 << 20;

/// The size, in bytes, from which on an output is written with non-temporal stores.
const LONG: u64 = 8 << 20;

/// The most windows that an output is divided into. If there are more pieces, they stay together in larger
/// windows.
const MOST_WINDOWS: usize = 1 << 14;

/// One copy from a source to an output.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Copy {
    /// The position of the source in the list of the output's sources.
    pub source: usize,
    /// How the copy is done. Copies that differ only in their offsets may share one plan.
    pub plan: Arc<Relayout>,
    /// The bytes that are added to the offsets of the plan, on the source and on the output.
    pub at: [u64; 2],
    /// The bits that the copy flips in every byte.
    pub flip: u8,
}

#[derive(Debug)]
pub(super) struct Form {
    pub(super) layout: Layout,
    pub(super) bytes: u64,
    pub(super) windows: Vec<Window>,
    /// The size of all elements that are read, in bytes.
    pub(super) read: u64,
}

/// A range of an output that nothing else writes.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) range: Range<u64>,
    pub(super) copies: Vec<Copy>,
    /// Whether bytes of the range belong to no element, and no copy writes them.
    pub(super) has_gaps: bool,
}

/// The plans that were made so far. The key is the two layouts, whether the copy fills the output, and its
/// stores.
#[derive(Debug, Default)]
pub(super) struct Plans {
    known: HashMap<(Layout, Layout, bool, Stores), Arc<Copies>>,
    /// The stores for the windows of the output that is being planned.
    stores: Stores,
}

impl Form {
    /// Plans the copies of a value to the layout that `to` names, or to the layout by the rule `usual` if
    /// `to` is `None`.
    pub(super) fn new(value: &Value, to: Option<&str>, usual: &Rule, plans: &mut Plans) -> Result<Form, Error> {
        let layout = laid_out(value, to, usual)?;
        // The plan of a window sees only a short destination. The size of the whole output decides whether it
        // fits the cache.
        let is_long = layout.values().size_in_bytes()? >= LONG;
        plans.stores = if is_long { Stores::Streaming } else { Stores::BySize };
        let (values, mut windows, mut read) = (value, Vec::new(), 0_u64);
        let Some(scales) = &values.scales else {
            let bytes = layout.values().size_in_bytes()?;
            plan(value, &layout, 0..bytes, plans, &mut windows, &mut read)?;
            return Ok(Form { layout, bytes, windows, read });
        };
        let scaled = values.packed()?;
        let per = scales.1.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let both: Layout = format!("{scaled} with {} per [{per}]", scales.0.packed()?).parse()?;
        let places = both.packed(&DeviceLimits::none())?;
        let mut end = 0;
        for (plane, (value, start)) in [values, &scales.0].into_iter().zip(&places.offsets).enumerate() {
            let of_plane = if plane == 0 { layout.clone() } else { value.packed()? };
            let stop = start.saturating_add(of_plane.values().size_in_bytes()?);
            let first = windows.len();
            plan(value, &of_plane, 0..stop.saturating_sub(*start), plans, &mut windows, &mut read)?;
            for window in windows.iter_mut().skip(first) {
                window.range = window.range.start.saturating_add(*start)..window.range.end.saturating_add(*start);
                window.copies.iter_mut().for_each(|copy| copy.at[1] = copy.at[1].saturating_add(*start));
            }
            if *start > end {
                windows.push(Window { range: end..*start, copies: Vec::new(), has_gaps: true });
            }
            end = stop;
        }
        windows.push(Window { range: end..places.len, copies: Vec::new(), has_gaps: true });
        windows.retain(|window| !window.range.is_empty());
        windows.sort_by_key(|window| window.range.start);
        Ok(Form { layout: both, bytes: places.len, windows, read })
    }
}

/// Returns the layout of a value. Values with scales stay packed.
fn laid_out(value: &Value, to: Option<&str>, usual: &Rule) -> Result<Layout, Error> {
    let packed = value.packed()?;
    let is_blocks = matches!(value.unit, Unit::Block(_));
    let text = match (to, usual) {
        (Some(text), _) => text.to_owned(),
        (None, Rule::Named(name)) => name.clone(),
        (None, _) if is_blocks => return Ok(packed),
        (None, rule) => rule.to_string(),
    };
    if value.scales.is_some() {
        return match to.map_or(Ok(Rule::Packed), str::parse) {
            Ok(Rule::Packed) => Ok(packed),
            _ => Err(Error::not_expressible("plane of values", "values with scales stay packed")),
        };
    }
    let layout = layout_or_rule(&text, &packed.to_string())?;
    let unit = Value::of_source(0, layout.clone()).map_or(value.unit, |value| value.unit);
    let sizes = layout.sizes().iter().zip(&value.sizes).enumerate();
    match sizes.into_iter().find(|(_, (a, b))| a != b) {
        _ if unit != value.unit => Err(Error::data_type_mismatch(unit.name(), value.unit.name())),
        Some((axis, (&wanted, &found))) => Err(Code::SizeMismatch.on_axis(axis, found, wanted)),
        None if layout.sizes().len() != value.sizes.len() => {
            let sizes = &value.sizes;
            Err(Error::not_expressible("layout of the output", format!("{layout} has other axes than {sizes:?}")))
        }
        None => {
            layout.whole().map_or(Ok(()), |map| map.check_injective())?;
            Ok(layout)
        }
    }
}

/// Adds the windows of a plane.
fn plan(
    value: &Value,
    layout: &Layout,
    range: Range<u64>,
    plans: &mut Plans,
    windows: &mut Vec<Window>,
    read: &mut u64,
) -> Result<(), Error> {
    let gaps = has_gaps(layout);
    let first = windows.len();
    if let ([piece], true) = (value.pieces.as_slice(), fills(value)) {
        let mut copies = Vec::new();
        plans.copies(piece, layout, true, &mut copies)?;
        windows.push(Window { range, has_gaps: gaps && copies.len() > 1, copies });
    } else {
        divide(value, layout, range, plans, windows)?;
        windows.iter_mut().skip(first).for_each(|window| window.has_gaps = gaps);
    }
    let maps = value.pieces.iter().flat_map(|piece| piece.view.values().parts()).map(|part| &part.map);
    let bits = maps.map(|map| u128::from(map.element_count()).saturating_mul(map.element_bits().into()));
    let bytes = bits.fold(0, u128::saturating_add).div_ceil(8);
    *read = read.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    Ok(())
}

/// Whether the value is a single piece that needs no undoing and covers all indices.
fn fills(value: &Value) -> bool {
    let of = |piece: &Piece| piece.undo.is_empty() && piece.ranges.iter().zip(&value.sizes).all(|(a, &b)| *a == (0..b));
    matches!(value.pieces.as_slice(), [piece] if of(piece))
}

fn has_gaps(layout: &Layout) -> bool {
    let plane = layout.values();
    let bits = |count: u64, bits: u32| u128::from(count).saturating_mul(bits.into());
    let held = plane.parts().iter().map(|part| bits(part.map.element_count(), part.map.element_bits()));
    held.fold(0, u128::saturating_add) < bits(plane.size_in_bytes().unwrap_or(u64::MAX), 8)
}

/// Divides a value of several pieces into windows. Its layout `to` takes the bytes `range` of the output.
fn divide(
    value: &Value,
    to: &Layout,
    range: Range<u64>,
    plans: &mut Plans,
    windows: &mut Vec<Window>,
) -> Result<(), Error> {
    let length = range.end.saturating_sub(range.start);
    if !fills(value) && length > WINDOW && windows.len() < MOST_WINDOWS {
        for axis in outermost_first(to) {
            let Some(parts) = cut(value, to, axis, &range) else { continue };
            for (value, to, range) in parts {
                divide(&value, &to, range, plans, windows)?;
            }
            return Ok(());
        }
    }
    let mut copies = Vec::new();
    value.pieces.iter().try_for_each(|piece| plans.copies(piece, to, false, &mut copies))?;
    windows.push(Window { range, copies, has_gaps: true });
    Ok(())
}

fn outermost_first(layout: &Layout) -> Vec<usize> {
    let sizes = layout.sizes();
    let mut axes: Vec<usize> = (0..sizes.len()).filter(|&axis| sizes.get(axis).is_some_and(|&size| size > 1)).collect();
    if let Some(strides) = layout.whole().ok().and_then(|map| map.strides()) {
        axes.sort_by_key(|&axis| std::cmp::Reverse(strides.get(axis).copied()));
    }
    axes.truncate(3);
    axes
}

/// Cuts a value along an axis into parts that lie one behind another in the output. If pieces meet along this
/// axis, the cuts are between them. Otherwise the parts have an equal number of indices.
fn cut(value: &Value, to: &Layout, axis: usize, range: &Range<u64>) -> Option<Vec<(Value, Layout, Range<u64>)>> {
    let size = *value.sizes.get(axis)?;
    let mut starts: Vec<u64> = value.pieces.iter().filter_map(|piece| Some(piece.ranges.get(axis)?.start)).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|&start| start > 0);
    let each = range.end.saturating_sub(range.start).checked_div(size)?.max(1);
    // Tiles end at powers of two, so the length of a part is rounded up to one. There are at least two parts,
    // so that two threads have work.
    let chunk = WINDOW.checked_div(each)?.clamp(1, size.div_ceil(2));
    let mut chunk = chunk.checked_next_power_of_two()?;
    if !starts.is_empty() && starts.len() < MOST_WINDOWS {
        return parts(value, to, axis, &starts, range);
    }
    while chunk < size {
        let starts: Vec<u64> = (1..size.div_ceil(chunk)).map(|number| number.saturating_mul(chunk)).collect();
        if let Some(parts) = parts(value, to, axis, &starts, range) {
            return Some(parts);
        }
        chunk = chunk.checked_mul(2)?;
    }
    None
}

/// Returns the parts that begin at index 0 and at the indices `starts`. `None` if two parts share bytes, or
/// if no view of the layout is such a part.
fn parts(
    value: &Value,
    to: &Layout,
    axis: usize,
    starts: &[u64],
    range: &Range<u64>,
) -> Option<Vec<(Value, Layout, Range<u64>)>> {
    let size = *value.sizes.get(axis)?;
    let ends = starts.iter().copied().chain([size]);
    let mut parts: Vec<(Value, Layout, Range<u64>)> = Vec::new();
    for (start, end) in std::iter::once(0).chain(starts.iter().copied()).zip(ends) {
        let mut slices = vec![Slice::ALL; value.sizes.len()];
        *slices.get_mut(axis)? = Slice::from(start..end);
        let step = ViewStep::Slice(slices.into());
        let inside = |piece: &&Piece| piece.ranges.get(axis).is_some_and(|own| own.start < end && start < own.end);
        let pieces = value.pieces.iter().filter(inside).cloned().collect();
        let inside = Value { unit: value.unit, sizes: value.sizes.clone(), pieces, scales: None };
        let (part, to) = (inside.step(&step).ok()?, to.view(&step).ok()?);
        let map = to.whole().ok()?;
        let bits = u128::from(map.base()).checked_mul(map.element_bits().into())?;
        let last = u128::from(map.span_elements()).checked_mul(map.element_bits().into())?.div_ceil(8);
        let first = u64::try_from(bits.checked_div(8).filter(|_| bits.is_multiple_of(8))?).ok()?;
        let first = if start == 0 { range.start } else { first };
        if let Some((.., before)) = parts.last_mut() {
            if before.end > first {
                return None;
            }
            before.end = first;
        }
        parts.push((part, to, first..u64::try_from(last).ok()?));
    }
    parts.last_mut()?.2.end = range.end;
    Some(parts)
}

impl Plans {
    /// Adds the copies of a piece into the box of the layout `to` that it fills. With `is_whole`, the piece
    /// fills all of the layout, and the copy sets its padding to zero.
    fn copies(&mut self, piece: &Piece, to: &Layout, is_whole: bool, into: &mut Vec<Copy>) -> Result<(), Error> {
        let mut own = to.clone();
        if !is_whole {
            let slices: Vec<Slice> = piece.ranges.iter().map(|range| Slice::from(range.clone())).collect();
            own = own.view(&ViewStep::Slice(slices.into()))?;
            own = piece.undo.iter().try_fold(own, |own, undo| undo.of(&own))?;
        }
        let (source, from) = moved(&piece.view)?;
        let (destination, start) = if is_whole { (own, 0) } else { moved(&own)? };
        let stores = if is_whole { Stores::BySize } else { self.stores };
        let key = (source, destination, is_whole, stores);
        let plan = match self.known.get(&key) {
            Some(plan) => plan.clone(),
            None => {
                // This cannot fail for blocks of other sizes, because the sizes of their values were compared
                // before.
                let padding = if is_whole { Padding::Zero } else { Padding::Keep };
                let settings = Settings { padding, stores, ..Settings::default() };
                let plan = Arc::new(copies(&key.0, &key.1, &settings)?);
                self.known.insert(key, plan.clone());
                plan
            }
        };
        into.extend(plan.list().iter().map(|PartCopy { plan, at, flip, .. }| Copy {
            source: piece.source,
            plan: plan.clone(),
            at: [at[0].saturating_add(from), at[1].saturating_add(start)],
            flip: *flip,
        }));
        Ok(())
    }
}

/// Moves a layout to the start of its buffer, so that copies at different offsets can share a plan. Returns
/// the layout and the number of bytes that it was moved by. A layout of several parts, and one that does not
/// begin at a whole byte, is not moved.
fn moved(layout: &Layout) -> Result<(Layout, u64), Error> {
    let Ok(map) = layout.whole() else { return Ok((layout.clone(), 0)) };
    let bits = u128::from(map.base()).saturating_mul(map.element_bits().into());
    let bytes = bits.checked_div(8).filter(|_| bits.is_multiple_of(8)).and_then(|bytes| u64::try_from(bytes).ok());
    let (Some(bytes), Ok(map)) = (bytes, map.clone().with_base(0)) else { return Ok((layout.clone(), 0)) };
    let elements = map.span_elements();
    Ok((AnyLayout::Mapped(map.with_physical_elements(elements)?.with_gap_owner(GapOwner::Others)).into(), bytes))
}
