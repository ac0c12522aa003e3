//! What the kernels did, for tests: which of them ran, and how many fences.

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

/// The kernels that this thread has run since the last call, by [name](crate::kernel::Kernel::name): each
/// is noted by its own code, when it begins.
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
