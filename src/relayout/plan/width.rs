//! Boxes whose elements change their storage width: 1, 2 or 4 bits on one side, a byte each on the other.
//!
//! Rows that are packed on both sides are unpacked, or packed, straight from one buffer to the other, and so
//! are words of 32 bits that hold an element of each of some rows. Any other box goes by way of a stage of
//! bytes in the order of its packed side: one row after the other is unpacked into the stage, and a copy of
//! whole bytes, with all the kernels there are for it, takes them from there; or such a copy fills the stage,
//! whose rows are then packed.

use std::cmp::Ordering;

use smallvec::{SmallVec, smallvec};

use crate::element::{DataType, ElementKind};
use crate::error::Error;
use crate::map::{CopyBox, IndexMap, Loop, Loops};
use crate::short_sort::sort_by_key;

use super::super::plan::machine::Knobs;
use super::cost::{
    LEAST_UNPACKED_ROW, LONGEST_TRANSPOSED, STAGED_PACKED_RUN, STAGED_READ_RUN, STAGED_UNPACKED_RUN, WIDTH_STAGE,
};
use super::nest_loops::loops_in_bytes;
use super::select::{self, in_source_order, neighbours_last};
use super::subbyte::plane;
use strided_copy::nest::{MicroKernel, Nest, PackedWords, WidthChange, WidthRow};

/// How many bits an element takes on either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Widths {
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// Is an element extended by its sign where it becomes wider?
    pub(crate) signed: bool,
}

impl Widths {
    /// Those of a copy.
    pub(crate) fn between(source: &IndexMap, destination: &IndexMap) -> Widths {
        let signed = destination.data_type().kind() == ElementKind::Signed;
        Widths { source: source.element_bits(), destination: destination.element_bits(), signed }
    }

    /// Those of a copy that changes none.
    pub(crate) fn same(bits: u32) -> Widths {
        Widths { source: bits, destination: bits, signed: false }
    }

    /// Can elements of this type be copied between these widths?
    pub(crate) fn can_hold(self, data_type: DataType) -> bool {
        let packed = self.source.min(self.destination);
        // XLA packs truth values as bits.
        let value = if data_type == DataType::Pred { 1 } else { data_type.bits() };
        self.source == self.destination
            || matches!(packed, 1 | 2 | 4) && self.source.max(self.destination) == 8 && value <= packed
    }

    /// What happens to elements: `None` if their width stays.
    pub(crate) fn change(self) -> Option<Change> {
        let bits = usize::try_from(self.source.min(self.destination)).ok()?;
        let in_byte = u64::from(8_u32.checked_div(self.source.min(self.destination))?);
        let change = match self.source.cmp(&self.destination) {
            Ordering::Equal => return None,
            Ordering::Less => WidthChange::Unpack { signed: self.signed },
            Ordering::Greater => WidthChange::Pack,
        };
        Some(Change { bits, in_byte, change })
    }
}

/// Unpacking or packing elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// Of a packed element.
    pub(crate) bits: usize,
    /// How many of them a byte holds.
    pub(crate) in_byte: u64,
    pub(crate) change: WidthChange,
}

impl Change {
    /// Does the source have the packed elements?
    pub(crate) fn unpacks(&self) -> bool {
        matches!(self.change, WidthChange::Unpack { .. })
    }

    /// What belongs to the packed side and to the other one, of what belongs to source and destination; and
    /// back.
    pub(crate) fn sides<T>(&self, (source, destination): (T, T)) -> (T, T) {
        if self.unpacks() { (source, destination) } else { (destination, source) }
    }

    /// A row of this many packed bytes.
    pub(crate) fn row(&self, packed: usize) -> WidthRow {
        WidthRow { bits: self.bits, change: self.change, packed }
    }

    /// The bytes that this many packed elements fill, if they are whole.
    fn whole_bytes(&self, elements: u64) -> Option<u64> {
        elements.is_multiple_of(self.in_byte).then(|| elements.checked_div(self.in_byte)).flatten()
    }

