//! What a plan says about itself.

use tensor_layout::notation::Notated;
use tensor_layout::relayout::{CpuFamily, KernelLevel, Padding, Relayout};

fn explain(from: &str, to: &str, padding: Padding) -> String {
    let (from, to): (Notated, Notated) = (from.parse().unwrap(), to.parse().unwrap());
    let relayout = Relayout::new(&from, &to).unwrap().with_padding(padding).unwrap();
    relayout.with_kernel_level(KernelLevel::Portable).explain()
}

#[test]
fn a_plan_of_one_pass() {
    let words = explain("f32[32,64,112,112]:NCHW", "f32[32,64,112,112]:NHWC", Padding::Zero);
    let expected = "\
1 box
  98 MiB, source byte 0 to destination byte 0
    loop of 32: source +3211264, destination +3211264
    transpose 64 rows x 12544 columns of 4-byte units: source row pitch 50176, destination row pitch 256
  traffic: 196 MiB, 98 MiB read and 98 MiB written
  stores: non-temporal, as 8 MiB or more are read and written
kernels: portable
padding: none
pieces: 8 for 8 threads, of 12.2 MiB
";
    let (plan, machine) = words.split_once("machine: ").unwrap();
    assert_eq!(plan, expected);
    for says in [
        "L1 data cache of ",
        " ways, ",
        "non-temporal stores: from 8 MiB read and written; prefetch: above ",
        "  rules: panel rows of ",
    ] {
        assert!(machine.contains(says), "{machine}");
    }
}

#[test]
fn the_rules_of_each_family() {
    let side: Notated = "u8[64]".parse().unwrap();
    for (family, says) in [
        (CpuFamily::Neutral, "rules: panel rows of 256 bytes\n"),
        (CpuFamily::Zen3, "256 bytes, no prefetch of rows that the hardware follows, short runs of tiles joined\n"),
        (CpuFamily::Zen4, "follows, panels staged as their pitches want it\n"),
        (CpuFamily::Zen5, "256 bytes, permuted order in the L2 cache\n"),
        (CpuFamily::SapphireRapids, "512 bytes, panels prefetched into L1, panels staged in registers of 16 units\n"),
    ] {
        let words = Relayout::new(&side, &side).unwrap().with_cpu_family(family).explain();
        assert!(words.contains(&format!("machine: {family}, L1 data cache of ")) && words.contains(says), "{words}");
    }
}

#[test]
fn the_schedule_of_vectors() {
    let (from, to): (Notated, Notated) =
        ("f32[32,64,112,112]:NCHW".parse().unwrap(), "f32[32,64,112,112]:NHWC".parse().unwrap());
    let words = Relayout::new(&from, &to).unwrap().explain();
    let vectors = KernelLevel::in_use() != KernelLevel::Portable;
    assert_eq!(words.contains("    panels of 64 rows x ") && words.contains(" ahead into the L"), vectors, "{words}");
}

#[test]
fn how_padding_is_written() {
    let rows = |padding| explain("f32[32,31]:[31,1]", "f32[32,31]:[32,1]", padding);
    let tiles = explain("f32[15,2000]{1,0}", "f32[15,2000]{1,0:T(8,128)}", Padding::Fill(1));
    let three = explain("f32[32,3,224,224]:NCHW", "f32[32,3,224,224]:nChw8c", Padding::Zero);
    let channels = explain("f32[32,67,112,112]:NCHW", "f32[32,67,112,112]:nChw8c", Padding::Zero);
    for (words, says) in [
        (rows(Padding::Keep), "padding: 124 bytes, kept\n"),
        (rows(Padding::Zero), "padding: 124 bytes, set to zero: all 4092 bytes of the destination are filled first"),
        (tiles, "padding: 10.8 KiB, 0x1 in every element: 3 boxes, written after the elements\n"),
        (channels, "set to zero: 1 box, 12.2 MiB with the gaps, written before the elements, in 27 blocks\n"),
        (three, "blocks of about 4.0 MiB are filled, each just before it is copied over\n"),
    ] {
        assert!(words.contains(says), "{words}");
    }
}

#[test]
fn what_is_not_cut() {
    let staged = explain("f32[6,9,2]{2,1,0}", "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", Padding::Keep);
    for says in [
        "pass 1 of 3, into a buffer of 432 bytes\n",
        "pass 3 of 3, into the destination\n",
        "pieces: one: a copy of several",
    ] {
        assert!(staged.contains(says), "{staged}");
    }
    let single = explain("f32[1]", "f32[1]", Padding::Keep);
    assert!(
        single.contains("copy one contiguous run of 4 bytes") && single.contains("pieces: one: the destination"),
        "{single}"
    );
}
