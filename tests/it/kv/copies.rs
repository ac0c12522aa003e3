//! Copies between the caches of engines against ndarray's transposes: the six orders of vLLM and the orders
//! of kvbm, blocks of 16, 32 and 64 tokens, block tables, ranks.

use bytemuck::{cast_slice, cast_slice_mut};
use ndarray::{ArrayD, Axis, IxDyn};
use tensor_layout::BufferTensorDesc;
use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout_text::layout::{Layout, copies};

use super::{cache, map};

const LAYERS: usize = 2;
const TOKENS: usize = 128;
const HEADS: usize = 3;
const HEAD_SIZE: usize = 5;

/// The elements of a cache on the axes L, T, H, C: all are different.
fn logical() -> ArrayD<u16> {
    let sizes = [LAYERS, TOKENS, HEADS, 2 * HEAD_SIZE];
    let count = u16::try_from(sizes.iter().product::<usize>()).unwrap();
    ArrayD::from_shape_vec(IxDyn(&sizes), (0..count).collect()).unwrap()
}

/// The memory of a cache, by the literal reshape and transpose.
fn memory(order: &str, tokens_of_block: usize) -> Vec<u16> {
    let blocks = TOKENS / tokens_of_block;
    let sizes = [LAYERS, blocks, tokens_of_block, HEADS, 2, HEAD_SIZE];
    let cut = logical().into_shape_with_order(IxDyn(&sizes)).unwrap();
    // C is the axis of K and V, and then the head.
    let order = order.replace('C', "2D");
    let axes: Vec<usize> = order.chars().map(|letter| "LBNH2D".find(letter).unwrap()).collect();
    cut.permuted_axes(IxDyn(&axes)).iter().copied().collect()
}

#[test]
fn every_order_of_vllm_to_every_order_of_kvbm() {
    let vllm = ["LBNHC", "LBHNC", "LHBNC", "BLHNC", "BLNHC", "BHLNC"].map(|order| (order, order));
    let kvbm = [
        ("kvbm.Universal", "BHL2ND"),
        ("kvbm.UniversalPP", "BLH2ND"),
        ("kvbm.OperationalHND", "BL2HND"),
        ("kvbm.OperationalNHD", "BL2NHD"),
        ("kvbm.FullyContiguous", "BL2NHD"),
        ("kvbm.LayerSeparate_BlockIsFirstDim", "LB2NHD"),
        ("kvbm.LayerSeparate_BlockIsSecondDim", "L2BNHD"),
    ];
    let text = |name: &str, tokens: usize| {
        let content = if name.starts_with("kvbm") { format!("D={HEAD_SIZE}") } else { format!("C={}", 2 * HEAD_SIZE) };
        format!("kv:{name}:u16[L={LAYERS},T={TOKENS},H={HEADS},N={tokens},{content}]")
    };
    let mut copies = 0;
    for (name, order) in vllm {
        for (other, other_order) in kvbm {
            for (tokens, other_tokens) in [16, 32, 64].into_iter().flat_map(|n| [16, 32, 64].map(|m| (n, m))) {
                let sides = [(name, order, tokens), (other, other_order, other_tokens)];
                for [from, to] in [sides, [sides[1], sides[0]]] {
                    let copy = Relayout::new(&cache(&text(from.0, from.2)), &cache(&text(to.0, to.2))).unwrap();
                    let copied = copy.to_vec(cast_slice(&memory(from.1, from.2))).unwrap();
                    assert_eq!(numbers(&copied), memory(to.1, to.2), "{from:?} to {to:?}");
                    copies += 1;
                }
            }
        }
    }
    assert_eq!(copies, 6 * 7 * 9 * 2);
}

fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]])).collect()
}

/// Copies a layout in `memory` to another layout of `length` elements.
fn copied(from: &Layout, memory: &[u16], to: &Layout, length: usize) -> Vec<u16> {
    let mut written = vec![u16::MAX; length];
    let copies = copies(from, to, &Settings::default()).unwrap();
    copies.run(cast_slice(memory), cast_slice_mut::<u16, u8>(&mut written)).unwrap();
    written
}

