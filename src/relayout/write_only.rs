//! Copies into memory that is not read: uninitialised memory, and mapped GPU buffers.
//!
//! Reading write-combining memory takes a hundred times as long as writing it. Bytes that are written twice,
//! and lines that are written in part, are slow there too. So most copies go straight to their destination.
//! Two kinds of copies cannot. If elements share bytes, `run` would change bytes in part. If padding is in
//! short runs, `run` would fill everything before it copies. The results of these copies are put together in
//! a small buffer, block by block, and each byte is written once from the buffer.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::checked;
use crate::error::{Code, Error};

use super::exec;
use super::piece::{ClippedPart, Piece, PieceCopy, Spans};
use super::plan::clip::Room;
use super::plan::cost::{MOST_CLIPPED, WRITE_BLOCK};
use super::plan::fill::{Fill, has_padding};
use super::plan::program::Program;
use super::relayout::{Relayout, require};
use super::settings::{DestinationMemory, Padding};
use strided_copy::{Destination, zeroed};

const SHARED_BYTES: &str =
    "elements share bytes with it, which would have to be read: set it, with `with_padding`, or use `run`";
const PART_WITHOUT_CONTENTS: &str = "it holds nothing yet, and it is a part of a larger buffer whose other bytes may belong to other tensors: \
     `run_write_only` writes the elements alone";

/// Fills uninitialised memory. If one loop nest certainly writes every byte, it runs. Otherwise the memory is
/// zeroed first and then written by `run`.
fn written<'a>(
    program: Option<&Program>,
    source: &[u8],
    memory: &'a mut [MaybeUninit<u8>],
    run: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<&'a mut [u8], Error> {
    let memory = match program {
        Some(program) => match exec::run_uninit(program, source, memory) {
            Ok(bytes) => return Ok(bytes),
            Err(memory) => memory,
        },
        None => memory,
    };
    let bytes = zeroed(memory);
    run(bytes)?;
    Ok(bytes)
}

