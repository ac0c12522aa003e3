//! Random copies at every level, including vectors in plain Rust. Each level copies the same bytes as safe
//! Rust.

use strided_copy::kernel::{
    Axis, BitInterleave, Direction, Kernel, Loop, MicroTile, Offsets, Panels, Plane, PlaneRuns, Rows, RunOrder, Runs,
    Stage, Stride, Transpose, WidthChange, WidthRow, is_in_register,
};
use strided_copy::{Access, Available, Copy, Destination, Level, Misfit, Prefetch, fences};

use crate::{Cases, Random};

impl Random {
    /// An extent that is small, large, or next to a round number.
    fn extent(&mut self) -> usize {
        match self.below(6) {
            0 => self.pick(&[1, 2, 3, 4, 8, 16, 32]),
            1 => self.pick(&[15, 17, 31, 33, 63, 64, 65, 127, 128, 129, 256, 257, 512, 513]),
            2 => 1 + self.below(2100),
            3 => 1 + self.below(200),
            _ => 1 + self.below(40),
        }
    }

    /// A pitch of rows of this many bytes: dense, with a gap, or a multiple of a line or of a page.
    fn pitch(&mut self, row: usize) -> usize {
        match self.below(6) {
            0 | 1 => row,
            2 => row + 1 + self.below(70),
            3 => row.next_multiple_of(64),
            4 if row < 4096 => row.next_multiple_of(4096),
            _ => row.next_multiple_of(64) + 64 * self.below(3),
        }
    }

    /// An axis whose indices are at least `least` bytes apart. Some axes are tables.
    fn axis(&mut self, extent: usize, least: usize) -> Axis {
        let pitch = self.pitch(least);
        match self.below(5) {
            0 => Axis::new(extent, -signed(pitch)),
            1 if extent.is_multiple_of(2) && extent > 2 => {
                let own = Axis::new(extent / 2, signed(pitch));
                own.inside(&[(pitch * (extent / 2) + self.pick(&[0, 7, 64]), 2)])
            }
            _ => Axis::new(extent, signed(pitch)),
        }
    }

    fn rows(&mut self) -> Rows {
        match self.below(4) {
            0 => Rows::Staged,
            1 => Rows::Joined(u16::try_from(2 + self.below(5)).unwrap()),
            _ => Rows::Direct,
        }
    }
}

fn signed(bytes: usize) -> isize {
    bytes.cast_signed()
}

/// A plane, and how it is transposed. Some planes have the form that a special kernel needs.
fn plane(random: &mut Random) -> (Plane, Transpose) {
    let form = random.below(9);
    let unit = match form {
        0 | 1 => random.pick(&[1, 2, 4, 8]),
        2 => 16,
        3 => random.pick(&[32, 64, 128]),
        _ => random.pick(&[1, 1, 2, 2, 4, 4, 4, 8, 8, 16, 16, 3, 5, 6, 12, 20, 24, 32, 40, 64, 100, 128]),
    };
    let few = random.pick(&[2, 3, 4, 8, 16]);
    let (mut columns, mut rows) = match (form, random.below(3)) {
        (0, _) | (4, 0) => (random.extent(), few),
        (1, _) | (4, 1) => (few, random.extent()),
        _ => (random.extent(), random.extent()),
    };
    while unit * columns * rows > 300_000 {
        (columns, rows) = if columns > rows { (columns / 3 + 1, rows) } else { (columns, rows / 3 + 1) };
    }
    let micro_tile = match unit {
        _ if form < 4 => None,
        2 if random.below(6) == 0 => Some(MicroTile { rows: 2, columns: 1, element: 1 }),
        4 if random.below(4) == 0 => Some(MicroTile { rows: 2, columns: 2, element: 1 }),
        8 if random.below(4) == 0 => Some(MicroTile { rows: 2, columns: 2, element: 2 }),
        16 if random.below(4) == 0 => Some(MicroTile { rows: 4, columns: 2, element: 2 }),
        _ => None,
    };
    let mut source = random.axis(rows, columns * unit);
    let mut destination = random.axis(columns, rows * unit);
    if form == 0 {
        destination = Axis::new(columns, signed(rows * unit));
    } else if form == 1 {
        source = Axis::new(rows, signed(columns * unit));
    } else if form == 2 || form == 3 {
        source = Axis::new(rows, signed(random.pitch(columns * unit)));
        destination = Axis::new(columns, signed(random.pitch(rows * unit).next_multiple_of(64)));
    }
    let plane = Plane { unit, columns: destination, rows: source, micro_tile };
    let by = match form {
        0 => Transpose::Interleave(Rows::Direct),
        1 => Transpose::Deinterleave(random.rows()),
        2 => Transpose::Squares,
        3 => runs(random, &plane),
        _ => transpose(random, &plane),
    };
    (plane, by)
}

