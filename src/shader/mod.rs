//! Index maths for shaders: where an element of any layout lies, as WGSL text and evaluated on the CPU.
#![deny(clippy::indexing_slicing, clippy::as_conversions)]

#[allow(dead_code, unused_imports, reason = "what the text of relayout programs is made of, ahead of its first user")]
mod code;
mod profile;
mod program;

pub use profile::Profile;
pub use program::{BoundBuffer, BoundWindow, Form, Pass, PipelineKey, Program, ProgramOptions, ShaderFault};
