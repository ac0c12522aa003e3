//! The digits network of the crate's example of that name, on the device: the same three kernels run with weights and activations in
//! four layouts, with weights of 16 bits, and with a change of layout between two layers. Each is right only if every element was
//! moved, and is found, at the right place.
//!
//! The kernels are plain WGSL. What they know of a layout is `x_load_at(n, c, y, x)` and the like, which `IndexFunctions` prints.
//!
//! `cargo run --release --example digits`

use std::error::Error;
use std::time::Instant;

use safetensors::SafeTensors;
use tensor_layout::notation::Notated;
use tensor_layout::relayout::Relayout;
use tensor_layout::shader::{Access, IndexFunctions};
use tensor_layout_wgpu::{BufferOptions, PipelineCache, Readback, TensorBuffer, required_limits};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.safetensors");

/// A convolution of 3 x 3 with a margin of 1, then the largest of every 2 x 2 sums, and 0 if all are below. One invocation for each
/// element of the output.
const CONVOLUTION: &str = "
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let place = id.x;
    if place >= IMAGES * OUTPUTS * ROWS * ROWS { return; }
    let n = place / (OUTPUTS * ROWS * ROWS);
    let o = place / (ROWS * ROWS) % OUTPUTS;
    var largest = 0.0;
    for (var corner = 0u; corner < 4u; corner++) {
        let top = 2u * (place / ROWS % ROWS) + corner / 2u;
        let left = 2u * (place % ROWS) + corner % 2u;
        var sum = bias_load_at(o);
        for (var c = 0u; c < INPUTS; c++) {
            for (var tap = 0u; tap < 9u; tap++) {
                let row = top + tap / 3u;
                let column = left + tap % 3u;
                if row >= 1u && row <= 2u * ROWS && column >= 1u && column <= 2u * ROWS {
                    sum += input_load_at(n, c, row - 1u, column - 1u) * weight_load_at(o, c, tap / 3u, tap % 3u);
                }
            }
        }
        largest = max(largest, sum);
    }
    output_store_at(n, o, place / ROWS % ROWS, place % ROWS, largest);
}";

/// All features times a matrix. One invocation for each output.
const DENSE: &str = "
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x / OUTPUTS;
    let o = id.x % OUTPUTS;
    if n >= IMAGES { return; }
    var sum = bias_load_at(o);
    for (var c = 0u; c < INPUTS; c++) {
        for (var place = 0u; place < ROWS * ROWS; place++) {
            sum += input_load_at(n, c, place / ROWS, place % ROWS) * weight_load_at(o, c, place / ROWS, place % ROWS);
        }
    }
    output_store_at(n, o, sum);
}";

