//! The rows of rows.txt: sizes, classes and layouts of shapes.

use tensor_layout::tiled::TpuGeneration;
use tensor_layout::{ArrayShape, Error, IndexMap, ToIndexMap};
use tensor_layout_text::to_xla;

use crate::read::{desc, shape};

/// The components as text: `d0[(2,16), (1,1)] d1[(1,2)]`, and `d3,4[..]` for fused components.
fn components(map: &IndexMap) -> String {
    let component = |component: &tensor_layout::plan::Component| {
        let dims: Vec<String> = component.dims().iter().map(usize::to_string).collect();
        format!("d{}{:?}", dims.join(","), component.chain)
    };
    map.components().iter().map(component).collect::<Vec<_>>().join(" ")
}

fn answer(question: &str, text: &str) -> Result<String, Error> {
    let of_tpu = |shape: ArrayShape| Ok(format!("{shape} {}", shape.physical_size_in_bytes().unwrap_or_default()));
    match question.split_once(' ').unwrap_or((question, "")) {
        ("tiles", of) => of_tpu(shape(text).with_tpu_tiles(of.parse::<TpuGeneration>()?)?),
        ("layout", of) => of_tpu(shape(text).with_tpu_layout(of.parse::<TpuGeneration>()?)?),
        ("bytes", _) => {
            Ok(format!("{} {}", shape(text).logical_size_in_bytes()?, shape(text).physical_size_in_bytes()?))
        }
        ("elements", _) => Ok(shape(text).physical_elements()?.to_string()),
        ("class", _) => {
            let map = shape(text).to_index_map()?;
            assert_eq!(shape(text).physical_elements(), Ok(map.physical_elements()), "{text}");
            Ok(format!("{} {} {}", map.class(), map.physical_elements(), components(&map)))
        }
        ("xla", _) => Ok(to_xla(&desc(text))?.shape.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_row_is_answered() {
    let (mut rows, mut wrong) = (0, Vec::new());
    for row in include_str!("rows.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let [question, text, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let is_right = match answer(question, text) {
            // The bytes and the digits need not be stated.
            Ok(found) => found.strip_prefix(expected).is_some_and(|more| more.is_empty() || more.starts_with(' ')),
            Err(error) => error.code() == expected || error.to_string().contains(expected),
        };
        if !is_right {
            wrong.push(format!("{row}: {:?}", answer(question, text)));
        }
        rows += 1;
    }
    assert!(wrong.is_empty() && rows > 90, "{} of {rows}:\n{}", wrong.len(), wrong.join("\n"));
}
