//! Tensors of ggml's blocks, and layouts of several parts, on the command line.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::command_line::{folder, run};

#[test]
fn every_command_answers_for_blocks() {
    let of = |arguments: &[&str]| {
        let run = run(arguments);
        assert_eq!(run.status, 0, "{run:?}");
        run.stdout
    };
    let described = of(&["describe", "q4_0[4096,4096]"]);
    assert!(described.contains("  sizes      [4096,4096], q4_0: 32 values of axis 1 in 18 bytes\n"), "{described}");
    assert!(described.contains("  bytes      u8[4096,128,18]:[2304,18,1]\n"), "{described}");
    assert!(described.contains("  value 31   bits 4 to 7 of byte 17\n"), "{described}");
    assert!(described.lines().all(|line| line.len() <= 82), "{described}");
    assert!(of(&["describe", "q8_K[1,256]"]).contains("  value 255  byte 259\n"));
    let object = run(&["--json", "describe", "q4_0[4,64]:[40,18]"]).object();
    assert_eq!(object["blocks"]["byte_strides"], json!([40, 18]));
    assert_eq!(of(&["offset", "q4_0[4,64]", "1,50"]), "58\n");
    assert_eq!(of(&["offset", "q4_0[4,64]", "57", "--inverse"]), "[1,33] and [1,49]\n");
    assert!(of(&["offset", "ggml.q4_0x4<8>:q4_0[4,64]", "1,50", "--explain"]).ends_with("at byte 90\n90\n"));
    assert!(of(&["offset", "bits.high_first:u4[4,64]", "1,2", "--explain"]).contains("at bit 4 of byte 33"));
    assert_eq!(of(&["view", "q4_0[4,64]", "--slice", "1:3,32:"]), "q4_0[2,32]:[36,18]+54\n");
    assert!(of(&["check", "q8_0[4096,4096]", "--limits", "webgpu"]).ends_with("ok\n"));
    let drawn = of(&["draw", "q4_0[2,64]"]);
    assert!(drawn.contains("72 elements, no padding"));
    assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
    for (other, reason) in [
        ("q4_0[4,64]:[40,18]", "byte 0 of the block of [1,0] is stored at byte 36 in the first and 40 in the second"),
        ("iq4_nl[4,64]", "one has blocks of q4_0 and the other blocks of iq4_nl"),
        ("q4_0[2,2,64]", "the sizes are [4,64] and [2,2,64]"),
        ("f32[4,64]", "one has blocks of q4_0 and the other f32 elements [4,64]"),
    ] {
        let same = run(&["same", "q4_0[4,64]", other]);
        assert!(same.status == 1 && same.stdout == format!("no: {reason}\n"), "{same:?}");
    }
    assert_eq!(run(&["same", "q4_0[4,64]", "u8[4,2,18]"]).status, 0);
    let backwards = of(&["view", "q4_0[4,64]", "--slice", "::-1,:"]);
    assert_eq!(backwards, "q4_0[4,64]:[36,18]\n  reversed   axes [0]: index [0,0] is stored at byte 108\n");
    let plan = of(&["convert", "--explain", "--from", "q4_0[3,64]:[40,18]", "--to", "packed"]);
    assert!(plan.contains("to   q4_0[3,64]:[36,18]\n"), "{plan}");
    let refusals: [(&[&str], &str); 15] = [
        (&["convert", "--explain", "--from", "iq4_nl[4,64]", "--to", "ggml.q4_0x8:q4_0[8,64]"], "iq4_nl, but q4_0"),
        (&["convert", "--explain", "--from", "q4_0[4,32]", "--to", "ggml.q4_0x4<8>:q4_0[4,64]"], "size 2 was expected"),
        (
            &["convert", "--explain", "--from", "u8[4,2,20]", "--to", "ggml.q4_0x4<8>:q4_0[4,64]"],
            "size 18 was expected",
        ),
        // The rank of the bytes is 4, but C is not the rows of blocks.
        (&["convert", "--explain", "--from", "q4_0[2,3,64]", "--to", "nhwc"], "`nhwc` orders elements"),
        (&["describe", "q4_2[2,64]"], "found `q4_2`"),
        (&["offset", "q4_0[2,64]", "0,64"], "index 64 on axis 1 is out of range: its size is 64"),
        (&["view", "q4_0[4,64]", "--slice", ":,::-1"], "axis 1 is stored in blocks of values, so it runs forwards"),
        // Blocks of as many bytes, whose values are stored otherwise.
        (&["convert", "--explain", "--from", "q4_0[3,64]", "--to", "iq4_nl[3,64]"], "iq4_nl, but q4_0 was expected"),
        (&["convert", "--explain", "--from", "q4_0[3,64]", "--to", "f32[3,64]"], "the data type is f32, but q4_0"),
        (&["convert", "--explain", "--from", "s8[3,2,18]", "--to", "q4_0[3,64]"], "the data type is q4_0, but s8"),
        (&["check", "q8_0[4096,4096]", "--limits", "directml"], "takes tensors of elements, not of blocks"),
        (&["describe", "q4_0[4,33]"], "size 33 of axis 1 is not a multiple of 32, the values of a block of q4_0"),
        (&["view", "q4_0[4,64]", "--slice", "1:3,16:"], "start 16 of axis 1 is not a multiple of 32"),
        (&["view", "q4_0[4,64]", "--permute", "1,0"], "axis 1 is stored in blocks of 32 values, so it stays innermost"),
        (&["convert", "--explain", "--from", "q4_0[3,64]", "--to", "ggml.q4_0x4<8>"], "needs R % 4 = 0, and R is 3"),
    ];
    for (arguments, complaint) in refusals {
        let run = run(arguments);
        assert!(run.status == 1 && run.stderr.contains(complaint), "{run:?}");
    }
}

#[test]
fn files_are_repacked_and_back() {
    let folder = folder("blocks");
    let (rows, groups, back) = (folder.join("rows"), folder.join("groups"), folder.join("back"));
    let bytes: Vec<u8> = (0..144).collect();
    fs::write(&rows, &bytes).unwrap();
    let convert = |from, to, input: &Path, output: &Path| {
        run(&["convert", "--from", from, "--to", to, input.to_str().unwrap(), output.to_str().unwrap()])
    };
    assert_eq!(convert("q4_0[4,64]", "ggml.q4_0x4<8>", &rows, &groups).status, 0);
    // Four scales, then 8 bytes of each row, whose upper bits of each nibble are flipped.
    assert_eq!(fs::read(&groups).unwrap()[..10], [0, 1, 36, 37, 72, 73, 108, 109, 2 ^ 0x88, 3 ^ 0x88]);
    assert_eq!(convert("ggml.q4_0x4<8>:q4_0[4,64]", "q4_0[4,64]", &groups, &back).status, 0);
    assert_eq!(fs::read(&back).unwrap(), bytes);
    assert_eq!(convert("u4[4,72]:[72,1]", "bits.high_first", &rows, &groups).status, 0);
    assert_eq!(fs::read(&groups).unwrap(), bytes.iter().map(|byte| byte.rotate_left(4)).collect::<Vec<_>>());
    let refused = convert("q4_0[4,96]", "ggml.q4_0x4<8>", &rows, &groups);
    assert!(refused.stderr.contains("144 bytes, but q4_0[4,96]:[54,18] takes 216 bytes"), "{refused:?}");
    let refused = convert("bits.high_first:u4[4,72]", "bits.high_first:u4[4,72]", &rows, &groups);
    assert!(refused.stderr.contains("both sides have several parts"), "{refused:?}");
}
