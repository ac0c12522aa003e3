//! `validate` accepts nothing that a look at every bit of the tensor, one after the other, would refuse.
#![no_main]

use std::collections::HashSet;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::strided::TensorFlags;
use tensor_layout::upload::{DeviceLimits, Role, TypeLimits, UploadBuffer, validate, validate_description};
use tensor_layout::{BufferTensorDesc, IndexMap, ToIndexMap};
use tensor_layout_fuzz::layouts::{AnySide, Tensor};
use tensor_layout_fuzz::places::strided_offsets;

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    side: AnySide,
    length: u16,
    offset: u16,
    shift: u8,
    output: bool,
    owned: bool,
    promise: u8,
    more: u8,
    limits: u8,
    rules: [Rule; 6],
}

/// A limit that is set to a number.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Rule {
    name: u8,
    number: u8,
    shift: u8,
}

fn limits(input: &Input) -> DeviceLimits {
    let names: Vec<&str> = DeviceLimits::names().collect();
    let choice = usize::from(input.limits) % (2 * names.len());
    let mut limits = names.get(choice).map_or_else(DeviceLimits::none, |name| name.parse::<DeviceLimits>().unwrap());
    for rule in input.rules {
        let number = u64::from(rule.number) << (rule.shift % 8);
        match rule.name % 32 {
            0 => limits.min_rank = usize::from(rule.number) % 6,
            1 => limits.max_rank = usize::from(rule.number) % 6,
            2 => limits.data_types = Some(vec![input.tensor.data_type()].into()),
            3 => limits.zero_sizes = rule.number & 1 == 0,
            4 => limits.max_size = number,
            5 => limits.max_stride = number,
            6 => limits.max_elements = number,
            7 => limits.max_logical_elements = number,
            8 => limits.size_multiple = number,
            9 => limits.min_binding = number,
            10 => limits.max_binding = number,
            11 => limits.offset_alignment = number,
            12 => limits.max_buffer = number,
            13 => limits.takes_strides = rule.number & 1 == 0,
            14 => limits.unit_inner_stride = rule.number & 1 == 0,
            15 => limits.stride_multiple = number,
            16 => limits.max_stride_bytes = number,
            17 => limits.ordered_strides = rule.number & 1 == 0,
            18 => limits.packed_outside = Some(usize::from(rule.number) % 6),
            19 => limits.max_extent = number,
            20 => limits.zero_offset = rule.number & 1 == 0,
            21 => limits.whole_elements = rule.number & 1 == 0,
            22 => limits.base_offset_in_binding = rule.number & 1 == 0,
            23 => limits.writes_padding = rule.number & 1 == 0,
            24 => {
                limits.stricter_types = vec![TypeLimits {
                    data_types: vec![input.tensor.data_type()].into(),
                    inner_size_multiple: number,
                    stride_multiple: u64::from(rule.number % 9),
                    offset_alignment: 1 << (rule.number % 7),
                }]
                .into();
            }
            _ => {}
        }
    }
    limits
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let sizes = input.tensor.sizes(300);
    let data_type = input.tensor.data_type();
    let limits = limits(&input);
    let offset = u64::from(input.offset) << (input.shift % 9);
    let role = if input.output { Role::Output } else { Role::Input };
    let buffer = UploadBuffer::new(u64::from(input.length), offset, role);
    if input.side.model % 4 == 0 {
        let desc = input.side.strided.desc(data_type, &sizes);
        let desc = desc.with_flags(if input.owned { TensorFlags::OwnedByDirectml } else { TensorFlags::None });
        let promise = if input.promise % 4 == 0 { 1 << (input.promise / 4 % 8) } else { 0 };
        let Ok(desc) = desc.with_base_offset_alignment(promise) else { return };
        let total = desc.min_size_in_bytes() + u64::from(input.more);
        let desc = if input.more % 4 == 0 { desc.with_total_size_in_bytes(total).unwrap() } else { desc };
        let offsets = strided_offsets(&sizes, desc.strides(), desc.base_offset());
        let bits = data_type.bits().into();
        let told = Told { strides: Some(desc.strides().to_vec()), desc: Some(&desc), offsets, bits };
        told.check(&desc, &buffer, &limits, &sizes);
    } else {
        let side = input.side.tiled.side(data_type, &sizes, 20_000);
        let bits = side.map.element_bits().into();
        let told = Told { strides: None, desc: None, offsets: side.offsets, bits };
        told.check(&side.map, &buffer, &limits, &sizes);
    }
});

/// What is literally known of a tensor.
struct Told<'a> {
    strides: Option<Vec<u64>>,
    desc: Option<&'a BufferTensorDesc>,
    offsets: Vec<u64>,
    bits: u64,
}

/// A device may leave a multiple at 0 to say that it has none.
fn is_multiple(value: u64, of: u64) -> bool {
    value.is_multiple_of(of.max(1))
}

