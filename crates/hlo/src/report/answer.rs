//! What a report says, as lines for people and as objects, and what it depends on.

use std::fmt;

use serde_json::Value;
use tensor_layout::tiled::TpuGeneration;

use super::table::ReportTable;

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
pub(super) struct Answer {
    pub(super) lines: Vec<ReportLine>,
    pub(super) objects: Vec<Value>,
}

impl Answer {
    pub(super) fn line(&mut self, line: impl fmt::Display) {
        self.lines.push(ReportLine::Line(line.to_string()));
    }

    pub(super) fn sentence(&mut self, words: impl fmt::Display) {
        self.lines.push(ReportLine::Sentence(words.to_string()));
    }

    pub(super) fn complain(&mut self, sentence: impl fmt::Display) {
        self.lines.push(ReportLine::Complaint(sentence.to_string()));
    }

    pub(super) fn table(&mut self, table: ReportTable) {
        self.lines.push(ReportLine::Table(table));
    }

    pub(super) fn object(&mut self, object: Value) {
        self.objects.push(object);
    }
}
