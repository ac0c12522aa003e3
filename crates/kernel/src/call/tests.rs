use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::level::Level;
use crate::nest::{Axis, MicroTile, Plane, Stride};
use crate::schedule::{Panels, Stage};

use super::*;

/// Does the nest run with a source and a destination of this many bytes?
fn runs(nest: &Nest, source: usize, destination: usize, level: Level) -> bool {
    runs_by(nest, (source, destination), level, (Schedule::PLAIN, false))
}

/// The same by a schedule, past the cache or through it.
fn runs_by(
    nest: &Nest,
    (source, destination): (usize, usize),
    level: Level,
    (schedule, past): (Schedule, bool),
) -> bool {
    let (source, mut memory, level) = (vec![0; source], vec![0; destination], Available::up_to(level));
    StreamFence::scope(past, level, |streaming| {
        let destination = Destination::from(&mut memory[..]);
        let mut call = Call { source: &source, destination, streaming, level };
        catch_unwind(AssertUnwindSafe(|| call.run(nest, &schedule))).is_ok()
    })
}

/// Buffers that end one byte early, or a source that is left in front.
#[test]
fn a_planned_nest_that_leaves_its_buffers_is_not_run() {
    let kernel = MicroKernel::Copy { run: 4, count: Stride { extent: 3, source: 5, destination: 6 } };
    let reversed = |start| {
        let step = NestLoop::Reversed(Stride { extent: 3, source: 20, destination: 30 });
        Nest::new(kernel.clone(), [step].into_iter().collect(), start, 7)
    };
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let nest = reversed(40);
        let (source, destination) = (40 + 2 * 5 + 4, 7 + 60 + 2 * 6 + 4);
        assert!(runs(&nest, source, destination, level), "{level}");
        assert!(!runs(&nest, source - 1, destination, level), "{level}");
        assert!(!runs(&nest, source, destination - 1, level), "{level}");
        assert!(!runs(&reversed(39), source, destination, level), "{level}");
        let empty = MicroKernel::Copy { run: 0, count: Stride::ONCE };
        assert!(!runs(&Nest::new(empty, [].into_iter().collect(), 0, 0), 9, 9, level), "{level}");
    }
}

#[test]
#[should_panic(expected = "a loop nest leaves its buffers")]
fn a_nest_that_leaves_its_buffers_is_not_run() {
    let kernel = MicroKernel::Copy { run: 4, count: Stride { extent: 3, source: 4, destination: usize::MAX / 2 } };
    let mut memory = [0; 12];
    let mut call = Call {
        source: &[0; 12],
        destination: Destination::from(&mut memory[..]),
        streaming: None,
        level: Available::up_to(Level::Avx512),
    };
    call.run_at(&kernel, &[], (0, 0), &Schedule::PLAIN);
}

/// Kernels have registers and stages for units of two lines, and shuffles for tiles that fill 16 bytes.
#[test]
fn a_unit_or_a_tile_that_no_kernel_is_for_is_not_run() {
    let plane = |unit, micro_tile| {
        let (columns, rows) = (Axis::new(20, 20 * unit), Axis::new(20, 20 * unit));
        Nest::new(MicroKernel::Transpose(Plane { unit, columns, rows, micro_tile }), Vec::new(), 0, 0)
    };
    let tile = |rows, columns, element| Some(MicroTile { rows, columns, element });
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let fits = |unit, tile| runs(&plane(unit, tile), 1 << 20, 1 << 20, level);
        assert!(fits(128, None) && fits(8, tile(2, 4, 1)), "{level}");
        assert!(!fits(0, None) && !fits(129, None) && !fits(200, None) && !fits(2000, None), "{level}");
        assert!(!fits(8, tile(2, 2, 1)) && !fits(6, tile(3, 2, 1)) && !fits(32, tile(4, 8, 1)), "{level}");
    }
}

/// Stages have room for some lines of some rows, and what is left of a run for less than a line.
#[test]
fn a_schedule_that_no_kernel_is_for_is_not_run() {
    let plane = |unit: usize, rows: usize| {
        let (columns, rows) = (Axis::new(40, rows * unit), Axis::new(rows, 40 * unit));
        Nest::new(MicroKernel::Transpose(Plane { unit, columns, rows, micro_tile: None }), Vec::new(), 0, 0)
    };
    let by = |stage, height, width| {
        let panels = Panels { stage, height, width, kept: 40, ..Schedule::PLAIN.panels };
        Schedule { panels, ..Schedule::PLAIN }
    };
    let continued = |lines, joined| Stage::Continue { lines, joined };
    for level in Level::ALL.into_iter().filter(|&level| level != Level::Portable && level.is_available()) {
        let fits = |unit, rows, schedule| runs_by(&plane(unit, rows), (1 << 20, 1 << 20), level, (schedule, true));
        assert!(fits(4, 300, by(continued(16, false), 256, 64)) && fits(4, 300, by(Stage::Lines(8), 256, 64)));
        for (stage, height, width) in [
            (Stage::None, 0, 64),
            (Stage::None, 64, 0),
            // More lines than a stage has, or none.
            (Stage::Lines(17), 256, 64),
            (Stage::Lines(0), 256, 64),
            (Stage::Gather(0), 300, 40),
            (Stage::Gather(17), 300, 40),
            // More rows than lines, less than a line, columns that end inside a stage, rows that do not
            // follow each other.
            (continued(16, false), 257, 64),
            (continued(16, false), 15, 64),
            (continued(16, false), 256, 63),
            (continued(16, true), 256, 64),
        ] {
            assert!(!fits(4, 300, by(stage, height, width)), "{level} {stage:?} {height} {width}");
        }
        // Rows are gathered through the cache alone.
        let gather = by(Stage::Gather(8), 300, 40);
        let past = Schedule { panels: Panels { lines_fit: true, ..gather.panels }, ..gather };
        assert!(fits(4, 320, gather) && !fits(4, 320, past) && !fits(3, 300, gather), "{level}");
        // Runs have a stage of their own, and no other.
        let past_the_cache =
            Schedule { panels: Panels { lines_fit: true, ..Schedule::PLAIN.panels }, ..Schedule::PLAIN };
        assert!(!fits(3, 300, by(Stage::Lines(8), 256, 64)) && !fits(3, 300, past_the_cache), "{level}");
        // A stage of one row of three bytes each is less than a line.
        assert!(fits(3, 2, by(continued(16, true), 2, 64)) && !fits(3, 1, by(continued(16, true), 1, 64)), "{level}");
    }
}

/// Non-temporal stores are ordered by a fence alone.
#[test]
fn a_schedule_that_stores_past_the_cache_is_not_run_without_a_fence() {
    let (columns, rows) = (Axis::new(40, 320 * 4), Axis::new(320, 40 * 4));
    let nest = Nest::new(MicroKernel::Transpose(Plane { unit: 4, columns, rows, micro_tile: None }), Vec::new(), 0, 0);
    let panels = Panels { height: 256, kept: 40, width: 64, ..Schedule::PLAIN.panels };
    for level in Level::ALL.into_iter().filter(|&level| level != Level::Portable && level.is_available()) {
        for panels in [
            Panels { lines_fit: true, ..panels },
            Panels { lines_fit: true, stage: Stage::Lines(8), ..panels },
            Panels { stage: Stage::Continue { lines: 16, joined: false }, ..panels },
        ] {
            let schedule = Schedule { panels, ..Schedule::PLAIN };
            let fits = |past| runs_by(&nest, (1 << 20, 1 << 20), level, (schedule, past));
            assert!(fits(true) && !fits(false), "{level} {panels:?}");
        }
    }
}
