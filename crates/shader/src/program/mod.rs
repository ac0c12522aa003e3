//! A relayout as a GPU program.

mod draft;
#[cfg(feature = "files")]
mod files;
mod form;
mod gather;
mod general;
mod grid;
mod interleave;
mod module;
mod pass;
mod plan;
mod planner;
mod rows;
mod run;
mod special;
mod special_passes;
mod strided_box;
mod sum;
mod tile;
mod transpose;
mod window;
mod words;

pub use form::{Form, ProgramOptions};
pub use module::Module;
pub use pass::{BoundBuffer, BoundWindow, Pass, PipelineKey};
pub use plan::Program;
pub use run::ShaderFault;
