//! Random permutations of blocks at every level, including vectors in plain Rust. Each atom comes to its
//! place, and nothing outside the blocks is touched.

use strided_copy::kernel::{Kernel, Loop, Stride};
use strided_copy::{Access, Atom, Available, BlockLoops, Copy, Destination, Level, PermutedBlocks};

use crate::{Cases, Random};

/// A nest of loops that permutes blocks. `start` is the index of its first atom on both sides.
#[derive(Debug)]
struct Case {
    atom: Atom,
    loops: Vec<Stride>,
    start: (usize, usize),
}

fn signed(number: usize) -> isize {
    isize::try_from(number).unwrap()
}

/// Makes loops in a random order. On the destination they are packed, with gaps outside of the blocks. On the
/// source they are packed in another order, with gaps and reversals.
fn case(random: &mut Random) -> Case {
    let atom = random.pick(&[Atom::Byte, Atom::Byte, Atom::Nibble]);
    let per_byte = if atom == Atom::Nibble { 2 } else { 1 };
    let mut extents: Vec<usize> = (0..1 + random.below(4)).map(|_| 1 + random.below(9)).collect();
    if random.below(2) == 0 {
        extents[0] = random.pick(&[2, 4, 8, 12, 16]);
    }
    while extents.iter().product::<usize>() > 3000 {
        extents.pop();
    }
    let inner = extents.len();
    let count = 1 + random.below(60_000 / extents.iter().product::<usize>()).min(random.below(70));
    extents.push(count);
    let outer = random.below(3);
    extents.extend((0..outer).map(|_| 1 + random.below(3)));
    // The steps on the destination are packed up to loop `inner`. The steps after it have gaps of whole
    // bytes.
    let mut filled = 1_usize;
    let mut loops = Vec::new();
    for (i, &extent) in extents.iter().enumerate() {
        if i > inner {
            filled = filled.next_multiple_of(per_byte) + random.below(4) * per_byte;
        }
        loops.push(Stride { extent, source: 0, destination: signed(filled) });
        filled *= extent;
    }
    // The steps on the source are first the steps of the block in a random order, and then the other steps.
    let mut order: Vec<usize> = (0..inner).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let gap = |random: &mut Random| if random.below(4) == 0 { random.below(30) } else { 0 };
    let (mut filled, mut front) = (1_usize, 0);
    for i in order {
        let backwards = random.below(5) == 0 && loops[i].extent > 1;
        loops[i].source = if backwards { -signed(filled) } else { signed(filled) };
        if backwards {
            front += filled * (loops[i].extent - 1);
        }
        filled = filled * loops[i].extent + gap(random);
    }
    for step in &mut loops[inner..] {
        filled = (filled + gap(random)).next_multiple_of(per_byte);
        let form = random.below(12);
        step.source = [0, -signed(filled)].get(form).copied().unwrap_or(signed(filled));
        if form == 1 {
            front += filled * (step.extent - 1);
        }
        if form > 0 {
            filled *= step.extent;
        }
    }
    let first = random.below(5);
    for i in (1..loops.len()).rev() {
        loops.swap(i, random.below(i + 1));
    }
    let before = per_byte * random.below(3);
    Case { atom, loops, start: (first + front, before) }
}

/// Makes the copy atom by atom.
fn expected(case: &Case, source: &[u8], destination: &mut [u8]) {
    let mut places = vec![(signed(case.start.0), signed(case.start.1))];
    for step in &case.loops {
        let steps = 0..signed(step.extent);
        let plus = |&(from, to): &(isize, isize)| {
            steps.clone().map(move |i| (from + i * step.source, to + i * step.destination)).collect::<Vec<_>>()
        };
        places = places.iter().flat_map(plus).collect();
    }
    for (from, to) in places {
        let (from, to) = (usize::try_from(from).unwrap(), usize::try_from(to).unwrap());
        match case.atom {
            Atom::Byte => destination[to] = source[from],
            Atom::Nibble => {
                let nibble = source[from / 2] >> (4 * (from % 2)) & 0x0f;
                let keep = if to % 2 == 0 { 0xf0 } else { 0x0f };
                destination[to / 2] = destination[to / 2] & keep | nibble << (4 * (to % 2));
            }
        }
    }
}

/// The blocks of these loops, permuted with any number of windows that there is code for.
fn permuted(atom: Atom, start: (usize, usize), loops: &[Stride], register: usize) -> Option<PermutedBlocks> {
    BlockLoops::of(atom, start, loops.to_vec())?.permuted(register, usize::MAX)
}

