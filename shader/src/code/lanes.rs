//! The variables of some invocations that run side by side.

use super::expression::Variable;

/// A value for each variable and invocation.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    values: Vec<u32>,
    count: usize,
}

impl Lanes {
    /// `slots` variables of `count` invocations.
    pub(super) fn new(slots: usize, count: usize) -> Lanes {
        Lanes { values: vec![0; slots.saturating_mul(count)], count }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, variable: &Variable, lane: usize) -> u32 {
        let place = variable.slot.saturating_mul(self.count).saturating_add(lane);
        self.values.get(place).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, variable: &Variable, lane: usize, value: u32) {
        let place = variable.slot.saturating_mul(self.count).saturating_add(lane);
        if let Some(slot) = self.values.get_mut(place) {
            *slot = value;
        }
    }
}
