//! `validate`: one tensor in one buffer, held against the limits of a device.

use crate::checked::{self, BYTES};
use crate::element::DataType;
use crate::error::Error;
use crate::strided::{BufferTensorDesc, IndexWidth, OVERLAP_WORK_LIMIT, Overlap, TensorFlags};

use super::limits::Limits;
use super::pieces::Pieces;
use super::report::{Errors, UploadReport};

/// What a device does with a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// It is only read.
    Input,
    /// It is written, and perhaps read.
    Output,
}

/// A buffer on the device and the place in it where a tensor is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// The length of the whole buffer, in bytes.
    pub len: u64,
    /// Where the tensor's buffer begins, in bytes; the tensor's own base offset comes on top.
    pub offset: u64,
    /// Is it read or written?
    pub role: Role,
}

impl Buffer {
    /// A buffer of `len` bytes with a tensor bound `offset` bytes into it.
    #[must_use]
    pub const fn new(len: u64, offset: u64, role: Role) -> Buffer {
        Buffer { len, offset, role }
    }
}

/// Holds one tensor in one buffer against `limits`.
///
/// The checks, all of which are made: data type, rank, sizes of zero, sizes and strides that do not fit,
/// the number of elements; the size of the binding (multiple, smallest, largest); its offset
/// (alignment of the device and of the descriptor, whole bytes); its range inside the buffer; the size
/// of the buffer; the flags; and for an output that no two indices share an offset.
///
/// # Errors
///
/// Every [`Error`] that was found, with the report beside them: those of [`validate_description`]; [`Error::OffsetUnaligned`],
/// [`Error::BindingOutsideBuffer`] and [`Error::BufferLimit`] for the place in the buffer; and for an output
/// [`Error::OwnedOutput`], [`Error::OverlappingDestination`], or [`Error::TooHard`] if that could not be decided.
///
/// ```
/// use tensor_layout::upload::{self, Buffer, Limits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::new(DataType::BF16, &[2, 3], Some(&[0, 1]))?;
/// let buffer = Buffer::new(16, 12, Role::Output);
/// let errors = upload::validate(&desc, &buffer, &Limits::by_name("directml:2.0")?).unwrap_err();
/// assert_eq!(
///     errors.codes(),
///     ["unsupported_data_type", "rank_limit", "offset_unaligned", "binding_outside_buffer", "overlapping_destination"],
/// );
/// assert_eq!(errors.report().bound, 12..20);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate(desc: &BufferTensorDesc, buffer: &Buffer, limits: &Limits) -> Result<UploadReport, Errors> {
    let mut errors = Vec::new();
    check_description(desc, limits, &mut errors);
    let mut report = check_binding(desc, Some(buffer), limits, &mut errors);
    if check_role(desc, buffer.role, &mut errors) {
        // Every index has a place of its own.
        let used = u128::from(desc.logical_elements()).saturating_mul(desc.data_type().bits().into());
        report.gap_bits = report.exact_bits.saturating_sub(used);
        report.overwrites_gaps = limits.writes_padding && report.gap_bits > 0;
    }
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
}

/// The checks of [`validate`] that need no buffer: what the device is told, and the size it takes. The
/// bound range in the report counts from the start of the tensor's own buffer.
///
/// # Errors
///
/// Every [`Error`] that was found, with the report beside them: [`Error::UnsupportedDataType`], [`Error::RankLimit`],
/// [`Error::ZeroSize`], [`Error::SizeLimit`], [`Error::StrideLimit`] and [`Error::ElementLimit`] for what the device is told;
/// [`Error::OffsetInsideByte`], [`Error::BindingUnaligned`], [`Error::BindingTooSmall`] and [`Error::BindingLimit`] for the range
/// it takes; [`Error::Overflow`] if a byte offset or a size passes 64 bits.
///
/// ```
/// use tensor_layout::upload::{validate_description, Limits};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[8, 8])?.slice_axis(0, 3..5)?;
/// assert_eq!(validate_description(&desc, &Limits::by_name("directml")?).unwrap().bound, 96..160);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate_description(desc: &BufferTensorDesc, limits: &Limits) -> Result<UploadReport, Errors> {
    let mut errors = Vec::new();
    check_description(desc, limits, &mut errors);
    let report = check_binding(desc, None, limits, &mut errors);
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
}

