//! `TensorBuffer`: a buffer on the device with the layout of the tensor in it.

use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, UploadReport, validate, validate_description};
use tensor_layout::{IndexMap, ToIndexMap};

use crate::error::Error;
use crate::limits::limits;
use crate::mapped;

/// The options for a new buffer.
#[derive(Debug, Clone, Copy)]
pub struct BufferOptions<'a> {
    /// The name of the buffer in wgpu's messages.
    pub label: Option<&'a str>,
    /// The usage of the buffer, by default a storage buffer that can be copied from and to.
    pub usage: wgpu::BufferUsages,
    /// Whether shaders read or write the tensor, by default read. Shaders write an output, so no two indices
    /// may share an element of it.
    pub role: Role,
    /// Whether the tensor may be larger than one binding, so that each binding is a window of it. By default
    /// a larger tensor is refused.
    pub in_windows: bool,
}

impl Default for BufferOptions<'_> {
    fn default() -> Self {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        BufferOptions { label: None, usage, role: Role::Input, in_windows: false }
    }
}

/// A tensor on the device: a buffer, the range of it that is bound, and the layout of the elements in that
/// range.
///
/// This type is a handle, like [`wgpu::Buffer`]: a clone refers to the same buffer.
#[derive(Debug, Clone)]
pub struct TensorBuffer {
    buffer: wgpu::Buffer,
    layout: IndexMap,
    report: UploadReport,
    /// The limits of the device, against which views of the tensor are checked.
    limits: DeviceLimits,
    in_windows: bool,
}

