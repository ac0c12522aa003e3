//! The text of `explain`: a plan in words.

use crate::checked;
use crate::map::CopyBox;

use super::cpu_family::{Rules, Staged};
use super::level::KernelLevel;
use super::plan::cost::{PANEL_ROWS, PREFETCH_DISTANCE};
use super::plan::fill::Fill;
use super::plan::machine::Knobs;
use super::plan::passes::Passes;
use super::plan::program::{PlannedBox, Program};
use super::relayout::Relayout;
use super::settings::Padding;
use kernel::{Size, copy_in_words, counted, line, plain_in_words, steps_in_words};

mod kernel;

/// The most boxes that are written out.
const SHOWN: usize = 8;

impl Relayout {
    /// Returns the plan as text for people. The text has the boxes of each pass with their loop nests and
    /// micro-kernels, the memory traffic and the kind of stores, the treatment of padding, and the machine
    /// that the copy was planned for. The wording is not stable.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let Passes { before, last } = &self.passes;
        let passes = if before.is_some() { 2 } else { 1 };
        for (index, pass) in before.iter().enumerate() {
            let pass_number = index.saturating_add(1);
            let buffer = Size(checked::bytes_for(pass.elements, pass.bits).unwrap_or(u64::MAX));
            line(&mut text, format_args!("pass {pass_number} of {passes}, into a buffer of {buffer}"));
            self.program_in_words(&mut text, &pass.program);
        }
        if passes > 1 {
            line(&mut text, format_args!("pass {passes} of {passes}, into the destination"));
        }
        self.program_in_words(&mut text, last);
        let level = self.passes.last.knobs.level;
        line(&mut text, format_args!("kernels: {}", level.get()));
        if let Err(error) = KernelLevel::requested() {
            line(&mut text, format_args!("TENSOR_LAYOUT_LEVEL is ignored: {error}"));
        }
        line(&mut text, format_args!("padding: {}", self.padding_in_words()));
        line(&mut text, format_args!("machine: {}", machine_in_words(&self.settings.knobs())));
        text
    }

    fn program_in_words(&self, text: &mut String, program: &Program) {
        let traffic = program.traffic;
        let count = usize::try_from(program.boxes.count()).unwrap_or(usize::MAX);
        line(text, format_args!("{}", counted(count, "box", "boxes")));
        let later = program.prepared.is_empty().then(|| program.first(SHOWN).unwrap_or_default());
        let planned = later.as_ref().unwrap_or(&program.prepared);
        let vectors = program.knobs.level.has_vectors();
        for planned in planned.iter().take(SHOWN) {
            match planned {
                PlannedBox::Copy(copy) if self.plain().is_some() => plain_in_words(text, copy),
                PlannedBox::Copy(copy) => copy_in_words(text, copy, "  ", vectors),
                PlannedBox::Steps(steps) => steps_in_words(text, steps, vectors),
            }
        }
        let left = if later.is_some() { count.saturating_sub(SHOWN) } else { planned.len().saturating_sub(SHOWN) };
        if left > 0 {
            line(text, format_args!("  ... and {left} more"));
        }
        let all = Size(traffic.read.saturating_add(traffic.written));
        line(text, format_args!("  traffic: {all}, {} read and {} written", Size(traffic.read), Size(traffic.written)));
        let streaming_from = program.streaming_from();
        let from = Size(streaming_from);
        let why = match (program.streaming, streaming_from) {
            (_, 0 | u64::MAX) => "as set by the caller".into(),
            (true, _) => format!("as {from} or more are read and written"),
            (false, _) => format!("as less than {from} are read and written"),
        };
        let stores = if program.streaming { "non-temporal" } else { "through the cache" };
        line(text, format_args!("  stores: {stores}, {why}"));
    }

    fn padding_in_words(&self) -> String {
        let whole = self.destination_size_in_bytes();
        let elements = checked::bytes_for(self.destination.element_count(), self.destination.element_bits());
        let bytes = whole.saturating_sub(elements.unwrap_or(whole));
        let place = match self.destination.is_part() {
            _ if bytes == 0 => "the bits after the last element".into(),
            true => format!("{} of a part, whose gaps may belong to other tensors", Size(bytes)),
            false => format!("{} of its own", Size(bytes)),
        };
        let what = match self.settings.padding {
            _ if bytes == 0 && matches!(self.fill, Fill::Nothing) => return "none".into(),
            Padding::Keep => return format!("{place}, kept"),
            Padding::Zero => format!("{place}, set to zero"),
            Padding::Fill(pattern) => format!("{place}, {pattern:#x} in every element"),
        };
        let blocks = || usize::try_from(whole).ok().and_then(|size| self.blocks(size).ok().flatten());
        match (&self.fill, blocks()) {
            (Fill::Nothing, _) => what,
            (Fill::Boxes { boxes, first: false, .. }, _) => {
                format!("{what}: {}, written after the elements", counted(boxes.len(), "box", "boxes"))
            }
            (Fill::Boxes { boxes, bytes, first: true, .. }, blocks) => {
                let filled: u64 = boxes.iter().map(CopyBox::elements).fold(0, u64::saturating_add);
                let filled = Size(filled.saturating_mul(u64::try_from(*bytes).unwrap_or(u64::MAX)));
                let blocks = blocks.map_or(String::new(), |blocks| format!(", in {} blocks", blocks.len()));
                let boxes = counted(boxes.len(), "box", "boxes");
                format!("{what}: {boxes}, {filled} with the gaps, written before the elements{blocks}")
            }
            (Fill::Whole { .. }, Some(blocks)) => {
                let block = Size(whole.checked_div(u64::try_from(blocks.len()).unwrap_or(1)).unwrap_or(whole));
                format!(
                    "{what}: {} blocks of about {block} are filled, each just before it is copied over",
                    blocks.len()
                )
            }
            (Fill::Whole { .. }, None) => {
                format!("{what}: all {} of the destination are filled first, then copied over", Size(whole))
            }
        }
    }
}