/// How the tensors of a run lie: what stands behind their sizes.
struct Plan {
    name: &'static str,
    /// Images and features in front of the second layer, features behind it.
    activations: [&'static str; 2],
    filters: &'static str,
    matrix: &'static str,
    weights: &'static str,
}

const NCHW: Plan =
    Plan { name: "NCHW", activations: [":NCHW", ":NCHW"], filters: ":OIHW", matrix: ":NCHW", weights: "f32" };
const BLOCKS: &str = "{3,2,1,0:T(8,1,1)}";
const TILES: &str = "{3,2,1,0:T(8,128)}";

const PLANS: [Plan; 6] = [
    NCHW,
    Plan { name: "NHWC", activations: [":NHWC", ":NHWC"], filters: ":HWIO", matrix: ":NHWC", ..NCHW },
    Plan { name: "nChw8c", activations: [BLOCKS, BLOCKS], filters: ":OIhw8i8o", matrix: BLOCKS, ..NCHW },
    Plan { name: "T(8,128)", activations: [TILES, TILES], filters: TILES, matrix: TILES, ..NCHW },
    Plan { name: "f16 weights", activations: [":NHWC", ":NHWC"], filters: ":HWIO", matrix: ":NHWC", weights: "f16" },
    Plan { name: "NCHW, nChw8c", activations: [":NCHW", BLOCKS], filters: ":OIhw8i8o", matrix: BLOCKS, ..NCHW },
];

fn main() -> Result<(), Box<dyn Error>> {
    let Some(engine) = pollster::block_on(Engine::new())? else {
        println!("no adapter: nothing was run");
        return Ok(());
    };
    let file = std::fs::read(MODEL)?;
    let model = SafeTensors::deserialize(&file)?;
    println!("adapter: {}", engine.name);
    println!("{:<13} {:>9} {:>9}   result", "layout", "uploaded", "time");
    for plan in &PLANS {
        let (hits, bytes, seconds) = engine.run(&model, plan)?;
        println!("{:<13} {:>6} KiB {:>6.1} ms   {hits} of 360", plan.name, bytes / 1024, seconds * 1e3);
        assert_eq!(hits, 355, "{} differs", plan.name);
    }
    if engine.software {
        println!("\na software adapter: the times say nothing about speed");
    }
    Ok(())
}

struct Engine {
    name: String,
    software: bool,
    device: wgpu::Device,
    queue: wgpu::Queue,
    cache: PipelineCache,
}

impl Engine {
    async fn new() -> Result<Option<Engine>, Box<dyn Error>> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let Ok(adapter) = wgpu::util::initialize_adapter_from_env_or_default(&instance, None).await else {
            return Ok(None);
        };
        let info = adapter.get_info();
        let required_limits = required_limits(&adapter.limits())?;
        let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await?;
        let cache = PipelineCache::new(&device);
        let name = format!("{} ({:?}, {} {})", info.name, info.backend, info.driver, info.driver_info);
        Ok(Some(Engine { name, software: info.device_type == wgpu::DeviceType::Cpu, device, queue, cache }))
    }

