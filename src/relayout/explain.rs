//! The text of `explain`: the plan itself, as `Debug` prints it, one line for each box.

use std::fmt::{self, Write};

use crate::error::counted;

use super::level::requested_level;
use super::plan::fill::Fill;
use super::plan::planned::PlannedBox;
use super::plan::program::{Passes, Program};
use super::relayout::Relayout;

const SHOWN: usize = 8;

impl Relayout {
    /// Returns the plan as text for people. A line of each box has its bytes, where it begins, its loops as
    /// `extent x (source stride, destination stride)` in bytes, and the kernel with all its numbers. Then
    /// follow the bytes that are moved, the kind of stores, the padding and what the plan knows of the
    /// machine. The wording is not stable.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` does not fail.
        let _ = self.write_plan(&mut text);
        text
    }

    fn write_plan(&self, text: &mut String) -> fmt::Result {
        let Passes { before, last } = &self.passes;
        let passes = if before.is_some() { 2 } else { 1 };
        let programs = before.iter().map(|pass| &pass.program).chain([last]);
        for (number, program) in (1..=passes).zip(programs) {
            if passes > 1 {
                writeln!(text, "pass {number} of {passes}")?;
            }
            self.write_program(text, program)?;
        }
        writeln!(text, "kernels: {}", last.knobs.level.get())?;
        if let Err(error) = requested_level() {
            writeln!(text, "TENSOR_LAYOUT_LEVEL is ignored: {error}")?;
        }
        let (whole, elements) = (self.destination.physical_size_in_bytes(), last.traffic.written);
        let place =
            if self.destination.is_part() { "a part, whose gaps may belong to other tensors" } else { "its own" };
        let padding = whole.saturating_sub(elements);
        write!(text, "padding: {} of {place}, {:?}", counted(padding, "byte"), self.settings.padding)?;
        writeln!(
            text,
            "{}",
            match &self.fill {
                Fill::Nothing => "",
                Fill::Whole { .. } | Fill::Boxes { first: true, .. } => ", written before the elements",
                Fill::Boxes { .. } => ", written after the elements",
            }
        )?;
        writeln!(text, "choice: {}", self.choice())?;
        if let Some(reason) = self.estimate_reason() {
            writeln!(text, "{reason}")?;
        }
        writeln!(text, "machine: {:?}", self.choice.apply(self.settings.knobs()))
    }

    fn write_program(&self, text: &mut String, program: &Program) -> fmt::Result {
        let count = program.boxes.count();
        writeln!(text, "{count} {}", if count == 1 { "box" } else { "boxes" })?;
        let later = program.prepared.is_empty().then(|| program.first(SHOWN).unwrap_or_default());
        for planned in later.as_ref().unwrap_or(&program.prepared).iter().take(SHOWN) {
            match planned {
                PlannedBox::Plain(nest) => writeln!(text, "  {nest:?}")?,
                PlannedBox::Copy(copy) => writeln!(text, "  {copy:?}")?,
                PlannedBox::Steps(steps) => writeln!(text, "  {steps:?}")?,
            }
        }
        let shown = u64::try_from(SHOWN).unwrap_or(u64::MAX);
        if count > shown {
            writeln!(text, "  ... and {} more", count.saturating_sub(shown))?;
        }
        writeln!(text, "  {} read and {} written", counted(program.traffic.read, "byte"), program.traffic.written)?;
        let stores = if program.streaming { "non-temporal" } else { "through the cache" };
        writeln!(text, "  stores: {stores}; non-temporal from {} bytes moved", program.streaming_from())
    }
}
