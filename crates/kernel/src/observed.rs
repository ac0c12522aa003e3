//! Records of what the kernels did, for tests: which kernels ran, and how many fences.

use std::cell::{Cell, RefCell};

thread_local! {
    static FENCES: Cell<usize> = const { Cell::new(0) };
    static RAN: RefCell<[Option<&'static str>; 32]> = const { RefCell::new([None; 32]) };
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
/// name is listed once, in the order of the first runs. The code of a kernel notes its name when it begins.
#[must_use]
pub fn take_ran() -> Vec<&'static str> {
    RAN.take().into_iter().flatten().collect()
}

/// Notes that a kernel ran. This allocates nothing, because tests count the allocations of a copy.
pub(crate) fn ran(name: &'static str) {
    RAN.with_borrow_mut(|ran| {
        let place = ran.iter_mut().find(|place| place.is_none_or(|noted| noted == name));
        *place.expect("fewer kernels than places") = Some(name);
    });
}
