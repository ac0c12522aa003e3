//! An inference engine that does not know its layouts: the digits network on the device, with the same four
//! kernels for every layout of its images, weights and features.
//!
//! The kernels (digits/*.wgsl) are plain WGSL in terms of indices. The offset of an index is in the
//! functions that `IndexFunctions` puts in front of them, one set for each tensor. Weights of f16 are loaded
//! by WGSL's `unpack2x16float`, which every adapter has.
//!
//! `cargo run --release --example digits`

use std::error::Error;
use std::time::{Duration, Instant};

use safetensors::SafeTensors;
use tensor_layout::relayout::Relayout;
use tensor_layout_shader::{Access, IndexFunctions};
use tensor_layout_text::Layout;
use tensor_layout_wgpu::{BufferOptions, DeviceRelayout, PipelineCache, Readback, TensorBuffer, required_limits};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/digits.safetensors");

const PIXELS: &str = include_str!("digits/pixels.wgsl");
const CONV: &str = include_str!("digits/conv.wgsl");
const POOL: &str = include_str!("digits/pool.wgsl");
const DENSE: &str = include_str!("digits/dense.wgsl");

/// How many images the file holds.
const IMAGES: u32 = 360;

/// Where the engine puts things: what is after the sizes of images and features, and of the filters of a
/// convolution.
#[derive(Clone, Copy)]
struct Layouts {
    name: &'static str,
    features: &'static str,
    filters: &'static str,
}

const LAYOUTS: [Layouts; 4] = [
    Layouts { name: "NCHW", features: ":NCHW", filters: ":OIHW" },
    Layouts { name: "NHWC", features: ":NHWC", filters: ":HWIO" },
    Layouts { name: "nChw8c", features: ":nChw8c", filters: ":OIhw8i8o" },
    Layouts { name: "T(8,128)", features: "{3,2,1,0:T(8,128)}", filters: "{3,2,1,0:T(8,128)}" },
];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let Some(device) = Device::new()? else {
        println!("no adapter: nothing was run");
        return Ok(());
    };
    println!("{IMAGES} handwritten digits of 8 x 8 pixels\n");
    // Packed with its model (`benches/device/pack`) the program runs beside it.
    let file = std::fs::read("examples/data/digits.safetensors").or_else(|_| std::fs::read(MODEL))?;
    let file = SafeTensors::deserialize(&file)?;
    let labels = file.tensor("test.labels")?.data();

    let adapter = device.info.name.as_str();
    let wide = adapter.len().max(7);
    println!("{:<20} {:<7} {:<wide$} {:>15} {:>10}", "layout", "weights", "adapter", "bytes uploaded", "time");
    let mut all = Vec::new();
    for (first, then) in LAYOUTS.map(|layouts| (layouts, layouts)).into_iter().chain([
        // Between the two convolutions the features go into another layout, on the device.
        (LAYOUTS[0], LAYOUTS[2]),
        (LAYOUTS[3], LAYOUTS[1]),
    ]) {
        for weights in ["f32", "f16"] {
            let network = Network::new(&device, &file, first, then, weights)?;
            // The first run compiles what the driver has put off.
            network.run(&device)?;
            let (logits, time) = network.run(&device)?;
            let correct = logits.rows().into_iter().zip(labels);
            let correct = correct.filter(|(row, label)| largest(row.iter()) == usize::from(**label)).count();
            let name = if first.name == then.name {
                first.name.to_owned()
            } else {
                format!("{}, then {}", first.name, then.name)
            };
            let time = format!("{time:.2?}");
            println!(
                "{name:<20} {weights:<7} {adapter:<wide$} {:>15} {time:>10}   {correct} of {IMAGES}",
                network.uploaded
            );
            all.push((weights, logits));
        }
    }
    for weights in ["f32", "f16"] {
        let mut same = all.iter().filter(|(other, _)| *other == weights).map(|(_, logits)| logits);
        let first = same.next().ok_or("no run")?;
        assert!(same.all(|logits| logits == first), "the layouts disagree with {weights} weights");
    }
    println!("\nThe outputs of all layouts are equal, bit for bit.");
    if device.info.device_type == wgpu::DeviceType::Cpu {
        println!("This is a software adapter: the times say nothing about speed.");
    }
    Ok(())
}

