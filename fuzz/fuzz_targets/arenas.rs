//! Random tensors in the arenas and packed buffers of every set of limits: copies with zeroed padding, in any
//! order, and then every element of every tensor is where it was written. The bindings of an arena are
//! accepted, and of two tensors anywhere in a buffer none that a look at every bit would refuse.
#![no_main]

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::upload::{Arena, Binding, DeviceLimits, PackedBuffer, Role, UploadBuffer, validate_bindings};
use tensor_layout::{AnyLayout, BufferTensorDesc, ToIndexMap};
use tensor_layout_fuzz::layouts::{AnySide, Tensor};

#[derive(Debug, Arbitrary)]
struct Input {
    tensors: Vec<(Tensor, AnySide, bool)>,
    limits: u8,
    alignment: Option<u8>,
    order: u64,
    offsets: [u16; 2],
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let names: Vec<&str> = DeviceLimits::names().collect();
    let mut limits: DeviceLimits = names[usize::from(input.limits) % names.len()].parse().unwrap();
    if let Some(alignment) = input.alignment {
        limits.offset_alignment = u64::from(alignment) + 1;
    }
    let mut layouts: Vec<(AnyLayout, Role)> = Vec::new();
    let mut bits: Vec<Vec<u64>> = Vec::new();
    for (tensor, side, is_output) in input.tensors.iter().take(6) {
        let side = side.side(tensor.data_type(), &tensor.sizes(200), 1000);
        let layout = side.text.parse().unwrap_or(AnyLayout::Mapped(side.map.clone()));
        if !side.has_repeats() && side.map.element_bits().is_multiple_of(8) {
            layouts.push((layout, if *is_output { Role::Output } else { Role::Input }));
            bits.push(side.offsets.iter().map(|offset| offset * u64::from(side.map.element_bits())).collect());
        }
    }
    let given: Vec<(&dyn ToIndexMap, Role)> =
        layouts.iter().map(|(layout, role)| (layout as &dyn ToIndexMap, *role)).collect();
    if let Ok(arena) = Arena::new(&given, &limits) {
        let places = arena.tensors.iter().flatten().map(|binding| (binding.buffer, binding.offset, &binding.layout));
        check(&arena.buffers, places.collect(), input.order);
        // Two inputs of one buffer never clash, nor do parts of an arena.
        assert!(validate_bindings(&arena.bindings(), &limits).iter().all(Result::is_ok), "{arena:?}");
    }
    if let ([(first, one), (second, two), ..], [a, b, ..]) = (&layouts[..], &bits[..]) {
        let offsets = input.offsets.map(|offset| u64::from(offset % 1024) << (offset >> 13));
        let at = |offset, role| UploadBuffer::new(1 << 20, offset, role);
        let bindings = [Binding::new(first, 0, at(offsets[0], *one)), Binding::new(second, 0, at(offsets[1], *two))];
        if validate_bindings(&bindings, &limits).iter().all(Result::is_ok) {
            let bytes =
                |bits: &[u64], offset: u64| -> BTreeSet<u64> { bits.iter().map(|bit| bit / 8 + offset).collect() };
            let (a, b) = (bytes(a, offsets[0]), bytes(b, offsets[1]));
            let is_written = [one, two].contains(&&Role::Output);
            assert!(!is_written || a.is_disjoint(&b), "{first:?} {one:?} and {second:?} {two:?} at {offsets:?}");
            assert!(!(limits.one_usage && one != two), "one reads the buffer, the other writes it");
        }
    }
    let all: Vec<&dyn ToIndexMap> = layouts.iter().map(|(layout, _)| layout as &dyn ToIndexMap).collect();
    if let Ok(packed) = PackedBuffer::new(&all, &limits) {
        let places = packed.offsets.iter().zip(&layouts).map(|(&offset, (layout, _))| (0, offset, layout));
        check(&[packed.len], places.collect(), input.order);
    }
});

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

/// Writes a byte of its own to all elements of each tensor, and reads all tensors back.
fn check(lengths: &[u64], places: Vec<(usize, u64, &AnyLayout)>, order: u64) {
    let mut buffers: Vec<Vec<u8>> = lengths.iter().map(|&bytes| vec![0xee; size(bytes)]).collect();
    let mut places: Vec<(u8, usize, usize, &AnyLayout)> =
        (1..).zip(places).map(|(byte, (buffer, offset, layout))| (byte, buffer, size(offset), layout)).collect();
    places.sort_by_key(|&(byte, ..)| u64::from(byte).wrapping_mul(order | 1));
    let packed = |layout: &AnyLayout| {
        let map = layout.to_index_map().unwrap();
        let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap();
        let is_wider = map.element_bits() != map.data_type().bits();
        let packed = if is_wider { packed.with_byte_elements() } else { packed.to_index_map() };
        packed.unwrap().with_physical_elements(map.element_count()).unwrap()
    };
    for &(byte, buffer, offset, layout) in &places {
        let Ok(plan) = Relayout::new(&packed(layout), layout) else { continue };
        let plan = plan.clone().with_padding(Padding::Zero).unwrap_or(plan);
        plan.run(&vec![byte; size(plan.source_size_in_bytes())], &mut buffers[buffer][offset..]).unwrap();
    }
    for (byte, buffer, offset, layout) in places {
        let Ok(plan) = Relayout::new(layout, &packed(layout)) else { continue };
        let found = plan.to_vec(&buffers[buffer][offset..]).unwrap();
        assert!(found.iter().all(|&found| found == byte), "{layout:?} at {offset} lost elements");
    }
}
