//! Tensors of ggml's blocks, and layouts of several parts, on the command line.

use std::fs;
use std::path::Path;

use crate::command_line::{folder, run};

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
