//! From a GGUF file to a dequantised row: matrices in ggml's blocks are checked, cut into bindings, uploaded
//! as they are in the file, and read by a shader through the offsets of their bytes.
//!
//! The file is made here, with four matrices of the same values: f32, q8_0, q4_0 and q4_K. The shader gets
//! one function from the layout, `weights_load_at(row, block, byte)`. What the bytes of a block mean is in
//! gguf/dequantize.wgsl.
//!
//! `cargo run --example gguf`, and then `tensor-layout model weights.gguf --limits webgpu` of the file it
//! names.

use std::error::Error;

use approx::abs_diff_eq;
use half::f16;
use tensor_layout::upload::split_binding;
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_shader::{Access, IndexFunctions};
use tensor_layout_text::Layout;
use tensor_layout_wgpu::{BufferOptions, Readback, TensorBuffer, limits, required_limits};

const SHADER: &str = include_str!("gguf/dequantize.wgsl");

const ROWS: u32 = 48;
const COLUMNS: u32 = 1024;

/// The row that is read back.
const ROW: u32 = 41;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A type of weights: its name, its number in GGUF files, the values and bytes of a block, how a block is
/// made, and by how much a value may differ from the plain one.
struct Type {
    name: &'static str,
    number: u32,
    values: u32,
    bytes: u32,
    encode: fn(&[f32]) -> Vec<u8>,
    error: f32,
}

const TYPES: [Type; 4] = [
    Type { name: "f32", number: 0, values: 1, bytes: 4, encode: |x| x[0].to_le_bytes().into(), error: 0.0 },
    Type { name: "q8_0", number: 8, values: 32, bytes: 34, encode: q8_0, error: 0.004 },
    Type { name: "q4_0", number: 2, values: 32, bytes: 18, encode: q4_0, error: 0.13 },
    Type { name: "q4_K", number: 12, values: 256, bytes: 144, encode: q4_k, error: 0.07 },
];

fn main() -> Outcome<()> {
    let plain: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i as f32 * 0.37).sin() * (i as f32 * 0.011).cos()).collect();
    let (file, start) = gguf(&plain);
    let path = std::env::temp_dir().join("weights.gguf");
    std::fs::write(&path, &file)?;
    println!("{}: {} bytes", path.display(), file.len());

    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default())) else {
        println!("no adapter: nothing was uploaded");
        return Ok(());
    };
    let required_limits = required_limits(&adapter.limits())?;
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;

    // The bindings of this example are as small as 16 KiB, so that its matrices are cut like large ones.
    let limits = limits(&device).with("max_binding", "16KiB")?;
    let mut offset = start;
    for kind in &TYPES {
        let weights: Layout = format!("{}[{ROWS},{COLUMNS}]", kind.name).parse()?;
        let bytes = usize::try_from(weights.to_index_map()?.physical_size_in_bytes())?;
        let held = &file[offset..][..bytes];
        // Each tensor of a GGUF file begins where the padded one before it ends.
        offset += bytes.next_multiple_of(32);

        // Checked against the device, and uploaded byte for byte.
        let options = BufferOptions { label: Some(kind.name), in_windows: true, ..BufferOptions::default() };
        let buffer = TensorBuffer::with_bytes(&device, (&weights, held), &weights, &options)?;
        // The piece that holds the row: whole blocks, in a binding whose start the device allows.
        let pieces = split_binding(&bytes_of(kind)?, &limits)?;
        let rows = |piece: &tensor_layout::upload::BindingPiece| piece.indices[0].clone();
        let piece = pieces.iter().find(|piece| rows(piece).contains(&ROW.into())).ok_or("no piece has the row")?;
        let (name, count, bound) = (kind.name, pieces.len(), &piece.bound);
        println!(
            "{name}[{ROWS},{COLUMNS}]: {bytes} bytes in {count} bindings, row {ROW} in the one of bytes {bound:?}"
        );

        let functions =
            IndexFunctions::new(&piece.layout)?.named("weights")?.with_access("weights_words", Access::Read)?;
        let local = u64::from(ROW) - rows(piece).start;
        let dequantize = format!("dequantize_{}", kind.name.to_lowercase());
        let source = format!(
            "const ROW = {local}u;\nconst VALUES = {}u;\n{}{}",
            kind.values,
            functions.wgsl(),
            SHADER.replace("dequantize(", &format!("{dequantize}("))
        );
        let output: Layout = format!("f32[{COLUMNS}]").parse()?;
        let output = TensorBuffer::new(&device, &output, &BufferOptions::default())?;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let piece = wgpu::BufferBinding {
            buffer: buffer.buffer(),
            offset: piece.bound.start,
            size: wgpu::BufferSize::new(piece.bound.end - piece.bound.start),
        };
        run(&device, &mut encoder, source, [wgpu::BindingResource::Buffer(piece), output.binding()?]);
        let readback = Readback::new(&device, &mut encoder, &output)?;
        queue.submit([encoder.finish()]);
        let row = readback.wait(&device)?.array::<f32>()?;

        let expected = plain.chunks_exact(COLUMNS as usize).nth(ROW as usize).ok_or("no such row")?;
        let worst = row.iter().zip(expected).map(|(value, plain)| (value - plain).abs()).fold(0.0, f32::max);
        assert!(abs_diff_eq!(worst, 0.0, epsilon = kind.error), "{}: off by {worst}", kind.name);
        println!("  dequantised on {}: at most {worst:.4} from the plain values", adapter.get_info().name);
    }
    Ok(())
}

