//! `hlo`: the memory of a compiled program.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use tensor_layout::tiled::TpuGeneration;
use tensor_layout_hlo::{BufferAssignment, Dump, LiveMemory, Report, ReportLine, ReportSettings, memory_name};
use tensor_layout_text::rule::tpu_generation;

use crate::draw::{check_svg, write_svg};
use crate::input::{is_standard, unreadable};
use crate::output::{Output, Stop, Verdict};
use crate::table::lines;
use crate::terminal::progress_bar;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The dump: the text of an HLO module, which XLA_FLAGS=--xla_dump_to=FOLDER writes (also where JAX's
    /// compiled.as_text() fails), or the report of a program that ran out of memory; `-` reads standard
    /// input.
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// The number of rows in each table, the largest (or most wasteful) buffers first.
    #[arg(long, default_value = "30", value_name = "N")]
    rows: usize,
    /// A file for an SVG picture of the memory in use over the schedule; `-` draws it on standard output,
    /// alone.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The memory space that --svg draws: 0 is HBM (or simply the memory), 1 VMEM.
    #[arg(long, default_value = "0", value_name = "N", requires = "svg")]
    space: u64,
    /// The compiler's buffer assignment, which is exact. By default it is read from the folder of the dump,
    /// where --xla_dump_to writes it: ...buffer-assignment.txt. `-` reads it from standard input.
    #[arg(long, value_name = "FILE")]
    buffer_assignment: Option<PathBuf>,
    /// The generation of TPU that the program is compiled for, which the text does not say: v2, v3, v4, v5e,
    /// v5p, v6e or v7x. It says how much HBM there is; the sizes of result tuples depend on it.
    #[arg(long, value_name = "GENERATION", value_parser = tpu_generation)]
    tpu: Option<TpuGeneration>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let picture = arguments.svg.as_deref();
    check_svg(picture)?;
    let settings = ReportSettings { rows: arguments.rows, tpu: arguments.tpu };
    let module = match read(&arguments.dump)? {
        Dump::Module(module) => module,
        Dump::OutOfMemory(report) => return print(&Report::out_of_memory(&report, &settings), output),
    };
    let assignment = assignment(arguments)?;
    let live = match &assignment {
        Some((_, assignment)) => module.live_memory_assigned(arguments.tpu, assignment),
        None => module.live_memory_on(arguments.tpu),
    };
    if module.instructions() == 0 || (live.is_none() && module.unreadable() > module.instructions()) {
        // XLA writes its report of memory beside the dump, under the same name.
        let name = arguments.dump.to_string_lossy();
        let beside =
            name.strip_suffix("-memory-usage-report.txt").map(|name| format!("{name}.txt, which is beside it"));
        let read = beside.unwrap_or_else(|| "the file whose name ends in after_optimizations.txt".into());
        return Err(Stop::Unusable(format!(
            "{name} is not an HLO dump. XLA writes dumps where XLA_FLAGS=--xla_dump_to=FOLDER is set; read {read}",
        )));
    }
    let assignment = assignment.as_ref().map(|(path, assignment)| (path.to_string_lossy(), assignment));
    let assignment = assignment.as_ref().map(|(path, assignment)| (path.as_ref(), *assignment));
    let report = Report::new(&module, live.as_ref(), assignment, &settings);
    if let Some(path) = picture {
        draw(live.as_ref(), arguments, path, output)?;
    }
    if picture.is_some_and(is_standard) {
        return Ok(Verdict::well_if(report.is_whole()));
    }
    print(&report, output)
}

fn read(path: &Path) -> Result<Dump, Stop> {
    if is_standard(path) {
        return Dump::read(io::stdin().lock(), path).map_err(|error| Stop::Unusable(error.to_string()));
    }
    let bar = progress_bar(fs::metadata(path).map_or(0, |metadata| metadata.len()));
    let dump = Dump::open(path, |file| bar.wrap_read(file));
    bar.finish_and_clear();
    dump.map_err(|error| Stop::Unusable(error.to_string()))
}

/// Reads XLA's buffer assignment from the file that is named, or else from the file beside the dump, if there
/// is one. Returns it with the path of the file.
fn assignment(arguments: &Arguments) -> Result<Option<(PathBuf, BufferAssignment)>, Stop> {
    let named = arguments.buffer_assignment.clone();
    let Some(path) = named.or_else(|| BufferAssignment::beside(&arguments.dump)) else { return Ok(None) };
    let input: Box<dyn BufRead> = match is_standard(&path) {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(&path).map_err(|error| unreadable(&path, &error))?)),
    };
    match BufferAssignment::read(input) {
        Ok(assignment) if assignment.allocations() == 0 => {
            Err(Stop::Unusable(format!("{} holds no buffer assignment", path.display())))
        }
        Ok(assignment) => Ok(Some((path, assignment))),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

/// Prints a report: its objects with `--json`, and otherwise its lines in the width of the terminal.
fn print(report: &Report, output: &mut Output) -> Result<Verdict, Stop> {
    if output.is_json() {
        report.objects().iter().try_for_each(|object| output.line(object))?;
        return Ok(Verdict::well_if(report.is_whole()));
    }
    for line in report.lines() {
        match line {
            ReportLine::Sentence(words) => output.sentence(words)?,
            ReportLine::Complaint(words) => output.complain(words)?,
            ReportLine::Table(found) => {
                lines(found.as_ref()).skip(usize::from(!found.has_head())).try_for_each(|line| output.line(line))?;
            }
            ReportLine::Line(line) => output.line(line)?,
            _ => {}
        }
    }
    Ok(Verdict::well_if(report.is_whole()))
}

fn draw(live: Option<&LiveMemory>, arguments: &Arguments, path: &Path, output: &mut Output) -> Result<(), Stop> {
    let Some(live) = live else {
        return Err(Stop::Unusable("no picture was drawn: the text has no entry computation".into()));
    };
    let space = arguments.space;
    if !live.spaces().iter().any(|found| found.space == space) {
        let used: Vec<String> = live
            .spaces()
            .iter()
            .map(|found| (found.space, memory_name(found.space, live.is_for_tpu())))
            .map(|(space, name)| format!("{space} ({})", name.map_or_else(|| format!("S({space})"), str::to_owned)))
            .collect();
        return Err(Stop::Unusable(format!(
            "--space {space}: the program has no array there, only in {}",
            used.join(", ")
        )));
    }
    write_svg(path, &live.to_svg_on(space, arguments.tpu), output)
}
