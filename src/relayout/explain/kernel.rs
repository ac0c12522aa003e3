//! Copies and steps in words: the loops, the shape of an iteration, and the code that runs it.

use std::fmt::{self, Write};

use strided_copy::kernel::{
    Axis, BitInterleave, Direction, Kernel, Loop, Panels, Plane, PlaneRuns, Rows, RunOrder, Runs, Stage, Stride,
    Transpose, WidthChange,
};
use strided_copy::{Copy, LINE, PLAIN, Prefetch};

use super::super::plan::cost::BUFFER;
use super::super::plan::step::{Step, StepBox};

/// Writes a copy of whole bytes: its start, its loops, the shape of an iteration and the code that runs.
pub(super) fn copy_in_words(text: &mut String, copy: &Copy, indent: &str, vectors: bool) {
    copy_by(text, copy, indent, vectors.then(|| kernel_in_words(copy)));
}

/// Describes a copy that is so small that it runs as plain loops.
pub(super) fn plain_in_words(text: &mut String, copy: &Copy) {
    copy_by(text, copy, "  ", Some(format!("{PLAIN}, as the copy is small")));
}

fn copy_by(text: &mut String, copy: &Copy, indent: &str, kernel: Option<String>) {
    let (source, destination) = copy.start();
    line(text, format_args!("{indent}{}, source byte {source} to destination byte {destination}", Size(copy.bytes())));
    for step in copy.loops() {
        match step {
            Loop::Strided(stride) => {
                line(text, format_args!("{indent}  loop of {}: {}", stride.extent, strides(*stride)))
            }
            Loop::Table(entries) => {
                line(text, format_args!("{indent}  loop over a table of {} offsets", entries.len()))
            }
        }
    }
    line(text, format_args!("{indent}  {}", shape_in_words(copy.kernel())));
    let kernel = kernel.unwrap_or_else(|| "loops in safe Rust".into());
    line(text, format_args!("{indent}  kernel: {kernel}"));
}

/// Returns the code that runs, and its numbers.
fn kernel_in_words(copy: &Copy) -> String {
    let mut words = vec![copy.kernel().name().to_owned()];
    words.extend(details(copy.kernel()));
    match copy.access().prefetch {
        Prefetch::Iterations(ahead) if !copy.loops().is_empty() => {
            words.push(format!("prefetched {} ahead", counted(ahead, "iteration", "iterations")));
        }
        Prefetch::InRow(bytes) => words.push(format!("prefetched {} ahead in a row", Size(bytes.into()))),
        Prefetch::None | Prefetch::Iterations(_) => {}
    }
    words.join("; ")
}

pub(super) fn steps_in_words(text: &mut String, steps: &StepBox, vectors: bool) {
    line(text, format_args!("  steps of {}:", counted(steps.outer.elements(), "iteration", "iterations")));
    each_in_words(text, &steps.steps, "    ", vectors);
}

fn each_in_words(text: &mut String, steps: &[Step], indent: &str, vectors: bool) {
    for step in steps {
        match step {
            Step::Copy(copy) => copy_in_words(text, copy, indent, vectors),
            Step::Bits(rows_of_bits) => {
                let (count, bits) = (rows_of_bits.rows.count, rows_of_bits.rows.bits);
                let rows = counted(count, "row", "rows");
                line(text, format_args!("{indent}copy {rows} of {bits} bits that begin inside bytes"));
                if let Some(copy) = &rows_of_bits.whole {
                    line(text, format_args!("{indent}or, if the first one begins at whole bytes:"));
                    copy_in_words(text, copy, &format!("{indent}  "), vectors);
                }
            }
            Step::Element(bits) => line(text, format_args!("{indent}copy an element of {bits} bits")),
            Step::Width(rows) => {
                let verb = width_change_in_words(rows.change.bits, rows.change.change);
                let row = counted(rows.row, "element", "elements");
                if !rows.change.has_kernels() {
                    line(text, format_args!("{indent}{verb} a row of {row}, element by element"));
                    continue;
                }
                line(text, format_args!("{indent}{verb} a row of {row} that begins inside a byte; its whole bytes:"));
                for (_, copy) in rows.wholes.iter().take(1) {
                    copy_in_words(text, copy, &format!("{indent}  "), vectors);
                }
            }
            Step::Through(through) => {
                line(text, format_args!("{indent}into a buffer of {}:", Size::of(BUFFER)));
                each_in_words(text, &through.into, &format!("{indent}  "), vectors);
                line(text, format_args!("{indent}out of the buffer:"));
                each_in_words(text, &through.out, &format!("{indent}  "), vectors);
            }
        }
    }
}

