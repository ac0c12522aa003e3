//! A copy as identity operators of DirectML.

use smallvec::SmallVec;

use crate::checked::{self, OFFSET, wide_product};
use crate::element::DataType;
use crate::error::{ArgumentRule, Error};
use crate::map::{CopyBox, Loop, Loops};
use crate::strided::BufferTensorDesc;

use super::plan::subbyte;
use super::relayout::Relayout;

/// The most axes of a tensor (`DML_TENSOR_DIMENSION_COUNT_MAX1`).
const MAX_RANK: usize = 8;

/// The largest size or stride, and the most elements a tensor may span (*DML_BUFFER_TENSOR_DESC*).
const MAX_U32: u64 = 0xffff_ffff;

/// The name of the strides in an error. They are below 0 if a copy walks an axis backwards.
const STRIDES: &str = "strides of the source";

/// The most pairs of a copy. A copy that needs more pairs is refused.
const MAX_PAIRS: usize = 1 << 16;

/// Two views of equal sizes. An identity operator from the first view to the second copies a part of the
/// elements.
///
/// ```
/// use tensor_layout::relayout::Relayout;
/// use tensor_layout::plan::DescriptorPair;
/// use tensor_layout::BufferTensorDesc;
///
/// let (from, to): (BufferTensorDesc, BufferTensorDesc) = ("f32[3,4]:[4,1]".parse()?, "f32[3,4]:[1,3]".parse()?);
/// let pairs: Vec<DescriptorPair> = Relayout::new(&from, &to)?.descriptor_pairs()?;
/// assert_eq!((pairs.len(), pairs[0].pass), (1, 0));
/// assert_eq!(pairs[0].source.sizes(), pairs[0].destination.sizes());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DescriptorPair {
    /// The index of the pass in [`Relayout::passes`]. The pass says which buffers the two views are in.
    pub pass: usize,
    /// The view that is read.
    pub source: BufferTensorDesc,
    /// The view that is written.
    pub destination: BufferTensorDesc,
}

impl Relayout {
    /// The copy as pairs of descriptors, each for one `DML_OPERATOR_ELEMENT_WISE_IDENTITY`. Descriptors have
    /// at most 8 axes, and sizes, strides and spans below 2^32. The pairs of a [pass](Self::passes) may run
    /// in any order, and together copy every element once. Padding is left alone.
    ///
    /// The method needs the feature `plan`.
    ///
    /// Elements are copied as unsigned integers of their own width, so that no float is touched. An element
    /// of 128 bits, or of 3 bytes, is copied as several integers, with one more axis. Elements of 1 or 2 bits
    /// must come in runs of whole bytes.
    ///
    /// The base offset of a view has no field in DirectML's structure. It goes into the binding, which begins
    /// at multiples of 16 bytes; [`upload::validate`](crate::upload::validate) finds bindings that do not. A
    /// ragged edge may begin anywhere. A device may write any byte of a bound output, so pairs whose
    /// destinations interleave need an engine whose identity operator writes only the elements.
    ///
    /// # Errors
    ///
    /// [`UnsupportedElementBits`](crate::ArgumentRule) for elements that are not whole bytes, not 4 bits, and
    /// not in runs of whole bytes; [`Error::Undecided`] if there would be more than 65,536 pairs;
    /// [`ElementBitsMismatch`](crate::ArgumentRule) for a copy that [changes the width](Self::changes_width)
    /// of its elements, because no identity operator does that; [`Negative`](crate::ArgumentRule) for a copy
    /// that walks an axis [backwards](Self::reversing), because the strides of a descriptor are unsigned.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("f32[16,256]{1,0}".parse()?, "f32[16,256]{1,0:T(8,128)}".parse()?);
    /// let pairs = Relayout::new(&rows, &tiles)?.descriptor_pairs()?;
    /// assert_eq!(pairs.len(), 1);
    /// assert_eq!(pairs[0].source.to_string(), "u32[2,2,8,128]:[2048,128,256,1]");
    /// assert_eq!(pairs[0].destination.to_string(), "u32[2,2,8,128]:[2048,1024,128,1]");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn descriptor_pairs(&self) -> Result<Vec<DescriptorPair>, Error> {
        let bits = self.source.element_bits();
        if self.changes_width() {
            return Err(ArgumentRule::ElementBitsMismatch.by(self.destination.element_bits().into(), bits.into()));
        }
        if let Some(&axis) = self.reversed.first() {
            return Err(Error::negative(STRIDES, axis));
        }
        let mut pairs = Pairs { found: Vec::new(), pass: 0, data_type: DataType::U8 };
        for (index, pass) in self.passes().enumerate() {
            pairs.pass = index;
            for copy in pass.boxes() {
                let (data_type, copy) = in_integers(copy, bits)?;
                pairs.data_type = data_type;
                pairs.add(copy)?;
            }
        }
        Ok(pairs.found)
    }
}

