//! Every claim, table and figure of five public pages about layouts, each by the command that answers it:
//! DirectML's page on strides, XLA's page on shapes and three translations of its page on tiled layout.

use crate::answers::words;
use crate::command_line::{run, run_with_input};

/// A claim in our words, the command, and texts that its answer has in this order.
type Claim = (&'static str, &'static str, &'static [&'static str]);

const STRIDES: &[Claim] = &[
    ("a stride is the number of elements to skip", "describe 'u8[2,3]:HW'", &["strides [3,1]"]),
    ("sizes keep the logical order", "describe 'u8[2,3]:WH'", &["[2,3]", "H=2 W=3", "strides [1,2]"]),
    ("the label DHW", "describe 'u8[2,2,3]:DHW'", &["D=2 H=2 W=3", "strides [6,3,1]"]),
    ("the label WHD", "describe 'u8[2,2,3]:WHD'", &["D=2 H=2 W=3", "strides [1,2,4]"]),
    ("the label NCHW", "describe 'u8[2,3,4,5]:NCHW'", &["N=2 C=3 H=4 W=5", "strides [60,20,5,1]"]),
    ("H at (1,0,1) is at 6 + 0 + 1", "offset 'u8[2,2,3]:DHW' 1,0,1", &["7\n"]),
    ("packed: as many offsets as elements", "describe 'u8[2,2,3]:DHW'", &["12 logical, 12 physical: no padding"]),
    ("rows with stride 0 are one", "describe 'u8[2,3]:[0,1]'", &["6 logical, 3 physical: elements share memory"]),
    ("channels with stride 0", "describe 'f32[2,3,4,5]:[60,0,5,1]'", &["120 logical, 80 physical"]),
    ("DMLCalcBufferTensorSize of it", "describe 'u8[2,3]:[5,1]'", &["8 bytes, DirectML's minimum"]),
    (
        "the picture's buffer of 10",
        r#"describe '{"DataType":"UINT8","Sizes":[2,3],"Strides":[5,1],"TotalTensorSizeInBytes":12}'"#,
        &["6 logical, 12 physical"],
    ),
    ("sizes and strides of 5 axes", "describe 'f32[2,3,4,5,6]:NDHWC'", &["strides [360,1,90,18,3]"]),
    ("ones in front", "view 'f32[3,5]' --reshape 1,1,3,5", &["f32[1,1,3,5]"]),
    (
        "no strides are packed ones",
        r#"describe '{"DataType":"FLOAT32","Sizes":[1,1,3,5],"Strides":null}'"#,
        &["strides [15,15,5,1]"],
    ),
    ("NCHW packed", "same 'f32[1,1,3,5]:NCHW' 'f32[1,1,3,5]:[15,15,5,1]'", &["yes"]),
    ("NHWC packed", "same 'f32[1,1,3,5]:NHWC' 'f32[1,1,3,5]:[15,1,5,1]'", &["yes"]),
];

const TILES: &[Claim] = &[
    ("figure 1", "describe 'F32[3,5]{1,0:T(2,2)}'", &["15 logical, 24 physical: 9 (37.5%) padding"]),
    (
        "element (2,3) of figure 1, in the page's steps",
        "offset 'f32[3,5]{1,0:T(2,2)}' 2,3 --explain",
        &["12", "5", "17"],
    ),
    ("a tile of fewer dimensions is of the last", "offset 'f32[2,3,5]{2,1,0:T(2,2)}' 1,2,3", &["41\n"]),
    (
        "pad, reshape, transpose",
        "describe 'f32[3,5]{1,0:T(2,2)}'",
        &["sizes   [2,2,3,2]", "strides [12,2,4,1]", "dims    [0,0,1,1]"],
    ),
    ("a later tile across earlier ones", "offset 'f32[4,4]{1,0:T(2,2)(2,1,1)}' 3,1", &["14\n"]),
    ("and back", "offset 'f32[4,4]{1,0:T(2,2)(2,1,1)}' 14 --inverse", &["3,1"]),
    (
        "dimensions that are joined",
        "describe 'F32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}'",
        &["12320 logical, 12432 physical", "fused"],
    ),
    ("as the joined array", "describe 'f32[112,110]{1,0:T(2,3)}'", &["12320 logical, 12432 physical"]),
    (
        "-1 stands for a joined dimension",
        "same 'f32[2,7,8,11,10]{4,3,2,1,0:T(-1,-1,2,-1,3)}' 'f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}'",
        &["yes"],
    ),
    ("tiles of 8 x 128", "describe --tpu v5e 'f32[64,256]'", &["T(8,128)}"]),
    ("2 rows", "describe --tpu v5e 'f32[2,256]'", &["T(2,128)}"]),
    ("1 row, on the chips of the page", "describe --tpu v3 'f32[1,256]'", &["T(2,128)}"]),
    ("3 and 4 rows", "describe --tpu v5e 'f32[3,256]' 'f32[4,256]'", &["T(4,128)}", "T(4,128)}"]),
    ("16 bits", "describe --tpu v5e 'bf16[64,256]'", &["T(8,128)(2,1)}"]),
    ("8 bits, on the chips of the page", "describe --tpu v3 's8[64,256]'", &["T(8,128)(4,1)}"]),
    ("1 bit", "describe 'pred[64,256]{1,0:T(32,128)(32,1)E(1)}'", &["2048 bytes"]),
    ("no tiles elsewhere", "describe 'f32[64,256]'", &["f32[64,256]{1,0}"]),
];

