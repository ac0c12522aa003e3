use super::*;
use crate::notation::Notated;
use tensor_layout::map::ToIndexMap;

fn map(text: &str) -> IndexMap {
    text.parse::<Notated>().unwrap().to_index_map().unwrap()
}

/// Returns the dimension, the level and the size of each digit, the major digit first.
fn digits(text: &str, room: Room) -> Vec<(usize, usize, u64)> {
    let memory = MemoryOrder::new(&map(text), room).unwrap();
    memory.digits.iter().map(|digit| (digit.dimension, digit.level, digit.size)).collect()
}

#[test]
fn the_top_digit_fills_the_buffer_or_has_the_values_it_needs() {
    // The buffer has 8 elements, of which three are used.
    assert_eq!(digits("u8[3]{0:T(8)}", Room::Buffer), [(0, 0, 8)]);
    assert_eq!(digits("u8[3]{0:T(8)}", Room::Digits), [(0, 0, 3)]);
    // The array is 3 x 2 blocks of 2 x 4 elements. The buffer has room for 6 blocks, and with `L(64)` for 8.
    let blocks = [(0, 1, 3), (1, 1, 2), (0, 0, 2), (1, 0, 4)];
    assert_eq!(digits("u8[5,7]{1,0:T(2,4)}", Room::Buffer), blocks);
    assert_eq!(digits("u8[5,7]{1,0:T(2,4)}", Room::Digits), blocks);
    assert_eq!(digits("u8[5,7]{1,0:T(2,4)L(64)}", Room::Buffer)[0], (0, 1, 4));
    assert_eq!(digits("u8[5,7]{1,0:T(2,4)L(64)}", Room::Digits), blocks);
    // The buffer of 50 elements is not a whole number of blocks, so its end is padding.
    assert_eq!(digits("u8[5,7]{1,0:T(2,4)L(50)}", Room::Buffer), blocks);
}

/// Each block is followed by a gap of its own length, which becomes a digit of padding. The digit belongs to
/// another dimension, whose own digits all have smaller strides, and is above them.
#[test]
fn gaps_are_digits_of_a_dimension_that_counts_further_in() {
    let [once, twice] = ["u8((2,2),3):((3,12),1)", "u8((2,2,2),4):((4,16,64),1)"];
    assert_eq!(digits(once, Room::Digits), [(0, 1, 2), (1, 1, 2), (0, 0, 2), (1, 0, 3)]);
    assert_eq!(digits(twice, Room::Digits), [(0, 2, 2), (1, 2, 2), (0, 1, 2), (1, 1, 2), (0, 0, 2), (1, 0, 4)]);
    // If there is no other dimension, the padding belongs to the dimension of size 1 in front that a tile
    // longer than the rank covers.
    assert_eq!(digits("u8[8,3]{0,1:T(4)(8)}", Room::Buffer), [(1, 0, 3), (0, 1, 2), (2, 0, 2), (0, 0, 4)]);
}

#[test]
fn strides_that_do_not_fit_each_other_are_named() {
    for (text, stride) in [
        // A stride of 5 after a stride of 2 is an error, although two elements fit. A stride of 2 does not
        // hold three elements of stride 1.
        ("u8[2,2]:[5,2]", "a stride of 2 in dimension 1 does not fit the strides around it"),
        ("u8[2,3]:[2,1]", "a stride of 1 in dimension 1 does not fit the strides around it"),
        ("u8[2,3]:[4,0]", "dimension 1 is broadcast (stride 0)"),
    ] {
        let Err(error) = MemoryOrder::new(&map(text), Room::Digits) else { panic!("{text}") };
        assert!(error.to_string().contains(stride), "{text}: {error}");
    }
}

#[test]
fn every_level_of_a_dimension_has_one_place() {
    let mut gaps = 0;
    for text in [
        "u8[8,3]{0,1:T(4)(8)}",
        "u8[4,4]{1,0:T(2,2)(4)}",
        "u8[4,4]{1,0:T(2,2)(4,4)}",
        "u8[6]{0:T(4)(4,2)(3,1)}",
        "u8[4,2]{0,1:T(2,2)(4,4,4)}",
        "u8[2,4,2]{1,2,0:T(2)(4,2,4)}",
        "u8[2,4,2]{1,0,2:T(2,2)(4,2,4)}",
        "u8[4,4]{0,1:T(2)(8)(4,4)}",
        "u8[8]{0:T(4)(2,4)(4,4)}",
    ] {
        let memory = MemoryOrder::new(&map(text), Room::Buffer).unwrap();
        for dimension in 0..=map(text).sizes().len() {
            let own = memory.digits.iter().filter(|digit| digit.dimension == dimension);
            let mut levels: Vec<usize> = own.map(|digit| digit.level).collect();
            levels.sort_unstable();
            assert_eq!(levels, (0..memory.levels(dimension)).collect::<Vec<_>>(), "{text}: {dimension}");
        }
        gaps += memory.digits.iter().filter(|digit| digit.pads).count();
    }
    assert!(gaps > 6, "{gaps}");
}
