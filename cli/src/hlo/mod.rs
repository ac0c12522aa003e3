//! `hlo`: who takes the memory of a compiled program.

mod beside;
mod memory;
mod waste;

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use tensor_layout::tiled::memory_space_name;
use tensor_layout_hlo::{BufferTable, Module, Reader};

use crate::input_file::open;
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict};
use crate::progress;
use crate::whole_number::whole_number;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The dump: the text of an HLO module, as --xla_dump_to writes it; `-` reads standard input.
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// How many buffers to show in each list, the largest (or most wasteful) first.
    #[arg(long, default_value = "30", value_name = "N", value_parser = whole_number::<usize>)]
    rows: usize,
    /// Draw the memory in use over the schedule, and write the SVG here.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The memory space that --svg draws: 0 is HBM (or simply the memory), 1 VMEM.
    #[arg(long, default_value = "0", value_name = "N", requires = "svg", value_parser = whole_number::<u64>)]
    space: u64,
    /// The compiler's buffer assignment, which is exact. It is looked for beside the dump, under the name that
    /// --xla_dump_to gives it: ...buffer-assignment.txt.
    #[arg(long, value_name = "FILE")]
    buffer_assignment: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let module = read(&arguments.dump)?;
    let assignment = beside::assignment(&arguments.dump, arguments.buffer_assignment.as_deref())?;
    let table = BufferTable::of(&module, arguments.rows);
    let live = module.live_memory();
    if output.is_json() {
        waste::print_objects(&table, output)?;
        memory::print_objects(live.as_ref(), assignment.as_ref(), arguments.rows, output)?;
    } else {
        waste::print_table(&table, output)?;
        memory::print_tables(live.as_ref(), assignment.as_ref(), arguments.rows, output)?;
    }
    if let Some(path) = &arguments.svg {
        match &live {
            Some(live) => NewFile::write(path, live.to_svg(arguments.space).as_bytes())?,
            None => {
                return Err(Stop::Unusable("there is no schedule to draw: the entry computation is missing".into()));
            }
        }
    }
    Ok(Verdict::well_if(table.unreadable() == 0 && table.refused_buffers() == 0))
}

/// The whole dump, in one pass.
fn read(path: &Path) -> Result<Module, Stop> {
    if path == Path::new("-") {
        return read_from(io::stdin().lock(), 0, path);
    }
    let (file, length) = open(path)?;
    read_from(BufReader::with_capacity(1 << 18, file), length, path)
}

fn read_from(input: impl BufRead, length: u64, path: &Path) -> Result<Module, Stop> {
    let stop = |reason: &dyn std::fmt::Display| Stop::Unusable(format!("{} cannot be read: {reason}", path.display()));
    let bar = progress::bar(length);
    let mut module = Module::default();
    let mut reader = Reader::new(input);
    let mut number = 0_u64;
    while let Some(record) = reader.next() {
        let record = record.map_err(|error| stop(&error))?;
        module.add(&record).map_err(|error| stop(&error))?;
        number = number.wrapping_add(1);
        if number.is_multiple_of(4096) {
            bar.set_position(reader.bytes_read());
        }
    }
    bar.finish_and_clear();
    module.set_header(reader.header().cloned().unwrap_or_default());
    Ok(module)
}

/// A total that is nearly always far below 2^64.
fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn space_name(space: u64) -> String {
    memory_space_name(space).map_or_else(|| format!("S({space})"), str::to_owned)
}
