//! Named layouts on the command line.

use crate::command_line::run;
use serde_json::json;

#[test]
fn names_are_layouts_of_every_command() {
    let of = |arguments: &[&str]| {
        let run = run(arguments);
        assert_eq!(run.status, 0, "{run:?}");
        run.stdout
    };
    let vectors = "tensorrt.kCHW16:f16[2,33,3,2]";
    let described = of(&["describe", "f16[2,33,3,2]{3,2,1,0:T(16,1,1)}"]);
    assert!(described.contains("\n  known as   tensorrt.kCHW16:f16[2,33,3,2]\n"), "{described}");
    let object = run(&["--json", "describe", vectors]).object();
    assert_eq!((&object["notation"], &object["canonical"]), (&json!("named"), &json!(vectors)));
    assert_eq!(object["known_as"], json!(["openvino.b_fs_yx_fsv16:f16[2,33,3,2]", "ascend.NC1HWC0:f16[2,33,3,2]"]));
    assert_eq!(object["notations"]["xla"]["text"], "f16[2,33,3,2]{3,2,1,0:T(16,1,1)}");
    assert_eq!(of(&["describe", "--as", "named", "f16[2,33,3,2]:nChw16c"]), format!("{vectors}\n"));
    assert!(of(&["offset", "nvidia.sf_128x4:f8e4m3fn[200,10]", "130,5"]).contains("2081"));
    assert!(of(&["same", vectors, "f16[2,33,3,2]:aBcd16b"]).starts_with("yes"));
    assert!(of(&["draw", "awq.qweight_u4:u4[2,16]"]).contains("awq.qweight_u4:u4[2,16]"));
    assert!(of(&["view", vectors, "--permute", "1,0,2,3"]).contains("f16[33,2,3,2]"));
    // A name alone takes the type and the sizes of the other side.
    let plan = of(&["convert", "--explain", "--from", "u4[32,128]{1,0:E(4)}", "--to", "marlin.qweight_u4"]);
    assert!(plan.contains("to   marlin.qweight_u4:u4[32,128]"), "{plan}");
    let plan = of(&["convert", "--explain", "--from", "gptq.qweight_u4:u4[32,128]", "--to", "marlin.qweight_u4"]);
    assert!(plan.contains("from gptq.qweight_u4:u4[32,128]"), "{plan}");
    let check = |offset| {
        run(&["check", "swizzled:f8e4m3fn[200,10]", "--limits", "webgpu", "--buffer", "8192", "--offset", offset])
    };
    assert_eq!((check("256").status, check("8").status), (0, 1));
    // Names whose layouts have several parts are described too.
    assert!(of(&["describe", "sglang.packed_vnni2:bf16[48,32]"]).contains("3072 bytes"));
    assert_eq!(
        run(&["--json", "describe", "xnnpack.f32_gemm_goi_s4.weights<8>:f32[16,4]"]).object()["physical_bytes"],
        320
    );
    // No name stands for a layout of another size, and a packed tensor has no permuted names.
    for packed in ["f32[16,8]:[16,1]", "f32[4,4,4,4]", "f32[6,4]:[4,1]"] {
        let known = run(&["--json", "describe", packed]).object()["known_as"].clone();
        assert!(known.as_array().is_none_or(Vec::is_empty), "{packed}: {known}");
    }
    // The table.
    let names = of(&["names"]);
    assert!(names.lines().count() > 75 && names.contains("ggml.q8_0x4.qs<bl=4,8>"), "{names}");
    let one = of(&["names", "sf_128x4"]);
    assert!(one.contains("  padding  must be zero\n") && one.contains("to_blocked"), "{one}");
    // No name is listed twice; the other forms of a name are inside its object.
    let objects = run(&["names", "--json"]).objects();
    let listed: std::collections::BTreeSet<String> = objects.iter().map(|row| row["name"].to_string()).collect();
    assert_eq!((listed.len(), names.lines().count()), (objects.len(), objects.len() + 1));
    assert!(objects.iter().any(|row| !row["other_forms"].as_array().unwrap().is_empty()));
    assert_eq!(run(&["names", "nothing"]).status, 1);
    let refused = run(&["describe", "tensorrt.kCWH32:s8[2,33,3,2]"]);
    assert!(refused.stderr.contains("the nearest is tensorrt.kCHW32"), "{refused:?}");
}
