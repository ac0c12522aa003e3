//! What planning and listing take, and a list executed on memory beside the copy itself:
//! `cargo bench -p tensor-layout-transfers`.

use std::hint::black_box;
use std::time::Instant;

use tensor_layout::relayout::Settings;
use tensor_layout::{BufferTensorDesc, DataType, Relayout};
use tensor_layout_text::Layout;
use tensor_layout_text::kv::KvCache;
use tensor_layout_text::layout;
use tensor_layout_transfers::{Shards, TransferLimits, Transfers, reshard};

fn least(times: usize, mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..times).map(time).fold(f64::INFINITY, f64::min)
}

/// Two requests with tables of 1,000 blocks in different orders: from the numbers of the blocks to a list.
fn block_tables() {
    let (layers, heads, tokens) = (("L", 32), ("H", 8), ("N", 16));
    let table = |factor: u64| (0..1000).map(|block| block * factor % 1009).collect::<Vec<u64>>();
    let (source, destination) = (table(7), table(11));
    let from = KvCache::new("LBNHC", DataType::BF16, &[layers, heads, tokens, ("C", 256)]).unwrap();
    let to = KvCache::new("BHL2ND", DataType::BF16, &[layers, heads, tokens, ("D", 128)]).unwrap();
    for executor in [TransferLimits::any(), TransferLimits::with_loops(1)] {
        let mut count = 0;
        let seconds = least(50, || {
            let from = from.clone().with_blocks(&source, 1024).unwrap();
            let to = to.clone().with_blocks(&destination, 1024).unwrap();
            let copies = layout::copies(&from.into(), &to.into(), &Settings::default()).unwrap();
            let placed: Vec<_> = copies.list().iter().map(|copy| (&*copy.plan, copy.at)).collect();
            count = black_box(Transfers::placed(&placed, &executor).unwrap().count());
        });
        println!(
            "two tables of 1,000 blocks, {:?} loops: {count} transfers in {:.2} ms",
            executor.loops,
            seconds * 1e3
        );
    }
    let text = |order: &str, table: &[u64], content: &str| {
        format!("kv:{order}:bf16[L=32,B={table:?}/1024,H=8,N=16,{content}]").replace(' ', "")
    };
    let (from, to) = (text("LBNHC", &source, "C=256"), text("BHL2ND", &destination, "D=128"));
    let read = || [&from, &to].map(|text| text.parse::<Layout>().unwrap());
    let copied = |[from, to]: &[Layout; 2]| layout::copies(from, to, &Settings::default()).unwrap();
    let listed = |copies: &layout::Copies| {
        let placed: Vec<_> = copies.list().iter().map(|copy| (&*copy.plan, copy.at)).collect();
        Transfers::placed(&placed, &TransferLimits::any()).unwrap()
    };
    let layouts = read();
    let copies = copied(&layouts);
    let milliseconds = [
        least(50, || drop(black_box(read()))),
        least(50, || drop(black_box(copied(&layouts)))),
        least(50, || drop(black_box(listed(&copies)))),
        least(50, || drop(black_box(listed(&copied(&read()))))),
    ]
    .map(|seconds| format!("{:.2}", seconds * 1e3));
    let [read, copied, listed, all] = milliseconds;
    println!("the same from texts: read in {read} ms, copies in {copied} ms, listed in {listed} ms, in all {all} ms");
}

fn main() {
    block_tables();
    // [layers, blocks, heads, tokens, content] over 8 ranks by heads, and over 4 with tokens and heads
    // exchanged.
    let cache = Shards::of(&[32, 4096, 8, 16, 256]).unwrap();
    let packed = |_: usize, sizes: &[u64]| BufferTensorDesc::packed(DataType::F16, sizes);
    let turned = |_: usize, sizes: &[u64]| {
        BufferTensorDesc::packed(DataType::F16, &[sizes[0], sizes[1], sizes[3], sizes[2], sizes[4]])?
            .permute(&[0, 1, 3, 2, 4])
    };
    let from = cache.split(2, 8).unwrap().with_layouts(packed).unwrap();
    let to = cache.split(2, 4).unwrap().with_layouts(turned).unwrap();
    let mut pairs = Vec::new();
    for loops in [0, 1, 2] {
        let executor = TransferLimits::with_loops(loops);
        let seconds = least(100, || pairs = reshard(&from, &to, &executor).unwrap());
        let count: u64 = pairs.iter().map(|pair| pair.transfers.count()).sum();
        println!("8 ranks to 4, {loops} loops: {count} transfers planned in {:.1} us", seconds * 1e6);
    }
    pairs = reshard(&from, &to, &TransferLimits::ranges()).unwrap();
    let count: u64 = pairs.iter().map(|pair| pair.transfers.count()).sum();
    let visit = || {
        pairs
            .iter()
            .flat_map(|pair| pair.transfers.iter())
            .map(|one| one.source ^ one.destination)
            .fold(0, |a, b| a ^ b)
    };
    let seconds = least(3, || {
        black_box(visit());
    });
    println!("{count} plain ranges listed: {:.1} ns each", seconds * 1e9 / count as f64);

    // 256 MB of runs of 512 bytes, and of rows of 4 KiB.
    for (name, loops, from, to) in [
        (
            "heads and tokens exchanged, runs of 512 bytes, plain ranges",
            Some(0),
            [32, 64, 16, 16, 256],
            [0, 1, 3, 2, 4],
        ),
        ("heads and tokens exchanged, runs of 512 bytes, two loops", Some(2), [32, 64, 16, 16, 256], [0, 1, 3, 2, 4]),
        ("blocks and layers exchanged, runs of 128 KiB", None, [32, 64, 16, 16, 256], [1, 0, 2, 3, 4]),
    ] {
        let source = BufferTensorDesc::packed(DataType::F16, &from).unwrap();
        let sizes = to.map(|axis| from[axis]);
        let mut back = [0; 5];
        to.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
        let destination = BufferTensorDesc::packed(DataType::F16, &sizes).unwrap().permute(&back).unwrap();
        let plan = Relayout::new(&source, &destination).unwrap();
        let list = Transfers::of(&[&plan], &loops.map_or(TransferLimits::any(), TransferLimits::with_loops)).unwrap();
        let bytes = usize::try_from(plan.source_size_in_bytes()).unwrap();
        let (read, mut written) = (vec![7_u8; bytes], vec![0_u8; bytes]);
        let (mut copied, mut executed) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..7 {
            copied = copied.min(least(1, || plan.run(&read, &mut written).unwrap()));
            executed = executed.min(least(1, || list.run(&read, &mut written).unwrap()));
        }
        let rate = |seconds: f64| bytes as f64 / seconds / 1e9;
        println!(
            "{name}: {} MB, {} transfers, executed {:.1} GB/s, Relayout::run {:.1} GB/s, ratio {:.2}",
            bytes >> 20,
            list.count(),
            rate(executed),
            rate(copied),
            executed / copied
        );
    }
}