    /// How many digits are right, how many bytes went to the device, and the seconds of a second run.
    fn run(&self, model: &SafeTensors<'_>, plan: &Plan) -> Result<(usize, u64, f64), Box<dyn Error>> {
        let [first, second] = plan.activations;
        let pixels =
            model.tensor("test.images")?.data().iter().flat_map(|&pixel| (f32::from(pixel) / 16.0).to_le_bytes());
        let images = self.upload("f32[360,1,8,8]", first, pixels.collect())?;
        let weight = |name: &str, sizes: &str, layout: &str| -> Result<_, Box<dyn Error>> {
            let bytes = model.tensor(&format!("{name}.weight"))?.data();
            let halves = || {
                bytes
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .flat_map(|&word| half::f16::from_f32(f32::from_le_bytes(word)).to_le_bytes())
            };
            let bytes = if plan.weights == "f16" { halves().collect() } else { bytes.to_vec() };
            self.upload(&format!("{}{sizes}", plan.weights), layout, bytes)
        };
        let bias = |name: &str, size: u32| -> Result<_, Box<dyn Error>> {
            self.upload(&format!("f32[{size}]"), "", model.tensor(&format!("{name}.bias"))?.data().to_vec())
        };
        let weights = [
            (weight("conv1", "[16,1,3,3]", plan.filters)?, bias("conv1", 16)?),
            (weight("conv2", "[32,16,3,3]", plan.filters)?, bias("conv2", 32)?),
            (weight("dense", "[10,32,2,2]", plan.matrix)?, bias("dense", 10)?),
        ];
        let uploaded = images.size() + weights.iter().map(|(weight, bias)| weight.size() + bias.size()).sum::<u64>();

        let features = self.empty("f32[360,16,4,4]", first)?;
        let moved = if first == second { features.clone() } else { self.empty("f32[360,16,4,4]", second)? };
        let deeper = self.empty("f32[360,32,2,2]", second)?;
        let logits = self.empty("f32[360,10]", "")?;
        let layers = [
            self.layer(CONVOLUTION, &images, &weights[0], &features)?,
            self.layer(CONVOLUTION, &moved, &weights[1], &deeper)?,
            self.layer(DENSE, &deeper, &weights[2], &logits)?,
        ];

        // Once to compile and to touch the memory, and once for the time.
        self.forward(&layers, [&features, &moved], &logits)?;
        let start = Instant::now();
        let logits = self.forward(&layers, [&features, &moved], &logits)?;
        let seconds = start.elapsed().as_secs_f64();

        let labels = model.tensor("test.labels")?;
        let largest = |row: ndarray::ArrayViewD<'_, f32>| {
            row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(digit, _)| digit)
        };
        let found = logits.outer_iter().map(largest);
        let hits = found.zip(labels.data()).filter(|(digit, label)| *digit == usize::from(**label)).count();
        Ok((hits, uploaded, seconds))
    }

    /// All layers in one submission, and the logits back; if the second layer wants another layout, its features are moved in between.
    fn forward(
        &self,
        layers: &[Layer; 3],
        [features, moved]: [&TensorBuffer; 2],
        logits: &TensorBuffer,
    ) -> Result<ndarray::ArrayD<f32>, Box<dyn Error>> {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        layers[0].encode(&mut encoder);
        if moved.buffer() != features.buffer() {
            let copy = self.cache.relayout(&Relayout::new(features.layout(), moved.layout())?)?;
            copy.encode(&mut encoder, features, moved)?;
        }
        layers[1].encode(&mut encoder);
        layers[2].encode(&mut encoder);
        let readback = Readback::new(&self.device, &mut encoder, logits)?;
        self.queue.submit([encoder.finish()]);
        Ok(readback.wait(&self.device)?.array::<f32>()?)
    }

    /// A packed tensor, written into a new buffer as `layout` says.
    fn upload(&self, sizes: &str, layout: &str, bytes: Vec<u8>) -> Result<TensorBuffer, Box<dyn Error>> {
        let (packed, layout): (Notated, Notated) = (sizes.parse()?, format!("{sizes}{layout}").parse()?);
        Ok(TensorBuffer::with_bytes(&self.device, (&packed, &bytes), &layout, &BufferOptions::default())?)
    }

    fn empty(&self, sizes: &str, layout: &str) -> Result<TensorBuffer, Box<dyn Error>> {
        let layout: Notated = format!("{sizes}{layout}").parse()?;
        Ok(TensorBuffer::new(&self.device, &layout, &BufferOptions::default())?)
    }

    /// A kernel with the index functions of its four tensors in front.
    fn layer(
        &self,
        kernel: &str,
        input: &TensorBuffer,
        (weight, bias): &(TensorBuffer, TensorBuffer),
        output: &TensorBuffer,
    ) -> Result<Layer, Box<dyn Error>> {
        let tensors = [("input", input), ("weight", weight), ("bias", bias), ("output", output)];
        let mut text = String::new();
        for (place, (name, tensor)) in tensors.iter().enumerate() {
            let (access, mode) = match *name {
                "output" => (Access::ReadWrite, "read_write"),
                _ => (Access::Read, "read"),
            };
            let words = format!("{name}_words");
            text += &format!("@group(0) @binding({place}) var<storage, {mode}> {words}: array<u32>;\n");
            text += &IndexFunctions::new(tensor.layout())?.named(name)?.with_access(&words, access)?.wgsl();
        }
        let sizes = weight.layout().sizes();
        let images = output.layout().sizes()[0];
        // Of the dense layer the rows of its input, which it sums up; of the others those of their output.
        let rows = output.layout().sizes().get(2).copied().unwrap_or(sizes[2]);
        for (name, size) in [("IMAGES", images), ("OUTPUTS", sizes[0]), ("INPUTS", sizes[1]), ("ROWS", rows)] {
            text += &format!("const {name} = {size}u;\n");
        }
        text += kernel;

        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let entries: Vec<_> = (0..)
            .zip([input, weight, bias, output])
            .map(|(binding, tensor)| Ok(wgpu::BindGroupEntry { binding, resource: tensor.binding()? }))
            .collect::<Result<_, tensor_layout_wgpu::Error>>()?;
        let layout = pipeline.get_bind_group_layout(0);
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        let group = self.device.create_bind_group(&descriptor);
        let workgroups = u32::try_from(output.layout().logical_elements().div_ceil(64))?;
        Ok(Layer { pipeline, group, workgroups })
    }
}

struct Layer {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    workgroups: u32,
}

impl Layer {
    fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.workgroups, 1, 1);
    }
}
