//! A plan in words.

use std::fmt::{self, Write};

use crate::checked;

use super::execute::{Program, STREAM_FROM, Work};
use super::padding::Padding;
use super::place_padding::Blank;
use super::plan::Relayout;
use super::route::Route;
use super::schedule::{Axis, Kernel, Nest, Step, Stride, Turns};

/// How many boxes are written out.
const SHOWN: usize = 8;

/// For how many threads the pieces are counted.
const THREADS: usize = 8;

impl Relayout {
    /// The plan for people: the boxes of each pass with their loops and the kernel inside them, what moves through memory,
    /// what becomes of padding, and how the copy falls into pieces for several threads. The words may change.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let bits = self.source.element_bits();
        match &self.route {
            Route::Direct(program) => program_in_words(&mut text, program, bits),
            Route::Staged(stages) => {
                for (place, pass) in stages.passes.iter().enumerate() {
                    let (pass_number, passes) = (place.saturating_add(1), stages.passes.len());
                    if pass_number < passes {
                        let buffer = Size(checked::bytes_for(pass.elements, bits).unwrap_or(u64::MAX));
                        line(&mut text, format_args!("pass {pass_number} of {passes}, into a buffer of {buffer}"));
                    } else {
                        line(&mut text, format_args!("pass {pass_number} of {passes}, into the destination"));
                    }
                    program_in_words(&mut text, &pass.program, bits);
                }
            }
        }
        line(&mut text, format_args!("kernels: {}", self.level));
        line(&mut text, format_args!("padding: {}", self.padding_in_words()));
        line(&mut text, format_args!("pieces: {}", self.pieces_in_words()));
        text
    }

    fn padding_in_words(&self) -> String {
        let whole = self.destination_size_in_bytes();
        let elements = checked::bytes_for(self.destination.logical_elements(), self.destination.element_bits());
        let bytes = whole.saturating_sub(elements.unwrap_or(whole));
        let place = if bytes == 0 { "the bits behind the last element".into() } else { Size(bytes).to_string() };
        let what = match self.padding {
            _ if bytes == 0 && matches!(self.blank, Blank::Nothing) => return "none".into(),
            Padding::Keep => return format!("{place}, left as it is"),
            Padding::Zero => format!("{place}, set to zero"),
            Padding::Fill(pattern) => format!("{place}, {pattern:#x} in every element"),
        };
        let blocks = || usize::try_from(whole).ok().and_then(|size| self.blocks(size).ok().flatten());
        match (&self.blank, blocks()) {
            (Blank::Nothing, _) => what,
            (Blank::Boxes { boxes, .. }, _) => {
                format!("{what}: {} written behind the elements", counted(boxes.len(), "box", "boxes"))
            }
            (Blank::Everything { .. }, Some(blocks)) => {
                let block = Size(whole.checked_div(u64::try_from(blocks.len()).unwrap_or(1)).unwrap_or(whole));
                format!("{what}: {} blocks of about {block} are set, each just before it is copied over", blocks.len())
            }
            (Blank::Everything { .. }, None) => {
                format!("{what}: all {} of the destination are set first, then copied over", Size(whole))
            }
        }
    }

    fn pieces_in_words(&self) -> String {
        if let Route::Staged(_) = self.route {
            return "one: several passes are not cut".into();
        }
        let Ok(pieces) = self.partition(THREADS) else { return "none: the destination is larger than memory".into() };
        let lengths = || pieces.iter().map(|piece| piece.destination_range().len());
        let size = |bytes: Option<usize>| Size(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0));
        let (least, most) = (size(lengths().min()).to_string(), size(lengths().max()).to_string());
        match pieces.len() {
            1 => "one: the destination is too short to be cut, or in too many boxes".into(),
            count if least == most => format!("{count} for {THREADS} threads, of {least}"),
            count => format!("{count} for {THREADS} threads, of {least} to {most}"),
        }
    }
}

/// A number of bytes: exact while it is short.
struct Size(u64);

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

/// Writing to a `String` does not fail.
fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

fn counted(count: impl fmt::Display + PartialEq<usize>, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

fn program_in_words(text: &mut String, program: &Program, bits: u32) {
    let traffic = program.traffic;
    let count = usize::try_from(program.boxes.count()).unwrap_or(usize::MAX);
    line(text, format_args!("{}", counted(count, "box", "boxes")));
    for (place, copy) in program.boxes.iter().enumerate() {
        if place == SHOWN {
            line(text, format_args!("  ... and {} more", count.saturating_sub(SHOWN)));
            break;
        }
        match Work::new(copy, bits) {
            Ok(Work::Nest(nest)) => nest_in_words(text, &nest),
            Ok(Work::Small(small)) => line(text, format_args!("  {}", small.in_words(bits))),
            Err(_) => {}
        }
    }
    let all = Size(traffic.read.saturating_add(traffic.written));
    line(text, format_args!("  traffic: {all}, {} read and {} written", Size(traffic.read), Size(traffic.written)));
    let why = match (program.stream, traffic.stores_round_the_cache()) {
        (true, true) => format!("as both buffers together take {} or more", Size(STREAM_FROM)),
        (false, false) => format!("as both buffers together take less than {}", Size(STREAM_FROM)),
        _ => "as was asked for".into(),
    };
    line(text, format_args!("  stores: {} the cache, {why}", if program.stream { "round" } else { "through" }));
}

fn nest_in_words(text: &mut String, nest: &Nest) {
    line(
        text,
        format_args!("  {}, source byte {} to destination byte {}", Size(nest.bytes), nest.source, nest.destination),
    );
    for step in &nest.loops {
        match step {
            Step::Strided(step) => line(text, format_args!("    loop of {}: {}", step.extent, steps(*step))),
            Step::Table(entries) => line(text, format_args!("    table of {} offsets", entries.len())),
        }
    }
    match &nest.kernel {
        Kernel::Rows { chunk, count } if count.extent == 1 => {
            line(text, format_args!("    copy {chunk} bytes in one piece"));
        }
        Kernel::Rows { chunk, count } if count.source == 0 => {
            let Stride { extent, destination, .. } = count;
            line(text, format_args!("    repeat {chunk} bytes {extent} times: destination +{destination}"));
        }
        Kernel::Rows { chunk, count } => {
            line(text, format_args!("    copy {} rows of {chunk} bytes: {}", count.extent, steps(*count)));
        }
        Kernel::Places { chunk, places, count } => {
            let (times, entries) = (count.extent, places.len());
            let what = format!("a table of {entries} offsets, {chunk} bytes each");
            line(text, format_args!("    copy {times} times {what}: {}", steps(*count)));
        }
        Kernel::Turns(Turns { bits, rows, row, pitch, apart }) => {
            let what = if *apart { "take apart" } else { "let take turns" };
            line(text, format_args!("    {what} {rows} rows of {row} bytes, {bits} bits at a time: rows +{pitch}"));
        }
        Kernel::Transpose(plane) => line(
            text,
            format_args!(
                "    transpose {} x {} {}{}: source rows {}, destination rows {}",
                plane.along.extent,
                plane.across.extent,
                if plane.chunk == 1 { "bytes".into() } else { format!("chunks of {} bytes", plane.chunk) },
                if plane.twist.is_some() { " (each transposed itself)" } else { "" },
                pitch(&plane.along),
                pitch(&plane.across),
            ),
        ),
    }
}

fn steps(stride: Stride) -> String {
    format!("source +{}, destination +{}", stride.source, stride.destination)
}

fn pitch(axis: &Axis) -> String {
    match axis.stride() {
        Some(stride) => format!("+{stride}"),
        None => format!("at {} offsets", axis.extent),
    }
}
