//! Buffers of the right size, and everything that is refused.

use tensor_layout::upload::{DeviceLimits, Role, split_binding};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
use tensor_layout_wgpu::{BufferOptions, Error, TensorBuffer, limits, required_limits};

use crate::Test;
use crate::gpu::{Gpu, noise};

pub(crate) const TESTS: &[Test] = &[
    ("buffers::limits_are_the_devices_own", limits_are_the_devices_own),
    ("buffers::every_problem_of_a_tensor_is_named", every_problem_of_a_tensor_is_named),
    ("buffers::a_missing_limit_is_named", a_missing_limit_is_named),
    ("buffers::sizes_are_whole_words", sizes_are_whole_words),
    ("buffers::a_tensor_larger_than_a_binding_goes_in_pieces", a_tensor_larger_than_a_binding_goes_in_pieces),
    ("buffers::views_share_the_bytes", views_share_the_bytes),
];

fn limits_are_the_devices_own(gpu: &Gpu) {
    let (granted, limits) = (gpu.device.limits(), limits(&gpu.device));
    assert_eq!(limits.name, gpu.adapter.get_info().name);
    assert_eq!(limits.max_binding, granted.max_storage_buffer_binding_size / 4 * 4);
    assert_eq!(limits.max_buffer, granted.max_buffer_size / 4 * 4);
    assert_eq!(limits.offset_alignment, u64::from(granted.min_storage_buffer_offset_alignment));
    // A device with WebGPU's defaults has WebGPU's limits, whatever its adapter is called.
    let (device, _) = gpu.with_limits(wgpu::Limits::default());
    let mut defaults = tensor_layout_wgpu::limits(&device);
    defaults.name = DeviceLimits::webgpu().name;
    assert!(defaults.max_copy == 256 << 20);
    defaults.max_copy = DeviceLimits::webgpu().max_copy;
    // Bindings of this crate begin where the buffer does, and its shaders add the base offset.
    assert!(!defaults.base_offset_in_binding);
    defaults.base_offset_in_binding = DeviceLimits::webgpu().base_offset_in_binding;
    assert_eq!(defaults, DeviceLimits::webgpu());
}

fn every_problem_of_a_tensor_is_named(gpu: &Gpu) {
    let (device, _) = gpu.with_limits(wgpu::Limits::default());
    let broadcast = BufferTensorDesc::new(DataType::F32, &[2, 70 << 20], Some(&[0, 1])).unwrap();
    let options = BufferOptions { role: Role::Output, ..BufferOptions::default() };
    let error = TensorBuffer::new(&device, &broadcast, &options).unwrap_err();
    let Error::Tensor(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.codes(), ["binding_limit", "buffer_limit", "overlapping_destination"]);
    assert_eq!(error.limits(), ["max_storage_buffer_binding_size", "max_buffer_size"]);
    assert!(error.to_string().contains("(the device's max_buffer_size)"), "{error}");
    assert_eq!(error.to_string().lines().count(), 3);
    // In windows, the tensor is refused only because the buffer is too large.
    let options = BufferOptions { in_windows: true, ..BufferOptions::default() };
    let error = TensorBuffer::new(&device, &broadcast, &options).unwrap_err();
    assert_eq!(error.limits().last(), Some(&"max_buffer_size"));
}

fn a_missing_limit_is_named(gpu: &Gpu) {
    let granted = gpu.adapter.limits();
    assert!(required_limits(&granted).is_ok());
    let least = wgpu::Limits { max_compute_workgroup_storage_size: 8192, ..granted.clone() };
    let error = required_limits(&least).unwrap_err();
    assert_eq!(error.limits(), ["max_compute_workgroup_storage_size"]);
    assert_eq!(
        error.to_string(),
        "the device grants a max_compute_workgroup_storage_size of 8192, but 16352 is needed"
    );
    let needed = wgpu::Limits { max_buffer_size: granted.max_buffer_size + 1, ..granted.clone() };
    let error = tensor_layout_wgpu::check_limits(&needed, &granted).unwrap_err();
    assert_eq!(error.limits(), ["max_buffer_size"]);
}

fn sizes_are_whole_words(gpu: &Gpu) {
    for (text, size) in [
        ("u8[25]{0}", 28),
        ("s4[7]{0:E(4)}", 4),
        ("bf16[3]{0}", 8),
        ("f32[3,100]{1,0:T(8,128)}", 4096),
        ("pred[1]{0}", 4),
    ] {
        let layout: ArrayShape = text.parse().unwrap();
        let tensor = TensorBuffer::new(&gpu.device, &layout, &BufferOptions::default()).unwrap();
        assert_eq!((tensor.size(), tensor.buffer().size(), tensor.offset()), (size, size, 0), "{text}");
        tensor.binding().unwrap();
    }
    let empty = BufferTensorDesc::packed(DataType::F32, &[0, 3]).unwrap();
    let error = TensorBuffer::new(&gpu.device, &empty, &BufferOptions::default()).unwrap_err();
    assert_eq!(error.code(), "binding_too_small");
    // A slice that begins and ends inside a word.
    let buffer = gpu.buffer(&noise(64, 1));
    let slice = BufferTensorDesc::packed(DataType::U8, &[8, 8]).unwrap().slice_axis(1, 3..6).unwrap();
    let tensor = TensorBuffer::in_buffer(&gpu.device, &buffer, 0, &slice, Role::Input).unwrap();
    assert_eq!((tensor.layout().base(), tensor.size()), (3, 64));
    let error = TensorBuffer::in_buffer(&gpu.device, &buffer, 4, &slice, Role::Input).unwrap_err();
    let Error::Tensor(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.codes(), ["offset_unaligned", "binding_outside_buffer"]);
}

fn a_tensor_larger_than_a_binding_goes_in_pieces(gpu: &Gpu) {
    let (device, queue) = gpu.with_limits(wgpu::Limits::default());
    let limits = limits(&device);
    // Twice what is bound at once, cut along axis 0: each piece is a buffer of its own, filled from its part
    // of the source.
    let desc = BufferTensorDesc::packed(DataType::U8, &[300, 1 << 20]).unwrap();
    let error = TensorBuffer::new(&device, &desc, &BufferOptions::default()).unwrap_err();
    assert_eq!(error.limits(), ["max_storage_buffer_binding_size", "max_buffer_size"]);
    let mut rows = 0;
    for piece in split_binding(&desc, &limits).unwrap() {
        let tensor = TensorBuffer::new(&device, &piece.layout, &BufferOptions::default()).unwrap();
        rows += tensor.layout().sizes()[0];
        assert!(tensor.binding().is_ok());
    }
    assert_eq!(rows, 300);
    drop(queue);
}

fn views_share_the_bytes(gpu: &Gpu) {
    let packed = BufferTensorDesc::packed(DataType::U16, &[4, 6]).unwrap();
    let bytes = noise(48, 2);
    let tensor = TensorBuffer::with_bytes(&gpu.device, (&packed, &bytes), &packed, &BufferOptions::default()).unwrap();
    let part = packed.slice_axis(1, 1..4).unwrap();
    let view = tensor.view(&part).unwrap();
    let columns = gpu.read(&view).bytes_in(&BufferTensorDesc::packed(DataType::U16, &[4, 3]).unwrap()).unwrap();
    let expected: Vec<u8> = (0..4).flat_map(|row| bytes[row * 12 + 2..row * 12 + 8].to_vec()).collect();
    assert_eq!(columns, expected);
    let larger = BufferTensorDesc::packed(DataType::U16, &[5, 6]).unwrap();
    assert_eq!(tensor.view(&larger).unwrap_err().code(), "binding_outside_buffer");
}
