//! From one buffer to the other: in one pass, or through buffers in between.
//!
//! One pass of boxes is the rule. Two kinds of pairs need more: layouts whose fused dimensions or tiles contradict
//! each other meet in a packed buffer, and an Irreducible layout is built (or taken apart) one tile
//! level a pass, each of which is a copy between plain layouts (facts of the digits: see [`crate::map`]).

use smallvec::SmallVec;

use crate::checked;
use crate::error::Error;
use crate::map::{BoxGroups, IndexMap, Levels, TileEntries};

use super::execute::{Program, Traffic};
use super::kernel::KernelLevel;
use super::padding;

/// The passes of a copy.
#[derive(Debug, Clone)]
pub(super) enum Route {
    /// Straight from source to destination.
    Direct(Program),
    /// Through buffers in between.
    Staged(Stages),
}

/// Passes that each fill a buffer of their own; the last one fills the destination.
#[derive(Debug, Clone)]
pub(super) struct Stages {
    bits: u32,
    pub(super) passes: Vec<Pass>,
}

/// One pass: copies the buffer before it into its own.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    pub(super) program: Program,
    /// The elements of the buffer this pass fills.
    pub(super) elements: u64,
    /// How to get this buffer's old contents out of the one that the next pass fills: only for
    /// buffers that hold padding of an Irreducible destination.
    recover: Option<Program>,
}

impl Route {
    pub(super) fn new(source: &IndexMap, destination: &IndexMap) -> Result<Route, Error> {
        if let Some(boxes) = BoxGroups::new(source, destination) {
            return program(source, destination, boxes).map(Route::Direct);
        }
        let mut passes = Vec::new();
        let mut at = source.clone();
        if let Some(levels) = source.levels() {
            let (_, steps) = level_steps(source, levels)?;
            for step in steps.iter().rev() {
                passes.push(Pass::new(&step.tiled, &step.plain)?);
            }
            at = untiled(source, levels)?;
        } else if destination.levels().is_none() {
            // The two contradict each other; either gets along with a packed buffer.
            let packed = packed(source)?;
            passes.push(Pass::new(source, &packed)?);
            at = packed;
        }
        match destination.levels() {
            None => passes.push(Pass::new(&at, destination)?),
            Some(levels) => {
                let (first, steps) = level_steps(destination, levels)?;
                passes.push(Pass::new(&at, &first)?);
                for (place, step) in steps.iter().enumerate() {
                    let next = steps.get(place.saturating_add(1));
                    let recover = next.map(|next| pass(&next.tiled, &next.plain)).transpose()?;
                    passes.push(Pass { recover, ..Pass::new(&step.plain, &step.tiled)? });
                }
            }
        }
        Ok(Route::Staged(Stages { bits: source.element_bits(), passes }))
    }

    pub(super) fn with_streaming(mut self, stream: bool) -> Route {
        match &mut self {
            Route::Direct(program) => program.stream = stream,
            Route::Staged(stages) => stages.passes.iter_mut().for_each(|pass| pass.program.stream = stream),
        }
        self
    }

    /// Runs all passes; the destination's padding holds `pattern` already, if there is one.
    pub(super) fn run(
        &self,
        source: &[u8],
        destination: &mut [u8],
        level: KernelLevel,
        pattern: Option<u128>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        match self {
            Route::Direct(program) => program.run(level, source, destination, progress),
            Route::Staged(stages) => stages.run(source, destination, level, pattern, progress),
        }
    }
}

impl Pass {
    fn new(from: &IndexMap, to: &IndexMap) -> Result<Pass, Error> {
        Ok(Pass { program: pass(from, to)?, elements: to.physical_elements(), recover: None })
    }
}

impl Stages {
    fn run(
        &self,
        source: &[u8],
        destination: &mut [u8],
        level: KernelLevel,
        pattern: Option<u128>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let bits = self.bits;
        let Some((last, before)) = self.passes.split_last() else { return Ok(()) };
        let mut buffers = Vec::with_capacity(before.len());
        for pass in before {
            let length: usize = checked::narrow(checked::bytes_for(pass.elements, bits)?, checked::BYTES)?;
            let mut buffer = vec![0; length];
            if let Some(pattern) = pattern {
                padding::fill(&mut buffer, pass.elements, bits, pattern);
            }
            buffers.push(buffer);
        }
        if pattern.is_none() {
            self.recover(&mut buffers, destination, level)?;
        }
        let mut from: &[u8] = source;
        for (pass, buffer) in before.iter().zip(&mut buffers) {
            pass.program.run(level, from, buffer, &mut |_| {})?;
            from = buffer;
        }
        last.program.run(level, from, destination, progress)
    }

    /// Brings the old padding of the destination into the buffers that will be copied over it.
    fn recover(&self, buffers: &mut [Vec<u8>], destination: &[u8], level: KernelLevel) -> Result<(), Error> {
        let mut later: &[u8] = destination;
        for (pass, buffer) in self.passes.iter().zip(buffers).rev() {
            if let Some(program) = &pass.recover {
                program.run(level, later, buffer, &mut |_| {})?;
            }
            later = buffer;
        }
        Ok(())
    }
}

/// One tile level: the shape before it (dimensions joined) and after it, both row-major.
struct Step {
    plain: IndexMap,
    tiled: IndexMap,
}

/// The levels of an Irreducible layout as copies between plain layouts, and the untiled layout they start from.
fn level_steps(map: &IndexMap, levels: &Levels) -> Result<(IndexMap, Vec<Step>), Error> {
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
        steps.push(Step {
            plain: row_major(map, &sizes)?,
            tiled: IndexMap::from_tiles(data_type, bits, &sizes, order, &[tile], 1)?,
        });
        bounds.extend(level.groups.iter().map(|group| group.bound.div_ceil(group.tile.get())));
        bounds.extend(level.groups.iter().map(|group| group.tile.get()));
    }
    Ok((untiled(map, levels)?, steps))
}

/// The logical tensor, packed in the physical order of its dimensions.
fn untiled(map: &IndexMap, levels: &Levels) -> Result<IndexMap, Error> {
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

/// The copy between two layouts that are known to get along.
fn pass(from: &IndexMap, to: &IndexMap) -> Result<Program, Error> {
    let boxes =
        BoxGroups::new(from, to).ok_or(Error::TooHard { question: "how to copy between two layouts", work: 1 })?;
    program(from, to, boxes)
}

fn program(from: &IndexMap, to: &IndexMap, boxes: BoxGroups) -> Result<Program, Error> {
    let bits = from.element_bits();
    let bytes = |elements: u64| checked::bytes_for(elements, bits);
    let elements = from.logical_elements();
    let traffic = Traffic {
        read: bytes(elements.min(from.physical_elements()))?,
        written: bytes(elements)?,
        buffers: from.physical_size_in_bytes().saturating_add(to.physical_size_in_bytes()),
    };
    Program::new(boxes, bits, traffic)
}