/// What the device is told: type, rank, sizes, strides.
fn check_description(desc: &BufferTensorDesc, limits: &Limits, errors: &mut Vec<Error>) {
    if limits.data_types.as_ref().is_some_and(|types| !types.contains(&desc.data_type())) {
        errors.push(Error::UnsupportedDataType { data_type: desc.data_type().xla_name(), by: limits.name.clone() });
    }
    let rank = desc.rank();
    if rank < limits.min_rank || rank > limits.max_rank {
        errors.push(Error::RankLimit { rank, min: limits.min_rank, max: limits.max_rank });
    }
    for (axis, (&size, &stride)) in desc.sizes().iter().zip(desc.strides()).enumerate() {
        if size == 0 && !limits.zero_sizes {
            errors.push(Error::ZeroSize { axis });
        }
        if size > limits.max_size {
            errors.push(Error::SizeLimit { axis, size, max: limits.max_size });
        }
        if stride > limits.max_stride {
            errors.push(Error::StrideLimit { axis, stride, max: limits.max_stride });
        }
    }
}

/// What is bound: every number on the way, and what is wrong with it.
fn check_binding(
    desc: &BufferTensorDesc,
    buffer: Option<&Buffer>,
    limits: &Limits,
    errors: &mut Vec<Error>,
) -> UploadReport {
    let bits = desc.data_type().bits();
    let region = Region::of(desc, limits, errors);
    if region.elements > limits.max_elements {
        errors.push(Error::ElementLimit { elements: region.elements, max: limits.max_elements });
    }
    let exact_bytes = region.exact_bytes;
    let multiple = limits.size_multiple.max(1);
    let rounded_bytes = or_largest(checked::round_up(exact_bytes, multiple, BYTES), errors);
    // A total that was chosen by hand is not rounded for the caller, only checked.
    let total_bytes = region.chosen.unwrap_or(0).max(rounded_bytes);
    if !total_bytes.is_multiple_of(multiple) {
        errors.push(Error::BindingUnaligned { size: total_bytes, multiple });
    }
    let refused_as_empty = desc.logical_elements() == 0 && !limits.zero_sizes;
    if total_bytes < limits.min_binding && !refused_as_empty {
        errors.push(Error::BindingTooSmall { size: total_bytes, min: limits.min_binding });
    }
    let start = or_largest(checked::add(buffer.map_or(0, |buffer| buffer.offset), region.base_bytes, BYTES), errors);
    // Where the base is part of the binding's offset, only what it leaves of the promise is passed on.
    let promised =
        if limits.base_offset_in_binding { desc.first_element_alignment() } else { desc.base_offset_alignment() };
    let promised = u64::from(promised);
    let alignment_asked = or_largest(common_multiple(limits.offset_alignment, promised), errors);
    if buffer.is_some() && !start.is_multiple_of(alignment_asked) {
        errors.push(Error::OffsetUnaligned { offset: start, alignment: alignment_asked });
    }
    let end = or_largest(checked::add(start, total_bytes, BYTES), errors);
    if let Some(&Buffer { len, .. }) = buffer.filter(|buffer| end > buffer.len) {
        errors.push(Error::BindingOutsideBuffer { offset: start, size: total_bytes, len });
    }
    let mut pieces = None;
    if total_bytes > limits.max_binding {
        errors.push(Error::BindingLimit { size: total_bytes, max: limits.max_binding });
        pieces = Pieces::new(start..end, limits.max_binding, piece_alignment(desc, limits)).ok();
    }
    if let Some(&Buffer { len, .. }) = buffer.filter(|buffer| buffer.len > limits.max_buffer) {
        errors.push(Error::BufferLimit { len, max: limits.max_buffer });
    }
    UploadReport {
        limits: limits.name.clone(),
        data_type: desc.data_type(),
        logical_elements: desc.logical_elements(),
        span_elements: region.elements,
        exact_bits: u128::from(region.elements).saturating_mul(u128::from(bits)),
        exact_bytes,
        rounded_bytes,
        total_bytes,
        cpu_bytes: exact_bytes,
        padding: exact_bytes..total_bytes,
        bound: start..end,
        gap_bits: 0,
        overwrites_gaps: false,
        alignment_asked,
        alignment_had: 1_u64.checked_shl(start.trailing_zeros()),
        index_width: IndexWidth::for_elements(region.elements),
        pieces,
        copies: Pieces::new(0..exact_bytes, limits.max_copy, multiple).ok(),
    }
}

