//! The memory of a program: all instructions of a dump, their live ranges over the schedule, and the buffer
//! assignment of the compiler.
//!
//! A dump says what each instruction computes, but not where its result is stored. The compiler decides about
//! the memory after it has written the text. This folder repeats the decisions of the compiler, as far as the
//! text shows what they depend on:
//!
//! ```text
//! module     read the dump in one pass; instructions, operands and shapes become numbers
//! schedule   walk from the entry computation; each instruction gets a time, called computations first
//! aliases    join the parts of results that must share a buffer: tuples, states of loops, updates in place
//! ranges     find the first and the last time of each part
//! names      find the last name of each value: loops, calls and tuples name a value again
//! reuse      on CPUs and GPUs, put temporaries into results that are not computed yet
//! sharing    join a temporary with an operand that ends at that time, if the operation may write over it
//! live       sort the beginnings and ends of all buffers, add up bytes, keep the largest sum of each memory
//! ```
//!
//! ```text
//! time          0    1    2    3
//! parameter p  [==================]   parameters and results: all the time
//! a = sin(p)        [====]            a temporary: from its instruction to its last use
//! b = dot(a, a)          [====]       a dot may not write over its operand, so a and b are alive at time 2
//! c = neg(b)                  [===]   a result; on a CPU, a may use its memory before
//! ```
//!
//! If a buffer assignment of XLA is given, its places replace `sharing` and `reuse`. The sum of the arrays is
//! then below the bytes of the assignment, because the compiler aligns buffers and cannot fill every gap
//! between them. README.md and tests/data/compared.tsv compare the results with those of the compiler.

mod aliases;
mod assignment;
mod fusion;
mod intern;
mod levers;
mod live;
mod module;
mod named;
mod names;
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
pub use report::{BufferUse, InstructionPlace, LiveBuffer, MemoryTotal, SpaceUse, memory_name};