/// The box over unsigned integers. If there is no integer of `bits` bits, several integers together are an
/// element.
fn in_integers(copy: CopyBox, bits: u32) -> Result<(DataType, CopyBox), Error> {
    if bits.is_multiple_of(8) {
        let types = [(64, DataType::U64), (32, DataType::U32), (16, DataType::U16), (8, DataType::U8)];
        let fitting = types.into_iter().find(|(width, _)| bits.is_multiple_of(*width));
        let (width, data_type) = fitting.unwrap_or((8, DataType::U8));
        let parts = u64::from(bits.checked_div(width).unwrap_or(1));
        return Ok((data_type, if parts > 1 { in_parts(&copy, parts)? } else { copy }));
    }
    if let Some(whole) = subbyte::in_whole_bytes(&copy, bits) {
        return Ok((DataType::U8, whole));
    }
    if bits == 4 {
        return Ok((DataType::U4, copy));
    }
    Err(Error::unsupported_bits(bits, "whole bytes, 4 bits, or runs of whole bytes"))
}

/// The box over parts of elements. Every stride is `parts` times as long, and the parts are the innermost
/// loop.
fn in_parts(copy: &CopyBox, parts: u64) -> Result<CopyBox, Error> {
    let scaled = |(a, b): (u64, u64)| Some((a.checked_mul(parts)?, b.checked_mul(parts)?));
    let in_parts = || {
        let mut loops = copy.loops.iter().map(|step| step.with_sides(scaled)).collect::<Option<Loops>>()?;
        loops.push(Loop::Strided { extent: parts, source: 1, destination: 1 });
        let (source, destination) = scaled((copy.source, copy.destination))?;
        Some(CopyBox { source, destination, loops }.in_order())
    };
    in_parts().ok_or_else(|| checked::overflow(OFFSET, 64))
}

struct Pairs {
    found: Vec<DescriptorPair>,
    pass: usize,
    data_type: DataType,
}

/// An axis of a pair: its size, and the strides of both sides.
type Axis = (u64, u64, u64);

impl Pairs {
    /// Adds the box as pairs. A box is cut if it is too long, too wide or of too high a rank for one pair.
    fn add(&mut self, copy: CopyBox) -> Result<(), Error> {
        if let Some(at) = copy.loops.iter().position(|step| matches!(step, Loop::Table(_))) {
            return self.each_step(&copy, at);
        }
        let axes: SmallVec<[Axis; 8]> = copy.loops.iter().map(axis).collect();
        let too_wide = |&(_, source, destination): &Axis| source > MAX_U32 || destination > MAX_U32;
        let fewest = || (0..axes.len()).min_by_key(|&at| axes.get(at).map(|&(extent, ..)| extent));
        let stepped = axes.iter().position(too_wide).or_else(|| fewest().filter(|_| axes.len() > MAX_RANK));
        if let Some(at) = stepped {
            return self.each_step(&copy, at);
        }
        for stride in [|axis: &Axis| axis.1, |axis: &Axis| axis.2] {
            let reach = |axis: &Axis| wide_product(axis.0.saturating_sub(1), stride(axis));
            let span = axes.iter().map(reach).fold(1, u128::saturating_add);
            // A repeated axis has no span, but its size is limited as well.
            let far = |&at: &usize| axes.get(at).map(|axis| reach(axis).max(axis.0.into()));
            let too_long = axes.iter().any(|axis| axis.0 > MAX_U32);
            if (span > MAX_U32.into() || too_long)
                && let Some(at) = (0..axes.len()).max_by_key(far)
            {
                return self.halves(&copy, at);
            }
        }
        self.push(&copy, &axes)
    }

