//! docs/NOTATIONS.md: every line is a line that the library writes, and no line is left out.

use tensor_layout::AnyLayout;
use tensor_layout::element::Naming;
use tensor_layout_text::{Notated, Notation};

const NOTATIONS: [(&str, Notation); 7] = [
    ("XLA", Notation::Xla),
    ("strides", Notation::Strides),
    ("order", Notation::AxisOrder),
    ("oneDNN", Notation::OneDnn),
    ("CuTe", Notation::CuTe),
    ("NumPy", Notation::Numpy),
    ("DirectML", Notation::Directml),
];

/// PyTorch's call that makes an empty tensor of this layout. `None` if the layout has no strides.
fn pytorch(layout: &Notated) -> Option<String> {
    let strided = layout.text_in(Notation::Strides).ok()?.parse::<Notated>().ok()?;
    let AnyLayout::Strided(desc) = strided.layout() else { return None };
    let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let name = desc.data_type().name_in(Naming::Numpy)?;
    Some(format!("torch.empty_strided(({}), ({}), dtype=torch.{name})", list(desc.sizes()), list(desc.strides())))
}

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
        let layout: Notated = written("strides").or(written("oneDNN")).unwrap().parse().unwrap();
        for (title, notation) in NOTATIONS {
            assert_eq!(written(title), layout.text_in(notation).ok(), "{title} of {layout}");
        }
        assert_eq!(written("PyTorch"), pytorch(&layout), "{layout}");
        assert_eq!(
            lines.len(),
            NOTATIONS.iter().filter(|(title, _)| written(title).is_some()).count()
                + usize::from(pytorch(&layout).is_some())
        );
        tensors += 1;
    }
    assert_eq!(tensors, 5);
}
