//! Copies that run once: by plain loops, by a kernel that is not kept, or by a plan.
//!
//! 1. If both sides are strided, and elements are whole bytes, the copy is a loop nest. Its loops are in the
//!    order of the destination, and loops that continue each other are merged. If runs are few, plain loops
//!    copy them faster than a kernel is chosen.
//! 2. For more runs, the kernel runs that a plan would choose. Nothing is allocated or kept.
//! 3. All other copies are planned: tiles, elements that share bytes, more than 8 loops, and copies that are
//!    an error, which the plan reports.

use strided_copy::kernel::{Loop, Stride};
use strided_copy::{MOST_PLAIN_LOOPS, PlainNest};

use crate::checked;
use crate::checked::is_same;
use crate::element::DataType;
use crate::error::Error;
use crate::map::ToIndexMap;
use crate::strided::{BufferTensorDesc, SignedDesc};

use super::Destination;
use super::plan::machine::{Knobs, Site};
use super::plan::nest::NestLoops;
use super::plan::planned::{MOST_PLAIN_RUNS, is_plain};
use super::plan::program::Traffic;
use super::plan::select;
use super::relayout::Relayout;
use super::settings::Settings;

/// The source or the destination of [`copy_strided`]: the stride of each axis, and the offset of index 0.
///
/// ```
/// use tensor_layout::{DataType, relayout::{Strided, copy_strided}};
///
/// // The columns of a row-major matrix of 2 x 3, the last one first, become the rows of another matrix.
/// let (columns, rows) = (Strided { strides: &[-1, 3], offset: 2 }, Strided { strides: &[2, 1], offset: 0 });
/// let mut turned = [0; 6];
/// copy_strided(DataType::U8, &[3, 2], columns, rows, &[1, 2, 3, 4, 5, 6], &mut turned)?;
/// assert_eq!(turned, [3, 6, 2, 5, 1, 4]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided<'a, T> {
    /// The stride of each axis, in elements. It is negative if the axis runs backwards, and 0 if the source
    /// repeats an element along the axis.
    pub strides: &'a [T],
    /// The offset of the element at index 0 from the start of the buffer, in elements.
    pub offset: usize,
}

/// Copies every element of one layout to another layout, as [`Relayout::new`] and [`Relayout::run`] would.
/// Padding is left alone.
///
/// Two descriptors of whole bytes need no plan and no allocation, up to rank 8. Packed data is one `memcpy`,
/// rows are a loop, and a few hundred elements are copied one by one. For more elements a kernel is chosen.
/// If the kernel fuses short axes, that takes four allocations. Other layouts are planned. To copy a pair of
/// layouts again and again, keep a [`Relayout`].
///
/// In this module, `from` and `to` are the two layouts, and `source` and `destination` are the bytes.
///
/// # Errors
///
/// The errors of [`Relayout::new`] and [`Relayout::run`].
///
/// ```
/// use tensor_layout::{relayout::copy, BufferTensorDesc, DataType};
///
/// let nchw = BufferTensorDesc::nchw(DataType::U8, [1, 3, 2, 2])?;
/// let nhwc = BufferTensorDesc::nhwc(DataType::U8, [1, 3, 2, 2])?;
/// let mut pixels = vec![0; 12];
/// copy(&nchw, &nhwc, b"RRRRGGGGBBBB", &mut pixels)?;
/// assert_eq!(pixels, b"RGBRGBRGBRGB");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn copy<'a>(
    from: &impl ToIndexMap,
    to: &impl ToIndexMap,
    source: &[u8],
    destination: impl Into<Destination<'a>>,
) -> Result<(), Error> {
    let mut destination = destination.into();
    if let (Some(a), Some(b)) = (from.as_descriptor(), to.as_descriptor())
        && a.data_type() == b.data_type()
        && is_same(a.sizes(), b.sizes())
        && let Some(element) = whole_bytes(a.data_type())
    {
        let sizes = a.sizes().iter().map(|&size| usize::try_from(size).ok());
        let stride = |&stride: &u64| isize::try_from(stride).ok();
        let strides = a.strides().iter().map(stride).zip(b.strides().iter().map(stride));
        let (first, second) = (usize::try_from(a.base_offset()).ok(), usize::try_from(b.base_offset()).ok());
        if let (Some(first), Some(second)) = (first, second)
            && run(element, sizes.zip(strides), (first, second), source, destination.reborrow())
        {
            return Ok(());
        }
    }
    Relayout::new(from, to)?.run(source, destination)
}

