//! Shader code as data, from which the text of a shader is printed and which the interpreter runs on the CPU.
//!
//! Every value is a `u32`. [`Expr`] and [`Condition`] fold constants while they are built and know an upper
//! bound of their values, so a division that changes nothing is never printed. [`Code`] collects statements.
//! [`print`] prints statements as WGSL or CUDA C++. [`interpret`] runs statements and reports errors that a
//! GPU ignores silently: accesses out of range, results that wrap round, and data races between invocations.
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
