//! Shader code as data: one source for the text of a shader and for running it on the CPU.
//!
//! Everything is a `u32`. [`Expr`] and [`Condition`] fold constants while they are put together and know the
//! largest value that they can take, so a division that changes nothing is never written. [`Code`] collects
//! statements. [`print`] prints them, as WGSL or CUDA C++; [`interpret`] runs them and reports what a GPU
//! would do silently: reads and writes out of range, numbers that wrap round, and invocations that write what
//! another one reads or writes.
//!
//! There is no signed arithmetic: compilers have got `%` of negative numbers wrong, and no offset is
//! negative.

mod binding;
mod builder;
mod compute;
mod count;
mod cuda;
mod expression;
mod fault;
mod fold;
mod function;
mod interpret;
mod language;
mod print;
mod races;
mod reserved;
mod statement;
mod wgsl;

pub use binding::Access;
pub(crate) use binding::Memory;
pub(crate) use builder::Code;
pub(crate) use compute::ComputeShader;
pub(crate) use count::Counter;
pub use count::{AccessCount, SideCount};
pub(crate) use expression::{Condition, Expr};
pub(crate) use function::{Field, Function, Returned};
pub(crate) use interpret::{Words, count_accesses, dispatch};
pub(crate) use language::{HIGH_PRODUCT_TEXT, Language};
pub(crate) use reserved::is_reserved;
pub(crate) use wgsl::needs_high_product;
