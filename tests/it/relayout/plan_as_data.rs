//! The plan as data: boxes, places and pairs of descriptors. Each is run literally and compared with the
//! literal copy.

use crate::literal::bits::{read_bits, write_bits};
use crate::literal::cases;
use crate::literal::pairs::{Side, literal_copy, noise, padding, pair, within};
use proptest::prelude::*;
use tensor_layout::plan::{CopyBox, Loop, OffsetBox};
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::upload::{DeviceLimits, validate_description};
use tensor_layout::{ArrayShape, BufferTensorDesc, Error, IndexMap, ToIndexMap};

/// Both offsets of every element of a box.
fn elements(copy: &CopyBox) -> Vec<(u64, u64)> {
    let mut found = vec![(copy.source, copy.destination)];
    for step in copy.loops() {
        let steps: Vec<(u64, u64)> = match step {
            Loop::Strided { extent, source, destination } => {
                (0..*extent).map(|i| (i * source, i * destination)).collect()
            }
            // The loop goes backwards in the source, so its offsets are added with wrapping.
            Loop::Reversed { extent, source, destination } => {
                (0..*extent).map(|i| ((i * source).wrapping_neg(), i * destination)).collect()
            }
            Loop::Table(entries) => entries.clone(),
        };
        found = found.iter().flat_map(|&(a, b)| steps.iter().map(move |&(c, d)| (a.wrapping_add(c), b + d))).collect();
    }
    assert_eq!(found.len() as u64, copy.elements());
    found
}

fn copy_elements(pairs: impl IntoIterator<Item = (u64, u64)>, bits: u32, source: &[u8], destination: &mut [u8]) {
    for (a, b) in pairs {
        let value = read_bits(source, a * u64::from(bits), bits).unwrap();
        write_bits(destination, b * u64::from(bits), bits, value).unwrap();
    }
}

fn set(boxes: &[OffsetBox], bits: u32, pattern: u128, buffer: &mut [u8]) {
    for (start, length) in boxes.iter().flat_map(|padding| padding.runs().collect::<Vec<_>>()) {
        (start..start + length).for_each(|at| write_bits(buffer, at * u64::from(bits), bits, pattern).unwrap());
    }
}

/// Runs a copy as another back end would do with the public plan alone.
fn run_boxes(relayout: &Relayout, source: &[u8], destination: &mut [u8]) {
    let bits = relayout.source().element_bits();
    let passes: Vec<_> = relayout.passes().collect();
    let size = |elements: u64| (elements * u64::from(bits)).div_ceil(8) as usize;
    let mut buffers: Vec<Vec<u8>> = passes.iter().map(|pass| vec![0; size(pass.destination_elements)]).collect();
    *buffers.last_mut().unwrap() = destination.to_vec();
    let pattern = match relayout.padding() {
        Padding::Keep => {
            for place in (0..passes.len() - 1).rev() {
                let (before, after) = buffers.split_at_mut(place + 1);
                for copy in passes[place].recovering_boxes() {
                    copy_elements(elements(&copy), bits, &after[0], &mut before[place]);
                }
            }
            None
        }
        Padding::Zero => Some(0),
        Padding::Fill(pattern) => Some(pattern),
    };
    if let Some(pattern) = pattern {
        let last = buffers.last_mut().unwrap();
        let whole = (relayout.destination().physical_elements() * u64::from(bits)) as usize;
        set(&relayout.destination().buffer_boxes().unwrap().padding, bits, pattern, last);
        if !whole.is_multiple_of(8) {
            last[whole / 8] &= 0xff >> (8 - whole % 8);
        }
        for (pass, buffer) in passes.iter().zip(&mut buffers).rev().skip(1) {
            (0..pass.destination_elements)
                .for_each(|at| write_bits(buffer, at * u64::from(bits), bits, pattern).unwrap());
        }
    }
    let mut from = source.to_vec();
    for (pass, buffer) in passes.iter().zip(&mut buffers) {
        assert_eq!(pass.boxes().count() as u64, pass.box_count());
        pass.boxes().for_each(|copy| copy_elements(elements(&copy), bits, &from, buffer));
        from = buffer.clone();
    }
    destination.copy_from_slice(&from);
}

fn offsets_of(desc: &BufferTensorDesc) -> Vec<u64> {
    crate::literal::strided_offsets(desc).into_iter().map(|offset| offset as u64).collect()
}

