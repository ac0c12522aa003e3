//! `TensorMapBox`: the box of a CUDA tensor map, which the driver refuses at launch without a reason.
//!
//! A tensor map describes a tensor in global memory and the box of it that one instruction copies to shared
//! memory. The rules of the tensor are a row of `devices.txt`; a box makes some of them stricter
//! ([`TensorMapBox::limits`]). The rules of the box are here, one after the other, in the order of
//! `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` in cuda.h of CUDA 13.5. The header does not bound a
//! box by the sizes of its tensor, and does not ask whether a box fits shared memory. CCCL 13.3
//! (`make_tma_descriptor`) does both, so the report has the bytes.
//!
//! All lists are in the order of the tensor's axes, outermost first. CUDA's are the reverse.
//!
//! Shared memory holds the rows of a box one after the other. A swizzle flips bits of the byte: bits 4, 5 and
//! 6 by bits 7, 8 and 9, as many of them as its span has 16-byte units for.

use alloc::format;
use alloc::vec::Vec;

use crate::checked::{self, Dims, ELEMENTS, OFFSET, len_u64, nth_or_panic, wide_product};
use crate::element::DataType;
use crate::error::{Code, Error};
use crate::map::{IndexMap, Swizzle, ToIndexMap};

use super::limits::DeviceLimits;

/// The largest size of a box along an axis, and the most channels of a pixel.
const LARGEST_BOX: u64 = 256;

/// The most pixels of an im2col column.
const MOST_PIXELS: u64 = 1024;

/// The largest step between the elements that are copied along an axis.
const LARGEST_STEP: u64 = 8;

/// The values of an inner row of a type of 6 bits.
const ROW_OF_6_BITS: u64 = 128;

/// How the channels of a tensor are interleaved in global memory, such as NC/8HWC8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interleave {
    /// Channels in blocks of 16 bytes.
    Bytes16,
    /// Channels in blocks of 32 bytes.
    Bytes32,
}

/// The pixels that an im2col tensor map copies, in place of a box.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Im2col {
    /// Where the box of pixels begins, from the first pixel of each spatial axis, outermost first.
    pub lower: Vec<i64>,
    /// Where the box of pixels ends, from the last pixel of each spatial axis.
    pub upper: Vec<i64>,
    /// The channels that are copied of each pixel.
    pub channels: u64,
    /// The pixels that are copied at once.
    pub pixels: u64,
}

/// The box that a tensor map copies: its sizes, outermost first, and how.
///
/// ```
/// use tensor_layout::BufferTensorDesc;
/// use tensor_layout::upload::{BoxReport, Im2col, Interleave, TensorMapBox};
///
/// let limits = "cuda-tensor-map:128".parse()?;
/// let tensor: BufferTensorDesc = "f16[512,64]:[64,1]".parse()?;
/// let report: BoxReport = TensorMapBox::new(&[64, 64]).check(&tensor, &limits).unwrap();
/// assert_eq!((report.cuda_sizes, report.bytes, report.alignment), (vec![64, 64], 8192, 1024));
/// // Element (1, 0) is not at 64.
/// assert_eq!(report.layout.unwrap().offset(&[1, 0])?, 72);
///
/// let wide: BufferTensorDesc = "f16[512,72]:[72,1]".parse()?;
/// let errors = TensorMapBox::new(&[512, 72]).check(&wide, &limits).unwrap_err();
/// assert_eq!(errors.iter().map(|error| error.code()).collect::<Vec<_>>(), ["box_size", "box_span"]);
/// // Blocks of channels and the pixels of im2col are for images: two axes are too few.
/// let pixels = Im2col { lower: vec![0], upper: vec![0], channels: 64, pixels: 8 };
/// assert!(TensorMapBox::default().with_im2col(pixels).check(&tensor, &limits).is_err());
/// assert!(TensorMapBox::new(&[64, 64]).with_interleave(Interleave::Bytes32).check(&tensor, &limits).is_err());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct TensorMapBox {
    sizes: Vec<u64>,
    element_strides: Option<Vec<u64>>,
    interleave: Option<Interleave>,
    im2col: Option<Im2col>,
}

