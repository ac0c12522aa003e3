//! A copy in pieces that share nothing but the source.
//!
//! Every piece writes a range of the destination that no other piece touches. So `split_at_mut`, or a mapping
//! of one part of a file, is enough to run pieces in parallel. Where possible, ranges end at multiples of a
//! large stride of the destination: between rows of tiles and not inside them. Each piece has the boxes of
//! the copy, clipped to its range.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::checked;
use crate::error::Error;
use crate::map::CopyBox;
use crate::short_sort::sort_by_key;

use super::exec;
use super::plan::clip::{self, Room, Spanned};
use super::plan::cost::{FILL_BLOCK, LINE, MOST_CLIPPED, MOST_COMPARED, PIECE_SLACK};
#[cfg(feature = "rayon")]
use super::plan::cost::{LEAST_PIECE, PARTS_PER_THREAD};
use super::plan::fill::Fill;
use super::plan::program::Program;
use super::relayout::{Relayout, require};
use strided_copy::Destination;

/// One piece of a copy. It writes one range of the destination's bytes. Pieces can run in any order, on any
/// thread or machine that has the source.
///
/// ```
/// use tensor_layout::{relayout::Relayout, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("u8[2,4]{1,0}".parse()?, "u8[2,4]{0,1}".parse()?);
/// let mut turned = [0; 8];
/// for piece in Relayout::new(&rows, &columns)?.partition(2)? {
///     piece.run(b"abcdefgh", &mut turned[piece.destination_range()])?;
/// }
/// assert_eq!(&turned, b"aebfcgdh");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Piece {
    range: Range<usize>,
    /// The range of the source's bytes that are read.
    reads: Range<usize>,
    /// The least length of the range's buffer, in bytes, for which every element is inside the buffer.
    pub(super) needs: u64,
    pub(super) copy: PieceCopy,
}

#[derive(Debug, Clone)]
pub(super) enum PieceCopy {
    /// The piece is the whole copy.
    Whole(Arc<Relayout>),
    /// The piece is the part of the copy whose elements are in the range.
    Part(Box<ClippedPart>, Arc<Relayout>),
}

/// The part of a copy whose elements are in a range of the destination.
#[derive(Debug, Clone)]
pub(super) struct ClippedPart {
    pub(super) elements: Range<u64>,
    /// The range of the source's bytes that are read.
    reads: Range<usize>,
    pub(super) program: Box<Program>,
    pub(super) fill: Fill,
}

