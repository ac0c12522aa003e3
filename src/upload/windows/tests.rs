use super::*;

#[test]
fn windows_cover_the_range_keep_the_limits_and_cut_no_element() {
    let mut several = 0;
    for (alignment, size_multiple, max_binding) in [(16, 4, 64), (16, 4, 70), (256, 4, 512), (1, 1, 5), (4, 12, 24)] {
        let mut limits = DeviceLimits::none();
        (limits.offset_alignment, limits.size_multiple, limits.max_binding) = (alignment, size_multiple, max_binding);
        for bits in [1, 4, 8, 12, 16, 24, 32, 64, 128] {
            for (start, length) in (0..40).flat_map(|start| (0..150).step_by(7).map(move |length| (start, length))) {
                let range = start..start + length * 3;
                let element = whole_elements(bits);
                let Ok(windows) = Windows::new(range.clone(), bits, &limits) else {
                    let least = piece_alignment(element, &limits);
                    assert!(!start.is_multiple_of(element) || max_binding < least, "{range:?} of {bits} bits");
                    continue;
                };
                let mut pieces = windows.pieces;
                let (step, number) = (pieces.step(), pieces.number());
                let from = pieces.next().map_or(start, |piece| piece.start);
                let list: Vec<Window> = windows.collect();
                assert_eq!(u64::try_from(list.len()), Ok(number));
                several += u32::from(number > 1);
                let mut at = range.start;
                for (position, window) in (0..).zip(&list) {
                    let Window { bound, bytes, base } = window;
                    assert_eq!(*base, bytes.start - bound.start);
                    assert!(bytes.start == at && bytes.end > at);
                    assert!(bound.start.is_multiple_of(alignment) && bound.start <= bytes.start);
                    assert!(bound.end >= bytes.end && bound.end - bytes.end < size_multiple);
                    assert!((bound.end - bound.start).is_multiple_of(size_multiple));
                    assert!(bound.end - bound.start <= max_binding);
                    assert_eq!(bound.start, from + position * step);
                    assert!(bytes.clone().all(|byte| (byte - from) / step == position));
                    assert!(number == 1 || bytes.start.is_multiple_of(element) || bytes.start == start);
                    at = bytes.end;
                }
                assert_eq!(at, range.end.max(range.start));
            }
        }
    }
    assert!(several > 1000, "{several}");
}

#[test]
fn the_end_of_the_address_space_is_an_error_and_no_trap() {
    let limits = DeviceLimits::webgpu();
    let error = Windows::new(u64::MAX - 10..u64::MAX, 8, &limits).unwrap_err();
    assert_eq!(error.code(), "overflow");
    let last = Windows::new(u64::MAX - 300..u64::MAX - 3, 8, &limits).unwrap().last().unwrap();
    assert_eq!((last.bound, last.bytes.start), (u64::MAX - 511..u64::MAX - 3, u64::MAX - 300));
}
