//! The explanation of a plan: the facts that people look for, not the sentences around them.
//! `src/relayout/tests/kernels.rs` tests that the kernels that the explanation names are the kernels that
//! run.

use crate::literal::replanned::Replanned;
use tensor_layout::notation::Notated;
use tensor_layout::relayout::{CpuFamily, KernelLevel, Padding, Relayout};

fn plan(from: &str, to: &str) -> Relayout {
    let (from, to): (Notated, Notated) = (from.parse().unwrap(), to.parse().unwrap());
    Relayout::new(&from, &to).unwrap()
}

fn explain(from: &str, to: &str, padding: Padding) -> String {
    plan(from, to).with_padding(padding).unwrap().with_kernel_level(KernelLevel::Portable).explain()
}

#[track_caller]
fn says(words: &str, facts: &[&str]) {
    for fact in facts {
        assert!(words.contains(fact), "{fact} is not in\n{words}");
    }
}

#[test]
fn a_plan_of_one_pass() {
    let words = explain("f32[32,64,112,112]:NCHW", "f32[32,64,112,112]:NHWC", Padding::Zero);
    let numbers = ["1 box", "loop of 32", "64 rows x 12544 columns of 4-byte units", "pitch 50176", "pitch 256"];
    says(&words, &numbers);
    says(&words, &["98 MiB read and 98 MiB written", "stores: non-temporal", "8 MiB", "loops in safe Rust"]);
    says(&words, &["kernels: portable", "padding: none"]);
    says(&words, &["L1 data cache of ", "prefetch: above ", "rules: "]);
}

/// Signs show both directions of a loop.
#[test]
fn what_counts_down_has_a_sign() {
    let side: Notated = "u8[40,300]".parse().unwrap();
    let words = Relayout::reversing(&side, &side, &[0]).unwrap().with_streaming(false).explain();
    says(&words, &["source +300, destination -300"]);
}

#[test]
fn the_rules_of_each_family() {
    for (family, rules) in [
        (CpuFamily::Neutral, "panel rows of 256 bytes"),
        (CpuFamily::Zen3, "short runs of tiles joined"),
        (CpuFamily::Zen4, "panels staged as their pitches want it"),
        (CpuFamily::Zen5, "scattered order in the L2 cache"),
        (CpuFamily::SapphireRapids, "panels prefetched into L1"),
    ] {
        let words = plan("u8[64]", "u8[64]").with_cpu_family(family).explain();
        says(&words, &[&format!("machine: {family}, "), rules]);
    }
}

/// The panels, their staging buffer and the prefetch distance belong to the kernel that is named.
#[test]
fn the_numbers_of_a_kernel() {
    let words = plan("f32[32,64,112,112]:NCHW", "f32[32,64,112,112]:NHWC").explain();
    let kernel = words.lines().find(|line| line.contains("kernel: ")).unwrap();
    if KernelLevel::in_use() == KernelLevel::Portable {
        return says(kernel, &["loops in safe Rust"]);
    }
    says(kernel, &["register blocks in panels", "64 rows x ", " ahead into the L"]);
    // Three channels are interleaved without panels.
    let words = plan("f32[32,3,224,224]:NCHW", "f32[32,3,224,224]:NHWC").explain();
    says(&words, &["kernel: interleave in registers"]);
    assert!(!words.contains("panels of "), "{words}");
}

#[test]
fn how_padding_is_written() {
    let rows = |padding| explain("f32[32,31]:[31,1]", "f32[32,31]:[32,1]", padding);
    let tiles = explain("f32[15,2000]{1,0}", "f32[15,2000]{1,0:T(8,128)}", Padding::Fill(1));
    let three = explain("f32[32,3,224,224]:NCHW", "f32[32,3,224,224]:nChw8c", Padding::Zero);
    let channels = explain("f32[32,67,112,112]:NCHW", "f32[32,67,112,112]:nChw8c", Padding::Zero);
    says(&rows(Padding::Keep), &["padding: 124 bytes of its own, kept"]);
    says(
        &rows(Padding::Zero),
        &["124 bytes of its own, set to zero", "4092 bytes of the destination are filled first"],
    );
    says(&tiles, &["10.8 KiB of its own, 0x1 in every element", "3 boxes, written after the elements"]);
    says(&channels, &["1 box, 12.2 MiB with the gaps, written before the elements", "27 blocks"]);
    says(&three, &["blocks of about 4.0 MiB"]);
}

#[test]
fn several_passes_and_one_element() {
    let staged = explain("f32[6,5,7]{2,1,0:T(*,4,3)}", "f32[6,5,7]{2,0,1:T(*,4,3)}", Padding::Keep);
    says(&staged, &["pass 1 of 2, into a buffer of 840 bytes", "pass 2 of 2, into the destination"]);
    says(&explain("f32[1]", "f32[1]", Padding::Keep), &["one contiguous run of 4 bytes"]);
}

/// Elements that begin inside bytes go through buffers, and a small copy runs as plain loops.
#[test]
fn other_ways_to_run() {
    let bits = plan("u4[64,65]{1,0:E(4)}", "u4[64,65]{0,1:E(4)}").explain();
    says(&bits, &["into a buffer of 16 KiB", "out of the buffer", "begin inside bytes"]);
    says(&plan("f32[2,3]", "f32[2,3]{0,1}").explain(), &["kernel: plain loops"]);
}