impl Relayout {
    /// Cuts the copy into at most `pieces` pieces of about the same size. Their ranges are disjoint,
    /// ascending, and cover the whole destination. A piece treats the padding in its range as the copy does.
    ///
    /// There are fewer pieces if the destination is too short for that many, or if the layouts are so
    /// irregular that the pieces would have more than 16,384 boxes. There is one piece if `pieces` is 0, if
    /// the copy takes several passes, or if the copy has more than 4,096 boxes. There are never more than
    /// 16,384 pieces.
    ///
    /// # Errors
    ///
    /// `overflow` if the destination has more bytes than memory has addresses.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let nchw = BufferTensorDesc::nchw(DataType::U8, [4, 3, 8, 8])?;
    /// let nhwc = BufferTensorDesc::nhwc(DataType::U8, [4, 3, 8, 8])?;
    /// let (source, mut buffer) = (vec![1; 768], vec![0; 768]);
    /// // Each piece by itself, in any order, on any thread, into its own range.
    /// for piece in Relayout::new(&nchw, &nhwc)?.partition(4)? {
    ///     let range = piece.destination_range();
    ///     piece.run(&source, &mut buffer[range])?;
    /// }
    /// assert_eq!(buffer, source);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn partition(&self, pieces: usize) -> Result<Vec<Piece>, Error> {
        self.partition_aligned(pieces, 1)
    }

    /// Cuts the copy like [`partition`](Self::partition), and returns each piece with the part of
    /// `destination` that the piece writes. This is for threads that the caller starts.
    ///
    /// # Errors
    ///
    /// The errors of [`partition`](Self::partition), and `buffer_too_short` if `destination` is too
    /// short for the whole copy.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("u8[64,32]{1,0}".parse()?, "u8[64,32]{0,1}".parse()?);
    /// let (source, mut turned) = (vec![7; 2048], vec![0; 2048]);
    /// let pieces = Relayout::new(&rows, &columns)?.partition_of(4, &mut turned)?;
    /// std::thread::scope(|scope| {
    ///     for (piece, part) in pieces {
    ///         let source = &source;
    ///         scope.spawn(move || piece.run(source, part));
    ///     }
    /// });
    /// assert_eq!(turned, source);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn partition_of<'a>(
        &self,
        pieces: usize,
        destination: &'a mut [u8],
    ) -> Result<Vec<(Piece, &'a mut [u8])>, Error> {
        require("destination", destination.len(), self.writes_to())?;
        let pieces = self.partition(pieces)?;
        let (mut rest, mut parts) = (destination, Vec::with_capacity(pieces.len()));
        let last = pieces.len().saturating_sub(1);
        for (index, piece) in pieces.into_iter().enumerate() {
            // The last piece may set the tail, which is after its range. If padding is kept, the padding at
            // the end of the buffer may be missing.
            let length = if index == last { rest.len() } else { piece.destination_range().len().min(rest.len()) };
            let (own, after) = rest.split_at_mut(length);
            parts.push((piece, own));
            rest = after;
        }
        Ok(parts)
    }

    /// Cuts the copy like [`partition`](Self::partition), into ranges that begin at multiples of `alignment`
    /// bytes (0 counts as 1). This is for pieces whose bytes are then copied with an alignment, as WebGPU
    /// copies whole words of 4 bytes between buffers.
    ///
    /// # Errors
    ///
    /// The errors of [`partition`](Self::partition).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("u8[10,5]{1,0}".parse()?, "u8[10,5]{0,1}".parse()?);
    /// let pieces = Relayout::new(&rows, &columns)?.partition_aligned(3, 4)?;
    /// assert!(pieces.iter().all(|piece| piece.destination_range().start.is_multiple_of(4)));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn partition_aligned(&self, pieces: usize, alignment: usize) -> Result<Vec<Piece>, Error> {
        let alignment = u64::try_from(alignment).unwrap_or(u64::MAX).max(1);
        if let Some(program) = self.passes.direct()
            && pieces > 1
            && let Some(boxes) = self.spans(program)
        {
            let total = self.destination.physical_elements();
            // Every piece has at least a byte and a box, so `MOST_CLIPPED` bounds the number of pieces.
            let bytes = usize::try_from(self.destination_size_in_bytes()).unwrap_or(usize::MAX);
            let mut wanted = pieces.min(bytes).min(MOST_CLIPPED).min(boxes.most_pieces());
            while wanted > 1 {
                if let Some(parts) = boxes.cut(&self.bounds(0..total, wanted, alignment)) {
                    return self.pieces(program, parts);
                }
                wanted = wanted.div_euclid(2);
            }
        }
        let size: usize = checked::narrow(self.destination_size_in_bytes(), checked::BYTES)?;
        let (reads, copy) =
            (0..checked::narrow(self.source_needs, checked::BYTES)?, PieceCopy::Whole(Arc::new(self.clone())));
        Ok(vec![Piece { range: 0..size, reads, needs: self.writes_to(), copy }])
    }

    /// Runs a copy that fills its destination before it copies. The copy runs in blocks, so that the filled
    /// bytes are still in the cache when they are copied over. Returns `false`, and does nothing, if one
    /// block is enough.
    pub(super) fn run_in_blocks(&self, source: &[u8], destination: &mut [u8]) -> Result<bool, Error> {
        let Some(pieces) = self.blocks(destination.len())? else { return Ok(false) };
        for piece in &pieces {
            piece.run(source, destination.get_mut(piece.destination_range()).unwrap_or_default())?;
        }
        Ok(true)
    }

    /// The blocks in which a destination of `size` bytes is filled and then copied over. `None` if one block
    /// is enough.
    pub(super) fn blocks(&self, size: usize) -> Result<Option<Vec<Piece>>, Error> {
        let blocks = size.div_euclid(FILL_BLOCK);
        if blocks < 2 || self.passes.direct().is_none() {
            return Ok(None);
        }
        Ok(Some(self.partition(blocks)?).filter(|pieces| pieces.len() > 1))
    }

    /// The bounds of the pieces of `range`, in elements of the destination. There are at most `pieces`
    /// pieces. The bounds are multiples of `alignment` bytes.
    pub(super) fn bounds(&self, range: Range<u64>, pieces: usize, alignment: u64) -> Vec<u64> {
        let bits = u64::from(self.destination.element_bits());
        let total = range.end.saturating_sub(range.start);
        let components = self.destination.components.iter();
        let mut steps: Vec<u64> =
            components.flat_map(|component| component.chain.digits().iter().map(|digit| digit.stride)).collect();
        sort_by_key(&mut steps, |&step| Reverse(step));
        let base = self.destination.base();
        let line_bits = u64::try_from(LINE).unwrap_or(u64::MAX).saturating_mul(8);
        let pieces = u64::try_from(pieces).unwrap_or(u64::MAX);
        let slack = total.checked_div(pieces.saturating_mul(PIECE_SLACK)).unwrap_or(0);
        let align_bits = alignment.saturating_mul(8);
        let aligned = |bound: u64| bound.checked_mul(bits).is_some_and(|bit| bit.is_multiple_of(align_bits));
        let mut bounds = vec![range.start];
        for piece in 1..pieces {
            let share = checked::wide_product(total, piece).checked_div(pieces.into());
            let share = share.and_then(|share| u64::try_from(share).ok()).unwrap_or(total).saturating_add(range.start);
            // A bound is the nearest multiple of a stride. The largest stride that has a multiple near enough
            // is used.
            let near = steps.iter().find_map(|&step| {
                let half = step.div_euclid(2);
                let steps = share.saturating_sub(base).saturating_add(half).checked_div(step)?;
                let bound = base.saturating_add(steps.saturating_mul(step));
                (bound.abs_diff(share) <= slack && aligned(bound)).then_some(bound)
            });
            // Otherwise the piece ends between two cache lines, if the elements allow it.
            let line = line_bits.checked_div(bits.min(line_bits)).unwrap_or(1).next_power_of_two().max(8);
            let unit = if aligned(line) { line } else { line.saturating_mul(alignment) };
            let bound = near.unwrap_or(share.saturating_sub(share.checked_rem(unit).unwrap_or(0)));
            // Bounds ascend, because equal shares ascend and every bound is near the end of its share. A
            // bound that equals the previous bound is left out.
            if bounds.last().is_some_and(|&last| last < bound) && bound < range.end && aligned(bound) {
                bounds.push(bound);
            }
        }
        bounds.push(range.end);
        bounds
    }

    fn pieces(&self, program: &Program, parts: Vec<Clipped>) -> Result<Vec<Piece>, Error> {
        let bits = self.destination.element_bits();
        let mut pieces = Vec::with_capacity(parts.len());
        let whole = Arc::new(self.clone());
        let count = parts.len();
        for clipped in parts {
            let part = self.part(program, clipped, count)?;
            let (first, last) =
                (checked::bytes_for(part.elements.start, bits)?, checked::bytes_for(part.elements.end, bits)?);
            pieces.push(Piece {
                range: checked::narrow(first, checked::BYTES)?..checked::narrow(last, checked::BYTES)?,
                reads: part.reads.clone(),
                needs: self.writes_to().min(last).saturating_sub(first),
                copy: PieceCopy::Part(Box::new(part), Arc::clone(&whole)),
            });
        }
        Ok(pieces)
    }

    /// The boxes of a program and the boxes of the padding, to be cut into pieces. `None` if there are too
    /// many boxes.
    pub(super) fn spans(&self, program: &Program) -> Option<Spans<'_>> {
        Some(Spans { elements: program.cut_boxes()?, padding: self.fill.spanned(), fill: &self.fill })
    }

    /// Plans a clipped part. `pieces` is how many parts are kept at the same time.
    pub(super) fn part(&self, program: &Program, clipped: Clipped, pieces: usize) -> Result<ClippedPart, Error> {
        let Clipped { elements, boxes, fill } = clipped;
        let reads = source_bytes(&boxes, self.destination.element_bits())?;
        Ok(ClippedPart { elements, reads, program: program.of_boxes(boxes, pieces)?, fill })
    }
}

