//! `hlo`: what the padding of every buffer of an HLO dump costs.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use tensor_layout::hlo::{BufferTable, Inlined, Reader, Record};
use tensor_layout::tiled::memory_space_name;

use crate::input_file::open;
use crate::output::{Object, Output, Stop, Verdict, error_value};
use crate::progress;
use crate::table::{Align, Table, percent_wasted, short_bytes};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The dump: the text of an HLO module, as --xla_dump_to writes it.
    #[arg(value_name = "DUMP")]
    dump: PathBuf,
    /// How many buffers to show, the ones that waste most first.
    #[arg(long, default_value_t = 30, value_name = "N")]
    rows: usize,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let (_, length) = open(&arguments.dump)?;
    let bar = progress::bar(length.saturating_mul(2));
    let mut inlined = Inlined::default();
    each_record(&arguments.dump, &bar, 0, |record| {
        if let Record::Instruction(instruction) = record {
            inlined.add(instruction);
        }
    })?;
    let mut table = BufferTable::new(arguments.rows);
    each_record(&arguments.dump, &bar, length, |record| table.add(record, &inlined))?;
    bar.finish_and_clear();
    if output.is_json() {
        print_objects(&table, output)?
    } else {
        print_table(&table, output)?
    }
    Ok(Verdict::well_if(table.unreadable() == 0 && table.refused_buffers() == 0))
}

fn each_record(path: &Path, bar: &ProgressBar, done: u64, mut handle: impl FnMut(&Record)) -> Result<(), Stop> {
    let (file, _) = open(path)?;
    let mut reader = Reader::new(BufReader::with_capacity(1 << 18, file));
    let mut number = 0_u64;
    while let Some(record) = reader.next() {
        match record {
            Ok(record) => handle(&record),
            Err(error) => return Err(Stop::Unusable(format!("{} cannot be read: {error}", path.display()))),
        }
        number = number.wrapping_add(1);
        if number.is_multiple_of(4096) {
            bar.set_position(done.saturating_add(reader.bytes_read()));
        }
    }
    Ok(())
}

/// A total that is nearly always far below 2^64.
fn small(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn space_name(space: u64) -> String {
    memory_space_name(space).map_or_else(|| format!("S({space})"), str::to_owned)
}

fn print_table(table: &BufferTable, output: &mut Output) -> Result<(), Stop> {
    let mut rows = Table::new(&[
        ("wasted", Align::Right),
        ("padded", Align::Right),
        ("logical", Align::Right),
        ("times", Align::Right),
        ("memory", Align::Left),
        ("instruction", Align::Left),
        ("shape", Align::Left),
    ]);
    for row in table.rows() {
        let part: String = row.tuple_index.iter().map(|index| format!("{{{index}}}")).collect();
        rows.row([
            short_bytes(row.wasted_bytes()),
            short_bytes(row.padded_bytes),
            short_bytes(row.logical_bytes),
            format!("{:.1}", row.expansion()),
            space_name(row.memory_space()),
            format!("{}{part}", row.instruction),
            row.shape.to_string(),
        ]);
    }
    for line in rows.lines() {
        output.line(line)?;
    }
    output.line("")?;
    let mut totals = Table::new(&[
        ("memory", Align::Left),
        ("buffers", Align::Right),
        ("logical", Align::Right),
        ("padded", Align::Right),
        ("padding", Align::Right),
    ]);
    for (space, total) in table.totals() {
        let (logical, padded) = (small(total.logical_bytes), small(total.padded_bytes));
        totals.row([
            space_name(space),
            total.buffers.to_string(),
            short_bytes(logical),
            short_bytes(padded),
            percent_wasted(logical, padded),
        ]);
    }
    for line in totals.lines() {
        output.line(line)?;
    }
    output.line(format_args!("\n{} instructions read", table.instructions()))?;
    if table.unreadable() > 0 {
        output.complain(&format!("{} lines could not be read", table.unreadable()))?;
        for line in table.unreadable_lines() {
            output.complain(&format!("line {}, column {}: {}", line.line, line.column, line.error))?;
        }
    }
    if table.refused_buffers() > 0 {
        output.complain(&format!("{} buffers have no size", table.refused_buffers()))?;
        for (name, error) in table.refused() {
            output.complain(&format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

fn print_objects(table: &BufferTable, output: &mut Output) -> Result<(), Stop> {
    for row in table.rows() {
        let object = Object::default()
            .with("instruction", row.instruction.as_str())
            .with("opcode", row.opcode.as_str())
            .with("computation", row.computation.as_ref())
            .with("op_name", row.op_name.as_deref())
            .with("tuple_index", row.tuple_index.as_slice())
            .with("shape", row.shape.to_string())
            .with("memory_space", row.memory_space())
            .with("memory", memory_space_name(row.memory_space()))
            .with("logical_bytes", row.logical_bytes)
            .with("padded_bytes", row.padded_bytes)
            .with("wasted_bytes", row.wasted_bytes())
            .with("line", row.line);
        output.line(object)?;
    }
    for (space, total) in table.totals() {
        let (logical, padded) = (small(total.logical_bytes), small(total.padded_bytes));
        let object = Object::default()
            .with("memory_space", space)
            .with("memory", memory_space_name(space))
            .with("buffers", total.buffers)
            .with("logical_bytes", logical)
            .with("padded_bytes", padded)
            .with("wasted_bytes", padded.saturating_sub(logical));
        output.line(object)?;
    }
    for line in table.unreadable_lines() {
        let object = Object::default().with("line", line.line).with("input", line.text.as_str());
        output.line(object.with("error", error_value(&line.error)))?;
    }
    for (name, error) in table.refused() {
        output.line(Object::default().with("input", name.as_str()).with("error", error_value(error)))?;
    }
    let object = Object::default()
        .with("instructions", table.instructions())
        .with("unreadable", table.unreadable())
        .with("refused", table.refused_buffers());
    output.line(object)
}
