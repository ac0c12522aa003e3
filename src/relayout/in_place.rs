//! A copy inside one buffer.
//!
//! If exchanging the two layouts of a copy gives the same copy, elements change places in pairs: the element
//! at p goes to q, and the element at q goes to p. Square transposes are of this kind, and so are exchanges
//! of two axes of one size, in strides or in tiles. Such a copy needs no second buffer. A copy that keeps the
//! order of the elements (`in_order.rs`) needs no second buffer either. Other permutations have longer
//! cycles, which would have to be followed element by element, with a mark for each element. They are
//! refused.

use smallvec::SmallVec;

use crate::checked;
use crate::error::{Code, Error};
use crate::map::{CopyBox, Loop, Loops, each_element};

use super::exec;
use super::in_order::Moves;
use super::plan::cost::{EXCHANGE_BLOCK, LARGE_ELEMENT, MOST_EXCHANGED_BOXES};
use super::plan::program::Program;
use super::relayout::{Relayout, require};

impl Relayout {
    /// Moves the elements inside one buffer. The buffer holds the source before the call and the destination
    /// after the call.
    ///
    /// Two kinds of copies can do without a second buffer. In the first kind, elements change places in
    /// pairs: transposes of square planes, and exchanges of axes of equal size. In the second kind, elements
    /// keep their order: a slice that is moved along one of its axes, or rows that are moved apart or
    /// together. Bytes of the source that no element is written to keep their values.
    ///
    /// # Errors
    ///
    /// `not_in_place` for all other copies; `buffer_too_short`.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("u8[3,3]{1,0}".parse()?, "u8[3,3]{0,1}".parse()?);
    /// let mut plane = *b"abcdefghi";
    /// Relayout::new(&rows, &columns)?.run_in_place(&mut plane)?;
    /// assert_eq!(&plane, b"adgbehcfi");
    ///
    /// // The last three of four tokens become the first three.
    /// let cache = tensor_layout::BufferTensorDesc::packed(tensor_layout::DataType::U8, &[2, 4])?;
    /// let (old, new) = (cache.slice_axis(1, 1..4)?, cache.slice_axis(1, 0..3)?);
    /// let mut tokens = *b"abcdefgh";
    /// Relayout::new(&old, &new)?.run_in_place(&mut tokens)?;
    /// assert_eq!(&tokens, b"bcddfghh");
    ///
    /// let wide: (ArrayShape, ArrayShape) = ("u8[2,4]{1,0}".parse()?, "u8[2,4]{0,1}".parse()?);
    /// assert_eq!(Relayout::new(&wide.0, &wide.1)?.run_in_place(&mut plane).unwrap_err().code(), "not_in_place");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_in_place(&self, buffer: &mut [u8]) -> Result<(), Error> {
        let (boxes, moves) = self.exchanges()?;
        require("buffer", buffer.len(), self.source_needs.max(self.writes_to()))?;
        let bits = self.destination.element_bits();
        let bytes: usize = checked::narrow(bits.div_euclid(8), checked::BYTES)?;
        if let Some(moves) = moves {
            moves.run(buffer, bytes)?;
            exec::fill_after(&self.fill, buffer.into());
            return Ok(());
        }
        let scratch = [Vec::new(), Vec::new()];
        let mut blocks = SquareBlocks { relayout: self, bits, scratch, sizes: Vec::new() };
        for copy in &boxes {
            let (copy, width) = absorbed(copy, bytes);
            match swapped_pair(&copy).filter(|_| width == bytes && bytes < LARGE_ELEMENT) {
                Some((index, size)) => blocks.exchange(buffer, copy, index, size)?,
                None => each_element(&copy.loops, copy.source, copy.destination, &mut |from, to| {
                    // Each pair is visited twice, once from either end.
                    if from < to {
                        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(bytes);
                        swap(buffer, at(from), at(to), width);
                    }
                }),
            }
        }
        exec::fill_after(&self.fill, buffer.into());
        Ok(())
    }

    /// The boxes of a copy that exchanges elements in pairs or keeps their order. For a copy that keeps their
    /// order, the second result has the moves.
    fn exchanges(&self) -> Result<(Vec<CopyBox>, Option<Moves>), Error> {
        let refused = |reason| Err(Code::NotInPlace.because("", reason));
        if self.changes_width() {
            return refused("its elements change their storage width");
        }
        if !self.destination.element_bits().is_multiple_of(8) {
            return refused("its elements share bytes with their neighbours");
        }
        if !self.reversed.is_empty() {
            return refused("it walks an axis backwards");
        }
        let Some(program) = self.passes.direct() else {
            return refused("it takes several passes");
        };
        if program.boxes.count() > MOST_EXCHANGED_BOXES {
            return refused("it falls into too many boxes");
        }
        if self.fill.is_first() {
            return refused("its padding is in short runs or in too many boxes");
        }
        if self.source.check_injective().is_err() {
            return refused("elements of the source share a place");
        }
        let boxes: Vec<CopyBox> = program.boxes.iter().collect();
        let mut there: Vec<Canonical> = boxes.iter().map(|copy| canonical(copy, false)).collect();
        let mut back: Vec<Canonical> = boxes.iter().map(|copy| canonical(copy, true)).collect();
        there.sort_unstable();
        back.sort_unstable();
        if there == back {
            return Ok((boxes, None));
        }
        match Moves::new(&boxes) {
            Some(moves) => Ok((boxes, Some(moves))),
            None => refused("its elements neither change places in pairs nor keep their order"),
        }
    }
}

