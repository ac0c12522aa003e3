//! `ReportTable`: rows with a head.

use std::fmt;

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
    columns: &'static str,
    rows: Vec<Vec<String>>,
    has_head: bool,
}

impl ReportTable {
    pub(super) fn new(columns: &'static str) -> ReportTable {
        ReportTable { columns, rows: Vec::new(), has_head: true }
    }

    pub(super) fn without_head(columns: &'static str) -> ReportTable {
        ReportTable { columns, rows: Vec::new(), has_head: false }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The names of the columns with `|` between them. `>` in front of a name says that its cells are
    /// numbers, and `?` that the column may be left out where there is little room.
    #[must_use]
    pub fn columns(&self) -> &'static str {
        self.columns
    }

    /// The rows. A row may have fewer cells than there are columns.
    #[must_use]
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Whether the names of the columns are printed.
    #[must_use]
    pub fn has_head(&self) -> bool {
        self.has_head
    }
}

impl fmt::Display for ReportTable {
    /// Prints the table in aligned columns. A column that is empty in every row is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = || self.columns.split('|').map(|name| name.trim_start_matches(['?', '>']).to_owned());
        let head: Vec<String> = names().collect();
        let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
        let shown = self.columns.split('|').enumerate();
        let shown = shown.filter(|&(column, _)| self.rows.iter().any(|row| !cell(row, column).is_empty()));
        let shown: Vec<(usize, bool, usize)> = shown
            .map(|(column, name)| {
                let all = std::iter::once(&head).chain(&self.rows);
                let width = all.map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
                (column, name.trim_start_matches('?').starts_with('>'), width)
            })
            .collect();
        for row in std::iter::once(&head).filter(|_| self.has_head).chain(&self.rows) {
            let cells = shown.iter().map(|&(column, is_number, width)| match is_number {
                true => format!("{:>width$}", cell(row, column)),
                false => format!("{:<width$}", cell(row, column)),
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
