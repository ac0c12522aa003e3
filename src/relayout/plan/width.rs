//! Boxes whose elements change their storage width: 1, 2, 4 or 6 bits on one side, and a byte each on the
//! other side.
//!
//! Rows whose elements follow each other on both sides are unpacked, or packed, directly from one buffer to
//! the other. The same holds for words of 32 bits that have one element of each of several rows. Any other
//! box goes through a staging buffer, which has a byte for each element in the order of the packed side. To
//! unpack, rows are unpacked into the staging buffer, and a copy of whole bytes, with all the kernels for
//! such copies, takes them to the destination. To pack, a copy of whole bytes fills the staging buffer, and
//! its rows are packed from there.
//!
//! Elements of 6 bits have no kernels over registers. Their rows are changed element by element, from one
//! buffer to the other or in the staging buffer.

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::map::{CopyBox, Loop, Loops};
use crate::short_sort::sort_by_key;

use super::cost::{
    BUFFER, LEAST_UNPACKED_ROW, LONGEST_TRANSPOSED, STAGED_PACKED_RUN, STAGED_READ_RUN, STAGED_UNPACKED_RUN,
};
use super::machine::{Knobs, Site};
use super::resolve::Shape;
use super::select::{self, NestLoops, in_source_order, loops_in_bytes, neighbours_last};
use super::step::{Step, StepBox, WidthRows};
use super::subbyte::plane;
use super::widths::Change;
use strided_copy::Copy;
use strided_copy::kernel::{PackedWords, WidthRow};

/// The number of elements that a staging buffer holds.
const STAGE: u64 = 1 << 14;

// The staging buffer is one of the buffers of `exec/steps.rs`.
const _: () = assert!(BUFFER == 1 << 14);

/// Returns a box as one copy, in two cases: its rows are long, and all rows begin and end at whole bytes; or
/// one element of each of some rows makes up a word on the packed side.
///
/// # Errors
///
/// `overflow` if an offset does not fit.
pub(crate) fn rows(copy: &CopyBox, change: &Change, site: Site<'_>) -> Result<Option<Copy>, Error> {
    let found = long_rows(copy, change).map(|(row, loops, start)| (Shape::Width(row), loops, start));
    let found = found.or_else(|| words(copy, change, site.knobs));
    found.map(|(shape, mut loops, start)| select::resolved(shape, &mut loops, start, site)).transpose()
}

/// The shape of an iteration, the loops around it, and the start of the first iteration in bytes, on the
/// source and on the destination.
type Rows<T> = (T, NestLoops, (usize, usize));

/// The rows of a box, if they are long and all of them begin and end at whole bytes.
fn long_rows(copy: &CopyBox, change: &Change) -> Option<Rows<WidthRow>> {
    let index = long_row(copy)?;
    let row = copy.loops.get(index)?.extent();
    let outer = copy.loops.iter().enumerate().filter(|&(i, _)| i != index).map(|(_, step)| step);
    whole_rows(outer, row, (copy.source, copy.destination), change)
}

/// The loop that is contiguous on both sides, if it is long enough to unpack without a staging buffer.
fn long_row(copy: &CopyBox) -> Option<usize> {
    let index = copy.loops.iter().position(Loop::is_packed)?;
    (copy.loops.get(index)?.extent() >= LEAST_UNPACKED_ROW || copy.loops.len() == 1).then_some(index)
}

/// Returns rows of `row` elements, if all of them begin and end at whole bytes on the packed side.
fn whole_rows<'a>(
    outer: impl Iterator<Item = &'a Loop>,
    row: u64,
    start: (u64, u64),
    change: &Change,
) -> Option<Rows<WidthRow>> {
    let packed = usize::try_from(change.whole_bytes(row).filter(|_| change.has_kernels())?).ok()?;
    let loops = loops_in_bytes(outer, |sides| change.in_bytes(sides))?;
    Some((change.row(packed), loops, change.in_bytes(start)?))
}

