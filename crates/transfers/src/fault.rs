//! The axis at fault where an executor refuses a transfer.

use tensor_layout::checked::Proven;
use tensor_layout::plan::Code;
use tensor_layout::{Error, IndexMap, Relayout};

/// What offsets count, and the layouts of both sides of some copies.
#[derive(Debug, Clone)]
pub(crate) struct Fault<'a> {
    /// The units of a byte: 1, or 8 bits if some element is not whole bytes.
    pub(crate) byte: u64,
    sides: Vec<[&'a IndexMap; 2]>,
}

impl<'a> Fault<'a> {
    /// Refuses a copy whose elements have another width in the destination. The copies may have elements of
    /// different widths.
    pub(crate) fn of(plans: &[&'a Relayout]) -> Result<Fault<'a>, Error> {
        let sides: Vec<[&IndexMap; 2]> = plans.iter().map(|plan| [plan.source(), plan.destination()]).collect();
        for [source, destination] in &sides {
            let (bits, other) = (source.element_bits(), destination.element_bits());
            if bits != other {
                return Err(Code::ElementBitsMismatch.for_value(bits.into(), other.into()));
            }
        }
        let is_whole = sides.iter().all(|[source, _]| source.element_bits().is_multiple_of(8));
        Ok(Fault { byte: if is_whole { 1 } else { 8 }, sides })
    }

    /// The units of an element of a copy.
    pub(crate) fn width(&self, map: &IndexMap) -> u64 {
        u64::from(map.element_bits()).times(self.byte).divided_by(8)
    }

    /// Refuses a transfer whose offset on one side (0 or 1) is no multiple of `limit` bytes.
    pub(crate) fn unaligned(&self, side: usize, at: u64, run: u64, limit: u64) -> Error {
        let index = self.index(side, at);
        let axis = index.iter().position(|&index| index > 0).unwrap_or(0);
        if !at.is_multiple_of(self.byte) {
            return self.in_bits(Code::RunInsideByte, axis, (run, self.width_at(at)), limit);
        }
        let what = if side == 0 { "source" } else { "destination" };
        Error::transfer_unaligned(axis, at.divided_by(self.byte), limit, what)
    }

    /// Refuses a run from `at` in the destination whose length is no multiple of `limit` bytes.
    pub(crate) fn run(&self, at: u64, run: u64, limit: u64) -> Error {
        // A run of one element ends along the axis that the next one is on.
        let width = self.width_at(at);
        let last = if run > width { at.plus(run).minus(width) } else { at.plus(run) };
        let code = if run.is_multiple_of(self.byte) { Code::RunUnaligned } else { Code::RunInsideByte };
        self.in_bits(code, self.axis(at, last), (run, width), limit)
    }

    /// Refuses a number of transfers above `limit`. One of them is the run from `at` in the destination.
    pub(crate) fn count(&self, at: u64, run: u64, count: u64, limit: u64) -> Error {
        Code::TransferLimit.on_axis(self.axis(at, at.plus(run)), count, limit)
    }

    fn in_bits(&self, code: Code, axis: usize, (run, width): (u64, u64), limit: u64) -> Error {
        let bits = width.times(8).divided_by(self.byte);
        Error::in_bits(code, axis, run.divided_by(width), limit, u32::try_from(bits).unwrap_or(u32::MAX))
    }

    /// The element at this offset of a side, if one is there: its map and its index.
    fn element(&self, side: usize, at: u64) -> Option<(&'a IndexMap, Vec<u64>)> {
        let mut maps = self.sides.iter().filter_map(|maps| maps.get(side).copied());
        maps.find_map(|map| Some((map, map.inverse(at.divided_by(self.width(map))).ok().flatten()?)))
    }

    fn index(&self, side: usize, at: u64) -> Vec<u64> {
        self.element(side, at).map(|(_, index)| index).unwrap_or_default()
    }

    /// The units of the element at an offset of the destination, or else of the first copy.
    fn width_at(&self, at: u64) -> u64 {
        let found = self.element(1, at).map(|(map, _)| map).or(self.sides.first().map(|[_, map]| *map));
        found.map_or(self.byte, |map| self.width(map))
    }

    /// The first axis on which the elements at two offsets of the destination differ, or else the last axis.
    fn axis(&self, first: u64, second: u64) -> usize {
        let (first, second) = (self.index(1, first), self.index(1, second));
        let differing = first.iter().zip(&second).position(|(first, second)| first != second);
        differing.unwrap_or(first.len().saturating_sub(1))
    }
}
