//! The nests of a planned copy: its boxes in bytes, and one nest for each entry of a table.

use tensor_layout::checked::{BYTES, OFFSET, Proven, add, len_u64, mul, narrow, next_index};
use tensor_layout::plan::{CopyBox, Loop as ElementLoop};
use tensor_layout::relayout::Relayout;
use tensor_layout::{Error, IndexMap};

use super::nest::{Loop, NEST_LIMIT, Nest, join_last};

/// The most table entries and single indices that are read for a copy without loops.
const ENTRY_LIMIT: u64 = 1 << 16;

const QUESTION: &str = "the least transfers of layouts whose blocks do not divide each other";

/// The nests of a planned copy, whose elements take `width` units.
pub(crate) fn nests(plan: &Relayout, width: u64, nests: &mut Vec<Nest>) -> Result<(), Error> {
    let passes: Vec<_> = plan.passes().collect();
    let mut work = 0;
    match passes.as_slice() {
        [pass] => pass.boxes().try_for_each(|part| from_box(&part, width, &mut work, nests)),
        // A copy of several passes stores elements in a buffer in between, which transfers cannot do. So each
        // index is listed by its offsets.
        _ => by_index(plan, width, nests),
    }
}

pub(crate) fn push(nest: Nest, nests: &mut Vec<Nest>) -> Result<(), Error> {
    nest.check()?;
    nests.push(nest);
    join_last(nests);
    if nests.len() > NEST_LIMIT { Err(Error::undecided(QUESTION, len_u64(NEST_LIMIT))) } else { Ok(()) }
}

fn from_box(part: &CopyBox, width: u64, work: &mut u64, nests: &mut Vec<Nest>) -> Result<(), Error> {
    let mut loops = vec![Loop::of(width, 1, 1)];
    let (mut tables, mut lengths) = (Vec::new(), Vec::new());
    let signed = narrow::<i64>(width, BYTES)?;
    for step in part.loops() {
        match *step {
            ElementLoop::Strided(step) if step.extent == 1 => {}
            ElementLoop::Strided(step) => {
                let source = step.source.checked_mul(signed).ok_or_else(|| Error::overflow(BYTES, 64))?;
                let destination = narrow(mul(step.destination, width, BYTES)?, BYTES)?;
                loops.push(Loop::of(step.extent, source, destination));
            }
            ElementLoop::Table(ref entries) => {
                lengths.push(entries.len());
                tables.push(entries);
            }
        }
    }
    let Nest { loops, .. } = Nest::new(0, 0, loops);
    let mut index = vec![0; tables.len()];
    loop {
        let (mut source, mut destination) = (part.source, part.destination);
        for (entries, &place) in tables.iter().zip(&index) {
            let entry = entries.get(place).copied().unwrap_or_default();
            (source, destination) = (add(source, entry.0, OFFSET)?, add(destination, entry.1, OFFSET)?);
        }
        let (source, destination) = (mul(source, width, BYTES)?, mul(destination, width, BYTES)?);
        push(Nest { source, destination, loops: loops.clone() }, nests)?;
        *work = work.plus(1);
        if *work > ENTRY_LIMIT {
            return Err(Error::undecided(QUESTION, ENTRY_LIMIT));
        }
        if !next_index(&mut index, &lengths) {
            return Ok(());
        }
    }
}

fn by_index(plan: &Relayout, width: u64, nests: &mut Vec<Nest>) -> Result<(), Error> {
    let (source, destination): (&IndexMap, &IndexMap) = (plan.source(), plan.destination());
    if source.element_count() > ENTRY_LIMIT {
        return Err(Error::undecided(QUESTION, ENTRY_LIMIT));
    }
    let sizes = source.sizes();
    let mut index = vec![0; sizes.len()];
    loop {
        let mut mirrored = index.clone();
        for &axis in plan.reversed_axes() {
            if let (Some(slot), Some(size)) = (mirrored.get_mut(axis), sizes.get(axis)) {
                *slot = size.minus(1).minus(*slot);
            }
        }
        let (from, to) =
            (mul(source.offset(&mirrored)?, width, BYTES)?, mul(destination.offset(&index)?, width, BYTES)?);
        push(Nest::new(from, to, vec![Loop::of(width, 1, 1)]), nests)?;
        if !next_index(&mut index, sizes) {
            return Ok(());
        }
    }
}
