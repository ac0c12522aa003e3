//! The adapter of the tests, and two devices of it: one with all that the adapter grants, one with WebGPU's
//! defaults.

use tensor_layout_wgpu::{MappedTensor, Readback, TensorBuffer, required_limits};

pub(crate) struct Gpu {
    pub(crate) name: String,
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
}

impl Gpu {
    /// `None` if there is no adapter.
    pub(crate) async fn new() -> Option<Gpu> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        // A name that no adapter has is a mistake of the caller, and wgpu panics.
        let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None).await.ok()?;
        let info = adapter.get_info();
        let limits = required_limits(&adapter.limits()).expect("an adapter for compute shaders");
        let (device, queue) = request(&adapter, limits).await;
        let name = format!("{} ({:?}, {} {})", info.name, info.backend, info.driver, info.driver_info);
        Some(Gpu { name, adapter, device, queue })
    }

    /// Another device, with other limits.
    pub(crate) fn with_limits(&self, limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
        pollster::block_on(request(&self.adapter, limits))
    }

    /// This GPU with another device and queue.
    pub(crate) fn on(&self, device: wgpu::Device, queue: wgpu::Queue) -> Gpu {
        Gpu { name: self.name.clone(), adapter: self.adapter.clone(), device, queue }
    }

    /// Puts commands into an encoder and submits it.
    pub(crate) fn submit<T>(&self, record: impl FnOnce(&mut wgpu::CommandEncoder) -> T) -> T {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let result = record(&mut encoder);
        self.queue.submit([encoder.finish()]);
        result
    }

    pub(crate) fn read(&self, tensor: &TensorBuffer) -> MappedTensor {
        let readback = self.submit(|encoder| Readback::new(&self.device, encoder, tensor).unwrap());
        readback.wait(&self.device).unwrap()
    }

    /// The whole buffer, whatever tensor is in it.
    pub(crate) fn read_all(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        let bytes = tensor_layout::BufferTensorDesc::packed(tensor_layout::DataType::U8, &[buffer.size()]).unwrap();
        let role = tensor_layout::upload::Role::Input;
        let tensor = TensorBuffer::in_buffer(&self.device, buffer, 0, &bytes, role).unwrap();
        self.read(&tensor).bytes().to_vec()
    }

    /// A buffer with these bytes, whose number is a multiple of 4.
    pub(crate) fn buffer(&self, bytes: &[u8]) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let size = bytes.len() as u64;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: true };
        let buffer = self.device.create_buffer(&descriptor);
        buffer.get_mapped_range_mut(..).unwrap().copy_from_slice(bytes);
        buffer.unmap();
        buffer
    }
}

async fn request(adapter: &wgpu::Adapter, required_limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    let wanted = wgpu::Features::SHADER_F16;
    let required_features = adapter.features() & wanted;
    let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
    adapter.request_device(&descriptor).await.expect("a device with limits that the adapter has")
}

/// Bytes that tell every place from its neighbours.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
