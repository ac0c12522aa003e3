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
    assert!(copied.status == 0 && copied.stdout.contains("2 copies, one for each run of blocks"), "{copied:?}");
    let sequence: Vec<u8> = (24..40).chain(0..6).collect();
    assert_eq!(fs::read(&dense).unwrap(), sequence);
    assert_eq!(convert("u8[11,1,2]:[2,2,1]", table, [&dense, &back]).status, 0);
    let kept: Vec<u8> = (0..40).map(|byte| if (6..24).contains(&byte) { 0 } else { byte }).collect();
    assert_eq!(fs::read(&back).unwrap(), kept);
    let refused = convert(table, "u8[12,1,2]:[2,2,1]", [&pool, &dense]);
    assert!(refused.stderr.contains("one side has 11 indices on axis 0 and the other 12"), "{refused:?}");
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

#[test]
fn caches_of_other_blocks_are_copied_by_tokens() {
    let list = |from: &str, to: &str| run(&["convert", "--transfers", "--from", from, "--to", to]);
    let blocks = "kv:LBHNC:u8[L=2,B=8,H=2,N=4,C=2]";
    for other in ["kv:LBHNC:u8[L=2,B=4,H=2,N=8,C=2]", "kv:LBHNC:u8[L=2,T=32,H=2,N=8,C=2]"] {
        let refused = list(blocks, other);
        assert!(refused.status == 1 && refused.stderr.contains("write T= on both sides"), "{refused:?}");
    }
    let heads = list(blocks, "kv:LBHNC:u8[L=2,B=8,H=3,N=4,C=2]");
    assert!(heads.status == 1 && !heads.stderr.contains("T="), "{heads:?}");
    assert_eq!(list("kv:LBHNC:u8[L=2,T=32,H=2,N=4,C=2]", "kv:LBHNC:u8[L=2,T=32,H=2,N=8,C=2]").status, 0);
    let none = list("kv:LBNHC:u8[L=2,B=0,H=2,N=4,C=2]", "kv:LBHNC:u8[L=2,B=0,H=2,N=4,C=2]");
    assert!(none.status == 0 && none.stdout.ends_with("0 transfers: there is nothing to copy\n"), "{none:?}");
    let empty = list("kv:LBNHC:u8[L=2,B=[]/8,H=2,N=4,C=2]", "u8[2,8,2,4,2]");
    assert!(empty.status == 1 && empty.stderr.contains("expected the number of a block"), "{empty:?}");
    // What only a layout in one place has is refused, not passed over.
    let tag = "09d31ad04dad649a8140d99a2c2e0846";
    let table = "kv:BNHC:u8[B=[3,4,0]/5,H=1,N=4,C=2]";
    let refused = run(&["convert", "--explain", "--from", table, "--to", "u8[3,1,4,2]", "--from-fingerprint", tag]);
    assert!(
        refused.status == 2 && refused.stderr.contains("--from-fingerprint is for layouts in one place"),
        "{refused:?}"
    );
}

#[test]
fn caches_are_recognised() {
    let found = run(&["names", "--kv", "bf16[5,4,3,12]:[144,36,12,1]", "--known", "H=3,C=12"]);
    assert_eq!(found.stdout, "cache                           order of\nkv:BNHC:bf16[B=5,H=3,N=4,C=12]  lmcache.NHD\n");
    let object =
        run(&["--json", "names", "--kv", "bf16[2,2,4,3,6]:[144,72,18,6,1]", "--known", "H=3,N=4,D=6,B=2"]).object();
    assert_eq!(object["caches"][1]["layout"], "kv:B2NHD:bf16[B=2,H=3,N=4,D=6]");
    assert_eq!(object["apart"], json!(["B=0,H=0,N=0,C=6 is at element 144 in 2BNHD and 72 in B2NHD"]));
    assert_eq!(run(&["names", "--kv", "bf16[5,4,3,12]:[168,42,14,1]"]).status, 1);
    let other = run(&["names", "--kv", "bf16[5,4,3,12]:[144,36,12,1]", "--known", "X=3"]);
    assert!(other.status == 2 && other.stderr.contains("`X` is none of them"), "{other:?}");
    let layer = run(&["names", "--kv", "bf16[5,4,3,12]:[144,36,12,1]", "--known", "H=5,C=12"]);
    assert!(layer.stdout.contains("a layer of vllm.LHBNC"), "{layer:?}");
    assert_eq!(run(&["names", "--kv", "bf16[5,4,3,12]:[144,36,12,1]", "--known", "H"]).status, 2);
}

#[test]
fn another_fingerprint_is_refused() {
    let tag = "09d31ad04dad649a8140d99a2c2e0846";
    let check = |layout: &str| run(&["check", layout, "--limits", "none", "--fingerprint", tag]);
    assert_eq!(check("f32[3,100]{1,0:T(8,128)}").status, 0);
    let refused = check("f32[3,100]:[100,1]");
    assert!(
        refused.status == 1 && refused.stderr.contains("and 09d31ad04dad649a8140d99a2c2e0846 was expected"),
        "{refused:?}"
    );
    let convert = |to: &str| {
        run(&[
            "convert",
            "--explain",
            "--from",
            "f32[3,100]:[128,1]",
            "--from-fingerprint",
            tag,
            "--to",
            "f32[3,100]",
            "--to-fingerprint",
            to,
        ])
    };
    assert_eq!(convert("009ed6bb6801277af8dced6afe99088c").status, 0);
    assert!(
        convert(tag).stderr.starts_with("error: f32[3,100]:[128,1] -> f32[3,100]{1,0}: the layout f32/32[3,100]+0")
    );
    assert_eq!(convert("x").status, 2);
}
