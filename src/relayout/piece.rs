//! A copy in pieces that share nothing but the source.
//!
//! Every piece writes its own range of the destination, which no other piece touches. So
//! [`Destination::split_at`], or a mapping of one part of a file, is enough to run pieces in parallel. The
//! ranges together are all bytes that the whole copy may write. Where possible, ranges end at multiples of a
//! large stride of the destination: between rows of tiles and not inside a row. Each piece has the boxes of
//! the copy, clipped to its range, and kernels that are chosen for the clipped boxes.
//!
//! The range of a piece is contiguous on the destination, but several pieces may read the same cache lines of
//! the source: pieces of the planes of an image all read the whole image. [`lines_read`] counts these lines,
//! so that pieces run on several threads only where that takes less time than one thread.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::checked;
use crate::error::{Code, Error};
use crate::map::{CopyBox, Swizzle};
#[cfg(feature = "rayon")]
use crate::map::{Loop, Stride};
use crate::short_sort::sort_by_key;

use super::Destination;
use super::exec;
use super::plan::clip::{self, Room, Spanned};
#[cfg(feature = "rayon")]
use super::plan::cost::PARTS_PER_THREAD;
use super::plan::cost::{FILL_BLOCK, LEAST_PIECE, MOST_CLIPPED, MOST_COMPARED, PAGE, PIECE_SLACK};
use super::plan::fill::Fill;
use super::plan::program::Program;
use super::relayout::{Relayout, require, without_tail};

/// One piece of a copy. It writes one range of the destination's bytes. Pieces can run in any order, on any
/// thread or machine that has the source.
///
/// ```
/// use tensor_layout::{relayout::Relayout, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("u8[2,4]{1,0}".parse()?, "u8[2,4]{0,1}".parse()?);
/// let mut turned = [0; 8];
/// for piece in Relayout::new(&rows, &columns)?.partition(2, 1)? {
///     piece.run(b"abcdefgh", &mut turned[piece.destination_range()])?;
/// }
/// assert_eq!(&turned, b"aebfcgdh");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Piece {
    range: Range<usize>,
    /// The range of the source that the piece reads, in bytes.
    reads: Range<usize>,
    /// How many bytes of the range a buffer must have at least, so that it holds all elements of the piece.
    needs: u64,
    copy: PieceCopy,
}

/// A cache line of 64 bytes, in bits.
const LINE_BITS: u64 = 512;

#[derive(Debug, Clone)]
enum PieceCopy {
    /// The piece is the whole copy.
    Whole(Arc<Relayout>),
    /// The piece is a part of the copy: the elements whose place on the destination is in the range.
    Part(Box<Part>),
}

#[derive(Debug, Clone)]
struct Part {
    /// How many bytes of the range belong to elements and their padding. The range of the last piece may have
    /// more bytes, because the size of a descriptor is rounded up. The copy sets those bytes to zero.
    bytes: usize,
    /// The least length of the whole source, in bytes.
    source_needs: u64,
    program: Box<Program>,
    fill: Fill,
}

