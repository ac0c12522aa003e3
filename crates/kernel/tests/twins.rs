//! Random nests by random schedules at every level, vectors in plain Rust included: the same bytes as in safe
//! Rust.

use std::mem::MaybeUninit;

use strided_copy::nest::{
    Axis, BitInterleave, Direction, MicroKernel, MicroTile, Nest, NestLoop, PackedWords, Plane, Stride, WidthChange,
    WidthRow,
};
use strided_copy::{Available, Call, Destination, Level, Panels, Schedule, Stage, StreamFence, run_uninit};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(most).unwrap()).unwrap()
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A few, many or a number next to a round one.
    fn extent(&mut self) -> usize {
        match self.below(6) {
            0 => self.pick(&[1, 2, 3, 4, 8, 16, 32]),
            1 => self.pick(&[15, 17, 31, 33, 63, 64, 65, 127, 128, 129, 256, 257, 512, 513]),
            2 => 1 + self.below(2100),
            3 => 1 + self.below(200),
            _ => 1 + self.below(40),
        }
    }

    /// A pitch of rows of this many bytes: dense, or with a gap, or a multiple of a line, of pages.
    fn pitch(&mut self, row: usize) -> usize {
        match self.below(6) {
            0 | 1 => row,
            2 => row + 1 + self.below(70),
            3 => row.next_multiple_of(64),
            4 if row < 4096 => row.next_multiple_of(4096),
            _ => row.next_multiple_of(64) + 64 * self.below(3),
        }
    }

    /// An axis whose places are at least `least` bytes apart; a table now and then.
    fn axis(&mut self, extent: usize, least: usize) -> Axis {
        let pitch = self.pitch(least);
        match self.below(5) {
            0 => Axis::reversed(extent, pitch),
            1 if extent.is_multiple_of(2) && extent > 2 => {
                let own = Axis::new(extent / 2, pitch);
                own.inside(&[(pitch * (extent / 2) + self.pick(&[0, 7, 64]), 2)])
            }
            _ => Axis::new(extent, pitch),
        }
    }
}

fn plane(random: &mut Random) -> MicroKernel {
    let unit = random.pick(&[1, 1, 2, 2, 4, 4, 4, 8, 8, 16, 16, 3, 5, 6, 12, 20, 24, 32, 40, 64, 100, 128]);
    let mut columns = random.extent();
    let mut rows = random.extent();
    while unit * columns * rows > 300_000 {
        (columns, rows) = if columns > rows { (columns / 3 + 1, rows) } else { (columns, rows / 3 + 1) };
    }
    let micro_tile = match unit {
        2 if random.below(6) == 0 => Some(MicroTile { rows: 2, columns: 1, element: 1 }),
        4 if random.below(4) == 0 => Some(MicroTile { rows: 2, columns: 2, element: 1 }),
        8 if random.below(4) == 0 => Some(MicroTile { rows: 2, columns: 2, element: 2 }),
        16 if random.below(4) == 0 => Some(MicroTile { rows: 4, columns: 2, element: 2 }),
        _ => None,
    };
    let (source, destination) = (random.axis(rows, columns * unit), random.axis(columns, rows * unit));
    MicroKernel::Transpose(Plane { unit, columns: destination, rows: source, micro_tile })
}

fn count(random: &mut Random, run: usize, most: usize) -> Stride {
    let extent = if random.below(3) == 0 { 1 } else { 1 + random.below(most) };
    let source = if random.below(10) == 0 { 0 } else { random.pitch(run) };
    Stride { extent, source, destination: random.pitch(run) }
}

fn kernel(random: &mut Random) -> MicroKernel {
    let signed = random.below(2) == 0;
    let change = if random.below(2) == 0 { WidthChange::Pack } else { WidthChange::Unpack { signed } };
    let bits = random.pick(&[1, 2, 4]);
    match random.below(14) {
        0 | 1 => {
            let run = random.extent();
            MicroKernel::Copy { run, count: count(random, run, 40) }
        }
        2 => {
            let run = 1 + random.below(100);
            let offsets: Vec<_> = (0..1 + random.below(9)).rev().map(|i| (i * 30, i * (run + 3))).collect();
            let span = offsets.len() * (run + 3);
            MicroKernel::CopyTable { run, offsets, count: count(random, span, 6) }
        }
        3 | 4 => {
            let (rows, row) = (random.pick(&BitInterleave::ROWS), random.extent());
            let direction = if signed { Direction::Interleave } else { Direction::Deinterleave };
            MicroKernel::InterleaveBits(BitInterleave { bits, rows, row, pitch: random.pitch(row), direction })
        }
        5 => {
            let (unit, extent) = (1 + random.below(16), random.extent());
            MicroKernel::Reverse { unit, extent, count: count(random, unit * extent, 20) }
        }
        6 => MicroKernel::ChangeWidth(WidthRow { bits, change, packed: random.extent() }),
        7 => {
            let words = random.extent();
            MicroKernel::ChangeWords(PackedWords { bits, change, words, pitch: random.pitch(words) })
        }
        _ => plane(random),
    }
}

