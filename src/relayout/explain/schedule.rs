//! How a nest is executed, in words.

use strided_copy::nest::{MicroKernel, Plane};
use strided_copy::{Panels, Schedule, Stage};

use super::super::plan::cost::LINE;
use super::numbers::{Size, counted};

/// What the kernel is told beside the nest; `None` if it copies as it finds the bytes.
pub(super) fn schedule_in_words(kernel: &MicroKernel, schedule: &Schedule) -> Option<String> {
    let mut words = Vec::new();
    let in_panels = match kernel {
        MicroKernel::Transpose(plane) => in_panels(plane, &schedule.panels),
        _ => None,
    };
    match &in_panels {
        Some(panels) => words.extend(panels.iter().cloned()),
        None if schedule.joined_iterations > 1 => {
            words.push(format!("{} iterations at a time, their runs joined in a stage", schedule.joined_iterations));
        }
        None if schedule.permuted => words.push("lines in an order that hardware prefetchers do not follow".into()),
        None => {}
    }
    if schedule.prefetch {
        words.push(match in_panels {
            Some(_) => {
                let Panels { distance, near, .. } = schedule.panels;
                let cache = if near { "L1" } else { "L2" };
                format!("prefetched {} ahead into the {cache} cache", counted(distance, "panel", "panels"))
            }
            None => format!("prefetched {} ahead", Size(schedule.prefetch_distance.into())),
        });
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// The panels of a plane, and what they go by way of; `None` if the plane is one panel without a stage.
fn in_panels(plane: &Plane, panels: &Panels) -> Option<Vec<String>> {
    let count = |extent: usize| u32::try_from(extent).unwrap_or(u32::MAX);
    let (rows, columns) = (panels.height.min(count(plane.rows.extent)), panels.width.min(count(plane.columns.extent)));
    let whole = rows == count(plane.rows.extent) && columns == count(plane.columns.extent);
    let bytes = |lines: u8| Size(u64::from(lines).saturating_mul(u64::try_from(LINE).unwrap_or(0)));
    let stage = match panels.stage {
        Stage::None if whole => return None,
        Stage::None => None,
        Stage::Lines(lines) => Some(format!("staged, and written in runs of {}", bytes(lines))),
        Stage::Gather(lines) => Some(format!("source rows gathered in a stage, {} at a time", bytes(lines))),
        Stage::Continue { lines, joined } => {
            let rows = if joined { "all rows as one" } else { "partial lines kept until the row goes on" };
            Some(format!("staged, and streamed in runs of up to {}, {rows}", bytes(lines)))
        }
    };
    let size = if whole { "one panel".into() } else { format!("panels of {rows} rows x {columns} columns") };
    Some([size].into_iter().chain(stage).collect())
}
