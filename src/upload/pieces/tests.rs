use super::*;

#[test]
fn pieces_cover_their_range_and_keep_the_limits() {
    for start in [0, 16, 64] {
        for length in 0..200 {
            for max in 0..80 {
                for alignment in [1, 4, 16] {
                    let range = start..start + length;
                    let Ok(pieces) = Pieces::new(range.clone(), max, alignment) else {
                        assert!(length > max && max < alignment.max(1));
                        continue;
                    };
                    let list: Vec<_> = pieces.collect();
                    assert_eq!(u64::try_from(list.len()), Ok(pieces.number()));
                    let mut at = start;
                    for piece in list {
                        assert_eq!(piece.start, at);
                        assert!(piece.start % alignment == 0 && piece.end > at && piece.end - at <= max);
                        at = piece.end;
                    }
                    assert_eq!(at, range.end);
                }
            }
        }
    }
}

#[test]
fn the_end_of_the_address_space_is_reached() {
    let pieces = Pieces::new(0..u64::MAX, 1 << 62, 256).unwrap();
    assert_eq!(pieces.collect::<Vec<_>>().last(), Some(&(3 << 62..u64::MAX)));
    assert_eq!(pieces.count(), 4);
}
