//! The plan as data: boxes and places. Each is run literally and compared with the literal copy.

use crate::literal::bits::{read_bits, write_bits};
use crate::literal::cases;
use crate::literal::pairs::{literal_copy, noise, padding, pair, within};
use proptest::prelude::*;
use tensor_layout::IndexMap;
use tensor_layout::plan::{CopyBox, Loop, OffsetBox, Stride};
use tensor_layout::relayout::{Padding, Relayout};

/// Both offsets of every element of a box.
pub(crate) fn elements(copy: &CopyBox) -> Vec<(u64, u64)> {
    let mut found = vec![(copy.source, copy.destination)];
    for step in copy.loops() {
        let steps: Vec<(u64, u64)> = match step {
            // A loop that goes backwards in the source has offsets that wrap.
            Loop::Strided(Stride { extent, source, destination }) => {
                (0..*extent).map(|i| ((i as i64 * source) as u64, i * destination)).collect()
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
        // An element of more than 128 bits is copied in parts.
        for part in (0..bits).step_by(128) {
            let at = |offset: u64| offset * u64::from(bits) + u64::from(part);
            let value = read_bits(source, at(a), (bits - part).min(128)).unwrap();
            write_bits(destination, at(b), (bits - part).min(128), value).unwrap();
        }
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
    let pattern = match relayout.settings().padding {
        Padding::Keep => None,
        Padding::Zero => Some(0),
        Padding::Fill(pattern) => Some(pattern),
    };
    if let Some(pattern) = pattern {
        let last = buffers.last_mut().unwrap();
        let whole = (relayout.destination().physical_elements() * u64::from(bits)) as usize;
        set(&relayout.destination().buffer_boxes().unwrap().padding, bits, pattern, last);
        if !whole.is_multiple_of(8) {
            last[whole / 8] &= 0xff >> (8 - whole % 8);
            (whole..whole.next_multiple_of(8) + 1 - bits as usize)
                .step_by(bits as usize)
                .for_each(|bit| write_bits(last, bit as u64, bits, pattern).unwrap());
        }
    }
    let mut from = source.to_vec();
    for (pass, buffer) in passes.iter().zip(&mut buffers) {
        assert_eq!(pass.boxes().count() as u64, pass.box_count);
        pass.boxes().for_each(|copy| copy_elements(elements(&copy), bits, &from, buffer));
        from = buffer.clone();
    }
    destination.copy_from_slice(&from);
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn boxes_run_literally_are_the_copy((from, to) in pair(), padding in padding()) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let padding = within(padding, from.map.element_bits());
        let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap();
        let source = noise(from.bytes(), 1);
        let mut expected = noise(to.bytes(), 2);
        let mut destination = expected.clone();
        literal_copy(&from, &to, &source, &mut expected, padding);
        run_boxes(&relayout, &source, &mut destination);
        prop_assert_eq!(destination, expected);
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
    let offset = map.swizzle().map_or(offset, |swizzle| swizzle.undo(offset));
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
