//! Copies into memory that is only written read none of it.
//!
//! An x86 page cannot be writable and not readable. So the destination is on pages without any access. Each
//! instruction that touches it faults, and the processor tells whether the access was a write. The
//! instruction then runs alone, and the pages are closed again. The counts are of the loads and stores of the
//! real kernels, including `memcpy`.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(unsafe_code, reason = "signal handlers, page protection, and memory by its pointer")]

use crate::literal::replanned::{Replanned, levels};
use std::ptr::NonNull;

use crate::trap::Trap;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tensor_layout::relayout::{Destination, Level, Padding, Relayout};
use tensor_layout_text::Layout;

/// Pairs that take every path of a copy: the nests of all kernels, elements that share bytes, filled padding,
/// and several passes.
const PAIRS: &[(&str, &str)] = &[
    // These are contiguous runs of all lengths: joined, not joined, repeated, and from a table.
    ("u8[900]", "u8[900]"),
    ("u8[10,7]:[9,1]", "u8[10,7]"),
    ("f32[10,7]:[9,1]", "f32[10,7]"),
    ("u8[9,300]:[333,1]", "u8[9,300]"),
    ("u8[3,1100]:[1333,1]", "u8[3,1100]"),
    ("f32[17,3]:[1,0]", "f32[17,3]"),
    ("f32[9,5]:[0,1]", "f32[9,5]"),
    ("f32[192]{0:T(48)}", "f32[192]{0:T(32)}"),
    ("f32[4,96]{1,0:T(2,48)}", "f32[4,96]{1,0:T(4,32)}"),
    // These are transposes of all units, with edges; rows that share a set of the cache; axes from a table;
    // and runs.
    ("u8[35,70]", "u8[35,70]{0,1}"),
    ("bf16[35,40]", "bf16[35,40]{0,1}"),
    ("f32[35,19]", "f32[35,19]{0,1}"),
    ("f64[19,11]", "f64[19,11]{0,1}"),
    ("c128[9,11]", "c128[9,11]{0,1}"),
    ("f32[40,16]:[4096,1]", "f32[40,16]{0,1}"),
    ("f32[3,40,16]", "f32[3,40,16]:[16,1024,1]"),
    ("f32[260,9]", "f32[260,9]:[1,1024]"),
    ("f32[2,3,2,3,2,3]", "f32[2,3,2,3,2,3]{0,1,2,3,4,5}"),
    ("f32[13,11,3]", "f32[13,11,3]{2,0,1}"),
    ("u8[13,11,5]", "u8[13,11,5]{2,0,1}"),
    ("f32[9,11,32]", "f32[9,11,32]{2,0,1}"),
    // These are rows that are interleaved and deinterleaved, also by byte shuffles and as micro-tiles.
    ("u8[3,300]", "u8[3,300]{0,1}"),
    ("u8[300,3]", "u8[300,3]{0,1}"),
    ("bf16[3,300]", "bf16[3,300]{0,1}"),
    ("bf16[300,3]", "bf16[300,3]{0,1}"),
    ("f32[16,100]", "f32[16,100]{0,1}"),
    ("f32[100,8]", "f32[100,8]{0,1}"),
    ("bf16[16,256]", "bf16[16,256]{1,0:T(8,128)(2,1)}"),
    ("bf16[16,256]{0,1:T(8,128)(2,1)}", "bf16[16,256]{1,0:T(8,128)(2,1)}"),
    // These have ragged edges, and padding in long runs and in short runs.
    ("f32[9,300]", "f32[9,300]{1,0:T(8,128)}"),
    ("bf16[2,20,30]", "bf16[2,20,30]{2,1,0:T(8,128)(2,1)}"),
    ("f32[1,3,20,20]", "f32[1,3,20,20]:NHWC"),
    ("f32[3,400]", "f32[3,400]{0,1:T(4)}"),
    ("f32[20,30]", "f32[20,30]:[37,1]"),
    ("u8[20,30]", "u8[20,30]:[64,2]+3"),
    // These have elements that share bytes: whole bytes, rows, planes, single elements, any width.
    ("s4[32,64]{1,0:E(4)}", "s4[32,64]{0,1:E(4)}"),
    ("s4[33,65]{1,0:E(4)}", "s4[33,65]{0,1:E(4)}"),
    ("u2[37,29]{1,0:E(2)}", "u2[37,29]{0,1:E(2)}"),
    ("pred[53,47]{1,0:E(1)}", "pred[53,47]{0,1:E(1)}"),
    ("s4[30,31]{1,0:E(4)}", "s4[30,31]{1,0:T(8,16)E(4)}"),
    ("s4[3,5,7]{2,1,0:E(4)}", "s4[3,5,7]{0,2,1:E(4)}"),
    ("u8[9,11]{1,0:E(11)}", "u8[9,11]{0,1:E(11)}"),
    ("u8[9,12]{1,0:E(5)}", "u8[9,12]{1,0:T(4,4)E(5)}"),
    // These change the storage width, both ways.
    ("s4[9,20]{1,0:E(4)}", "s4[9,20]"),
    ("s4[9,21]{1,0:E(4)}", "s4[9,21]{0,1}"),
    ("s4[9,21]", "s4[9,21]{0,1:E(4)}"),
    // These take several passes: one side is Irreducible, or the sides fuse dimensions in contradicting
    // orders.
    ("f32[6,5,4]", "f32[6,5,4]{2,1,0:T(2,3,2)(*,2,1)}"),
    ("f32[6,5,4]{2,1,0:T(2,3,2)(*,2,1)}", "f32[6,5,4]"),
    ("s4[6,5,4]{2,1,0:E(4)}", "s4[6,5,4]{2,1,0:T(2,3,2)(*,2,1)E(4)}"),
    ("f32[6,5,4]{2,1,0:T(*,*,7)}", "f32[6,5,4]{0,1,2:T(*,*,11)}"),
    ("f32[0,5]", "f32[0,5]{0,1}"),
];

