//! The passes of a copy: one pass from the source to the destination, or several through intermediate
//! buffers.
//!
//! Nearly every pair of layouts takes one pass. Two kinds of pairs take more passes. If fused dimensions,
//! tiles or the ragged edges of a reversed dimension contradict each other, the copy goes through a packed
//! buffer. An Irreducible layout is built (or taken apart) by one pass for each tile level, and each pass is
//! a copy between plain layouts. [`crate::map`] explains digits and levels.

use smallvec::SmallVec;

use crate::checked;
use crate::error::Error;
use crate::map::{BoxGroups, IndexMap, MAX_REFINED, TileEntries, TileLevels};

use super::super::plan::machine::Knobs;
use super::program::{Program, Traffic};
use super::widths::Widths;

/// The passes of a copy. The last pass fills the destination.
#[derive(Debug, Clone)]
pub(crate) struct Passes {
    /// All passes except the last pass. Each of them fills an intermediate buffer.
    pub(crate) before: Vec<Pass>,
    /// The pass that fills the destination.
    pub(crate) last: Box<Program>,
}

/// A pass before the last pass. It copies the buffer of the previous pass, or the source, into a buffer of
/// its own.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) program: Box<Program>,
    /// The number of elements of this pass's buffer, padding included, and the number of bits of an element.
    pub(crate) elements: u64,
    pub(crate) bits: u32,
    /// Copies the old contents of this buffer back from the buffer that the next pass fills. Only a buffer
    /// that holds padding of an Irreducible destination needs this copy.
    pub(crate) recover: Option<Box<Program>>,
}

impl Passes {
    /// The passes of a copy that walks the dimensions in `reversed` backwards.
    pub(crate) fn new(
        source: &IndexMap,
        destination: &IndexMap,
        reversed: &[usize],
        knobs: &Knobs,
    ) -> Result<Passes, Error> {
        if let Some(boxes) = BoxGroups::new(source, destination, reversed) {
            return Ok(Passes { before: Vec::new(), last: program(source, destination, boxes, knobs)? });
        }
        let mut passes = Vec::new();
        let mut at = source.clone();
        if let Some(levels) = source.levels.as_deref() {
            let (_, steps) = level_steps(source, levels)?;
            for step in steps.iter().rev() {
                passes.push(Pass::new(&step.tiled, &step.plain, knobs)?);
            }
            at = untiled(source, levels)?;
        } else if destination.levels.is_none() {
            // The layouts fuse or cut dimensions in contradicting ways. A packed buffer is compatible with
            // both.
            let packed = packed(source)?;
            passes.push(Pass::new(source, &packed, knobs)?);
            at = packed;
        }
        let steps = destination.levels.as_deref().map(|levels| level_steps(destination, levels)).transpose()?;
        let plain = steps.as_ref().map_or(destination, |(first, _)| first);
        let mut last = match BoxGroups::new(&at, plain, reversed) {
            Some(boxes) => Pass::of(program(&at, plain, boxes, knobs)?, plain),
            None => {
                // The destination cuts a reversed dimension into blocks, and a packed buffer does not.
                let packed = packed(&at)?;
                let boxes = match BoxGroups::new(&at, &packed, reversed) {
                    Some(boxes) => boxes,
                    None => {
                        // The reversed dimension is fused with another dimension that is not reversed.
                        passes.push(Pass::new(&at, &packed, knobs)?);
                        at = packed.clone();
                        BoxGroups::new(&at, &packed, reversed).ok_or_else(no_boxes)?
                    }
                };
                passes.push(Pass::of(program(&at, &packed, boxes, knobs)?, &packed));
                Pass::new(&packed, plain, knobs)?
            }
        };
        if let Some((_, steps)) = &steps {
            for (index, step) in steps.iter().enumerate() {
                let next = steps.get(index.saturating_add(1));
                let recover = next.map(|next| pass(&next.tiled, &next.plain, knobs)).transpose()?;
                passes.push(last);
                last = Pass { recover, ..Pass::new(&step.plain, &step.tiled, knobs)? };
            }
        }
        Ok(Passes { before: passes, last: last.program })
    }