/// What a tensor map copies at once, and where it is stored in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoxReport {
    /// The sizes of the box, outermost first. For im2col, the pixels and their channels.
    pub sizes: Vec<u64>,
    /// The sizes of the box in the order of CUDA's lists, innermost first.
    pub cuda_sizes: Vec<u64>,
    /// Where each element that is copied is stored, from the start of the box in shared memory. `None`
    /// where the headers do not say.
    pub layout: Option<IndexMap>,
    /// Why there is no layout. Empty if there is one.
    pub no_layout: &'static str,
    /// The bytes that the box takes in shared memory.
    pub bytes: u64,
    /// The alignment of the box in shared memory, in bytes: 128, or the bytes after which the swizzle begins
    /// anew.
    pub alignment: u64,
}

impl TensorMapBox {
    /// Returns a box of these sizes, one for each axis of the tensor, outermost first.
    #[must_use]
    pub fn new(sizes: &[u64]) -> TensorMapBox {
        TensorMapBox { sizes: sizes.to_vec(), ..TensorMapBox::default() }
    }

    /// Sets the pixels of an im2col tensor map, which copies no box of its own.
    #[must_use]
    pub fn with_im2col(self, im2col: Im2col) -> TensorMapBox {
        TensorMapBox { im2col: Some(im2col), ..self }
    }

    /// Sets the step between the elements that are copied along each axis, outermost first. Of `size`
    /// elements, `size / step` rounded up are copied.
    #[must_use]
    pub fn with_element_strides(self, steps: &[u64]) -> TensorMapBox {
        TensorMapBox { element_strides: Some(steps.to_vec()), ..self }
    }

    /// Sets how the channels are interleaved in global memory.
    #[must_use]
    pub fn with_interleave(self, interleave: Interleave) -> TensorMapBox {
        TensorMapBox { interleave: Some(interleave), ..self }
    }

    /// Returns the limits of the tensor under this box, which are stricter: interleaved and im2col tensors
    /// have at least 3 axes, and blocks of 32 bytes make addresses and strides multiples of 32.
    #[must_use]
    pub fn limits(&self, limits: &DeviceLimits) -> DeviceLimits {
        let mut limits = limits.clone();
        if self.interleave.is_some() || self.im2col.is_some() {
            limits.min_rank = limits.min_rank.max(3);
        }
        if self.interleave == Some(Interleave::Bytes32) {
            limits.stride_multiple = limits.stride_multiple.max(32);
            limits.offset_alignment = limits.offset_alignment.max(32);
        }
        limits
    }