#[test]
fn block_tables_are_gathered_and_scattered() {
    // 100 tokens of a sequence, in blocks of 16 tokens of a pool of 8, and in blocks of 32 of a pool of 4.
    let tokens = 100;
    let (table, other) = ([5, 6, 7, 1, 0, 4, 2], [3, 0, 1, 2]);
    let pool = memory("LBNHC", 16);
    let gathered = |table: &[usize], tokens_of_block: usize| {
        let cut = logical()
            .into_shape_with_order(IxDyn(&[LAYERS, TOKENS / tokens_of_block, tokens_of_block, HEADS, 2 * HEAD_SIZE]))
            .unwrap();
        let chosen = cut.select(Axis(1), table).as_standard_layout().into_owned().into_shape_with_order(IxDyn(&[
            LAYERS,
            table.len() * tokens_of_block,
            HEADS,
            2 * HEAD_SIZE,
        ]));
        chosen.unwrap().slice_axis(Axis(1), (0..tokens).into()).to_owned()
    };
    let text = |order: &str, table: &[usize], pool: usize, block: usize, more: &str| {
        format!("kv:{order}:u16[L={LAYERS},B={table:?}/{pool},T={tokens},H={HEADS},N={block},{more}]").replace(' ', "")
    };
    let layout = |text: &str| text.parse::<Layout>().unwrap();
    let from = layout(&text("LBNHC", &table, 8, 16, "C=10"));
    assert_eq!(from.values().parts().len(), 5, "5, 6, 7 are one run");
    // Gathered to one dense tensor.
    let dense = BufferTensorDesc::packed(tensor_layout::DataType::U16, &[LAYERS as u64, tokens as u64, 3, 10]).unwrap();
    let whole = Layout::from(dense);
    let sequence: Vec<u16> = gathered(&table, 16).iter().copied().collect();
    assert_eq!(copied(&from, &pool, &whole, sequence.len()), sequence);
    // From there to blocks of another order and size, of which only the chosen places are written.
    for (order, content) in [("BHL2ND", "D=5"), ("LBHNC", "C=10,kernel=8")] {
        let to = layout(&text(order, &other, 4, 32, content));
        let written = copied(&whole, &sequence, &to, 7680);
        let direct = copied(&from, &pool, &to, 7680);
        assert_eq!(written, direct, "in two steps and in one");
        assert_eq!(written.iter().filter(|&&element| element != u16::MAX).count(), sequence.len());
        assert_eq!(copied(&to, &written, &whole, sequence.len()), sequence, "and back");
    }
    let [short, long] = ["[1,0]", "[1,0,3]"].map(|table| layout(&format!("kv:LBNHC:u16[L=1,B={table}/4,H=1,N=2,C=2]")));
    assert_eq!(copies(&short, &long, &Settings::default()).unwrap_err().code(), "size_mismatch");
}

#[test]
fn ranks_layers_and_halves_are_slices() {
    let pool = memory("LBNHC", 16);
    // The heads of rank 1 of 3, of layer 1, in its own cache.
    let from = cache("kv:LBNHC:u16[L=1:2/2,T=128,H=1:2/3,N=16,C=10]");
    let to = cache("kv:LBHNC:u16[L=1,T=128,H=1,N=32,C=10]");
    let own = Relayout::new(&from, &to).unwrap().to_vec(cast_slice(&pool)).unwrap();
    let heads = logical().slice_axis(Axis(0), (1..2).into()).slice_axis(Axis(2), (1..2).into()).to_owned();
    assert_eq!(numbers(&own), heads.iter().copied().collect::<Vec<_>>());
    // K alone: half of the content, or one of two planes.
    let keys = logical().slice_axis(Axis(3), (0..5).into()).iter().copied().collect::<Vec<_>>();
    let dense: BufferTensorDesc = "u16[2,128,3,5]:[1920,15,5,1]".parse().unwrap();
    for (text, memory) in [
        ("kv:LBNHC:u16[L=2,T=128,H=3,N=16,C=0:5/10]", memory("LBNHC", 16)),
        ("kv:2BLNHD:u16[L=2,T=128,H=3,N=16,D=5,2=0:1/2]", memory("2BLNHD", 16)),
    ] {
        let copied = Relayout::new(&cache(text), &dense).unwrap().to_vec(cast_slice(&memory)).unwrap();
        assert_eq!(numbers(&copied), keys, "{text}");
    }
    // A distance of blocks in bytes is the distance of the whole pages.
    assert_eq!(map("kv:LBNHC:u8[L=2,B=7@300,H=3,N=4,C=20]").strides().unwrap()[..2], [2100, 300]);
}

/// Parts of both sides are cut where a run of either side ends, and joined where neither does, whichever side
/// is in the order of its table.
#[test]
fn tables_are_cut_at_the_runs_that_both_sides_have() {
    let cache = |table: &str, tokens: usize| format!("kv:BNHC:u8[{table},T=11,H=2,N={tokens},C=3]");
    let (fours, eights) = (cache("B=[3,4,0]/5", 4), cache("B=[1,0]/2", 8));
    let (twos, whole) = (cache("B=[9,0,1,2,7,8]/10", 2), "u8[11,2,3]:[6,3,1]".to_owned());
    // The tokens at which a run of a table ends.
    let ends = |text: &str| match text {
        text if text == fours => vec![8],
        text if text == eights => vec![8],
        text if text == twos => vec![2, 8],
        _ => vec![],
    };
    let texts = [&fours, &eights, &twos, &whole];
    for (from, to) in texts.iter().flat_map(|from| texts.map(|to| (*from, to))) {
        let sides = [from, to].map(|text| text.parse::<Layout>().unwrap());
        let plans = copies(&sides[0], &sides[1], &Settings::default()).unwrap();
        let cuts: std::collections::BTreeSet<u64> = ends(from).into_iter().chain(ends(to)).collect();
        assert_eq!(plans.list().len(), cuts.len() + 1, "{from} to {to}");
        let source: Vec<u8> = (0..plans.source_size_in_bytes()).map(|byte| u8::try_from(byte).unwrap()).collect();
        let mut written = vec![u8::MAX; usize::try_from(plans.destination_size_in_bytes()).unwrap()];
        plans.run(&source, &mut written).unwrap();
        for index in (0..66).map(|number| [number / 6, number / 3 % 2, number % 3]) {
            let [at, then] = sides.each_ref().map(|side| side.values().place(&index).unwrap().offset);
            assert_eq!(u64::from(written[usize::try_from(then).unwrap()]), at, "{from} to {to}: {index:?}");
        }
    }
}
