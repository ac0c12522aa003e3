//! The table of named layouts on the command line.

use crate::command_line::run;

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
fn a_name_takes_the_type_and_the_sizes_of_the_other_side() {
    let plan = |from: &str| run(&["convert", "--explain", "--from", from, "--to", "marlin.qweight_u4"]).stdout;
    assert!(plan("u4[32,128]{1,0:E(4)}").contains("to   marlin.qweight_u4:u4[32,128]"));
    assert!(plan("gptq.qweight_u4:u4[32,128]").contains("from gptq.qweight_u4:u4[32,128]"));
}
