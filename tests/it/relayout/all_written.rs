//! `run_uninit` writes the same bytes as `run`. The pairs of layouts are made to find a plan that leaves out
//! a byte, or writes a byte twice.

use crate::literal::pairs::{memory, noise};
use crate::literal::replanned::Replanned;
use tensor_layout::relayout::{CpuFamily, Padding, Relayout};
use tensor_layout_text::Notated;

/// Layouts of the same elements. Each layout is copied to each layout of its group.
const GROUPS: [&[&str]; 8] = [
    // Tiles do not divide each other and are ragged on every side. Strides nest by a small margin.
    &[
        "u8[13,17]",
        "u8[13,17]{0,1}",
        "u8[13,17]:[31,1]",
        "u8[13,17]:[1,13]",
        "u8[13,17]:[17,1]+5",
        "u8[13,17]:[35,2]",
        "u8[13,17]{1,0:T(4,6)(3,4)(2,2)}",
        "u8[13,17]{0,1:T(5,7)(4,3)}",
        "u8[13,17]{1,0:T(48,48)(32,32)}",
        "u8[13,17]{1,0:T(*,7)(5)}",
        "u8[13,17]{1,0:T(14)}",
    ],
    // Elements share bytes with each other and with padding.
    &[
        "s4[9,7]{1,0:E(4)}",
        "s4[9,7]{0,1:E(4)}",
        "s4[9,7]:[11,1]",
        "s4[9,7]:[8,1]+3",
        "s4[9,7]:[1,10]",
        "s4[9,7]{1,0:T(4,4)E(4)}",
        "s4[9,7]{1,0:T(2,3)(2,1)E(4)}",
        "s4[9,7]{1,0}",
        "s4[9,7]{0,1:T(5,3)}",
    ],
    &[
        "f6e2m3fn[9,7]:[7,1]",
        "f6e2m3fn[9,7]:[8,1]+3",
        "f6e2m3fn[9,7]{0,1:T(4,3)E(6)}",
        "f6e2m3fn[9,7]",
        "f6e2m3fn[9,7]{0,1}",
    ],
    &["pred[5,67]{1,0:E(1)}", "pred[5,67]{0,1:E(1)}", "pred[5,67]{1,0}", "pred[5,67]{1,0:T(3,5)E(1)}"],
    // Rows are a line, or a page and a few bytes. Elements are two lines. Axes have one index, or none.
    &[
        "f32[65,1025]",
        "f32[65,1025]{0,1}",
        "f32[65,1025]{1,0:T(8,128)}",
        "f32[65,1025]:[1040,1]",
        "f32[65,1025]:[1,65]+1",
    ],
    &[
        "c128[1,33,1,5]{3,2,1,0}",
        "c128[1,33,1,5]{0,1,2,3}",
        "c128[1,33,1,5]:[7,6,1,1]",
        "c128[1,33,1,5]{3,2,1,0:T(2,2)}",
    ],
    &["bf16[3,0,5]", "bf16[3,0,5]{0,1,2:T(8,128)(2,1)}", "bf16[3,0,5]:[1,1,1]+2"],
    // The total is rounded up after the last element.
    &["u8[3]", "u8[3]{0:T(2)}", "u8[3]:[5]", "u8[3]:[1]+2"],
];

/// If all of the memory is written, it is equal after a copy, whatever it held before.
#[test]
fn every_byte_is_written_whatever_it_held() {
    for (from, to) in
        GROUPS.iter().flat_map(|group| group.iter().flat_map(|from| group.iter().map(move |to| (from, to))))
    {
        let side = |text: &str| text.parse::<Notated>().unwrap_or_else(|error| panic!("{text}: {error}"));
        let plan = Relayout::new(&side(from), &side(to)).unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let source = noise(size(plan.source_size_in_bytes()), 1);
        for padding in [Padding::Zero, Padding::Fill(1), Padding::Keep] {
            let plan = plan.clone().with_padding_everywhere(padding).unwrap();
            let plans = CpuFamily::ALL.into_iter().map(|family| plan.clone().with_cpu_family(family));
            for plan in plans.chain([plan.clone().with_streaming(true), plan.clone()]) {
                let name = || format!("{from} to {to}, {padding:?}\n{}", plan.explain());
                let whole = size(plan.destination_size_in_bytes());
                let results = [0x00, 0xff].map(|held| {
                    let mut memory = memory(held, whole);
                    plan.run_uninit(&source, &mut memory).map(|bytes| bytes.to_vec())
                });
                let [Ok(zeros), Ok(ones)] = &results else {
                    let refused =
                        results.iter().all(|result| matches!(result, Err(error) if error.code() == "padding_kept"));
                    assert!(refused && padding == Padding::Keep, "{}", name());
                    continue;
                };
                let mut expected = vec![0x55; whole];
                plan.run(&source, &mut expected).unwrap();
                assert!(zeros == &expected && ones == &expected, "{}", name());
                for piece in plan.partition(5).unwrap() {
                    let range = piece.destination_range();
                    for held in [0x00, 0xff] {
                        let mut memory = memory(held, range.len());
                        let bytes = piece.run_uninit(&source, &mut memory).unwrap();
                        assert!(bytes == &expected[range.clone()], "{range:?}: {}", name());
                    }
                }
            }
        }
    }
}
