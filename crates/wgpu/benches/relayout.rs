//! The relayout suite on a device: how long each case takes there, beside a copy of as many bytes from buffer
//! to buffer.
//!
//! ```text
//! cargo bench --bench relayout -- [--csv] [--size large|unaligned|small|tiny] [--only GLOB] [--rounds N]
//! ```
//!
//! The cases are those of the crate's own suite (`../benches/relayout_suite.tsv`). Both the case and the copy
//! are timed by the device's own timestamps, in turn and in one run; the copy moves the mean of the bytes
//! read and written. Every case is first checked for equal bytes with what the CPU makes of it. `share` is
//! the copy's time over the case's: 1 is the speed of a copy.
//!
//! A software adapter takes the small sizes unless set otherwise, and its figures say nothing about speed.

use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, DataType};
use tensor_layout_text::Layout;
use tensor_layout_wgpu::{BufferOptions, PipelineCache, Readback, TensorBuffer, required_limits};

#[path = "../../../benches/suite/figures.rs"]
mod figures;

use figures::{matches_glob, median};

struct Options {
    csv: bool,
    size: Option<String>,
    only: String,
    rounds: u32,
}

impl Options {
    fn from_arguments() -> Options {
        let mut options = Options { csv: false, size: None, only: "*".into(), rounds: 9 };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
            match argument.as_str() {
                "--csv" => options.csv = true,
                "--size" => options.size = Some(value()),
                "--only" => options.only = value(),
                "--rounds" => options.rounds = value().parse().expect("a number of rounds"),
                "--bench" => {}
                other => panic!("unknown argument {other}"),
            }
        }
        options
    }
}

struct Gpu {
    info: wgpu::AdapterInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    timestamps: Timestamps,
}

fn main() {
    // `cargo test --benches` runs this file as well: there is nothing to test then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let options = Options::from_arguments();
    let Some(gpu) = pollster::block_on(Gpu::new()) else {
        println!("no adapter with timestamps: nothing was measured");
        return;
    };
    let software = gpu.info.device_type == wgpu::DeviceType::Cpu;
    println!("# adapter: {} ({:?})", gpu.info.name, gpu.info.backend);
    println!("# driver: {} {}", gpu.info.driver, gpu.info.driver_info);
    if software {
        println!("# software adapter: figures say nothing about speed");
    }
    let size = options.size.clone().unwrap_or_else(|| if software { "small" } else { "large" }.to_owned());
    let reduced = if software && options.size.is_none() { " (reduced; `--size large` is the suite)" } else { "" };
    println!("# size: {size}{reduced}");
    if options.csv {
        println!("size,case,form,dispatches,bytes,seconds_min,seconds_median,copy_seconds_min,share,share_median");
    }
    let cache = PipelineCache::new(&gpu.device);
    let suite = include_str!("../../../benches/relayout_suite.tsv");
    for line in suite.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [class, name, from, to] = fields[..] else { panic!("a line of four fields: {line}") };
        if class == size && matches_glob(&options.only, name) {
            run_case(&gpu, &cache, &options, (class, name), (&from.parse().unwrap(), &to.parse().unwrap()));
        }
    }
}

