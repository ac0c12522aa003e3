//! What a plan says about itself.

use tensor_layout::notation::Notated;
use tensor_layout::relayout::{KernelLevel, Padding, Relayout, Tuning};

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
        "knobs: L1 ways ",
        "non-temporal from 8 MiB (trial)",
        "order in L2 ",
        "tuning: default\n",
    ] {
        assert!(machine.contains(says), "{machine}");
    }
    let [permuted, ascending] =
        ["permuted", "ascending"].map(|order| machine.contains(&format!("order in L2 {order} (")));
    assert!(permuted != ascending, "{machine}");
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
fn what_was_measured() {
    let (from, to): (Notated, Notated) =
        ("f32[1024,1280]{1,0}".parse().unwrap(), "f32[1024,1280]{0,1}".parse().unwrap());
    let relayout = Relayout::new(&from, &to).unwrap();
    let source: Vec<u8> = (0..1024 * 1280 * 4).map(|i: u32| i.to_le_bytes()[0] ^ i.to_le_bytes()[2]).collect();
    let (mut plain, mut measured) = (vec![0; source.len()], vec![0; source.len()]);
    relayout.run(&source, &mut plain).unwrap();
    let relayout = relayout.measured(&source, &mut measured).unwrap();
    assert!(plain == measured);
    let words = relayout.explain();
    // Eight plans: without a stage on machines that stage such panels without being asked, with runs of 256
    // bytes on others.
    let plans = relayout.trials().len();
    assert_eq!(plans, 8, "{words}");
    assert!(words.contains("\n  staged=off: ") != words.contains("\n  staged=256: "), "{words}");
    let tuning = format!("tuning: {}, the fastest of {plans} plans measured\n  default: ", relayout.tuning());
    assert!(words.contains(&tuning), "{words}");
    for tried in ["prefetch=off", "prefetch=2048", "staged=512", "staged=1024", "stores=ordinary"] {
        assert!(words.contains(&format!("\n  {tried}: ")), "{words}");
    }
    let trials = relayout.trials();
    assert_eq!(trials[0].0, Tuning::default());
    let fastest = trials.iter().min_by_key(|&&(_, time)| time).unwrap();
    assert_eq!(fastest.0, relayout.tuning());
    // Kept as a text, and given to another plan of the pair.
    let kept: Tuning = relayout.tuning().to_string().parse().unwrap();
    let again = Relayout::new(&from, &to).unwrap().with_tuning(kept).unwrap();
    assert!(again.tuning() == relayout.tuning() && again.trials().is_empty());
    // A copy in the caches has nothing to try; buffers that are too short are refused.
    let tiny: Notated = "u8[16]".parse().unwrap();
    let tiny = Relayout::new(&tiny, &tiny).unwrap();
    assert!(tiny.clone().measured(&[0; 15], &mut [0; 16]).is_err());
    assert_eq!(tiny.measured(&[0; 16], &mut [0; 16]).unwrap().trials().len(), 1);
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
