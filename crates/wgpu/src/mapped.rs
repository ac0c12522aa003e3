//! Writing a tensor into mapped memory, which is never read.

use tensor_layout::relayout::{DestinationBytes, Padding, Piece, Relayout};
use tensor_layout::{Error as LayoutError, IndexMap};
use wgpu::WriteOnly;

use crate::error::Error;

/// The copy that fills memory which no one else has a byte in: padding is zero.
pub(crate) fn plan(from: &IndexMap, to: &IndexMap) -> Result<Relayout, Error> {
    Ok(Relayout::new(from, to)?.with_padding_everywhere(Padding::Zero)?)
}

/// Refuses a source that is too short, before a buffer is made for what it holds.
pub(crate) fn check_source(layout: &IndexMap, source: &[u8]) -> Result<(), Error> {
    let bits = u128::from(layout.span_elements()) * u128::from(layout.element_bits());
    let found = u64::try_from(source.len()).unwrap_or(u64::MAX);
    match u64::try_from(bits.div_ceil(8)) {
        Ok(needed) if needed <= found => Ok(()),
        needed => {
            let needed = needed.unwrap_or(u64::MAX);
            Err(Error::Layout(LayoutError::BufferTooShort { what: "source", offset: None, needed, found }))
        }
    }
}

/// The bytes of the words of 4 bytes that this many bytes are in: WebGPU binds and copies no part of one.
pub(crate) fn whole_words(bytes: u64) -> Result<u64, Error> {
    let words = bytes.checked_next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
    words.ok_or(Error::Layout(LayoutError::Overflow { quantity: "a size in bytes", bits: 64 }))
}

/// Runs the copy into the memory, and sets what is after it to zero.
pub(crate) fn run(relayout: &Relayout, source: &[u8], memory: WriteOnly<'_, [u8]>) -> Result<(), Error> {
    let bytes = usize::try_from(relayout.destination_size_in_bytes()).unwrap_or(usize::MAX);
    let mut own = without_tail(bytes, memory);
    Ok(relayout.run_write_only(source, write_only(&mut own))?)
}

/// Like [`run`], for a piece: the memory is that of its range.
pub(crate) fn run_piece(piece: &Piece, source: &[u8], memory: WriteOnly<'_, [u8]>) -> Result<(), Error> {
    let mut own = without_tail(piece.destination_range().len(), memory);
    Ok(piece.run_write_only(source, write_only(&mut own))?)
}

/// The memory as a copy takes it.
#[allow(unsafe_code, reason = "wgpu gives mapped memory as a pointer, because it must not be read")]
fn write_only<'a>(memory: &'a mut WriteOnly<'_, [u8]>) -> DestinationBytes<'a> {
    // SAFETY: `from_ptr` requires memory that is valid for writes from any thread, and that nothing
    // else accesses while the result lives. wgpu's `WriteOnly` promises the first, and the exclusive borrow
    // of `memory` the second. No reads are needed.
    unsafe { DestinationBytes::from_ptr(memory.as_raw_ptr()) }
}

/// The first `bytes` bytes of the memory; those after them become zero.
fn without_tail(bytes: usize, memory: WriteOnly<'_, [u8]>) -> WriteOnly<'_, [u8]> {
    let (own, mut tail) = match memory.split_at_checked(bytes) {
        Ok(parts) => parts,
        // Too short: the copy says so.
        Err(memory) => return memory,
    };
    tail.fill(0);
    own
}
