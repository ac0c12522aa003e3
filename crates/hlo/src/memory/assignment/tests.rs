#![allow(clippy::arithmetic_side_effects, reason = "a test may panic")]

use super::*;

#[test]
fn lines_of_allocations() {
    let found = allocation(
        "3: size 512, color 2, page 0, parameter 1, shape |(f32[2], s8[])| at ShapeIndex {}, maybe-live-out:",
    );
    let found = found.unwrap();
    assert_eq!((found.bytes, found.space, found.is_argument, found.is_result), (512, 2, true, true));
    let found = allocation("14: size 48, output shape is |(f32[4], constant)|, maybe-live-out:").unwrap();
    assert_eq!((found.is_result, found.is_constant, found.is_argument), (true, false, false));
    assert!(allocation("3: size x").is_err() && allocation("").is_err());
    let found = value("12 while{2} (phi) @0> (size=65536,offset=8): f32[10]{0}").unwrap();
    assert_eq!((found.name.as_str(), found.bytes, found.offset), ("while{2} (phi)", 65_536, 8));
    assert!(value("12 while{2} @0> (size=65536").is_err());
}

#[test]
fn allocations_add_up_and_the_largest_values_are_kept() {
    // 37 and 120 have no common divisor, so the sizes are the numbers from 1 to 120, shuffled.
    let values: String = (0..120)
        .map(|i| format!(" value: <{i} v{i} @0> (size={},offset={i}): s8[1]{{0}}\n", i * 37 % 120 + 1))
        .collect();
    let dump = format!(
        "BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {{}}:
 value: <0 x @0> (size=64,offset=0): f32[16]{{0}}
allocation 1: size 100, parameter 1, shape |f32[25]| at ShapeIndex {{}}, maybe-live-out:
allocation 2: size 32, output shape is |f32[8]|, maybe-live-out:
allocation 3: size 8, constant:
allocation 4: size 7, color 1, preallocated-temp:
 value: <7 small @0> (size=2,offset=1): s8[2]{{0}}
 value: <8 equal @0> (size=2,offset=0): s8[2]{{0}}
allocation 5: size 1000, preallocated-temp:

{values}
Total bytes used: 1212
 value: <9 late @0> (size=999,offset=0): s8[999]{{0}}
"
    );
    let assignment = BufferAssignment::read(dump.as_bytes()).unwrap();
    assert_eq!((assignment.allocations(), assignment.unreadable()), (6, 0));
    assert_eq!(assignment.spaces().collect::<Vec<_>>(), [0, 1]);
    // Parameters take 64 + 100 bytes. Results take 100 + 32 bytes, and 100 of these are the second
    // parameter's. Temporaries take 1000 bytes. The peak is 164 + 132 - 100 + 1000 = 1196 bytes.
    let total = assignment.total(0);
    assert_eq!((total.argument_bytes, total.output_bytes, total.alias_bytes), (164, 132, 100));
    assert_eq!((total.temp_bytes, total.constant_bytes, total.peak_bytes), (1000, 8, 1196));
    assert_eq!((assignment.total(1).peak_bytes, assignment.total(2)), (7, MemoryTotal::default()));
    // The hundred largest of the 120 values. The value `late` after `Total bytes used` is in no allocation.
    let sizes: Vec<u64> = assignment.largest_temporaries(0).iter().map(|value| value.bytes).collect();
    assert_eq!(sizes, (21..=120).rev().collect::<Vec<_>>());
    // Values of equal size are ordered by their offsets.
    let names: Vec<_> = assignment.largest_temporaries(1).iter().map(|value| value.name.as_str()).collect();
    assert_eq!(names, ["equal", "small"]);
}