fn width_change_in_words(bits: usize, change: WidthChange) -> String {
    match change {
        WidthChange::Unpack { signed: true } => format!("unpack {bits} bits to 8, sign-extended,"),
        WidthChange::Unpack { signed: false } => format!("unpack {bits} bits to 8, zero-extended,"),
        WidthChange::Pack => format!("pack 8 bits to {bits}"),
    }
}

fn shape_in_words(kernel: &Kernel) -> String {
    match kernel {
        Kernel::Runs { run, count: Stride { extent: 1, .. }, .. } => {
            format!("copy one contiguous run of {}", Size::of(*run))
        }
        Kernel::Runs { run, count: Stride { extent, source: 0, destination }, .. } => {
            format!("repeat a run of {} {extent} times: destination +{destination}", Size::of(*run))
        }
        Kernel::Runs { run, count, .. } => {
            format!("copy {} contiguous runs of {}: {}", count.extent, Size::of(*run), strides(*count))
        }
        Kernel::Table { run, offsets, count } => {
            let runs = format!("runs of {} at a table of {} offsets", Size::of(*run), offsets.len());
            format!("copy {runs}, {} times: {}", count.extent, strides(*count))
        }
        Kernel::InterleaveBits { rows: BitInterleave { bits, rows, row, pitch, direction }, .. } => {
            let verb = match direction {
                Direction::Interleave => "interleave",
                Direction::Deinterleave => "deinterleave",
            };
            format!("{verb} {rows} rows of {} by elements of {bits} bits: row pitch {pitch}", Size::of(*row))
        }
        Kernel::Transpose { plane, .. } => plane_in_words(plane),
        Kernel::PermuteBlocks(blocks) => format!(
            "permute {} blocks of {}: source {:+}, destination {:+}",
            blocks.blocks(),
            Size::of(blocks.block()),
            blocks.source_step(),
            blocks.block()
        ),
        Kernel::Reverse { unit, extent, count: Stride { extent: 1, .. }, .. } => {
            format!("reverse one run of {extent} {unit}-byte units")
        }
        Kernel::Reverse { unit, extent, count, .. } => {
            format!("reverse {} runs of {extent} {unit}-byte units: {}", count.extent, strides(*count))
        }
        Kernel::ChangeWidth(row) => {
            format!("{} a row of {}", width_change_in_words(row.bits, row.change), Size::of(row.packed))
        }
        Kernel::ChangeWords { words, .. } => {
            let (rows, row, pitch) = (words.rows(), Size::of(words.words), words.pitch);
            let verb = width_change_in_words(words.bits, words.change);
            let side = if words.change == WidthChange::Pack { "of" } else { "to" };
            format!("{verb} {} words of 32 bits {side} {rows} rows of {row}: row pitch {pitch}", words.words)
        }
    }
}

fn plane_in_words(plane: &Plane) -> String {
    let Plane { unit, columns, rows, micro_tile } = plane;
    let units = match micro_tile {
        None => format!("{unit}-byte units"),
        Some(tile) => format!("{unit}-byte units, each a micro-tile of {} x {}", tile.rows, tile.columns),
    };
    let (source, destination) = (pitch(rows), pitch(columns));
    let (rows, columns) = (rows.extent, columns.extent);
    format!(
        "transpose {rows} rows x {columns} columns of {units}: source row pitch {source}, destination row pitch {destination}"
    )
}

fn strides(stride: Stride) -> String {
    format!("source {:+}, destination {:+}", stride.source, stride.destination)
}

fn pitch(axis: &Axis) -> String {
    axis.pitch().map_or_else(|| format!("from a table of {} offsets", axis.extent), |pitch| pitch.to_string())
}

