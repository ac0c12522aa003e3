use super::*;

/// Figure 3 of XLA's page on tiled layouts, and its example of `*`.
#[test]
fn places_of_the_page() {
    let figure = Tiling { sizes: vec![3, 5], minor_to_major: vec![1, 0], tiles: vec![vec![Some(2), Some(2)]], tail: 1 };
    assert_eq!(figure.offsets(), [0, 1, 4, 5, 8, 2, 3, 6, 7, 10, 12, 13, 16, 17, 20]);
    assert_eq!(figure.places(), 24);
    let tiles = vec![vec![None, None, Some(2), None, Some(3)]];
    let page = Tiling { sizes: vec![2, 7, 8, 11, 10], minor_to_major: vec![4, 3, 2, 1, 0], tiles, tail: 1 };
    // 112 x 110 in tiles of 2 x 3.
    assert_eq!(page.places(), 56 * 37 * 6);
    assert_eq!(page.offsets()[110], 3);
}
