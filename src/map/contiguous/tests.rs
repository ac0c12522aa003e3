use super::super::tests::{indices, map};
use super::*;
use crate::checked::gcd;
use crate::{BufferTensorDesc, DataType, ToIndexMap};

fn strided(sizes: &[u64], strides: &[u64], base: u64) -> IndexMap {
    let desc = BufferTensorDesc::new(DataType::U8, sizes, Some(strides)).unwrap();
    desc.with_base_offset(base).unwrap().to_index_map().unwrap()
}

/// Layouts of every class, and strides that repeat, overlap, interleave and leave gaps.
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

/// The offsets of a part, the first index first.
fn places(map: &IndexMap, ranges: &[Range<u64>]) -> Vec<u64> {
    let inside =
        indices(map.sizes()).into_iter().filter(|index| index.iter().zip(ranges).all(|(i, range)| range.contains(i)));
    inside.map(|index| map.offset(&index).unwrap()).collect()
}

/// The piece that these offsets are, if each is there once and nothing between them.
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

/// A row begins at its first element: how far apart these are, and of what they are multiples.
#[test]
fn rows_lie_as_their_offsets_say() {
    for map in maps() {
        for (axis, &size) in map.sizes().iter().enumerate() {
            let rows: Vec<Vec<u64>> = (0..size)
                .map(|row| {
                    let ranges = map
                        .sizes()
                        .iter()
                        .enumerate()
                        .map(|(dim, &size)| if dim == axis { row..row + 1 } else { 0..size });
                    places(&map, &ranges.collect::<Vec<_>>())
                })
                .collect();
            let steps: Vec<Option<u64>> = rows.windows(2).map(|pair| pair[1][0].checked_sub(pair[0][0])).collect();
            let expected = RowAccess {
                in_one_piece: rows.iter().all(|row| piece(row.clone()).is_some()),
                stride: if steps.windows(2).all(|pair| pair[0] == pair[1]) {
                    steps.first().copied().unwrap_or(Some(0))
                } else {
                    None
                },
                alignment_in_bits: 8 * rows.iter().map(|row| row[0]).fold(0, gcd),
            };
            assert_eq!(map.row_access(axis), Ok(expected), "{map:?} along {axis}");
        }
    }
}

/// A million elements of a Fused layout are looked at one by one, and no more.
#[test]
fn searches_end_after_a_million_elements() {
    let (most, more) = (map("u8[1024,1024]{1,0:T(*,7)(5)}"), map("u8[1025,1024]{1,0:T(*,7)(5)}"));
    assert_eq!(most.contiguous_part(&[0..1024, 0..1024]), Ok(None));
    assert_eq!(more.contiguous_part(&[0..1025, 0..1024]).unwrap_err().code(), "too_hard");
    assert!(!most.row_access(0).unwrap().in_one_piece);
    assert_eq!(more.row_access(0).unwrap_err().code(), "too_hard");
}
