use super::*;
use crate::bridge::AnyLayout;
use crate::map::ToIndexMap;

fn map(text: &str) -> IndexMap {
    text.parse::<AnyLayout>().unwrap().to_index_map().unwrap()
}

#[test]
fn padding_is_a_place_without_an_element_or_a_bit_after_the_last() {
    for (text, padding) in [
        ("f32[3,5]{1,0}", false),
        ("f32[3,5]:[8,1]", true),
        ("f32[3,5]{1,0:T(2,2)}", true),
        ("f32[4,6]{1,0:T(2,2)}", false),
        ("s4[4]{0:E(4)}", false),
        ("s4[3]{0:E(4)}", true),
        ("s4[2,3]:[4,1]", true),
        ("f32[0]{0}", false),
    ] {
        assert_eq!(has_padding(&map(text)), padding, "{text}");
    }
}

fn words(text: &str, pattern: Option<u128>, direct: bool) -> String {
    match Fill::new(&map(text), pattern, direct) {
        Fill::Nothing => "nothing".to_owned(),
        Fill::Whole { elements, bits, pattern } => format!("{elements} of {bits} bits: {pattern}"),
        Fill::Boxes { boxes, bytes, pattern, first } => {
            let elements: u64 = boxes.iter().map(CopyBox::elements).sum();
            let when = if first { ", first" } else { "" };
            format!("{elements} of {bytes} bytes in {} boxes: {pattern}{when}", boxes.len())
        }
    }
}

/// Padding is filled alone if its runs are a cache line long on average, and together with the gaps between
/// its runs if they are shorter. The whole destination is filled first if padding is everywhere, if elements
/// share bytes, or if the copy takes several passes.
#[test]
fn padding_is_written_alone_where_its_runs_are_long() {
    for (text, pattern, direct, says) in [
        ("f32[3,5]:[8,1]", None, true, "nothing"),
        ("f32[3,5]{1,0}", Some(7), true, "nothing"),
        // Rows have 84 floats, with 16 floats (64 bytes) of padding after each row except the last, and then
        // 85 floats, with 15 floats of padding.
        ("f32[4,84]:[100,1]", Some(7), true, "48 of 4 bytes in 1 boxes: 7"),
        ("f32[4,85]:[100,1]", Some(7), true, "385 of 32 bits: 7"),
        ("f32[4,84]:[100,1]", Some(7), false, "384 of 32 bits: 7"),
        ("u8[4,36]:[100,1]", Some(0), true, "192 of 1 bytes in 1 boxes: 0"),
        ("u8[4,37]:[100,1]", Some(0), true, "337 of 8 bits: 0"),
        // Of 16 channels, 13 are padding in every pixel: in the second of two blocks of channels, and then in
        // the only block.
        ("f32[2,19,40,50]:nChw16c", Some(0), true, "63994 of 4 bytes in 1 boxes: 0, first"),
        ("f32[2,19,40,50]:nChw16c", Some(0), false, "128000 of 32 bits: 0"),
        ("f32[2,3,40,50]:nChw16c", Some(0), true, "64000 of 32 bits: 0"),
        // A byte of padding is after each row. If rows are long, only these bytes are filled. If rows are
        // short, everything from the first of these bytes to the last is filled.
        ("u8[9,2047]:[2048,1]", Some(0), true, "8 of 1 bytes in 1 boxes: 0, first"),
        ("u8[9,1023]:[1024,1]", Some(0), true, "7169 of 1 bytes in 1 boxes: 0, first"),
        ("u8[3,1023]:[1024,1]", Some(0), true, "1025 of 1 bytes in 1 boxes: 0, first"),
        ("u8[2,1023]:[1024,1]", Some(0), true, "1 of 1 bytes in 1 boxes: 0, first"),
        // Every other element is padding. In the second layout, elements of 4 bits share bytes.
        ("f32[4]:[2]", Some(0), true, "7 of 32 bits: 0"),
        ("s4[4,200]:[400,1]", Some(1), true, "1400 of 4 bits: 1"),
    ] {
        assert_eq!(words(text, pattern, direct), says, "{text}");
    }
}

#[test]
fn an_average_run_fills_a_line() {
    let short = |text: &str, bytes| has_short_runs(&map(text).padding_boxes(MOST_PADDING_BOXES).unwrap(), bytes);
    // The runs have 16 elements.
    assert!(!short("f32[4,84]:[100,1]", 4) && short("f32[4,84]:[100,1]", 2));
    // The runs of padding are single elements of 64 bytes, and of 63 bytes.
    assert!(!short("f32[4]:[2]", 64) && short("f32[4]:[2]", 63));
}

#[test]
fn padding_is_clipped_to_a_piece() {
    let fill = |text: &str, direct| Fill::new(&map(text), Some(7), direct);
    let clip = |fill: &Fill, range| fill.clipped(&fill.spanned(), &range, &mut Room::new());
    let boxes = fill("f32[4,84]:[100,1]", true);
    assert!(!boxes.is_first() && boxes.spanned().len() == 1);
    let Some(Fill::Boxes { boxes, bytes: 4, pattern: 7, first: false }) = clip(&boxes, 90..190) else {
        panic!("boxes")
    };
    let found: Vec<_> = boxes.iter().map(|padding| (padding.destination, padding.elements())).collect();
    assert_eq!(found, [(0, 10), (94, 6)]);
    let whole = fill("f32[4,85]:[100,1]", true);
    assert!(whole.is_first() && whole.spanned().is_empty());
    let Some(Fill::Whole { elements: 100, bits: 32, pattern: 7 }) = clip(&whole, 90..190) else { panic!("whole") };
    let joined = fill("f32[2,19,40,50]:nChw16c", true);
    assert!(joined.is_first() && joined.spanned().len() == 1);
    let Some(Fill::Boxes { boxes, first: true, .. }) = clip(&joined, 0..40_000) else { panic!("joined") };
    let found: Vec<_> = boxes.iter().map(|filled| (filled.destination, filled.elements())).collect();
    assert_eq!(found, [(32_003, 7_997)]);
    let nothing = fill("f32[4,85]{1,0}", true);
    assert!(!nothing.is_first() && nothing.spanned().is_empty());
    assert!(matches!(clip(&nothing, 90..190), Some(Fill::Nothing)));
}
