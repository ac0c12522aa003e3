//! What a destination gives out, and what it refuses.

use std::ops::Range;
use std::ptr::NonNull;

use strided_copy::Destination;

/// A write-only destination cannot be read, and no part reaches outside.
#[test]
fn only_bytes_that_were_given_as_such_are_read() {
    let mut bytes = [1; 4];
    // SAFETY: the pointer is to four bytes that nothing else accesses.
    let only = unsafe { Destination::write_only(NonNull::from(&mut bytes[..])) };
    let (front, back) = only.split_at(3);
    assert!(!front.is_readable() && !back.is_readable() && (front.len(), back.len()) == (3, 1));
    let mut destination = Destination::from(&mut bytes);
    assert_eq!(destination.part(1..3).map(|mut part| part.bytes_to_change().len()), Some(2));
    let reversed = Range { start: 3, end: 2 };
    assert!(
        destination.part(4..4).is_some() && destination.part(4..5).is_none() && destination.part(reversed).is_none()
    );
}

#[test]
#[should_panic(expected = "of 4 bytes is split at byte 5")]
fn a_destination_is_not_split_after_its_end() {
    let _ = Destination::from(&mut [0; 4]).split_at(5);
}

/// Write-only memory is filled and written, and no reference to it is made.
#[test]
fn a_destination_is_filled_with_whole_elements() {
    for (width, pattern, expected) in [
        (1, 7, [7; 6].as_slice()),
        (2, 0x0201, &[1, 2, 1, 2, 1, 2]),
        (3, 0x03_0201, &[1, 2, 3, 1, 2, 3]),
        (20, 0xff, &[0xff, 0, 0, 0, 0, 0]),
    ] {
        let mut bytes = [0x55; 6];
        Destination::from(&mut bytes).fill(0..6, width, pattern);
        assert_eq!(bytes, expected, "{width} bytes of {pattern:#x}");
    }
    let mut wide = vec![0x55; 4000];
    Destination::from(&mut wide[..]).fill(0..4000, 2000, 0x0201);
    assert!(wide.iter().enumerate().all(|(i, &byte)| byte == if i % 2000 < 2 { [1, 2][i % 2000] } else { 0 }));
    let mut long = vec![0; 10_001];
    Destination::from(&mut long[..]).fill(1..10_001, 2, 0x0201);
    assert!(long[0] == 0 && long[1..].chunks(2).all(|pair| pair == [1, 2]));
}

#[test]
#[should_panic(expected = "written past the 4 of a destination")]
fn nothing_is_written_past_a_destination() {
    Destination::from(&mut [0; 4][..]).write(2, &[1; 3]);
}
