//! HLO text dumps: every instruction with its shape, the memory of the program, and the padding of its
//! buffers.
//!
//! The text is what `--xla_dump_to` writes and `compiled.as_text()` returns: computations in braces, one
//! instruction a line. [`Reader`] reads it from any [`BufRead`](std::io::BufRead), one instruction at a time.
//! So a dump of any length takes no more memory than its longest line, of which [`MAX_LINE_BYTES`] are kept.
//! A line that cannot be read is returned as [`Record::Unreadable`], never skipped.
//!
//! ```
//! use tensor_layout_hlo::{BufferTable, Module};
//!
//! let dump = "ENTRY %main (p: f32[1000,1]) -> f32[1000,1] {
//!   %p = f32[1000,1]{1,0:T(8,128)} parameter(0)
//!   ROOT %negate = f32[1000,1]{1,0:T(8,128)S(1)} negate(%p)
//! }";
//! let table = BufferTable::of(&Module::read(dump.as_bytes())?, 10);
//! let worst = table.rows()[0];
//! assert_eq!((worst.logical_bytes, worst.padded_bytes), (4_000, 512_000));
//! assert_eq!(table.total(1).map(|total| total.padded_bytes), Some(512_000));
//! # Ok::<(), std::io::Error>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod attributes;
mod buffers;
mod bytes;
mod dump;
mod header;
mod instruction;
mod lines;
mod memory;
mod operation;
mod out_of_memory;
mod padding;
mod reader;
#[cfg(feature = "report")]
mod report;
mod sources;

pub use buffers::{BufferRow, BufferTable, SpaceTotal};
pub use dump::Dump;
pub use header::{InputOutputAlias, ModuleHeader};
pub use instruction::{Instruction, OperandAlias};
pub use lines::MAX_LINE_BYTES;
pub use memory::{
    AssignedValue, BufferAssignment, BufferUse, InstructionPlace, Lever, LeverKind, LiveBuffer, LiveMemory,
    MemoryTotal, Module, SpaceUse, hbm_bytes, memory_name,
};
pub use operation::{Operand, Operation};
pub use out_of_memory::{OutOfMemoryReport, ReportedArray, ReportedSize};
pub use padding::{PaddedDimension, smaller_layout};
pub use reader::{Reader, Record, UnreadableLine};
#[cfg(feature = "report")]
pub use report::{Report, ReportLine, ReportSettings, ReportTable};
pub use sources::SourceLine;
pub use tensor_layout::words::short_bytes;
