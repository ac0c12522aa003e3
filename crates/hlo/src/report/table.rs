//! `ReportTable`: rows with a head.

use std::fmt;

use tensor_layout::words::Table;

/// A table of a [`Report`](super::Report).
///
/// ```
/// use tensor_layout_hlo::{Module, Report, ReportLine, ReportSettings, ReportTable};
///
/// let dump = "ENTRY %e (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2]{0} parameter(0)\n}";
/// let module = Module::read(dump.as_bytes())?;
/// let live = module.live_memory();
/// let report = Report::new(&module, live.as_ref(), None, &ReportSettings { rows: 10, tpu: None });
/// let tables = report.lines().iter().filter_map(|line| match line {
///     ReportLine::Table(table) => Some(table),
///     _ => None,
/// });
/// let last: &ReportTable = tables.last().ok_or("no table")?;
/// assert!(last.columns().contains("instruction") && last.rows()[0].contains(&"p".to_owned()) && last.has_head());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTable {
    table: Table<'static>,
    has_head: bool,
}

impl ReportTable {
    pub(super) fn new(columns: &'static str) -> ReportTable {
        ReportTable { table: Table::new(columns), has_head: true }
    }

    pub(super) fn without_head(columns: &'static str) -> ReportTable {
        ReportTable { table: Table::new(columns), has_head: false }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.row(cells);
    }

    /// The names of the columns with `|` between them. `>` in front of a name says that its cells are
    /// numbers, and `?` that the column may be left out where there is little room.
    #[must_use]
    pub fn columns(&self) -> &'static str {
        self.table.columns()
    }

    /// The rows. A row may have fewer cells than there are columns.
    #[must_use]
    pub fn rows(&self) -> &[Vec<String>] {
        self.table.rows()
    }

    /// Whether the names of the columns are printed.
    #[must_use]
    pub fn has_head(&self) -> bool {
        self.has_head
    }
}

#[doc(hidden)] // For the command line, which prints the table in the width of a terminal.
impl AsRef<Table<'static>> for ReportTable {
    fn as_ref(&self) -> &Table<'static> {
        &self.table
    }
}

impl fmt::Display for ReportTable {
    /// Prints the table in aligned columns. A column that is empty in every row is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.table.lines_within(usize::MAX).skip(usize::from(!self.has_head));
        lines.try_for_each(|line| writeln!(f, "{line}"))
    }
}
