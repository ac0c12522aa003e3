//! KV caches and fingerprints on the command line.

use std::fs;

use serde_json::json;

use crate::command_line::{folder, run};

#[test]
fn a_block_table_is_read_from_a_file_and_written_to_one() {
    let folder = folder("kv_caches");
    let [pool, dense, back] = ["pool", "dense", "back"].map(|name| folder.join(name));
    let bytes: Vec<u8> = (0..40).collect();
    fs::write(&pool, &bytes).unwrap();
    let table = "kv:BNHC:u8[B=[3,4,0]/5,T=11,H=1,N=4,C=2]";
    let convert = |from: &str, to: &str, files: [&std::path::Path; 2]| {
        run(&["convert", "--from", from, "--to", to, files[0].to_str().unwrap(), files[1].to_str().unwrap()])
    };
    let copied = convert(table, "u8[11,1,2]:[2,2,1]", [&pool, &dense]);
    assert!(copied.status == 0 && copied.stdout.ends_with("22 bytes of u8[11,1,2]:[2,2,1]\n"), "{copied:?}");
    let sequence: Vec<u8> = (24..40).chain(0..6).collect();
    assert_eq!(fs::read(&dense).unwrap(), sequence);
    assert_eq!(convert("u8[11,1,2]:[2,2,1]", table, [&dense, &back]).status, 0);
    let kept: Vec<u8> = (0..40).map(|byte| if (6..24).contains(&byte) { 0 } else { byte }).collect();
    assert_eq!(fs::read(&back).unwrap(), kept);
    let refused = convert(table, "u8[12,1,2]:[2,2,1]", [&pool, &dense]);
    assert!(refused.stderr.contains("axis 0 has size 12, but size 11 was expected"), "{refused:?}");
    let refused = convert(table, "u8[11,1,2]:[2,2,1]", [&dense, &back]);
    assert!(
        refused.stderr.contains("has 22 bytes, but kv:BNHC:u8[B=[3,4,0]/5,T=11,H=1,N=4,C=2] takes 40 bytes"),
        "{refused:?}"
    );
    let list =
        run(&["--json", "convert", "--transfers", "--loops", "0", "--from", table, "--to", "u8[11,1,2]:[2,2,1]"])
            .object();
    assert_eq!((&list["count"], &list["bytes"]), (&json!(2), &json!(22)));
    let twice = "kv:BNHC:u8[B=[3,4,3]/5,T=11,H=1,N=4,C=2]";
    let refused = convert("u8[11,1,2]:[2,2,1]", twice, [&dense, &back]);
    let sentence = "the destination overlaps itself: indices [0, 0, 0] and [8, 0, 0] are both stored at element 24";
    assert!(refused.status == 1 && refused.stderr.contains(sentence), "{refused:?}");
    assert_eq!(convert(twice, "u8[11,1,2]:[2,2,1]", [&pool, &dense]).status, 0);
    let whole = run(&["--json", "convert", "--explain", "--from", table, "--to", "u8[11,1,2]:[2,2,1]"]).object();
    assert_eq!((&whole["parts"], &whole["source_bytes"]), (&json!(2), &json!(40)));
}