    /// Checks the box of a tensor against every rule of a tensor map. The rules of the tensor itself are
    /// those of [`validate`](super::validate) with [`limits`](Self::limits).
    ///
    /// # Errors
    ///
    /// Every rule that is broken: `rank_mismatch`, `box_size`, `box_inner_bytes`, `box_span`, `box_row`,
    /// `element_stride`, `interleave`, `im2col_corner`, `im2col_channels`, `im2col_pixels`. `not_expressible`
    /// for limits without boxes, and the errors of [`ToIndexMap::to_index_map`].
    pub fn check<L: ToIndexMap + ?Sized>(&self, layout: &L, limits: &DeviceLimits) -> Result<BoxReport, Vec<Error>> {
        let map = layout.to_index_map().map_err(|error| Vec::from([error]))?;
        let Some(span) = limits.box_span else {
            let reason = format!("{} copies no boxes; cuda-tensor-map does", limits.name);
            return Err(Vec::from([Error::not_expressible("box", reason)]));
        };
        let mut errors = Vec::new();
        let tensor = BoxOf { map: &map, span, rank: map.sizes().len(), bits: map.element_bits() };
        let rank = map.sizes().len();
        if self.im2col.is_none() || !self.sizes.is_empty() {
            if self.sizes.len() != rank {
                errors.push(Error::rank_mismatch("box sizes", rank, self.sizes.len()));
                return Err(errors);
            }
            let sizes = self.sizes.iter().enumerate();
            let wrong = sizes.filter(|(_, size)| !(1..=LARGEST_BOX).contains(*size));
            errors.extend(wrong.map(|(axis, &size)| Code::BoxSize.on_axis(axis, size, LARGEST_BOX)));
        }
        self.check_interleave(&tensor, &mut errors);
        if let Some(im2col) = &self.im2col {
            tensor.check_im2col(im2col, &mut errors);
        }
        let inner = self.im2col.as_ref().map_or(self.sizes.last().copied(), |im2col| Some(im2col.channels));
        tensor.check_row(inner.unwrap_or(0), (self.interleave, self.im2col.is_some()), &mut errors);
        let steps = self.steps(&tensor, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let (sizes, copied): (Vec<u64>, Vec<u64>) = match &self.im2col {
            Some(im2col) => {
                let pixels = Vec::from([im2col.pixels, im2col.channels]);
                (pixels.clone(), pixels)
            }
            None => {
                let copied = self.sizes.iter().zip(&steps).map(|(size, step)| size.div_ceil((*step).max(1)));
                (self.sizes.clone(), copied.collect())
            }
        };
        tensor.report(sizes, &copied, self.interleave).map_err(|error| Vec::from([error]))
    }

    fn check_interleave(&self, tensor: &BoxOf<'_>, errors: &mut Vec<Error>) {
        if let Some(interleave) = self.interleave {
            if tensor.bits == 6 {
                let reason = "types of 6 bits are not interleaved";
                errors.push(Code::Interleave.with_reason("interleave", reason));
            }
            if interleave == Interleave::Bytes32 && tensor.span != 32 {
                let reason = format!("blocks of 32 bytes require a swizzle of 32 bytes, and it has {}", tensor.span);
                errors.push(Code::Interleave.with_reason("interleave", reason));
            }
        }
    }

    /// Returns the step of each axis. Without interleaving, the innermost step is ignored, and is 1.
    fn steps(&self, tensor: &BoxOf<'_>, errors: &mut Vec<Error>) -> Vec<u64> {
        let mut steps = self.element_strides.clone().unwrap_or_else(|| alloc::vec![1; tensor.rank]);
        if steps.len() != tensor.rank {
            errors.push(Error::rank_mismatch("element strides", tensor.rank, steps.len()));
            return steps;
        }
        if let Some(innermost) = steps.last_mut().filter(|_| self.interleave.is_none()) {
            *innermost = 1;
        }
        let wrong = steps.iter().enumerate().filter(|(_, step)| !(1..=LARGEST_STEP).contains(*step));
        errors.extend(wrong.map(|(axis, &step)| Code::ElementStride.on_axis(axis, step, LARGEST_STEP)));
        steps
    }
}

/// The tensor of a box, and the span of the swizzle in bytes, 0 for none.
struct BoxOf<'a> {
    map: &'a IndexMap,
    span: u64,
    rank: usize,
    bits: u32,
}

