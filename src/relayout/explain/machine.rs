//! The machine that a plan was made for, in words.

use super::super::cpu_family::{Rules, Staged};
use super::super::plan::cost::{PANEL_ROWS, PREFETCH_DISTANCE};
use super::super::plan::machine::Knobs;
use super::numbers::Size;

/// Returns the CPU, the sizes that follow from its caches, and the rules of its family, each on a line.
pub(super) fn machine_in_words(knobs: &Knobs) -> String {
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
