//! Uploads in the device's layout: into new buffers, and through a belt into buffers that exist.

use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::upload::{Arena, DeviceLimits, Role};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_wgpu::{BufferOptions, Error, Source, TensorBuffer, Upload, UploadBelt, upload_arena};

use crate::Test;
use crate::gpu::{Gpu, noise};
use crate::random::{pair, values};

pub(crate) const TESTS: &[Test] = &[
    ("uploads::every_layout_arrives_in_a_new_buffer", every_layout_arrives_in_a_new_buffer),
    ("uploads::every_layout_arrives_in_pieces_between_guards", every_layout_arrives_in_pieces_between_guards),
    ("uploads::twenty_five_bytes", twenty_five_bytes),
    ("uploads::a_belt_is_used_again", a_belt_is_used_again),
    ("uploads::an_arena_of_mixed_layouts", an_arena_of_mixed_layouts),
    ("uploads::what_is_refused", what_is_refused),
];

/// What the CPU makes of the copy, in memory that was zero.
fn expected(from: &IndexMap, to: &IndexMap, source: &[u8]) -> Option<Vec<u8>> {
    let relayout = Relayout::new(from, to).ok()?.with_padding_of_whole_buffer(Padding::Zero).unwrap();
    let mut bytes = vec![0; relayout.destination_size_in_bytes() as usize];
    relayout.run(source, &mut bytes).unwrap();
    (!bytes.is_empty()).then_some(bytes)
}

fn every_layout_arrives_in_a_new_buffer(gpu: &Gpu) {
    for (from, to) in values(&pair(), 200) {
        let source = noise(from.physical_size_in_bytes() as usize, 1);
        let Some(expected) = expected(&from, &to, &source) else { continue };
        let tensor = TensorBuffer::with_bytes(&gpu.device, (&from, &source), &to, &BufferOptions::default()).unwrap();
        assert_eq!(gpu.read(&tensor).bytes(), expected, "{from:?} to {to:?}");
        // The rest of the last word is zero.
        let all = gpu.read_all(tensor.buffer());
        assert!(all[expected.len()..].iter().all(|&byte| byte == 0) && all.len() < expected.len() + 4);
    }
}

fn every_layout_arrives_in_pieces_between_guards(gpu: &Gpu) {
    let mut belt = UploadBelt::new(&gpu.device, 256);
    let mut several = 0;
    for ((from, to), room) in values(&(pair(), proptest::sample::select(vec![4_u64, 20, 100, 1000, 100_000])), 200) {
        let source = noise(from.physical_size_in_bytes() as usize, 1);
        let Some(expected) = expected(&from, &to, &source) else { continue };
        let size = expected.len().next_multiple_of(4);
        let mut all = noise(256 + size + 256, 2);
        let buffer = gpu.buffer(&all);
        let tensor = TensorBuffer::in_buffer(&gpu.device, &buffer, 256, &to, Role::Output).unwrap();
        let upload = Upload::new(&from, &to, room).unwrap();
        several += usize::from(upload.pieces().len() > 1);
        gpu.submit(|encoder| {
            belt.write(encoder, &upload, &source, &tensor).unwrap();
            belt.finish(encoder);
        });
        all[256..256 + size].fill(0);
        all[256..256 + expected.len()].copy_from_slice(&expected);
        assert!(gpu.read_all(&buffer) == all, "{from:?} to {to:?} in {:?}", upload.pieces().collect::<Vec<_>>());
    }
    assert!(several > 20, "only {several} uploads in several pieces");
}

fn twenty_five_bytes(gpu: &Gpu) {
    let layout = BufferTensorDesc::packed(DataType::U8, &[25]).unwrap();
    let bytes = noise(25, 3);
    let tensor = TensorBuffer::with_bytes(&gpu.device, (&layout, &bytes), &layout, &BufferOptions::default()).unwrap();
    assert_eq!(tensor.buffer().size(), 28);
    assert_eq!(gpu.read(&tensor).bytes(), bytes);
    assert_eq!(gpu.read_all(tensor.buffer())[25..], [0; 3]);
}

fn a_belt_is_used_again(gpu: &Gpu) {
    let rows = BufferTensorDesc::packed(DataType::F32, &[100, 70]).unwrap();
    let tiles: ArrayShape = "f32[100,70]{1,0:T(8,128)}".parse().unwrap();
    let tensor = TensorBuffer::new(&gpu.device, &tiles, &BufferOptions::default()).unwrap();
    let upload = Upload::new(&rows, &tiles, 8192).unwrap();
    assert!(upload.pieces().len() > 4);
    let mut belt = UploadBelt::new(&gpu.device, 8192);
    for seed in 0..3 {
        let source = noise(28_000, seed);
        // A piece a submission: never more than one of them in staging memory.
        for piece in 0..upload.pieces().len() {
            gpu.submit(|encoder| {
                belt.write_piece(encoder, &upload, piece, &source, &tensor).unwrap();
                belt.finish(encoder);
            });
        }
        assert_eq!(gpu.read(&tensor).bytes_in(&rows).unwrap(), source);
    }
}

