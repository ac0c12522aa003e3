use super::super::tests::{indices, map};
use super::*;
use crate::{BufferTensorDesc, DataType, ToIndexMap};

fn strided(sizes: &[u64], strides: &[u64], base: u64) -> IndexMap {
    let desc = BufferTensorDesc::new(DataType::U8, sizes, Some(strides)).unwrap();
    desc.with_base_offset(base).unwrap().to_index_map().unwrap()
}

/// Returns layouts of every class, and strides that repeat, overlap, interleave and leave gaps.
fn maps() -> Vec<IndexMap> {
    let tiles = [
        "(1)",
        "(2,2)",
        "(3)",
        "(4)(3)",
        "(2,3)(2,1)",
        "(*,4)(3)",
        "(*,5)(2)",
        "(*,9)(2)",
        "(2)(*,3)",
        "(2,3)(*,2,1)",
        "(2,3)(*,4)",
    ];
    let mut maps = Vec::new();
    for (sizes, orders) in
        [("4,6", ["1,0", "0,1"]), ("6,4", ["1,0", "0,1"]), ("1,7", ["1,0", "0,1"]), ("3,2,4", ["2,1,0", "1,2,0"])]
    {
        for (tiles, order) in tiles.iter().flat_map(|tiles| orders.map(move |order| (tiles, order))) {
            maps.push(map(&format!("u8[{sizes}]{{{order}:T{tiles}}}")));
        }
    }
    for strides in 0..216 {
        maps.push(strided(&[3, 2, 4], &[strides / 36, strides / 6 % 6, strides % 6], strides % 5));
    }
    maps
}

/// Returns the offsets of the elements inside `ranges`, in row-major order of the indices.
fn places(map: &IndexMap, ranges: &[Range<u64>]) -> Vec<u64> {
    let inside =
        indices(map.sizes()).into_iter().filter(|index| index.iter().zip(ranges).all(|(i, range)| range.contains(i)));
    inside.map(|index| map.offset(&index).unwrap()).collect()
}

/// Returns the range that these offsets fill, or `None` if an offset is repeated or missing.
fn piece(mut places: Vec<u64>) -> Option<Range<u64>> {
    places.sort_unstable();
    let Some(&first) = places.first() else { return Some(0..0) };
    places
        .iter()
        .zip(first..)
        .all(|(&place, expected)| place == expected)
        .then(|| first..first + u64::try_from(places.len()).unwrap())
}

#[test]
fn a_part_is_one_piece_where_its_offsets_are() {
    for map in maps() {
        let sizes = map.sizes();
        let ranges = |size| (0..=size).flat_map(move |start| (start..=size).map(move |end| start..end));
        for (first, last) in
            ranges(sizes[0]).flat_map(|first| ranges(sizes[sizes.len() - 1]).map(move |last| (first.clone(), last)))
        {
            for middle in [0..1, 1..2, 0..2].into_iter().take(if sizes.len() == 3 { 3 } else { 1 }) {
                let mut part = vec![first.clone(), last.clone()];
                if sizes.len() == 3 {
                    part.insert(1, middle);
                }
                assert_eq!(map.contiguous_part(&part), Ok(piece(places(&map, &part))), "{map:?} {part:?}");
            }
        }
    }
}

/// In a Fused layout, up to a million elements are visited one by one. A larger part is `undecided`.
#[test]
fn searches_end_after_a_million_elements() {
    let (most, more) = (map("u8[1024,1024]{1,0:T(*,7)(5)}"), map("u8[1025,1024]{1,0:T(*,7)(5)}"));
    assert_eq!(most.contiguous_part(&[0..1024, 0..1024]), Ok(None));
    assert_eq!(more.contiguous_part(&[0..1025, 0..1024]).unwrap_err().code(), "undecided");
}
