//! `convert --transfers`.

use serde_json::json;

use crate::command_line::run;

#[test]
fn a_list_has_its_keys_in_this_order() {
    let list =
        run(&["convert", "--from", "f16[3,6]:[8,1]", "--to", "f16[3,6]:[6,1]", "--transfers", "--json"]).object();
    let keys: Vec<&str> = list.as_object().unwrap().keys().map(String::as_str).take(6).collect();
    assert_eq!(keys, ["type", "bytes", "count", "shortest_bytes", "longest_bytes", "transfers"]);
    let only = json!([{
        "source": 0, "destination": 0, "bytes": 12,
        "loops": [{ "count": 3, "source_stride": 16, "destination_stride": 12 }],
    }]);
    assert_eq!(list["transfers"], only);
}
