#![allow(clippy::arithmetic_side_effects, clippy::integer_division, reason = "a test may panic")]

use super::super::super::cpu_family::CpuFamily;

use super::*;

fn plane(unit: usize, rows: Axis, columns: Axis) -> Plane {
    Plane { unit, columns, rows, micro_tile: None }
}

/// Through the cache, 16 rows of numbers of 4 bytes, a page apart, are more than 8 ways hold.
#[test]
fn rows_that_share_a_set_of_the_cache_go_by_way_of_a_stage() {
    let knobs = Knobs::of_family(CpuFamily::Neutral);
    let stage = |rows, columns, unit| {
        let kernel = MicroKernel::Transpose(plane(unit, Axis::new(64, rows), Axis::new(256, columns)));
        schedule(&kernel, &[], Memory { streaming: false, prefetch: false }, &knobs).panels.stage
    };
    assert_eq!(stage(4096, 256, 4), Stage::Gather(8), "source rows");
    assert_eq!(stage(1024, 4096, 4), Stage::Lines(4), "destination rows");
    assert_eq!([stage(1024, 1024, 4), stage(4096 - 64, 256, 4), stage(4096, 4096, 16)], [Stage::None; 3]);
}

/// [`Staged::ByPitches`].
#[test]
fn panels_are_staged_where_lines_one_by_one_conflict() {
    let knobs = Knobs::of_family(CpuFamily::Zen4);
    let staged = |unit: usize, source, destination, register: usize| {
        staged_run(&plane(unit, Axis::new(512, source), Axis::new(512, destination)), &knobs, register / unit) > 0
    };
    let of_units = |source, destination, register| [1, 2, 4, 8].map(|unit| staged(unit, source, destination, register));
    // Registers of a line: whole pages both ways, and narrow units to rows that are half pages apart.
    assert_eq!(of_units(8192, 8192, 64), [true; 4]);
    assert_eq!(of_units(8192 + 64, 8192, 64), [true, true, false, false]);
    assert_eq!(of_units(8192 + 64, 6144, 64), [true, true, false, false]);
    assert_eq!(of_units(8192, 8192 + 64, 64), [false; 4]);
    // Of half a line: everything else, but for wide units.
    assert_eq!(of_units(8192, 8192, 32), [true, false, false, false]);
    assert_eq!(of_units(8192 + 64, 8192, 32), [true, true, true, false]);
    assert_eq!(of_units(8192, 8192 + 64, 32), [true, true, true, false]);
    // A destination row has to be as long as a run.
    let short = plane(1, Axis::new(255, 8192 + 64), Axis::new(512, 8192));
    assert_eq!(staged_run(&short, &knobs, 64), 0);
}

#[test]
fn panels_are_staged_as_the_family_wants_it() {
    let rows = Axis::new(512, 8192);
    let constant = plane(1, rows.clone(), Axis::new(512, 8192));
    let table = plane(1, rows, Axis::new(8, 1).inside(&[(4096, 64)]));
    for (family, runs) in [
        (CpuFamily::Neutral, [0, 0, 0]),
        (CpuFamily::Zen5, [0, 0, 0]),
        (CpuFamily::Zen4, [STAGED_RUN, STAGED_RUN, 0]),
        (CpuFamily::SapphireRapids, [STAGED_RUN, 0, STAGED_TABLE_RUN]),
    ] {
        let knobs = Knobs::of_family(family);
        let staged =
            [staged_run(&constant, &knobs, 64), staged_run(&constant, &knobs, 15), staged_run(&table, &knobs, 64)];
        assert_eq!(staged, runs, "{family}");
    }
}
