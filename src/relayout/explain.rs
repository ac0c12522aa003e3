//! A plan in words.

use std::fmt::{self, Write};

use crate::checked;
use crate::map::{CopyBox, Loop};

use super::level::KernelLevel;
use super::padding::Padding;
use super::plan::cost::MOST_INTERLEAVED;
use super::plan::fill::Fill;
use super::plan::passes::Passes;
use super::plan::program::{PlannedBox, Program};
use super::plan::schedule::Scheduled;
use super::plan::subbyte::{Inner, SubByteBox};
use super::plan::together::Together;
use super::plan::width::{WidthBox, WidthPart, WidthRows};
use super::relayout::Relayout;
use machine::machine_in_words;
use numbers::{Size, counted};
use schedule::schedule_in_words;
use strided_copy::nest::{
    Axis, BitInterleave, BitPlane, BitRows, Direction, MicroKernel, NestLoop, Plane, RowPitch, Stride, WidthChange,
};

mod machine;
mod numbers;
mod schedule;

/// How many boxes are written out.
const SHOWN: usize = 8;

/// For how many threads the pieces are counted.
const THREADS: usize = 8;

impl Relayout {
    /// The plan for people: the boxes of each pass with their loop nests and micro-kernels, the memory
    /// traffic and how it is stored, what is done with padding, how the copy is cut into pieces for several
    /// threads, and which machine it was planned for. The words may change.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let Passes { before, last } = &self.passes;
        let passes = before.len().saturating_add(1);
        for (place, pass) in before.iter().enumerate() {
            let pass_number = place.saturating_add(1);
            let buffer = Size(checked::bytes_for(pass.elements, pass.bits).unwrap_or(u64::MAX));
            line(&mut text, format_args!("pass {pass_number} of {passes}, into a buffer of {buffer}"));
            self.program_in_words(&mut text, &pass.program);
        }
        if passes > 1 {
            line(&mut text, format_args!("pass {passes} of {passes}, into the destination"));
        }
        self.program_in_words(&mut text, last);
        line(&mut text, format_args!("kernels: {}", self.knobs.level.get()));
        if let Err(error) = KernelLevel::requested() {
            line(&mut text, format_args!("TENSOR_LAYOUT_LEVEL is ignored: {error}"));
        }
        line(&mut text, format_args!("padding: {}", self.padding_in_words()));
        line(&mut text, format_args!("pieces: {}", self.pieces_in_words()));
        line(&mut text, format_args!("machine: {}", machine_in_words(&self.knobs)));
        text
    }

    fn program_in_words(&self, text: &mut String, program: &Program) {
        let traffic = program.traffic;
        let count = usize::try_from(program.boxes.count()).unwrap_or(usize::MAX);
        line(text, format_args!("{}", counted(count, "box", "boxes")));
        for planned in program.prepared.iter().take(SHOWN) {
            box_in_words(text, planned, program);
        }
        if program.prepared.is_empty() {
            let planned = |copy| PlannedBox::new(copy, program.widths, program.memory(), &program.knobs).ok();
            for planned in program.boxes.iter().take(SHOWN).filter_map(planned) {
                box_in_words(text, &planned, program);
            }
        }
        let shown: usize = program.prepared.iter().take(SHOWN).map(|planned| planned.nests().len().max(1)).sum();
        let shown = if program.prepared.is_empty() { SHOWN } else { shown };
        if shown < count {
            line(text, format_args!("  ... and {} more", count.saturating_sub(shown)));
        }
        let all = Size(traffic.read.saturating_add(traffic.written));
        line(text, format_args!("  traffic: {all}, {} read and {} written", Size(traffic.read), Size(traffic.written)));
        let from = Size(program.knobs.streaming_from);
        let why = match (program.streaming, program.knobs.streaming_from) {
            (_, 0 | u64::MAX) => "as set by the caller".into(),
            (true, _) => format!("as {from} or more are read and written"),
            (false, _) => format!("as less than {from} are read and written"),
        };
        let stores = if program.streaming { "non-temporal" } else { "through the cache" };
        line(text, format_args!("  stores: {stores}, {why}"));
    }

    fn padding_in_words(&self) -> String {
        let whole = self.destination_size_in_bytes();
        let elements = checked::bytes_for(self.destination.element_count(), self.destination.element_bits());
        let bytes = whole.saturating_sub(elements.unwrap_or(whole));
        let place = if bytes == 0 { "the bits after the last element".into() } else { Size(bytes).to_string() };
        let what = match self.padding {
            _ if bytes == 0 && matches!(self.fill, Fill::Nothing) => return "none".into(),
            Padding::Keep => return format!("{place}, kept"),
            Padding::Zero => format!("{place}, set to zero"),
            Padding::Fill(pattern) => format!("{place}, {pattern:#x} in every element"),
        };
        let blocks = || usize::try_from(whole).ok().and_then(|size| self.blocks(size).ok().flatten());
        match (&self.fill, blocks()) {
            (Fill::Nothing, _) => what,
            (Fill::Boxes { boxes, first: false, .. }, _) => {
                format!("{what}: {}, written after the elements", counted(boxes.len(), "box", "boxes"))
            }
            (Fill::Boxes { boxes, bytes, first: true, .. }, blocks) => {
                let filled: u64 = boxes.iter().map(CopyBox::elements).fold(0, u64::saturating_add);
                let filled = Size(filled.saturating_mul(u64::try_from(*bytes).unwrap_or(u64::MAX)));
                let blocks = blocks.map_or(String::new(), |blocks| format!(", in {} blocks", blocks.len()));
                let boxes = counted(boxes.len(), "box", "boxes");
                format!("{what}: {boxes}, {filled} with the gaps, written before the elements{blocks}")
            }
            (Fill::Whole { .. }, Some(blocks)) => {
                let block = Size(whole.checked_div(u64::try_from(blocks.len()).unwrap_or(1)).unwrap_or(whole));
                format!(
                    "{what}: {} blocks of about {block} are filled, each just before it is copied over",
                    blocks.len()
                )
            }
            (Fill::Whole { .. }, None) => {
                format!("{what}: all {} of the destination are filled first, then copied over", Size(whole))
            }
        }
    }

    fn pieces_in_words(&self) -> String {
        if self.passes.direct().is_none() {
            return "one: a copy of several passes is not cut".into();
        }
        let Ok(pieces) = self.partition(THREADS) else { return "none: the destination is larger than memory".into() };
        let lengths = || pieces.iter().map(|piece| piece.destination_range().len());
        let size = |bytes: Option<usize>| Size(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0));
        let (least, most) = (size(lengths().min()).to_string(), size(lengths().max()).to_string());
        match pieces.len() {
            1 => "one: the destination is too short to be cut, or the copy has too many boxes".into(),
            count if least == most => format!("{count} for {THREADS} threads, of {least}"),
            count => format!("{count} for {THREADS} threads, of {least} to {most}"),
        }
    }
}

