//! Every reader of a short text: it refuses with a column, or what it read is written and reads back. The
//! first byte chooses the reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::Level;
use tensor_layout::strided::{IndexWidth, Slice, Slices};
use tensor_layout::tiled::{self, Extent, SplitConfig, Tile, TileSize, TpuGeneration, UnboundedArray};
use tensor_layout::upload::{DeviceLimits, FeatureLevel};
use tensor_layout::{ArrayShape, AxisOrder, BufferTensorDesc, DataType, LayoutClass, Shape};
use tensor_layout_fuzz::texts::{of_bytes, read, refusal};
use tensor_layout_text::{Layout, Notation, ViewStep, read_list};

fuzz_target!(|data: &[u8]| {
    let Some((&reader, rest)) = data.split_first() else { return };
    let text = of_bytes(rest);
    match reader % 26 {
        0 => drop(read::<ArrayShape>(text)),
        1 => drop(read::<Shape>(text)),
        2 => drop(read::<tiled::Layout>(text)),
        3 => drop(read::<Tile>(text)),
        4 => drop(read::<TileSize>(text)),
        5 => drop(read::<SplitConfig>(text)),
        6 => drop(read::<Extent>(text)),
        7 => drop(read::<UnboundedArray>(text)),
        8 => drop(read::<BufferTensorDesc>(text)),
        9 => drop(read::<AxisOrder>(text)),
        10 => drop(read::<Slice>(text)),
        11 => drop(read::<Slices>(text)),
        12 => drop(read::<DataType>(text)),
        13 => drop(read::<IndexWidth>(text)),
        14 => drop(read::<LayoutClass>(text)),
        15 => drop(read::<Notation>(text)),
        16 => drop(text.parse::<Level>()),
        17 => drop(read::<TpuGeneration>(text)),
        18 => drop(read::<FeatureLevel>(text)),
        19 => match text.parse::<DeviceLimits>() {
            Ok(limits) => assert!(!limits.name.is_empty()),
            Err(error) => refusal(&error, text),
        },
        20 => match read_list(text, "a size") {
            Ok(list) => {
                let written: Vec<String> = list.iter().map(u64::to_string).collect();
                assert_eq!(read_list(&format!("[{}]", written.join(",")), "a size"), Ok(list));
            }
            Err(error) => refusal(&error, text),
        },
        21 => {
            let (name, argument) = text.split_once(' ').unwrap_or((text, ""));
            if let Err(error) = ViewStep::read(name, argument) {
                refusal(&error, text);
            }
        }
        22 => written_again(&format!("f32{text}"), Notation::CuTe),
        23 => {
            let sizes = [2, 35, 9, 9, 3, 1, 4, 7, 5, 2, 6, 3];
            let rank = text.bytes().filter(u8::is_ascii_alphabetic).count().min(sizes.len());
            written_again(&format!("s8{:?}:{text}", &sizes[..rank]), Notation::OneDnn);
        }
        _ => drop(read::<Layout>(text)),
    }
});

/// What is read in a notation is written in it, and read back as the same layout.
fn written_again(text: &str, notation: Notation) {
    match text.parse::<Layout>() {
        Ok(layout) if layout.notation() == notation => {
            let written = layout.to_string();
            let back: Layout = written.parse().unwrap();
            assert!(back.difference(&layout).is_ok_and(|found| found.is_none()), "{written}");
        }
        Ok(_) => {}
        Err(error) => refusal(&error, text),
    }
}
