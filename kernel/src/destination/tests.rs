use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// Bytes are given as initialised only where as many are said to be written as there are.
#[test]
fn memory_is_initialised_if_all_of_it_was_written() {
    let mut memory = [MaybeUninit::uninit(); 6];
    Destination::uninitialised(&mut memory).fill(0..6, 4, 0x0403_0201);
    // SAFETY: all six bytes were filled, whatever number is given.
    let mut given = |written| catch_unwind(AssertUnwindSafe(|| unsafe { all_written(&mut memory, written) }.to_vec()));
    assert!(given(5).is_err() && given(7).is_err() && given(u64::MAX).is_err());
    assert_eq!(given(6).ok(), Some(vec![1, 2, 3, 4, 1, 2]));
}

/// What may hold nothing is not read, and no part is outside.
#[test]
fn only_bytes_that_were_given_as_such_are_read() {
    let (mut bytes, mut memory) = ([1; 4], [MaybeUninit::uninit(); 4]);
    assert!(Destination::uninitialised(&mut memory).readable().is_none());
    assert!(WriteOnly::from(&mut memory[..]).into_memory().readable().is_none());
    assert!(WriteOnly::from(&mut bytes[..]).into_destination().readable().is_none());
    // SAFETY: four bytes, which nothing else accesses.
    let only = unsafe { WriteOnly::new(NonNull::from(&mut bytes[..])) };
    assert!(only.into_memory().readable().is_none());
    let mut destination = Destination::from(&mut bytes[..]);
    assert_eq!(destination.part(1..3).and_then(|mut part| part.readable().map(|bytes| bytes.len())), Some(2));
    let reversed = Range { start: 3, end: 2 };
    assert!(
        destination.part(4..4).is_some() && destination.part(4..5).is_none() && destination.part(reversed).is_none()
    );
}
