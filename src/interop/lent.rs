//! `Lent`: a C structure with pointers to lists that belong to a value of this crate.

use core::marker::PhantomData;
use core::ops::Deref;

/// A C structure whose pointers are valid while the value that lent it is borrowed.
///
/// A copy of the structure may outlive the lists, so reading through its pointers is unsafe.
#[derive(Debug, Clone, Copy)]
pub struct Lent<'a, T> {
    raw: T,
    owner: PhantomData<&'a ()>,
}

impl<T> Lent<'_, T> {
    pub(super) fn new(raw: T) -> Self {
        Lent { raw, owner: PhantomData }
    }
}

/// The structure to pass to a C function, by pointer.
impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}
