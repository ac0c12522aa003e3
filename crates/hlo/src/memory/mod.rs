//! The memory of a program: all instructions of a dump, their live ranges over the schedule, and the buffer
//! assignment of the compiler.

mod aliases;
mod assignment;
mod fusion;
mod intern;
mod levers;
mod live;
mod module;
mod named;
mod part;
mod picture;
mod ranges;
mod report;
mod reuse;
mod role;
mod schedule;
mod sharing;
mod uses;

pub use assignment::{AssignedValue, BufferAssignment};
pub use levers::{Lever, LeverKind, hbm_bytes};
pub use live::LiveMemory;
pub use module::Module;
pub use report::{BufferUse, InstructionPlace, LiveBuffer, MemoryTotal, SpaceUse};
