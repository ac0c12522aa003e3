//! `DeviceRelayout`: copies from one layout to another on the device. `PipelineCache`: compiles every shader
//! once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tensor_layout::relayout::Relayout;
use tensor_layout_shader::{BoundBuffer, Form, Pass, PipelineKey, Profile, Program, ProgramOptions, Sizes};

use crate::buffer::TensorBuffer;
use crate::error::Error;
use crate::limits::device_profile;

/// The compute pipelines of a device. Copies with the same shader share its pipeline.
///
/// This type is a handle, like [`wgpu::Device`]: a clone refers to the same cache. Pipelines are kept until
/// the last clone, and the last copy that uses them, are dropped.
#[derive(Clone)]
pub struct PipelineCache {
    device: wgpu::Device,
    profile: Profile,
    pipelines: Arc<Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>>,
}

impl PipelineCache {
    /// Returns an empty cache for the pipelines of this device.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> PipelineCache {
        PipelineCache { device: device.clone(), profile: device_profile(device), pipelines: Arc::default() }
    }

    /// Returns this cache with sizes and strides as constants of shaders or as uniforms. With
    /// [`Sizes::Uniforms`], one pipeline serves every size of a form, so copies whose sizes change with each
    /// call are compiled once.
    #[must_use]
    pub fn with_sizes(mut self, sizes: Sizes) -> PipelineCache {
        self.profile.sizes = sizes;
        self
    }

    /// The number of pipelines in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether the cache has no pipeline.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Plans a copy for the device, with the padding option of `relayout`. The shaders for tensors at other
    /// offsets are made when the copy is recorded in an encoder.
    ///
    /// # Errors
    ///
    /// The errors of [`Program::new`].
    ///
    /// ```no_run
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    /// use tensor_layout_wgpu::{BufferOptions, PipelineCache, TensorBuffer};
    ///
    /// # fn with(device: &wgpu::Device, queue: &wgpu::Queue, rows: &TensorBuffer) -> Result<(), Box<dyn std::error::Error>> {
    /// let cache = PipelineCache::new(device);
    /// let tiled: ArrayShape = "f32[1000,4096]{1,0:T(8,128)}".parse()?;
    /// let tiles = TensorBuffer::new(device, &tiled, &BufferOptions::default())?;
    /// let copy = cache.relayout(&Relayout::new(rows.layout(), &tiled)?)?;
    ///
    /// let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// copy.encode(&mut encoder, rows, &tiles)?;
    /// queue.submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn relayout(&self, relayout: &Relayout) -> Result<DeviceRelayout, Error> {
        self.relayout_as(relayout, None)
    }

    /// Plans a copy like [`relayout`](Self::relayout), in a form that the caller chooses.
    ///
    /// # Errors
    ///
    /// The errors of [`Program::with_options`]: `not_expressible` for a form that does not apply to the pair
    /// of layouts.
    pub fn relayout_as(&self, relayout: &Relayout, form: Option<Form>) -> Result<DeviceRelayout, Error> {
        let options = options(form, 0, 0);
        let program = Program::with_options(relayout, &self.profile, &options)?;
        let program = Arc::new(program);
        Ok(DeviceRelayout { cache: self.clone(), relayout: relayout.clone(), form, program })
    }

    /// Returns the pipeline of a pass, and compiles it if the cache does not have it.
    fn pipeline(&self, pass: &Pass) -> wgpu::ComputePipeline {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || {
            let source = wgpu::ShaderSource::Wgsl(pass.wgsl().into());
            let label = Some(pass.entry_point());
            let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
            // The device need not clear workgroup memory, because the shader writes every word before it
            // reads it.
            let compilation_options =
                wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() };
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: None,
                module: &module,
                entry_point: label,
                compilation_options,
                cache: None,
            })
        };
        pipelines.entry(pass.key()).or_insert_with(compile).clone()
    }
}

impl fmt::Debug for PipelineCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipelineCache").field("pipelines", &self.len()).finish_non_exhaustive()
    }
}