    fn push(&mut self, copy: &CopyBox, axes: &[Axis]) -> Result<(), Error> {
        if self.found.len() >= MAX_PAIRS {
            return Err(too_many());
        }
        // DirectML has no rank 0.
        let axes = if axes.is_empty() { &[(1, 1, 1)] } else { axes };
        let list = |part: fn(&Axis) -> u64| axes.iter().map(part).collect::<SmallVec<[u64; 8]>>();
        let sizes = list(|axis| axis.0);
        let view =
            |strides: &[u64], base| BufferTensorDesc::new(self.data_type, &sizes, Some(strides))?.beginning_at(base);
        let (source, destination) =
            (view(&list(|axis| axis.1), copy.source)?, view(&list(|axis| axis.2), copy.destination)?);
        self.found.push(DescriptorPair { pass: self.pass, source, destination });
        Ok(())
    }

    /// Adds a box for each step of a loop.
    fn each_step(&mut self, copy: &CopyBox, at: usize) -> Result<(), Error> {
        let mut inside = copy.loops.clone();
        let step = inside.remove(at);
        // Every box becomes at least one pair, so a loop of more steps would have too many pairs.
        if step.extent() > u64::try_from(MAX_PAIRS).unwrap_or(u64::MAX) {
            return Err(too_many());
        }
        for index in 0..step.extent() {
            let (source, destination) = offsets(&step, index)?;
            self.add(moved(copy, source, destination, inside.clone())?)?;
        }
        Ok(())
    }

    /// Adds both halves of a strided loop.
    fn halves(&mut self, copy: &CopyBox, at: usize) -> Result<(), Error> {
        let Some((step, (extent, source, destination))) = copy.loops.get(at).map(|step| (step, axis(step))) else {
            return Ok(());
        };
        let first = extent.div_ceil(2);
        for (start, extent) in [(0, first), (first, extent.saturating_sub(first))] {
            let (from, to) = offsets(step, start)?;
            let mut loops = copy.loops.clone();
            match loops.get_mut(at) {
                Some(part) if extent > 1 => *part = Loop::Strided { extent, source, destination },
                _ => drop(loops.remove(at)),
            }
            self.add(moved(copy, from, to, loops)?)?;
        }
        Ok(())
    }
}

fn too_many() -> Error {
    let work = u64::try_from(MAX_PAIRS).unwrap_or(u64::MAX);
    Error::Undecided { question: "how to copy with few pairs of descriptors", work }
}

fn axis(step: &Loop) -> Axis {
    step.strides().map_or((step.extent(), 0, 0), |(extent, source, destination, _)| (extent, source, destination))
}

/// The offset of a step of a loop from the first step of the loop, on both sides.
fn offsets(step: &Loop, index: u64) -> Result<(u64, u64), Error> {
    match step {
        Loop::Strided { source, destination, .. } => {
            Ok((checked::mul(*source, index, OFFSET)?, checked::mul(*destination, index, OFFSET)?))
        }
        Loop::Reversed { .. } => Err(Error::negative(STRIDES, 0)),
        Loop::Table(entries) => {
            let index: usize = checked::narrow(index, OFFSET)?;
            Ok(entries.get(index).copied().unwrap_or_default())
        }
    }
}

/// Returns a box that is moved by these offsets, with other loops.
fn moved(copy: &CopyBox, source: u64, destination: u64, loops: Loops) -> Result<CopyBox, Error> {
    let source = checked::add(copy.source, source, OFFSET)?;
    Ok(CopyBox { source, destination: checked::add(copy.destination, destination, OFFSET)?, loops })
}
