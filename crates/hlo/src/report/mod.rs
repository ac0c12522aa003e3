//! `Report`: all that is known about the memory of a program, as lines for people and as objects.

mod advice;
mod memory;
mod out_of_memory;
mod table;
mod waste;
mod words;

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;
use tensor_layout::tiled::TpuGeneration;

use crate::{BufferAssignment, BufferTable, LiveMemory, Module, OutOfMemoryReport};

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

/// What a [`Report`] depends on beside the program.
///
/// ```
/// let settings = tensor_layout_hlo::ReportSettings { rows: 30, tpu: None };
/// assert!(settings.tpu.is_none(), "the text does not say for which TPU it is");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportSettings {
    /// The number of rows in each table.
    pub rows: usize,
    /// The generation of TPU that the program is for, if that is known.
    pub tpu: Option<TpuGeneration>,
}

/// A part of a [`Report`] for people.
///
/// ```
/// use tensor_layout_hlo::{OutOfMemoryReport, Report, ReportLine, ReportSettings};
///
/// let text = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 41.74G of 15.75G hbm.\n";
/// let settings = ReportSettings { rows: 10, tpu: None };
/// let report = Report::out_of_memory(&OutOfMemoryReport::read(text.as_bytes())?, &settings);
/// assert!(matches!(&report.lines()[0], ReportLine::Sentence(words) if words.contains("25.99G are missing")));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportLine {
    /// A line that is printed as it is.
    Line(String),
    /// Words, which may be wrapped.
    Sentence(String),
    /// An error: something that could not be read, or has no size.
    Complaint(String),
    /// Rows with a head.
    Table(ReportTable),
}

/// The lines and the objects of a part of the report, while they are collected.
#[derive(Debug, Default)]
struct Answer {
    lines: Vec<ReportLine>,
    objects: Vec<Value>,
}

impl Answer {
    fn line(&mut self, line: impl fmt::Display) {
        self.lines.push(ReportLine::Line(line.to_string()));
    }

    fn sentence(&mut self, words: impl fmt::Display) {
        self.lines.push(ReportLine::Sentence(words.to_string()));
    }

    fn complain(&mut self, sentence: impl fmt::Display) {
        self.lines.push(ReportLine::Complaint(sentence.to_string()));
    }

    fn table(&mut self, table: ReportTable) {
        self.lines.push(ReportLine::Table(table));
    }

    fn object(&mut self, object: Value) {
        self.objects.push(object);
    }
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
