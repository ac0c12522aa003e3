//! A plan in words.

use std::fmt::Write;

use crate::map::BoxGroups;

use super::execute::Work;
use super::padding::Padding;
use super::plan::Relayout;
use super::route::Route;
use super::schedule::{Axis, Kernel, Step, Walk};

/// How many boxes are written out.
const SHOWN: usize = 8;

impl Relayout {
    /// The plan for people: how many passes and boxes, the loops of each box, and the kernel that runs inside them.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let bits = self.source.element_bits();
        match &self.route {
            Route::Direct(program) => describe(&mut text, &program.boxes, bits),
            Route::Staged(stages) => {
                for (place, pass) in stages.passes.iter().enumerate() {
                    line(&mut text, format_args!("pass {} of {}", place.saturating_add(1), stages.passes.len()));
                    describe(&mut text, &pass.program.boxes, bits);
                }
            }
        }
        line(&mut text, format_args!("kernels: {}", self.level));
        match self.padding {
            Padding::Keep => line(&mut text, format_args!("padding: left as it is")),
            Padding::Zero => line(&mut text, format_args!("padding: zero")),
            Padding::Fill(pattern) => line(&mut text, format_args!("padding: {pattern:#x} in every element")),
        }
        text
    }
}

/// Writing to a `String` does not fail.
fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

fn describe(text: &mut String, boxes: &BoxGroups, bits: u32) {
    line(text, format_args!("{} {}", boxes.count(), if boxes.count() == 1 { "box" } else { "boxes" }));
    for (place, copy) in boxes.iter().enumerate() {
        if place == SHOWN {
            line(text, format_args!("  ..."));
            return;
        }
        let Ok(Work::Nest(nest)) = Work::new(copy, bits) else {
            line(text, format_args!("  elements of {bits} bits, one by one"));
            continue;
        };
        line(text, format_args!("  from byte {} to byte {}, {} bytes", nest.source, nest.destination, nest.bytes));
        for step in &nest.loops {
            match step {
                Step::Strided(step) => line(
                    text,
                    format_args!(
                        "    loop of {}: source +{}, destination +{}",
                        step.extent, step.source, step.destination
                    ),
                ),
                Step::Table(entries) => line(text, format_args!("    table of {} offsets", entries.len())),
            }
        }
        match nest.kernel.kernel() {
            Kernel::Rows { chunk, count } => line(
                text,
                format_args!(
                    "    copy {} {} of {chunk} bytes: source +{}, destination +{}",
                    count.extent,
                    if count.extent == 1 { "row" } else { "rows" },
                    count.source,
                    count.destination
                ),
            ),
            Kernel::Places { chunk, places, count } => line(
                text,
                format_args!(
                    "    copy {} times a table of {} offsets, {chunk} bytes each: source +{}, destination +{}",
                    count.extent,
                    places.len(),
                    count.source,
                    count.destination
                ),
            ),
            Kernel::Nibbles { across, along } => line(
                text,
                format_args!(
                    "    transpose {} x {} half bytes: source rows +{}, destination rows +{}",
                    along.extent, across.extent, along.source, across.destination
                ),
            ),
            Kernel::Transpose(plane) => line(
                text,
                format_args!(
                    "    transpose {} x {} chunks of {} bytes{}: source rows {}, destination rows {}, walked along the {}",
                    plane.along.extent,
                    plane.across.extent,
                    plane.chunk,
                    if plane.twist.is_some() { " (each transposed itself)" } else { "" },
                    pitch(&plane.along),
                    pitch(&plane.across),
                    match plane.walk {
                        Walk::Source => "source",
                        Walk::Destination => "destination",
                    }
                ),
            ),
        }
    }
}

fn pitch(axis: &Axis) -> String {
    match axis.stride() {
        Some(stride) => format!("+{stride}"),
        None => format!("at {} offsets", axis.extent),
    }
}