fn nest(random: &mut Random) -> Nest {
    let kernel = kernel(random);
    let (mut source, mut destination) = kernel.span();
    let mut loops = Vec::new();
    for _ in 0..random.below(3) {
        let extent = (1 + random.below(6)).min(400_000 / destination.max(source) + 1);
        // Runs of neighbouring iterations may follow each other.
        let step = if random.below(3) == 0 { destination.next_multiple_of(64) } else { destination };
        let stride = Stride { extent, source: source + random.pick(&[0, 0, 5, 64]), destination: step };
        let reversed = random.below(4) == 0;
        loops.insert(0, if reversed { NestLoop::Reversed(stride) } else { NestLoop::Strided(stride) });
        source += (extent - 1) * stride.source;
        destination += (extent - 1) * stride.destination;
    }
    // Where a loop goes backwards, the first iteration is the last on the source.
    let turned: usize = loops.iter().map(|step| step.turned().0).sum();
    let start = if random.below(2) == 0 { 0 } else { random.below(70) };
    Nest::new(kernel, loops, turned + random.below(3), start)
}

/// A schedule that there is a kernel for.
fn schedule(random: &mut Random, kernel: &MicroKernel, streaming: bool) -> Schedule {
    loop {
        let joined = random.below(2) == 0;
        let lines = random.pick(&[2, 4, 8, 16]);
        let stage = match random.below(4) {
            0 => Stage::None,
            1 => Stage::Lines(lines),
            2 => Stage::Gather(lines),
            _ => Stage::Continue { lines, joined },
        };
        let lines_fit = match kernel {
            MicroKernel::Transpose(plane) => streaming && plane.columns.are_multiples_of(64),
            _ => false,
        };
        let height = match (kernel, stage) {
            (MicroKernel::Transpose(plane), Stage::Continue { .. }) if random.below(3) > 0 => {
                (usize::from(lines) * 64 / plane.unit).min(plane.rows.extent)
            }
            _ => random.pick(&[16, 32, 64, 100, 256, 512, 1024]),
        };
        let mut flag = || random.below(2) == 0;
        let (prefetch, permuted, lines_in_source_order) = (flag(), flag(), flag());
        let near = flag();
        let panels = Panels {
            height: u32::try_from(height).unwrap(),
            width: random.pick(&[16, 64, 128, 512]),
            kept: 1024,
            distance: 1 + u32::try_from(random.below(4)).unwrap(),
            stage,
            lines_fit,
            near,
        };
        let schedule = Schedule {
            prefetch,
            permuted,
            lines_in_source_order,
            few_columns: random.pick(&[0, 4, 16]),
            run_piece: random.pick(&[256, 1024]),
            joined_iterations: random.pick(&[0, 2, 3, 4, 6]),
            prefetch_distance: random.pick(&[0, 64, 8192]),
            panels,
        };
        if schedule.is_for(kernel, streaming) {
            return schedule;
        }
    }
}

#[test]
fn every_level_copies_what_safe_rust_does() {
    let cases = std::env::var("STRIDED_COPY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let levels: Vec<Level> = Level::ALL
        .into_iter()
        .chain([Level::Software32, Level::Software64])
        .filter(|&level| level != Level::Portable && level.is_available())
        .collect();
    let mut filled = 0;
    for case in 0..cases {
        let random = &mut Random(case);
        let nest = nest(random);
        let (mut from, mut to) = (1, 1);
        while !nest.reach().is_inside(from, usize::MAX) {
            from *= 2;
        }
        while !nest.reach().is_inside(usize::MAX, to) {
            to *= 2;
        }
        // Buffers as long as the nest reaches, to the byte.
        let least = |most: usize, fits: &dyn Fn(usize) -> bool| {
            let (mut low, mut high) = (most / 2, most);
            while low + 1 < high {
                let middle = low + (high - low) / 2;
                (low, high) = if fits(middle) { (low, middle) } else { (middle, high) };
            }
            high
        };
        from = least(from, &|length| nest.reach().is_inside(length, usize::MAX));
        to = least(to, &|length| nest.reach().is_inside(usize::MAX, length));
        let source: Vec<u8> = (0..from).map(|_| random.next().to_le_bytes()[7]).collect();
        let shift = random.below(64);
        let mut memory = vec![0xa5; to + 64];
        let mut run = |level: Available, streaming: bool, schedule: &Schedule| {
            memory.fill(0xa5);
            let destination = Destination::from(&mut memory[shift..shift + to]);
            StreamFence::scope(streaming, level, |streaming| {
                Call { source: &source, destination, streaming, level }.run(&nest, schedule);
            });
            memory.clone()
        };
        let portable = Available::up_to(Level::Portable);
        let expected = run(portable, false, &Schedule::PLAIN);
        // What is left alone differs from `expected`.
        let mut other = vec![MaybeUninit::new(0x5a); to];
        if let Ok(bytes) = run_uninit((&nest, &Schedule::PLAIN), &source, &mut other, (None, portable)) {
            assert_eq!(bytes, &expected[shift..shift + to], "case {case}: {nest:?}");
            filled += 1;
        }
        for &level in &levels {
            let level = Available::up_to(level);
            for number in 0..8 {
                let streaming = number % 2 == 1;
                let schedule = schedule(random, nest.kernel(), streaming);
                let same = run(level, streaming, &schedule) == expected;
                let level = level.get();
                assert!(same, "case {case} at {level}, streaming {streaming}, {schedule:?}: {nest:?}");
            }
        }
    }
    assert!(filled > cases / 50, "{filled} of {cases} nests fill what they reach");
}