impl Relayout {
    /// Cuts the copy into at most `pieces` pieces of about the same size. Their ranges are disjoint and
    /// ascending, and cover all bytes that a whole run writes. Each begins at a multiple of `alignment` bytes
    /// (0 counts as 1), for callers that copy the written bytes with an alignment: WebGPU copies whole words
    /// of 4 bytes. A piece treats the padding in its range as the copy does.
    ///
    /// There are fewer pieces if they would be shorter than [`least_piece`](super::Settings::least_piece),
    /// because shorter pieces are not worth a thread. There are also fewer pieces if the layouts are so
    /// irregular that the pieces would have more than 8,192 boxes. There is one piece if `pieces` is 0, if
    /// the copy takes several passes, or if the copy has more than 4,096 boxes. There are never more than
    /// 8,192 pieces.
    ///
    /// **Post-condition** (`pieces_together_are_the_whole_copy`): in any order, the pieces write the bytes
    /// that the whole copy writes, each byte once.
    ///
    /// # Errors
    ///
    /// `overflow` if the destination has more bytes than memory has addresses.
    ///
    /// ```
    /// use tensor_layout::relayout::{Destination, Relayout};
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let nchw = BufferTensorDesc::nchw(DataType::U8, [4, 3, 512, 512])?;
    /// let nhwc = BufferTensorDesc::nhwc(DataType::U8, [4, 3, 512, 512])?;
    /// let (source, mut buffer) = (vec![1; 3 << 20], vec![0; 3 << 20]);
    /// let pieces = Relayout::new(&nchw, &nhwc)?.partition(4, 1)?;
    /// // Each piece by itself, in any order, on any thread, into its own range.
    /// std::thread::scope(|scope| {
    ///     let mut rest = Destination::from(&mut buffer);
    ///     for piece in &pieces {
    ///         let (own, after) = rest.split_at(piece.destination_range().len());
    ///         rest = after;
    ///         let source = &source;
    ///         scope.spawn(move || piece.run(source, own));
    ///     }
    /// });
    /// assert_eq!((pieces.len(), buffer), (4, source));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn partition(&self, pieces: usize, alignment: usize) -> Result<Vec<Piece>, Error> {
        if let Some(pieces) = self.cut(pieces, alignment)? {
            return Ok(pieces);
        }
        let size: usize = checked::narrow(self.written_size(), checked::BYTES)?;
        let reads = 0..checked::narrow(self.source_needs, checked::BYTES)?;
        let copy = PieceCopy::Whole(Arc::new(self.clone()));
        Ok(vec![Piece { range: 0..size, reads, needs: self.destination_needs, copy }])
    }

    /// Returns the pieces of [`partition`](Self::partition), each with its own range of the destination, for
    /// threads without rayon.
    ///
    /// # Errors
    ///
    /// `buffer_too_short` for a destination that is too short, and the errors of
    /// [`partition`](Self::partition).
    ///
    /// ```
    /// use tensor_layout::relayout::Relayout;
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let nchw = BufferTensorDesc::nchw(DataType::U8, [4, 3, 512, 512])?;
    /// let plan = Relayout::new(&nchw, &BufferTensorDesc::nhwc(DataType::U8, [4, 3, 512, 512])?)?;
    /// let (source, mut buffer) = (vec![1; 3 << 20], vec![0; 3 << 20]);
    /// std::thread::scope(|scope| {
    ///     for (piece, own) in plan.pieces_of(4, &mut buffer)? {
    ///         let source = &source;
    ///         scope.spawn(move || piece.run(source, own));
    ///     }
    ///     Ok::<(), tensor_layout::Error>(())
    /// })?;
    /// assert_eq!(buffer, source);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn pieces_of<'a>(
        &self,
        pieces: usize,
        destination: impl Into<Destination<'a>>,
    ) -> Result<Vec<(Piece, Destination<'a>)>, Error> {
        let destination = destination.into();
        require("destination", destination.len(), self.destination_needs)?;
        Ok(with_ranges(self.partition(pieces, 1)?, destination))
    }

    /// Cuts the copy into at most `pieces` pieces. `None` if the copy is not cut.
    fn cut(&self, pieces: usize, alignment: usize) -> Result<Option<Vec<Piece>>, Error> {
        let least = self.settings.least_piece.unwrap_or(LEAST_PIECE).max(1);
        let worthwhile = self.written_size().checked_div(least).unwrap_or(0);
        let pieces = usize::try_from(worthwhile).unwrap_or(pieces).min(pieces);
        let alignment = u64::try_from(alignment).unwrap_or(u64::MAX).max(1);
        if let Some(program) = self.passes.direct()
            && pieces > 1
            && let Some(boxes) = self.spans(program)
        {
            let total = self.destination.physical_elements();
            // Every piece has at least a byte and a box, so there are at most `MOST_CLIPPED` pieces.
            let mut wanted = pieces.min(MOST_CLIPPED).min(boxes.most_pieces());
            while wanted > 1 {
                if let Some(parts) = boxes.cut(&self.bounds(0..total, wanted, alignment)) {
                    return self.pieces(program, parts).map(Some);
                }
                wanted = wanted.div_euclid(2);
            }
        }
        Ok(None)
    }

    /// The number of bytes from the start of the destination to the last byte that a run may write.
    fn written_size(&self) -> u64 {
        self.destination.physical_size_in_bytes().max(self.destination_needs)
    }

    /// Runs, piece by piece, a copy that fills its destination before it copies the elements. The filled
    /// bytes are then still in the cache when they are copied over. Returns `false`, and does nothing, if the
    /// copy is one piece.
    pub(super) fn run_in_blocks(&self, source: &[u8], mut destination: Destination<'_>) -> Result<bool, Error> {
        let Some(pieces) = self.blocks(destination.len())? else { return Ok(false) };
        for piece in &pieces {
            let end = piece.range.end.min(destination.len());
            if let Some(own) = destination.part(piece.range.start.min(end)..end) {
                piece.run(source, own)?;
            }
        }
        Ok(true)
    }

    /// The pieces in which a destination of `size` bytes is filled and then copied over. `None` if that is
    /// one piece.
    pub(super) fn blocks(&self, size: usize) -> Result<Option<Vec<Piece>>, Error> {
        let blocks = size.div_euclid(FILL_BLOCK);
        if blocks < 2 || self.passes.direct().is_none() {
            return Ok(None);
        }
        Ok(self.cut(blocks, 1)?.filter(|pieces| pieces.len() > 1))
    }

    /// Where to cut `range` into at most `pieces` pieces: all bounds, in elements of the destination. The
    /// bounds are multiples of `alignment` bytes.
    fn bounds(&self, range: Range<u64>, pieces: usize, alignment: u64) -> Vec<u64> {
        let bits = u64::from(self.destination.element_bits());
        let total = range.end.saturating_sub(range.start);
        let components = self.destination.components.iter();
        let mut steps: Vec<u64> =
            components.flat_map(|component| component.chain.digits().iter().map(|digit| digit.stride)).collect();
        // A swizzle moves elements within its span, so pieces should end at multiples of the span.
        steps.extend(self.destination.swizzle().map(Swizzle::span));
        sort_by_key(&mut steps, |&step| Reverse(step));
        let base = self.destination.base();
        let page_bits = u64::try_from(PAGE).unwrap_or(u64::MAX).saturating_mul(8);
        let pieces = u64::try_from(pieces).unwrap_or(u64::MAX);
        // Long pieces end between two pages, so that no page is written by two threads. Short pieces end
        // between two cache lines.
        let long = checked::wide_product(total, bits) >= checked::wide_product(page_bits, pieces.saturating_mul(16));
        let line_bits = if long { page_bits } else { LINE_BITS };
        let slack = total.checked_div(pieces.saturating_mul(PIECE_SLACK)).unwrap_or(0);
        let align_bits = alignment.saturating_mul(8);
        let aligned = |bound: u64| bound.checked_mul(bits).is_some_and(|bit| bit.is_multiple_of(align_bits));
        let mut bounds = vec![range.start];
        for piece in 1..pieces {
            let share = checked::wide_product(total, piece).checked_div(pieces.into());
            let share = share.and_then(|share| u64::try_from(share).ok()).unwrap_or(total).saturating_add(range.start);
            // A bound is the nearest multiple of a stride: of the largest stride of which a multiple is near
            // enough.
            let near = steps.iter().find_map(|&step| {
                let half = step.div_euclid(2);
                let steps = share.saturating_sub(base).saturating_add(half).checked_div(step)?;
                let bound = base.saturating_add(steps.saturating_mul(step));
                (bound.abs_diff(share) <= slack && aligned(bound)).then_some(bound)
            });
            // If no stride has a multiple near enough, the piece ends between two pages or lines, where an
            // element begins.
            let line = line_bits.checked_div(bits.min(line_bits)).unwrap_or(1).next_power_of_two().max(8);
            let unit = if aligned(line) { line } else { line.saturating_mul(alignment) };
            let bound = near.unwrap_or(share.saturating_sub(share.checked_rem(unit).unwrap_or(0)));
            // Bounds ascend, because each is near the end of one of the equal shares. A bound that equals the
            // previous one is left out.
            if bounds.last().is_some_and(|&last| last < bound) && bound < range.end && aligned(bound) {
                bounds.push(bound);
            }
        }
        bounds.push(range.end);
        bounds
    }

    fn pieces(&self, program: &Program, parts: Vec<Clipped>) -> Result<Vec<Piece>, Error> {
        let bits = self.destination.element_bits();
        let narrow = |bytes: u64| checked::narrow(bytes, checked::BYTES);
        let count = parts.len();
        let piece = |Clipped { elements, boxes, fill }: Clipped| -> Result<Piece, Error> {
            let (first, last) = (checked::bytes_for(elements.start, bits)?, checked::bytes_for(elements.end, bits)?);
            let is_last = elements.end == self.destination.physical_elements();
            let end = if is_last { self.written_size() } else { last };
            let reads = source_bytes(&boxes, bits)?;
            let needs = self.destination_needs.min(end).saturating_sub(first);
            let (bytes, program) = (narrow(last.saturating_sub(first))?, program.of_boxes(boxes, count)?);
            let part = Part { bytes, source_needs: self.source_needs, program, fill };
            Ok(Piece { range: narrow(first)?..narrow(end)?, reads, needs, copy: PieceCopy::Part(Box::new(part)) })
        };
        let mut pieces = Vec::with_capacity(count);
        for part in parts {
            pieces.push(piece(part)?);
        }
        Ok(pieces)
    }

    /// The boxes of a program and the boxes of the padding, to be cut into pieces. `None` if there are too
    /// many boxes.
    fn spans(&self, program: &Program) -> Option<Spans<'_>> {
        Some(Spans { elements: program.cut_boxes()?, padding: self.fill.spanned(), fill: &self.fill })
    }
}