/// The part of the tensor's buffer that is bound.
struct Region {
    /// Bytes of the base offset that move into the binding's offset.
    base_bytes: u64,
    elements: u64,
    exact_bytes: u64,
    /// The total that was set by hand, less the bytes of the base.
    chosen: Option<u64>,
}

impl Region {
    fn of(desc: &BufferTensorDesc, limits: &Limits, errors: &mut Vec<Error>) -> Region {
        let bits = desc.data_type().bits();
        let base = base_in_binding(desc, limits);
        let base_bits = u128::from(base).saturating_mul(u128::from(bits));
        if !base_bits.is_multiple_of(8) {
            errors.push(Error::OffsetInsideByte { base_offset: base, bits });
        }
        let base_bytes = or_largest(checked::narrow(base_bits.div_euclid(8), BYTES), errors);
        let elements = desc.min_elements().saturating_sub(base);
        // Cannot fail: no more than the size that the descriptor's third invariant bounds.
        let exact_bytes = or_largest(checked::bytes_for(elements, bits), errors);
        let total = desc.total_tensor_size_in_bytes();
        let chosen = (total != desc.min_size_in_bytes()).then(|| total.saturating_sub(base_bytes));
        Region { base_bytes, elements, exact_bytes, chosen }
    }
}

/// The part of the base offset that moves into the binding's offset, in elements. A tensor without
/// elements lies nowhere.
fn base_in_binding(desc: &BufferTensorDesc, limits: &Limits) -> u64 {
    if limits.base_offset_in_binding && desc.logical_elements() > 0 { desc.base_offset() } else { 0 }
}

/// What a device does with the elements; true for an output in which no two indices share a place.
fn check_role(desc: &BufferTensorDesc, role: Role, errors: &mut Vec<Error>) -> bool {
    if role != Role::Output {
        return false;
    }
    if desc.flags() == TensorFlags::OwnedByDml {
        errors.push(Error::OwnedOutput);
    }
    match desc.overlap() {
        Overlap::No => return true,
        Overlap::Yes { first, second, offset } => {
            errors.push(Error::OverlappingDestination { first, second, offset });
        }
        Overlap::TooHard => {
            errors.push(Error::TooHard { question: "whether the output overlaps itself", work: OVERLAP_WORK_LIMIT });
        }
    }
    false
}

/// A piece begins where a binding may, with a whole element.
pub(super) fn piece_alignment(desc: &BufferTensorDesc, limits: &Limits) -> u64 {
    let element = element_bytes(desc.data_type());
    common_multiple(limits.offset_alignment, limits.size_multiple)
        .and_then(|alignment| common_multiple(alignment, element))
        .unwrap_or(u64::MAX)
}

pub(super) fn element_bytes(data_type: DataType) -> u64 {
    data_type.bits().div_ceil(8).into()
}

/// The least common multiple; 0 counts as 1.
pub(super) fn common_multiple(a: u64, b: u64) -> Result<u64, Error> {
    let (a, b) = (a.max(1), b.max(1));
    let (mut gcd, mut rest) = (a, b);
    while let Some(next) = gcd.checked_rem(rest) {
        (gcd, rest) = (rest, next);
    }
    checked::mul(a, b.checked_div(gcd).unwrap_or(1), "a common alignment in bytes")
}

/// The value, or the largest number with the error put on the list: the other checks go on.
fn or_largest(value: Result<u64, Error>, errors: &mut Vec<Error>) -> u64 {
    value.unwrap_or_else(|error| {
        errors.push(error);
        u64::MAX
    })
}
