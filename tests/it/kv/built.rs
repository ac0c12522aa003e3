//! Caches that are built in code, and copies that share a plan for all blocks of one form.

use proptest::prelude::*;
use tensor_layout::relayout::Settings;
use tensor_layout::strided::Slice;
use tensor_layout::{DataType, Error, ToIndexMap};
use tensor_layout_text::kv::KvCache;
use tensor_layout_text::layout::{self, Copies};

use super::cache;
use crate::literal::cases;

const SIZES: [(&str, u64); 4] = [("L", 2), ("H", 4), ("N", 4), ("C", 6)];

fn built(order: &str) -> KvCache {
    KvCache::new(order, DataType::U8, &SIZES).unwrap()
}

#[test]
fn a_cache_in_code_is_that_of_its_text() {
    for (built, text) in [
        (built("LBNHC").with_blocks(&[7, 2, 3], 9), "kv:LBNHC:u8[L=2,B=[7,2,3]/9,H=4,N=4,C=6]"),
        (
            built("LBNHC").with_blocks(&[7, 2, 3], 9).and_then(|cache| cache.tokens(10)?.heads(1..3)),
            "kv:LBNHC:u8[L=2,B=[7,2,3]/9,T=10,H=1:3/4,N=4,C=6]",
        ),
        (
            built("LBHNC").heads(0..4).and_then(|cache| cache.heads(3..4)?.tokens(0)),
            "kv:LBHNC:u8[L=2,B=0,T=0,H=3:4/4,N=4,C=6]",
        ),
        (
            KvCache::new(
                "vllm.LBNHC",
                DataType::BF16,
                &[("B", 5), ("L", 2), ("H", 1), ("N", 2), ("C", 8), ("page", 64)],
            ),
            "kv:vllm.LBNHC:bf16[L=2,B=5,H=1,N=2,C=8,page=64]",
        ),
    ] {
        let built = built.unwrap();
        assert_eq!((built.to_string().as_str(), &built), (text, &cache(text)));
        assert_eq!(built.parts(), cache(text).parts());
    }
    assert_eq!(built("LBNHC").sizes(), [2, 0, 4, 4, 6]);
    assert_eq!(built("LBNHC").with_blocks(&[1], 3).unwrap().with_blocks(&[0, 2], 3).unwrap().sizes(), [2, 2, 4, 4, 6]);
}

#[test]
fn what_is_no_cache_is_refused() {
    let code = |made: Result<KvCache, Error>| made.unwrap_err().to_string();
    let table = |blocks: &[u64], total| code(built("LBNHC").with_blocks(blocks, total));
    assert!(table(&[], 3).contains("its block table is empty"));
    for (blocks, total) in [(&[3][..], 3), (&[0, 1, 2, 3], 3), (&[1, u64::MAX], 3), (&[0], 0)] {
        assert!(built("LBNHC").with_blocks(blocks, total).is_err(), "{blocks:?} of {total}");
    }
    assert!(table(&[1], u64::MAX).contains("64 bits"));
    let small = || built("LBNHC").with_blocks(&[2, 0], 3).unwrap();
    assert!(code(small().tokens(9)).contains("the blocks of the table have 8 tokens, and T is 9"));
    assert!(small().heads(3..5).is_err() && small().heads(std::ops::Range { start: 2, end: 1 }).is_err());
    let dense = || KvCache::new("LHC", DataType::U8, &[("L", 1), ("H", 2), ("C", 2)]).unwrap();
    assert!(code(dense().with_blocks(&[0], 1)).contains("has no axis B"));
    assert!(code(dense().tokens(1)).contains("needs B and N for tokens"));
    assert!(
        code(KvCache::new("LC", DataType::U8, &[("L", 1), ("C", 2)]).unwrap().heads(0..1)).contains("has no heads")
    );
    for (order, sizes) in [
        ("LBNHQ", &SIZES[..]),
        ("LBNH", &SIZES[..3]),
        ("LBNHC", &SIZES[..3]),
        ("LBNHC", &[("L", 1), ("H", 1), ("N", 1), ("C", 1), ("D", 1)]),
        ("LBNHC", &[("L", 1), ("L", 1), ("H", 1), ("N", 1), ("C", 1)]),
        ("LBNHC", &[("layers", 1)]),
        ("lmcache.LHBNC", &SIZES[..]),
    ] {
        assert_eq!(
            KvCache::new(order, DataType::U8, sizes).unwrap_err().code(),
            "not_expressible",
            "{order} {sizes:?}"
        );
    }
}