    /// Offsets of elements in bytes, if those are whole where they are packed.
    fn in_bytes(&self, sides: (u64, u64)) -> Option<(usize, usize)> {
        let (packed, unpacked) = self.sides(sides);
        let packed = usize::try_from(self.whole_bytes(packed)?).ok()?;
        Some(self.sides((packed, usize::try_from(unpacked).ok()?)))
    }
}

/// A box whose elements change their width, in a few parts.
#[derive(Debug, Clone)]
pub(crate) struct WidthBox {
    pub(crate) parts: Vec<WidthPart>,
    pub(crate) change: Change,
    /// Bytes of the destination in all.
    pub(crate) bytes: u64,
}

/// What is done in each iteration of some loops.
#[derive(Debug, Clone)]
pub(crate) struct WidthPart {
    /// The loops, and where the first element is stored, in elements.
    pub(crate) outer: CopyBox,
    /// Between the packed side and the stage, or the other buffer if there is no stage.
    pub(crate) rows: WidthRows,
    /// Between the stage and the side of bytes.
    pub(crate) staged: Option<Nest>,
}

/// Rows that are packed on one side and follow each other without a gap on the other.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly all rows begin and end at whole bytes")]
pub(crate) enum WidthRows {
    /// Each begins and ends at whole bytes.
    Whole(Nest),
    /// They begin anywhere: this many elements in each iteration of some loops. Counted in elements.
    Anywhere { loops: Loops, row: u64 },
}

/// A box as one nest, if its rows are long and everything in it begins and ends at whole bytes.
pub(crate) fn nest(copy: &CopyBox, change: &Change) -> Option<Nest> {
    let place = long_row(copy)?;
    let row = copy.loops.get(place)?.extent();
    let outer = copy.loops.iter().enumerate().filter(|&(i, _)| i != place).map(|(_, step)| step);
    whole_rows(outer, row, (copy.source, copy.destination), change)
}

/// The loop that is packed on both sides, if it is worth unpacking without a stage.
fn long_row(copy: &CopyBox) -> Option<usize> {
    let place = copy.loops.iter().position(Loop::is_packed)?;
    (copy.loops.get(place)?.extent() >= LEAST_UNPACKED_ROW || copy.loops.len() == 1).then_some(place)
}

/// The nest of rows of `row` elements, if everything begins and ends at whole bytes.
fn whole_rows<'a>(outer: impl Iterator<Item = &'a Loop>, row: u64, start: (u64, u64), change: &Change) -> Option<Nest> {
    let packed = usize::try_from(change.whole_bytes(row)?).ok()?;
    let loops = loops_in_bytes(outer, |sides| change.in_bytes(sides))?;
    let (source, destination) = change.in_bytes(start)?;
    Some(Nest::new(MicroKernel::ChangeWidth(change.row(packed)), loops.into_vec(), source, destination))
}

/// A box as one nest, if an element of each of some rows makes up a word on the packed side.
pub(crate) fn words(copy: &CopyBox, change: &Change, knobs: &Knobs) -> Option<Nest> {
    let (columns, rows, plane) = plane(copy, u32::try_from(change.bits).ok()?)?;
    // Which of the two loops goes from word to word, and which through one.
    let (words, word) = if change.unpacks() { (plane.rows, plane.columns) } else { (plane.columns, plane.rows) };
    let (apart, pitch) =
        if change.unpacks() { (words.source, word.destination) } else { (words.destination, word.source) };
    let kernel = PackedWords { bits: change.bits, change: change.change, words: words.extent, pitch };
    if word.extent != kernel.rows() || apart != word.extent {
        return None;
    }
    let outer = copy.loops.iter().enumerate().filter(|&(i, _)| i != columns && i != rows).map(|(_, step)| step);
    let mut loops = loops_in_bytes(outer, |sides| change.in_bytes(sides))?;
    if change.unpacks() {
        // In the order of the destination, which is faster (X5), although each place takes two lines.
        neighbours_last(&mut loops, kernel.words, pitch, knobs);
    } else if kernel.packed() > LONGEST_TRANSPOSED {
        in_source_order(&mut loops);
    }
    let (source, destination) = change.in_bytes((copy.source, copy.destination))?;
    Some(Nest::new(MicroKernel::ChangeWords(kernel), loops.into_vec(), source, destination))
}

