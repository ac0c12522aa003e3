//! From a safetensors file to bound buffers: every weight goes to the device in the layout that the kernels want.
//!
//! `cargo run --example bind_weights`

use safetensors::SafeTensors;
use tensor_layout::{BufferTensorDesc, DataType, notation::Notated};
use tensor_layout_wgpu::{BufferOptions, TensorBuffer, limits, required_limits};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.safetensors");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The device: everything that the adapter grants for buffers and compute shaders, or the name of the limit it lacks.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default())) else {
        println!("no adapter: nothing was bound");
        return Ok(());
    };
    let required_limits = required_limits(&adapter.limits())?;
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, _queue) = pollster::block_on(adapter.request_device(&descriptor))?;
    println!("{}: bindings of up to {} bytes", adapter.get_info().name, limits(&device).max_binding);

    let file = std::fs::read(MODEL)?;
    let mut tensors = Vec::new();
    for (name, view) in
        SafeTensors::deserialize(&file)?.tensors().into_iter().filter(|(name, _)| !name.starts_with("test"))
    {
        let data_type =
            DataType::from_safetensors_name(&view.dtype().to_string()).ok_or("a type that has no layout")?;
        let sizes: Vec<u64> = view.shape().iter().map(|&size| u64::try_from(size)).collect::<Result<_, _>>()?;
        let packed = BufferTensorDesc::packed(data_type, &sizes)?;
        let text = format!("{data_type}{sizes:?}").replace(' ', "");
        // Filters with their outputs innermost, matrices in tiles, all else as it is in the file.
        let layout: Notated = match sizes.len() {
            4 => format!("{text}:HWIO").parse()?,
            2 => format!("{text}{{1,0:T(8,128)}}").parse()?,
            _ => text.parse()?,
        };
        // Checked against the device's limits, created, and filled: straight into mapped memory.
        let options = BufferOptions { label: Some(&name), ..BufferOptions::default() };
        let tensor = TensorBuffer::with_bytes(&device, (&packed, view.data()), &layout, &options)?;
        println!("{name:<14} {:>7} bytes as {layout}", tensor.size());
        tensors.push(tensor);
    }

    // One bind group of them all, as a pipeline of these weights takes it.
    let binding = |place| wgpu::BindGroupLayoutEntry {
        binding: place,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..).map(binding).take(tensors.len()).collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let resources = (0..)
        .zip(&tensors)
        .map(|(binding, tensor)| Ok(wgpu::BindGroupEntry { binding, resource: tensor.binding(&device)? }));
    let entries: Vec<_> = resources.collect::<Result<_, tensor_layout_wgpu::Error>>()?;
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("weights"), layout: &layout, entries: &entries });
    Ok(())
}