/// The bytes of the cache in the order of its indices.
fn read(cache: &KvCache, memory: &[u8]) -> Vec<u8> {
    each(cache).map(|offset| memory[offset]).collect()
}

fn each(cache: &KvCache) -> impl Iterator<Item = usize> {
    let (sizes, parts) = (cache.sizes(), cache.parts());
    let count: u64 = sizes.iter().product();
    (0..count).map(move |mut number| {
        let mut index = vec![0; sizes.len()];
        for (i, size) in index.iter_mut().zip(&sizes).rev() {
            (*i, number) = (number % size, number / size);
        }
        let offset = parts.iter().find_map(|part| part.map.offset(&part.inside(&index)?).ok());
        usize::try_from(offset.unwrap()).unwrap()
    })
}

fn copies(from: &KvCache, to: &KvCache) -> Result<Copies, Error> {
    layout::copies(&from.clone().into(), &to.clone().into(), &Settings::default())
}

/// The number of plans, and of copies that run them.
fn plans(copies: &Copies) -> (usize, usize) {
    let plans: std::collections::BTreeSet<_> = copies.list().iter().map(|copy| &raw const *copy.plan).collect();
    (plans.len(), copies.list().len())
}

#[test]
fn blocks_of_one_form_share_a_plan() {
    let content = |order: &str| if order.contains('D') { ("D", 3) } else { ("C", 6) };
    let new = |order: &str, tokens| {
        KvCache::new(order, DataType::U8, &[("L", 2), ("H", 4), ("N", tokens), content(order)]).unwrap()
    };
    let (small, large): (Vec<u64>, _) = (vec![7, 2, 3, 4, 9, 0, 8], [5, 1, 0, 3, 6]);
    let memory: Vec<u8> = (0..10 * 4 * 48_u32).map(|i| (i * 7 + i / 253) as u8).collect();
    for tokens in [28, 27, 25, 5, 0] {
        for (order, other) in [("LBNHC", "BHL2ND"), ("LBHNC", "LBNHC"), ("BLHNC", "L2BHND")] {
            for heads in [0..4, 1..3] {
                let side = |cache: KvCache, table: &[u64], total| {
                    cache.with_blocks(table, total).unwrap().tokens(tokens).unwrap().heads(heads.clone()).unwrap()
                };
                let (from, to) = (side(new(order, 4), &small, 10), side(new(other, 6), &large, 7));
                let list = copies(&from, &to).unwrap();
                let mut written = vec![0xAA; 7 * 6 * 48];
                list.run(&memory, &mut written).unwrap();
                assert_eq!(read(&to, &written), read(&from, &memory), "{from} to {to}");
                let own: std::collections::BTreeSet<usize> = each(&to).collect();
                assert!((0..written.len()).all(|at| own.contains(&at) || written[at] == 0xAA), "{from} to {to}");
                assert!(plans(&list).0 <= 8, "{} forms", plans(&list).0);
            }
        }
    }
    // Of equal blocks, all have one form; of a cache without a table, the blocks follow each other.
    let of = |order: &str, table: &[u64]| new(order, 4).with_blocks(table, 10).unwrap();
    let (from, to) = (of("LBNHC", &small), of("BHL2ND", &[1, 0, 2, 6, 5, 4, 3]));
    assert_eq!(plans(&copies(&from, &to).unwrap()), (1, 7));
    let dense = KvCache::new("LBNHC", DataType::U8, &[("L", 2), ("B", 7), ("H", 4), ("N", 4), ("C", 6)]).unwrap();
    for (from, to) in [(&from, &dense), (&dense, &to), (&dense, &dense)] {
        let mut written = vec![0; 10 * 4 * 48];
        copies(from, to).unwrap().run(&memory, &mut written).unwrap();
        assert_eq!(read(to, &written), read(from, &memory), "{from} to {to}");
    }
}