fn largest<'a>(values: impl Iterator<Item = &'a f32>) -> usize {
    values.enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(place, _)| place)
}

struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    /// The shaders of layout changes.
    pipelines: PipelineCache,
}

impl Device {
    fn new() -> Outcome<Option<Device>> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        // WGPU_ADAPTER_NAME chooses one.
        let Ok(adapter) = pollster::block_on(wgpu::util::initialize_adapter_from_env_or_default(&instance, None))
        else {
            return Ok(None);
        };
        let required_limits = required_limits(&adapter.limits())?;
        let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let pipelines = PipelineCache::new(&device);
        Ok(Some(Device { device, queue, info: adapter.get_info(), pipelines }))
    }

    /// A buffer of this layout, zero throughout.
    fn tensor(&self, layout: &str) -> Outcome<TensorBuffer> {
        Ok(TensorBuffer::new(&self.device, &layout.parse::<Layout>()?, &BufferOptions::default())?)
    }

    /// A tensor of the file on the device: `packed` says how it is in the file, `layout` how it is stored
    /// there.
    fn upload(&self, bytes: &[u8], packed: &str, layout: &str) -> Outcome<TensorBuffer> {
        let (packed, layout): (Layout, Layout) = (packed.parse()?, layout.parse()?);
        Ok(TensorBuffer::with_bytes(&self.device, (&packed, bytes), &layout, &BufferOptions::default())?)
    }

    /// A kernel with its tensors, the output last.
    fn kernel(
        &self,
        kernel: &str,
        sizes: [(&str, u32); 4],
        tensors: &[(&str, &TensorBuffer)],
        groups: [u32; 3],
    ) -> Outcome<Step> {
        let mut source = String::new();
        for (name, size) in sizes {
            source += &format!("const {name} = {size}u;\n");
        }
        for (binding, (name, tensor)) in tensors.iter().enumerate() {
            let is_output = *name == "output";
            let access = if is_output { "read_write" } else { "read" };
            let buffer = format!("{name}_words");
            source += &format!("@group(0) @binding({binding}) var<storage, {access}> {buffer}: array<u32>;\n");
            let mut functions = IndexFunctions::new(tensor.layout())?.named(name)?;
            if tensor.layout().sizes().len() == 4 {
                functions = functions.with_walk(1)?;
            }
            let access = if is_output { Access::ReadWrite } else { Access::Read };
            source += &functions.with_access(&buffer, access)?.wgsl();
        }
        source += kernel;
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let bound = (0..)
            .zip(tensors)
            .map(|(binding, (_, tensor))| Ok(wgpu::BindGroupEntry { binding, resource: tensor.binding()? }));
        let entries: Vec<_> = bound.collect::<Result<_, tensor_layout_wgpu::Error>>()?;
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Ok(Step::Kernel { pipeline, bindings, groups })
    }
}

/// What the engine does on the device, one after the other.
enum Step {
    Kernel { pipeline: wgpu::ComputePipeline, bindings: wgpu::BindGroup, groups: [u32; 3] },
    Change(Box<LayoutChange>),
}

/// Another layout for the features in the first buffer.
struct LayoutChange {
    copy: DeviceRelayout,
    from: TensorBuffer,
    to: TensorBuffer,
}

/// The network with its weights and features on the device.
struct Network {
    steps: Vec<Step>,
    logits: TensorBuffer,
    uploaded: u64,
}

