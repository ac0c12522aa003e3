//! What an inference engine does around its GPU in the first hour, without a line of unsafe code:
//!
//! 1. weights of a safetensors file: described, checked for a device, all problems at once
//! 2. activations in NHWC with padded rows, from an image in NCHW
//! 3. a KV cache: the tokens of a step are written into their slots, and nothing else is
//! 4. one arena for all tensors, by the rules of DirectML and of WebGPU, and the upload into its buffers
//! 5. weights in blocks of channels (`OIhw16i16o`) and in the tiles of a TPU
//! 6. a large copy on two threads, into mapped memory
//!
//! `cargo run --release --example engine`

use std::error::Error;

use safetensors::SafeTensors;
use tensor_layout::relayout::{Destination, Padding, Relayout};
use tensor_layout::tiled::TpuGeneration;
use tensor_layout::upload::{Arena, Role, validate_description};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, DeviceLimits, ToIndexMap};
use tensor_layout_text::Layout;

type Answer<T> = Result<T, Box<dyn Error>>;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits.safetensors");

/// A tensor of the model: its name, its layout in the file, and its bytes.
struct Weight<'a> {
    name: String,
    desc: BufferTensorDesc,
    bytes: &'a [u8],
}

// 1. Weights of a file.

fn weights<'a>(file: &SafeTensors<'a>, limits: &DeviceLimits) -> Answer<Vec<Weight<'a>>> {
    let mut weights = Vec::new();
    for (name, tensor) in file.tensors() {
        let data_type: DataType = tensor.dtype().to_string().to_lowercase().parse()?;
        let desc = BufferTensorDesc::packed(data_type, tensor.shape())?;
        // A device that does not take the tensor as it is says why, in all respects at once.
        if let Err(problems) = validate_description(&desc, limits) {
            println!("  {name}: {problems}");
        }
        weights.push(Weight { name, desc, bytes: tensor.data() });
    }
    Ok(weights)
}

// 2. Activations: NHWC, and each row of pixels begins at a multiple of 256 bytes.

fn activations(image: &[u8], sizes: [usize; 4]) -> Answer<(BufferTensorDesc, Vec<u8>)> {
    let planes = BufferTensorDesc::nchw(DataType::F16, sizes)?;
    let rows = BufferTensorDesc::nhwc_padded_rows(DataType::F16, sizes, 256)?;
    let plan = Relayout::new(&planes, &rows)?.with_padding(Padding::Zero)?;
    Ok((rows, plan.to_vec(image)?))
}

// 3. A KV cache [layers, heads, tokens, channels]. A step has [layers, heads, 1, channels] for each sequence.

struct Cache {
    desc: BufferTensorDesc,
    memory: Vec<u8>,
}

impl Cache {
    fn new(layers: u64, heads: u64, tokens: u64, channels: u64) -> Answer<Cache> {
        let desc = BufferTensorDesc::packed(DataType::F16, &[layers, heads, tokens, channels])?;
        let memory = vec![0; usize::try_from(desc.bound_size_in_bytes())?];
        Ok(Cache { desc, memory })
    }

    /// Writes tokens that another kernel made in the order [tokens, layers, heads, channels].
    fn append(&mut self, at: u64, tokens: u64, made: &[u8]) -> Answer<()> {
        let [layers, heads, _, channels] = self.desc.sizes() else { unreachable!("the cache has four axes") };
        let source = BufferTensorDesc::packed(DataType::F16, &[tokens, *layers, *heads, *channels])?;
        let slots = self.desc.slice_axis(2, at..at + tokens)?;
        // The slots are a part of the cache: what is between them is never written, whatever the padding rule
        // says.
        Relayout::new(&source.permute(&[1, 2, 0, 3])?, &slots)?.run(made, &mut self.memory)?;
        Ok(())
    }
}

// 4. All tensors in as few buffers as the device takes, and the upload.

fn upload(weights: &[Weight<'_>], arena: &Arena) -> Answer<Vec<Vec<u8>>> {
    let mut buffers: Vec<Vec<u8>> = Vec::new();
    for &length in &arena.buffers {
        buffers.push(vec![0; usize::try_from(length)?]);
    }
    for (weight, bindings) in weights.iter().zip(&arena.tensors) {
        for binding in bindings {
            let plan = Relayout::new(&weight.desc.slice(&binding.indices)?, &binding.layout)?;
            let start = usize::try_from(binding.offset)?;
            let buffer = buffers.get_mut(binding.buffer).and_then(|buffer| buffer.get_mut(start..));
            plan.run(weight.bytes, buffer.ok_or("an arena without this buffer")?)?;
        }
    }
    Ok(buffers)
}

// 5. Weights as the kernels of a library, or the compiler of a TPU, want them.

fn in_blocks(weight: &Weight<'_>) -> Answer<(Layout, Vec<u8>)> {
    let blocks = Layout::from_onednn_tag(weight.desc.data_type(), weight.desc.sizes(), "OIhw16i16o")?;
    let plan = Relayout::new(&weight.desc, &blocks)?.with_padding(Padding::Zero)?;
    Ok((blocks, plan.to_vec(weight.bytes)?))
}

fn in_tiles(weight: &Weight<'_>) -> Answer<(ArrayShape, Vec<u8>)> {
    let packed = ArrayShape::row_major(weight.desc.data_type(), weight.desc.sizes())?;
    let tiles = packed.with_tpu_layout(TpuGeneration::V5e)?;
    let plan = Relayout::new(&weight.desc, &tiles)?.with_padding(Padding::Zero)?;
    Ok((tiles, plan.to_vec(weight.bytes)?))
}

// 6. A copy on two threads, into memory that is mapped.

fn copy_on_threads(plan: &Relayout, source: &[u8], memory: &mut [u8], threads: usize) -> Answer<()> {
    let mut rest = Destination::from(memory);
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for piece in plan.partition(threads, 64)? {
            let (own, after) = rest.split_at(piece.destination_range().len());
            rest = after;
            running.push(scope.spawn(move || piece.run(source, own)));
        }
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?.map_err(Into::into))
    })
}

