//! Panels that go by way of a stage.

use std::ops::Range;

use super::super::block::{How, Panel};
use super::super::copy::copy_run;
use super::super::leftover::drain;
use super::super::prefetch::PanelPrefetch;
use super::super::vector::Vector;
use super::{Buffers, Direct, Part, TransposePlanes, Transposes};
use crate::cost::{KEPT_COLUMNS, LINE};
use crate::schedule::Stage;

impl Transposes for Buffers<'_> {
    #[inline(always)]
    unsafe fn panel<V: Vector>(&mut self, part: Part<'_, '_, '_>, prefetch: &mut PanelPrefetch<'_>) {
        let (plane, columns) = (part.planes.plane, part.columns.clone());
        let (way, at_once) = (&part.planes.walk.schedule.panels, part.planes.at_once);
        // SAFETY: the caller's rows, and all or some columns of the panel.
        unsafe {
            match way.stage {
                // A run of the stage, or what is left of the rows; and past the cache, rows whose lines do
                // not begin with units.
                Stage::Lines(lines)
                    if part.rows.len() * plane.unit < usize::from(lines) * LINE
                        || way.lines_fit && !part.how.streaming =>
                {
                    Direct.panel::<V>(part, prefetch);
                }
                Stage::Lines(lines) => {
                    for first in columns.clone().step_by(at_once) {
                        let columns = first..(first + at_once).min(columns.end);
                        self.through::<V>(&part, columns, (usize::from(lines) + 1) * LINE, prefetch);
                    }
                }
                Stage::Continue { lines, joined } => {
                    let pitch = if joined { part.rows.len() * plane.unit } else { (usize::from(lines) + 1) * LINE };
                    for first in columns.clone().step_by(at_once) {
                        let columns = first..(first + at_once).min(columns.end);
                        self.through::<V>(&part, columns, pitch, prefetch);
                    }
                }
                Stage::None => {}
            }
        }
    }
}

impl Buffers<'_> {
    /// Transposes some columns into the stage, rows of it `pitch` bytes apart, and stores them from there.
    ///
    /// # Safety
    ///
    /// As for [`panel`](Transposes::panel), and the columns are at most `at_once`. Columns, and the rows of
    /// those that are continued, come in order.
    #[inline(always)]
    unsafe fn through<V: Vector>(
        &mut self,
        part: &Part<'_, '_, '_>,
        columns: Range<usize>,
        pitch: usize,
        prefetch: &mut PanelPrefetch<'_>,
    ) {
        let Part { planes, iteration, rows, row_offsets, how, .. } = part;
        let &TransposePlanes { walk, plane, transpose, at_once } = *planes;
        let (unit, bytes) = (plane.unit, rows.len() * plane.unit);
        let first = self.rows.wrapping_add(LINE);
        self.columns.fill_strided(pitch, at_once);
        let mut panel = Panel {
            from: iteration.from.wrapping_add(columns.start * unit),
            to: first,
            rows: row_offsets.as_ptr(),
            columns: self.columns.as_ptr(),
            row_count: rows.len(),
            column_count: columns.len(),
            left: columns.start,
            unit,
            how: How { streaming: false, staged: true, ..*how },
            prefetch: *prefetch,
        };
        // SAFETY: rows and columns of the plane. `Panels::are_for` says that the stage has room for the lines
        // of as many columns as a vector has, after a line in front of each.
        unsafe { transpose(&mut panel) };
        *prefetch = panel.prefetch;
        let to = |column: usize| iteration.to.wrapping_add(plane.columns.offset(column) + rows.start * unit);
        let stage = walk.schedule.panels.stage;
        let (joined, continued) = match stage {
            Stage::Continue { joined, .. } => (joined, true),
            _ => (false, false),
        };
        if joined {
            let ends = (columns.start == 0, columns.end == plane.columns.extent);
            // SAFETY: the rows of the stage follow each other, as those of the plane do; `Panels::are_for`
            // says that those of a whole stage are a line or more.
            return unsafe {
                drain::<V>(first, to(columns.start), columns.len() * bytes, ends, &mut self.leftovers[0])
            };
        }
        let ends = if continued { (rows.start == 0, rows.end == plane.rows.extent) } else { (true, true) };
        for (i, column) in columns.enumerate() {
            // SAFETY: the staged row was written, after a line for what was left; its place on the
            // destination is the plane's. `Panels::are_for` says that a run which goes on is a line or more,
            // and that no two columns that are kept share a leftover.
            unsafe {
                let from = first.add(i * pitch);
                if !walk.streaming {
                    copy_run::<V>(from, to(column), bytes, None);
                } else {
                    drain::<V>(from, to(column), bytes, ends, &mut self.leftovers[column % KEPT_COLUMNS]);
                }
            }
        }
    }
}
