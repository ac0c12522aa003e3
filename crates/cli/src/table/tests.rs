use super::*;

#[test]
fn a_table_fits_the_terminal_and_keeps_its_numbers() {
    let mut table = Table::new("tensor||>bytes|class");
    table.row(["model.layers.0.attention.wq.weight", "", "16777216", "affine"].map(str::to_owned));
    table.row(["norm", "", "1", "split"].map(str::to_owned));
    let full = table.lines_within(usize::MAX);
    assert_eq!(full[1], "model.layers.0.attention.wq.weight  16777216  affine");
    let lines = table.lines_within(40);
    assert_eq!(
        lines,
        [
            "tensor                     bytes  class",
            "model.layer….wq.weight  16777216  affine",
            "norm                           1  split",
        ]
    );
    // No cell may be shortened to less than its shortest length, so the line is longer than the limit.
    assert!(table.lines_within(5)[1].contains("16777216"));
}

#[test]
fn an_array_is_shortened_to_its_sizes() {
    let array = "bf16[16,16,4096,4096]{3,2,1,0:T(8,128)(2,1)}";
    assert_eq!(shortened(array, 30), "bf16[16,16,4096,4096]…");
    assert_eq!(shortened(array, 16), "bf16[16,…,4096]…");
    assert_eq!(shortened("state[1]['weights{x}']", 16), "state[1]…ts{x}']");
}

#[test]
fn a_narrow_terminal_does_without_the_columns_that_it_can_do_without() {
    let mut table = Table::new("tensor|?class|?>padding|type");
    table.row(["model.layers.0.attention.wq.weight", "affine", "37.5%", "f32"].map(str::to_owned));
    let at = |most| table.lines_within(most)[1].clone();
    assert_eq!(at(80), "model.layers.0.attention.wq.weight  affine    37.5%  f32");
    assert_eq!(at(40), "model.la…q.weight  affine    37.5%  f32");
    assert_eq!(at(30), "model.la….weight  affine  f32");
    assert_eq!(at(22), "model.la….weight  f32");
}
