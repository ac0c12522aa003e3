//! Tensors that share buffers: by every set of limits, no copy to a place changes another tensor.

use crate::literal::cases;
use proptest::prelude::*;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::Slice;
use tensor_layout::upload::{Arena, DeviceLimits, PackedBuffer, Role, ScaledTensor, suggest};
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, ToIndexMap};

use super::webgpu::arena_tensor;

/// Every named set of limits, and one whose bindings begin anywhere.
fn all_limits() -> Vec<DeviceLimits> {
    let names = DeviceLimits::names().chain(["vulkan:minStorageBufferOffsetAlignment=1", "directml:2.0"]);
    names.map(|name| name.parse().unwrap()).collect()
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

/// Writes a byte of its own to every element of a layout, with zeroed padding if the layout owns some.
fn write(layout: &AnyLayout, byte: u8, buffer: &mut [u8]) {
    let map = layout.to_index_map().unwrap();
    let from = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap();
    let from = if map.element_bits() == 8 { from.with_byte_elements() } else { from.to_index_map() }.unwrap();
    let plan = Relayout::new(&from, layout).unwrap();
    let plan = plan.clone().with_padding(Padding::Zero).unwrap_or(plan);
    plan.run(&vec![byte; size(plan.source_size_in_bytes())], buffer).unwrap();
    assert_eq!(
        plan.to_vec(&vec![byte; size(plan.source_size_in_bytes())]).unwrap().len(),
        size(map.total_size_in_bytes())
    );
}

fn holds(layout: &AnyLayout, byte: u8, buffer: &[u8]) -> bool {
    let map = layout.to_index_map().unwrap();
    let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap();
    let packed = if map.element_bits() == 8 { packed.with_byte_elements() } else { packed.to_index_map() }.unwrap();
    let back = Relayout::new(layout, &packed.with_physical_elements(map.element_count()).unwrap()).unwrap();
    back.to_vec(buffer).unwrap().iter().all(|&found| found == byte)
}

/// The tensors that a device takes: as they are, or in the layout that is suggested for the device.
fn taken(tensors: &[(AnyLayout, Role)], limits: &DeviceLimits) -> Vec<(AnyLayout, Role)> {
    let is_taken = |layout: &AnyLayout, role| Arena::new(&[(layout as &dyn ToIndexMap, role)], limits).is_ok();
    let choose = |(layout, role): &(AnyLayout, Role)| {
        if is_taken(layout, *role) {
            return Some((layout.clone(), *role));
        }
        let other = AnyLayout::Strided(suggest(layout, limits).ok()??.desc);
        is_taken(&other, *role).then_some((other, *role))
    };
    tensors.iter().filter_map(choose).collect()
}

#[test]
fn tensors_share_a_buffer_until_it_is_full() {
    let limits = DeviceLimits::webgpu().with("max_buffer", "1KiB").unwrap();
    let row = BufferTensorDesc::packed(DataType::F32, &[64]).unwrap();
    let arena = Arena::new(&[(&row as &dyn ToIndexMap, Role::Input); 5], &limits).unwrap();
    assert_eq!(arena.buffers, [1024, 256]);
}

#[test]
fn no_piece_of_values_with_scales_is_empty() {
    let [values, scales] = [[128, 320], [128, 10]].map(|sizes| BufferTensorDesc::packed(DataType::U8, &sizes).unwrap());
    let tensor = ScaledTensor::new(&values, &[(&scales, &[1, 32])]).unwrap();
    let pieces = tensor.split_binding(&DeviceLimits::webgpu().with("max_binding", "8KiB").unwrap()).unwrap();
    let rows: Vec<_> = pieces.iter().map(|piece| piece.indices[0].clone()).collect();
    assert_eq!(rows, (0..8).map(|piece| 16 * piece..16 * (piece + 1)).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(cases(400))]

    /// Each tensor of an arena is written with zeros in its padding, in any order, and all of them are there
    /// at the end. What a copy allocates is inside the tensor's place.
    #[test]
    fn copies_to_an_arena_change_no_other_tensor(
        tensors in prop::collection::vec((arena_tensor(), any::<bool>()), 1..6), order: u64,
    ) {
        let layouts: Vec<(AnyLayout, Role)> = tensors.into_iter().map(|((layout, role), cut)| {
            (if cut { slice(&layout) } else { layout }, role)
        }).collect();
        for limits in all_limits() {
            let layouts = taken(&layouts, &limits);
            let given: Vec<(&dyn ToIndexMap, Role)> =
                layouts.iter().map(|(layout, role)| (layout as &dyn ToIndexMap, *role)).collect();
            let arena = Arena::new(&given, &limits).unwrap();
            let mut buffers: Vec<Vec<u8>> = arena.buffers.iter().map(|&bytes| vec![0xee; size(bytes)]).collect();
            let mut places: Vec<(u8, usize, usize, &AnyLayout)> = Vec::new();
            for (byte, binding) in (1..).zip(arena.tensors.iter().flatten()) {
                places.push((byte, binding.buffer, size(binding.offset), &binding.layout));
            }
            places.sort_by_key(|&(byte, ..)| u64::from(byte).wrapping_mul(order | 1));
            for &(byte, buffer, offset, layout) in &places {
                write(layout, byte, &mut buffers[buffer][offset..]);
            }
            for (byte, buffer, offset, layout) in places {
                prop_assert!(holds(layout, byte, &buffers[buffer][offset..]), "{} lost {:?} at {}", limits.name, layout, offset);
            }

            let all: Vec<&dyn ToIndexMap> = layouts.iter().map(|(layout, _)| layout as &dyn ToIndexMap).collect();
            let Ok(packed) = PackedBuffer::new(&all, &limits) else { continue };
            let mut buffer = vec![0xee; size(packed.len)];
            let mut numbered: Vec<(u8, usize)> = (1..).zip(0..layouts.len()).collect();
            numbered.sort_by_key(|&(byte, _)| u64::from(byte).wrapping_mul(order | 1));
            for &(byte, at) in &numbered {
                write(&layouts[at].0, byte, &mut buffer[size(packed.offsets[at])..]);
            }
            for (byte, at) in numbered {
                let offset = size(packed.offsets[at]);
                prop_assert!(holds(&layouts[at].0, byte, &buffer[offset..]), "{} lost {:?}", limits.name, layouts[at]);
            }
        }
    }
}

/// The second half of the first axis, where it has one and the layout can be cut there.
fn slice(layout: &AnyLayout) -> AnyLayout {
    let map = layout.to_index_map().unwrap();
    let mut slices: Vec<Slice> = map.sizes().iter().map(|&size| (0..size).into()).collect();
    if let (Some(slice), Some(&size)) = (slices.first_mut(), map.sizes().first()) {
        *slice = (size / 2..size).into();
    }
    match layout {
        AnyLayout::Strided(desc) => desc.slice(&slices).map_or_else(|_| layout.clone(), AnyLayout::Strided),
        _ => map.slice(&slices).map_or_else(|_| layout.clone(), AnyLayout::Mapped),
    }
}

/// The place of `f16[3]` is 8 bytes long, because its layout says so: the device binds 6 of them.
#[test]
fn a_place_is_as_long_as_its_layout_says() {
    let tensors = [3, 4].map(|size| BufferTensorDesc::packed(DataType::F16, &[size]).unwrap());
    for name in ["metal", "metal-tensor", "webnn", "vulkan:minStorageBufferOffsetAlignment=1"] {
        let limits: DeviceLimits = name.parse().unwrap();
        let given: [(&dyn ToIndexMap, Role); 2] = [(&tensors[0], Role::Input), (&tensors[1], Role::Input)];
        let arena = Arena::new(&given, &limits).unwrap();
        let [first, second] = [&arena.tensors[0][0], &arena.tensors[1][0]];
        assert_eq!((first.offset, first.bound.clone()), (0, 0..6), "{name}");
        assert!(second.buffer != first.buffer || second.offset == 8, "{name}: {second:?}");
    }
    let packed = PackedBuffer::new(&[&tensors[0], &tensors[0]], &"metal".parse().unwrap()).unwrap();
    assert_eq!((packed.offsets, packed.len), (vec![0, 8], 16));
}
