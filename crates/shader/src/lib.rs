//! Index maths for shaders. Functions in WGSL or CUDA compute the offset of an element in any layout, and the
//! same functions run on the CPU.
//!
//! [`IndexFunctions`] is for kernels of your own: include its text, and write the kernel in terms of indices.
//!
//! [`Program`] is a whole relayout as compute shaders, with everything that a host needs to dispatch them.
//!
//! ```
//! use tensor_layout::relayout::Relayout;
//! use tensor_layout_shader::{Access, BoundBuffer, BoundWindow, Form, IndexFunctions};
//! use tensor_layout_shader::{Pass, PipelineKey, Profile, Program, ProgramOptions, ShaderFault};
//! use tensor_layout::BufferTensorDesc;
//!
//! // For a kernel of your own: where the elements are stored, and how they are read.
//! let tensor: BufferTensorDesc = "f16[4,6]:[8,1]".parse()?;
//! let functions = IndexFunctions::new(&tensor)?.with_access("tensor", Access::Read)?;
//! assert_eq!(functions.map().sizes(), [4, 6]);
//!
//! // Or a relayout as it is.
//! let rows: BufferTensorDesc = "f32[8,8]:[8,1]".parse()?;
//! let columns: BufferTensorDesc = "f32[8,8]:[1,8]".parse()?;
//! let options = ProgramOptions { form: Some(Form::General), ..Default::default() };
//! let copy = Relayout::new(&rows, &columns)?;
//! let program = Program::with_options(&copy, &Profile::webgpu(), &options)?;
//! assert_eq!(program.form(), Form::General);
//! assert_eq!(program.form().name(), "general");
//! println!("{}", program.explain());
//! let pass: &Pass = &program.passes()[0];
//! println!("{}, {} bytes of workgroup memory:", pass.entry_point(), pass.workgroup_memory());
//! println!("{}", pass.wgsl());
//! let invocations: u32 = pass.workgroups().iter().chain(&pass.workgroup_size()).product();
//! assert!(invocations >= 64);
//! assert_eq!(pass.uniforms().len(), 4 * pass.named_uniforms().count());
//! let windows: Vec<BoundWindow> = pass.bindings();
//! assert_eq!(windows[0].buffer, BoundBuffer::Source);
//! assert_eq!(windows[1].buffer, BoundBuffer::Destination);
//! let key: PipelineKey = pass.key();
//! assert_eq!(key, pass.clone().key());
//!
//! // On the CPU, as a device would run it: what a device does silently is a fault here.
//! let fault: ShaderFault = program.interpret(&[0; 4], &mut [0; 256]).unwrap_err();
//! assert_eq!(fault.pass(), 0);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::indexing_slicing, clippy::as_conversions)]
// `program/` has the shaders of each form of a copy, `code/` has shader code as data that is printed or
// interpreted, and `index/` has the index maths in that code.

mod code;
mod element;
mod functions;
mod index;
mod profile;
mod program;
#[cfg(feature = "naga")]
mod spirv;
mod target;
#[cfg(feature = "naga")]
mod translate;

pub use code::{Access, AccessCount, SideCount};
pub use functions::IndexFunctions;
pub use profile::{Profile, Sizes};
pub use program::{BoundBuffer, BoundWindow, Form, Module, Pass, PipelineKey, Program, ProgramOptions, ShaderFault};
pub use target::Target;
#[cfg(feature = "naga")]
pub use translate::translate;