/// Returns the CPU, the sizes that follow from its caches, and the rules of its family, each on a line.
fn machine_in_words(knobs: &Knobs) -> String {
    let &Knobs {
        level: _,
        family,
        rules,
        l1_ways,
        l1_way: _,
        in_l2,
        streaming_from,
        long_rows_streaming_from: _,
        prefetch_above,
        panel,
    } = knobs;
    let (l1, l2) = (Size(knobs.l1()), Size::of(in_l2.saturating_mul(2)));
    let streaming = match streaming_from {
        0 => "always".to_owned(),
        u64::MAX => "never".to_owned(),
        from => format!("from {} read and written", Size(from)),
    };
    let (above, ahead) = (Size(prefetch_above), Size::of(PREFETCH_DISTANCE));
    let (panel, half) = (Size::of(panel), Size::of(in_l2));
    let rules = rules_in_words(&rules);
    format!(
        "{family}, L1 data cache of {l1} in {l1_ways} ways, L2 cache of {l2}
  non-temporal stores: {streaming}; prefetch: above {above}, {ahead} ahead
  panels: up to {panel}, {PANEL_ROWS} rows; in the L2 cache: up to {half} a side
  rules: {rules}"
    )
}

fn rules_in_words(rules: &Rules) -> String {
    // Every field is named here, so that a new rule cannot be forgotten.
    let &Rules { panel_width, panels_in_l1, follows_rows, joins_tiles, scattered, staged } = rules;
    let stage = match staged {
        Staged::Never => "",
        Staged::ByPitches => "panels staged as their pitches want it",
        Staged::InLongRegisters => "panels staged in registers of 16 units",
    };
    let width = format!("panel rows of {}", Size::of(panel_width));
    let said = [
        (true, width.as_str()),
        (panels_in_l1, "panels prefetched into L1"),
        (follows_rows, "no prefetch of rows that the hardware follows"),
        (joins_tiles, "short runs of tiles joined"),
        (scattered, "scattered order in the L2 cache"),
        (!stage.is_empty(), stage),
    ];
    said.into_iter().filter(|&(on, _)| on).map(|(_, words)| words).collect::<Vec<_>>().join(", ")
}