/// The words of a box, if one element of each of some rows makes up a word on the packed side.
fn words(copy: &CopyBox, change: &Change, knobs: &Knobs) -> Option<Rows<Shape>> {
    let (columns, rows, plane) = plane(copy, u32::try_from(change.bits).ok()?)?;
    // There are `count` words of `elements` elements each. Words begin `apart` elements apart, and rows begin
    // `pitch` elements apart.
    let (count, elements, apart, pitch) = if change.unpacks() {
        (plane.rows, plane.columns, plane.source, plane.destination)
    } else {
        (plane.columns, plane.rows, plane.destination, plane.source)
    };
    let words = PackedWords { bits: change.bits, change: change.change, words: count, pitch };
    if elements != words.rows() || apart != elements {
        return None;
    }
    let outer = copy.loops.iter().enumerate().filter(|&(i, _)| i != columns && i != rows).map(|(_, step)| step);
    let mut loops = loops_in_bytes(outer, |sides| change.in_bytes(sides))?;
    if change.unpacks() {
        // The words are written in the order of the destination. This order is faster on a fifth-generation
        // Xeon, although each offset takes two lines.
        neighbours_last(&mut loops, words.words, pitch, knobs);
    } else if words.packed() > LONGEST_TRANSPOSED {
        in_source_order(&mut loops);
    }
    Some((Shape::Words(words), loops, change.in_bytes((copy.source, copy.destination))?))
}

/// Plans a box whose rows do not begin at whole bytes, or whose elements have different orders on the two
/// sides.
///
/// # Errors
///
/// `overflow` if an offset in bytes does not fit a `usize`.
pub(crate) fn steps(copy: CopyBox, change: Change, site: Site<'_>, planned: &mut Vec<StepBox>) -> Result<(), Error> {
    let mut rest: SmallVec<[CopyBox; 4]> = smallvec![copy];
    while let Some(copy) = rest.pop() {
        let (outer, step) = if let Some((outer, row)) = direct(&copy) {
            (outer, Step::Width(WidthRows::new(Loops::new(), row, change, site)?))
        } else {
            let staged = staged_iterations(&copy, &change);
            if let Some(halves) = cut(&copy, &staged) {
                rest.extend(halves);
                continue;
            }
            part(&copy, &staged, &change, site)?
        };
        let bits = change.sides((u32::try_from(change.bits).unwrap_or(8), 8));
        planned.push(StepBox { outer, bits, steps: vec![step] });
    }
    Ok(())
}

/// The rows of a box that need no staging buffer. Returns the loops around the rows, and the length of a row.
fn direct(copy: &CopyBox) -> Option<(CopyBox, u64)> {
    let mut outer = copy.clone();
    let row = match long_row(copy) {
        Some(index) => outer.loops.remove(index).extent(),
        None if copy.loops.is_empty() => 1,
        None => return None,
    };
    Some((outer, row))
}

