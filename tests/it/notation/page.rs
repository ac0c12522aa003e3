//! docs/NOTATIONS.md: every line is a line that the library writes, and no line is left out.

use tensor_layout::map::same_layout;
use tensor_layout_text::{Layout, Notation};

const NOTATIONS: [(&str, Notation); 14] = [
    ("XLA", Notation::Xla),
    ("strides", Notation::Strides),
    ("order", Notation::AxisOrder),
    ("oneDNN", Notation::OneDnn),
    ("CuTe", Notation::CuTe),
    ("NumPy", Notation::Numpy),
    ("DirectML", Notation::Directml),
    ("PyTorch", Notation::Torch),
    ("JAX", Notation::Jax),
    ("MLIR", Notation::Mlir),
    ("ndarray", Notation::Ndarray),
    ("candle", Notation::Candle),
    ("ggml", Notation::Ggml),
    ("TVM", Notation::Tvm),
];

#[test]
fn the_page_has_every_notation_of_its_tensors() {
    let page = include_str!("../../../docs/NOTATIONS.md").replace("\r\n", "\n");
    let block = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let mut tensors = 0;
    for tensor in block.split("\n\n") {
        let lines: Vec<(&str, &str)> =
            tensor.lines().skip(1).map(|line| line.trim().split_once(' ').unwrap()).collect();
        let written = |title: &str| lines.iter().find(|line| line.0 == title).map(|line| line.1.trim().to_owned());
        // Tiles can be longer than the reach of strides, and a tag has several spellings, so these texts come
        // first.
        let layout: Layout = written("strides").or(written("oneDNN")).unwrap().parse().unwrap();
        for (title, notation) in NOTATIONS {
            let text = layout.to_notation(notation).ok();
            assert_eq!(written(title), text, "{title} of {layout}");
            // A plain order is an axis order to every reader.
            let read = text.map(|text| text.parse::<Layout>().unwrap());
            assert!(read.is_none_or(|read| same_layout(&read, &layout) == Ok(true)), "{title} of {layout}");
        }
        assert_eq!(lines.len(), NOTATIONS.iter().filter(|(title, _)| written(title).is_some()).count());
        tensors += 1;
    }
    assert_eq!(tensors, 5);
}
