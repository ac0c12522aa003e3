//! Copies that are refused: outside of their buffers, or without code for their kernels.

use std::panic::{AssertUnwindSafe, catch_unwind};

use strided_copy::kernel::{
    Axis, Kernel, Loop, MicroTile, Panels, Plane, PlaneRuns, Rows, RunOrder, Runs, Stage, Stride, Transpose,
};
use strided_copy::{Access, Available, Copy, Destination, Level, Misfit};

fn levels() -> impl Iterator<Item = Available> {
    Level::ALL.into_iter().filter(|level| level.is_available()).map(Available::up_to)
}

fn runs(run: usize, count: Stride) -> Kernel {
    Kernel::Runs { run, count, by: Runs::Lines { ahead: 0 } }
}

/// Whether the copy runs with a source and a destination of these lengths.
fn is_run(copy: &Copy, source: usize, destination: usize) -> bool {
    let (source, mut memory) = (vec![0; source], vec![0; destination]);
    catch_unwind(AssertUnwindSafe(|| copy.run(&source, Destination::from(&mut memory[..])))).is_ok()
}

/// The buffers end one byte early, and the starts leave bytes of the source or the destination in front.
#[test]
fn a_copy_that_leaves_its_buffers_is_not_run() {
    let kernel = runs(4, Stride { extent: 3, source: 5, destination: 6 });
    let copy = |level, start, source, destination| {
        let step = Loop::Strided(Stride { extent: 3, source, destination });
        Copy::new(kernel.clone(), vec![step], start, Access::PLAIN, level)
    };
    for level in levels() {
        let down = copy(level, (40, 7), -20, 30).unwrap();
        let (source, destination) = (40 + 2 * 5 + 4, 7 + 60 + 2 * 6 + 4);
        assert_eq!(down.reach(), (source, destination));
        assert!(is_run(&down, source, destination));
        assert!(!is_run(&down, source - 1, destination) && !is_run(&down, source, destination - 1));
        assert_eq!(copy(level, (39, 7), -20, 30).unwrap_err(), Misfit::Reach);
        assert_eq!(copy(level, (0, 59), 20, -30).unwrap_err(), Misfit::Reach);
        assert_eq!(copy(level, (0, 60), 20, -30).unwrap().reach(), (54, 60 + 2 * 6 + 4));
        assert_eq!(copy(level, (0, 0), isize::MAX, 30).unwrap_err(), Misfit::Reach);
    }
}

/// Registers and staging buffers have room for units of at most two lines. Shuffles need tiles that fill 16
/// bytes.
#[test]
fn there_is_no_copy_without_code_for_it() {
    let plane = |unit, micro_tile, by| {
        let axis = || Axis::new(20, 20 * isize::try_from(unit).unwrap());
        Kernel::Transpose { plane: Plane { unit, columns: axis(), rows: axis(), micro_tile }, by }
    };
    let tile = |rows, columns, element| Some(MicroTile { rows, columns, element });
    let pieces = Transpose::Runs(PlaneRuns { order: RunOrder::Pieces(2), ahead: 0, unaligned: None });
    let panel = Transpose::Panel { scattered: false };
    for level in levels() {
        let misfit = |kernel| Copy::new(kernel, Vec::new(), (0, 0), Access::PLAIN, level).err();
        assert_eq!(misfit(plane(128, None, pieces)), None);
        assert_eq!(misfit(plane(8, tile(2, 4, 1), panel)), None);
        for unit in [0, 129, 200, 2000] {
            assert_eq!(misfit(plane(unit, None, pieces)), Some(Misfit::Form));
        }
        for (unit, tile) in [(8, tile(2, 2, 1)), (6, tile(3, 2, 1)), (32, tile(4, 8, 1))] {
            assert_eq!(misfit(plane(unit, tile, panel)), Some(Misfit::Form));
        }
        let code = |kernel| {
            let expected = level.has_vectors().then_some(Misfit::Code);
            assert_eq!(misfit(kernel), expected);
        };
        code(plane(3, None, panel));
        code(plane(16, None, Transpose::Units));
        code(plane(2, None, Transpose::Squares));
        code(plane(4, None, Transpose::Interleave(Rows::Direct)));
        code(Kernel::Runs { run: 5, count: Stride::ONCE, by: Runs::Words });
        code(Kernel::Runs { run: 257, count: Stride::ONCE, by: Runs::Halves });
        code(Kernel::Runs { run: 63, count: Stride::ONCE, by: Runs::Scattered });
    }
}

/// Each condition of `Panels::fit` is broken once. A staging buffer has room for a number of lines of a
/// number of rows, and for leftovers of less than a line.
#[test]
fn panels_that_do_not_fit_are_refused() {
    let plane = |unit: usize, rows: usize| {
        let (columns, pitch) = (Axis::new(40, (rows * unit).cast_signed()), (40 * unit).cast_signed());
        Plane { unit, columns, rows: Axis::new(rows, pitch), micro_tile: None }
    };
    let by = |stage, height, width| Panels {
        height,
        width,
        kept: 40,
        ahead: 1,
        stage,
        whole_lines: false,
        near: false,
        scattered: false,
    };
    let continued = |lines, joined| Stage::Continue { lines, joined };
    let level = Available::up_to(Level::Avx512);
    if !level.has_vectors() {
        return;
    }
    let fits = |unit, rows, panels: Panels, streaming| {
        let kernel = Kernel::Transpose { plane: plane(unit, rows), by: Transpose::Panels(panels) };
        let access = Access { streaming, ..Access::PLAIN };
        Copy::new(kernel, Vec::new(), (0, 0), access, level).map(|_| ()) != Err(Misfit::Code)
    };
    assert!(fits(4, 300, by(continued(16, false), 256, 64), true) && fits(4, 300, by(Stage::Lines(8), 256, 64), true));
    for (stage, height, width) in [
        (Stage::None, 0, 64),
        (Stage::None, 64, 0),
        // The staging buffer has no lines, or more lines than there is room for.
        (Stage::Lines(17), 256, 64),
        (Stage::Lines(0), 256, 64),
        // There are more rows than lines, a panel shorter than a line, columns that end inside a staging
        // buffer, and rows with a gap.
        (continued(16, false), 257, 64),
        (continued(16, false), 15, 64),
        (continued(16, false), 256, 63),
        (continued(16, true), 256, 64),
    ] {
        assert!(!fits(4, 300, by(stage, height, width), true), "{stage:?} {height} {width}");
    }
    // Registers do not hold units of 3 bytes. Of the staging buffers, only `Stage::Continue` is for such
    // units.
    let whole_lines = Panels { whole_lines: true, ..by(Stage::None, 256, 40) };
    assert!(!fits(3, 300, by(Stage::Lines(8), 256, 64), true) && !fits(3, 300, whole_lines, true));
    // The staging buffer takes 16 destination rows of these units. With one source row, they have less than a
    // line together.
    assert!(fits(3, 2, by(continued(16, true), 2, 64), true) && !fits(3, 1, by(continued(16, true), 1, 64), true));
    // Lines that are collected are stored through the cache.
    assert!(!fits(4, 320, Panels { whole_lines: true, ..by(Stage::Lines(8), 256, 64) }, true));
    // A fence orders non-temporal stores. It runs only if the copy streams.
    for panels in [whole_lines, by(continued(16, false), 256, 64)] {
        assert!(fits(4, 320, panels, true) && !fits(4, 320, panels, false), "{panels:?}");
    }
}
