//! Lists executed on memory, against the copy itself.

use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout_transfers::{TransferLimits, Transfers, transfers};

use super::literal::map;

fn compare(from: &str, to: &str, reversed: &[usize]) {
    let settings = Settings { reversed: reversed.to_vec(), ..Settings::default() };
    let plan = Relayout::with_settings(&map(from), &map(to), &settings).unwrap();
    let bytes =
        |count: u64, factor: usize| (0..count as usize).map(|place| ((place * factor) >> 3) as u8).collect::<Vec<_>>();
    let source = bytes(plan.source_size_in_bytes(), 37);
    let mut expected = bytes(plan.destination_size_in_bytes(), 11);
    let before = expected.clone();
    plan.run(&source, &mut expected).unwrap();
    for executor in ["rdma", "nixl", "any", "any:loops=2,max_run=5"] {
        let list = Transfers::of(&[&plan], &executor.parse().unwrap()).unwrap();
        let mut found = before.clone();
        list.run(&source, &mut found).unwrap();
        assert!(found == expected, "{from} -> {to}, {executor}");
        let (reads, writes) = list.reach();
        let short = source[..reads as usize - 1].to_vec();
        assert_eq!(list.run(&short, &mut found).unwrap_err().code(), "buffer_too_short");
        assert_eq!(list.run(&source, &mut found[..writes as usize - 1]).unwrap_err().code(), "buffer_too_short");
    }
}

#[test]
fn lists_write_what_the_copy_writes() {
    for (from, to) in [
        ("f32[3,5]:[5,1]", "f32[3,5]:[1,4]"),
        ("f32[16,200]{1,0}", "f32[16,200]{1,0:T(8,128)}"),
        ("bf16[500,300]{1,0}", "bf16[500,300]{1,0:T(8,128)(2,1)}"),
        ("u8[100,7]:[0,1]", "u8[100,7]:[16,1]"),
        ("f16[7,48,3]{1,0,2:T(48)}", "f16[7,48,3]{2,0,1:T(32)}"),
        ("s4[6,10]:[10,1]", "s4[6,10]:[16,1]"),
        ("u8[2,3]:[3,1]", "u8[2,3]:[3,2]"),
        // A nest of more than 1 MiB, which a plan of its own copies.
        ("f32[300,1000]:[1000,1]", "f32[300,1000]:[1,300]"),
        // `*` joins dimensions in contradicting orders, so that the copy has two passes.
        ("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "f32[6,9,2]{0,1,2:T(5)}"),
    ] {
        compare(from, to, &[]);
    }
    compare("f32[3,5]:[5,1]", "f32[3,5]:[5,1]", &[0]);
    compare("f32[300,1000]:[1000,1]", "f32[300,1000]:[1000,1]", &[0, 1]);
}

#[test]
fn an_empty_copy_has_no_transfers() {
    let list = transfers(&map("f32[0,5]:[5,1]"), &map("f32[0,5]:[5,1]"), &TransferLimits::ranges()).unwrap();
    assert_eq!((list.count(), list.summary().bytes, list.iter().count()), (0, 0, 0));
    list.run(&[], &mut []).unwrap();
}
