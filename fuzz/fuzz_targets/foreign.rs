//! Structures as a foreign program might fill them: DLPack, PJRT, DirectML, and views of ndarray. Lists are
//! as long as their structure says and end where their memory ends, so that a sanitizer sees what is read
//! after them; lengths beyond all limits have no list at all.
#![no_main]

use std::ptr;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use ndarray::Axis;
use tensor_layout::AnyLayout;
use tensor_layout::interop::directml::{DirectmlTensor, RawBufferTensorDesc};
use tensor_layout::interop::dlpack::{DlDataType, DlDevice, DlLayout, DlTensor};
use tensor_layout::interop::ndarray::{describe, relayout_array, view, view_mut};
use tensor_layout::interop::pjrt::{PjrtLayout, PjrtLayoutUnion, PjrtMemoryLayout, PjrtStridesLayout, PjrtTiledLayout};
use tensor_layout::upload::FeatureLevel;
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_fuzz::layouts::Tensor;
use tensor_layout_fuzz::places::for_each_index;

/// A number: mostly small, sometimes any.
#[derive(Debug, Clone, Copy, Default, Arbitrary)]
struct Number {
    kind: u8,
    small: i8,
    large: i64,
}

impl Number {
    fn value(self) -> i64 {
        match self.kind % 16 {
            0 => self.large,
            1 => i64::MIN,
            2 => i64::MAX,
            3 => i64::from(self.small),
            4 => 1 << (self.large & 63),
            _ => i64::from(self.small.unsigned_abs() % 12),
        }
    }

    fn length(self, most: usize) -> usize {
        match self.kind % 16 {
            0 => self.large as usize,
            1 => usize::MAX,
            _ => usize::from(self.small.unsigned_abs()) % most,
        }
    }
}

#[derive(Debug, Arbitrary)]
struct Input {
    kind: u8,
    tensor: Tensor,
    type_code: u8,
    bits: u8,
    lanes: u16,
    length: Number,
    /// 0: null, 1: not aligned.
    pointers: [u8; 3],
    numbers: [Number; 8],
    others: [Number; 8],
    lengths: [u8; 4],
    offset: Number,
    flags: u64,
    struct_size: Number,
    inner_size: Number,
    layout_type: i32,
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    match input.kind % 5 {
        0 => dlpack(&input),
        1 => pjrt(&input, true),
        2 => pjrt(&input, false),
        3 => directml(&input),
        _ => arrays(&input),
    }
});

/// Where the list begins, or nowhere.
fn start<T>(list: &[T], choice: u8) -> *const T {
    match choice % 32 {
        0 => ptr::null(),
        1 => list.as_ptr().wrapping_byte_add(1),
        _ => list.as_ptr(),
    }
}

fn values(numbers: &[Number], length: usize) -> Vec<i64> {
    numbers.iter().cycle().take(length).map(|number| number.value()).collect()
}

fn dlpack(input: &Input) {
    let ndim =
        if input.length.kind.is_multiple_of(16) { input.length.large as i32 } else { i32::from(input.length.small) };
    let length = usize::try_from(ndim).unwrap_or(0);
    let length = if length <= 64 { length } else { 0 };
    let (shape, strides) = (values(&input.numbers, length), values(&input.others, length));
    let tensor = DlTensor {
        data: ptr::null_mut(),
        device: DlDevice { device_type: input.layout_type, device_id: -1 },
        ndim,
        dtype: DlDataType { code: input.type_code, bits: input.bits, lanes: input.lanes },
        shape: start(&shape, input.pointers[0]).cast_mut(),
        strides: start(&strides, input.pointers[1]).cast_mut(),
        byte_offset: input.offset.value() as u64,
    };
    // SAFETY: both lists are as long as `ndim` says, or null, or not aligned, where that is a rank that can
    // be read.
    let Ok(desc) = (unsafe { tensor.fields(input.flags) }).and_then(BufferTensorDesc::try_from) else { return };
    read(&desc);
    if let Ok(layout) = DlLayout::try_from(&desc) {
        let back = BufferTensorDesc::try_from(layout.fields()).unwrap();
        assert_eq!((back.data_type(), back.base_offset()), (desc.data_type(), desc.base_offset()));
        came_back(&back, &desc);
    }
}

