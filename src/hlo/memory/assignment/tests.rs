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
