//! The shortest spelling is compared with every possible spelling: all orders of the dimensions and all tiles
//! of some levels, each written out literally. No spelling that puts the elements at the same places has
//! fewer tiles, or as many tiles in a shorter text.

use std::collections::HashMap;

use crate::literal::physical;
use tensor_layout::tiled::{Layout, Tile};
use tensor_layout::{ArrayShape, DataType, ToIndexMap};
use tensor_layout_text::spell;

type Places = Vec<Option<usize>>;

/// All tiles of up to this many entries; `*` is -1.
fn tiles(entries: &[i64], longest: usize) -> Vec<Tile> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let longer: Vec<Vec<i64>> =
            all[from..].iter().flat_map(|tile| entries.iter().map(|&entry| [&tile[..], &[entry]].concat())).collect();
        from = all.len();
        all.extend(longer);
    }
    all.iter()
        .filter(|tile| tile.last().is_some_and(|&last| last > 0))
        .map(|tile| Tile::try_from(&tile[..]).unwrap())
        .collect()
}

fn orders(rank: usize) -> Vec<Vec<usize>> {
    let Some(last) = rank.checked_sub(1) else { return vec![Vec::new()] };
    let with_last =
        |order: Vec<usize>| (0..rank).map(move |at| [&order[..at], &[last], &order[at..]].concat()).collect::<Vec<_>>();
    orders(last).into_iter().flat_map(with_last).collect()
}

/// The shortest layout for each set of places, among the layouts with these orders and up to this many of
/// these tiles, and the number of layouts. A layout that is not `wanted` gets no more tiles.
fn shortest(
    sizes: &[u64],
    orders: &[Vec<usize>],
    tiles: &[Tile],
    levels: usize,
    wanted: impl Fn(&Places) -> bool,
) -> (HashMap<Places, ArrayShape>, usize) {
    let mut found: HashMap<Places, ArrayShape> = HashMap::new();
    let mut count = 0;
    for order in orders {
        let mut lists: Vec<Vec<Tile>> = vec![Vec::new()];
        for _ in 0..=levels {
            let mut longer = Vec::new();
            for list in lists {
                let layout = Layout::new(order).unwrap().with_tiles(&list);
                let shape = ArrayShape::new(DataType::U8, sizes, layout).unwrap();
                let places = physical(&shape);
                if !wanted(&places) {
                    continue;
                }
                count += 1;
                let shorter = |other: &ArrayShape| length(&shape) < length(other);
                if found.get(&places).is_none_or(shorter) {
                    found.insert(places, shape);
                }
                longer.extend(tiles.iter().map(|tile| [&list[..], std::slice::from_ref(tile)].concat()));
            }
            lists = longer;
        }
    }
    (found, count)
}

fn length(shape: &ArrayShape) -> (usize, usize) {
    (shape.layout().tiles().len(), shape.to_string().len())
}

/// Checks that no layout is shorter than the spelling.
fn check(found: &HashMap<Places, ArrayShape>) {
    for (places, shape) in found {
        let spelled = spell(&shape.to_index_map().unwrap()).unwrap();
        assert_eq!(&physical(&spelled), places, "{shape}: {spelled}");
        assert!(length(&spelled) <= length(shape), "{shape}: {spelled}");
    }
}

fn orders_and_tiles(sizes: &[u64], entries: &[i64], longest: usize, levels: usize, dense: bool) -> (usize, usize) {
    let elements = usize::try_from(sizes.iter().product::<u64>()).unwrap();
    let wanted = |places: &Places| !dense || places.len() == elements;
    let (found, count) = shortest(sizes, &orders(sizes.len()), &tiles(entries, longest), levels, wanted);
    check(&found);
    (count, found.len())
}

#[test]
fn of_one_dimension_without_padding_no_tiles_are_fewer_or_shorter() {
    for (sizes, entries, longest, levels, expected) in [
        (&[][..], &[-1, 1][..], 3, 2, (57, 1)),
        (&[8], &[1, 2, 4], 2, 4, (645, 5)),
        (&[12], &[1, 2, 3, 4, 6], 2, 3, (396, 11)),
        (&[16], &[1, 2, 4, 8], 2, 3, (378, 12)),
        (&[1, 4], &[-1, 1, 2, 4], 3, 2, (759, 2)),
    ] {
        assert_eq!(orders_and_tiles(sizes, entries, longest, levels, true), expected, "{sizes:?}");
    }
}

#[test]
fn of_two_dimensions_without_padding_no_tiles_are_fewer_or_shorter() {
    for (sizes, entries, longest, levels, expected) in
        [(&[4, 4], &[-1, 1, 2, 4][..], 3, 2, (2198, 16)), (&[4, 6], &[1, 2, 3, 4], 2, 3, (621, 12))]
    {
        assert_eq!(orders_and_tiles(sizes, entries, longest, levels, true), expected, "{sizes:?}");
    }
}

#[test]
fn of_three_dimensions_without_padding_no_tiles_are_fewer_or_shorter() {
    for (sizes, entries, longest, levels, expected) in
        [(&[2, 4, 2], &[1, 2, 4][..], 3, 2, (1182, 18)), (&[2, 1, 4], &[1, 2, 4], 3, 2, (583, 6))]
    {
        assert_eq!(orders_and_tiles(sizes, entries, longest, levels, true), expected, "{sizes:?}");
    }
}

#[test]
fn of_many_dimensions_no_tile_is_shorter() {
    let sizes = [4, 2, 1, 3, 2, 2];
    let orders: Vec<Vec<usize>> = (0..6).map(|turn| (0..6).map(|at| (at * 5 + turn) % 6).collect()).collect();
    let (found, count) = shortest(&sizes, &orders, &tiles(&[1, 2], 5), 1, |places| places.len() == 96);
    check(&found);
    assert_eq!((count, found.len()), (169, 42));
}

#[test]
fn no_tile_over_partial_blocks_is_shorter() {
    for (sizes, entries, expected) in [
        (&[5][..], &[2, 3, 4, 5, 7, 16][..], (7, 5)),
        (&[3, 5], &[1, 2, 3, 4, 5, 6, 8], (114, 54)),
        (&[3, 2, 5], &[1, 2, 3, 4], (510, 221)),
    ] {
        assert_eq!(orders_and_tiles(sizes, entries, sizes.len(), 1, false), expected, "{sizes:?}");
    }
}