struct Spans<'a> {
    elements: Vec<Spanned>,
    padding: Vec<Spanned>,
    fill: &'a Fill,
}

/// The part of a copy whose elements are in a range of the destination. Its boxes are clipped to the range,
/// and not planned yet.
struct Clipped {
    elements: Range<u64>,
    boxes: Vec<CopyBox>,
    fill: Fill,
}

impl Spans<'_> {
    /// The most pieces into which the copy is cut, to limit the time of comparing each piece with each box.
    fn most_pieces(&self) -> usize {
        let boxes = self.elements.len().saturating_add(self.padding.len());
        MOST_COMPARED.checked_div(boxes).unwrap_or(MOST_COMPARED)
    }

    /// Cuts the copy at the bounds. `None` if the clipped boxes would be too many.
    fn cut(&self, bounds: &[u64]) -> Option<Vec<Clipped>> {
        let mut room = Room::new();
        let mut parts = Vec::with_capacity(bounds.len());
        for (&start, &end) in bounds.iter().zip(bounds.iter().skip(1)) {
            parts.push(self.clipped(start..end, &mut room)?);
        }
        Some(parts)
    }

    /// The part of the copy whose destination is in `elements`. `None` if `room` allows fewer boxes.
    fn clipped(&self, elements: Range<u64>, room: &mut Room) -> Option<Clipped> {
        let boxes = clip::clipped(&self.elements, &elements, room)?;
        let fill = self.fill.clipped(&self.padding, &elements, room)?;
        Some(Clipped { elements, boxes, fill })
    }
}