impl Relayout {
    /// Whether the result depends on the old contents of the destination, apart from bytes that are left
    /// alone. This happens only if [padding is kept](Padding::Keep), and the padding shares bytes with
    /// elements or belongs to an Irreducible destination. Such a copy cannot [be written
    /// only](Self::run_write_only).
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("s4[3,3]{1,0:E(4)}".parse()?, "s4[3,3]{0,1:E(4)}".parse()?);
    /// let relayout = Relayout::new(&from, &to)?;
    /// assert!(relayout.reads_destination(), "the last byte has four bits that belong to no element");
    /// assert!(!relayout.with_padding(Padding::Zero)?.reads_destination());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn reads_destination(&self) -> bool {
        self.why_read().is_some()
    }

    /// The reason why the destination must be read, as the end of an error's sentence about padding.
    fn why_read(&self) -> Option<&'static str> {
        let shared = self.keeps_padding() && self.passes.last.has_sub_byte_boxes();
        shared.then_some(SHARED_BYTES)
    }

    /// Whether the destination has padding that keeps its contents.
    fn keeps_padding(&self) -> bool {
        self.settings.padding == Padding::Keep && has_padding(&self.destination)
    }

    /// Copies like [`run`](Self::run), into uninitialised memory. Returns the bytes of the destination.
    ///
    /// If one loop nest writes every byte, as between packed layouts, nothing is written twice. Any other
    /// destination is zeroed first, which [`run_write_only`](Self::run_write_only) avoids.
    ///
    /// # Errors
    ///
    /// `padding_kept` if the destination has padding that is kept, because the padding
    /// would stay without contents ([`with_padding`](Self::with_padding) sets it), or if the destination is a
    /// part of a larger buffer, which [`run_write_only`](Self::run_write_only) writes; and the errors of
    /// [`run`](Self::run). After an error nothing has been written.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1:T(4)}".parse()?);
    /// let relayout = Relayout::new(&from, &to)?.with_padding(Padding::Fill(b'.'.into()))?;
    /// let mut memory = Vec::with_capacity(relayout.destination_size_in_bytes() as usize);
    /// let bytes = relayout.run_uninit(b"abcdef", memory.spare_capacity_mut())?;
    /// assert_eq!(bytes, b"ad..be..cf..");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_uninit<'a>(&self, source: &[u8], destination: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], Error> {
        let own = self.to_be_set(destination, self.destination_size_in_bytes())?;
        require("source", source.len(), self.source_needs)?;
        written(self.passes.direct(), source, own, |bytes| self.run(source, bytes))
    }

    /// Copies like [`run`](Self::run), into memory that is only written, such as a mapped GPU buffer. No byte
    /// of the memory is read. Whole cache lines of the layout are written with non-temporal stores, whatever
    /// the size of the copy is, unless the settings say that the destination is
    /// [`Reused`](DestinationMemory::Reused).
    ///
    /// The memory may be a part of a larger buffer that is uninitialised (`cat`, a cache of keys and values).
    /// The bytes between the elements are left alone.
    ///
    /// # Errors
    ///
    /// `padding_kept` if the copy [reads the destination](Self::reads_destination), and
    /// the errors of [`run`](Self::run). Nothing has been written then.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?);
    /// let mut mapped = [0; 6];
    /// Relayout::new(&from, &to)?.run_write_only(b"abcdef", &mut mapped)?;
    /// assert_eq!(&mapped, b"adbecf");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_write_only<'a>(&self, source: &[u8], destination: impl Into<DestinationBytes<'a>>) -> Result<(), Error> {
        let (reused, destination) = (self.settings.memory == DestinationMemory::Reused, destination.into().0);
        self.write_all(source, if reused { destination.into_memory() } else { destination.into_destination() })
    }

    /// Copies into memory of any kind. A `&mut [u8]` is changed as by [`run`](Self::run). Other memory is
    /// only written.
    pub(super) fn run_memory(&self, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
        match destination.readable() {
            Some(bytes) => self.run(source, bytes),
            None => self.write_all(source, destination),
        }
    }

    fn write_all(&self, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
        self.check_write_only()?;
        require("source", source.len(), self.source_needs)?;
        require("destination", destination.len(), self.writes_to())?;
        self.set_tail(destination.reborrow());
        self.write(source, destination)
    }

    fn check_write_only(&self) -> Result<(), Error> {
        self.why_read().map_or(Ok(()), |reason| Err(Code::PaddingKept.because("", reason)))
    }

    /// Returns the first `size` bytes of uninitialised memory, if all of them will be written.
    fn to_be_set<'a>(&self, memory: &'a mut [MaybeUninit<u8>], size: u64) -> Result<&'a mut [MaybeUninit<u8>], Error> {
        if self.keeps_padding() {
            let own = "it holds nothing yet: set it, with `with_padding`";
            let reason = if self.destination.is_part() { PART_WITHOUT_CONTENTS } else { own };
            return Err(Code::PaddingKept.because("", reason));
        }
        require("destination", memory.len(), size)?;
        let size: usize = checked::narrow(size, checked::BYTES)?;
        Ok(memory.get_mut(..size).unwrap_or_default())
    }

    /// Copies without reading the destination. The caller has checked the lengths of both buffers.
    fn write(&self, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
        let whole: usize = checked::narrow(self.destination_size_in_bytes(), checked::BYTES)?;
        let Some(destination) = destination.part(0..whole.min(destination.len())) else { return Ok(()) };
        let elements = 0..self.destination.physical_elements();
        let from = exec::all_but_last(&self.passes, source)?;
        let last = &self.passes.last;
        self.write_part(last, (last, &self.fill), elements, &from, destination)
    }

    /// Writes a range of the elements of the destination, and the padding in that range if padding is set.
    /// `program` writes the range, and perhaps other elements.
    fn write_part(
        &self,
        program: &Program,
        (own, fill): (&Program, &Fill),
        elements: Range<u64>,
        source: &[u8],
        mut destination: Destination<'_>,
    ) -> Result<(), Error> {
        if !fill.is_first() && !own.has_sub_byte_boxes() {
            exec::run_program(own, source, destination.reborrow())?;
            exec::fill_after(fill, destination);
            return Ok(());
        }
        let blocks = destination.len().div_ceil(WRITE_BLOCK).clamp(1, MOST_CLIPPED);
        let bounds = self.bounds(elements, blocks, 1);
        if bounds.len() > 2
            && let Some(boxes) = self.spans(program)
            && self.write_in_blocks((program, &boxes), &bounds, source, destination.reborrow())?
        {
            return Ok(());
        }
        let mut buffer = vec![0; destination.len()];
        exec::run_filled(own, fill, source, &mut buffer)?;
        exec::write(own, &buffer, destination)
    }

    /// Writes the destination block by block. A block is the elements between two neighbouring bounds.
    /// Returns `false` if a block would take too many boxes.
    fn write_in_blocks(
        &self,
        (program, boxes): (&Program, &Spans<'_>),
        bounds: &[u64],
        source: &[u8],
        mut destination: Destination<'_>,
    ) -> Result<bool, Error> {
        let (mut buffer, mut at) = (Vec::new(), 0_usize);
        for (&start, &end) in bounds.iter().zip(bounds.iter().skip(1)) {
            let Some(clipped) = boxes.clipped(start..end, &mut Room::new()) else { return Ok(false) };
            let part = self.part(program, clipped, 1)?;
            let bytes = checked::bytes_for(end.saturating_sub(start), self.destination.element_bits())?;
            let bytes: usize = checked::narrow(bytes, checked::BYTES)?;
            buffer.resize(bytes, 0);
            exec::run_filled(&part.program, &part.fill, source, &mut buffer)?;
            let after = at.saturating_add(bytes);
            if let Some(block) = destination.part(at..after) {
                exec::write(program, &buffer, block)?;
            }
            at = after;
        }
        Ok(true)
    }
}

