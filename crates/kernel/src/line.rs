//! The two sizes of memory that all kernels work in.

/// Bytes of a cache line: on every x86-64 CPU, and on most ARM ones.
pub const LINE: usize = 64;

/// Bytes of a page of memory.
pub const PAGE: usize = 1 << 12;
