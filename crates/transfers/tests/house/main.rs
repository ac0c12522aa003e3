//! Planning a list takes no long time, and no much memory, on a short text: as in the library's
//! `tests/house/work_limits`.

#![allow(unsafe_code, reason = "the allocator that counts, and the compiler's counters")]
#![allow(dead_code, reason = "the library's own tests use the rest")]

#[path = "../../../../tests/house/work_limits/calls.rs"]
mod calls;
#[path = "../../../../tests/counting/mod.rs"]
mod counting;
#[path = "../../../../tests/house/work_limits/hostile.rs"]
mod hostile;
#[path = "../../../../tests/literal/mod.rs"]
mod literal;
#[path = "../../../../tests/house/work_limits/steps.rs"]
mod steps;

mod work_limits {
    use tensor_layout_transfers::{Executor, Transfers};

    use super::calls::each_plan;

    #[test]
    fn lists() {
        each_plan("plain ranges", |plan| Transfers::of(&[plan], &Executor::ranges()).map(|list| list.reach()));
        each_plan("strided transfers", |plan| {
            Transfers::of(&[plan], &Executor::with_loops(1)).map(|list| list.count())
        });
    }
}