/// Copies whole runs. If lines are written with non-temporal stores, panels run instead when the buffer is
/// not aligned.
fn runs(random: &mut Random, plane: &Plane) -> Transpose {
    let order = match random.below(3) {
        0 => RunOrder::Source,
        1 => RunOrder::FewColumns(random.pick(&[1, 4, 16])),
        _ => RunOrder::Pieces(random.pick(&[2, 8, 16])),
    };
    let unaligned = (order == RunOrder::Source || random.below(3) == 0).then(|| {
        let (lines, rows) = (4, (4 * 64 / plane.unit).min(plane.rows.extent));
        let stage = Stage::Continue { lines, joined: false };
        Panels { height: u32::try_from(rows).unwrap(), stage, whole_lines: false, ..panels(random, plane) }
    });
    Transpose::Runs(PlaneRuns { order, ahead: random.pick(&[0, 1, 8]), unaligned })
}

fn panels(random: &mut Random, plane: &Plane) -> Panels {
    let lines = random.pick(&[2, 4, 8, 16]);
    let stage = match random.below(3) {
        0 => Stage::None,
        1 => Stage::Lines(lines),
        _ => Stage::Continue { lines, joined: random.below(2) == 0 },
    };
    let height = match stage {
        Stage::Continue { .. } if random.below(3) > 0 => (usize::from(lines) * 64 / plane.unit).min(plane.rows.extent),
        _ => random.pick(&[16, 32, 64, 100, 256, 512, 1024]),
    };
    Panels {
        height: u32::try_from(height).unwrap(),
        width: random.pick(&[16, 64, 128, 512]),
        kept: 1024,
        ahead: u32::try_from(random.below(4)).unwrap(),
        stage,
        whole_lines: random.below(2) == 0,
        near: random.below(2) == 0,
        scattered: random.below(2) == 0,
    }
}

fn transpose(random: &mut Random, plane: &Plane) -> Transpose {
    match random.below(11) {
        0 => Transpose::Units,
        1 => Transpose::Squares,
        2 => Transpose::Interleave(Rows::Direct),
        3 | 4 => Transpose::Deinterleave(random.rows()),
        5 => Transpose::Panel { scattered: random.below(2) == 0 },
        6 | 7 if !is_in_register(plane.unit) => runs(random, plane),
        _ => Transpose::Panels(panels(random, plane)),
    }
}

fn count(random: &mut Random, run: usize, most: usize) -> Stride {
    let extent = if random.below(3) == 0 { 1 } else { 1 + random.below(most) };
    let source = if random.below(10) == 0 { 0 } else { random.pitch(run) };
    Stride { extent, source: signed(source), destination: signed(random.pitch(run)) }
}

fn kernel(random: &mut Random) -> Kernel {
    let signed = random.below(2) == 0;
    let change = if random.below(2) == 0 { WidthChange::Pack } else { WidthChange::Unpack { signed } };
    let bits = random.pick(&[1, 2, 4]);
    match random.below(13) {
        0..=2 => {
            let run = if random.below(3) == 0 { random.pick(&[1, 2, 4, 8, 12, 16, 32]) } else { random.extent() };
            let mut count = count(random, run, 40);
            let by = match random.below(6) {
                0 => Runs::Repeat,
                1 => Runs::Words,
                2 => Runs::Halves,
                3 => Runs::Scattered,
                4 => Runs::Memcpy,
                _ => Runs::Lines { ahead: random.pick(&[0, 1, 5]) },
            };
            if by == Runs::Repeat {
                count = Stride { source: 0, destination: run.cast_signed(), ..count };
            }
            Kernel::Runs { run, count, by }
        }
        3 => {
            let run = 1 + random.below(100);
            let offsets: Vec<_> = (0..1 + random.below(9)).rev().map(|i| (i * 30, i * (run + 3))).collect();
            let span = offsets.len() * (run + 3);
            Kernel::Table { run, offsets: Offsets(offsets), count: count(random, span, 6) }
        }
        4 | 5 | 8 => {
            let row = random.extent();
            let direction = random.pick(&[Direction::Interleave, Direction::Deinterleave, Direction::Pack]);
            let rows = BitInterleave { bits, row, pitch: random.pitch(row), direction };
            Kernel::InterleaveBits { rows, by: random.rows() }
        }
        6 | 7 => Kernel::ChangeWidth(WidthRow { bits, change, packed: random.extent() }),
        _ => {
            let (plane, by) = plane(random);
            Kernel::Transpose { plane, by }
        }
    }
}

