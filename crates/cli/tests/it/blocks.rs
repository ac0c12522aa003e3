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
    // Between two layouts of groups.
    fs::write(&rows, (0..144).collect::<Vec<u8>>()).unwrap();
    assert_eq!(convert("ggml.q4_0x4<4>:q4_0[8,32]", "ggml.q4_0x8", &rows, &groups).status, 0);
    assert_eq!(
        fs::read(&groups).unwrap()[..20],
        [0, 1, 2, 3, 4, 5, 6, 7, 72, 73, 74, 75, 76, 77, 78, 79, 8, 9, 10, 11]
    );
}

#[test]
fn planes_of_values_and_scales_are_converted_together() {
    let folder = folder("scaled");
    let (plain, swizzled) = (folder.join("plain"), folder.join("swizzled"));
    fs::write(&plain, (0..72).collect::<Vec<u8>>()).unwrap();
    let [from, to] =
        ["f8e4m3fn", "nvidia.sf_128x4:f8e4m3fn"].map(|scales| format!("f4e2m1fn[4,32] with {scales} per 16"));
    let files = [&plain, &swizzled].map(|path| path.to_str().unwrap());
    assert_eq!(run(&["convert", "--from", &from, "--to", &to, files[0], files[1]]).status, 0);
    let bytes = fs::read(&swizzled).unwrap();
    assert_eq!((bytes.len(), &bytes[..64]), (64 + 512, &(0..64).collect::<Vec<u8>>()[..]));
    // Two scales of each row, at each multiple of 16; the rest of a tile of 128 rows is zero.
    assert_eq!(bytes[64..84], [64, 65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 66, 67, 0, 0]);
}
