//! `suggest`: finds the nearest layout that a device accepts.

use alloc::vec;
use core::cmp::Reverse;

use smallvec::SmallVec;

use crate::checked::{self, Dims, OFFSET, nth_or_panic};
use crate::error::Error;
use crate::map::ToIndexMap;
use crate::short_sort::sort_by_key;
use crate::strided::{BufferTensorDesc, NewAxes};

use super::limits::DeviceLimits;
use super::report::{Errors, UploadReport};
use super::strides::{stride_multiple, with_free_strides};
use super::tensor::Tensor;
use super::validate::validate_description;

/// A layout that a device accepts, with the copy that leads to it, from [`suggest`].
///
/// ```
/// use tensor_layout::upload::{suggest, DeviceLimits, Suggestion};
/// use tensor_layout::{BufferTensorDesc, Relayout};
///
/// let columns: BufferTensorDesc = "u8[2,3]:[1,2]".parse()?;
/// let found: Suggestion = suggest(&columns, &"webnn".parse()?).unwrap().expect("WebNN takes rows");
/// let mut rows = [0; 6];
/// Relayout::new(&found.source.unwrap(), &found.desc)?.run(b"adbecf", &mut rows)?;
/// assert_eq!(&rows, b"abcdef");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Suggestion {
    /// The tensor as it is. Axes of size 1 are added in front if the device requires a higher rank. A type
    /// that the device only [copies](DeviceLimits::copies_only) becomes the unsigned integer of the same
    /// width. `None` for a layout without strides, which is copied from the layout itself.
    pub source: Option<BufferTensorDesc>,
    /// A tensor of the same sizes that the device accepts.
    pub desc: BufferTensorDesc,
    /// The number of bytes that are bound for the tensor as it is.
    pub source_bytes: u64,
    /// The number of bytes that are bound for `desc`.
    pub bytes: u64,
}

impl Suggestion {
    /// Whether bytes must move from the tensor as it is to `desc`. They need not move if only unused strides
    /// differ.
    #[must_use]
    pub fn moves_bytes(&self) -> bool {
        self.source.as_ref() != Some(&self.desc)
    }
}

/// Finds the nearest layout of a tensor that [`validate_description`] accepts, or `None` if the device
/// accepts the tensor as it is. The new layout keeps the sizes, and the order of axes and the gaps between
/// rows as far as the device allows. It begins at the start of a buffer of its own. A layout without strides
/// (tiles) becomes one with strides in the order of its axes.
///
/// This function only changes strides. A type or a size that the device does not accept remains an error.
///
/// # Errors
///
/// If the device accepts none of the layouts that were tried, the errors of the last of them.
///
/// ```
/// use tensor_layout::upload::suggest;
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, DeviceLimits};
///
/// // Rows of 30 bytes: a tensor map wants multiples of 16.
/// let rows = BufferTensorDesc::packed(DataType::F16, &[100, 15])?;
/// let padded = suggest(&rows, &"cuda-tensor-map".parse()?)?.unwrap();
/// assert_eq!(padded.desc.strides(), [16, 1]);
/// assert_eq!((padded.source_bytes, padded.bytes), (3000, 3198));
///
/// // The channels of an image are contiguous, where Metal requires the last axis to be.
/// let image = BufferTensorDesc::nhwc(DataType::F32, [1, 3, 32, 32])?;
/// let planes = suggest(&image, &"metal-tensor".parse()?)?.unwrap();
/// assert_eq!(planes.desc.strides(), [3072, 1024, 32, 1]);
///
/// // WebGPU binds tiles as bytes, DirectML takes strides.
/// let tiled: ArrayShape = "f32[16,200]{1,0:T(8,128)}".parse()?;
/// assert!(suggest(&tiled, &DeviceLimits::webgpu())?.is_none());
/// assert_eq!(suggest(&tiled, &DeviceLimits::directml())?.unwrap().desc.strides(), [200, 1]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn suggest<L: ToIndexMap + ?Sized>(layout: &L, limits: &DeviceLimits) -> Result<Option<Suggestion>, Errors> {
    let mut refused = match validate_description(layout, limits) {
        Ok(_) => return Ok(None),
        Err(errors) if layout.as_blocks().is_some() => return Err(errors),
        Err(errors) => errors,
    };
    let source_bytes = refused.report.total_bytes;
    let strided = Tensor::of(layout).and_then(|tensor| tensor.strided());
    let has_strides = strided.is_ok();
    let packed = || {
        let map = layout.to_index_map()?;
        BufferTensorDesc::packed(map.data_type(), map.sizes())
    };
    let Ok(desc) = strided.or_else(|_| packed()) else { return Err(refused) };
    let source = desc.rank_at_least(limits.min_rank, NewAxes::Front);
    let stand_in = limits.stand_in(source.data_type()).unwrap_or(source.data_type());
    let source = source.reinterpret(stand_in).unwrap_or(source);
    let found = |desc: BufferTensorDesc, report: &UploadReport| {
        let source = has_strides.then(|| source.clone());
        Ok(Some(Suggestion { source, desc, source_bytes, bytes: report.total_bytes }))
    };
    // Changing unused strides moves no byte, so a layout with other unused strides is tried first.
    let freed = with_free_strides((source.sizes(), source.strides()), (stand_in, stand_in.bits()), limits);
    for candidate in [source.clone(), source.with_strides_of_one(&freed)] {
        if let Ok(report) = validate_description(&candidate, limits) {
            return found(candidate, &report);
        }
    }
    // Layouts are tried with the tensor's gaps and without them, because the device may refuse a large gap.
    for keep_gaps in [true, false] {
        match with_legal_strides(&source, limits, keep_gaps) {
            Ok(candidate) => match validate_description(&candidate, limits) {
                Ok(report) => return found(candidate, &report),
                Err(errors) => refused = errors,
            },
            Err(error) => refused = Errors::new(vec![error], *refused.report.clone()),
        }
    }
    Err(refused)
}