impl Network {
    /// The first convolution works in one layout, all after it in the other.
    fn new(device: &Device, file: &SafeTensors<'_>, first: Layouts, then: Layouts, weights: &str) -> Outcome<Network> {
        let mut uploaded = 0;
        let mut upload = |name: &str, data_type: &str, sizes: &str, layout: &str| -> Outcome<TensorBuffer> {
            let data = file.tensor(name)?.data().to_vec();
            let data = if data_type == "f16" { to_f16(&data) } else { data };
            let tensor =
                device.upload(&data, &format!("{data_type}{sizes}"), &format!("{data_type}{sizes}{layout}"))?;
            uploaded += tensor.size();
            Ok(tensor)
        };
        let images = upload("test.images", "u8", "[360,1,8,8]", first.features)?;
        let conv1 = upload("conv1.weight", weights, "[16,1,3,3]", first.filters)?;
        let conv2 = upload("conv2.weight", weights, "[32,16,3,3]", then.filters)?;
        let dense = upload("dense.weight", weights, "[10,32,2,2]", then.features)?;
        let bias1 = upload("conv1.bias", "f32", "[16]", "")?;
        let bias2 = upload("conv2.bias", "f32", "[32]", "")?;
        let bias3 = upload("dense.bias", "f32", "[10]", "")?;

        let features = |sizes: &str, layouts: Layouts| device.tensor(&format!("f32{sizes}{}", layouts.features));
        let pixels = features("[360,1,8,8]", first)?;
        let wide1 = features("[360,16,8,8]", first)?;
        let pooled1 = features("[360,16,4,4]", first)?;
        let changed1 = if first.name == then.name { pooled1.clone() } else { features("[360,16,4,4]", then)? };
        let wide2 = features("[360,32,4,4]", then)?;
        let pooled2 = features("[360,32,2,2]", then)?;
        let logits = device.tensor("f32[360,10]")?;

        let sizes =
            |channels, pixels| [("IMAGES", IMAGES), ("CHANNELS", channels), ("HEIGHT", pixels), ("WIDTH", pixels)];
        let mut steps = vec![
            device.kernel(PIXELS, sizes(1, 8), &[("input", &images), ("output", &pixels)], [4, 1, IMAGES])?,
            device.kernel(
                CONV,
                sizes(1, 8),
                &[("input", &pixels), ("weights", &conv1), ("bias", &bias1), ("output", &wide1)],
                [4, 16, IMAGES],
            )?,
            device.kernel(POOL, sizes(16, 4), &[("input", &wide1), ("output", &pooled1)], [1, 16, IMAGES])?,
        ];
        if first.name != then.name {
            let copy = device.pipelines.relayout(&Relayout::new(pooled1.layout(), changed1.layout())?)?;
            steps.push(Step::Change(Box::new(LayoutChange { copy, from: pooled1, to: changed1.clone() })));
        }
        let following = [
            device.kernel(
                CONV,
                sizes(16, 4),
                &[("input", &changed1), ("weights", &conv2), ("bias", &bias2), ("output", &wide2)],
                [1, 32, IMAGES],
            )?,
            device.kernel(POOL, sizes(32, 2), &[("input", &wide2), ("output", &pooled2)], [1, 32, IMAGES])?,
            device.kernel(
                DENSE,
                sizes(32, 2),
                &[("input", &pooled2), ("weights", &dense), ("bias", &bias3), ("output", &logits)],
                [IMAGES.div_ceil(16), 10, 1],
            )?,
        ];
        steps.extend(following);
        Ok(Network { steps, logits, uploaded })
    }

    /// The outputs, and how long they took from the submission until they could be read.
    fn run(&self, device: &Device) -> Outcome<(ndarray::Array2<f32>, Duration)> {
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for step in &self.steps {
            match step {
                Step::Kernel { pipeline, bindings, groups: [x, y, z] } => {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(0, bindings, &[]);
                    pass.dispatch_workgroups(*x, *y, *z);
                }
                Step::Change(change) => change.copy.encode(&mut encoder, &change.from, &change.to)?,
            }
        }
        let readback = Readback::new(&device.device, &mut encoder, &self.logits)?;
        let start = Instant::now();
        device.queue.submit([encoder.finish()]);
        let logits = readback.wait(&device.device)?;
        let time = start.elapsed();
        Ok((logits.array::<f32>()?.into_dimensionality()?, time))
    }
}

/// The numbers in 16 bits each, rounded to the nearest.
fn to_f16(bytes: &[u8]) -> Vec<u8> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().flat_map(|word| half::f16::from_f32(f32::from_le_bytes(*word)).to_le_bytes()).collect()
}
