use super::*;

#[test]
fn a_table_fits_the_terminal_and_keeps_its_numbers() {
    let mut table = Table::new(&["tensor", "", ">bytes", "class"]);
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
    // Where nothing may be shortened any more, the line stays as long as it is.
    assert!(table.lines_within(5)[1].contains("16777216"));
}