fn details(kernel: &Kernel) -> Vec<String> {
    match kernel {
        Kernel::Runs { by: Runs::Lines { ahead }, .. } if *ahead > 0 => {
            vec![format!("prefetched {} ahead", counted(*ahead, "run", "runs"))]
        }
        Kernel::Transpose { by, plane } => match by {
            Transpose::Interleave(by) | Transpose::Deinterleave(by) => rows_in_words(*by),
            Transpose::Panel { scattered } => order_in_words(*scattered),
            Transpose::Panels(panels) => panels_in_words(plane, panels),
            Transpose::Runs(runs) => runs_in_words(plane, runs),
            Transpose::Units | Transpose::Lanes | Transpose::Shuffle => Vec::new(),
        },
        Kernel::InterleaveBits { by, .. } | Kernel::ChangeWords { by, .. } => rows_in_words(*by),
        Kernel::PermuteBlocks(blocks) => vec![format!("{} a lane", counted(blocks.windows(), "window", "windows"))],
        _ => Vec::new(),
    }
}

fn order_in_words(scattered: bool) -> Vec<String> {
    if scattered { vec!["in an order that hardware prefetchers do not follow".into()] } else { Vec::new() }
}

fn rows_in_words(by: Rows) -> Vec<String> {
    match by {
        Rows::Direct => Vec::new(),
        Rows::Staged => vec!["destination rows collected in a staging buffer".into()],
        Rows::Joined(runs) => vec![format!("{runs} iterations at a time, their runs joined in a staging buffer")],
    }
}

fn panels_in_words(plane: &Plane, panels: &Panels) -> Vec<String> {
    let count = |extent: usize| u32::try_from(extent).unwrap_or(u32::MAX);
    let (rows, columns) = (panels.height.min(count(plane.rows.extent)), panels.width.min(count(plane.columns.extent)));
    let mut words = vec![format!("panels of {rows} rows x {columns} columns")];
    let bytes = |lines: u8| Size::of(LINE.saturating_mul(lines.into()));
    match panels.stage {
        Stage::None => {}
        Stage::Lines(lines) => words.push(format!("staged, and written in runs of {}", bytes(lines))),
        Stage::Gather(lines) => {
            words.push(format!("source rows gathered in a staging buffer, {} at a time", bytes(lines)));
        }
        Stage::Continue { lines, joined } => {
            let rows = if joined { "all rows as one" } else { "partial lines kept until the row continues" };
            words.push(format!("staged, and streamed in runs of up to {}, {rows}", bytes(lines)));
        }
    }
    words.extend(order_in_words(panels.scattered));
    if panels.ahead > 0 {
        let cache = if panels.near { "L1" } else { "L2" };
        words.push(format!("prefetched {} ahead into the {cache} cache", counted(panels.ahead, "panel", "panels")));
    }
    words
}

fn runs_in_words(plane: &Plane, runs: &PlaneRuns) -> Vec<String> {
    let mut words = match runs.order {
        RunOrder::Source => Vec::new(),
        RunOrder::FewColumns(few) => vec![counted(few, "column", "columns")],
        RunOrder::Pieces(piece) => vec![format!("{piece} runs of a row")],
    };
    if runs.ahead > 0 {
        words.push(format!("prefetched {} ahead", counted(runs.ahead, "row", "rows")));
    }
    if let Some(panels) = &runs.unaligned {
        let otherwise = panels_in_words(plane, panels).join(", ");
        words.push(format!("if the destination does not begin a cache line, {otherwise}"));
    }
    words
}

/// A number of bytes as text. It is exact up to 9,999 bytes and for whole KiB, MiB and GiB, and has one
/// decimal place otherwise.
pub(super) struct Size(pub(super) u64);

impl Size {
    pub(super) fn of(bytes: usize) -> Size {
        Size(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size(bytes) = *self;
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.into_iter().find(|&(unit, _)| bytes >= unit && bytes > 9999) {
            Some((unit, name)) if bytes.is_multiple_of(unit) => {
                write!(f, "{} {name}", bytes.checked_div(unit).unwrap_or(0))
            }
            Some((unit, name)) => {
                let tenths = u128::from(bytes).saturating_mul(10).checked_div(unit.into()).unwrap_or(0);
                write!(f, "{}.{} {name}", tenths.div_euclid(10), tenths.rem_euclid(10))
            }
            None => write!(f, "{bytes} {}", if bytes == 1 { "byte" } else { "bytes" }),
        }
    }
}

/// A count with its noun, in the singular or the plural.
pub(super) fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, one: &str, several: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { several })
}

/// Adds a line to a text. Writing to a `String` does not fail.
pub(super) fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}
