//! `Report`: all that is known about the memory of a program, as lines for people and as objects.

mod advice;
mod answer;
mod memory;
mod out_of_memory;
mod table;
mod waste;
mod words;

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{BufferAssignment, BufferTable, LiveMemory, Module, OutOfMemoryReport};

use answer::Answer;
pub use answer::{ReportLine, ReportSettings};
pub use table::ReportTable;

/// All that is known about the memory of a program: the peak of each memory space and what is alive there,
/// what would make it smaller, and which buffers are padded most.
///
/// [`Display`](fmt::Display) prints it for people. It serialises as a list of objects; docs/JSON.md lists
/// their keys.
///
/// ```
/// use tensor_layout_hlo::{Module, Report, ReportSettings};
///
/// let dump = "HloModule m, is_scheduled=true
///
/// ENTRY %main (p: f32[1000,1]) -> f32[1000,1] {
///   %p = f32[1000,1]{1,0:T(8,128)} parameter(0)
///   ROOT %negate = f32[1000,1]{1,0:T(8,128)} negate(%p)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// let live = module.live_memory();
/// let report = Report::new(&module, live.as_ref(), None, &ReportSettings { rows: 10, tpu: None });
/// assert!(report.is_whole());
/// assert!(report.to_string().starts_with("HBM: 1024000 bytes (1000.0 KiB) at the peak, all the time\n"));
/// assert_eq!(report.objects().last().unwrap()["total"]["peak_bytes"], 1_024_000);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Report {
    lines: Vec<ReportLine>,
    objects: Vec<Value>,
    is_whole: bool,
}

impl Report {
    /// Reports on a program. `live` has its live ranges, and `assignment` is the buffer assignment that they
    /// were made with, after the name of its file.
    #[must_use]
    pub fn new(
        module: &Module,
        live: Option<&LiveMemory<'_>>,
        assignment: Option<(&str, &BufferAssignment)>,
        settings: &ReportSettings,
    ) -> Report {
        let buffers = BufferTable::of(module, settings.rows);
        let is_whole = module.unreadable() == 0 && buffers.refused_buffers() == 0;
        let peak = memory::Peak { live, assignment, rows: settings.rows, is_whole }.answer();
        let advice = live.map(|live| advice::answer(live, settings.tpu)).unwrap_or_default();
        let waste = waste::answer(module, &buffers);
        let lines = [peak.lines, advice.lines, waste.lines].concat();
        let objects = [waste.objects, advice.objects, peak.objects].concat();
        Report { lines, objects, is_whole }
    }

    /// Reports on a program that ran out of memory.
    #[must_use]
    pub fn out_of_memory(report: &OutOfMemoryReport, settings: &ReportSettings) -> Report {
        let Answer { lines, objects } = out_of_memory::answer(report, settings);
        Report { lines, objects, is_whole: true }
    }

    /// The report for people.
    #[must_use]
    pub fn lines(&self) -> &[ReportLine] {
        &self.lines
    }

    /// The report as objects; docs/JSON.md lists their keys.
    #[must_use]
    pub fn objects(&self) -> &[Value] {
        &self.objects
    }

    /// Whether every line of the program could be read and every array has a size. Otherwise the sums are too
    /// small.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            match line {
                ReportLine::Line(text) | ReportLine::Sentence(text) => writeln!(f, "{text}")?,
                ReportLine::Complaint(text) => writeln!(f, "error: {text}")?,
                ReportLine::Table(table) => table.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.objects.serialize(serializer)
    }
}
