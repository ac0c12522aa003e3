//! Random channels of random groups, copied at every level, beside the literal copy unit by unit.

use std::ptr::NonNull;

use strided_copy::kernel::{Kernel, Loop, Stride};
use strided_copy::{Access, Available, Channels, Copy, Destination, Level, MOST_CHANNELS};

use crate::{Cases, Random};

struct Case {
    unit: usize,
    groups: usize,
    steps: (usize, usize),
    channels: Vec<(usize, usize)>,
    loops: Vec<Loop>,
}

/// Some units of a group of `units`, the first unit among them, in any order.
fn places(random: &mut Random, units: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (1..units).collect();
    let mut places = vec![0];
    while places.len() < count {
        places.push(all.swap_remove(random.below(all.len())));
    }
    for i in (1..count).rev() {
        places.swap(i, random.below(i + 1));
    }
    places
}

fn case(random: &mut Random) -> Case {
    let unit = random.pick(&[1, 2, 4]);
    let most = random.pick(&[20, 300, 1200]);
    let groups = 1 + random.below(most);
    let count = 1 + random.below(MOST_CHANNELS);
    let row = groups * unit + random.pick(&[0, 0, 1, 40]);
    // A side of groups or of rows. At least one side has groups, so that there is something to pick.
    let rows_side = random.below(3);
    let mut side = |has_rows: bool| {
        if has_rows {
            let order = places(random, count.max(2), count);
            return (unit, order.into_iter().map(|place| place * row).collect::<Vec<_>>());
        }
        let units = (count.max(2) + random.below(MOST_CHANNELS + 1 - count.max(2))).min(MOST_CHANNELS);
        (units * unit, places(random, units, count).into_iter().map(|place| place * unit).collect())
    };
    let ((from, sources), (to, destinations)) = (side(rows_side == 0), side(rows_side == 1));
    let channels: Vec<_> = sources.into_iter().zip(destinations).collect();
    let span = |step: usize, offsets: &dyn Fn(&(usize, usize)) -> usize| {
        (groups - 1) * step + channels.iter().map(offsets).max().unwrap() + unit
    };
    let outer = Stride {
        extent: 1 + random.below(3),
        source: (span(from, &|channel| channel.0) + random.below(70)).cast_signed(),
        destination: (span(to, &|channel| channel.1) + random.pick(&[0, 7, 64])).cast_signed(),
    };
    Case { unit, groups, steps: (from, to), channels, loops: vec![Loop::Strided(outer)] }
}

/// Copies every unit by itself.
fn literal(case: &Case, source: &[u8], destination: &mut [u8]) {
    let Loop::Strided(outer) = case.loops[0] else { unreachable!() };
    for i in 0..outer.extent {
        for group in 0..case.groups {
            for &(from, to) in &case.channels {
                let from = i * outer.source.unsigned_abs() + group * case.steps.0 + from;
                let to = i * outer.destination.unsigned_abs() + group * case.steps.1 + to;
                destination[to..to + case.unit].copy_from_slice(&source[from..from + case.unit]);
            }
        }
    }
}

#[test]
fn every_level_copies_channels_unit_by_unit() {
    let cases = Cases::or(800);
    let levels: Vec<Level> = Level::ALL
        .into_iter()
        .chain([Level::Software32, Level::Software64])
        .filter(|level| level.is_available())
        .collect();
    let mut seen = [0; 3];
    for number in 0..cases.count {
        if cases.is_enough(&seen) {
            break;
        }
        let random = &mut Random(number);
        let case = case(random);
        let sides = usize::from(case.steps.0 == case.unit) + 2 * usize::from(case.steps.1 == case.unit);
        let shift = random.below(64);
        for register in [32, 64] {
            let made = Channels::new(case.unit, case.groups, case.steps, case.channels.clone(), register);
            let channels = made.unwrap_or_else(|| panic!("case {number} has channels"));
            let kernel = Kernel::Channels(channels);
            let copy = |streaming, level| {
                let access = Access { streaming, ..Access::PLAIN };
                Copy::new(kernel.clone(), case.loops.clone(), (0, 0), access, Available::up_to(level)).unwrap()
            };
            let (from, to) = copy(false, Level::Portable).reach();
            if cases.leave_out(from + to, seen[sides]) {
                continue;
            }
            // The buffers are exactly as long as the copy reaches.
            let source: Vec<u8> = (0..from).map(|_| random.next().to_le_bytes()[7]).collect();
            let mut right = vec![0xa5; to + 128];
            literal(&case, &source, &mut right[shift..shift + to]);
            for &level in &levels {
                for (streaming, readable) in [(false, true), (false, false), (true, true), (true, false)] {
                    let mut memory = vec![0xa5; to + 128];
                    let bytes = &mut memory[shift..shift + to];
                    let destination = match readable {
                        true => Destination::from(bytes),
                        // SAFETY: the bytes are borrowed exclusively for as long as the destination.
                        false => unsafe { Destination::write_only(NonNull::from(bytes)) },
                    };
                    copy(streaming, level).run(&source, destination);
                    assert!(
                        memory == right,
                        "case {number} at {level}, {streaming}, {readable}: {kernel:?} in {:?}",
                        case.loops
                    );
                }
            }
            seen[sides] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > if cases.is_sample { 3 } else { cases.count / 6 }), "{seen:?}");
}

#[test]
fn what_is_no_channels_is_refused() {
    let new = |unit, groups, steps, channels: &[(usize, usize)]| {
        Channels::new(unit, groups, steps, channels.to_vec(), 32).is_some()
    };
    assert!(new(1, 9, (4, 3), &[(0, 0), (1, 1), (2, 2)]));
    assert!(new(4, 1, (32, 4), &[(28, 0), (0, 400)]));
    // A unit of 3 bytes; no groups; no channels; 9 channels; a group of 9 units; a unit that begins inside a
    // unit; one outside of its group; a group whose first unit is no channel; strides that are no units.
    assert!(!new(3, 9, (12, 3), &[(0, 0)]));
    assert!(!new(1, 0, (4, 3), &[(0, 0)]));
    assert!(!new(1, 9, (4, 3), &[]));
    assert!(!new(1, 9, (1, 8), &[(0, 0); 9]));
    assert!(!new(1, 9, (9, 1), &[(0, 0)]));
    assert!(!new(2, 9, (8, 2), &[(0, 0), (3, 100)]));
    assert!(!new(1, 9, (4, 3), &[(0, 0), (4, 1)]));
    assert!(!new(1, 9, (4, 1), &[(1, 0), (2, 100)]));
    assert!(!new(2, 9, (7, 2), &[(0, 0)]));
    assert!(!new(2, 9, (0, 2), &[(0, 0)]));
    assert!(Channels::new(1, 9, (4, 1), vec![(0, 0)], 16).is_none());
    // An end after the last address.
    let far = Channels::new(1, usize::MAX, (4, 1), vec![(0, 0)], 32).unwrap();
    let copy =
        Copy::new(Kernel::Channels(far), Vec::<Loop>::new(), (0, 0), Access::PLAIN, Available::up_to(Level::Avx2));
    assert_eq!(copy.unwrap_err(), strided_copy::Misfit::Reach);
}
