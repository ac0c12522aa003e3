use super::super::memory_order::Room;
use super::*;
use tensor_layout::map::ToIndexMap;
use tensor_layout::tiled::ArrayShape;

fn found(text: &str, steps: &mut usize) -> Option<(Vec<usize>, Vec<Tile>)> {
    let map = text.parse::<ArrayShape>().unwrap().to_index_map().unwrap();
    search(map.sizes(), &MemoryOrder::new(&map, Room::Buffer).unwrap(), steps)
}

#[test]
fn no_more_tiles_are_tried_than_there_are_steps() {
    let mut steps = 0;
    assert_eq!(found("u8[2,3]{0,1}", &mut steps), None);
    // The order in which memory has the dimensions is tried first, so one step is enough to find this
    // spelling.
    steps = 1;
    assert_eq!(found("u8[2,3]{0,1}", &mut steps), Some((vec![1, 0], Vec::new())));
    assert_eq!(steps, 0);
    steps = 100;
    let tiles = vec![Tile::new(&[2, 2]).unwrap()];
    assert_eq!(found("u8[4,4]{1,0:T(2,2)}", &mut steps), Some((vec![0, 1], tiles)));
    // Each of the two dimension orders takes 5 steps: no tile, and one tile that moves 1, 2, 3 or all 4
    // digits.
    assert_eq!(steps, 100 - 2 * (1 + 4));
    // A spelling of three tiles takes more than 3 steps.
    assert!(found("u8[8]{0:T(4)(2,2)(2,1)}", &mut 16_384).is_some());
    assert_eq!(found("u8[8]{0:T(4)(2,2)(2,1)}", &mut 3), None);
}

/// Returns the digits in the order of memory, divided into dimensions in every way.
fn dimensions(digits: usize) -> Vec<Vec<Position>> {
    let single = |digit: usize| Position { dimension: digit, bound: 0, digits: [digit].into_iter().collect() };
    let orders = permutations(&(0..digits).map(single).collect::<Vec<_>>());
    let cut = |order: &[Position], cuts: usize| {
        let mut found: Vec<Position> = Vec::new();
        for (at, position) in order.iter().enumerate() {
            match found.last_mut() {
                Some(last) if cuts >> at & 1 == 0 => last.digits.extend_from_slice(&position.digits),
                _ => found.push(Position { dimension: found.len(), ..position.clone() }),
            }
        }
        found
    };
    // Each bit of `cuts` says whether a digit begins a dimension. Bit 0 does not count, because the first
    // digit always does.
    let cuts = (0..1_usize << digits).step_by(2);
    cuts.flat_map(|cuts| orders.iter().map(move |order| cut(order, cuts))).collect()
}

/// Whether the digits below `place` are in the order of memory, and also the digits from `place` on.
fn is_sorted(order: &[Position], place: usize) -> bool {
    let digits = || order.iter().flat_map(|position| &position.digits);
    digits().filter(|&&digit| digit < place).is_sorted() && digits().filter(|&&digit| digit >= place).is_sorted()
}

fn in_front(order: &[Position], place: usize) -> usize {
    order.iter().take_while(|position| position.digits.iter().all(|&digit| digit < place)).count()
}

/// Up to [`MOST_PERMUTED`] dimensions are tried in every order, each order once. The dimension of size 1 that
/// a tile longer than the rank covers is in front.
#[test]
fn all_orders_of_a_few_dimensions_are_tried_once() {
    for live in dimensions(4) {
        let all = permutations(&live);
        let tried = orders(&live, live.len(), 4);
        assert_eq!(tried.len(), all.len());
        assert!(all.iter().all(|order| tried.contains(order)));
        let new = live.len() - 1;
        let tried = orders(&live, new, 4);
        assert_eq!(tried.len(), all.iter().filter(|order| order[0].dimension == new).count());
        assert!(tried.iter().all(|order| order[0].dimension == new));
    }
    let many = dimensions(5).pop().unwrap();
    assert_eq!(many.len(), 5);
    assert!(orders(&many, 5, 5).len() <= 1 + 4 + 1);
}

#[test]
fn if_one_tile_can_move_the_digits_the_order_for_it_is_found() {
    let mut sorted = 0;
    for digits in 1..=5 {
        for live in dimensions(digits) {
            let orders = permutations(&live);
            for place in 1..digits {
                let possible = orders.iter().filter(|order| is_sorted(order, place));
                let Some(most) = possible.map(|order| in_front(order, place)).max() else { continue };
                let order = merged(&live, place).unwrap();
                assert!(is_sorted(&order, place), "{place}");
                // No other possible order has more dimensions that the tile does not touch.
                assert_eq!(in_front(&order, place), most, "{place}");
                assert!(orders.contains(&order));
                sorted += 1;
            }
        }
    }
    assert!(sorted > 1000, "{sorted}");
}
