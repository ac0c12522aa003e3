//! Block types, scales and fields: views of tensors of blocks against the places of their values, texts of
//! values with scales, and copies between blocks and planes, there and back.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::element::BlockType;
use tensor_layout::relayout::Settings;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout_fuzz::copies::noise;
use tensor_layout_fuzz::layouts::permutation;
use tensor_layout_fuzz::places::for_each_index;
use tensor_layout_fuzz::texts::{of_bytes, refusal};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::copies;

#[derive(Debug, Arbitrary)]
struct Input {
    block_type: u8,
    sizes: [u8; 3],
    rank: u8,
    gap: u8,
    steps: [(u8, [u8; 3]); 3],
}

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % 4 {
        0 => text(of_bytes(rest)),
        1 => planes(rest),
        _ => views(rest),
    }
});

/// A text of values with scales, or of blocks.
fn text(text: &str) {
    match text.parse::<Layout>() {
        Ok(layout) => {
            let written = layout.to_string();
            let back: Layout = written.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(back.sizes(), layout.sizes(), "{text:?}");
            assert_eq!(back.planes().len(), layout.planes().len(), "{text:?}");
        }
        Err(error) => refusal(&error, text),
    }
}

fn of(input: &Input) -> Option<(BlockType, BlockTensorDesc)> {
    let all = BlockType::ALL;
    let block_type = all[usize::from(input.block_type) % all.len()];
    let rank = usize::from(input.rank) % 3 + 1;
    let mut sizes: Vec<u64> = input.sizes[..rank].iter().map(|size| u64::from(size % 5)).collect();
    let last = sizes.last_mut()?;
    *last = (*last % 3 + 1) * block_type.values();
    let desc = match input.gap % 4 {
        0 => BlockTensorDesc::padded_rows(block_type, &sizes, 1 << (input.gap / 4 % 6)),
        _ => BlockTensorDesc::packed(block_type, &sizes),
    };
    Some((block_type, desc.ok()?))
}

/// Views of whole blocks keep the place of each value.
fn views(data: &[u8]) {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let Some((block_type, mut desc)) = of(&input) else { return };
    for (kind, numbers) in input.steps {
        let sizes = desc.sizes().to_vec();
        let within = |axis: usize| {
            let (a, b) = (u64::from(numbers[axis % 3]), u64::from(numbers[(axis + 1) % 3]));
            let unit = if axis + 1 == sizes.len() && a % 4 > 0 { block_type.values() } else { 1 };
            let start = (a * unit) % (sizes[axis] + 1);
            start..(start + b * unit).min(sizes[axis])
        };
        let ranges: Vec<_> = (0..sizes.len()).map(within).collect();
        let order = permutation(numbers[0], sizes.len());
        let view = match kind % 2 {
            0 => desc.slice(&ranges),
            _ => desc.permute(&order),
        };
        let Ok(view) = view else { continue };
        for_each_index(view.sizes(), |index| {
            let old: Vec<u64> = match kind % 2 {
                0 => index.iter().zip(&ranges).map(|(i, range)| i + range.start).collect(),
                _ => {
                    let mut old = vec![0; index.len()];
                    order.iter().zip(index).for_each(|(&axis, &i)| old[axis] = i);
                    old
                }
            };
            assert_eq!(view.place(index), desc.place(&old), "{desc} at {old:?}, {view} at {index:?}");
        });
        desc = view;
    }
    let layout: Layout = desc.to_string().parse().unwrap_or_else(|error| panic!("{desc}: {error}"));
    assert_eq!(layout.sizes(), desc.sizes());
}

/// Blocks, then planes of values and scales, then blocks again: the same bytes.
fn planes(data: &[u8]) {
    const PLANES: [(&str, &str, u64); 5] = [
        ("mxfp4", "f4e2m1fn{} with f8e8m0fnu per 32", 32),
        ("q8_0", "s8{} with f16 per 32", 32),
        ("q4_0", "u4{} with f16 per 32", 32),
        ("q4_0", "s4{} with f16 per 32", 32),
        ("nvfp4", "f4e2m1fn{} with f8e4m3fn per 16", 64),
    ];
    let Ok((kind, rows, columns, junk)) = <(u8, u8, u8, u8)>::arbitrary(&mut Unstructured::new(data)) else { return };
    let (block_type, planes, values) = PLANES[usize::from(kind) % PLANES.len()];
    let sizes = format!("[{},{}]", rows % 6, u64::from(columns % 4) * values);
    // One of the sizes may be wrong.
    let other = if junk % 16 == 0 { format!("[{},{}]", rows % 6, columns) } else { sizes.clone() };
    let (Ok(blocks), Ok(planes)) =
        (format!("{block_type}{sizes}").parse::<Layout>(), planes.replace("{}", &other).parse::<Layout>())
    else {
        return;
    };
    let (Ok(there), Ok(back)) =
        (copies(&blocks, &planes, &Settings::default()), copies(&planes, &blocks, &Settings::default()))
    else {
        assert!(other != sizes, "{blocks} to {planes}");
        return;
    };
    let source = noise(there.source_size_in_bytes() as usize, junk.into());
    let mut between = noise(there.destination_size_in_bytes() as usize, 7);
    there.run(&source, &mut between).unwrap();
    let mut found = vec![0; back.destination_size_in_bytes() as usize];
    back.run(&between, &mut found).unwrap();
    assert!(found == source, "{blocks} as {planes}");
}