/// Writing to a `String` does not fail.
fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

/// A box, or several.
fn box_in_words(text: &mut String, planned: &PlannedBox, program: &Program) {
    let vectors = program.knobs.level.has_vectors();
    match planned {
        PlannedBox::Nest(planned) => nest_in_words(text, planned, vectors),
        PlannedBox::SubByte(copy) => line(text, format_args!("  {}", sub_byte_in_words(copy, program.widths.source))),
        PlannedBox::Width(copy) => width_in_words(text, copy),
        PlannedBox::Together(Together { parts, nests, .. }) => {
            let count = parts.iter().map(Loop::extent).fold(1, u64::saturating_mul);
            line(text, format_args!("  {} boxes that share rows, in {count} parts of", nests.len()));
            nests.iter().for_each(|planned| nest_in_words(text, planned, vectors));
        }
    }
}

/// What an iteration of a sub-byte box copies.
fn sub_byte_in_words(copy: &SubByteBox, bits: u32) -> String {
    match copy.inner {
        Inner::Rows(BitRows { bits, count, .. }) => {
            format!("copy {} of {bits} bits that begin inside bytes", counted(count, "row", "rows"))
        }
        Inner::Plane(BitPlane { columns, rows, .. }) => {
            let (rows, columns) = (rows.extent, columns.extent);
            format!("transpose {rows} rows x {columns} columns of {bits} bits that begin inside bytes")
        }
        Inner::Element => format!("copy elements of {bits} bits, one by one"),
    }
}

