//! Tensors over ranks, against slices and concatenations of ndarray.

use std::fmt::Write;

use ndarray::{ArrayD, Axis, Slice, concatenate};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_transfers::{Sharded, Shards, TransferLimits, reshard};

use super::literal::each_byte;

/// Random numbers below a limit, from a seed that stays.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*, Vigna 2014.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

/// A split of a tensor, and the elements of each rank.
type Split = (Shards, Vec<ArrayD<u16>>, String);

fn split(whole: &ArrayD<u16>, dice: &mut Dice) -> Split {
    let sizes: Vec<u64> = whole.shape().iter().map(|&size| size as u64).collect();
    let (mut shards, mut ranks, mut steps) = (Shards::of(&sizes).unwrap(), vec![whole.clone()], String::new());
    for _ in 0..1 + dice.below(2) {
        let axis = dice.below(sizes.len());
        let even = ranks.iter().all(|rank| rank.shape()[axis] == ranks[0].shape()[axis]);
        let (size, over) = (ranks[0].shape()[axis], 1 + dice.below(4));
        let take = |rank: &ArrayD<u16>, ranges: &[std::ops::Range<usize>]| {
            let parts: Vec<_> =
                ranges.iter().map(|range| rank.slice_axis(Axis(axis), Slice::from(range.clone()))).collect();
            concatenate(Axis(axis), &parts).unwrap()
        };
        let each = |size: usize, over: usize, rank: usize| {
            let each = size.div_ceil(over);
            (rank * each).min(size)..((rank + 1) * each).min(size)
        };
        let divide =
            |ranks: &[ArrayD<u16>], over: usize, ranges: &dyn Fn(usize, usize) -> Vec<std::ops::Range<usize>>| {
                let all = ranks.iter().flat_map(|rank| (0..over).map(move |number| (rank, number)));
                all.map(|(rank, number)| take(rank, &ranges(number, rank.shape()[axis]))).collect::<Vec<_>>()
            };
        match dice.below(4) {
            0 => {
                shards = shards.replicated(over).unwrap();
                ranks = ranks.iter().flat_map(|rank| vec![rank.clone(); over]).collect();
                let _ = write!(steps, " replicated {over}");
            }
            1 if even => {
                let first = dice.below(size + 1);
                shards = shards.cut(axis, &[first as u64, (size - first) as u64]).unwrap();
                ranks = divide(&ranks, 2, &|number, size| vec![if number == 0 { 0..first } else { first..size }]);
                let _ = write!(steps, " cut {axis} at {first}");
            }
            // Heads of 1 to 3 rows: queries, and fewer keys and values.
            2 if even && size >= 4 => {
                let keys = 1 + dice.below(2);
                let queries = size - 2 * keys;
                let over = [1, 2, 4][dice.below(3)];
                let parts = [(queries as u64, 1), (keys as u64, 1), (keys as u64, 1)];
                let Ok(fused) = shards.fused(axis, &parts, over) else {
                    assert!(queries == 0 || queries < over && over % queries > 0, "{parts:?} over {over}");
                    continue;
                };
                shards = fused;
                ranks = divide(&ranks, over, &|number, _| {
                    let mut start = 0;
                    let part = |units: usize| {
                        let own = if units < over {
                            number * units / over..number * units / over + 1
                        } else {
                            each(units, over, number)
                        };
                        let own = start + own.start..start + own.end;
                        start += units;
                        own
                    };
                    [queries, keys, keys].map(part).to_vec()
                });
                let _ = write!(steps, " fused {axis} {parts:?} over {over}");
            }
            _ => {
                shards = shards.split(axis, over).unwrap();
                ranks = divide(&ranks, over, &|number, size| vec![each(size, over, number)]);
                let _ = write!(steps, " split {axis} over {over}");
            }
        }
    }
    (shards, ranks, steps)
}

/// A layout for these sizes: any order of axes, perhaps with padded rows, tiles, or room for more indices.
fn layout(sizes: &[u64], dice: &mut Dice) -> IndexMap {
    let mut sizes = sizes.to_vec();
    if dice.below(4) == 0 {
        let axis = dice.below(sizes.len());
        sizes[axis] += 1 + dice.below(3) as u64;
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, dice.below(place + 1));
    }
    let tiles = ["", ":T(4)", ":T(2,1)", ":T(2,3)", ":T(4,2)(2,1)"][dice.below(5)];
    if dice.below(2) == 0 {
        let list = |numbers: &[String]| numbers.join(",");
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let order: Vec<String> = order.iter().map(usize::to_string).collect();
        let text = format!("u16[{}]{{{}{tiles}}}", list(&sizes), list(&order));
        return text.parse::<ArrayShape>().unwrap().to_index_map().unwrap();
    }
    let (mut strides, mut next, padding) = (vec![0; sizes.len()], 1, dice.below(3) as u64);
    for (depth, &axis) in order.iter().enumerate() {
        strides[axis] = next;
        next = next * sizes[axis].max(1) + if depth == 0 { padding } else { 0 };
    }
    BufferTensorDesc::new(DataType::U16, &sizes, Some(&strides)).unwrap().to_index_map().unwrap()
}

