//! What each notation can express: its ranks and numbers, the words for layouts that it cannot express, and
//! the steps of an offset.

use tensor_layout::AnyLayout;
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::{Layout, Notation, ViewStep, all_notations};

/// The line of a notation for the layout alone, without the spelling in which the layout was read.
fn line(text: &str, notation: Notation) -> Result<String, String> {
    let layout = text.parse::<Layout>().unwrap_or_else(|error| panic!("{error}")).any().unwrap().clone();
    let line = all_notations(layout).into_iter().find(|line| line.notation == notation).unwrap();
    line.text.clone().map_err(|_| line.reason().unwrap())
}

fn packed(rank: usize) -> String {
    BufferTensorDesc::packed(DataType::U8, &vec![1; rank]).unwrap().to_string()
}

#[test]
fn ranks_that_a_notation_holds() {
    for (notation, most, beyond) in [
        (Notation::Directml, 8, "it has 9 dimensions, and DirectML's tensors have 1 to 8"),
        (Notation::OneDnn, 12, "oneDNN has 1 to 12 dimensions, and this layout has 13"),
        (Notation::AxisOrder, 8, "an axis order has 1 to 8 letters, and there are 9 axes"),
    ] {
        assert!(line(&packed(1), notation).is_ok() && line(&packed(most), notation).is_ok(), "{notation}");
        assert_eq!(line(&packed(most + 1), notation).unwrap_err(), beyond);
        let none = beyond.replace(&(most + 1).to_string(), "0");
        assert_eq!(line(&packed(0), notation).unwrap_err(), none);
    }
    let directml = |rank: usize| format!(r#"{{"DataType":"UINT8","Sizes":{:?}}}"#, vec![1; rank]).parse::<Layout>();
    assert!(directml(8).is_ok());
    assert!(directml(9).unwrap_err().to_string().contains("a tensor of 1 to 8 dimensions"));
    let letters = "abcdefghijklm";
    let tag = |rank: usize| format!("u8[{}]:{}", vec!["1"; rank].join(","), &letters[..rank]).parse::<Layout>();
    assert!(tag(12).is_ok());
    assert!(tag(13).is_err());
}

#[test]
fn numbers_that_directml_holds() {
    let most = u32::MAX;
    assert!(line(&format!("u8[{most}]:[1]"), Notation::Directml).is_ok());
    assert!(line(&format!("u8[2]:[{most}]"), Notation::Directml).is_ok());
    assert_eq!(
        line("u8[3,4294967296]:[0,1]", Notation::Directml).unwrap_err(),
        "axis 1 has size 4294967296, and DirectML's numbers have 32 bits"
    );
    assert_eq!(
        line("u8[2,2]:[4294967296,1]", Notation::Directml).unwrap_err(),
        "axis 0 has stride 4294967296, and DirectML's numbers have 32 bits"
    );
    let owned = r#"{"DataType":"UINT8","Flags":"OWNED_BY_DML","Sizes":[4],"Strides":[1],"TotalTensorSizeInBytes":4}"#;
    assert_eq!(owned.parse::<Layout>().unwrap().to_string(), owned);
    let flagged = r#"{"DataType":"UINT8","Flags":"DML_TENSOR_FLAG_OWNED_BY_DML","Sizes":[4]}"#;
    assert_eq!(flagged.parse::<Layout>().unwrap().to_string(), owned);
}

/// The letters of an axis order go from the slowest axis to the fastest. An axis of size 1 is after the axis
/// before it.
#[test]
fn axis_orders_of_strides() {
    for (text, order) in [
        ("u8[2,3,4,5]:[60,1,15,3]", "u8[2,3,4,5]:NHWC"),
        ("u8[2,3,4,5,6]:[360,1,90,18,3]", "u8[2,3,4,5,6]:NDHWC"),
        ("u8[2,3]:[1,2]", "u8[2,3]:BA"),
        ("u8[2,1,3]:[3,99,1]", "u8[2,1,3]:ABC"),
        ("u8[2,3,1]:[1,2,99]", "u8[2,3,1]:BCA"),
        ("u8[1,2,3]:[0,1,2]", "u8[1,2,3]:ACB"),
        ("u8[0,3]:[7,9]", "u8[0,3]:AB"),
    ] {
        assert_eq!(line(text, Notation::AxisOrder).as_deref(), Ok(order), "{text}");
    }
    for (text, reason) in [
        ("u8[2,3]:[0,1]", "axis 0 is broadcast (stride 0)"),
        ("u8[2,3]:[1,0]", "axis 1 is broadcast (stride 0)"),
        ("u8[2,3]:[4,1]", "axis 0 takes steps of 4 elements, and packed after axis 1 it would take 3"),
        ("u8[2,3]:[6,2]", "axis 1 takes steps of 2 elements, and packed it would take 1"),
        ("u8[2,3]:[3,1]+5", "it begins 5 elements into its buffer, and this notation has no offset"),
    ] {
        assert_eq!(line(text, Notation::AxisOrder).unwrap_err(), reason, "{text}");
    }
}

#[test]
fn a_word_without_digits_is_an_axis_order_or_a_tag() {
    let refused = |text: &str| text.parse::<Layout>().unwrap_err().to_string();
    assert!(refused("u8[2,3]:xyw").contains("or a oneDNN tag such as nChw16c"), "{}", refused("u8[2,3]:xyw"));
    // A text with blocks can only be a tag, and the error describes what is wrong with the tag.
    assert!(refused("u8[2,3]:nChw16c").contains("a oneDNN tag of 2 letters"), "{}", refused("u8[2,3]:nChw16c"));
    // A mode of CuTe has as many strides as sizes, also inside of a mode.
    assert!(refused("u8((2,3),4):((1,2,9),6)").contains("strides nested like the shape"));
}

/// These steps were worked out by hand: see the arithmetic in each line.
#[test]
fn the_steps_of_an_offset_are_worked_out() {
    let steps = |text: &str, index: &[u64]| {
        tensor_layout_text::offset_steps(text.parse::<Layout>().unwrap().any().unwrap(), index).unwrap()
    };
    assert_eq!(
        steps("u8[4,6]:[7,1]+3", &[2, 5]),
        [
            "the first element is at 3",
            "dimension 0 at 2: 2*7 = 14",
            "dimension 1 at 5: 5*1 = 5",
            "element 22 of the buffer, at byte 22"
        ]
    );
    assert_eq!(
        steps("u8[4,6]:[7,1]", &[2, 5]),
        ["dimension 0 at 2: 2*7 = 14", "dimension 1 at 5: 5*1 = 5", "element 19 of the buffer, at byte 19"]
    );
    // `*` joins 4 x 6 to 24. Then (3, 5) is 23, in row 5 and column 3 of 6 x 4, which (2, 1) divides into 3 x
    // 4 tiles.
    let joined = steps("u8[4,6]{1,0:T(*,4)(2,1)}", &[3, 5]);
    assert!(joined[0].starts_with("dimensions 0, 1 together at 23 = "), "{joined:?}");
    // The digits contradict each other, so the steps have the index after each tile.
    let text = "f32[4,6]{1,0:T(2,2)(*,3,1)}";
    let through_tiles = steps(text, &[3, 5]);
    assert_eq!(through_tiles[0], "major to minor: index [3,5] of [4,6]");
    assert_eq!(through_tiles[1], "after tile (2,2): index [1,2,1,1] of [2,3,2,2]");
    assert_eq!(through_tiles.len(), 4, "{through_tiles:?}");
}

/// A tiled array stays tiled under views that its tiles can express, as the text shows.
#[test]
fn views_of_tiled_arrays_stay_tiled() {
    let tiled: Layout = "f32[16,256]{1,0:T(8,128)S(1)}".parse().unwrap();
    let view = |step: &str, list: &str| {
        let step = ViewStep::read(step, list).unwrap();
        step.apply(tiled.any().unwrap()).unwrap()
    };
    for (step, list, expected) in [
        ("permute", "1,0", "f32[256,16]{0,1:T(8,128)S(1)}"),
        ("slice", "0:8,0:256", "f32[8,256]{1,0:T(8,128)L(4096)S(1)}"),
        ("reshape", "2,8,256", "f32[2,8,256]{2,1,0:T(8,128)S(1)}"),
    ] {
        let view = view(step, list);
        assert!(matches!(&view, AnyLayout::Tiled(shape) if shape.to_string() == expected), "{step}: {view:?}");
    }
    let part = view("slice", "8:16,128:256");
    assert!(matches!(part, AnyLayout::Mapped(_)), "no tiles begin inside of a buffer: {part:?}");
    assert_eq!(part.to_index_map().unwrap().base(), 3 * 1024);
}