/// The parts of a box whose elements change their width.
fn width_in_words(text: &mut String, copy: &WidthBox) {
    let verb = width_change_in_words(copy.change.bits, copy.change.change);
    for WidthPart { outer, rows, staged } in &copy.parts {
        let loops: Vec<String> = outer.loops.iter().map(|step| step.extent().to_string()).collect();
        let times = if loops.is_empty() { String::new() } else { format!(", {} times", loops.join(" x ")) };
        let row = match rows {
            WidthRows::Whole(nest) => match nest.kernel() {
                MicroKernel::ChangeWidth(row) => Size::of(row.packed).to_string(),
                _ => String::new(),
            },
            WidthRows::Anywhere { row, .. } => format!("{row} elements that begin inside bytes"),
        };
        line(text, format_args!("  {verb} rows of {row}{times}"));
        if let Some(nest) = staged {
            let side = if copy.change.unpacks() { "from" } else { "to" };
            let stage = format!("{side} a stage of {}", Size(nest.bytes()));
            line(text, format_args!("    {stage}: {}", kernel_in_words(nest.kernel())));
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

/// A nest, and its schedule where there are vectors: the safe kernels have none.
fn nest_in_words(text: &mut String, Scheduled { nest, schedule }: &Scheduled, vectors: bool) {
    line(
        text,
        format_args!("  {}, source byte {} to destination byte {}", Size(nest.bytes()), nest.start().0, nest.start().1),
    );
    for step in nest.loops() {
        match step {
            NestLoop::Strided(stride) => {
                line(text, format_args!("    loop of {}: {}", stride.extent, strides(*stride)));
            }
            NestLoop::Reversed(Stride { extent, source, destination }) => {
                line(text, format_args!("    loop of {extent}: source +{source}, destination -{destination}"));
            }
            NestLoop::Table(entries) => line(text, format_args!("    loop over a table of {} offsets", entries.len())),
        }
    }
    line(text, format_args!("    {}", kernel_in_words(nest.kernel())));
    if let Some(words) = schedule_in_words(nest.kernel(), schedule).filter(|_| vectors) {
        line(text, format_args!("    {words}"));
    }
}

fn kernel_in_words(kernel: &MicroKernel) -> String {
    match kernel {
        MicroKernel::Copy { run, count: Stride { extent: 1, .. } } => {
            format!("copy one contiguous run of {}", Size::of(*run))
        }
        MicroKernel::Copy { run, count: Stride { extent, source: 0, destination } } => {
            format!("repeat a run of {} {extent} times: destination +{destination}", Size::of(*run))
        }
        MicroKernel::Copy { run, count } => {
            format!("copy {} contiguous runs of {}: {}", count.extent, Size::of(*run), strides(*count))
        }
        MicroKernel::CopyTable { run, offsets, count } => {
            let runs = format!("runs of {} at a table of {} offsets", Size::of(*run), offsets.len());
            format!("copy {runs}, {} times: {}", count.extent, strides(*count))
        }
        MicroKernel::InterleaveBits(BitInterleave { bits, rows, row, pitch, direction }) => {
            let verb = match direction {
                Direction::Interleave => "interleave",
                Direction::Deinterleave => "deinterleave",
            };
            format!("{verb} {rows} rows of {} by elements of {bits} bits: row pitch {pitch}", Size::of(*row))
        }
        MicroKernel::Transpose(plane) => plane_in_words(plane),
        MicroKernel::Reverse { unit, extent, count: Stride { extent: 1, .. } } => {
            format!("reverse one run of {extent} {unit}-byte units")
        }
        MicroKernel::Reverse { unit, extent, count } => {
            format!("reverse {} runs of {extent} {unit}-byte units: {}", count.extent, strides(*count))
        }
        MicroKernel::ChangeWidth(row) => {
            format!("{} a row of {}", width_change_in_words(row.bits, row.change), Size::of(row.packed))
        }
        MicroKernel::ChangeWords(words) => {
            let (rows, row, pitch) = (words.rows(), Size::of(words.words), words.pitch);
            let verb = width_change_in_words(words.bits, words.change);
            let side = if words.change == WidthChange::Pack { "of" } else { "to" };
            format!("{verb} {} words of 32 bits {side} {rows} rows of {row}: row pitch {pitch}", words.words)
        }
    }
}

fn plane_in_words(plane: &Plane) -> String {
    let Plane { unit, columns, rows, micro_tile } = plane;
    let verb = match (plane.interleaves(), plane.deinterleaves()) {
        (Some(_), _) if rows.extent <= MOST_INTERLEAVED => "interleave",
        (_, Some(_)) if columns.extent <= MOST_INTERLEAVED => "deinterleave",
        _ => "transpose",
    };
    let units = match micro_tile {
        None => format!("{unit}-byte units"),
        Some(tile) => format!("{unit}-byte units, each a micro-tile of {} x {}", tile.rows, tile.columns),
    };
    let (source, destination) = (pitch(rows), pitch(columns));
    let (rows, columns) = (rows.extent, columns.extent);
    format!(
        "{verb} {rows} rows x {columns} columns of {units}: source row pitch {source}, destination row pitch {destination}"
    )
}

fn strides(stride: Stride) -> String {
    format!("source +{}, destination +{}", stride.source, stride.destination)
}

fn pitch(axis: &Axis) -> String {
    match axis.pitch() {
        Some(RowPitch { bytes, reversed: false }) => bytes.to_string(),
        Some(RowPitch { bytes, reversed: true }) => format!("-{bytes}"),
        None => format!("from a table of {} offsets", axis.extent),
    }
}