fn pjrt(input: &Input, is_tiled: bool) {
    let sizes = input.tensor.sizes(5000);
    let data_type = DataType::ALL[usize::from(input.tensor.data_type) % DataType::ALL.len()];
    let listed = |length: usize| if length <= 1 << 16 { length } else { 0 };
    let first = match input.length.kind % 4 {
        0 => input.length.length(10),
        _ => sizes.len(),
    };
    let order: Vec<i64> = match input.offset.kind % 4 {
        0 => values(&input.numbers, listed(first)),
        _ => (0..listed(first) as i64).rev().collect(),
    };
    let tile_count = input.offset.length(5);
    let mut lengths: Vec<usize> =
        input.lengths.iter().take(listed(tile_count)).map(|&byte| usize::from(byte) % 6).collect();
    lengths.resize(listed(tile_count), 0);
    if let (Some(last), 0) = (lengths.last_mut(), input.lengths[3] % 16) {
        *last = input.offset.large as usize;
    }
    let sum = lengths.iter().fold(0_usize, |sum, &length| sum.saturating_add(length));
    let entries = values(&input.others, listed(sum));
    let size = |number: Number, right: usize| if number.kind.is_multiple_of(4) { number.length(100) } else { right };
    let layout = if is_tiled {
        PjrtLayoutUnion {
            tiled: PjrtTiledLayout {
                struct_size: size(input.inner_size, 56),
                extension_start: ptr::null_mut(),
                minor_to_major: start(&order, input.pointers[0]),
                minor_to_major_size: first,
                tile_dims: start(&entries, input.pointers[1]),
                tile_dim_sizes: start(&lengths, input.pointers[2]),
                num_tiles: tile_count,
            },
        }
    } else {
        PjrtLayoutUnion {
            strides: PjrtStridesLayout {
                struct_size: size(input.inner_size, 32),
                extension_start: ptr::null_mut(),
                byte_strides: start(&order, input.pointers[0]),
                num_byte_strides: first,
            },
        }
    };
    let layout_type = if input.layout_type & 15 == 0 { input.layout_type >> 4 } else { i32::from(!is_tiled) };
    // A structure of the other kind than its type says promises lists that are not there.
    if layout_type != i32::from(!is_tiled) && matches!(layout_type, 0 | 1) {
        return;
    }
    let raw = PjrtMemoryLayout {
        struct_size: size(input.struct_size, 80),
        extension_start: ptr::null_mut(),
        layout,
        layout_type,
    };
    // SAFETY: the member is initialised, and every list is as long as it says, or null, or not aligned, or
    // too long to be read.
    let Ok(layout) = (unsafe { raw.fields() }).and_then(|fields| fields.to_layout(data_type, &sizes)) else { return };
    match layout {
        AnyLayout::Tiled(shape) => {
            let back = PjrtLayout::try_from(&shape).unwrap();
            assert_eq!(back.fields().to_layout(data_type, &sizes), Ok(AnyLayout::Tiled(shape.clone())));
            if let Ok(map) = shape.to_index_map() {
                let _ = (map.offset(&vec![0; map.sizes().len()]), map.class());
            }
        }
        AnyLayout::Strided(desc) => {
            read(&desc);
            if let Ok(back) = PjrtLayout::try_from(&desc) {
                let AnyLayout::Strided(back) = back.fields().to_layout(data_type, &sizes).unwrap() else { panic!() };
                came_back(&back, &desc);
            }
        }
        other => panic!("{other:?}"),
    }
}