/// A canonical form of a box, which does not depend on the order of its loops. It has the two bases, and for
/// each loop the pairs of offsets, or the extent and the strides.
type Canonical = (u64, u64, Vec<Vec<(u64, u64)>>);

fn canonical(copy: &CopyBox, exchanged: bool) -> Canonical {
    let sides = |(a, b): (u64, u64)| if exchanged { (b, a) } else { (a, b) };
    let mut loops: Vec<Vec<(u64, u64)>> = copy
        .loops
        .iter()
        .map(|step| match step {
            Loop::Strided { extent, source, destination } | Loop::Reversed { extent, source, destination } => {
                vec![(*extent, *extent), sides((*source, *destination))]
            }
            Loop::Table(entries) => {
                let mut entries: Vec<_> = entries.iter().map(|&entry| sides(entry)).collect();
                entries.sort_unstable();
                entries
            }
        })
        .collect();
    loops.sort_unstable();
    let (source, destination) = sides((copy.source, copy.destination));
    (source, destination, loops)
}

/// Removes the loop that is packed on both sides. Returns the box and the number of bytes that move together
/// then.
fn absorbed(copy: &CopyBox, bytes: usize) -> (CopyBox, usize) {
    let mut copy = copy.clone();
    if let Some(index) = copy.loops.iter().position(Loop::is_packed) {
        // The length of a part of the buffer cannot saturate.
        let width = usize::try_from(copy.loops.remove(index).extent()).unwrap_or(usize::MAX).saturating_mul(bytes);
        return (copy, width);
    }
    (copy, bytes)
}

/// The indices and the extent of two loops that exchange their strides. All other loops must have equal
/// strides on both sides.
fn swapped_pair(copy: &CopyBox) -> Option<([usize; 2], u64)> {
    let mut moved: SmallVec<[(usize, u64, u64, u64); 2]> = SmallVec::new();
    for (index, step) in copy.loops.iter().enumerate() {
        match step {
            Loop::Strided { source, destination, .. } if source == destination => {}
            Loop::Strided { extent, source, destination } => moved.push((index, *extent, *source, *destination)),
            Loop::Reversed { .. } | Loop::Table(_) => return None,
        }
    }
    match moved.as_slice() {
        [first, second]
            if copy.source == copy.destination && first.1 == second.1 && first.2 == second.3 && first.3 == second.2 =>
        {
            Some(([first.0, second.0], first.1))
        }
        _ => None,
    }
}

/// Exchanges two disjoint ranges of `width` bytes. The range at `first` is in front of the range at `second`.
fn swap(buffer: &mut [u8], first: usize, second: usize, width: usize) {
    let Some((front, back)) = buffer.split_at_mut_checked(second) else { return };
    let first = front.get_mut(first..first.saturating_add(width));
    if let (Some(first), Some(second)) = (first, back.get_mut(..width)) {
        first.swap_with_slice(second);
    }
}

/// Transposes square planes, block by block. A block and its mirror image are both transposed into buffers,
/// and each buffer is then written over the other block.
///
/// ```text
///     | A |          gather A, transposed, into one buffer
///  ---+---           gather B, transposed, into another
///   B |              scatter the first to the place of B, the second to the place of A
/// ```
struct SquareBlocks<'a> {
    relayout: &'a Relayout,
    bits: u32,
    scratch: [Vec<u8>; 2],
    /// The copies for each size of a block. There are whole blocks, and smaller blocks at the edges.
    sizes: Vec<([u64; 2], Box<Program>, Box<Program>)>,
}

