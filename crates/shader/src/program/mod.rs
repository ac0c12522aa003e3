//! A relayout as a GPU program.

mod form;
mod gather;
mod general;
mod grid;
mod interleave;
mod options;
mod pass;
mod plan;
mod planner;
mod rows;
mod run;
mod special;
mod special_passes;
mod strided_box;
mod sum;
mod transpose;
mod window;
mod words;

pub use form::Form;
pub use options::ProgramOptions;
pub use pass::{BoundBuffer, BoundWindow, Pass, PipelineKey};
pub use plan::Program;
pub use run::ShaderFault;
