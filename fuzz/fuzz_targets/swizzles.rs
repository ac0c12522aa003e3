//! Swizzled layouts against literal ones, bit by bit: offsets, inverses, texts, views and copies; the readers
//! of swizzles, of Triton's encodings and of composed layouts; and boxes of tensor maps of any numbers.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::map::Swizzle;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::Slice;
use tensor_layout::upload::{DeviceLimits, Im2col, Interleave, TensorMapBox};
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_fuzz::copies::{literal_copy, noise};
use tensor_layout_fuzz::layouts::{AnySide, Side, Tensor};
use tensor_layout_fuzz::places::for_each_index;
use tensor_layout_fuzz::texts::{of_bytes, refusal};
use tensor_layout_text::Layout;

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    from: AnySide,
    to: AnySide,
    flips: [[(u8, u8, u8); 4]; 2],
    slice: [u8; 2],
}

#[derive(Debug, Arbitrary)]
struct BoxInput {
    tensor: Tensor,
    side: AnySide,
    limits: u8,
    sizes: Vec<u64>,
    steps: Option<Vec<u64>>,
    interleave: u8,
    im2col: Option<(Vec<i64>, Vec<i64>, u64, u64)>,
}

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % 8 {
        0 => text("f16[8,64]:[64,1] xor<", of_bytes(rest)),
        1 => text("f16[4,8] #ttg.", of_bytes(rest)),
        2 => text("!ttg.memdesc<4x8xf16, #ttg.", of_bytes(rest)),
        3 => text("f16 ", of_bytes(rest)),
        4 => check_box(rest),
        _ => layouts(rest),
    }
});

/// What is read is written and read back.
fn text(begins: &str, rest: &str) {
    let text = format!("{begins}{rest}");
    match text.parse::<Layout>() {
        Ok(layout) => {
            let written = layout.to_string();
            let back: Layout = written.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"));
            if let (Ok(map), Ok(back)) = (layout.whole(), back.whole()) {
                assert_ne!(map.same_places(back), Ok(false), "{text:?} is not {written}");
            }
        }
        Err(error) => refusal(&error, &text),
    }
}

fn check_box(data: &[u8]) {
    let Ok(input) = BoxInput::arbitrary(&mut Unstructured::new(data)) else { return };
    let side = input.side.side(input.tensor.data_type(), &input.tensor.sizes(5000), 20000);
    let names = ["cuda-tensor-map", "cuda-tensor-map:32", "cuda-tensor-map:64", "cuda-tensor-map:128", "webgpu"];
    let limits: DeviceLimits = names[usize::from(input.limits) % names.len()].parse().unwrap();
    let mut tensor_box = TensorMapBox::new(&input.sizes);
    if let Some(steps) = &input.steps {
        tensor_box = tensor_box.with_element_strides(steps);
    }
    match input.interleave % 4 {
        0 => tensor_box = tensor_box.with_interleave(Interleave::Bytes16),
        1 => tensor_box = tensor_box.with_interleave(Interleave::Bytes32),
        _ => {}
    }
    if let Some((lower, upper, channels, pixels)) = input.im2col {
        tensor_box = tensor_box.with_im2col(Im2col { lower, upper, channels, pixels });
    }
    match tensor_box.check(&side.map, &tensor_box.limits(&limits)) {
        Ok(report) => {
            let layout = report.layout.map(|layout| layout.physical_size_in_bytes());
            assert!(layout.is_none_or(|bytes| bytes <= report.bytes.next_multiple_of(128)), "{tensor_box:?}");
        }
        Err(errors) => assert!(errors.iter().all(|error| !error.to_string().is_empty())),
    }
}

/// The flips of some bits by any sums of higher bits, below bit 12.
fn flips(chosen: &[(u8, u8, u8); 4]) -> Vec<(u32, u64)> {
    let flip = |&(bit, low, high): &(u8, u8, u8)| {
        let bit = u32::from(bit % 11);
        (bit, (u64::from(low) | u64::from(high) << 8) << (bit + 1) & 0xfff)
    };
    chosen.iter().map(flip).collect()
}

/// A layout with these flips, if it has no repeats, and its literal offsets.
fn swizzled(side: Side, flips: &[(u32, u64)]) -> Option<Side> {
    let map = side.map.clone().with_swizzle(&Swizzle::new(flips).unwrap()).ok()?;
    let flipped = |&offset: &u64| {
        let odd = |by: u64| u64::from(!(offset & by).count_ones().is_multiple_of(2));
        flips.iter().fold(offset, |flipped, &(bit, by)| flipped ^ odd(by) << bit)
    };
    let offsets = side.offsets.iter().map(flipped).collect();
    Some(Side { places: map.physical_elements(), map, offsets, ..side })
}

fn layouts(data: &[u8]) {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let (data_type, sizes) = (input.tensor.data_type(), input.tensor.sizes(500));
    let side = |side: &AnySide, chosen| swizzled(side.side(data_type, &sizes, 3000), &flips(chosen));
    let (Some(from), Some(to)) = (side(&input.from, &input.flips[0]), side(&input.to, &input.flips[1])) else { return };
    places(&from, &sizes);
    views(&from, &sizes, input.slice);
    assert_ne!(from.map.same_places(&to.map), Ok(from.offsets != to.offsets), "{from:?}\n{to:?}");
    copy(&from, &to);
}

fn places(side: &Side, sizes: &[u64]) {
    let mut offsets = side.offsets.iter();
    let once = !side.has_repeats();
    for_each_index(sizes, |index| {
        let offset = *offsets.next().unwrap();
        assert_eq!(side.map.offset(index), Ok(offset), "{side:?} at {index:?}");
        if once {
            assert_eq!(side.map.inverse(offset).unwrap().as_deref(), Some(index), "{side:?}");
        }
    });
    if let Ok(text) = tensor_layout_text::to_text(side.map.clone()) {
        let back = text.parse::<Layout>().unwrap_or_else(|error: Error| panic!("{text}: {error}"));
        assert_ne!(back.to_index_map().unwrap().same_places(&side.map), Ok(false), "{text}");
    }
}

fn views(side: &Side, sizes: &[u64], [axis, start]: [u8; 2]) {
    let Some(&size) = sizes.get(usize::from(axis) % sizes.len().max(1)) else { return };
    let (axis, start) = (usize::from(axis) % sizes.len(), u64::from(start) % (size + 1));
    let mut slices = vec![Slice::ALL; sizes.len()];
    slices[axis] = (start..size).into();
    let Ok(view) = side.map.slice(&slices) else { return };
    for_each_index(view.sizes(), |index| {
        let mut whole = index.to_vec();
        whole[axis] += start;
        assert_eq!(view.offset(index), side.map.offset(&whole), "{side:?} from {start} on");
    });
}

fn copy(from: &Side, to: &Side) {
    if to.has_repeats() {
        return;
    }
    let Ok(plan) = Relayout::new(&from.map, &to.map) else { return };
    let source = noise(plan.source_size_in_bytes() as usize, 1);
    let mut expected = noise(plan.destination_size_in_bytes() as usize, 2);
    let mut found = expected.clone();
    literal_copy((from, to), |element| element, &source, &mut expected, Padding::Keep);
    plan.run(&source, &mut found).unwrap();
    assert!(found == expected, "{from:?}\n{to:?}\n{plan:?}");
}