/// All boxes of a copy, to be cut.
pub(super) struct Spans<'a> {
    elements: Vec<Spanned>,
    padding: Vec<Spanned>,
    fill: &'a Fill,
}

/// The part of a copy whose elements are in a range of the destination. Its boxes are clipped, and not
/// planned yet.
pub(super) struct Clipped {
    elements: Range<u64>,
    boxes: Vec<CopyBox>,
    fill: Fill,
}

impl Spans<'_> {
    /// The most pieces for which every piece may be compared with every box.
    fn most_pieces(&self) -> usize {
        let boxes = self.elements.len().saturating_add(self.padding.len());
        MOST_COMPARED.checked_div(boxes).unwrap_or(MOST_COMPARED)
    }

    /// The parts between these bounds. `None` if they would have too many boxes.
    fn cut(&self, bounds: &[u64]) -> Option<Vec<Clipped>> {
        let mut room = Room::new();
        let parts = bounds.iter().zip(bounds.iter().skip(1));
        parts.map(|(&start, &end)| self.clipped(start..end, &mut room)).collect()
    }

    /// The part of the copy whose destination is in `elements`. `None` if there is no room for its boxes.
    pub(super) fn clipped(&self, elements: Range<u64>, room: &mut Room) -> Option<Clipped> {
        let boxes = clip::clipped(&self.elements, &elements, room)?;
        let fill = self.fill.clipped(&self.padding, &elements, room)?;
        Some(Clipped { elements, boxes, fill })
    }
}

