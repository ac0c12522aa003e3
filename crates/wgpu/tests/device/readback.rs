//! Tensors back from the device.

use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
use tensor_layout_wgpu::{BufferOptions, Readback, TensorBuffer};

use crate::Test;
use crate::gpu::{Gpu, noise};

pub(crate) const TESTS: &[Test] = &[
    ("readback::bytes_and_arrays_in_any_layout", bytes_and_arrays_in_any_layout),
    ("readback::several_at_once_awaited", several_at_once_awaited),
    ("readback::an_encoder_that_is_not_submitted", an_encoder_that_is_not_submitted),
];

fn tiled(gpu: &Gpu, source: &[u8]) -> (BufferTensorDesc, TensorBuffer) {
    let rows = BufferTensorDesc::packed(DataType::F32, &[3, 50]).unwrap();
    let tiles: ArrayShape = "f32[3,50]{1,0:T(8,128)}".parse().unwrap();
    let options = BufferOptions::default();
    let tensor = TensorBuffer::with_bytes(&gpu.device, (&rows, source), &tiles, &options).unwrap();
    (rows, tensor)
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn bytes_and_arrays_in_any_layout(gpu: &Gpu) {
    let numbers: Vec<f32> = (0..150_u8).map(f32::from).collect();
    let (rows, tensor) = tiled(gpu, &floats(numbers.iter().copied()));
    let mapped = gpu.read(&tensor);
    assert_eq!(mapped.bytes().len(), 4096);
    assert_eq!(mapped.bytes_in(&rows).unwrap(), floats(numbers.iter().copied()));
    let columns = BufferTensorDesc::new(DataType::F32, &[3, 50], Some(&[1, 3])).unwrap();
    let by_column = (0..50).flat_map(|column| (0..3).map(move |row| f32::from(row * 50_u8 + column)));
    assert_eq!(mapped.bytes_in(&columns).unwrap(), floats(by_column));
    #[cfg(feature = "ndarray")]
    {
        let array = mapped.array::<f32>().unwrap();
        assert_eq!((array.shape(), array[[2, 7]]), (&[3, 50][..], 107.0));
        assert_eq!(mapped.array::<u32>().unwrap_err().code(), "data_type_mismatch");
    }
}

fn several_at_once_awaited(gpu: &Gpu) {
    let sources: Vec<Vec<u8>> = (0..3).map(|seed| noise(600, seed)).collect();
    let tensors: Vec<_> = sources.iter().map(|source| tiled(gpu, source)).collect();
    let readbacks: Vec<_> = gpu.submit(|encoder| {
        let read = |(_, tensor): &(_, TensorBuffer)| Readback::new(&gpu.device, encoder, tensor).unwrap();
        tensors.iter().map(read).collect()
    });
    // Someone else polls: here another thread.
    let device = gpu.device.clone();
    let poller = std::thread::spawn(move || device.poll(wgpu::PollType::wait_indefinitely()).map(drop));
    for ((readback, (rows, _)), source) in readbacks.into_iter().zip(&tensors).zip(sources) {
        let mapped = pollster::block_on(readback.mapped()).unwrap();
        assert_eq!(mapped.bytes_in(rows).unwrap(), source);
    }
    poller.join().unwrap().unwrap();
}

fn an_encoder_that_is_not_submitted(gpu: &Gpu) {
    let (_, tensor) = tiled(gpu, &noise(600, 1));
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let readback = Readback::new(&gpu.device, &mut encoder, &tensor).unwrap();
    assert_eq!(readback.wait(&gpu.device).unwrap_err().code(), "map");
    let readback = Readback::new(&gpu.device, &mut encoder, &tensor).unwrap();
    drop(encoder);
    assert_eq!(pollster::block_on(readback.mapped()).unwrap_err().code(), "map");
    let storage = BufferOptions { usage: wgpu::BufferUsages::STORAGE, ..BufferOptions::default() };
    let layout = tensor.layout();
    let hidden = TensorBuffer::new(&gpu.device, layout, &storage).unwrap();
    gpu.submit(|encoder| assert_eq!(Readback::new(&gpu.device, encoder, &hidden).unwrap_err().code(), "buffer_usage"));
}
