//! A record of what the kernels did, for tests: which kernels ran, and how many fences.

use std::cell::{Cell, RefCell};

thread_local! {
    static FENCES: Cell<usize> = const { Cell::new(0) };
    static RAN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// How many fences this thread has run.
#[must_use]
pub fn fences() -> usize {
    FENCES.get()
}

pub(crate) fn fence() {
    FENCES.set(FENCES.get() + 1);
}

/// The [names](crate::kernel::Kernel::name) of the kernels that this thread has run since the last call. Each
/// kernel records its name in its own code, when it starts.
#[must_use]
pub fn take_ran() -> Vec<&'static str> {
    RAN.take()
}

pub(crate) fn ran(name: &'static str) {
    RAN.with_borrow_mut(|ran| {
        if ran.last() != Some(&name) {
            ran.push(name);
        }
    });
}