#[test]
fn tables_that_do_not_fit_each_other_are_refused() {
    let of = |table: &[u64]| built("LBNHC").with_blocks(table, 9).unwrap();
    let error = copies(&of(&[1, 2, 3]), &of(&[4, 0, 4])).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().contains("[0, 2, 0, 0, 0]")),
        ("overlapping_destination", true),
        "{error}"
    );
    // A source may name a block twice.
    assert_eq!(plans(&copies(&of(&[4, 0, 4]), &of(&[1, 2, 3])).unwrap()), (1, 3));
    assert_eq!(copies(&of(&[1, 2]), &of(&[1, 2, 3])).unwrap_err().code(), "size_mismatch");
    assert_eq!(copies(&of(&[1, 2]), &of(&[1, 2]).tokens(8).unwrap()).unwrap_err().code(), "rank_mismatch");
    // Blocks of 12 bits are no whole bytes apart.
    let bits = |table: &[u64]| {
        let cache = KvCache::new("LBNHC", DataType::U4, &[("L", 1), ("H", 1), ("N", 1), ("C", 3)]).unwrap();
        cache.with_blocks(table, 4).unwrap()
    };
    let mut written = [0; 6];
    copies(&bits(&[3, 0]), &bits(&[0, 2])).unwrap().run(&[0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB], &mut written).unwrap();
    assert_eq!(written, [0xBA, 0x0C, 0, 0x21, 3, 0]);
}

/// Two huge blocks, and as many tokens in blocks of one. An address of 32 bits does not reach them.
#[test]
#[cfg(target_pointer_width = "64")]
fn few_copies_serve_many_blocks() {
    let huge = |tokens: u64| KvCache::new("BNHC", DataType::U8, &[("H", 1), ("N", tokens), ("C", 1)]).unwrap();
    let sizes = [("B", 1 << 41), ("H", 1), ("N", 1), ("C", 1), ("T", 1 << 41)];
    let many = KvCache::new("BNHC", DataType::U8, &sizes).unwrap();
    let two = huge(1 << 40).with_blocks(&[1, 0], 2).unwrap().tokens(1 << 41).unwrap();
    assert_eq!(plans(&copies(&two, &many).unwrap()), (1, 2));
}

/// Tokens go through the blocks one after another, whatever the order in memory is.
#[test]
fn tokens_count_the_blocks_before_them() {
    let all = cache("kv:NBHLC:u8[L=1,B=2,T=8,H=1,N=4,C=1]").to_index_map().unwrap();
    let offsets: Vec<u64> = (0..8).map(|token| all.offset(&[0, token, 0, 0]).unwrap()).collect();
    assert_eq!(offsets, [0, 2, 4, 6, 1, 3, 5, 7]);
}

proptest! {
    #![proptest_config(cases(200))]

    /// The part of a run of blocks is made of the part before it where only the place differs. Each one is
    /// compared with the only part of a cache of this run alone, which is a slice.
    #[test]
    fn a_moved_part_is_a_slice(
        order in prop::sample::select(vec!["LBNHC", "LBHNC", "BLHNC", "NBHLC", "HBLNC", "BHLN2nC"]),
        table in Just((0..12_u64).collect::<Vec<_>>()).prop_shuffle(),
        (length, heads) in (1..12_usize, 0..4_u64),
        cut in prop::option::of(0..4_u64),
    ) {
        let (table, whole) = (&table[..length], built(order));
        let whole = whole.heads(heads..4).unwrap();
        let of = |table: &[u64], tokens: Option<u64>| {
            let some = whole.clone().with_blocks(table, 12).unwrap();
            tokens.map_or_else(|| Ok(some.clone()), |tokens| some.clone().tokens(tokens)).unwrap()
        };
        let blocks = table.len() as u64;
        let tokens = cut.map(|cut| blocks * 4 - cut);
        let cache = of(table, tokens);
        let (axis, per_block) = (cache.axes().find(['B', 'T']).unwrap(), if cut.is_some() { 4 } else { 1 });
        let mut done = 0;
        let runs: Vec<&[u64]> = table.chunk_by(|a, b| a + 1 == *b).collect();
        prop_assert_eq!(runs.len(), cache.parts().len());
        for (part, run) in cache.parts().iter().zip(runs) {
            let length = run.len() as u64 * per_block;
            let all = tokens.unwrap_or(blocks);
            let alone = of(run, tokens.map(|all| length.min(all - done))).parts();
            prop_assert_eq!(&part.map, &alone[0].map);
            prop_assert_eq!(part.indices[axis], Slice::from(done..(done + length).min(all)));
            done += length;
        }
    }
}
