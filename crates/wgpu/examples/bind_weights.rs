//! From a safetensors file to bound buffers: every weight goes to the device in the layout that the kernels
//! want.
//!
//! `cargo run --example bind_weights`

use safetensors::SafeTensors;
use tensor_layout::element::Naming;
use tensor_layout::{BufferTensorDesc, DataType};
use tensor_layout_text::Layout;
use tensor_layout_wgpu::{BufferOptions, TensorBuffer, required_limits};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/digits.safetensors");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The device, with all that the adapter grants for buffers and compute shaders, or the name of the limit
    // it lacks.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default())) else {
        println!("no adapter: nothing was bound");
        return Ok(());
    };
    let required_limits = required_limits(&adapter.limits())?;
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, _queue) = pollster::block_on(adapter.request_device(&descriptor))?;

    let file = std::fs::read(MODEL)?;
    let model = SafeTensors::deserialize(&file)?;
    let mut weights = Vec::new();
    for name in ["conv1.weight", "conv1.bias", "dense.weight", "dense.bias"] {
        let tensor = model.tensor(name)?;
        let sizes: Vec<u64> = tensor.shape().iter().map(|&size| u64::try_from(size)).collect::<Result<_, _>>()?;
        let data_type =
            DataType::from_name_in(Naming::Safetensors, &tensor.dtype().to_string()).ok_or("an unknown type")?;
        let packed = BufferTensorDesc::packed(data_type, &sizes)?;
        // Filters with their outputs innermost, matrices in tiles, all else as it is in the file.
        let order = [(4, ":HWIO"), (2, "{1,0:T(8,128)}")].into_iter().find(|order| order.0 == sizes.len());
        let layout: Layout =
            format!("{data_type}{sizes:?}{}", order.map_or("", |order| order.1)).replace(' ', "").parse()?;
        // Checked against the limits of the device, created, and written straight into its mapped memory.
        let options = BufferOptions { label: Some(name), ..BufferOptions::default() };
        let buffer = TensorBuffer::with_bytes(&device, (&packed, tensor.data()), &layout, &options)?;
        println!("{name:<12} {:>5} bytes as {layout}", buffer.size());
        weights.push(buffer);
    }

    // One bind group of them all, as a pipeline takes it.
    let ty = wgpu::BufferBindingType::Storage { read_only: true };
    let ty = wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let visibility = wgpu::ShaderStages::COMPUTE;
    let entry = |binding| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
    let entries: Vec<_> = (0..4).map(entry).collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let resources: Vec<_> = weights.iter().map(TensorBuffer::binding).collect::<Result<_, _>>()?;
    let bound = (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
    let entries: Vec<_> = bound.collect();
    let _group =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    Ok(())
}
