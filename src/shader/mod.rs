//! Index maths for shaders: where an element of any layout lies, as WGSL text and evaluated on the CPU.
//!
//! [`IndexFunctions`] is for kernels of your own: include its text, and write the kernel in terms of indices.
//!
//! [`Program`] is a whole relayout as compute shaders, with what a device needs to run them.
//!
//! * `program/`: which form a copy takes, and the shaders of each.
//! * `code/`: shader code as data, printed as WGSL and run by an interpreter.
//! * `index/`: the index maths of a layout in that form.
//! * `element.rs`: one element out of words of 32 bits.
#![deny(clippy::indexing_slicing, clippy::as_conversions)]

#[allow(dead_code, unused_imports, reason = "what the text of relayout programs is made of, ahead of its first user")]
mod code;
mod element;
mod functions;
mod index;
mod profile;
mod program;
mod target;
#[cfg(feature = "naga")]
mod translate;

pub use functions::{Access, IndexFunctions};
pub use profile::Profile;
pub use program::{BoundBuffer, BoundWindow, Form, Pass, PipelineKey, Program, ProgramOptions, ShaderFault};
pub use target::Target;
#[cfg(feature = "naga")]
pub use translate::translate;