impl WidthBox {
    /// # Errors
    ///
    /// [`Error::Overflow`] if an offset in bytes does not fit a `usize`.
    pub(crate) fn new(copy: CopyBox, change: Change, knobs: &Knobs) -> Result<WidthBox, Error> {
        let elements = copy.loops.iter().map(Loop::extent).fold(1, u64::saturating_mul);
        let bytes = if change.unpacks() { elements } else { elements.div_ceil(change.in_byte) };
        let mut parts = Vec::new();
        let mut rest: SmallVec<[CopyBox; 4]> = smallvec![copy];
        while let Some(copy) = rest.pop() {
            if let Some(direct) = direct(&copy) {
                parts.push(direct);
                continue;
            }
            let staged = staged_iterations(&copy, &change);
            match cut(&copy, &staged) {
                Some(halves) => rest.extend(halves),
                None => parts.push(part(&copy, &staged, &change, knobs)?),
            }
        }
        Ok(WidthBox { parts, change, bytes })
    }
}

/// The rows of a box that go straight from one buffer to the other.
fn direct(copy: &CopyBox) -> Option<WidthPart> {
    let mut outer = copy.clone();
    let row = match long_row(copy) {
        Some(place) => outer.loops.remove(place).extent(),
        None if copy.loops.is_empty() => 1,
        None => return None,
    };
    Some(WidthPart { outer, rows: WidthRows::Anywhere { loops: Loops::new(), row }, staged: None })
}

/// How many iterations of each loop fill the stage: runs of some length on either side, then as many as there
/// is room for.
fn staged_iterations(copy: &CopyBox, change: &Change) -> SmallVec<[u64; 6]> {
    let mut staged: SmallVec<[u64; 6]> = smallvec![1; copy.loops.len()];
    let steps = if change.unpacks() {
        [(true, STAGED_PACKED_RUN), (false, STAGED_UNPACKED_RUN), (true, WIDTH_STAGE), (false, WIDTH_STAGE)]
    } else {
        // What is read comes in long runs, too.
        [(true, STAGED_PACKED_RUN), (false, STAGED_READ_RUN), (false, WIDTH_STAGE), (true, WIDTH_STAGE)]
    };
    for (packed, length) in steps {
        let mut run = 1;
        // The loop that goes on counting on that side, until the run is as long as wanted.
        while run < length
            && let Some((place, extent)) = copy.loops.iter().enumerate().find_map(|(place, step)| match *step {
                Loop::Strided { extent, source, destination } if extent > 1 => {
                    let sides = change.sides((source, destination));
                    ((if packed { sides.0 } else { sides.1 }) == run).then_some((place, extent))
                }
                _ => None,
            })
            && let Some(own) = staged.get(place).copied()
        {
            let all = staged.iter().fold(1, |all: u64, &n| all.saturating_mul(n));
            let room = WIDTH_STAGE.checked_div(all.checked_div(own).unwrap_or(all)).unwrap_or(1);
            let mut some = length.div_ceil(run).min(room).min(extent);
            if some < extent && some > change.in_byte {
                // Whole bytes.
                some = some.saturating_sub(some.checked_rem(change.in_byte).unwrap_or(0));
            }
            let some = some.max(own);
            if let Some(own) = staged.get_mut(place) {
                *own = some;
            }
            if some < extent {
                break;
            }
            run = run.saturating_mul(extent);
        }
    }
    staged
}

