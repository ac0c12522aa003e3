//! A relayout as a GPU program.

mod form;
mod gather;
mod general;
mod pass;
mod plan;
mod run;
mod sum;
mod window;
mod words;

pub use form::Form;
pub use pass::{BoundBuffer, BoundWindow, Pass, PipelineKey};
pub use plan::{Program, ProgramOptions};
pub use run::ShaderFault;