/// A planned copy on the device. Its result is that of [`Relayout::run`] on the CPU, bit for bit.
#[derive(Debug, Clone)]
pub struct DeviceRelayout {
    cache: PipelineCache,
    relayout: Relayout,
    form: Option<Form>,
    /// The program for tensors that begin at the start of their buffers.
    program: Arc<Program>,
}

impl DeviceRelayout {
    /// The program for tensors that begin at the start of their buffers: its passes and shaders, and the
    /// [reason](Program::explain) for its form.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// A plan of this copy for the CPU.
    #[must_use]
    pub fn relayout(&self) -> &Relayout {
        &self.relayout
    }

    /// Records the copy in the encoder. The two tensors must be in different buffers.
    ///
    /// If the destination ends inside a word of 4 bytes, the copy reads this word, changes its own bytes and
    /// writes the word. So two copies to destinations that share a word must not run at the same time. Copies
    /// in one encoder never do.
    ///
    /// # Errors
    ///
    /// [`Error::OtherLayout`] if a tensor has another layout than planned; [`Error::OneBuffer`] if both
    /// tensors are in one buffer; [`Error::Usage`] for a buffer without `STORAGE`; for tensors with an offset
    /// in their buffers, the errors of [`Program::with_options`].
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        source: &TensorBuffer,
        destination: &TensorBuffer,
    ) -> Result<(), Error> {
        for (tensor, what, layout) in [
            (source, "the source of the copy", self.relayout.source()),
            (destination, "the destination of the copy", self.relayout.destination()),
        ] {
            tensor.require(what, wgpu::BufferUsages::STORAGE)?;
            if tensor.layout() != layout {
                return Err(Error::OtherLayout { what });
            }
        }
        if source.buffer() == destination.buffer() {
            return Err(Error::OneBuffer);
        }
        let moved;
        let program = match (source.offset(), destination.offset()) {
            (0, 0) => &*self.program,
            (from, to) => {
                moved = Program::with_options(&self.relayout, &self.cache.profile, &options(self.form, from, to))?;
                &moved
            }
        };
        let uniforms = self.uniforms(program.passes());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for (dispatch, offset) in program.passes().iter().zip(&uniforms.offsets) {
            let pipeline = self.cache.pipeline(dispatch);
            let bindings = dispatch.bindings();
            let entry = |bound: &tensor_layout_shader::BoundWindow| {
                let size = wgpu::BufferSize::new(bound.bytes.end.saturating_sub(bound.bytes.start));
                let (buffer, offset) = match bound.buffer {
                    BoundBuffer::Source => (source.buffer(), bound.bytes.start),
                    BoundBuffer::Destination => (destination.buffer(), bound.bytes.start),
                    _ => (&uniforms.buffer, *offset),
                };
                let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size });
                wgpu::BindGroupEntry { binding: bound.binding, resource }
            };
            let entries: Vec<_> = bindings.iter().map(entry).collect();
            let group = self.cache.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(dispatch.entry_point()),
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            let [x, y, z] = dispatch.workgroups();
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(x, y, z);
        }
        Ok(())
    }

    /// Writes the uniform blocks of all passes into one buffer. Each block begins at an offset that a uniform
    /// binding may have.
    fn uniforms(&self, passes: &[Pass]) -> Uniforms {
        let device = &self.cache.device;
        let alignment = usize::try_from(device.limits().min_uniform_buffer_offset_alignment).unwrap_or(256);
        let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
        for pass in passes {
            offsets.push(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            bytes.extend(pass.uniforms());
            bytes.resize(bytes.len().next_multiple_of(alignment), 0);
        }
        bytes.resize(bytes.len().max(alignment), 0);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("uniforms of a relayout"),
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            usage: wgpu::BufferUsages::UNIFORM,
            mapped_at_creation: true,
        });
        // If the device is lost, no memory is mapped here. The loss is reported when the commands are
        // submitted.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            view.copy_from_slice(&bytes);
        }
        buffer.unmap();
        Uniforms { buffer, offsets }
    }
}

struct Uniforms {
    buffer: wgpu::Buffer,
    offsets: Vec<u64>,
}

fn options(form: Option<Form>, source_offset: u64, destination_offset: u64) -> ProgramOptions {
    ProgramOptions { form, source_offset, destination_offset }
}