/// How many iterations of each loop fill the staging buffer. Iterations that make long runs on either side
/// are taken first, and then other iterations until the buffer is full.
fn staged_iterations(copy: &CopyBox, change: &Change) -> SmallVec<[u64; 6]> {
    let mut staged: SmallVec<[u64; 6]> = smallvec![1; copy.loops.len()];
    let steps = if change.unpacks() {
        [(true, STAGED_PACKED_RUN), (false, STAGED_UNPACKED_RUN), (true, STAGE), (false, STAGE)]
    } else {
        // The source has a byte for each element, and is read from memory, so its runs are longer.
        [(true, STAGED_PACKED_RUN), (false, STAGED_READ_RUN), (false, STAGE), (true, STAGE)]
    };
    for (packed, length) in steps {
        let mut run = 1;
        // Loops that continue the run on this side are added until the run has the wanted length.
        while run < length
            && let Some((index, extent)) = copy.loops.iter().enumerate().find_map(|(index, step)| match *step {
                Loop::Strided { extent, source, destination } if extent > 1 => {
                    let sides = change.sides((source, destination));
                    ((if packed { sides.0 } else { sides.1 }) == run).then_some((index, extent))
                }
                _ => None,
            })
            && let Some(own) = staged.get(index).copied()
        {
            let all = staged.iter().fold(1, |all: u64, &n| all.saturating_mul(n));
            let room = STAGE.checked_div(all.checked_div(own).unwrap_or(all)).unwrap_or(1);
            let mut some = length.div_ceil(run).min(room).min(extent);
            if some < extent && some > change.group {
                // As many iterations of the innermost loop are taken as fill whole bytes on the packed side.
                some = some.saturating_sub(some.checked_rem(change.group).unwrap_or(0));
            }
            let some = some.max(own);
            if let Some(own) = staged.get_mut(index) {
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

/// Cuts a box in two, if some iterations of a loop are left over that do not fill the staging buffer.
fn cut(copy: &CopyBox, staged: &[u64]) -> Option<[CopyBox; 2]> {
    let (index, whole, left) = copy.loops.iter().zip(staged).enumerate().find_map(|(index, (step, &staged))| {
        let left = step.extent().checked_rem(staged)?;
        (left > 0).then(|| (index, step.extent().saturating_sub(left), left))
    })?;
    let (mut first, mut second) = (copy.clone(), copy.clone());
    if let (Some(Loop::Strided { extent, source, destination }), Some(Loop::Strided { extent: rest, .. })) =
        (first.loops.get_mut(index), second.loops.get_mut(index))
    {
        (*extent, *rest) = (whole, left);
        // Nothing saturates, because these are offsets of elements.
        second.source = second.source.saturating_add(source.saturating_mul(whole));
        second.destination = second.destination.saturating_add(destination.saturating_mul(whole));
    }
    first.loops.retain(|step| step.extent() > 1);
    second.loops.retain(|step| step.extent() > 1);
    Some([second, first])
}

/// Plans a box that goes through a staging buffer. `staged` iterations of each loop fill the buffer, and this
/// number divides the extent of the loop. Returns the remaining loops and the step that runs in them.
fn part(copy: &CopyBox, staged: &[u64], change: &Change, site: Site<'_>) -> Result<(CopyBox, Step), Error> {
    let mut outer = CopyBox { loops: Loops::new(), ..*copy };
    // For each loop, the number of iterations, the stride on the packed side and the stride on the other
    // side.
    let mut inner: SmallVec<[(u64, u64, u64); 6]> = SmallVec::new();
    for (step, &staged) in copy.loops.iter().zip(staged) {
        let Loop::Strided { extent, source, destination } = *step else {
            outer.loops.push(step.clone());
            continue;
        };
        let rounds = extent.checked_div(staged).unwrap_or(extent);
        if rounds > 1 {
            // Nothing saturates, because these are strides of elements that are in a buffer.
            let (source, destination) = (source.saturating_mul(staged), destination.saturating_mul(staged));
            outer.loops.push(Loop::Strided { extent: rounds, source, destination });
        }
        if staged > 1 {
            let (packed, unpacked) = change.sides((source, destination));
            inner.push((staged, packed, unpacked));
        }
    }
    // In the staging buffer, elements are in the order of the packed side. Loops that repeat the source are
    // last.
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
    let anywhere = |loops, row, site| WidthRows::new(loops, row, *change, site).map(Step::Width);
    if stage == 1 {
        // No two elements are neighbours on both sides, so elements are copied one by one.
        return Ok((outer, anywhere(Loops::new(), 1, site)?));
    }
    let CopyBox { loops: mut rows, .. } = at_start(rows);
    let row = rows.iter().position(Loop::is_packed).map_or(1, |index| rows.remove(index).extent());
    let whole_outside = whole_rows(outer.loops.iter(), change.group, (outer.source, outer.destination), change);
    let (into, out) = (Site { streaming: false, ..site }, Site { prefetch: false, ..site });
    let (packed, unpacked) = change.sides((into, out));
    let rows = match whole_rows(rows.iter(), row, (0, 0), change).filter(|_| whole_outside.is_some()) {
        Some((row, mut loops, start)) => Step::Copy(select::resolved(Shape::Width(row), &mut loops, start, packed)?),
        None => anywhere(rows, row, packed)?,
    };
    let bytes = Step::Copy(select::copy(&at_start(bytes), 1, unpacked)?);
    let (into, out) = change.sides((rows, bytes));
    Ok((outer, Step::through(vec![into], vec![out])))
}