impl Told<'_> {
    fn check<L: ToIndexMap>(&self, layout: &L, buffer: &UploadBuffer, limits: &DeviceLimits, sizes: &[u64]) {
        let Ok(report) = validate(layout, buffer, limits) else { return };
        if let Err(errors) = validate_description(layout, limits) {
            // An output is bound in whole units, which can be long enough where its elements are not.
            let rounded = errors.codes().iter().all(|code| ["binding_too_small", "binding_unaligned"].contains(code));
            assert!(rounded && buffer.role == Role::Output && limits.write_granularity > 1, "{errors}");
        }
        let map: IndexMap = layout.to_index_map().unwrap();
        let (bits, data_type) = (self.bits, map.data_type());
        // The tensor.
        assert!((limits.min_rank..=limits.max_rank).contains(&sizes.len()));
        if let Some(types) = &limits.data_types {
            assert!(types.contains(&data_type) && bits == u64::from(data_type.bits()));
        }
        assert!(sizes.iter().all(|&size| size <= limits.max_size && (size > 0 || limits.zero_sizes)));
        assert!(self.offsets.len() as u64 <= limits.max_logical_elements);
        // Its place in the buffer.
        let bound = report.bound.clone();
        assert!(bound.start <= bound.end && bound.end <= buffer.len, "{bound:?} of {}", buffer.len);
        assert!(bound.start >= buffer.offset);
        assert!(buffer.len <= limits.max_buffer);
        let length = bound.end - bound.start;
        assert!(
            is_multiple(length, limits.size_multiple) && length >= limits.min_binding && length <= limits.max_binding
        );
        assert!(is_multiple(bound.start, limits.offset_alignment));
        assert!(!limits.zero_offset || bound.start == 0);
        assert!(!limits.whole_elements || (bound.start * 8).is_multiple_of(bits));
        // Every bit.
        let mut taken = HashSet::new();
        let (mut first, mut last) = (u64::MAX, 0);
        for &offset in &self.offsets {
            let start = buffer.offset * 8 + offset * bits;
            assert!(start >= bound.start * 8 && start + bits <= bound.end * 8, "element {offset} is outside {bound:?}");
            assert!(taken.insert(offset) || buffer.role == Role::Input, "two elements at {offset}");
            (first, last) = (first.min(offset), last.max(offset + 1));
        }
        if !self.offsets.is_empty() {
            let base = if limits.base_offset_in_binding { first } else { 0 };
            assert!(last - base <= limits.max_elements, "{last} - {base}");
        }
        if let Some(stricter) = limits.stricter_types.iter().find(|rules| rules.data_types.contains(&data_type)) {
            assert!(is_multiple(bound.start, stricter.offset_alignment));
        }
        if let Some(desc) = self.desc {
            assert!(buffer.role == Role::Input || desc.flags() == TensorFlags::None);
            // A base that is part of the binding leaves of the promise what divides both.
            let promise: u64 = desc.base_offset_alignment().into();
            let kept = (1..=promise)
                .rev()
                .find(|&bytes| is_multiple(promise, bytes) && is_multiple(bound.start - buffer.offset, bytes));
            assert!(is_multiple(bound.start, kept.unwrap_or(0)));
        }
        match &self.strides {
            Some(strides) => self.check_strides(strides, sizes, limits, data_type),
            None => assert!(!limits.takes_strides || map.strides().is_some()),
        }
    }

    fn check_strides(&self, strides: &[u64], sizes: &[u64], limits: &DeviceLimits, data_type: tensor_layout::DataType) {
        let bits = self.bits;
        let mut rank = sizes.len();
        let unseen = limits.sizes_only || limits.ignores_unit_strides;
        if unseen && sizes.contains(&0) {
            return;
        }
        // Who is given sizes alone sees no stride of an axis of size 1.
        let mut strides = strides.to_vec();
        for axis in (0..rank).rev().filter(|&axis| limits.sizes_only && sizes[axis] == 1) {
            strides[axis] = if axis + 1 == rank { 1 } else { strides[axis + 1].saturating_mul(sizes[axis + 1].max(1)) };
        }
        // The rules are those of the axes in memory order where a device takes any order.
        let mut order: Vec<usize> =
            (0..rank).filter(|&axis| !limits.ignores_unit_strides || sizes[axis] != 1).collect();
        if limits.any_order {
            order.sort_by_key(|&axis| std::cmp::Reverse((strides[axis], sizes[axis])));
        }
        let (strides, sizes): (Vec<u64>, Vec<u64>) = order.iter().map(|&axis| (strides[axis], sizes[axis])).unzip();
        rank = order.len();
        assert!(strides.iter().all(|&stride| stride <= limits.max_stride));
        assert!(strides.iter().all(|&stride| stride * bits <= limits.max_stride_bytes.saturating_mul(8)));
        assert!(!limits.unit_inner_stride || strides.last().is_none_or(|&stride| stride == 1));
        let stricter = limits.stricter_types.iter().find(|rules| rules.data_types.contains(&data_type));
        if let (Some(rules), Some(&last)) = (stricter, sizes.last()) {
            assert!(is_multiple(last, rules.inner_size_multiple));
        }
        for axis in 0..rank.saturating_sub(1) {
            for multiple in [limits.stride_multiple, stricter.map_or(1, |rules| rules.stride_multiple)] {
                // One byte is not a rule: strides of bits are any number.
                assert!(multiple <= 1 || is_multiple(strides[axis] * bits, multiple * 8), "axis {axis}");
            }
            let inside = strides[axis + 1] * sizes[axis + 1];
            if limits.packed_outside.is_some_and(|packed| rank - 1 - axis >= packed) {
                assert_eq!(strides[axis], inside);
            } else if limits.ordered_strides {
                assert!(strides[axis] >= inside);
            }
        }
        let extents = strides.iter().zip(&sizes).map(|(&stride, &size)| (stride * size * bits).div_ceil(8));
        assert!(extents.max().unwrap_or(0) <= limits.max_extent);
    }
}
