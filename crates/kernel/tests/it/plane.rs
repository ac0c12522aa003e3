//! Planes and their axes as data.

use strided_copy::kernel::{Axis, Kernel, MicroTile, Plane, Transpose};
use strided_copy::{Access, Available, Copy, Level};

#[test]
fn pitches_are_constant_where_rows_go_forwards_by_one_stride() {
    let constant = |rows, columns| Plane { unit: 4, columns, rows, micro_tile: None }.has_constant_pitches();
    let (strided, reversed) = (|| Axis::new(20, 100), || Axis::new(20, -100));
    assert!(constant(strided(), strided()));
    assert!(!constant(reversed(), strided()) && !constant(strided(), reversed()));
    assert!(!constant(strided().inside(&[(7, 3)]), strided()) && !constant(strided(), strided().inside(&[(7, 3)])));
}

fn plane(unit: usize, rows: Axis, columns: Axis) -> Plane {
    Plane { unit, columns, rows, micro_tile: None }
}

#[test]
fn a_plane_spans_its_last_row_and_its_last_column() {
    let span = |plane: Plane| {
        let kernel = Kernel::Transpose { plane, by: Transpose::Units };
        Copy::new(kernel, Vec::new(), (0, 0), Access::PLAIN, Available::up_to(Level::Portable)).unwrap().reach()
    };
    let plain = plane(4, Axis::new(3, 100), Axis::new(5, 40));
    assert_eq!((plain.source_row(), plain.destination_row()), (20, 12));
    assert_eq!(span(plain), (2 * 100 + 20, 4 * 40 + 12));
    // Rows in reverse order have the span of rows in order. A single row begins at 0.
    assert_eq!(span(plane(4, Axis::new(3, -100), Axis::new(5, -40))), (220, 172));
    assert_eq!(span(plane(4, Axis::new(1, 100), Axis::new(5, 40))), (20, 164));
    let fused = plane(4, Axis::new(3, 100).inside(&[(1000, 2)]), Axis::new(5, 40));
    assert_eq!(span(fused), (1000 + 200 + 20, 160 + 24));
}

#[test]
fn rows_are_interleaved_into_a_dense_one() {
    // Four rows of 100 units, 800 bytes apart, are interleaved into rows of 4 units.
    let into_one = plane(4, Axis::new(4, 800), Axis::new(100, 16));
    assert_eq!((into_one.interleaves(), into_one.deinterleaves()), (Some(800), None));
    let backwards = plane(4, Axis::new(4, -800), Axis::new(100, 16));
    assert_eq!(backwards.interleaves(), Some(-800));
    // These planes do not interleave: a gap on the destination, columns in reverse order, and rows without a
    // constant pitch.
    assert_eq!(plane(4, Axis::new(4, 800), Axis::new(100, 20)).interleaves(), None);
    assert_eq!(plane(4, Axis::new(4, 800), Axis::new(100, -16)).interleaves(), None);
    assert_eq!(plane(4, Axis::new(2, 800).inside(&[(5000, 2)]), Axis::new(100, 16)).interleaves(), None);
    // The reverse of the first plane deinterleaves.
    let out_of_one = plane(4, Axis::new(100, 16), Axis::new(4, 800));
    assert_eq!((out_of_one.interleaves(), out_of_one.deinterleaves()), (None, Some(800)));
    assert_eq!(plane(4, Axis::new(100, 20), Axis::new(4, 800)).deinterleaves(), None);
    // A plane that is dense on both sides interleaves and deinterleaves.
    let both = plane(4, Axis::new(4, 400), Axis::new(100, 16));
    assert_eq!((both.interleaves(), both.deinterleaves()), (Some(400), Some(16)));
}

#[test]
fn an_axis_says_where_each_index_lies() {
    let offsets = |axis: &Axis| (0..axis.extent).map(|i| axis.offset(i)).collect::<Vec<_>>();
    for (axis, listed, loops) in [
        (Axis::new(3, 10), vec![0, 10, 20], vec![(10, 3)]),
        (Axis::new(3, -10), vec![20, 10, 0], vec![(10, 3)]),
        (Axis::new(2, 10).inside(&[(100, 3)]), vec![0, 10, 100, 110, 200, 210], vec![(10, 2), (100, 3)]),
        (Axis::new(2, -10).inside(&[(100, 2)]), vec![10, 0, 110, 100], vec![(10, 2), (100, 2)]),
        (Axis::new(3, 10).inside(&[(7, 1)]), vec![0, 10, 20], vec![(10, 3), (7, 1)]),
        (
            Axis::new(1, 10).inside(&[(1, 2), (5, 2), (100, 5)]),
            (0..5).flat_map(|i| [0, 1, 5, 6].map(|step| 100 * i + step)).collect(),
            vec![(10, 1), (1, 2), (5, 2), (100, 5)],
        ),
    ] {
        assert_eq!(offsets(&axis), listed);
        assert_eq!(axis.loops().collect::<Vec<_>>(), loops);
    }
    let axes = [Axis::new(3, 10), Axis::new(3, -10), Axis::new(3, 10).inside(&[(50, 2)])];
    assert_eq!(axes.each_ref().map(Axis::stride), [Some(10), None, None]);
    assert_eq!(axes.map(|axis| axis.pitch()), [Some(10), Some(-10), None]);
}

/// A row pitch of whole pages puts all rows into one set of the cache.
#[test]
fn multiples_are_those_of_every_loop() {
    for (axis, multiples) in [
        (Axis::new(3, 4096), true),
        (Axis::new(3, 4096 + 64), false),
        (Axis::new(3, -2 * 4096), true),
        (Axis::new(3, -2048), false),
        (Axis::new(3, 4096).inside(&[(1 << 20, 2)]), true),
        (Axis::new(3, 4096).inside(&[(100, 2)]), false),
        (Axis::new(3, 64).inside(&[(4096, 2)]), false),
    ] {
        assert_eq!(axis.are_multiples_of(4096), multiples, "{axis:?}");
    }
}

#[test]
fn a_micro_tile_is_transposed_by_one_shuffle() {
    let tile = MicroTile { rows: 2, columns: 4, element: 1 };
    assert_eq!((tile.bytes(), tile.shuffle()), (8, [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]));
    let pairs = MicroTile { rows: 2, columns: 2, element: 2 };
    assert_eq!((pairs.bytes(), pairs.shuffle()), (8, [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]));
    let whole = MicroTile { rows: 2, columns: 2, element: 4 };
    assert_eq!((whole.bytes(), whole.shuffle()), (16, [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15]));
}