    /// The program of the only pass. `None` if there are several passes.
    pub(crate) fn direct(&self) -> Option<&Program> {
        self.before.is_empty().then_some(&self.last)
    }

    #[cfg(test)]
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.before.iter().map(|pass| &*pass.program).chain(std::iter::once(&*self.last))
    }

    /// Whether an intermediate buffer holds padding whose bytes in the destination are kept. The copy reads
    /// such padding from the destination first, so that the last pass writes the same bytes again.
    pub(crate) fn recovers(&self) -> bool {
        self.before.iter().any(|pass| pass.recover.is_some())
    }
}

impl Pass {
    fn new(from: &IndexMap, to: &IndexMap, knobs: &Knobs) -> Result<Pass, Error> {
        Ok(Pass::of(pass(from, to, knobs)?, to))
    }

    fn of(program: Box<Program>, to: &IndexMap) -> Pass {
        Pass { program, elements: to.physical_elements(), bits: to.element_bits(), recover: None }
    }
}

/// One tile level: the row-major shape before the level, with dimensions joined, and the row-major shape
/// after the level.
struct LevelStep {
    plain: IndexMap,
    tiled: IndexMap,
}

/// The levels of an Irreducible layout as copies between plain layouts, and the untiled layout that the first
/// copy reads.
fn level_steps(map: &IndexMap, levels: &TileLevels) -> Result<(IndexMap, Vec<LevelStep>), Error> {
    let mut bounds = levels.sizes.clone();
    let mut steps = Vec::with_capacity(levels.levels.len());
    for level in &levels.levels {
        bounds.insert_many(0, std::iter::repeat_n(1, level.new_axes));
        bounds.truncate(level.prefix);
        let mut sizes = bounds.clone();
        sizes.extend(level.groups.iter().map(|group| group.bound));
        let tile: TileEntries = level.groups.iter().map(|group| Some(group.tile)).collect();
        let order = (0..sizes.len()).collect();
        let (data_type, bits) = (map.data_type(), map.element_bits());
        steps.push(LevelStep {
            plain: row_major(map, &sizes)?,
            tiled: IndexMap::from_tiles(data_type, bits, &sizes, order, &[tile], 1)?,
        });
        bounds.extend(level.groups.iter().map(|group| group.bound.div_ceil(group.tile.get())));
        bounds.extend(level.groups.iter().map(|group| group.tile.get()));
    }
    if let Some(last) = steps.last_mut() {
        last.tiled = last.tiled.clone().with_base(map.base())?;
    }
    Ok((untiled(map, levels)?, steps))
}

/// The logical tensor, packed in the physical order of its dimensions.
fn untiled(map: &IndexMap, levels: &TileLevels) -> Result<IndexMap, Error> {
    let order = levels.order.clone();
    IndexMap::from_tiles(map.data_type(), map.element_bits(), map.sizes(), order, &[], 1)
}

/// The logical tensor, packed row-major.
fn packed(map: &IndexMap) -> Result<IndexMap, Error> {
    row_major(map, map.sizes())
}

fn row_major(map: &IndexMap, sizes: &[u64]) -> Result<IndexMap, Error> {
    let order: SmallVec<[usize; 8]> = (0..sizes.len()).collect();
    IndexMap::from_tiles(map.data_type(), map.element_bits(), sizes, order, &[], 1)
}

/// The copy between two layouts that are known to need no intermediate buffer.
fn pass(from: &IndexMap, to: &IndexMap, knobs: &Knobs) -> Result<Box<Program>, Error> {
    let boxes = BoxGroups::new(from, to, &[]).ok_or_else(no_boxes)?;
    program(from, to, boxes, knobs)
}

fn no_boxes() -> Error {
    Error::Undecided { question: "how to copy between two layouts", work: MAX_REFINED }
}

fn program(from: &IndexMap, to: &IndexMap, boxes: BoxGroups, knobs: &Knobs) -> Result<Box<Program>, Error> {
    let widths = Widths::between(from, to);
    let elements = from.element_count();
    let traffic = Traffic {
        read: checked::bytes_for(elements.min(from.physical_elements()), widths.source)?,
        written: checked::bytes_for(elements, widths.destination)?,
    };
    Program::new(boxes, widths, traffic, knobs)
}

#[cfg(test)]
mod tests;
