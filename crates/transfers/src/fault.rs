//! The axis at fault where an executor refuses a transfer.

use tensor_layout::checked::Exact;
use tensor_layout::plan::Code;
use tensor_layout::{Error, IndexMap, Relayout};

/// What offsets count, and the layouts of both sides of some copies.
#[derive(Debug, Clone)]
pub(crate) struct Fault<'a> {
    /// The units of an element, and of a byte. Where an element is not whole bytes, a unit is a bit.
    pub(crate) width: u64,
    pub(crate) byte: u64,
    sides: Vec<[&'a IndexMap; 2]>,
}

impl<'a> Fault<'a> {
    /// Refuses copies whose elements have several widths.
    pub(crate) fn of(plans: &[&'a Relayout]) -> Result<Fault<'a>, Error> {
        let sides: Vec<[&IndexMap; 2]> = plans.iter().map(|plan| [plan.source(), plan.destination()]).collect();
        let mut widths = sides.iter().flatten().map(|map| map.element_bits());
        let bits = widths.next().unwrap_or(8);
        if let Some(other) = widths.find(|&other| other != bits) {
            return Err(Code::ElementBitsMismatch.by(bits.into(), other.into()));
        }
        let byte = if bits.is_multiple_of(8) { 1 } else { 8 };
        Ok(Fault { width: u64::from(bits).times(byte).divided_by(8), byte, sides })
    }

    /// Refuses a transfer whose offset on one side (0 or 1) is no multiple of `limit` bytes.
    pub(crate) fn unaligned(&self, side: usize, at: u64, run: u64, limit: u64) -> Error {
        let index = self.index(side, at);
        let axis = index.iter().position(|&index| index > 0).unwrap_or(0);
        if !at.is_multiple_of(self.byte) {
            return self.in_bits(Code::RunInsideByte, axis, run, limit);
        }
        let what = if side == 0 { "source" } else { "destination" };
        Error::transfer_unaligned(axis, at.divided_by(self.byte), limit, what)
    }

    /// Refuses a run from `at` in the destination whose length is no multiple of `limit` bytes.
    pub(crate) fn run(&self, at: u64, run: u64, limit: u64) -> Error {
        // A run of one element ends along the axis that the next one is on.
        let last = if run > self.width { at.plus(run).minus(self.width) } else { at.plus(run) };
        let code = if run.is_multiple_of(self.byte) { Code::RunUnaligned } else { Code::RunInsideByte };
        self.in_bits(code, self.axis(at, last), run, limit)
    }

    /// Refuses a number of transfers above `limit`. One of them is the run from `at` in the destination.
    pub(crate) fn count(&self, at: u64, run: u64, count: u64, limit: u64) -> Error {
        Code::TransferLimit.at(self.axis(at, at.plus(run)), count, limit)
    }

    fn in_bits(&self, code: Code, axis: usize, run: u64, limit: u64) -> Error {
        let bits = self.width.times(8).divided_by(self.byte);
        Error::in_bits(code, axis, run.divided_by(self.width), limit, u32::try_from(bits).unwrap_or(u32::MAX))
    }

    /// The index of the element at this offset of a side, or nothing if no element is there.
    fn index(&self, side: usize, at: u64) -> Vec<u64> {
        let maps = self.sides.iter().filter_map(|maps| maps.get(side));
        maps.filter_map(|map| map.inverse(at.divided_by(self.width)).ok().flatten()).next().unwrap_or_default()
    }

    /// The first axis on which the elements at two offsets of the destination differ, or else the last axis.
    fn axis(&self, first: u64, second: u64) -> usize {
        let (first, second) = (self.index(1, first), self.index(1, second));
        let differing = first.iter().zip(&second).position(|(first, second)| first != second);
        differing.unwrap_or(first.len().saturating_sub(1))
    }
}