/// The elements of a layout, packed in the order of their indices.
fn packed(layout: &impl ToIndexMap, bytes: &[u8]) -> Answer<Vec<u8>> {
    let map = layout.to_index_map()?;
    let packed = BufferTensorDesc::packed(map.data_type(), map.sizes())?;
    Ok(Relayout::new(layout, &packed)?.to_vec(bytes)?)
}

fn main() -> Answer<()> {
    let file = std::fs::read(MODEL)?;
    let file = SafeTensors::deserialize(&file)?;

    println!("1. weights of a file, for DirectML:");
    let weights = weights(&file, &DeviceLimits::directml())?;
    let sum: u64 = weights.iter().map(|weight| weight.desc.bound_size_in_bytes()).sum();
    println!("  {} tensors, {sum} bytes to bind", weights.len());

    let image: Vec<u8> = (0..3 * 45 * 60 * 2).map(|byte: u32| (byte % 251) as u8).collect();
    let (rows, memory) = activations(&image, [1, 3, 45, 60])?;
    println!("2. activations {rows}: {} bytes, pitch {} bytes", memory.len(), rows.strides()[2] * 2);
    assert_eq!(packed(&rows, &memory)?, image);

    let mut cache = Cache::new(2, 4, 128, 64)?;
    let step: Vec<u8> = (0..3 * 2 * 4 * 64 * 2).map(|byte: u32| (byte % 241) as u8 | 1).collect();
    cache.append(40, 3, &step)?;
    let written = cache.memory.iter().filter(|&&byte| byte != 0).count();
    println!("3. three tokens of a cache {}: {written} bytes written", cache.desc);
    assert_eq!(written, step.len());

    println!("4. one arena:");
    let tensors: Vec<(&dyn ToIndexMap, Role)> =
        weights.iter().map(|weight| (&weight.desc as &dyn ToIndexMap, Role::Input)).collect();
    let small: DeviceLimits = DeviceLimits::webgpu().with("max_binding", "8KiB")?;
    for (name, limits) in [("DirectML", DeviceLimits::directml()), ("WebGPU", DeviceLimits::webgpu()), ("8 KiB", small)]
    {
        let arena = match Arena::new(&tensors, &limits) {
            Ok(arena) => arena,
            Err(problems) => {
                for (position, errors) in problems.tensors {
                    println!("  {name}: {}: {errors}", weights[position].name);
                }
                continue;
            }
        };
        let buffers = upload(&weights, &arena)?;
        for (weight, bindings) in weights.iter().zip(&arena.tensors).filter(|(_, bindings)| bindings.len() == 1) {
            let start = usize::try_from(bindings[0].offset)?;
            assert_eq!(packed(&bindings[0].layout, &buffers[bindings[0].buffer][start..])?, weight.bytes);
        }
        let bindings: usize = arena.tensors.iter().map(Vec::len).sum();
        println!("  {name}: {bindings} bindings in buffers of {:?} bytes", arena.buffers);
    }

    let conv = weights.iter().find(|weight| weight.name == "conv2.weight").ok_or("no such tensor")?;
    let (blocks, in_blocks) = in_blocks(conv)?;
    let (tiles, in_tiles) = in_tiles(conv)?;
    println!("5. {}: {} bytes as {blocks}, {} as {tiles}", conv.name, in_blocks.len(), in_tiles.len());
    assert_eq!((packed(&blocks, &in_blocks)?, packed(&tiles, &in_tiles)?), (conv.bytes.to_vec(), conv.bytes.to_vec()));

    let (wide, tall): (BufferTensorDesc, BufferTensorDesc) =
        ("f32[1500,2000]:[2000,1]".parse()?, "f32[1500,2000]:[1,1500]".parse()?);
    let plan = Relayout::new(&wide, &tall)?;
    let source: Vec<u8> = (0..12_000_000_u32).map(|byte| (byte % 239) as u8).collect();
    let mut mapped = memmap2::MmapMut::map_anon(usize::try_from(plan.destination_size_in_bytes())?)?;
    copy_on_threads(&plan, &source, &mut mapped, 2)?;
    println!("6. {} bytes transposed on two threads into mapped memory", mapped.len());
    assert_eq!(packed(&tall, &mapped)?, source);
    Ok(())
}