impl TensorBuffer {
    /// Returns a new buffer with the size and usage that a tensor of this layout needs. All bytes are zero,
    /// as in every new WebGPU buffer.
    ///
    /// # Errors
    ///
    /// [`Error::Tensor`] with all rules of the device that the tensor breaks; [`Error::limits`] returns the
    /// names of the limits. [`Error::Layout`] for a layout without an index map.
    ///
    /// ```no_run
    /// use tensor_layout::ArrayShape;
    /// use tensor_layout_wgpu::{BufferOptions, TensorBuffer};
    ///
    /// # fn with(device: &wgpu::Device) -> Result<(), Box<dyn std::error::Error>> {
    /// let layout: ArrayShape = "bf16[1000,4096]{1,0:T(8,128)(2,1)}".parse()?;
    /// let weights = TensorBuffer::new(device, &layout, &BufferOptions::default())?;
    /// assert_eq!(weights.size(), 8_192_000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        device: &wgpu::Device,
        layout: &impl ToIndexMap,
        options: &BufferOptions<'_>,
    ) -> Result<TensorBuffer, Error> {
        Self::create(device, layout, layout.to_index_map()?, options, false)
    }

    /// Returns a new buffer that holds the tensor from `source`, whose layout is `from`, in the layout `to`.
    /// The elements are written directly to the new buffer's mapped memory, which is never read. Padding is
    /// zero.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new) and of [`Relayout::new`](tensor_layout::relayout::Relayout::new);
    /// `buffer_too_short` for a source that is too short.
    ///
    /// ```no_run
    /// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
    /// use tensor_layout_wgpu::{BufferOptions, TensorBuffer};
    ///
    /// # fn with(device: &wgpu::Device, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    /// let packed = BufferTensorDesc::packed(DataType::F32, &[1000, 4096])?;
    /// let tiled: ArrayShape = "f32[1000,4096]{1,0:T(8,128)}".parse()?;
    /// let weights = TensorBuffer::with_bytes(device, (&packed, bytes), &tiled, &BufferOptions::default())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_bytes(
        device: &wgpu::Device,
        (from, source): (&impl ToIndexMap, &[u8]),
        to: &impl ToIndexMap,
        options: &BufferOptions<'_>,
    ) -> Result<TensorBuffer, Error> {
        let (from, map) = (from.to_index_map()?, to.to_index_map()?);
        let relayout = mapped::plan(&from, &map)?;
        mapped::check_source(&from, source)?;
        let tensor = Self::create(device, to, map, options, true)?;
        let filled = tensor
            .buffer
            .get_mapped_range_mut(..)
            .map_err(|error| Error::Map { message: error.to_string() })
            .and_then(|mut view| mapped::run(&relayout, source, view.slice(..)));
        tensor.buffer.unmap();
        filled.map(|()| tensor)
    }

    fn create(
        device: &wgpu::Device,
        described: &impl ToIndexMap,
        layout: IndexMap,
        options: &BufferOptions<'_>,
        mapped_at_creation: bool,
    ) -> Result<TensorBuffer, Error> {
        let (granted, in_windows) = (limits(device), options.in_windows);
        let limits = whole_or_in_windows(&granted, in_windows);
        // The layout is validated, and not its index map: a descriptor may state a total size, which its map
        // lacks.
        let size = match validate_description(described, &limits) {
            Ok(report) => report.bound.end,
            Err(errors) => errors.report.bound.end,
        };
        let report = validate(described, &UploadBuffer::new(size, 0, options.role), &limits)?;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: options.label,
            size,
            usage: options.usage,
            mapped_at_creation,
        });
        Ok(TensorBuffer { buffer, layout, report, limits: granted, in_windows })
    }

    /// Returns a tensor in an existing buffer. It begins `offset` bytes into the buffer, plus the base offset
    /// of its layout.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), and those of the range in the buffer (`offset_unaligned`,
    /// `binding_outside_buffer`).
    pub fn in_buffer(
        device: &wgpu::Device,
        buffer: &wgpu::Buffer,
        offset: u64,
        layout: &impl ToIndexMap,
        role: Role,
    ) -> Result<TensorBuffer, Error> {
        let limits = limits(device);
        let report = validate(layout, &UploadBuffer::new(buffer.size(), offset, role), &limits)?;
        Ok(TensorBuffer { buffer: buffer.clone(), layout: layout.to_index_map()?, report, limits, in_windows: false })
    }

    /// Returns a view of the bytes as another tensor: a slice, a permutation or a reshape of this tensor. Its
    /// base offset counts from the start of this tensor's bound range.
    ///
    /// # Errors
    ///
    /// The errors of [`in_buffer`](Self::in_buffer); `binding_outside_buffer` for a layout that is larger
    /// than the buffer.
    pub fn view(&self, layout: &impl ToIndexMap) -> Result<TensorBuffer, Error> {
        let place = UploadBuffer::new(self.buffer.size(), self.offset(), Role::Input);
        let report = validate(layout, &place, &whole_or_in_windows(&self.limits, self.in_windows))?;
        Ok(TensorBuffer { layout: layout.to_index_map()?, report, ..self.clone() })
    }

    /// The buffer of the tensor. It may have more bytes than the tensor.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The layout of the elements, whose offsets count from [`offset`](Self::offset).
    #[must_use]
    pub fn layout(&self) -> &IndexMap {
        &self.layout
    }

    /// The offset of the bound range in the buffer, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.report.bound.start
    }

    /// The length of the bound range, in bytes: the size of the layout, rounded up to words of 4 bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.report.total_bytes
    }

    /// The report of the check that the tensor passed, with all its numbers.
    #[must_use]
    pub fn report(&self) -> &UploadReport {
        &self.report
    }

    /// Returns the tensor's range of the buffer, to be bound in a bind group.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the tensor is larger than one binding ([`BufferOptions::in_windows`]).
    pub fn binding(&self) -> Result<wgpu::BindingResource<'_>, Error> {
        let (needed, granted) = (self.size(), self.limits.max_binding);
        if needed > granted {
            return Err(Error::Limit { name: "max_storage_buffer_binding_size", needed, granted });
        }
        Ok(wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: self.offset(),
            size: wgpu::BufferSize::new(self.size()),
        }))
    }

    /// Returns an error if the buffer lacks one of these usages. `what` names the buffer in the error.
    pub(crate) fn require(&self, what: &'static str, usage: wgpu::BufferUsages) -> Result<(), Error> {
        let missing = usage.difference(self.buffer.usage());
        if missing.is_empty() { Ok(()) } else { Err(Error::Usage { what, missing }) }
    }
}

/// Returns the limits for a tensor. A tensor that is bound in windows may be as large as a buffer, and any
/// other as large as a binding.
fn whole_or_in_windows(granted: &DeviceLimits, in_windows: bool) -> DeviceLimits {
    let mut limits = granted.clone();
    if in_windows {
        limits.max_binding = limits.max_buffer;
    }
    limits
}