/// Copies like [`copy`], between sizes and strides of any integer types. Strides may be negative on both
/// sides. It takes longer to describe the two sides than to copy a few elements.
///
/// **Post-condition** (`copies_once_what_is_written_element_by_element`): the element at each index of the
/// destination is the element at this index of the source, and all other bytes keep their values.
///
/// # Errors
///
/// `rank_mismatch`, `negative` if an axis that runs backwards begins before its buffer, and the errors of
/// [`BufferTensorDesc::from_signed`] and [`copy`].
///
/// ```
/// use tensor_layout::{relayout::{copy_strided, Strided}, DataType};
///
/// // A token of two heads of three appended to a cache [2, 4, 3] at position 1.
/// let (token, cache) = (Strided { strides: &[3_usize, 3, 1], offset: 0 }, Strided { strides: &[12_usize, 3, 1], offset: 3 });
/// let mut memory = vec![b'.'; 24];
/// copy_strided(DataType::U8, &[2_usize, 1, 3], token, cache, b"abcdef", &mut memory)?;
/// assert_eq!(memory, b"...abc.........def......");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn copy_strided<'a, S, T, U>(
    data_type: DataType,
    sizes: &[S],
    from: Strided<'_, T>,
    to: Strided<'_, U>,
    source: &[u8],
    destination: impl Into<Destination<'a>>,
) -> Result<(), Error>
where
    S: Copy + TryInto<usize> + TryInto<i128>,
    T: Copy + TryInto<isize> + TryInto<i128>,
    U: Copy + TryInto<isize> + TryInto<i128>,
{
    let mut destination = destination.into();
    let (strides, others) = (from.strides, to.strides);
    if strides.len() == sizes.len()
        && others.len() == sizes.len()
        && let Some(element) = whole_bytes(data_type)
    {
        let strides = strides.iter().map(|&stride| stride.try_into().ok());
        let both = strides.zip(others.iter().map(|&stride| stride.try_into().ok()));
        let sizes = sizes.iter().map(|&size| size.try_into().ok());
        if run(element, sizes.zip(both), (from.offset, to.offset), source, destination.reborrow()) {
            return Ok(());
        }
    }
    let [from, to] = [
        described(BufferTensorDesc::from_signed(data_type, sizes, from.strides)?, from.offset)?,
        described(BufferTensorDesc::from_signed(data_type, sizes, to.strides)?, to.offset)?,
    ];
    // An axis that runs backwards on both sides is walked forwards on both.
    let one_side =
        |(a, b): (&[usize], &[usize])| -> Vec<usize> { a.iter().copied().filter(|axis| !b.contains(axis)).collect() };
    let (first, second) = (from.reversed.as_slice(), to.reversed.as_slice());
    let axes: Vec<usize> = [(first, second), (second, first)].into_iter().flat_map(one_side).collect();
    Relayout::with_settings(&from.desc, &to.desc, &Settings { reversed: axes, ..Settings::default() })?
        .run(source, destination)
}

/// Returns a side whose index 0 is at `offset`. All elements of the side are inside the buffer.
fn described(side: SignedDesc, offset: usize) -> Result<SignedDesc, Error> {
    let offset = u64::try_from(offset).unwrap_or(u64::MAX);
    match side.reversed.first() {
        Some(&axis) if side.first > offset => Err(Error::negative("offsets of the axes", axis)),
        _ => side.with_first(offset),
    }
}

fn whole_bytes(data_type: DataType) -> Option<usize> {
    let bits = usize::try_from(data_type.bits()).ok()?;
    bits.is_multiple_of(8).then_some(bits.div_euclid(8))
}

/// One axis: its size and the strides of both sides, in elements. A number that does not fit is `None`.
type Axis = (Option<usize>, (Option<isize>, Option<isize>));

/// Copies without a plan. Returns `false`, and writes nothing, if the copy needs a plan or if there is an
/// error to report.
#[inline]
fn run(
    element: usize,
    axes: impl DoubleEndedIterator<Item = Axis>,
    start: (usize, usize),
    from: &[u8],
    to: Destination<'_>,
) -> bool {
    let mut list = [Stride::ONCE; MOST_PLAIN_LOOPS];
    match nest(element, axes, start, &mut list) {
        Some(Some(nest)) if nest.is_inside(from.len(), to.len()) => {
            if is_plain(&nest, MOST_PLAIN_RUNS) {
                nest.run(from, to);
            } else {
                // After an overflow the copy is planned, and the plan reports the error.
                return run_kernel(&nest, Knobs::of_this_cpu(), from, to).is_ok();
            }
            true
        }
        Some(None) => true,
        _ => false,
    }
}

