use super::*;

#[test]
fn parts_have_places_and_indices() {
    let shape: Shape = "(f32[3], (token[], s8[4]), ())".parse().unwrap();
    let mut arrays = Interner::default();
    let parts = Parts::of(&shape, &mut arrays).unwrap();
    assert_eq!((0..parts.len()).map(|place| parts.count(place)).collect::<Vec<_>>(), [6, 1, 3, 1, 1, 1]);
    assert_eq!((parts.elements(0), parts.elements(2), parts.elements(5)), (&[1, 2, 5][..], &[3, 4][..], &[][..]));
    for (place, index) in [(0, &[][..]), (1, &[0]), (2, &[1]), (3, &[1, 0]), (4, &[1, 1]), (5, &[2])] {
        assert_eq!(parts.index_of(place), index);
        assert_eq!(parts.at(index), Some(place));
    }
    assert_eq!((parts.at(&[3]), parts.at(&[0, 0]), parts.len()), (None, None, 6));
    assert_eq!((parts.kind(4), arrays.len()), (PartKind::Array(1), 2));
}