fn with_legal_strides(
    desc: &BufferTensorDesc,
    limits: &DeviceLimits,
    keep_gaps: bool,
) -> Result<BufferTensorDesc, Error> {
    let (sizes, had) = (desc.sizes(), desc.strides());
    let multiple = stride_multiple(desc.data_type(), desc.data_type().bits(), limits)?;
    let in_order = !limits.any_order
        && (limits.ordered_strides || limits.packed_outside.is_some() || limits.repeats_outermost_only);
    let order = inner_first(desc, limits, in_order);
    // If axes change their order, the gaps between them are not kept.
    let long = order.iter().filter(|&&axis| sizes.get(axis).is_some_and(|&size| size > 1));
    let keep_gaps = keep_gaps && long.filter_map(|&axis| had.get(axis)).is_sorted();
    let mut strides = Dims::from_elem(1, sizes.len());
    let mut next = 1_u64;
    for (depth, axis) in order.into_iter().enumerate() {
        let (Some(&size), Some(&old)) = (sizes.get(axis), had.get(axis)) else { continue };
        // An axis of stride 0 keeps this stride, unless the device requires the axes in order.
        let repeated = old == 0 && size > 1 && !in_order;
        let packed = limits.packed_outside.is_some_and(|packed| depth >= packed);
        let stride = if repeated {
            0
        } else if depth == 0 && limits.array_stride() > 1 {
            multiple
        } else if depth == 0 || packed {
            next
        } else {
            // An axis of size 1 has no gap after it.
            let least = if keep_gaps && size > 1 { next.max(old) } else { next };
            checked::round_up(least, multiple, OFFSET)?
        };
        if let Some(place) = strides.get_mut(axis) {
            *place = stride;
        }
        if !repeated {
            next = checked::mul(stride, size, OFFSET)?;
        }
    }
    BufferTensorDesc::new(desc.data_type(), sizes, Some(&strides))?
        .with_flags(desc.flags())
        .with_base_offset_alignment(desc.base_offset_alignment())
}

/// The axes from the innermost on, as the device requires them, or else in memory order.
fn inner_first(desc: &BufferTensorDesc, limits: &DeviceLimits, in_order: bool) -> SmallVec<[usize; 8]> {
    let mut axes: SmallVec<[usize; 8]> = (0..desc.rank()).rev().collect();
    if !in_order {
        let last = desc.rank().saturating_sub(1);
        let key = |axis: usize| {
            let stride = nth_or_panic(desc.strides(), axis);
            (!(limits.unit_inner_stride && !limits.any_order && axis == last), stride, Reverse(axis))
        };
        sort_by_key(&mut axes, |&axis| key(axis));
    }
    axes
}
