//! Boxes that are copied together, against the same ones after each other.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use proptest::prelude::*;

use super::super::super::cpu_family::CpuFamily;
use super::super::super::plan::machine::Knobs;
use super::super::super::plan::passes::Passes;
use super::super::super::plan::program::planned_in;
use super::super::super::plan::together::Parts;
use super::*;

use crate::map::ToIndexMap;
use crate::notation::Notated;

/// The destination when all boxes are planned together that can be, in parts of about `most` elements, or
/// none, and how many entries the plan has.
fn copied(from: &str, to: &str, bits: u64, most: Option<u64>) -> (Vec<u8>, usize) {
    let map = |text: &str| text.parse::<Notated>().unwrap().to_index_map().unwrap();
    let (from, to) = (map(from), map(to));
    let knobs = Knobs { streaming_from: 0, ..Knobs::of_family(CpuFamily::Neutral) };
    let Passes { before, last: mut program } = Passes::new(&from, &to, &[], &knobs).unwrap();
    assert!(before.is_empty(), "several passes");
    let plan = |copy| PlannedBox::new(copy, program.widths, program.memory(), &program.knobs);
    let boxes: Vec<CopyBox> = program.boxes.iter().collect();
    program.prepared = match most {
        Some(most) => {
            planned_in(Parts { most, apart: 1 }, boxes, program.widths, (program.memory(), &program.knobs)).unwrap()
        }
        None => boxes.into_iter().map(plan).collect::<Result<_, _>>().unwrap(),
    };
    let bytes = |elements: u64| usize::try_from(elements * bits / 8).unwrap();
    let source: Vec<u8> = (0..bytes(from.physical_elements())).map(|i| (i % 251) as u8 + 1).collect();
    let mut destination = vec![0; bytes(to.physical_elements())];
    let mut heard = Vec::new();
    let written = run(&program, &source, (&mut destination[..]).into(), &mut |done| heard.push(done)).unwrap();
    assert_eq!(written, from.element_count() * bits / 8);
    assert!(heard.is_sorted() && heard.last() == Some(&written));
    (destination, program.prepared.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn boxes_together_copy_what_they_copy_one_by_one(
        sizes in prop::collection::vec(1_u64..24, 3),
        tile in (2_u64..6, 2_u64..9),
        most in 1_u64..200,
        reads_tiles in any::<bool>(),
        kind in 0_usize..3,
    ) {
        let (name, bits) = [("u8", 8), ("f32", 32), ("c128", 128)][kind];
        let shape = format!("{name}[{},{},{}]", sizes[0], sizes[1], sizes[2]);
        let (rows, tiles) = (format!("{shape}{{2,1,0}}"), format!("{shape}{{2,1,0:T({},{})}}", tile.0, tile.1));
        let (from, to) = if reads_tiles { (tiles, rows) } else { (rows, tiles) };
        prop_assert_eq!(copied(&from, &to, bits, Some(most)).0, copied(&from, &to, bits, None).0);
    }
}

#[test]
fn parts_and_what_is_left_of_them() {
    // 67 channels: 64 and 3. 23 pixels in parts of 5, and 3 more, of two images.
    let (from, to) = ("f32[2,67,1,23]:NHWC", "f32[2,67,1,23]:nChw16c");
    let (together, entries) = copied(from, to, 32, Some(5 * 64));
    let (alone, boxes) = copied(from, to, 32, None);
    assert_eq!((entries, boxes), (1, 2));
    assert!(together == alone);
}