fn what_is_refused(gpu: &Gpu) {
    let rows = BufferTensorDesc::packed(DataType::F32, &[16, 16]).unwrap();
    let columns = BufferTensorDesc::new(DataType::F32, &[16, 16], Some(&[1, 16])).unwrap();
    let options = BufferOptions::default();
    let error = TensorBuffer::with_bytes(&gpu.device, (&rows, &[0; 1023]), &columns, &options).unwrap_err();
    assert_eq!(error.code(), "buffer_too_short");
    let tensor = TensorBuffer::new(&gpu.device, &columns, &options).unwrap();
    let storage = BufferOptions { usage: wgpu::BufferUsages::STORAGE, ..options };
    let unreachable = TensorBuffer::new(&gpu.device, &columns, &storage).unwrap();
    let upload = Upload::new(&rows, &columns, 1 << 20).unwrap();
    let mut belt = UploadBelt::new(&gpu.device, 1 << 20);
    gpu.submit(|encoder| {
        let missing = wgpu::BufferUsages::COPY_DST;
        let error = belt.write(encoder, &upload, &[0; 1024], &unreachable).unwrap_err();
        assert!(matches!(error, Error::Usage { missing: m, .. } if m == missing), "{error}");
        let error = belt.write(encoder, &upload, &[0; 1020], &tensor).unwrap_err();
        assert_eq!(error.code(), "buffer_too_short");
        let error = belt.write_piece(encoder, &upload, 1, &[0; 1024], &tensor).unwrap_err();
        assert_eq!(error.code(), "out_of_limits");
        let error = belt.write(encoder, &upload, &[0; 1024], &tensor.view(&rows).unwrap()).unwrap_err();
        assert_eq!(error.code(), "other_layout");
        belt.finish(encoder);
    });
}

/// Strides, padded rows, tiles, halves and 4 bits, a part of a larger tensor, one that is cut into several
/// bindings, and an output: uploaded as the arena says, read back, each the packed tensor that it was.
fn an_arena_of_mixed_layouts(gpu: &Gpu) {
    let desc = |text: &str| text.parse::<BufferTensorDesc>().unwrap();
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    let rows = BufferTensorDesc::padded_rows(DataType::F16, &[5, 7], 64).unwrap();
    let part = desc("f32[8,16]:[16,1]").slice_axis(1, 3..9).unwrap();
    let tiled = shape("f32[16,200]{1,0:T(8,128)}");
    let pairs = shape("bf16[33,5]{0,1:T(8,128)(2,1)}");
    let nibbles = desc("u4[3,5]:[5,1]");
    let large = desc("u8[1,40,1000]:[40000,1000,1]");
    let output = desc("f16[3]:[1]");
    let layouts: [&dyn ToIndexMap; 7] = [&rows, &part, &tiled, &pairs, &nibbles, &large, &output];
    for limits in [tensor_layout_wgpu::limits(&gpu.device), DeviceLimits::webgpu()] {
        let limits = limits.with("max_binding", "16KiB").unwrap();
        let role = |place: usize| if place == 6 { Role::Output } else { Role::Input };
        let tensors: Vec<(&dyn ToIndexMap, Role)> =
            (0..).map(role).zip(layouts).map(|(role, layout)| (layout, role)).collect();
        let arena = Arena::new(&tensors, &limits).unwrap();
        assert!(arena.tensors[5].len() > 1 && arena.buffers.len() >= 2, "{:?}", arena.buffers);
        let packed: Vec<IndexMap> = layouts
            .iter()
            .map(|layout| {
                let map = layout.to_index_map().unwrap();
                BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap().to_index_map().unwrap()
            })
            .collect();
        let bytes: Vec<Vec<u8>> =
            packed.iter().zip(0..).map(|(map, seed)| noise(map.physical_size_in_bytes() as usize, seed)).collect();
        let sources: Vec<Option<Source<'_>>> = packed
            .iter()
            .zip(&bytes)
            .take(6)
            .map(|(map, bytes)| Some((map as &dyn ToIndexMap, &bytes[..])))
            .chain([None])
            .collect();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let found = upload_arena(&gpu.device, &arena, &sources, usage).unwrap();
        for (place, (parts, bindings)) in found.iter().zip(&arena.tensors).enumerate() {
            for (part, binding) in parts.iter().zip(bindings) {
                assert_eq!((part.offset(), part.offset() + part.size()), (binding.bound.start, binding.bound.end));
                assert!(part.binding().is_ok());
                let indices = &binding.indices;
                let own = BufferTensorDesc::packed(packed[place].data_type(), part.layout().sizes()).unwrap();
                let expected = match sources[place] {
                    Some((_, bytes)) => {
                        Relayout::new(&packed[place].slice(indices).unwrap(), &own).unwrap().to_vec(bytes).unwrap()
                    }
                    None => vec![0; own.bound_size_in_bytes() as usize],
                };
                assert_eq!(gpu.read(part).bytes_in(&own).unwrap(), expected, "tensor {place}, {indices:?}");
            }
        }
        let error = upload_arena(&gpu.device, &arena, &sources[1..], usage).unwrap_err();
        assert_eq!(error.code(), "out_of_limits");
    }
}