/// Writes the elements of a rank where its layout has them.
fn stored(map: &IndexMap, elements: &ArrayD<u16>) -> Vec<Option<u16>> {
    let mut buffer = vec![None; map.physical_elements() as usize];
    for (index, &element) in elements.indexed_iter() {
        let index: Vec<u64> = (0..elements.ndim()).map(|axis| index[axis] as u64).collect();
        buffer[map.offset(&index).unwrap() as usize] = Some(element);
    }
    buffer
}

#[test]
fn random_pairs_of_splits_and_layouts_write_every_byte_once() {
    let (mut wrong, mut missing, mut twice, mut transfers) = (0, 0, 0, 0);
    for case in 0..1000_u64 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (case + 1));
        let sizes: Vec<usize> = (0..1 + dice.below(4)).map(|_| 1 + dice.below(9)).collect();
        let elements = sizes.iter().product::<usize>() as u16;
        let whole = ArrayD::from_shape_vec(sizes.clone(), (1..=elements).collect()).unwrap();
        let [(from, sources, first), (to, destinations, second)] = [split(&whole, &mut dice), split(&whole, &mut dice)];
        let name = format!("case {case}: {sizes:?}{first} ->{second}");
        assert_eq!((from.ranks(), to.ranks()), (sources.len(), destinations.len()), "{name}");
        for (rank, elements) in destinations.iter().enumerate() {
            assert!(to.sizes(rank).iter().map(|&size| size as usize).eq(elements.shape().iter().copied()), "{name}");
        }
        let from = from.with_layouts(|_, sizes| Ok(layout(sizes, &mut dice))).unwrap();
        let to: Sharded = to.with_layouts(|_, sizes| Ok(layout(sizes, &mut dice))).unwrap();
        let executor =
            [TransferLimits::ranges(), TransferLimits::with_loops(1), TransferLimits::any()][dice.below(3)].clone();
        let buffers: Vec<_> = sources.iter().zip(from.layouts()).map(|(rank, map)| stored(map, rank)).collect();
        let expected: Vec<_> = destinations.iter().zip(to.layouts()).map(|(rank, map)| stored(map, rank)).collect();
        let mut found: Vec<Vec<Option<u16>>> = expected.iter().map(|rank| vec![None; rank.len()]).collect();
        for pair in reshard(&from, &to, &executor).unwrap() {
            transfers += pair.transfers.count();
            each_byte(&pair.transfers, |source, destination| {
                // Elements are whole: their first bytes stand for them.
                if source % 2 == 0 {
                    let place = &mut found[pair.to][destination as usize / 2];
                    twice += usize::from(place.is_some());
                    *place = Some(buffers[pair.from][source as usize / 2].unwrap_or(0));
                }
            });
        }
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            missing += usize::from(found.is_none() && expected.is_some());
            wrong += usize::from(found.is_some() && found != expected);
        }
        assert_eq!((wrong, missing, twice), (0, 0, 0), "{name}");
    }
    println!("1000 pairs, {transfers} transfers: {wrong} elements wrong, {missing} missing, {twice} written twice");
}

#[test]
fn replicas_give_in_turn() {
    let cache = Shards::of(&[8, 4]).unwrap();
    let packed = |_: usize, sizes: &[u64]| BufferTensorDesc::packed(DataType::U8, sizes);
    let from = cache.replicated(2).unwrap().with_layouts(packed).unwrap();
    let to = cache.split(0, 4).unwrap().with_layouts(packed).unwrap();
    // A refusal says what it counts.
    let blocks = |_: usize, sizes: &[u64]| BufferTensorDesc::packed(DataType::U8, &[sizes, &[1]].concat());
    let error = cache.replicated(2).unwrap().with_layouts(blocks).unwrap_err().to_string();
    assert_eq!(error, "the number of axes of a rank's layout must be 2, one for each axis, but is 3");
    let line = Shards::of(&[8]).unwrap().replicated(2).unwrap().with_layouts(packed).unwrap();
    let error = reshard(&from, &line, &TransferLimits::any()).unwrap_err().to_string();
    assert_eq!(error, "the number of axes of the destination must be 2, one for each axis, but is 1");
    let pairs = reshard(&from, &to, &TransferLimits::any()).unwrap();
    assert_eq!(pairs.iter().map(|pair| (pair.from, pair.to)).collect::<Vec<_>>(), [(0, 0), (1, 1), (0, 2), (1, 3)]);
}

