//! Writes a tensor into mapped memory, which is never read.

use tensor_layout::relayout::{Destination, Padding, Piece, Relayout, Settings, Stores};
use tensor_layout::{Error as LayoutError, IndexMap};
use wgpu::WriteOnly;

use crate::error::Error;

/// Plans a copy into memory that belongs to the tensor alone, so the copy sets all padding to zero.
pub(crate) fn plan(from: &IndexMap, to: &IndexMap) -> Result<Relayout, Error> {
    // Mapped memory may be write-combining, and wants each line as a whole.
    let settings = Settings { stores: Stores::Streaming, least_piece: Some(1), ..Settings::default() };
    Ok(Relayout::with_settings(from, to, &settings)?.with_padding_of_whole_buffer(Padding::Zero)?)
}

/// Returns an error for a source that is too short, before a buffer is created for it.
pub(crate) fn check_source(layout: &IndexMap, source: &[u8]) -> Result<(), Error> {
    let bits = u128::from(layout.span_elements()) * u128::from(layout.element_bits());
    let found = u64::try_from(source.len()).unwrap_or(u64::MAX);
    match u64::try_from(bits.div_ceil(8)) {
        Ok(needed) if needed <= found => Ok(()),
        needed => {
            let needed = needed.unwrap_or(u64::MAX);
            Err(Error::Layout(LayoutError::buffer_too_short("source", needed, found)))
        }
    }
}

/// Rounds a number of bytes up to whole words of 4 bytes, because WebGPU binds and copies whole words.
pub(crate) fn whole_words(bytes: u64) -> Result<u64, Error> {
    let words = bytes.checked_next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
    words.ok_or_else(|| Error::Layout(LayoutError::overflow("a size in bytes", 64)))
}

/// Runs the copy into mapped memory, and sets the bytes after the tensor to zero.
pub(crate) fn run(relayout: &Relayout, source: &[u8], memory: WriteOnly<'_, [u8]>) -> Result<(), Error> {
    let bytes = usize::try_from(relayout.destination_size_in_bytes()).unwrap_or(usize::MAX);
    let mut own = without_tail(bytes, memory);
    in_bytes(&mut own, bytes, |destination| relayout.run(source, destination))
}

/// Runs a piece of a copy. `memory` is the range of the destination that the piece writes. See [`run`].
pub(crate) fn run_piece(piece: &Piece, source: &[u8], memory: WriteOnly<'_, [u8]>) -> Result<(), Error> {
    let bytes = piece.destination_range().len();
    let mut own = without_tail(bytes, memory);
    in_bytes(&mut own, bytes, |destination| piece.run(source, destination))
}

/// Runs a copy into mapped memory of `bytes` bytes. Elements that share bytes are put together in other
/// memory first.
fn in_bytes(
    memory: &mut WriteOnly<'_, [u8]>,
    bytes: usize,
    run: impl Fn(Destination<'_>) -> Result<(), LayoutError>,
) -> Result<(), Error> {
    match run(write_only(memory)) {
        Err(error) if error.code() == "destination_read" => {
            let mut whole = vec![0; bytes];
            run(Destination::from(&mut whole))?;
            memory.copy_from_slice(&whole);
            Ok(())
        }
        result => Ok(result?),
    }
}

/// Converts mapped memory to the type of a copy's destination.
#[allow(unsafe_code, reason = "wgpu gives mapped memory as a pointer, because it must not be read")]
fn write_only<'a>(memory: &'a mut WriteOnly<'_, [u8]>) -> Destination<'a> {
    // SAFETY: `write_only` requires memory that is valid for writes from any thread, and that nothing else
    // accesses while the result lives. wgpu's `WriteOnly` promises the first, and the exclusive borrow of
    // `memory` the second. No reads are needed.
    unsafe { Destination::write_only(memory.as_raw_ptr()) }
}

/// Returns the first `bytes` bytes of the memory, and sets the bytes after them to zero.
fn without_tail(bytes: usize, memory: WriteOnly<'_, [u8]>) -> WriteOnly<'_, [u8]> {
    let (own, mut tail) = match memory.split_at_checked(bytes) {
        Ok(parts) => parts,
        // The memory is too short for the tensor, so the copy will return an error.
        Err(memory) => return memory,
    };
    tail.fill(0);
    own
}