const SHAPES: &[Claim] = &[
    ("without a layout dimensions go from major to minor", "describe 'f32[2,3]'", &["f32[2,3]{1,0}"]),
    ("S(0) is left out", "describe 'f32[2]{0:S(0)}'", &["f32[2]{0}\n", "8 bytes\n"]),
    ("S(1) is VMEM", "describe 'f32[2]{0:S(1)}'", &["memory space 1, VMEM"]),
    ("S(2), S(3) and so on are the device's", "describe 'f32[2]{0:S(3)}'", &["memory space 3, CMEM"]),
    ("S(5) is the host", "describe 'f32[2]{0:S(5)}'", &["memory space 5, host"]),
    ("a size of 0 is valid", "describe 'f32[0,5]{1,0}'", &["0 logical, 0 physical", "0 bytes"]),
    ("negative numbers of dimensions", "view 'f32[2,3,5]' --permute=-1,-3,-2", &["f32[5,2,3]"]),
    ("y and x", "describe 'f32[2,3]:YX'", &["Y=2 X=3", "strides [3,1]"]),
    ("x before y", "same 'f32[2,3]:XY' 'f32[2,3]{0,1}'", &["yes"]),
    ("z, y and x", "describe 'f32[2,3,5]:ZYX'", &["Z=2 Y=3 X=5", "strides [15,5,1]"]),
    ("p, z, y and x", "describe 'f32[2,3,5,7]:PZYX'", &["P=2 Z=3 Y=5 X=7", "strides [105,35,7,1]"]),
    ("the tail is aligned after the tiles", "describe 'f32[3,5]{1,0:T(2,2)L(32)}'", &["15 logical, 32 physical"]),
    ("from an index to its place and back", "offset 'f32[2,3]{0,1}' 5 --inverse", &["1,2"]),
];

/// A claim, a layout, indices and the offsets of their elements.
const OFFSETS: &[(&str, &str, &str, &str)] = &[
    ("rows of 2 x 3: A B C D E F", "u8[2,3]:HW", "0,0 0,1 0,2 1,0 1,1 1,2", "0 1 2 3 4 5"),
    ("columns of 2 x 3: A D B E C F", "u8[2,3]:WH", "0,0 0,1 0,2 1,0 1,1 1,2", "0 2 4 1 3 5"),
    ("a row pitch of 5: A B C x x D E F", "u8[2,3]:[5,1]", "0,2 1,0 1,2", "2 5 7"),
    ("figure 2", "f32[4,8]{1,0:T(2,4)(2,1)}", "0,0 0,1 0,7 1,0 1,7 2,0 2,7 3,0 3,7", "0 2 14 1 15 16 30 17 31"),
    ("{0,1} of a b c / d e f: a d b e c f", "f32[2,3]{0,1}", "0,0 0,1 0,2 1,0 1,1 1,2", "0 2 4 1 3 5"),
    ("{1,0} of it", "f32[2,3]{1,0}", "0,0 0,1 0,2 1,0 1,1 1,2", "0 1 2 3 4 5"),
];

#[test]
fn offsets_of_the_pages() {
    for (claim, layout, indices, offsets) in OFFSETS {
        let input: String = indices.split(' ').map(|index| format!("{layout}\t{index}\n")).collect();
        let run = run_with_input(&["offset", "-"], &input);
        assert_eq!(run.stdout.split_whitespace().collect::<Vec<_>>().join(" "), *offsets, "{claim}: {}", run.stderr);
    }
}

