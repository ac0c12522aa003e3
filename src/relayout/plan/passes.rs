//! The passes of a copy: one pass from the source to the destination, or two through a packed buffer.
//!
//! Nearly every pair of layouts takes one pass. If fused dimensions, tiles or the ragged edges of a reversed
//! dimension contradict each other, the copy goes through a packed buffer. An Irreducible layout has no
//! loops, so its elements are copied one by one. [`crate::map`] explains digits and levels.

use crate::checked;
use crate::error::Error;
use crate::map::{BoxGroups, IndexMap};

use super::machine::Knobs;
use super::program::{Program, Traffic};
use super::widths::Widths;

/// The passes of a copy. The last pass fills the destination.
#[derive(Debug, Clone)]
pub(crate) struct Passes {
    /// The pass before the last one, if there are two. It fills an intermediate buffer.
    pub(crate) before: Option<Pass>,
    pub(crate) last: Box<Program>,
}

/// A pass that copies the source into a packed buffer.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) program: Box<Program>,
    /// The number of elements of the buffer, and the number of bits of an element.
    pub(crate) elements: u64,
    pub(crate) bits: u32,
}

impl Passes {
    pub(crate) fn new(
        source: &IndexMap,
        destination: &IndexMap,
        reversed: &[usize],
        widths: Widths,
        knobs: &Knobs,
    ) -> Result<Passes, Error> {
        let direct = |boxes| Ok(Passes { before: None, last: program(source, boxes, widths, knobs)? });
        if let Some(boxes) = BoxGroups::new(source, destination, reversed) {
            return direct(boxes);
        }
        // A packed buffer fuses and cuts nothing, so it goes together with either side. The dimensions are
        // reversed on the side where that is possible.
        let (elements, bits) = (source.element_count(), source.element_bits());
        let packed = IndexMap::row_major(source.data_type(), bits, source.sizes())?;
        for (first, second) in [(reversed, &[][..]), (&[][..], reversed)] {
            if let Some(into) = BoxGroups::new(source, &packed, first)
                && let Some(out_of) = BoxGroups::new(&packed, destination, second)
            {
                let as_packed = Widths { destination: bits, ..widths };
                let before = Some(Pass { program: program(source, into, as_packed, knobs)?, elements, bits });
                return Ok(Passes { before, last: program(&packed, out_of, widths, knobs)? });
            }
        }
        direct(BoxGroups::by_index(source, destination, reversed))
    }

    /// The program of the only pass. `None` if there are several passes.
    pub(crate) fn direct(&self) -> Option<&Program> {
        self.before.is_none().then_some(&self.last)
    }
}

fn program(from: &IndexMap, boxes: BoxGroups, widths: Widths, knobs: &Knobs) -> Result<Box<Program>, Error> {
    let elements = from.element_count();
    let traffic = Traffic {
        read: checked::bytes_for(elements.min(from.physical_elements()), widths.source)?,
        written: checked::bytes_for(elements, widths.destination)?,
    };
    Program::new(boxes, widths, traffic, knobs, None)
}