impl SquareBlocks<'_> {
    fn exchange(
        &mut self,
        buffer: &mut [u8],
        mut copy: CopyBox,
        [first, second]: [usize; 2],
        size: u64,
    ) -> Result<(), Error> {
        let stride = |index: usize| match copy.loops.get(index) {
            Some(Loop::Strided { source, destination, .. }) => (*source, *destination),
            _ => (0, 0),
        };
        // The rows of the plane on the source are `pitch` elements apart, and the elements of a row are
        // `step` elements apart.
        let (one, other) = stride(first);
        let (pitch, step) = (one.max(other), one.min(other));
        copy.loops.remove(first.max(second));
        copy.loops.remove(first.min(second));
        self.sizes.clear();
        let mut failed = None;
        each_element(&copy.loops, copy.source, copy.destination, &mut |plane, _| {
            // Nothing here saturates, because these are offsets of elements.
            let at = |row: u64, column: u64| {
                plane.saturating_add(row.saturating_mul(pitch)).saturating_add(column.saturating_mul(step))
            };
            let starts = || (0..size.div_ceil(EXCHANGE_BLOCK)).map(|block| block.saturating_mul(EXCHANGE_BLOCK));
            for row in starts() {
                for column in starts().take_while(|&column| column <= row) {
                    let (rows, columns) =
                        (EXCHANGE_BLOCK.min(size.saturating_sub(row)), EXCHANGE_BLOCK.min(size.saturating_sub(column)));
                    let (below, above) = (at(row, column), at(column, row));
                    let result = self.pair(buffer, [below, above], [rows, columns], [pitch, step]);
                    failed = failed.take().or(result.err());
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }

    /// Exchanges the block of `rows` by `columns` below the diagonal with its mirror image above the
    /// diagonal.
    fn pair(
        &mut self,
        buffer: &mut [u8],
        [below, above]: [u64; 2],
        [rows, columns]: [u64; 2],
        [pitch, step]: [u64; 2],
    ) -> Result<(), Error> {
        // Each block is gathered in the order in which it is written later.
        let (lower_size, upper_size) =
            (self.size([columns, rows], pitch, step)?, self.size([rows, columns], pitch, step)?);
        let bytes: usize =
            checked::narrow(checked::bytes_for(rows.saturating_mul(columns), self.bits)?, checked::BYTES)?;
        let start = |element: u64| -> Result<usize, Error> {
            checked::narrow(checked::bytes_for(element, self.bits)?, checked::BYTES)
        };
        let (below, above) = (start(below)?, start(above)?);
        let [first, second] = &mut self.scratch;
        let program = |index: usize| -> Option<&([u64; 2], Box<Program>, Box<Program>)> { self.sizes.get(index) };
        let (Some((_, gather_below, scatter_below)), Some((_, gather_above, scatter_above))) =
            (program(lower_size), program(upper_size))
        else {
            return Ok(());
        };
        let run = |program: &Program, from: &[u8], to: &mut [u8]| exec::run_program(program, from, to.into());
        for (scratch, gather, at) in [(&mut *first, gather_below, below), (&mut *second, gather_above, above)] {
            scratch.resize(bytes, 0);
            run(gather, buffer.get(at..).unwrap_or_default(), scratch)?;
        }
        run(scatter_below, first, buffer.get_mut(above..).unwrap_or_default())?;
        if below != above {
            run(scatter_above, second, buffer.get_mut(below..).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Finds or plans two copies for blocks of this many columns and rows: gathering a block, and scattering
    /// a block to its mirror image. Returns their index.
    fn size(&mut self, [columns, rows]: [u64; 2], pitch: u64, step: u64) -> Result<usize, Error> {
        if let Some(index) = self.sizes.iter().position(|(size, ..)| *size == [columns, rows]) {
            return Ok(index);
        }
        let gather = block([(columns, step, rows), (rows, pitch, 1)]);
        let scatter = block([(columns, rows, pitch), (rows, 1, step)]);
        let planned = |copy: CopyBox| self.relayout.passes.last.through_the_cache(copy);
        let sizes = ([columns, rows], planned(gather)?, planned(scatter)?);
        self.sizes.push(sizes);
        Ok(self.sizes.len().saturating_sub(1))
    }
}

/// A box of two loops. Each loop is an extent, a source stride and a destination stride.
fn block(loops: [(u64, u64, u64); 2]) -> CopyBox {
    let longer = loops.into_iter().filter(|&(extent, ..)| extent > 1);
    let loops: Loops =
        longer.map(|(extent, source, destination)| Loop::Strided { extent, source, destination }).collect();
    CopyBox { source: 0, destination: 0, loops }
}
