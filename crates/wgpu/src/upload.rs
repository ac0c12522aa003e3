//! `UploadBelt`: uploads tensors into existing buffers, through staging buffers that are reused.

use std::ops::Range;

use tensor_layout::ToIndexMap;
use tensor_layout::relayout::{Piece, Relayout};

use crate::buffer::TensorBuffer;
use crate::error::Error;
use crate::mapped;

/// A planned upload: the copy that fills a tensor, divided into pieces of a bounded size.
#[derive(Debug, Clone)]
pub struct Upload {
    relayout: Relayout,
    pieces: Vec<Piece>,
}

impl Upload {
    /// Plans the upload of a tensor from the layout `from` to the layout `to`, in pieces of about
    /// `piece_bytes` bytes (at least a word). Every byte of the layout's span is written, and padding becomes
    /// zero. Do not upload a part of a larger tensor in this way, because its gaps belong to other tensors:
    /// upload it into a buffer of its own and copy it on the device.
    ///
    /// The upload is a single piece if the layouts are so irregular that the copy takes several passes, or
    /// that dividing it would take thousands of boxes.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::new`].
    pub fn new(from: &impl ToIndexMap, to: &impl ToIndexMap, piece_bytes: u64) -> Result<Upload, Error> {
        let relayout = mapped::plan(&from.to_index_map()?, &to.to_index_map()?)?;
        // Pieces have about equal sizes. The largest piece is at most a sixteenth larger than the average, so
        // the average is set below `piece_bytes`.
        let room = piece_bytes.saturating_sub(piece_bytes / 16).max(wgpu::COPY_BUFFER_ALIGNMENT);
        let number = usize::try_from(relayout.destination_size_in_bytes().div_ceil(room)).unwrap_or(usize::MAX);
        let pieces = relayout.partition(number, WORD)?;
        Ok(Upload { relayout, pieces })
    }

    /// The byte range of the destination that each piece fills, in order and without a gap. All ranges begin
    /// at multiples of 4 bytes.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.pieces.iter().map(Piece::destination_range)
    }

    /// A plan of this upload for the CPU.
    #[must_use]
    pub fn relayout(&self) -> &Relayout {
        &self.relayout
    }
}

/// The alignment of a copy between buffers, in bytes: [`wgpu::COPY_BUFFER_ALIGNMENT`].
const WORD: usize = 4;

/// Staging buffers for uploads into existing buffers: a [`wgpu::util::StagingBelt`] whose memory is written
/// in the layout of the destination, and never read.
///
/// The belt neither submits nor polls. Its buffers are reused after a submission, once the device has been
/// polled.
///
/// ```no_run
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
/// use tensor_layout_wgpu::{TensorBuffer, Upload, UploadBelt};
///
/// # fn with(device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8], tensor: &TensorBuffer) -> Result<(), Box<dyn std::error::Error>> {
/// let packed = BufferTensorDesc::packed(DataType::F32, &[1000, 4096])?;
/// let mut belt = UploadBelt::new(device, 4 << 20);
/// let upload = Upload::new(&packed, tensor.layout(), 4 << 20)?;
/// let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
/// belt.write(&mut encoder, &upload, bytes, tensor)?;
/// belt.finish(&encoder);
/// queue.submit([encoder.finish()]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct UploadBelt {
    belt: wgpu::util::StagingBelt,
    max_buffer: u64,
}

impl UploadBelt {
    /// Returns a belt of staging buffers of `buffer_bytes` bytes each. Larger pieces get buffers of their
    /// own.
    #[must_use]
    pub fn new(device: &wgpu::Device, buffer_bytes: u64) -> UploadBelt {
        let max_buffer = crate::limits(device).max_buffer;
        let size = buffer_bytes.next_multiple_of(wgpu::MAP_ALIGNMENT).clamp(wgpu::MAP_ALIGNMENT, max_buffer);
        UploadBelt { belt: wgpu::util::StagingBelt::new(device.clone(), size), max_buffer }
    }

    /// Writes a whole tensor: records every piece of the upload in this encoder. All pieces stay in staging
    /// memory until the encoder is submitted. To limit that memory, record [pieces](Self::write_piece) in
    /// several encoders.
    ///
    /// # Errors
    ///
    /// The errors of [`write_piece`](Self::write_piece).
    pub fn write(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        upload: &Upload,
        source: &[u8],
        tensor: &TensorBuffer,
    ) -> Result<(), Error> {
        (0..upload.pieces.len()).try_for_each(|piece| self.write_piece(encoder, upload, piece, source, tensor))
    }

    /// Writes the piece of a tensor with the index `piece`. `source` is the whole source.
    ///
    /// # Errors
    ///
    /// [`Error::OtherLayout`] if the tensor has another layout than planned; [`Error::Usage`] for a buffer
    /// without `COPY_DST`; [`Error::Limit`] if the piece is larger than the largest buffer; [`Error::Layout`]
    /// for a source that is too short (`buffer_too_short`) or a piece that does not exist (`out_of_limits`).
    pub fn write_piece(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        upload: &Upload,
        piece: usize,
        source: &[u8],
        tensor: &TensorBuffer,
    ) -> Result<(), Error> {
        tensor.require("the destination of the upload", wgpu::BufferUsages::COPY_DST)?;
        if tensor.layout() != upload.relayout.destination() {
            return Err(Error::OtherLayout { what: "the destination of the upload" });
        }
        mapped::check_source(upload.relayout.source(), source)?;
        let Some(copy) = upload.pieces.get(piece) else {
            let (value, pieces) = (number(piece), number(upload.pieces.len()));
            let what = "the number of the piece";
            return Err(tensor_layout::Error::out_of_limits(what, value, 0, pieces.saturating_sub(1)).into());
        };
        let range = copy.destination_range();
        let bytes = mapped::whole_words(number(range.len()))?;
        if bytes > self.max_buffer {
            return Err(Error::Limit { name: "max_buffer_size", needed: bytes, granted: self.max_buffer });
        }
        let Some(size) = wgpu::BufferSize::new(bytes) else { return Ok(()) };
        let mut view = self.belt.write_buffer(encoder, tensor.buffer(), tensor.offset() + number(range.start), size);
        mapped::run_piece(copy, source, view.slice(..))
    }

    /// Closes the staging buffers in use. They are reused when the encoder's commands are done. Call this
    /// function after all writes and before the encoder is finished.
    pub fn finish(&mut self, encoder: &wgpu::CommandEncoder) {
        self.belt.finish_and_recall_on_submit(encoder);
    }
}

fn number(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
