//! Copies that are large enough for threads give equal bytes on any number of threads.
#![cfg(feature = "rayon")]

use crate::literal::replanned::{Replanned, levels, reversing};
use rayon::ThreadPoolBuilder;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout_text::Layout;

/// Pairs with loops that threads share, and pairs that are cut into pieces of the destination instead.
const PAIRS: [(&str, &str); 10] = [
    ("f32[16,64,28,28]:NCHW", "f32[16,64,28,28]:NHWC"),
    ("f32[24,9,20,17,16]{4,3,2,1,0}", "f32[24,9,20,17,16]{0,1,2,3,4}"),
    ("f32[16,32,64,32]{3,2,1,0}", "f32[16,32,64,32]{2,0,1,3}"),
    ("bf16[520,1000]{1,0}", "bf16[520,1000]{1,0:T(8,128)(2,1)}"),
    ("f32[523,1001]{1,0:T(8,128)}", "f32[523,1001]{1,0}"),
    ("u8[12,3,200,300]:NCHW", "u8[12,3,200,300]:NHWC"),
    ("f32[40,64,150]:[0,1,64]", "f32[40,64,150]{2,1,0}"),
    ("f32[700,900]{1,0}", "f32[700,900]{0,1}"),
    ("f32[960,1920]:Ba48b", "f32[960,1920]:Ba32b"),
    ("s4[1030,1024]{1,0:E(4)}", "s4[1030,1024]{1,0:T(64,128)(8,1)E(4)}"),
];

#[test]
fn threads_write_what_one_does() {
    let noise = |bytes: u64, seed: u64| -> Vec<u8> {
        (0..bytes).map(|i| ((i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    };
    for (from, to) in PAIRS {
        let (from, to): (Layout, Layout) = (from.parse().unwrap(), to.parse().unwrap());
        let relayout = Relayout::new(&from, &to).unwrap();
        for padding in [Padding::Keep, Padding::Fill(1)] {
            for level in levels() {
                let relayout = relayout.clone().with_padding_of_whole_buffer(padding).unwrap().with_kernel_level(level);
                let source = noise(relayout.source_size_in_bytes(), 1);
                let mut expected = noise(relayout.destination_size_in_bytes(), 2);
                let mut found = [expected.clone(), expected.clone()];
                relayout.run(&source, &mut expected).unwrap();
                for (threads, found) in [2, 7].into_iter().zip(&mut found) {
                    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| relayout.run_parallel(&source, &mut *found)).unwrap();
                    assert!(*found == expected, "{threads} threads, {level}\n{}", relayout.explain());
                }
            }
        }
    }
}

/// Rows of bytes, and rows of pixels of three bytes, are mirrored.
#[test]
fn threads_share_rows_that_are_mirrored() {
    for (text, unit, pixels) in [("u8[1200,1500]{1,0}", 1, 1500), ("u8[800,700,3]{2,1,0}", 3, 700)] {
        let layout: Layout = text.parse().unwrap();
        let relayout = reversing(&layout, &layout, &[1]).unwrap();
        let source: Vec<u8> = (0..relayout.source_size_in_bytes()).map(|i| (i * 7 + i / 251) as u8).collect();
        let rows = source.chunks(unit * pixels);
        let expected: Vec<u8> = rows.flat_map(|row| row.chunks(unit).rev().flatten().copied()).collect();
        for level in levels() {
            let relayout = relayout.clone().with_kernel_level(level);
            let mut found = vec![0; expected.len()];
            let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            pool.install(|| relayout.run_parallel(&source, &mut found)).unwrap();
            assert!(found == expected, "{level}\n{}", relayout.explain());
        }
    }
}
