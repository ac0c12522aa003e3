use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::level::Level;
use crate::machine::Machine;
use crate::nest::{Axis, MicroTile, Plane, Stride};

use super::*;

/// Does the nest run with a source and a destination of so many bytes?
fn runs(nest: &Nest, source: usize, destination: usize, level: Level) -> bool {
    let (source, mut memory) = (vec![0; source], vec![0; destination]);
    let mut call = Call {
        source: &source,
        destination: Destination::from(&mut memory[..]),
        streaming: None,
        prefetch: false,
        level: Available::up_to(level),
        knobs: &Machine::this().knobs,
    };
    catch_unwind(AssertUnwindSafe(|| call.run(nest))).is_ok()
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
        prefetch: false,
        level: Available::up_to(Level::Avx512),
        knobs: &Machine::this().knobs,
    };
    call.run_at(&kernel, &[], (0, 0));
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