impl Piece {
    /// Whether the piece reads its destination, like [`Relayout::reads_destination`]. If padding is kept and
    /// elements share bytes, a piece may have to read the destination although the whole copy does not,
    /// because clipped boxes may not consist of whole bytes.
    #[must_use]
    pub fn reads_destination(&self) -> bool {
        self.why_read().is_some()
    }

    fn why_read(&self) -> Option<&'static str> {
        match &self.copy {
            PieceCopy::Whole(whole) => whole.why_read(),
            PieceCopy::Part(part, whole) => {
                let cut = whole.keeps_padding() && part.program.has_sub_byte_boxes();
                whole.why_read().or(cut.then_some(SHARED_BYTES))
            }
        }
    }

    /// Copies like [`run`](Self::run), into uninitialised memory. Returns the bytes of the
    /// [range](Self::destination_range). All of them have been written.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::run_uninit`].
    ///
    /// ```
    /// use tensor_layout::{relayout::{DestinationBytes, Relayout}, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?);
    /// let (mut memory, mut mapped) = (Vec::with_capacity(6), [0; 6]);
    /// for piece in Relayout::new(&from, &to)?.partition(2)? {
    ///     assert!(!piece.reads_destination());
    ///     let range = piece.destination_range();
    ///     piece.run_uninit(b"abcdef", &mut memory.spare_capacity_mut()[range.clone()])?;
    ///     piece.run_write_only(b"abcdef", DestinationBytes::from(&mut mapped[range]))?;
    /// }
    /// assert_eq!(&mapped, b"adbecf");
    /// # memory.push(0_u8);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_uninit<'a>(&self, source: &[u8], destination: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], Error> {
        let (part, whole) = match &self.copy {
            PieceCopy::Whole(whole) => return whole.run_uninit(source, destination),
            PieceCopy::Part(part, whole) => (part, whole),
        };
        let size = checked::narrow(self.destination_range().len(), checked::BYTES)?;
        let own = whole.to_be_set(destination, size)?;
        require("source", source.len(), whole.source_needs)?;
        written(Some(&part.program), source, own, |bytes| self.run(source, bytes))
    }

    /// Copies like [`run`](Self::run), into memory that is only written: see [`Relayout::run_write_only`].
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::run_write_only`].
    pub fn run_write_only<'a>(&self, source: &[u8], destination: impl Into<DestinationBytes<'a>>) -> Result<(), Error> {
        let (part, whole) = match &self.copy {
            PieceCopy::Whole(whole) => return whole.run_write_only(source, destination),
            PieceCopy::Part(part, whole) => (part, whole),
        };
        if let Some(reason) = self.why_read() {
            return Err(Code::PaddingKept.because("", reason));
        }
        require("source", source.len(), whole.source_needs)?;
        let mut destination = destination.into().0.into_destination();
        require("destination", destination.len(), self.needs)?;
        self.set_tail(destination.reborrow());
        let end = self.destination_range().len().min(destination.len());
        let Some(destination) = destination.part(0..end) else { return Ok(()) };
        part.write(whole, source, destination)
    }
}

impl ClippedPart {
    /// Writes the part without reading the destination. The caller has checked the lengths of both buffers.
    fn write(&self, whole: &Relayout, source: &[u8], destination: Destination<'_>) -> Result<(), Error> {
        // A copy of several passes is not cut.
        whole.write_part(&whole.passes.last, (&self.program, &self.fill), self.elements.clone(), source, destination)
    }
}

/// The bytes of a destination. They are a slice, initialised or not, or memory that may only be written, such
/// as a mapped GPU buffer ([`from_ptr`](Self::from_ptr)).
///
/// Functions take `impl Into<DestinationBytes>`, so a `&mut [u8]`, a `&mut Vec<u8>`, a `&mut [u8; N]` and a
/// `&mut [MaybeUninit<u8>]` can be passed directly.
///
/// ```
/// use tensor_layout::relayout::DestinationBytes;
///
/// let mut bytes = [0; 6];
/// let destination = DestinationBytes::from(&mut bytes);
/// assert!(destination.len() == 6 && !destination.is_empty());
/// ```
pub struct DestinationBytes<'a>(pub(crate) strided_copy::WriteOnly<'a>);

impl DestinationBytes<'_> {
    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> From<&'a mut [u8]> for DestinationBytes<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl<'a> From<&'a mut Vec<u8>> for DestinationBytes<'a> {
    fn from(bytes: &'a mut Vec<u8>) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for DestinationBytes<'a> {
    fn from(bytes: &'a mut [u8; N]) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for DestinationBytes<'a> {
    fn from(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        DestinationBytes(bytes.into())
    }
}

impl fmt::Debug for DestinationBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DestinationBytes").field("len", &self.len()).finish()
    }
}
