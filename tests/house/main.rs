//! The house rules, and tests that take long or need a process of their own: work limits, guard pages, and an
//! allocator that counts.
#![allow(unsafe_code, reason = "an allocator that counts, pages without access, signal handlers")]

mod architecture;
#[path = "../counting/mod.rs"]
mod counting;
mod descriptor_allocations;
mod guard_pages;
#[cfg(unix)]
mod guarded;
#[path = "../literal/mod.rs"]
mod literal;
mod relayout_allocations;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trap;
mod work_limits;
mod write_only;
