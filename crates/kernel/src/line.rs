//! The two units of memory that all kernels work in: the cache line and the page.

/// Size of a cache line in bytes, on every x86-64 CPU and on most ARM CPUs.
pub const LINE: usize = 64;

/// The size of a page of memory, in bytes, that kernels and plans assume.
pub const PAGE: usize = 1 << 12;