fn copy_of(PermutedBlocks { permutation, outer, start }: PermutedBlocks, streaming: bool, level: Available) -> Copy {
    let loops = outer.into_iter().map(Loop::Strided).collect();
    let access = Access { streaming, ..Access::PLAIN };
    Copy::new(Kernel::PermuteBlocks(permutation), loops, start, access, level).unwrap()
}

/// Permutes the blocks at every level. Returns the number of windows, or `None` if there is no kernel.
fn check(number: u64, case: &Case, random: &mut Random, register: usize) -> Option<usize> {
    let blocks = permuted(case.atom, case.start, &case.loops, register)?;
    let windows = blocks.permutation.windows();
    let (from, to) = copy_of(blocks.clone(), false, Available::up_to(Level::Portable)).reach();
    // A limit that is the number of windows needed changes nothing.
    let limited = |most| BlockLoops::of(case.atom, case.start, case.loops.clone())?.permuted(register, most);
    assert!(limited(windows).as_ref() == Some(&blocks) && limited(0).is_none());
    // The buffers are exactly as long as the nest reaches. `shift` bytes in front of the destination change
    // its alignment.
    let source: Vec<u8> = (0..from).map(|_| random.next().to_le_bytes()[7]).collect();
    let shift = random.below(64);
    let mut right = vec![0xa5; to + 64 + shift];
    expected(case, &source, &mut right[shift..shift + to]);
    let levels = Level::ALL.into_iter().chain([Level::Software32, Level::Software64]);
    for level in levels.filter(|level| level.is_available()) {
        for streaming in [false, true] {
            let mut memory = vec![0xa5; to + 64 + shift];
            let destination = Destination::from(&mut memory[shift..shift + to]);
            copy_of(blocks.clone(), streaming, Available::up_to(level)).run(&source, destination);
            assert!(memory == right, "case {number} at {level:?}, {streaming}, {register}: {case:?}");
        }
    }
    Some(windows)
}

#[test]
fn every_level_permutes_blocks_atom_by_atom() {
    let cases = Cases::or(1000);
    // How many nests have up to four windows, more windows, and nibbles, and how many were planned at all.
    let (mut few, mut many, mut nibbles, mut planned) = (0, 0, 0, 0);
    // An interpreter takes long to plan a case, too: these are small ones, two of each kind.
    let sample = [180, 354, 440, 600, 588, 930];
    let numbers = if cases.is_sample { sample.to_vec() } else { (0..cases.count).collect() };
    for number in numbers {
        let random = &mut Random(number);
        let case = case(random);
        for register in [32, 64] {
            let Some(windows) = check(number, &case, random, register) else { continue };
            planned += 1;
            few += u64::from(windows <= 4);
            many += u64::from(windows > 4);
            nibbles += u64::from(case.atom == Atom::Nibble);
        }
    }
    let least = if cases.is_sample { 1 } else { cases.count / 20 };
    let are_all = planned > cases.count / 4 || cases.is_sample;
    assert!(are_all && few.min(many).min(nibbles) > least, "{planned} {few} {many} {nibbles}");
}

/// Blocks whose indices on both sides are the same bits in another order.
#[test]
fn bits_of_an_index_change_places() {
    let cases = Cases::or(60);
    let mut in_steps = 0_u64;
    for number in 0..cases.count {
        let random = &mut Random(number);
        let bits = 9 + random.below(4);
        let mut order: Vec<usize> = (0..bits).collect();
        for i in (1..bits).rev() {
            order.swap(i, random.below(i + 1));
        }
        let mut loops: Vec<Stride> =
            (0..bits).map(|bit| Stride { extent: 2, source: 0, destination: 1 << bit }).collect();
        let (mut next, mut front) = (1, 0);
        for (i, &bit) in order.iter().enumerate() {
            // Few bits are backwards, and some of the higher bits begin after a gap.
            let backwards = random.below(40) == 0;
            loops[bit].source = if backwards { -signed(next) } else { signed(next) };
            front += if backwards { next } else { 0 };
            next = 2 * next + if random.below(if i > 6 { 3 } else { 60 }) == 0 { 2 * random.below(40) } else { 0 };
        }
        let step = signed(next.next_multiple_of(2));
        loops.push(Stride { extent: 1 + random.below(5), source: step, destination: 1 << bits });
        let case = Case { atom: Atom::Nibble, loops, start: (front + random.below(3), 0) };
        let steps = format!("{:?}", permuted(Atom::Nibble, case.start, &case.loops, 32)).contains("steps");
        let windows = [32, 64].map(|register| check(number, &case, random, register));
        assert!(!steps || windows[0] == Some(1), "{windows:?}: {case:?}");
        in_steps += u64::from(steps);
    }
    assert!(in_steps > cases.count / 8 || cases.is_sample, "{in_steps}");
}

