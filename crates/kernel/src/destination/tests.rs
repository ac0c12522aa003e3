use super::*;

#[test]
fn memory_without_contents_is_zeroed() {
    assert_eq!(zeroed(&mut [MaybeUninit::uninit(); 3]), [0; 3]);
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