/// Two boxes, if a loop has iterations left that do not fill a stage.
fn cut(copy: &CopyBox, staged: &[u64]) -> Option<[CopyBox; 2]> {
    let (place, whole, left) = copy.loops.iter().zip(staged).enumerate().find_map(|(place, (step, &staged))| {
        let left = step.extent().checked_rem(staged)?;
        (left > 0).then(|| (place, step.extent().saturating_sub(left), left))
    })?;
    let (mut first, mut second) = (copy.clone(), copy.clone());
    if let (Some(Loop::Strided { extent, source, destination }), Some(Loop::Strided { extent: rest, .. })) =
        (first.loops.get_mut(place), second.loops.get_mut(place))
    {
        (*extent, *rest) = (whole, left);
        // Nothing saturates: it is where an element is stored.
        second.source = second.source.saturating_add(source.saturating_mul(whole));
        second.destination = second.destination.saturating_add(destination.saturating_mul(whole));
    }
    first.loops.retain(|step| step.extent() > 1);
    second.loops.retain(|step| step.extent() > 1);
    Some([second, first])
}

/// A box by way of the stage, which `staged` iterations of each loop fill, a divisor of its extent.
fn part(copy: &CopyBox, staged: &[u64], change: &Change, knobs: &Knobs) -> Result<WidthPart, Error> {
    let mut outer = CopyBox { loops: Loops::new(), ..*copy };
    // Iterations, and strides on the packed side and on the other.
    let mut inner: SmallVec<[(u64, u64, u64); 6]> = SmallVec::new();
    for (step, &staged) in copy.loops.iter().zip(staged) {
        let Loop::Strided { extent, source, destination } = *step else {
            outer.loops.push(step.clone());
            continue;
        };
        let rounds = extent.checked_div(staged).unwrap_or(extent);
        if rounds > 1 {
            // Nothing saturates: these are offsets of elements.
            let (source, destination) = (source.saturating_mul(staged), destination.saturating_mul(staged));
            outer.loops.push(Loop::Strided { extent: rounds, source, destination });
        }
        if staged > 1 {
            let (packed, unpacked) = change.sides((source, destination));
            inner.push((staged, packed, unpacked));
        }
    }
    // The stage has them in the order of the packed side; a source that is repeated comes last.
    sort_by_key(&mut inner, |&(_, packed, _)| packed.checked_sub(1).unwrap_or(u64::MAX));
    let (mut rows, mut bytes) = (Loops::new(), Loops::new());
    let mut stage = 1_u64;
    for (extent, packed, unpacked) in inner {
        let strided = |(source, destination)| Loop::Strided { extent, source, destination };
        rows.push(strided(change.sides((packed, stage))));
        bytes.push(strided(change.sides((stage, unpacked))));
        stage = stage.saturating_mul(extent);
    }
    let at_start = |loops| CopyBox { source: 0, destination: 0, loops }.in_order();
    if stage == 1 {
        // Every element is alone on both sides.
        let rows = WidthRows::Anywhere { loops: Loops::new(), row: 1 };
        return Ok(WidthPart { outer, rows, staged: None });
    }
    let CopyBox { loops: mut rows, .. } = at_start(rows);
    let row = rows.iter().position(Loop::is_packed).map_or(1, |place| rows.remove(place).extent());
    let outer_offsets = whole_rows(outer.loops.iter(), change.in_byte, (outer.source, outer.destination), change);
    let rows = match whole_rows(rows.iter(), row, (0, 0), change).filter(|_| outer_offsets.is_some()) {
        Some(nest) => WidthRows::Whole(nest),
        None => WidthRows::Anywhere { loops: rows, row },
    };
    Ok(WidthPart { outer, rows, staged: Some(select::nest(&at_start(bytes), 1, knobs)?) })
}

#[cfg(test)]
mod tests;
