//! What proofs/lemmas.py proves of models, asked of the functions at the edges of the range.

use tensor_layout_literal::edges::{edges, lemma};
use tensor_layout_transfers::{Shards, TransferLimits, Transfers};

use super::literal::map;

#[test]
fn reaches_of_nests() {
    // Three rows of 5 bytes: the source is walked backwards, 7 bytes a step, and the destination 16 bytes.
    let (from, to) = (map("u8[3,5]:[7,1]"), map("u8[3,5]:[16,1]"));
    let settings = tensor_layout::relayout::Settings { reversed: vec![0], ..Default::default() };
    let plan = tensor_layout::Relayout::with_settings(&from, &to, &settings).unwrap();
    for source in edges() {
        for destination in edges() {
            for executor in [TransferLimits::ranges(), TransferLimits::any()] {
                let ends = (source.checked_add(19), destination.checked_add(37));
                let list = Transfers::placed(&[(&plan, [source, destination])], &executor);
                let Ok(list) = list else {
                    lemma("nest_reach.error", ends.0.is_none() || ends.1.is_none(), (source, destination));
                    continue;
                };
                let reach = list.reach();
                lemma("nest_reach.reached", ends == (Some(reach.0), Some(reach.1)), (source, destination));
                let mut rows = Vec::new();
                for one in list.iter() {
                    let steps = one.loops.first().map_or(1, |step| step.count);
                    let stride = one.loops.first().map_or((0, 0), |step| (step.source_stride, step.destination_stride));
                    for step in 0..steps.cast_signed() {
                        let at = |start: u64, stride: i64| u64::try_from(i128::from(start) + i128::from(step * stride));
                        rows.push((at(one.source, stride.0).unwrap(), at(one.destination, stride.1).unwrap()));
                    }
                }
                let inside = |&(from, to): &(u64, u64)| from + 5 <= reach.0 && to + 5 <= reach.1 && from >= source;
                lemma("nest_reach.inside", rows.iter().all(inside), (source, destination));
                let expected: Vec<_> = (0..3).map(|row| (source + 7 * (2 - row), destination + 16 * row)).collect();
                lemma("starts.back", rows == expected, (source, destination, rows.clone()));
            }
        }
    }
}

#[test]
fn shares_of_ranks() {
    for size in edges() {
        for ranks in [1, 2, 3, 7, 256] {
            let split = Shards::of(&[size]).unwrap().split(0, ranks).unwrap();
            let each = size.div_ceil(u64::try_from(ranks).unwrap());
            let (mut end, mut is_last) = (0_u64, false);
            for rank in 0..ranks {
                let share = split.sizes(rank)[0];
                lemma("share.inside", share == each || !is_last && share < each || share == 0, (size, ranks, rank));
                lemma("share.starts", rank > 0 || share == each.min(size), (size, ranks));
                is_last |= share < each;
                // A share begins where the one before ended, so all of them together are the size.
                end = end.checked_add(share).unwrap();
                lemma("share.follows", end <= size, (size, ranks, rank));
            }
            lemma("share.covers", end == size, (size, ranks));
        }
    }
}