/// The matrix as bytes: rows, blocks of a row, bytes of a block.
fn bytes_of(kind: &Type) -> Outcome<BufferTensorDesc> {
    Ok(BufferTensorDesc::packed(DataType::U8, &[ROWS, COLUMNS / kind.values, kind.bytes])?)
}

fn run(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    source: String,
    bound: [wgpu::BindingResource<'_>; 2],
) {
    let source = wgpu::ShaderSource::Wgsl(source.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let entries: Vec<_> =
        (0..).zip(bound).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
    let layout = &pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(COLUMNS / 64, 1, 1);
}

/// A GGUF file with the matrix in every type, and the place of its data.
fn gguf(plain: &[f32]) -> (Vec<u8>, usize) {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend((TYPES.len() as u64).to_le_bytes());
    file.extend(1_u64.to_le_bytes());
    file.extend([text("general.architecture"), 8_u32.to_le_bytes().into(), text("example")].concat());
    let mut data = Vec::new();
    for kind in &TYPES {
        file.extend(text(&format!("{}.weight", kind.name)));
        file.extend(2_u32.to_le_bytes());
        // The innermost size is first.
        file.extend([u64::from(COLUMNS), u64::from(ROWS)].map(u64::to_le_bytes).concat());
        file.extend(kind.number.to_le_bytes());
        file.extend((data.len() as u64).to_le_bytes());
        data.extend(plain.chunks_exact(kind.values as usize).flat_map(kind.encode));
        data.resize(data.len().next_multiple_of(32), 0);
    }
    file.resize(file.len().next_multiple_of(32), 0);
    let start = file.len();
    file.extend(data);
    (file, start)
}

fn q8_0(values: &[f32]) -> Vec<u8> {
    let scale = f16::from_f32(values.iter().fold(0.0, |most: f32, x| most.max(x.abs())) / 127.0);
    let quantised = values.iter().map(|x| (x / scale.to_f32()).round() as i8 as u8);
    scale.to_le_bytes().into_iter().chain(quantised).collect()
}

fn q4_0(values: &[f32]) -> Vec<u8> {
    let largest = values.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
    let scale = f16::from_f32(largest / -8.0);
    let nibble = |x: f32| (x / scale.to_f32() + 8.5).clamp(0.0, 15.0) as u8;
    let bytes = (0..16).map(|i| nibble(values[i]) | (nibble(values[i + 16]) << 4));
    scale.to_le_bytes().into_iter().chain(bytes).collect()
}

/// 8 groups of 32 values, each with a scale and a minimum of 6 bits.
fn q4_k(values: &[f32]) -> Vec<u8> {
    let groups: Vec<(f32, f32)> = values
        .chunks_exact(32)
        .map(|group| {
            let least = group.iter().copied().fold(0.0, f32::min);
            let most = group.iter().copied().fold(0.0, f32::max);
            ((most - least) / 15.0, -least)
        })
        .collect();
    let sixth = |pick: fn(&(f32, f32)) -> f32| f16::from_f32(groups.iter().map(pick).fold(0.0, f32::max) / 63.0);
    let (scale, minimum) = (sixth(|group| group.0), sixth(|group| group.1));
    let six_bits = |x: f32, unit: f16| (x / unit.to_f32()).round().clamp(0.0, 63.0) as u8;
    let codes: Vec<(u8, u8)> =
        groups.iter().map(|group| (six_bits(group.0, scale), six_bits(group.1, minimum))).collect();
    let mut packed = [0_u8; 12];
    for (j, &(scale, minimum)) in codes.iter().enumerate() {
        if j < 4 {
            packed[j] |= scale;
            packed[j + 4] |= minimum;
        } else {
            packed[j + 4] = (scale & 15) | (minimum << 4);
            packed[j - 4] |= (scale >> 4) << 6;
            packed[j] |= (minimum >> 4) << 6;
        }
    }
    let nibble = |k: usize| {
        let (code, least) = (codes[k / 32], f32::from(codes[k / 32].1) * minimum.to_f32());
        let step = (f32::from(code.0) * scale.to_f32()).max(f32::MIN_POSITIVE);
        ((values[k] + least) / step).round().clamp(0.0, 15.0) as u8
    };
    let bytes = (0..128).map(|i| nibble(i / 32 * 64 + i % 32) | (nibble(i / 32 * 64 + i % 32 + 32) << 4));
    [scale.to_le_bytes(), minimum.to_le_bytes()].concat().into_iter().chain(packed).chain(bytes).collect()
}