/// Loops around a kernel, and the start of the first iteration. Each side of a loop may count down.
fn loops(random: &mut Random, reach: (usize, usize), in_lines: bool) -> (Vec<Loop>, (usize, usize)) {
    let (mut source, mut destination) = reach;
    let mut loops = Vec::new();
    let mut start = (random.below(3), if random.below(2) == 0 { 0 } else { random.below(70) });
    for _ in 0..random.below(3) {
        let extent = (1 + random.below(6)).min(400_000 / destination.max(source) + 1);
        // Runs of neighbouring iterations may follow each other.
        let to = if in_lines || random.below(3) == 0 { destination.next_multiple_of(64) } else { destination };
        let from = source + random.pick(&[0, 0, 5, 64]);
        let [down_from, down_to] = [random.below(4) == 0, random.below(4) == 0];
        let sign = |bytes: usize, down: bool| if down { -signed(bytes) } else { signed(bytes) };
        loops
            .insert(0, Loop::Strided(Stride { extent, source: sign(from, down_from), destination: sign(to, down_to) }));
        source += (extent - 1) * from;
        destination += (extent - 1) * to;
        start.0 += if down_from { (extent - 1) * from } else { 0 };
        start.1 += if down_to { (extent - 1) * to } else { 0 };
    }
    (loops, start)
}

fn levels() -> Vec<Available> {
    let vectors = Level::ALL.into_iter().chain([Level::Software32, Level::Software64]);
    vectors.filter(|&level| level != Level::Portable && level.is_available()).map(Available::up_to).collect()
}

/// How many variants there are.
const KINDS: usize = 17;

/// The variant of a kernel, and of how it runs.
fn kind(kernel: &Kernel) -> String {
    let words = format!("{kernel:?}");
    let word = |text: &str| text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or("").to_owned();
    word(&words) + " " + &words.split_once("by: ").map_or(String::new(), |(_, by)| word(by))
}

#[test]
fn every_level_copies_what_safe_rust_does() {
    let cases = Cases::or(6000);
    let mut kinds = std::collections::BTreeMap::<String, u64>::new();
    for case in 0..cases.count {
        if kinds.len() == KINDS && cases.is_enough(&kinds.values().copied().collect::<Vec<_>>()) {
            break;
        }
        let random = &mut Random(case);
        let kernel = kernel(random);
        let portable = Available::up_to(Level::Portable);
        let alone = Copy::new(kernel.clone(), Vec::new(), (0, 0), Access::PLAIN, portable).unwrap();
        let in_lines = matches!(kernel, Kernel::Transpose { by: Transpose::Runs(_), .. });
        let (loops, start) = loops(random, alone.reach(), in_lines);
        let literal = Copy::new(kernel.clone(), loops.clone(), start, Access::PLAIN, portable).unwrap();
        // The buffers are exactly as long as the copy reaches.
        let (from, to) = literal.reach();
        let kind = kind(&kernel);
        if cases.leave_out(from.saturating_add(to), kinds.get(&kind).copied().unwrap_or(0)) {
            continue;
        }
        let source: Vec<u8> = (0..from).map(|_| random.next().to_le_bytes()[7]).collect();
        let shift = if random.below(2) == 0 { 0 } else { random.below(64) };
        // The lines of the destination are aligned in some of the cases.
        let mut expected = vec![0xa5; to + 128];
        literal.run(&source, Destination::from(&mut expected[shift..shift + to]));
        for level in levels() {
            for streaming in [false, true] {
                let prefetch = match random.below(3) {
                    0 => Prefetch::None,
                    1 => Prefetch::Iterations(random.pick(&[1, 2, 64])),
                    _ => Prefetch::InRow(2048),
                };
                let access = Access { streaming, prefetch };
                let copy = match Copy::new(kernel.clone(), loops.clone(), start, access, level) {
                    Ok(copy) => copy,
                    Err(misfit) => {
                        assert_eq!(misfit, Misfit::Code);
                        continue;
                    }
                };
                let mut memory = vec![0xa5; to + 128];
                let before = fences();
                copy.run(&source, Destination::from(&mut memory[shift..shift + to]));
                let at = level.get();
                assert!(memory == expected, "case {case} at {at}, streaming {streaming}: {copy:?}");
                assert_eq!(fences() - before, usize::from(streaming), "case {case} at {at}");
                *kinds.entry(kind.clone()).or_insert(0) += 1;
            }
        }
    }
    let rare: Vec<_> = kinds.iter().filter(|(_, count)| **count < cases.count / 200 && !cases.is_sample).collect();
    assert!(cases.count < 1000 || kinds.len() == KINDS && rare.is_empty(), "{kinds:?}");
}
