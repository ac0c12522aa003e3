//! The table of named layouts on the command line.

use crate::command_line::run;
use serde_json::json;

#[test]
fn every_name_is_listed_once() {
    let names = run(&["names"]).stdout;
    assert!(names.lines().count() > 75 && names.contains("ggml.q8_0x4.qs<bl=4,8>"), "{names}");
    // The other forms of a name are inside its object.
    let objects = run(&["names", "--json"]).objects();
    let listed: std::collections::BTreeSet<String> = objects.iter().map(|row| row["name"].to_string()).collect();
    assert_eq!((listed.len(), names.lines().count()), (objects.len(), objects.len() + 1));
    assert!(objects.iter().any(|row| !row["other_forms"].as_array().unwrap().is_empty()));
}

#[test]
fn names_are_keys_of_the_objects() {
    let vectors = "tensorrt.kCHW16:f16[2,33,3,2]";
    let object = run(&["--json", "describe", vectors]).object();
    assert_eq!((&object["notation"], &object["canonical"]), (&json!("named"), &json!(vectors)));
    assert_eq!(object["known_as"], json!(["openvino.b_fs_yx_fsv16:f16[2,33,3,2]", "ascend.NC1HWC0:f16[2,33,3,2]"]));
    // A name alone takes the type and the sizes of the other side.
    let plan = |from: &str| run(&["convert", "--explain", "--from", from, "--to", "marlin.qweight_u4"]).stdout;
    assert!(plan("u4[32,128]{1,0:E(4)}").contains("to   marlin.qweight_u4:u4[32,128]"));
    assert!(plan("gptq.qweight_u4:u4[32,128]").contains("from gptq.qweight_u4:u4[32,128]"));
    let parts = run(&["--json", "describe", "xnnpack.f32_gemm_goi_s4.weights<8>:f32[16,4]"]).object();
    assert_eq!(parts["physical_size_in_bytes"], 320);
}
