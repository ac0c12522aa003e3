//! `Readback`: reads a tensor back from the device, as bytes or as an array, in any layout.

use std::fmt;
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use tensor_layout::relayout::Relayout;
use tensor_layout::{IndexMap, ToIndexMap};

use crate::buffer::TensorBuffer;
use crate::error::Error;
use crate::mapped::whole_words;

/// A tensor that is being read back. A copy into a buffer that the CPU can map has been recorded in the
/// caller's encoder.
///
/// This type never submits. After the submission, [`mapped`](Self::mapped) waits until the caller polls the
/// device, and [`wait`](Self::wait) polls the device itself.
///
/// ```no_run
/// use tensor_layout_wgpu::{Readback, TensorBuffer};
///
/// # fn with(device: &wgpu::Device, queue: &wgpu::Queue, logits: &TensorBuffer) -> Result<(), Box<dyn std::error::Error>> {
/// let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
/// let readback = Readback::new(device, &mut encoder, logits)?;
/// queue.submit([encoder.finish()]);
/// let logits = readback.wait(device)?.array::<f32>()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Readback {
    buffer: wgpu::Buffer,
    layout: IndexMap,
    result: oneshot::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Readback {
    /// Records the copy of the tensor in the encoder. The buffer is mapped when the encoder's commands are
    /// done.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for a buffer without `COPY_SRC`.
    pub fn new(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        tensor: &TensorBuffer,
    ) -> Result<Readback, Error> {
        tensor.require("the tensor to read back", wgpu::BufferUsages::COPY_SRC)?;
        let size = whole_words(tensor.layout().physical_size_in_bytes())?;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read-back of a tensor"),
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(tensor.buffer(), tensor.offset(), &buffer, 0, size);
        let (sender, result) = oneshot::channel();
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |mapped| {
            // An error here is ignored. It means that nobody waits for the tensor any more.
            let _ = sender.send(mapped);
        });
        Ok(Readback { buffer, layout: tensor.layout().clone(), result })
    }

    /// Waits for the tensor until the commands are done and the device has been polled (on the web, by the
    /// browser).
    ///
    /// # Errors
    ///
    /// [`Error::Map`] if the device is lost or the encoder was dropped without being submitted.
    pub async fn mapped(self) -> Result<MappedTensor, Error> {
        let result = self.result.await;
        MappedTensor::new(result.unwrap_or(Err(wgpu::BufferAsyncError)), &self.buffer, self.layout)
    }

    /// Polls the device until the commands are done, and returns the tensor. This function is for native
    /// programs, because a browser cannot block.
    ///
    /// # Errors
    ///
    /// [`Error::Map`] if the device is lost or the encoder was not submitted.
    pub fn wait(mut self, device: &wgpu::Device) -> Result<MappedTensor, Error> {
        let start = Instant::now();
        loop {
            device
                .poll(wgpu::PollType::wait_indefinitely())
                .map_err(|error| Error::Map { message: error.to_string() })?;
            match self.result.try_recv() {
                Ok(Some(result)) => return MappedTensor::new(result, &self.buffer, self.layout),
                // The result may still come, because another thread that polls the device may be about to
                // send it.
                Ok(None) if start.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(1)),
                _ => return Err(Error::Map { message: "the encoder with the copy was not submitted".to_owned() }),
            }
        }
    }
}

/// How long `wait` waits for a result after the device has finished all work. After that, `wait` returns an
/// error.
const GRACE: Duration = Duration::from_secs(2);

/// A tensor in device memory that is mapped for reading on the CPU. Dropping the value unmaps the memory.
pub struct MappedTensor {
    view: wgpu::BufferView,
    layout: IndexMap,
}

impl MappedTensor {
    fn new(
        mapped: Result<(), wgpu::BufferAsyncError>,
        buffer: &wgpu::Buffer,
        layout: IndexMap,
    ) -> Result<MappedTensor, Error> {
        mapped.map_err(|error| Error::Map { message: error.to_string() })?;
        let view = buffer.get_mapped_range(..).map_err(|error| Error::Map { message: error.to_string() })?;
        Ok(MappedTensor { view, layout })
    }

    /// The bytes as they are on the device, padding included, rounded up to whole bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let size = usize::try_from(self.layout.physical_size_in_bytes()).unwrap_or(usize::MAX);
        self.view.get(..size).unwrap_or(&self.view)
    }

    /// The layout of the elements in [`bytes`](Self::bytes).
    #[must_use]
    pub fn layout(&self) -> &IndexMap {
        &self.layout
    }

    /// Returns the bytes of the tensor in another layout. Padding is zero.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::new`].
    pub fn bytes_in(&self, layout: &impl ToIndexMap) -> Result<Vec<u8>, Error> {
        let relayout = Relayout::new(&self.layout, layout)?;
        let size = usize::try_from(relayout.destination_size_in_bytes()).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        let quantity = "the bytes of the tensor in memory";
        bytes.try_reserve_exact(size).map_err(|_| tensor_layout::Error::overflow(quantity, usize::BITS))?;
        bytes.resize(size, 0);
        relayout.run(self.bytes(), &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the tensor as an array in standard (row-major) order.
    ///
    /// # Errors
    ///
    /// The errors of [`array_from_bytes`](tensor_layout::interop::ndarray::array_from_bytes), above all
    /// `data_type_mismatch`.
    #[cfg(feature = "ndarray")]
    pub fn array<A: tensor_layout::interop::native::NativeElement>(&self) -> Result<ndarray::ArrayD<A>, Error> {
        Ok(tensor_layout::interop::ndarray::array_from_bytes(&self.layout, self.bytes())?)
    }
}

impl fmt::Debug for MappedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedTensor").field("layout", &self.layout).finish_non_exhaustive()
    }
}