impl Piece {
    /// The range of the destination's bytes that the piece writes. Padding in this range that is kept is not
    /// written.
    #[must_use]
    pub fn destination_range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The range of the source's bytes that the piece reads, from the first byte to the last. A device that
    /// runs the piece must have these bytes. (`run` still takes the whole source.) If the piece writes no
    /// element, the range is empty.
    #[must_use]
    pub fn source_range(&self) -> Range<usize> {
        self.reads.clone()
    }

    /// Copies the elements of the range. `source` is the whole source, and `destination` has the bytes of the
    /// [range](Self::destination_range). If `destination` has more bytes, they are not touched.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::run`]. If padding is kept and elements share bytes, a piece may have to read
    /// the destination although the whole copy does not, because clipped boxes may not consist of whole
    /// bytes.
    pub fn run<'a>(&self, source: &[u8], destination: impl Into<Destination<'a>>) -> Result<(), Error> {
        self.run_into(source, destination.into())
    }

    fn reads_destination(&self) -> bool {
        match &self.copy {
            PieceCopy::Whole(whole) => exec::reads(&whole.passes.last, &whole.fill),
            PieceCopy::Part(part) => exec::reads(&part.program, &part.fill),
        }
    }

    fn run_into(&self, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
        let part = match &self.copy {
            PieceCopy::Whole(relayout) => return relayout.run(source, destination),
            PieceCopy::Part(part) => part,
        };
        require("source", source.len(), part.source_needs)?;
        require("destination", destination.len(), self.needs)?;
        if !destination.is_readable() && self.reads_destination() {
            return Err(Code::DestinationRead.for_value(0, 0));
        }
        // Only the last piece has bytes after its elements. They are set to zero, like all padding of the
        // copy.
        let destination = without_tail(&mut destination, part.bytes, self.range.len());
        exec::run_filled(&part.program, &part.fill, source, destination)
    }
}

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
    /// Copies like [`run`](Self::run), on the threads of rayon's current pool. A copy of less than two
    /// [pieces](super::Settings::least_piece) runs on the calling thread only. So does a copy whose pieces
    /// would read the same cache lines so often that several threads would be slower than one: pixels of
    /// three bytes, for example, that two threads split into planes.
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
    pub fn run_parallel<'a>(&self, source: &[u8], destination: impl Into<Destination<'a>>) -> Result<(), Error> {
        let rest = destination.into();
        let threads = rayon::current_num_threads();
        // The lengths of the buffers are checked here for all pieces, so that all pieces run, or none.
        require("source", source.len(), self.source_needs)?;
        require("destination", rest.len(), self.destination_needs)?;
        let pieces =
            if threads < 2 { Vec::new() } else { self.partition(threads.saturating_mul(PARTS_PER_THREAD), 1)? };
        if pieces.len() < 2
            || self.reads_lines_again(&pieces, threads)
            || !rest.is_readable() && pieces.iter().any(Piece::reads_destination)
        {
            return self.run(source, rest);
        }
        let work = with_ranges(pieces, rest);
        // Every piece is a task of its own, so that no thread has several pieces left while others have none.
        work.into_par_iter().with_max_len(1).try_for_each(|(piece, own)| piece.run(source, own))
    }

    /// Whether the pieces read lines of the source so often that `threads` threads are slower than one.
    fn reads_lines_again(&self, pieces: &[Piece], threads: usize) -> bool {
        let parts = pieces.iter().map(|piece| match &piece.copy {
            PieceCopy::Whole(whole) => lines_read(&whole.passes.last),
            PieceCopy::Part(part) => lines_read(&part.program),
        });
        let together = parts.fold(0, u64::saturating_add);
        let most = lines_read(&self.passes.last).saturating_mul(u64::try_from(threads).unwrap_or(u64::MAX));
        together >= most.div_euclid(2).max(lines_read(&self.passes.last).saturating_mul(3).div_euclid(2))
    }
}

