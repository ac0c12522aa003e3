//! Plain loop nests, against a list of the offsets of every run.

use strided_copy::kernel::Stride;
use strided_copy::{MOST_PLAIN_LOOPS, PlainNest};

use crate::Cases;

/// Makes the copy in safe Rust, with an explicit list of the offsets of every run.
fn literal(run: usize, start: (usize, usize), loops: &[Stride], source: &[u8], destination: &mut [u8]) {
    let mut offsets = vec![(start.0.cast_signed(), start.1.cast_signed())];
    for step in loops {
        let next = |&(from, to): &(isize, isize)| {
            (0..step.extent)
                .map(move |i| (from + i.cast_signed() * step.source, to + i.cast_signed() * step.destination))
        };
        offsets = offsets.iter().flat_map(next).collect();
    }
    for (from, to) in offsets {
        let (from, to) = (usize::try_from(from).unwrap(), usize::try_from(to).unwrap());
        destination[to..to + run].copy_from_slice(&source[from..from + run]);
    }
}

#[test]
fn every_run_and_every_number_of_loops_is_copied_as_written() {
    let source: Vec<u8> = (0..4096_u32).map(|i| (i * 7 + i / 256).to_le_bytes()[0]).collect();
    let mut next = 1_u64;
    let mut random = |below: usize| {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(next >> 33).unwrap() % below
    };
    // A sample has a run for each arm of the copies.
    let sample = [1, 2, 3, 4, 6, 8, 11, 16, 20, 40, 70, 129];
    let all: Vec<usize> = (1..=140).collect();
    for &run in if Cases::or(0).is_sample { &sample[..] } else { &all } {
        for count in 0..=MOST_PLAIN_LOOPS {
            let mut loops = Vec::new();
            let mut span = run;
            for _ in 0..count {
                let extent = 1 + random(if count > 5 { 2 } else { 4 });
                let destination = span + random(2);
                span += (extent - 1) * destination;
                let source = random(60).cast_signed() - 30;
                loops.insert(0, Stride { extent, source, destination: destination.cast_signed() });
            }
            let start = (1500 + random(16), random(16));
            let Some(nest) = PlainNest::new(run, start, &loops[..]) else { continue };
            assert_eq!((nest.loops(), nest.start(), nest.bytes_of_run()), (&loops[..], start, run));
            let length = start.1 + span;
            let (mut found, mut expected) = (vec![0xee; length + 9], vec![0xee; length + 9]);
            if !nest.is_inside(source.len(), length) {
                continue;
            }
            assert!(!nest.is_inside(source.len(), length - 1), "the end is exact");
            nest.run(&source, found.as_mut_slice().into());
            literal(run, start, &loops, &source, &mut expected);
            assert_eq!(found, expected, "{run} {start:?} {loops:?}");
        }
    }
}

#[test]
fn what_leaves_the_addresses_is_no_nest() {
    let step = |extent, source, destination| Stride { extent, source, destination };
    assert!(PlainNest::new(0, (0, 0), &[][..]).is_none());
    assert!(PlainNest::new(1, (0, 0), &[step(0, 1, 1)][..]).is_none());
    assert!(PlainNest::new(1, (4, 0), &[step(6, -1, 1)][..]).is_none());
    assert!(PlainNest::new(1, (5, 0), &[step(6, -1, 1)][..]).is_some());
    assert!(PlainNest::new(1, (usize::MAX, 0), &[][..]).is_none());
    assert!(PlainNest::new(1, (0, 0), &[step(usize::MAX, 2, 0)][..]).is_none());
    assert!(PlainNest::new(1, (0, 0), &[step(3, 1, isize::MAX)][..]).is_none());
    assert!(PlainNest::new(1, (0, 0), &[Stride::ONCE; MOST_PLAIN_LOOPS + 1][..]).is_none());
}

#[test]
#[should_panic(expected = "past the end of its buffers")]
fn a_nest_of_other_buffers_panics() {
    let nest = PlainNest::new(2, (0, 0), &[][..]).unwrap();
    nest.run(&[1, 2], (&mut [0_u8][..]).into());
}

/// Rows of bits that begin and end anywhere, against bits that are copied one by one.
#[test]
fn a_row_of_bits_is_copied_bit_by_bit() {
    let source: Vec<u8> = (0..40_u32).map(|i| u8::try_from(i * 157 % 251).unwrap()).collect();
    let before: Vec<u8> = source.iter().rev().copied().collect();
    let bit = |bytes: &[u8], at: u64| bytes[usize::try_from(at / 8).unwrap()] >> (at % 8) & 1;
    let starts = [(0, 0), (3, 3), (0, 5), (6, 0), (2, 7), (7, 2), (8, 13)];
    for ((from, to), bits) in starts.iter().flat_map(|&at| [0, 1, 5, 8, 13, 64, 71, 200].map(|bits| (at, bits))) {
        let mut row = before.clone();
        strided_copy::bit_rows::copy_row(&source, from, &mut row, to, bits);
        for at in 0..320 {
            let expected = if (to..to + bits).contains(&at) { bit(&source, at - to + from) } else { bit(&before, at) };
            assert_eq!(bit(&row, at), expected, "bit {at}, {bits} bits from {from} to {to}");
        }
    }
}