#[track_caller]
fn check(claims: &[Claim]) {
    for (claim, command, expected) in claims {
        let words = words(command);
        let run = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.status, 0, "{claim}: {command}: {}", run.stderr);
        let mut rest = run.stdout.as_str();
        for text in *expected {
            let Some((_, after)) = rest.split_once(text) else {
                panic!("{claim}: {command}: no {text} in\n{}", run.stdout)
            };
            rest = after;
        }
    }
}

#[test]
fn claims_of_the_page_on_strides() {
    check(STRIDES);
}

#[test]
fn claims_of_the_page_on_tiled_layout() {
    check(TILES);
}

#[test]
fn claims_of_the_page_on_shapes() {
    check(SHAPES);
}

/// The two operations of XLA's page on shapes, with its line breaks.
const ADD: &str = "add.936 = bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}\nadd(exponential.183, broadcast.3115)\n";
const FUSION: &str = "%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}
fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} %fusion.32),
kind=kCustom, calls=%all-reduce-scatter.3
";

#[test]
fn operations_of_the_page_on_shapes() {
    for input in
        [format!("{ADD}{FUSION}"), format!("{ADD}\n{FUSION}").replace("\n\n", "\n"), format!("{ADD}{FUSION}f32[2]")]
    {
        let run = run_with_input(&["describe", "-", "--json"], &input);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let objects = run.objects();
        let [add, fusion] = [&objects[0], &objects[1]];
        assert_eq!((add["name"].as_str(), add["opcode"].as_str()), (Some("add.936"), Some("add")));
        assert_eq!(add["result"]["canonical"], "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}");
        assert_eq!(add["result"]["physical_size_in_bytes"], 8 * 1280 * 16384 * 2);
        assert_eq!(add["operands"][1], serde_json::json!({ "name": "broadcast.3115", "layout": null }));
        assert_eq!(fusion["attributes"], serde_json::json!({ "kind": "kCustom", "calls": "%all-reduce-scatter.3" }));
        assert_eq!(fusion["operands"][0]["name"], "fusion.32");
        assert_eq!(fusion["operands"][0]["layout"]["sizes"], serde_json::json!([32, 32, 8192]));
        let vmem = serde_json::json!({ "number": 1, "name": "VMEM" });
        assert_eq!(fusion["result"]["memory_space"], vmem);
        assert_eq!(fusion["operands"][0]["layout"]["memory_space"], vmem);
    }
    // As an argument, without its line break and with `ROOT`.
    let line = format!("ROOT {}", FUSION.replace('\n', " "));
    for text in [FUSION, &line] {
        let run = run(&["describe", text]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(
            run.stdout.starts_with("fusion.3: fusion, kind=kCustom, calls=%all-reduce-scatter.3"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("\n\noperand 0  fusion.32, bf16[32,32,8192]"), "{}", run.stdout);
    }
    let run = run_with_input(&["hlo", "-"], &format!("{ADD}{FUSION}"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("HBM") && run.stdout.contains("VMEM"), "{}", run.stdout);
    assert!(run.stdout.contains("3 operands are not defined in the text"), "{}", run.stdout);
}

#[test]
fn operations_are_refused_where_they_are_wrong() {
    let broken = "a = f32[2,3]{1,0:T(2,2} add(b, c)";
    let run = run(&["describe", broken]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("column 23"), "{}", run.stderr);
    // The next line is read on its own.
    let run = run_with_input(&["describe", "-", "--json"], "a = f32[2]{1} neg(b)\nf32[2]\na = f32[2] neg(\n\nf32[3]");
    let objects = run.objects();
    assert_eq!(
        objects.iter().map(|object| object["type"].as_str().unwrap()).collect::<Vec<_>>(),
        ["error", "layout", "error", "error", "layout"]
    );
    assert_eq!(objects[2]["line"], 3);
}

/// The memory space is none of what makes two layouts one.
#[test]
fn memory_spaces_are_no_part_of_a_layout() {
    let [here, there] = ["f32[2,3]{1,0}", "f32[2,3]{1,0:S(5)}"];
    assert!(run(&["same", here, there]).stdout.starts_with("yes"));
    let [here, there] = [here, there].map(|text| run(&["describe", "--json", text]).object());
    assert_eq!(here["fingerprint"], there["fingerprint"]);
    assert_eq!((&here["memory_space"], &there["memory_space"]["name"]), (&serde_json::Value::Null, &"host".into()));
    for (space, name) in [(9, None), (10, Some("SparseCore offload")), (15, Some("SparseCore offload"))] {
        let object = run(&["describe", "--json", &format!("f32[2]{{0:S({space})}}")]).object();
        assert_eq!(object["memory_space"], serde_json::json!({ "number": space, "name": name }));
    }
}