/// The loop nest of a copy. Its loops are in the order of falling destination stride, and the destination
/// runs forwards. Loops that continue each other are merged, and loops that are packed on both sides become
/// one run. `Some(None)` means that there are no elements. `None` means that a number does not fit its type,
/// or that two indices of the destination may share an offset.
#[inline]
fn nest(
    element: usize,
    axes: impl DoubleEndedIterator<Item = Axis>,
    start: (usize, usize),
    list: &mut [Stride; MOST_PLAIN_LOOPS],
) -> Option<Option<PlainNest<&[Stride]>>> {
    let unit = isize::try_from(element).ok()?;
    // Merged loops are collected at the end of the list, outer to inner.
    let (mut first, mut empty) = (MOST_PLAIN_LOOPS, false);
    let in_bytes = |offset: usize| isize::try_from(offset).ok()?.checked_mul(unit);
    let mut start = (in_bytes(start.0)?, in_bytes(start.1)?);
    for (extent, (source, destination)) in axes.rev() {
        let extent = extent?;
        if extent <= 1 {
            empty |= extent == 0;
            continue;
        }
        let (mut source, mut destination) = (source?.checked_mul(unit)?, destination?.checked_mul(unit)?);
        if destination < 0 {
            let last = isize::try_from(extent.checked_sub(1)?).ok()?;
            start.0 = start.0.checked_add(source.checked_mul(last)?)?;
            start.1 = start.1.checked_add(destination.checked_mul(last)?)?;
            (source, destination) = (source.checked_neg()?, destination.checked_neg()?);
        }
        let step = Stride { extent, source, destination };
        // A loop is inserted at its place in the order. Axes are few and nearly always in order, so a loop
        // rarely moves far.
        first = first.checked_sub(1)?;
        let mut index = first;
        while let Some(&inner) = list.get(index.checked_add(1)?)
            && inner.destination > step.destination
        {
            *list.get_mut(index)? = inner;
            index = index.checked_add(1)?;
        }
        *list.get_mut(index)? = step;
    }
    if empty {
        return Some(None);
    }
    // Loops are merged in place, from the innermost loop outwards. There are never more merged loops than
    // loops that were visited.
    let (mut run, mut span, mut outermost) = (element, element, MOST_PLAIN_LOOPS);
    for index in (first..MOST_PLAIN_LOOPS).rev() {
        let step = *list.get(index)?;
        // The destination runs forwards, so no destination stride is negative.
        let destination = usize::try_from(step.destination).ok()?;
        if destination < span {
            return None;
        }
        span = span.checked_add(step.extent.checked_sub(1)?.checked_mul(destination)?)?;
        match list.get_mut(outermost) {
            None if destination == run && step.source == isize::try_from(run).ok()? => {
                run = run.checked_mul(step.extent)?;
            }
            Some(inner) if inner.continues_in(&step) => inner.extent = inner.extent.checked_mul(step.extent)?,
            _ => {
                outermost = outermost.checked_sub(1)?;
                *list.get_mut(outermost)? = step;
            }
        }
    }
    let start = (usize::try_from(start.0).ok()?, usize::try_from(start.1).ok()?);
    PlainNest::new(run, start, list.get(outermost..)?).map(Some)
}

/// Copies a loop nest with the kernel that a plan would choose. The error is `overflow` if an iteration ends
/// after the last address.
#[inline(never)]
fn run_kernel(
    nest: &PlainNest<&[Stride]>,
    knobs: &Knobs,
    source: &[u8],
    destination: Destination<'_>,
) -> Result<(), Error> {
    let bytes = |runs: usize| checked::len_u64(runs).saturating_mul(checked::len_u64(nest.bytes_of_run()));
    // Runs that the source repeats stay in the cache, so their bytes count once.
    let read = nest.loops().iter().filter(|step| step.source != 0).map(|step| step.extent);
    let traffic = Traffic { read: bytes(read.fold(1, usize::saturating_mul)), written: bytes(nest.runs()) };
    let mut knobs = *knobs;
    let (streaming, prefetch) = traffic.settings(nest.bytes_of_run(), &mut knobs);
    let site = Site { streaming, prefetch, permutes: true, knobs: &knobs };
    let mut loops: NestLoops = nest.loops().iter().copied().map(Loop::Strided).collect();
    let mut start = nest.start();
    let kernel = select::iteration(&mut loops, nest.bytes_of_run(), &mut start, site.knobs);
    select::resolved::<NestLoops>(kernel, &mut loops, start, site)?.run(source, destination);
    Ok(())
}