/// Runs every pair like an identity operator: equal indices on both sides.
fn run_pairs(relayout: &Relayout, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
    let pairs = relayout.descriptor_pairs()?;
    let bits = u64::from(relayout.source().element_bits());
    let sizes: Vec<usize> =
        relayout.passes().map(|pass| (pass.destination_elements * bits).div_ceil(8) as usize).collect();
    let mut from = source.to_vec();
    for (place, &size) in sizes.iter().enumerate() {
        let last = place + 1 == sizes.len();
        let mut buffer = if last { destination.to_vec() } else { vec![0; size] };
        for pair in pairs.iter().filter(|pair| pair.pass == place) {
            let (a, b) = (&pair.source, &pair.destination);
            assert_eq!((a.sizes(), a.data_type()), (b.sizes(), b.data_type()));
            for desc in [a, b] {
                // The tensor is at the start of its buffer, because the base offset goes into the binding.
                let desc = desc.clone().with_base_offset(0).unwrap();
                validate_description(&desc, &DeviceLimits::directml()).unwrap();
            }
            let offsets = offsets_of(a).into_iter().zip(offsets_of(b));
            copy_elements(offsets, a.data_type().bits(), &from, &mut buffer);
        }
        from = buffer;
    }
    destination.copy_from_slice(&from);
    Ok(())
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn boxes_run_literally_are_the_copy((from, to) in pair(), padding in padding()) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let padding = within(padding, from.map.element_bits());
        let relayout = relayout.with_padding_everywhere(padding).unwrap();
        let source = noise(from.bytes(), 1);
        let mut expected = noise(to.bytes(), 2);
        let mut destination = expected.clone();
        literal_copy(&from, &to, &source, &mut expected, padding);
        run_boxes(&relayout, &source, &mut destination);
        prop_assert_eq!(destination, expected);
    }

    #[test]
    fn descriptor_pairs_run_literally_are_the_copy((from, to) in pair()) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        // The padding of an Irreducible destination is kept by other boxes, which this test leaves out.
        let irreducible = relayout.passes().count() > 1;
        let source = noise(from.bytes(), 1);
        let mut expected = if irreducible { vec![0; to.bytes()] } else { noise(to.bytes(), 2) };
        let mut destination = expected.clone();
        literal_copy(&from, &to, &source, &mut expected, Padding::Keep);
        match run_pairs(&relayout, &source, &mut destination) {
            Ok(()) => prop_assert_eq!(destination, expected),
            Err(error) => {
                prop_assert_eq!(error.code(), "unsupported_element_bits");
                prop_assert!(from.map.element_bits() < 4);
            }
        }
    }

    #[test]
    fn places_take_offsets_apart((side, _) in pair()) {
        let map = &side.map;
        if !places_nest(map) {
            return Ok(());
        }
        let mut numbers = std::collections::BTreeSet::new();
        for offset in 0..map.physical_elements() {
            let found = by_places(map, offset);
            prop_assert_eq!(found.is_some(), map.inverse(offset).unwrap().is_some() , "{}", offset);
            numbers.extend(found);
        }
        prop_assert_eq!(numbers.len(), side.offsets.len());
    }
}

/// Whether the places with smaller strides together reach less far than one step of each place. If so,
/// dividing by the strides finds the index at an offset.
fn places_nest(map: &IndexMap) -> bool {
    let mut reach = 0;
    map.levels().is_none()
        && map.digit_places().iter().rev().all(|place| {
            let nests = place.stride > reach;
            reach += place.stride * (place.count - 1);
            nests
        })
}

/// The numbers of all components at an offset, by the method that `digit_places` describes.
fn by_places(map: &IndexMap, offset: u64) -> Option<Vec<u64>> {
    let mut rest = offset.checked_sub(map.base())?;
    if map.element_count() == 0 {
        return None;
    }
    let mut digits = vec![Vec::new(); map.components().len()];
    for place in map.digit_places() {
        let digit = rest / place.stride;
        rest %= place.stride;
        if digit >= place.count {
            return None;
        }
        digits[place.component].push((place.divisor, digit));
    }
    let mut numbers = Vec::new();
    for (component, digits) in map.components().iter().zip(&mut digits) {
        digits.sort();
        let mut number = 0;
        for &(divisor, digit) in digits.iter() {
            if number >= divisor && divisor > 1 {
                return None;
            }
            number += divisor * digit;
        }
        if number >= component.extent {
            return None;
        }
        numbers.push(number);
    }
    (rest == 0).then_some(numbers)
}