fn run_case(gpu: &Gpu, cache: &PipelineCache, options: &Options, names: (&str, &str), pair: (&Layout, &Layout)) {
    let Gpu { device, queue, .. } = gpu;
    let relayout = Relayout::new(pair.0, pair.1).unwrap();
    let plan = match cache.relayout(&relayout) {
        Ok(plan) => plan,
        Err(error) => return println!("# {}/{}: {error}", names.0, names.1),
    };
    let bytes: Vec<u8> = (0..relayout.source_size_in_bytes()).map(|i| (i ^ (i >> 8)) as u8).collect();
    let in_windows = BufferOptions { in_windows: true, ..BufferOptions::default() };
    // The source is uploaded as bytes, because it may repeat elements.
    let plain_bytes = BufferTensorDesc::packed(DataType::U8, &[relayout.source_size_in_bytes()]).unwrap();
    let source = TensorBuffer::with_bytes(device, (&plain_bytes, &bytes), &plain_bytes, &in_windows).unwrap();
    let source = source.view(pair.0).unwrap();
    let destination = TensorBuffer::new(device, pair.1, &in_windows).unwrap();
    let half = source.size().midpoint(destination.size()) / 4 * 4;
    let plain = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: half, usage, mapped_at_creation: false })
    };
    let (copied, copy) =
        (plain(wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST), plain(wgpu::BufferUsages::COPY_DST));

    // Once, for equal bytes; it builds the pipelines and touches the memory, too.
    let mut expected = vec![0; usize::try_from(relayout.destination_size_in_bytes()).unwrap()];
    relayout.run(&bytes, &mut expected).unwrap();
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.clear_buffer(&copied, 0, None);
    encoder.copy_buffer_to_buffer(&copied, 0, &copy, 0, half);
    plan.encode(&mut encoder, &source, &destination).unwrap();
    let readback = Readback::new(device, &mut encoder, &destination).unwrap();
    queue.submit([encoder.finish()]);
    assert!(readback.wait(device).unwrap().bytes() == expected, "{}/{}: other bytes", names.0, names.1);

    let mut samples = Vec::new();
    for _ in 0..options.rounds {
        let copied = gpu.time(|encoder| encoder.copy_buffer_to_buffer(&copied, 0, &copy, 0, half));
        let own = gpu.time(|encoder| plan.encode(encoder, &source, &destination).unwrap());
        samples.push((copied, own));
    }
    let copy_seconds = samples.iter().map(|sample| sample.0).fold(f64::INFINITY, f64::min);
    let seconds = samples.iter().map(|sample| sample.1).fold(f64::INFINITY, f64::min);
    let median_seconds = median(samples.iter().map(|sample| sample.1).collect());
    let median_share = median(samples.iter().map(|sample| sample.0 / sample.1).collect());
    let (size, name) = names;
    let program = plan.program();
    let (form, dispatches, share) = (program.form(), program.passes().len(), copy_seconds / seconds);
    if options.csv {
        println!(
            "{size},{name},{form},{dispatches},{},{seconds:.3e},{median_seconds:.3e},{copy_seconds:.3e},{share:.3},{median_share:.3}",
            2 * half
        );
    } else {
        println!("{size}/{name:<28} {form:<12} {:>8.2} GB/s, {share:.3} of a copy", 2.0 * half as f64 / seconds / 1e9);
    }
}

impl Gpu {
    /// `None` if no adapter has timestamps between commands.
    async fn new() -> Option<Gpu> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None).await.ok()?;
        let required_features = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        if !adapter.features().contains(required_features) {
            return None;
        }
        let required_limits = required_limits(&adapter.limits()).expect("an adapter for compute shaders");
        let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.expect("a device");
        let timestamps = Timestamps::new(&device);
        Some(Gpu { info: adapter.get_info(), device, queue, timestamps })
    }

    /// The seconds that the commands take on the device.
    fn time(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> f64 {
        let Timestamps { queries, resolved, read } = &self.timestamps;
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.write_timestamp(queries, 0);
        record(&mut encoder);
        encoder.write_timestamp(queries, 1);
        encoder.resolve_query_set(queries, 0..2, resolved, 0);
        encoder.copy_buffer_to_buffer(resolved, 0, read, 0, 16);
        encoder.map_buffer_on_submit(read, wgpu::MapMode::Read, .., |mapped| mapped.expect("timestamps"));
        self.queue.submit([encoder.finish()]);
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device");
        let ticks: Vec<u64> = {
            let view = read.get_mapped_range(..).expect("timestamps");
            view.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect()
        };
        read.unmap();
        let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64 * f64::from(self.queue.get_timestamp_period());
        nanoseconds.max(1.0) * 1e-9
    }
}

struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

impl Timestamps {
    fn new(device: &wgpu::Device) -> Timestamps {
        let queries = wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 };
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false })
        };
        Timestamps {
            queries: device.create_query_set(&queries),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
        }
    }
}
