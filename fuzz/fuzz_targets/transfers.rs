//! Lists of transfers: of a copy, by any executor, against the copy itself; repeated over a block table,
//! whose numbers may be any; and of a row between two splits over ranks, each element written once.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::Relayout;
use tensor_layout::{ArrayShape, DataType};
use tensor_layout_fuzz::copies::noise;
use tensor_layout_fuzz::layouts::{AnySide, Tensor};
use tensor_layout_transfers::{Sharded, Shards, TransferLimits, Transfers, reshard};

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    from: AnySide,
    to: AnySide,
    executor: u8,
    places: [(u64, u64); 3],
    cuts: [[u8; 3]; 2],
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let names = ["any", "rdma", "nixl", "cuda-2d", "webgpu", "any:loops=2,max_run=5", "nixl:max_run=3"];
    let executor: TransferLimits = names[usize::from(input.executor) % names.len()].parse().unwrap();
    let sizes = input.tensor.sizes(300);
    let data_type = input.tensor.data_type();
    let (from, to) = (input.from.side(data_type, &sizes, 2000), input.to.side(data_type, &sizes, 2000));
    if let Ok(plan) = Relayout::new(&from.map, &to.map) {
        once(&plan, &executor);
        repeated(&plan, &input.places, &executor);
    }
    ranks(&input.cuts, &executor);
});

fn once(plan: &Relayout, executor: &TransferLimits) {
    let Ok(list) = Transfers::of(&[plan], executor) else { return };
    let source = noise(plan.source_size_in_bytes() as usize, 1);
    let mut expected = noise(plan.destination_size_in_bytes() as usize, 2);
    let mut found = expected.clone();
    plan.run(&source, &mut expected).unwrap();
    list.run(&source, &mut found).unwrap();
    assert!(found == expected, "a list writes other bytes than its copy");
    assert_eq!(list.iter().count() as u64, list.count());
    assert!(list.count() <= list.count_at_most());
}

/// Every byte of every repetition is inside the reach, or the table is refused.
fn repeated(plan: &Relayout, places: &[(u64, u64)], executor: &TransferLimits) {
    let placed: Vec<_> = places.iter().map(|&(source, destination)| (plan, [source, destination])).collect();
    let Ok(list) = Transfers::placed(&placed, executor) else { return };
    let reach = list.reach();
    for one in list.iter().take(2000) {
        let last = |start: u64, stride: fn(&tensor_layout_transfers::Loop) -> i64| {
            let steps = one.loops.iter().map(|step| i128::from(step.count - 1) * i128::from(stride(step)).max(0));
            i128::from(start) + steps.sum::<i128>() + i128::from(one.bytes)
        };
        assert!(last(one.source, |step| step.source_stride) <= i128::from(reach.0));
        assert!(last(one.destination, |step| step.destination_stride) <= i128::from(reach.1));
    }
    let short = list.run(&[0; 64], &mut [0; 64]);
    assert!(short.is_ok() || short.unwrap_err().code() == "buffer_too_short");
}

fn ranks(cuts: &[[u8; 3]; 2], executor: &TransferLimits) {
    let row = 96;
    let split = |[kind, ranks, first]: [u8; 3]| -> Option<Sharded> {
        let (whole, ranks) = (Shards::of(&[row]).unwrap(), usize::from(ranks % 9));
        let first = u64::from(first) % (row + 1);
        let made = match kind % 4 {
            0 => whole.split(0, ranks),
            1 => whole.cut(0, &[first, row - first]),
            2 => whole.replicated(ranks).and_then(|all| all.split(0, 2)),
            _ => whole.fused(0, &[(first, 1), (row - first, 1)], ranks),
        };
        made.and_then(|made| made.with_layouts(|_, sizes| ArrayShape::row_major(DataType::U8, sizes))).ok()
    };
    let (Some(from), Some(to)) = (split(cuts[0]), split(cuts[1])) else { return };
    let Ok(pairs) = reshard(&from, &to, executor) else { return };
    let written: u64 = pairs.iter().map(|pair| pair.transfers.summary().bytes).sum();
    let held: u64 = (0..to.shards().ranks()).map(|rank| to.shards().sizes(rank)[0]).sum();
    assert_eq!(written, held, "each element of every rank is written once");
}
