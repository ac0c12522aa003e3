//! Groups of four words in the interpreter.

use super::binding::Memory;
use super::expression::Expr;
use super::fault::Outcome;
use super::interpret::{Machine, out_of_range};

impl Machine<'_> {
    /// Copies group `index` of the second buffer to group `at` of the first, for every lane.
    pub(super) fn copy_four(&mut self, buffers: [&Memory; 2], places: [&Expr; 2], active: &[usize]) -> Outcome<()> {
        let [to, from] = buffers;
        for &lane in active {
            let [at, index] = [self.value(places[0], lane)?, self.value(places[1], lane)?];
            for part in 0..4 {
                let value = self.load(from, word(from, index, part)?, lane)?;
                self.store(to, word(to, at, part)?, value, lane)?;
            }
        }
        Ok(())
    }

    /// Sets all words of group `at`, for every lane.
    pub(super) fn fill_four(&mut self, to: &Memory, at: &Expr, value: u32, active: &[usize]) -> Outcome<()> {
        for &lane in active {
            let at = self.value(at, lane)?;
            for part in 0..4 {
                self.store(to, word(to, at, part)?, value, lane)?;
            }
        }
        Ok(())
    }
}

/// Word `part` of a group.
fn word(buffer: &Memory, group: u32, part: u32) -> Outcome<u32> {
    let word = group.checked_mul(4).and_then(|first| first.checked_add(part));
    word.ok_or_else(|| out_of_range(&buffer.name, group, 0))
}

#[cfg(test)]
mod tests;