/// What `_StridedShard(0, split_factor)._split_tensor(arange(size), ranks, with_padding=False)` gives in
/// PyTorch 2.15.0: the size, the chunks that `torch.chunk` makes of it, and the rows of each rank.
#[test]
fn strided_shards_are_those_of_pytorch() {
    type Answer = (u64, &'static [u64], &'static [&'static [u8]]);
    let answers: [Answer; 6] = [
        (5, &[3, 2], &[&[0, 3], &[1, 4], &[2], &[]]),
        (12, &[6, 6], &[&[0, 1, 6, 7], &[2, 3, 8, 9], &[4, 5, 10, 11], &[]]),
        (7, &[3, 3, 1], &[&[0, 1, 3, 4, 6], &[2, 5]]),
        (3, &[2, 1], &[&[0, 2], &[1], &[], &[]]),
        (10, &[3, 3, 3, 1], &[&[0, 3, 6, 9], &[1, 4, 7], &[2, 5, 8]]),
        (1, &[1], &[&[0], &[]]),
    ];
    let packed = |_: usize, sizes: &[u64]| BufferTensorDesc::packed(DataType::U8, sizes);
    for (size, chunks, rows) in answers {
        let whole = Shards::of(&[size]).unwrap();
        let chunks: Vec<(u64, u64)> = chunks.iter().map(|&rows| (rows, 1)).collect();
        let to = whole.fused_once(0, &chunks, rows.len()).unwrap().with_layouts(packed).unwrap();
        let mut held: Vec<Vec<u8>> =
            (0..rows.len()).map(|rank| vec![99; to.shards().sizes(rank)[0] as usize]).collect();
        let bytes: Vec<u8> = (0..size as u8).collect();
        for pair in reshard(&whole.with_layouts(packed).unwrap(), &to, &TransferLimits::any()).unwrap() {
            pair.transfers.run(&bytes, &mut held[pair.to]).unwrap();
        }
        assert_eq!(held, rows, "{size} rows");
    }
}

#[test]
fn mistakes_name_the_axis() {
    let tensor = Shards::of(&[6, 4]).unwrap();
    let packed = |_: usize, sizes: &[u64]| BufferTensorDesc::packed(DataType::U8, sizes);
    assert_eq!(tensor.split(2, 2).unwrap_err().to_string(), "axis 2 does not exist: the rank is 2");
    assert_eq!(tensor.cut(0, &[2, 3]).unwrap_err().to_string(), "axis 0 has size 5, but size 6 was expected");
    assert_eq!(tensor.fused(0, &[(3, 1), (3, 1)], 4).unwrap_err().code(), "out_of_limits");
    assert_eq!(tensor.fused_once(0, &[(3, 1), (2, 1)], 4).unwrap_err().code(), "size_mismatch");
    assert_eq!(tensor.fused_once(0, &[(u64::MAX, 2)], 4).unwrap_err().code(), "overflow");
    assert_eq!(tensor.split(0, 0).unwrap_err().code(), "out_of_limits");
    let short = |_: usize, _: &[u64]| BufferTensorDesc::packed(DataType::U8, &[6, 3]);
    assert_eq!(
        tensor.clone().with_layouts(short).unwrap_err().to_string(),
        "axis 1 has size 3, but size 4 was expected"
    );
    // What has no elements takes no transfers, and is no box.
    let none = || Shards::of(&[0, 4]).unwrap().with_layouts(packed).unwrap();
    assert!(reshard(&none(), &none(), &TransferLimits::any()).unwrap().is_empty());
    let fused = tensor.fused(0, &[(1, 3), (1, 3)], 1).unwrap();
    assert_eq!(fused.cut(0, &[3, 3]).unwrap(), tensor.cut(0, &[3, 3]).unwrap());
    // One of two ranks alone does not hold everything.
    let half = tensor.split(0, 2).unwrap().ordered(&[0]).unwrap().with_layouts(packed).unwrap();
    let all = tensor.with_layouts(packed).unwrap();
    let error = reshard(&half, &all, &TransferLimits::any()).unwrap_err();
    assert_eq!(error.to_string(), "index 3 on axis 0 is out of range: its size is 6");
}