fn pairs_of(from: &str, to: &str) -> Result<Vec<String>, Error> {
    let side = |text: &str| -> Result<IndexMap, Error> {
        match text.parse::<ArrayShape>() {
            Ok(shape) => shape.to_index_map(),
            Err(_) => text.parse::<BufferTensorDesc>()?.to_index_map(),
        }
    };
    let pairs = Relayout::new(&side(from)?, &side(to)?)?.descriptor_pairs()?;
    Ok(pairs.iter().map(|pair| format!("{} {} -> {}", pair.pass, pair.source, pair.destination)).collect())
}

// With addresses of 32 bits, no buffer is that large, and `Relayout::new` refuses.
#[test]
#[cfg(target_pointer_width = "64")]
fn what_needs_more_than_32_bits_is_cut() {
    // There are more than 2^32 elements, so the pair is cut into halves.
    assert_eq!(
        pairs_of("u8[65536,65536]{1,0}", "u8[65536,65536]{1,0}").unwrap(),
        [
            "0 u8[2147483648]:[1] -> u8[2147483648]:[1]",
            "0 u8[2147483648]:[1]+2147483648 -> u8[2147483648]:[1]+2147483648"
        ]
    );
    // A stride is past 32 bits, so there is a pair for each step.
    assert_eq!(
        pairs_of("f32[2,3]:[5000000000,1]", "f32[2,3]:[1,2]").unwrap(),
        ["0 u32[3]:[1] -> u32[3]:[2]", "0 u32[3]:[1]+5000000000 -> u32[3]:[2]+1"]
    );
}

#[test]
fn what_directml_cannot_say_in_one_pair_is_cut() {
    // No two of the ten axes can be merged. The axes with the fewest steps become pairs.
    let sizes = "2,2,2,2,2,2,2,2,2,2";
    let found =
        pairs_of(&format!("f32[{sizes}]{{9,8,7,6,5,4,3,2,1,0}}"), &format!("f32[{sizes}]{{0,1,2,3,4,5,6,7,8,9}}"));
    let found = found.unwrap();
    assert_eq!(found.len(), 4);
    assert!(found[3].contains("2,2,2,2,2,2,2,2]:"), "{}", found[3]);
    // The elements have 16 bytes.
    let wide = pairs_of("c128[2,3]{1,0}", "c128[2,3]{0,1}").unwrap();
    assert_eq!(wide, ["0 u64[3,2,2]:[2,6,1] -> u64[3,2,2]:[4,2,1]"]);
    // The tensors have one element.
    assert_eq!(pairs_of("f32[]", "f32[1,1]:[7,7]").unwrap_err().code(), "rank_mismatch");
    assert_eq!(pairs_of("f32[1]{0}", "f32[1]:[7]").unwrap(), ["0 u32[1]:[1] -> u32[1]:[1]"]);
    assert_eq!(pairs_of("f32[0]{0}", "f32[0]:[7]").unwrap(), [""; 0]);
    // Elements of half a byte have a type, and are copied as bytes where possible. Elements of one bit or two
    // have no type.
    assert_eq!(pairs_of("s4[2,2]{1,0:E(4)}", "s4[2,2]{0,1:E(4)}").unwrap(), ["0 u4[2,2]:[1,2] -> u4[2,2]:[2,1]"]);
    assert_eq!(pairs_of("s4[4,2]{1,0:E(4)}", "s4[4,2]:[4,1]").unwrap(), ["0 u8[4,1]:[1,1] -> u8[4,1]:[2,1]"]);
    let error = pairs_of("u2[2,2]{1,0:E(2)}", "u2[2,2]{0,1:E(2)}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "elements of 2 bits cannot be handled here, only whole bytes, 4 bits, or runs of whole bytes"
    );
}

/// Only some bytes of a strided destination belong to the tensor.
#[test]
fn a_strided_destination_keeps_its_neighbours() {
    let side = |text: &str| Side::strided(&text.parse().unwrap());
    let (from, to) = (side("u8[3,5]:[5,1]"), side("u8[3,5]:[11,2]+1"));
    let relayout = Relayout::new(&from.map, &to.map).unwrap();
    let (source, mut destination) = (noise(15, 1), vec![0xee; 40]);
    let mut expected = destination.clone();
    literal_copy(&from, &to, &source, &mut expected, Padding::Keep);
    run_pairs(&relayout, &source, &mut destination).unwrap();
    assert_eq!(destination, expected);
}
