//! Copies tensors to the device, in the layout that they will have there, and back.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use tensor_layout::ToIndexMap;
use tensor_layout::checked::len_u64;
use tensor_layout::relayout::{Padding, Relayout};

use crate::error::Error;
use crate::memory::Memory;

/// Returns device memory that holds a tensor in `layout`, with zeros as padding. The source is bytes in the
/// layout `from`, and the CPU changes the layout before the transfer.
///
/// # Errors
///
/// The errors of [`Relayout::new`] and [`Relayout::run`]; [`Error::Driver`].
pub fn upload(
    stream: &Arc<CudaStream>,
    (from, bytes): (&impl ToIndexMap, &[u8]),
    layout: &impl ToIndexMap,
) -> Result<CudaSlice<u8>, Error> {
    let relayout = Relayout::new(from, layout)?.with_padding_of_whole_buffer(Padding::Zero)?;
    let mut laid_out = vec![0; host_bytes(relayout.destination_size_in_bytes()).next_multiple_of(4)];
    relayout.run(bytes, &mut laid_out)?;
    Ok(stream.clone_htod(&laid_out)?)
}

/// Returns the bytes of a tensor in `layout`, with zeros as padding, from device memory in the layout `from`.
/// The call waits for the stream.
///
/// # Errors
///
/// The errors of [`Relayout::new`] and [`Relayout::run`]; [`Error::TooShort`]; [`Error::Driver`].
pub fn read_back<S: Memory<u8>>(
    stream: &Arc<CudaStream>,
    (from, memory): (&impl ToIndexMap, &S),
    layout: &impl ToIndexMap,
) -> Result<Vec<u8>, Error> {
    let relayout = Relayout::new(from, layout)?.with_padding_of_whole_buffer(Padding::Zero)?;
    let (bytes, needed) = (len_u64(memory.len()), relayout.source_size_in_bytes());
    if bytes < needed {
        return Err(Error::TooShort { what: "the tensor", bytes, needed });
    }
    let read = stream.clone_dtoh(memory)?;
    let mut laid_out = vec![0; host_bytes(relayout.destination_size_in_bytes())];
    relayout.run(&read, &mut laid_out)?;
    Ok(laid_out)
}

fn host_bytes(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