fn parsed(text: &str) -> Layout {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn noise(length: u64) -> Vec<u8> {
    (0..length).map(|i| (i.wrapping_add(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// How a copy is planned and run.
#[derive(Debug, Clone, Copy)]
struct How {
    padding: Padding,
    level: Level,
    streaming: bool,
    /// The number of bytes between the beginning of a line and the destination.
    shift: usize,
    pieces: usize,
}

/// Runs a copy into a trap, whole or in pieces, and compares it with the ordinary copy.
fn check(trap: &Trap, relayout: &Relayout, how: How, name: &str) {
    let How { padding, level, streaming, shift, pieces } = how;
    let relayout = relayout
        .clone()
        .with_padding_of_whole_buffer(padding)
        .unwrap()
        .with_kernel_level(level)
        .with_streaming(streaming);
    let source = noise(relayout.source_size_in_bytes());
    let size = usize::try_from(relayout.destination_size_in_bytes()).unwrap();
    let before: Vec<u8> = (0..size).map(|i| 0x5a ^ i as u8).collect();
    let mut expected = before.clone();
    relayout.run(&source, &mut expected).unwrap();

    let pieces = relayout.cut(pieces, 1);
    for whole in [true, false] {
        let at = format!("{name}, whole {whole}, {how:?}\n{}", relayout.explain());
        let place = trap.memory(shift, &before);
        let closed = trap.closed();
        let mut refusals = 0;
        let mut run = |range: std::ops::Range<usize>,
                       run: &dyn Fn(Destination<'_>) -> Result<(), tensor_layout::Error>| {
            // SAFETY: the range is inside the memory.
            let start = NonNull::slice_from_raw_parts(unsafe { place.add(range.start) }, range.len());
            // SAFETY: the memory is writable, although slowly, and nothing else accesses it.
            if let Err(error) = run(unsafe { Destination::write_only(start) }) {
                assert_eq!(error.code(), "destination_read", "{at}");
                refusals += 1;
            }
        };
        if whole {
            run(0..size, &|memory| relayout.run(&source, memory));
        } else {
            pieces.iter().for_each(|piece| run(piece.destination_range(), &|memory| piece.run(&source, memory)));
        }
        let touched = closed.open();
        assert!(touched.reads == 0, "{} bytes were read: {at}", touched.reads);
        let found = trap.contents(shift, size);
        if refusals > 0 {
            // Elements share bytes, or padding goes through the levels of an Irreducible layout.
            assert!(relayout.destination().element_bits() % 8 > 0 || padding == Padding::Keep, "refused: {at}");
            // Some pieces may have been written before another piece was refused.
            assert!(found == before && touched.writes == 0 || !whole, "written although it was refused: {at}");
        } else {
            assert!(found == expected, "{at}");
        }
        assert!(trap.guards_are_whole(shift, size), "written outside: {at}");
    }
}

#[test]
fn nothing_is_read_where_a_copy_is_only_written() {
    let trap = Trap::new(1 << 19);
    for (number, (from, to)) in PAIRS.iter().enumerate() {
        let relayout = Relayout::new(&parsed(from), &parsed(to)).unwrap();
        for (place, level) in levels().into_iter().enumerate() {
            // The safe kernels cannot read the destination, and write it in small parts. Every sixth of their
            // runs is enough.
            if level == Level::Portable && number % 6 > 0 {
                continue;
            }
            let paddings = [Padding::Keep, Padding::Zero, Padding::Fill(1)];
            for (run, streaming) in [true, false].into_iter().enumerate() {
                let padding = paddings[(number + place + run) % 3];
                let how = How { padding, level, streaming, shift: (number + place) % 3 * 32, pieces: 3 };
                check(&trap, &relayout, how, &format!("{from} -> {to}"));
            }
        }
    }
    // This copy reads its destination, to check that the trap counts reads.
    let relayout = Relayout::new(&parsed("s4[3,5]{1,0:E(4)}"), &parsed("s4[3,5]{0,1:E(4)}")).unwrap();
    let place = trap.memory(0, &[0; 8]);
    let closed = trap.closed();
    // SAFETY: these are eight bytes of the trap.
    relayout.run(&noise(8), unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), 8) }).unwrap();
    let touched = closed.open();
    assert!(touched.reads > 0 && touched.writes > 0, "{touched:?}");
    random_pairs(&trap);
}

/// Checks that copies between random layouts never read their destination.
fn random_pairs(trap: &Trap) {
    let shape = |data_type: &'static str| {
        (1..12_u64, 1..24_u64, 1..6_u64, 1..20_u64, 1..3_u64).prop_map(move |(rows, columns, a, b, c)| {
            let bits = if data_type == "s4" { "E(4)" } else { "" };
            format!(
                "{{1,0:T({a},{b})({c},1){bits}}}|{{0,1:T({b},{a}){bits}}}|{{1,0{}{bits}}}|{rows},{columns}",
                if bits.is_empty() { "" } else { ":" }
            )
        })
    };
    let types = prop::sample::select(vec!["u8", "bf16", "f32", "c128", "s4"]);
    let strategy = types.prop_flat_map(move |data_type| {
        (Just(data_type), shape(data_type), 0..3_usize, 0..3_usize, 0..3_u128, 0..70_usize, any::<bool>(), 1..5_usize)
    });
    let mut runner = TestRunner::new(crate::literal::cases(25));
    runner
        .run(&strategy, |(data_type, shapes, from, to, padding, shift, streaming, pieces)| {
            let parts: Vec<&str> = shapes.split('|').collect();
            let text = |place: usize| format!("{data_type}[{}]{}", parts[3], parts[place]);
            let (from, to) = (text(from), text(to));
            let relayout = Relayout::new(&parsed(&from), &parsed(&to)).unwrap();
            let padding = [Padding::Keep, Padding::Zero, Padding::Fill(5)][padding as usize];
            for level in levels().into_iter().filter(|&level| level != Level::Portable) {
                check(trap, &relayout, How { padding, level, streaming, shift, pieces }, &format!("{from} -> {to}"));
            }
            Ok(())
        })
        .unwrap();
}