impl BoxOf<'_> {
    fn check_row(&self, values: u64, (interleave, im2col): (Option<Interleave>, bool), errors: &mut Vec<Error>) {
        let axis = self.rank.saturating_sub(1);
        if self.bits == 6 {
            if values != ROW_OF_6_BITS {
                errors.push(Code::BoxRow.on_axis(axis, values, ROW_OF_6_BITS).with_other(self.bits.into()));
            }
            if !matches!(self.span, 0 | 128) {
                let reason = format!("types of 6 bits take no swizzle or one of 128 bytes, and it has {}", self.span);
                errors.push(Code::SwizzleType.with_reason("swizzle", reason));
            }
            return;
        }
        let bits = wide_product(values, self.bits);
        let bytes = u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX);
        if interleave.is_none() && !im2col && bits.checked_rem(128) != Some(0) {
            errors.push(Code::BoxInnerBytes.on_axis(axis, bytes, 16));
        }
        if interleave.is_none() && self.span != 0 && bytes > self.span {
            errors.push(Code::BoxSpan.on_axis(axis, bytes, self.span));
        }
    }

    fn check_im2col(&self, im2col: &Im2col, errors: &mut Vec<Error>) {
        for (code, value, most) in
            [(Code::Im2colChannels, im2col.channels, LARGEST_BOX), (Code::Im2colPixels, im2col.pixels, MOST_PIXELS)]
        {
            if !(1..=most).contains(&value) {
                errors.push(code.for_value(value, most));
            }
        }
        // Corners have fewer bits where a tensor has more axes: 16, 8 or 5 for each.
        let reach: i64 = match self.rank {
            3 => 1 << 15,
            4 => 1 << 7,
            5 => 1 << 4,
            _ => return errors.push(Code::RankLimit.for_value(len_u64(self.rank), 5).with_other(3)),
        };
        let spatial = self.rank.saturating_sub(2);
        for (what, corner) in [("lower corners", &im2col.lower), ("upper corners", &im2col.upper)] {
            if corner.len() != spatial {
                errors.push(Error::rank_mismatch(what, spatial, corner.len()));
                continue;
            }
            for (axis, offset) in (1..).zip(corner) {
                let lowest = reach.saturating_neg();
                if !(lowest..reach).contains(offset) {
                    let reason = format!(
                        "axis {axis} has {offset}, and a tensor of rank {} takes {} to {}",
                        self.rank,
                        lowest,
                        reach.saturating_sub(1)
                    );
                    errors.push(Code::Im2colCorner.with_reason(what, reason).with_axis(axis));
                }
            }
        }
        let sizes = self.map.sizes().iter().skip(1);
        for (axis, ((lower, upper), &size)) in (1..).zip(im2col.lower.iter().zip(&im2col.upper).zip(sizes)) {
            let length = i128::from(size).saturating_add((*upper).into()).saturating_sub((*lower).into());
            if length < 1 {
                let reason = format!("axis {axis} has none: {size} pixels from {lower} on, {upper} from the last");
                errors.push(Code::Im2colCorner.with_reason("box of pixels", reason).with_axis(axis));
            }
        }
    }

    fn report(&self, sizes: Vec<u64>, copied: &[u64], interleave: Option<Interleave>) -> Result<BoxReport, Error> {
        let values = copied.iter().try_fold(1, |product, &size| checked::mul(product, size, ELEMENTS))?;
        // 16 values of 6 bits take 16 bytes in shared memory, of which 4 are a gap.
        let bits = if self.bits == 6 { 8 } else { self.bits };
        let row = wide_product(copied.last().copied().unwrap_or(0), bits).div_ceil(8);
        let no_layout = if interleave.is_some() {
            "the headers do not say where an interleaved box is stored"
        } else if self.bits == 6 {
            "16 values of 6 bits are stored in 16 bytes, with a gap of 4"
        } else if self.span != 0 && row != u128::from(self.span) {
            "the headers do not say where the rows of a box begin that is narrower than the swizzle"
        } else {
            ""
        };
        let layout = if no_layout.is_empty() { Some(self.in_shared_memory(copied)?) } else { None };
        let mut cuda_sizes = sizes.clone();
        cuda_sizes.reverse();
        let bytes = checked::bytes_for(values, bits)?;
        let alignment = self.span.saturating_mul(8).max(128);
        Ok(BoxReport { sizes, cuda_sizes, layout, no_layout, bytes, alignment })
    }

    fn in_shared_memory(&self, sizes: &[u64]) -> Result<IndexMap, Error> {
        let mut strides = Dims::from_elem(1, sizes.len());
        for axis in (1..sizes.len()).rev() {
            let stride = checked::mul(nth_or_panic(&strides, axis), nth_or_panic(sizes, axis), OFFSET)?;
            strides.get_mut(axis.saturating_sub(1)).into_iter().for_each(|outer| *outer = stride);
        }
        let values = sizes.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
        let data_type: DataType = self.map.data_type();
        let packed = IndexMap::from_strides(data_type, self.bits, sizes, &strides, 0, values)?;
        let units = self.span.div_ceil(16).max(1).trailing_zeros();
        let flips: Vec<(u32, u64)> =
            (4..7).zip([1 << 7, 1 << 8, 1 << 9]).take(checked::narrow(units, OFFSET)?).collect();
        packed.with_swizzle(&Swizzle::from_bytes(&flips, self.bits)?)
    }
}