impl Piece {
    /// The range of the destination's bytes that the piece writes. Padding that is kept is inside the range,
    /// but is not written.
    #[must_use]
    pub fn destination_range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The range of the source's bytes that the piece reads, from the first byte to the last. A device that
    /// runs the piece must have these bytes. (`run` still takes the whole source.) The range is empty if the
    /// piece writes no element.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let rows = BufferTensorDesc::packed(DataType::F32, &[8, 16])?;
    /// let padded = BufferTensorDesc::new(DataType::F32, &[8, 16], Some(&[20, 1]))?;
    /// let pieces = Relayout::new(&rows, &padded)?.partition(2)?;
    /// assert_eq!((pieces[1].source_range(), pieces[1].destination_range()), (256..512, 320..624));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn source_range(&self) -> Range<usize> {
        self.reads.clone()
    }

    /// Sets the tail of the whole destination to zero, if this is the last piece and padding is set. The
    /// bytes after the range in the piece's buffer are the tail.
    pub(super) fn set_tail(&self, mut destination: Destination<'_>) {
        let PieceCopy::Part(part, whole) = &self.copy else { return };
        let (range, length) = (self.range.len(), destination.len());
        if part.elements.end == whole.destination.physical_elements()
            && let Some(rest) = destination.part(range.min(length)..length)
        {
            whole.set_tail_at(0, rest);
        }
    }

    /// Copies the elements of the range. `source` is the whole source, and `destination` has the bytes of the
    /// [range](Self::destination_range). Bytes after the range are not touched, except for the tail after the
    /// last piece (see [`Relayout::with_padding`]).
    ///
    /// # Errors
    ///
    /// `buffer_too_short`, before a byte is written.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        let (part, whole) = match &self.copy {
            PieceCopy::Whole(relayout) => return relayout.run(source, destination),
            PieceCopy::Part(part, whole) => (part, whole),
        };
        require("source", source.len(), whole.source_needs)?;
        require("destination", destination.len(), self.needs)?;
        let end = self.range.len().min(destination.len());
        self.set_tail((&mut *destination).into());
        let destination = destination.get_mut(..end).unwrap_or_default();
        exec::run_filled(&part.program, &part.fill, source, destination)
    }
}

/// The range from the first to the last byte that these boxes read.
fn source_bytes(boxes: &[CopyBox], bits: u32) -> Result<Range<usize>, Error> {
    let spans = || boxes.iter().map(CopyBox::source_span).filter(|span| !span.is_empty());
    let (Some(first), Some(last)) = (spans().map(|span| span.start).min(), spans().map(|span| span.end).max()) else {
        return Ok(0..0);
    };
    let first = checked::wide_product(first, bits).div_euclid(8);
    Ok(checked::narrow(first, checked::BYTES)?..checked::narrow(checked::bytes_for(last, bits)?, checked::BYTES)?)
}

#[cfg(feature = "rayon")]
impl Relayout {
    /// Copies like [`run`](Self::run), on the threads of rayon's current pool. A small copy runs on the
    /// calling thread only.
    ///
    /// The method needs the feature `rayon`.
    ///
    /// Every call cuts the copy into pieces, which takes some microseconds. To cut a copy once and run it
    /// often, or to use threads of another kind, use [`partition`](Self::partition).
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[1024,512]{1,0}".parse()?, "f32[1024,512]{0,1}".parse()?);
    /// let source = vec![7; 1 << 21];
    /// let mut destination = vec![0; 1 << 21];
    /// Relayout::new(&rows, &columns)?.run_parallel(&source, &mut destination)?;
    /// assert!(source == destination);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_parallel(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        let worthwhile = self.destination_size_in_bytes().div_euclid(LEAST_PIECE);
        let most = rayon::current_num_threads().saturating_mul(PARTS_PER_THREAD);
        let pieces = usize::try_from(worthwhile).unwrap_or(most).min(most);
        if pieces < 2 || rayon::current_num_threads() < 2 {
            return self.run(source, destination);
        }
        self.run_in_pieces(pieces, source, destination)
    }

    /// Runs the copy in the pieces that [`partition`](Self::partition) makes of `pieces`.
    fn run_in_pieces(&self, pieces: usize, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        // The source is checked here for all pieces, so that either all pieces run or none.
        require("source", source.len(), self.source_needs)?;
        let work = self.partition_of(pieces, destination)?;
        work.into_par_iter().try_for_each(|(piece, own)| piece.run(source, own))
    }
}