/// Gives each piece its own range of the destination.
fn with_ranges(pieces: Vec<Piece>, mut rest: Destination<'_>) -> Vec<(Piece, Destination<'_>)> {
    let mut work = Vec::with_capacity(pieces.len());
    for piece in pieces {
        // If padding is kept, a destination may end before its last padding.
        let length = piece.range.len().min(rest.len());
        let (own, after) = rest.split_at(length);
        work.push((piece, own));
        rest = after;
    }
    work
}

/// How many cache lines of the source the boxes of a program read. A line that several boxes read counts for
/// each.
#[cfg(feature = "rayon")]
fn lines_read(program: &Program) -> u64 {
    let bits = u64::from(program.widths.source);
    let lines = |copy: &CopyBox| {
        let tables = copy.loops().iter().filter(|step| step.stride().is_none());
        let mut runs = tables.map(Loop::extent).fold(1, u64::saturating_mul);
        let mut loops: Vec<Stride> = copy.loops().iter().filter_map(Loop::stride).collect();
        loops.retain(|stride| stride.source != 0);
        loops.sort_unstable_by_key(|stride| stride.source.unsigned_abs());
        let mut run = bits;
        for Stride { extent, source, .. } in loops {
            let stride = source.unsigned_abs().saturating_mul(bits);
            // The bytes of a gap of less than a line are read, too, because the lines around it are.
            if stride < run.saturating_add(LINE_BITS) {
                run = run.saturating_add(stride.saturating_mul(extent.saturating_sub(1)));
            } else {
                runs = runs.saturating_mul(extent);
            }
        }
        run.div_ceil(LINE_BITS).saturating_mul(runs)
    };
    program.boxes.iter().map(|copy| lines(&copy)).fold(0, u64::saturating_add)
}