/// `count` planes of `rows` x `columns` units of `unit` bytes, which are transposed.
fn planes(count: usize, [rows, columns, unit]: [usize; 3]) -> Vec<Stride> {
    let [plane, row, unit_step] = [rows * columns * unit, columns * unit, unit].map(signed);
    vec![
        Stride { extent: count, source: plane, destination: plane },
        Stride { extent: columns, source: unit_step, destination: signed(rows * unit) },
        Stride { extent: rows, source: row, destination: unit_step },
        Stride { extent: unit, source: 1, destination: 1 },
    ]
}

#[test]
fn small_planes_need_few_windows() {
    let windows = |shape, register| {
        let blocks = permuted(Atom::Byte, (0, 0), &planes(1000, shape), register).unwrap();
        assert_eq!((blocks.outer.len(), blocks.start, blocks.permutation.blocks()), (0, (0, 0), 1000));
        assert_eq!(blocks.permutation.block(), shape.iter().product());
        blocks.permutation.windows()
    };
    // These numbers were counted by hand. In the transposed 2 x 7, 16 bytes are two columns from both rows,
    // or the last column and the first column of the next plane, whose upper row follows the last row. In 8 x
    // 8, 16 bytes are from four rows. A plane of 4 x 4 bytes is one window.
    assert_eq!([[2, 7, 4], [8, 8, 4], [4, 4, 1]].map(|shape| windows(shape, 32)), [3, 4, 1]);
    // In 8 x 8, 64 bytes are two columns, which need all 256 bytes. Four planes of 4 x 4 bytes are one
    // register.
    assert_eq!([[8, 8, 4], [4, 4, 1]].map(|shape| windows(shape, 64)), [4, 1]);
}

/// A run of units in the opposite order is a block for each unit.
#[test]
fn reversals_are_blocks_that_step_backwards() {
    for unit in [1, 2, 3, 4, 8, 16] {
        let step = signed(unit);
        let reversed = Stride { extent: 1000, source: -step, destination: step };
        let start = (unit * 999, 0);
        let loops = [reversed, Stride { extent: unit, source: 1, destination: 1 }];
        for register in [32, 64] {
            let blocks = permuted(Atom::Byte, start, &loops, register).unwrap();
            assert_eq!((blocks.start, blocks.permutation.blocks()), ((0, 0), 1000));
            assert_eq!(blocks.permutation.source_step(), -step);
            assert!(blocks.permutation.windows() <= 2);
        }
    }
}

#[test]
fn what_is_not_blocks_is_not_permuted() {
    let of = |loops: &[Stride]| permuted(Atom::Byte, (0, 0), loops, 32);
    // These are no blocks: rows with a gap after each, a single plane, a plane of 4 KiB, and too few bytes
    // for a vector.
    let mut gaps = planes(100, [4, 4, 4]);
    gaps[2].destination += 1;
    assert!(of(&gaps[2..]).is_none());
    assert!(of(&planes(10, [2048, 2, 1])[1..2]).is_none());
    assert!(of(&planes(2, [3, 3, 1])).is_none());
    assert!(permuted(Atom::Byte, (0, 0), &planes(100, [4, 4, 4]), 16).is_none());
    // These blocks have an odd number of nibbles.
    assert!(permuted(Atom::Nibble, (0, 0), &planes(100, [3, 3, 1]), 32).is_none());
    assert!(permuted(Atom::Nibble, (1, 0), &planes(100, [3, 4, 1]), 32).is_some());
    assert!(permuted(Atom::Nibble, (0, 1), &planes(100, [3, 4, 1]), 32).is_none());
}

#[test]
fn parts_of_a_permutation_are_its_blocks() {
    let PermutedBlocks { permutation, .. } = permuted(Atom::Byte, (0, 0), &planes(10, [2, 7, 4]), 32).unwrap();
    let (part, start) = permutation.part(3..7).unwrap();
    assert_eq!((part.blocks(), start, part.span()), (4, (3 * 56, 3 * 56), (Some(4 * 56), Some(4 * 56))));
    assert!(permutation.part(3..11).is_none() && permutation.part(3..3).is_none());
}