fn directml(input: &Input) {
    let count = if input.length.kind.is_multiple_of(8) {
        input.length.large as u32
    } else {
        u32::from(input.length.small.unsigned_abs() % 10)
    };
    let listed = if count <= 8 { count as usize } else { 0 };
    let of = |numbers| -> Vec<u32> { values(numbers, listed).into_iter().map(|number| number as u32).collect() };
    let (sizes, strides) = (of(&input.numbers), of(&input.others));
    let raw = RawBufferTensorDesc {
        data_type: if input.layout_type & 15 == 0 { input.layout_type } else { i32::from(input.type_code % 16) },
        flags: if input.flags.is_multiple_of(8) { input.flags as i32 } else { (input.flags & 1) as i32 },
        dimension_count: count,
        sizes: start(&sizes, input.pointers[0]),
        strides: start(&strides, input.pointers[1]),
        total_tensor_size_in_bytes: input.offset.value() as u64,
        guaranteed_base_offset_alignment: input.bits.into(),
    };
    // SAFETY: both lists are as long as the count says where that is one that is read, or null, or not
    // aligned.
    let Ok(desc) = (unsafe { raw.to_desc() }) else { return };
    read(&desc);
    for &level in FeatureLevel::ALL {
        let Ok(tensor) = DirectmlTensor::new(&desc, level) else { continue };
        let lent = tensor.lend();
        // SAFETY: `tensor` owns the lists.
        let back = unsafe { lent.to_desc() }.unwrap();
        came_back(&back, &desc);
        assert_eq!(back.total_tensor_size_in_bytes(), desc.total_tensor_size_in_bytes());
        assert_eq!((back.flags(), back.base_offset_alignment()), (desc.flags(), desc.base_offset_alignment()));
    }
}

/// Views of ndarray over a buffer, element by element, and the array of what a copy makes of them.
fn arrays(input: &Input) {
    let sizes = input.tensor.sizes(2000);
    let strides: Vec<u64> = input.others.iter().take(sizes.len()).map(|number| number.value() as u64).collect();
    let base = u64::from(input.bits);
    let Ok(desc) = BufferTensorDesc::new(DataType::U16, &sizes, Some(&strides[..])) else { return };
    let Ok(desc) = desc.with_base_offset(base) else { return };
    let mut buffer: Vec<u16> = (0..usize::from(input.lanes) % 4096).map(|element| element as u16).collect();
    let Ok(array) = view(&desc, &buffer) else {
        assert!(desc.span_elements() > buffer.len() as u64, "{desc} is refused");
        return;
    };
    // The base is the pointer of a view.
    let back = describe(&array).unwrap();
    for_each_index(&sizes, |index| {
        let place: Vec<usize> = index.iter().map(|&at| at as usize).collect();
        let offset = desc.offset(index).unwrap();
        assert_eq!(u64::from(array[&place[..]]), offset, "{desc} at {index:?}");
        assert_eq!(back.offset(index), Ok(offset - base), "{desc} as {back} at {index:?}");
    });
    let packed = BufferTensorDesc::packed(DataType::U16, &sizes).unwrap();
    let mut turned = array.clone();
    for axis in (0..sizes.len()).filter(|axis| input.flags >> axis & 1 == 1) {
        turned.invert_axis(Axis(axis));
    }
    if let Ok(copied) = relayout_array(&turned, &packed) {
        let expected: Vec<u16> = turned.iter().copied().collect();
        assert!(copied.starts_with(&expected), "{desc} reversed by {:b}", input.flags);
    }
    if let Ok(mut array) = view_mut(&desc, &mut buffer) {
        array.fill(9);
        let written = buffer.iter().filter(|&&element| element == 9).count() as u64;
        assert!(written >= sizes.iter().product(), "{desc}");
    }
}

/// What is written for others has canonical strides. Producers differ: NumPy's strides of arrays without
/// elements are 0, PyTorch's are packed.
fn came_back(back: &BufferTensorDesc, desc: &BufferTensorDesc) {
    let canonical = desc.clone().with_canonical_strides();
    assert_eq!((back.sizes(), back.strides()), (desc.sizes(), canonical.strides()));
}

/// What is promised of every descriptor.
fn read(desc: &BufferTensorDesc) {
    if desc.element_count() > 0 {
        let last: Vec<u64> = desc.sizes().iter().map(|size| size - 1).collect();
        assert_eq!(desc.offset(&last), Ok(desc.span_elements() - 1));
        assert!(desc.total_tensor_size_in_bytes() >= desc.min_size_in_bytes());
    }
    let text = desc.to_string();
    let back: BufferTensorDesc = text.parse().unwrap();
    assert_eq!((back.sizes(), back.strides(), back.base_offset()), (desc.sizes(), desc.strides(), desc.base_offset()));
    let _ = desc.to_index_map().map(|map| map.class());
}
