use super::*;

#[test]
fn repeated_layers_are_one_row_each() {
    let row = |name: &str, bytes: &str| vec![name.to_owned(), bytes.to_owned()];
    let mut rows = vec![row("embed", "9")];
    for layer in 0..4 {
        rows.push(row(&format!("layers.{layer}.w1"), "2"));
        rows.push(row(&format!("layers.{layer}.bias"), if layer == 3 { "7" } else { "5" }));
    }
    let shown: Vec<String> = grouped(&rows).iter().map(|row| row.join("|")).collect();
    assert_eq!(shown, ["embed||9", "layers.{0-3}.w1|4 x|2", "layers.{0-2}.bias|3 x|5", "layers.3.bias||7"]);
}
