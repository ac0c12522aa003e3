use super::super::memory_order::Room;
use super::super::wanted::Wanted;
use super::*;
use crate::notation::Notated;
use tensor_layout::map::{IndexMap, ToIndexMap};

/// Returns views of tiled arrays with whole and partial tiles, digits in every order, gaps that are padding,
/// and sizes of 1.
fn views() -> Vec<IndexMap> {
    let arrays = [
        "u8[4,6]{1,0:T(2,3)}",
        "u8[4,6]{0,1:T(3,2)(2,1)}",
        "u8[8,8]{1,0:T(4,4)(2,2)(2,1)}",
        "u8[5,7]{1,0:T(2,4)}",
        "u8[5,7]{1,0:T(4,4)(2,1)}",
        "u8[3,4]{1,0:T(8)}",
        "u8[2,4,6]{2,0,1:T(2,2,3)}",
        "u8[2,4,6]{2,1,0:T(2,2)(1,2)}",
        "u8[12]{0:T(6)(2)}",
        "u8[3]{0:T(8)}",
        "u8[1,3]{1,0:T(4,2)}",
        "u8[2,2]{1,0:T(2,2,2)}",
    ];
    let mut views = Vec::new();
    for text in arrays {
        let map = text.parse::<Notated>().unwrap().to_index_map().unwrap();
        let (rank, count) = (map.sizes().len(), map.element_count());
        let turned = (0..rank).map(|turn| map.permute(&(0..rank).map(|dim| (dim + turn) % rank).collect::<Vec<_>>()));
        for map in turned.map(Result::unwrap) {
            // The elements are cut into two dimensions in every way, and into two dimensions with one of size
            // 1 between them.
            let cuts = (1..=count).filter(|cut| count.is_multiple_of(*cut)).map(|cut| [cut, count / cut]);
            views.extend(cuts.flat_map(|[a, b]| [map.reshape(&[a, b]), map.reshape(&[a, 1, b])]).flatten());
            views.push(map);
        }
    }
    views
}

#[test]
fn any_order_of_digits_is_reached() {
    let (mut sorted, mut whole) = (0, 0);
    for map in views() {
        for room in [Room::Buffer, Room::Digits] {
            let Ok(memory) = MemoryOrder::new(&map, room) else { continue };
            let (order, tiles) = radix_sort(map.sizes(), &memory).unwrap();
            // The layout of these tiles must put every element where the map puts it.
            let wanted = Wanted::new(&map);
            let filled = wanted.spelling(&order, &tiles);
            whole += u32::from(filled.is_some());
            let spelled = filled.or_else(|| wanted.padded_to_the_buffer()?.spelling(&order, &tiles));
            assert!(spelled.is_some() || room == Room::Digits, "{map:?} by {order:?} and {tiles:?}");
            sorted += u32::from(spelled.is_some());
            // Sorting takes at most one tile for each bit of the number of digits, and cutting one for each
            // further digit of a dimension.
            let cuts = (0..=map.sizes().len()).map(|dimension| memory.levels(dimension)).max().unwrap_or(0);
            let bits = memory.digits.len().next_power_of_two().trailing_zeros();
            assert!(tiles.len() <= cuts + usize::try_from(bits).unwrap(), "{map:?}: {tiles:?}");
        }
    }
    assert!(sorted > 200 && whole > 150, "{sorted} views, {whole} of them without padding at the end");
}

fn sorted(text: &str) -> (Vec<usize>, Vec<Tile>) {
    let map = text.parse::<Notated>().unwrap().to_index_map().unwrap();
    radix_sort(map.sizes(), &MemoryOrder::new(&map, Room::Buffer).unwrap()).unwrap()
}

#[test]
fn dimensions_that_only_change_places_need_no_tile() {
    assert_eq!(sorted("u8[2,3,5]{0,2,1}"), (vec![1, 2, 0], vec![]));
    assert_eq!(sorted("u8[2,1,3,1]{1,0,2,3}"), (vec![1, 3, 2, 0], vec![]));
}

/// The layout has three dimensions a, b, c of two digits each, and c is padded from 3 to 4. The first tile
/// cuts off the minor digits. The second tile cuts the major digit of c off the block that pads it: a1 b1 (1)
/// a0 b0 c0, c1 (1) (1) (1). The order in memory is a1 b1 c1 a0 b0 c0. The digits at odd positions in memory,
/// b1, a0 and c0, move first. Dimensions of size 1 that remain are joined to a neighbour.
#[test]
fn leftovers_of_size_1_are_swallowed() {
    let (order, tiles) = sorted("u8[4,4,3]{2,1,0:T(2,2,2)}");
    assert_eq!(order, [0, 1, 2]);
    let tiles: Vec<String> = tiles.iter().map(ToString::to_string).collect();
    assert_eq!(tiles[..3], ["(2,2,2)", "(2,1,1,1)", "(2,*,2,1,2,1,*,*,1)"]);
}
