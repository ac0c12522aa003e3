//! `hlo`: the memory of a compiled program.

mod beside;
mod group;
mod memory;
mod space;
mod waste;

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use tensor_layout::tiled::TpuGeneration;
use tensor_layout_hlo::{BufferTable, Module, Reader};

use crate::input_file::open;
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict};
use crate::progress;
use crate::whole_number::whole_number;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The dump: the text of an HLO module, which XLA_FLAGS=--xla_dump_to=FOLDER writes (also where JAX's
    /// compiled.as_text() fails); `-` reads standard input.
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// The number of rows in each table, the largest (or most wasteful) buffers first.
    #[arg(long, default_value = "30", value_name = "N", value_parser = whole_number::<usize>)]
    rows: usize,
    /// A file for an SVG picture of the memory in use over the schedule.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The memory space that --svg draws: 0 is HBM (or simply the memory), 1 VMEM.
    #[arg(long, default_value = "0", value_name = "N", requires = "svg", value_parser = whole_number::<u64>)]
    space: u64,
    /// The compiler's buffer assignment, which is exact. By default it is read from the folder of the dump,
    /// where --xla_dump_to writes it: ...buffer-assignment.txt.
    #[arg(long, value_name = "FILE")]
    buffer_assignment: Option<PathBuf>,
    /// The generation of TPU that the program is compiled for, which the text does not say: v2, v3, v4, v5e,
    /// v5p, v6e or v7x. The sizes of result tuples depend on it.
    #[arg(long, value_name = "GENERATION")]
    tpu: Option<TpuGeneration>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let module = read(&arguments.dump)?;
    let assignment = beside::assignment(&arguments.dump, arguments.buffer_assignment.as_deref())?;
    let table = BufferTable::of(&module, arguments.rows);
    let live = module.live_memory_on(arguments.tpu);
    if module.instructions() == 0 || (live.is_none() && module.unreadable() > module.instructions()) {
        return Err(Stop::Unusable(format!(
            "{} is not an HLO dump. XLA writes dumps where XLA_FLAGS=--xla_dump_to=FOLDER is set; read the file whose name \
             ends in after_optimizations.txt",
            arguments.dump.display()
        )));
    }
    if output.is_json() {
        waste::print_objects(&module, &table, output)?;
        memory::print_objects(live.as_ref(), assignment.as_ref(), arguments.rows, output)?;
    } else {
        memory::print_tables(live.as_ref(), assignment.as_ref(), arguments.rows, output)?;
        waste::print_table(&module, &table, output)?;
    }
    if let Some(path) = &arguments.svg {
        match &live {
            Some(live) => NewFile::write(path, live.to_svg(arguments.space).as_bytes())?,
            None => {
                return Err(Stop::Unusable("no picture was drawn: the text has no entry computation".into()));
            }
        }
    }
    Ok(Verdict::well_if(module.unreadable() == 0 && table.refused_buffers() == 0))
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
