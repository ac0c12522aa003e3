use tensor_layout::map::Mode;

use super::*;
use tensor_layout::element::DataType;

#[test]
fn no_more_orders_are_tried_than_there_may_be() {
    // There are 33 * 32 orders of the two minor dimensions among 33, which is more than the limit.
    let digits: Vec<Vec<Mode>> = (0..33).rev().map(|place| vec![Mode::new(2, 1 << place)]).collect();
    let map = IndexMap::from_digits(DataType::U8, 8, &digits).unwrap();
    assert_eq!(orders(&map, None, 2).len(), MOST_ORDERS);
    let map = IndexMap::from_digits(DataType::U8, 8, &digits[1..]).unwrap();
    assert_eq!(orders(&map, None, 2).len(), 32 * 31);
}
