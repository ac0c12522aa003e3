//! DirectML's rules and structures.

mod interop;
mod operations;
mod page;
mod sizes;
mod windows;
