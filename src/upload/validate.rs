//! `validate`: checks one tensor in one buffer against the limits of a device.

use crate::checked::{self, BYTES, Proven, wide_product};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;
use crate::strided::{GapOwner, IndexWidth};
use alloc::format;
use alloc::vec::Vec;

use super::limits::{DeviceLimits, byte_of, common_multiple};
use super::report::{Errors, UploadReport, WideIndex, in_bytes};
use super::strides::{bits_to, check_strides};
use super::tensor::Tensor;

/// The way in which a device uses a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Role {
    /// The binding is only read.
    Input,
    /// The binding is written, and perhaps read.
    Output,
}

/// A buffer on the device, and the offset in it at which a tensor is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize), serde(deny_unknown_fields))]
pub struct UploadBuffer {
    /// The length of the whole buffer, in bytes.
    pub len: u64,
    /// The offset of the tensor's buffer, in bytes. The tensor's own base offset is added to this offset.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset: u64,
    /// Whether the tensor is read or written.
    pub role: Role,
}

impl UploadBuffer {
    /// Returns a buffer of `len` bytes with a tensor bound `offset` bytes into it.
    #[must_use]
    pub const fn new(len: u64, offset: u64, role: Role) -> UploadBuffer {
        UploadBuffer { len, offset, role }
    }
}

/// Checks one tensor in one buffer against `limits`. The layout is a descriptor, an XLA shape, an index map,
/// or any type with an index map.
///
/// A device that is given sizes and strides ([`DeviceLimits::takes_strides`]) accepts every layout that has
/// strides. For other devices a layout is bound as bytes, which a shader indexes. The padding of tiles then
/// is part of the binding.
///
/// # Errors
///
/// Every [`Error`] that was found, together with the report: the errors of [`validate_description`];
/// `offset_unaligned`, `binding_outside_buffer` and `buffer_limit` for the range in the buffer; and for an
/// output `owned_output`, `gaps_overwritten`, `overlapping_destination`, or `undecided` if the search for an
/// overlap took too long.
///
/// ```
/// use tensor_layout::upload::{self, UploadBuffer, DeviceLimits, Role};
/// use tensor_layout::{calc_buffer_tensor_size, ArrayShape, BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::new(DataType::BF16, &[2, 3], Some(&[0, 1]))?;
/// let buffer = UploadBuffer::new(16, 12, Role::Output);
/// let errors = upload::validate(&desc, &buffer, &"directml:2.0".parse::<DeviceLimits>()?).unwrap_err();
/// assert_eq!(
///     errors.codes(),
///     ["unsupported_data_type", "rank_limit", "offset_unaligned", "binding_outside_buffer", "overlapping_destination"],
/// );
/// assert_eq!(errors.report.bound, 12..20);
///
/// // A base offset moves the bound range; `calc_buffer_tensor_size` and DirectML's structure do not count it.
/// let rows = BufferTensorDesc::packed(DataType::F32, &[4, 4])?.slice_axis(0, 1..3)?;
/// let report = upload::validate(&rows, &UploadBuffer::new(64, 0, Role::Input), &"directml".parse::<DeviceLimits>()?).unwrap();
/// assert_eq!((report.bound, rows.base_offset()), (16..48, 4));
/// assert_eq!(calc_buffer_tensor_size(DataType::F32, rows.sizes(), Some(rows.strides()))?, 32);
///
/// // 16 x 200 elements in tiles of 8 x 128.
/// let tiled: ArrayShape = "f32[16,200]{1,0:T(8,128)}".parse()?;
/// let buffer = UploadBuffer::new(16384, 0, Role::Input);
/// assert_eq!(upload::validate(&tiled, &buffer, &DeviceLimits::webgpu()).unwrap().total_bytes, 16384);
/// let errors = upload::validate(&tiled, &buffer, &DeviceLimits::directml()).unwrap_err();
/// assert_eq!(errors.codes(), ["not_expressible"]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate<L: ToIndexMap + ?Sized>(
    layout: &L,
    buffer: &UploadBuffer,
    limits: &DeviceLimits,
) -> Result<UploadReport, Errors> {
    outcome(check(&tensor(layout, limits)?, Some(buffer), limits))
}

pub(super) fn outcome((report, errors): (UploadReport, Vec<Error>)) -> Result<UploadReport, Errors> {
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
}

/// Makes all checks of a tensor, or those that need no buffer.
pub(super) fn check(
    tensor: &Tensor<'_>,
    buffer: Option<&UploadBuffer>,
    limits: &DeviceLimits,
) -> (UploadReport, Vec<Error>) {
    let mut errors = Vec::new();
    check_description(tensor, limits, &mut errors);
    let mut report = check_binding(tensor, buffer, limits, &mut errors);
    if let Some(output) = buffer.filter(|buffer| buffer.role == Role::Output) {
        if tensor.owned_by_directml {
            errors.push(Code::OwnedOutput.for_value(0, 0));
        }
        match tensor.check_output() {
            Ok(()) => check_written(tensor, output.offset, limits, (&mut report, &mut errors)),
            Err(error) => errors.push(error),
        }
    }
    (report, errors)
}

/// Finds the bits that a device writes beside the elements of an output. No two indices share an offset, so
/// the gaps are the span without the elements.
fn check_written(
    tensor: &Tensor<'_>,
    at: u64,
    limits: &DeviceLimits,
    (report, errors): (&mut UploadReport, &mut Vec<Error>),
) {
    let (bits, unit) = (tensor.element_bits, limits.write_granularity.max(1));
    let in_front = wide_product(report.base_offset, bits);
    let used = wide_product(tensor.element_count, bits);
    report.gap_bits = report.exact_bits.minus(used).saturating_sub(in_front);
    // The number of bits from the last element to the next multiple of `unit` bytes.
    let behind = |unit: u64| match checked::round_up(report.exact_bytes, unit, BYTES) {
        Ok(end) if used > 0 => wide_product(end, 8_u64).saturating_sub(report.exact_bits),
        _ => 0,
    };
    let (all, around) = match limits.writes_padding {
        true => (report.gap_bits.plus(behind(4)), behind(4)),
        false => {
            let around = in_front.modulo(wide_product(unit, 8_u64)).plus(behind(unit));
            let without_strides = if limits.overwrites_units { report.gap_bits } else { 0 };
            (tensor.bits_around(at, unit).unwrap_or(without_strides), around)
        }
    };
    // A tensor that owns its gaps owns the bytes up to a multiple of 4 as well.
    let others = match tensor.owns {
        GapOwner::Others => all,
        GapOwner::Inside => all.min(around).saturating_sub(behind(4)),
        GapOwner::All => 0,
    };
    let own = all.saturating_sub(around).min(report.gap_bits);
    report.overwrites_gaps = (limits.writes_padding || limits.overwrites_units) && own.max(others) > 0;
    if report.overwrites_gaps && others > 0 {
        errors.push(Code::GapsOverwritten.for_value(bits_to(Some(others.div_ceil(8))), 0));
    } else if report.overwrites_gaps {
        report.warnings.push(Code::GapsMayBeOverwritten.for_value(bits_to(Some(own)), 0).with_subject(in_bytes(own)));
    } else if own.max(others) > 0 {
        let bits = own.max(others);
        report.warnings.push(Code::WholeUnitsWritten.for_value(bits_to(Some(bits)), unit).with_subject(in_bytes(bits)));
    }
}

/// Makes the checks of [`validate`] that need no buffer: of the description that the device is given, and of
/// its size. The bound range in the report counts from the start of the tensor's own buffer.
///
/// # Errors
///
/// Every [`Error`] that was found, together with the report.
///
/// * For the description: `unsupported_data_type`, `rank_limit`, `unsupported_element_bits`, `zero_size`,
///   `size_limit`, `stride_limit`, `not_expressible` (no strides), `inner_stride`, `stride_unaligned`,
///   `stride_order`, `stride_not_packed`, `stride_repeated`, `run_unaligned`, `free_stride`, `size_unaligned`
///   and `element_limit`.
/// * For the bound range: `offset_inside_byte`, `offset_not_zero`, `binding_unaligned`, `binding_too_small`
///   and `binding_limit`.
/// * `overflow` if a byte offset or a size exceeds 64 bits.
///
/// If [`ToIndexMap::to_index_map`] refuses the layout, its error is the only one.
///
/// ```
/// use tensor_layout::upload::{validate_description, DeviceLimits};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[8, 8])?.slice_axis(0, 3..5)?;
/// assert_eq!(validate_description(&desc, &DeviceLimits::directml()).unwrap().bound, 96..160);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate_description<L: ToIndexMap + ?Sized>(layout: &L, limits: &DeviceLimits) -> Result<UploadReport, Errors> {
    outcome(check(&tensor(layout, limits)?, None, limits))
}

pub(super) fn tensor<'a, L: ToIndexMap + ?Sized>(layout: &'a L, limits: &DeviceLimits) -> Result<Tensor<'a>, Errors> {
    Tensor::of(layout).map_err(|error| Errors::of(error, limits))
}

fn check_description(tensor: &Tensor<'_>, limits: &DeviceLimits, errors: &mut Vec<Error>) {
    if let Some(block_type) = tensor.block_type.filter(|_| limits.takes_strides) {
        let by = format!("{} takes tensors of elements, not of blocks, and", limits.name);
        return errors.push(Error::unsupported_data_type(block_type.name(), by));
    }
    if tensor.data_type.is_stream() {
        let by = "a device takes arrays of elements, not a stream of bits, and";
        return errors.push(Error::unsupported_data_type(tensor.data_type.xla_name(), by));
    }
    if let Some(types) = &limits.data_types {
        let (data_type, bits) = (tensor.data_type, tensor.element_bits);
        if !types.contains(&data_type) {
            let by = match limits.stand_in(data_type) {
                Some(other) => {
                    format!("{} takes {other} for it, as it copies the bits as they are, but", limits.name).into()
                }
                None => limits.name.clone(),
            };
            errors.push(Error::unsupported_data_type(data_type.xla_name(), by));
        } else if bits != data_type.bits() {
            errors.push(Error::unsupported_bits(bits, data_type.width_in_words()));
        }
    }
    let (rank, indices) = (tensor.sizes().len(), tensor.element_count);
    if rank < limits.min_rank || rank > limits.max_rank {
        errors.push(
            Code::RankLimit
                .for_value(checked::len_u64(rank), checked::len_u64(limits.max_rank))
                .with_other(checked::len_u64(limits.min_rank)),
        );
    }
    if indices > limits.max_logical_elements {
        errors.push(Code::ElementLimit.for_value(indices, limits.max_logical_elements));
    }
    for (axis, &size) in tensor.sizes().iter().enumerate() {
        let rules = [
            (size == 0 && !limits.zero_sizes, Code::ZeroSize, 0),
            (size > limits.max_size, Code::SizeLimit, limits.max_size),
        ];
        errors.extend(rules.into_iter().filter(|rule| rule.0).map(|(_, code, limit)| code.on_axis(axis, size, limit)));
    }
    match tensor.strides() {
        Some(strides) => check_strides(tensor, &strides, limits, errors),
        None if limits.takes_strides || limits.array_stride() > 1 => errors.push(tensor.has_no_strides()),
        None => {}
    }
}

/// Computes every number of the bound range.
fn check_binding(
    tensor: &Tensor<'_>,
    buffer: Option<&UploadBuffer>,
    limits: &DeviceLimits,
    errors: &mut Vec<Error>,
) -> UploadReport {
    let (bits, count) = (tensor.element_bits, tensor.element_count);
    let (offset, len) = buffer.map_or((0, 0), |buffer| (buffer.offset, buffer.len));
    // The part of the base offset that moves into the binding's offset. A shader adds the rest.
    let base = tensor.base_in_binding(limits);
    if limits.takes_strides && !wide_product(base, bits).is_multiple_of(8) {
        errors.push(Code::OffsetInsideByte.for_value(base, 0).with_other(bits.into()));
    }
    let base_bytes = or_largest(byte_of(base, bits), errors);
    let elements = tensor.span_elements.saturating_sub(base);
    // This cannot fail, because the size is bounded by the layout's own invariants.
    let exact_bytes = or_largest(checked::bytes_for(elements, bits), errors);
    // The device writes the last unit of an output whole.
    let is_output = buffer.is_some_and(|buffer| buffer.role == Role::Output);
    let apart = if count > 1 { limits.array_stride() } else { 1 };
    let multiples = [limits.size_multiple, apart, if is_output { limits.write_granularity } else { 1 }];
    let multiple = multiples.into_iter().fold(1, |all, own| or_largest(common_multiple(all, own), errors));
    let rounded_bytes = or_largest(checked::round_up(exact_bytes, multiple, BYTES), errors);
    // A total size that was set by hand is not rounded. A total that the device's `size_multiple` does not
    // divide is refused below.
    let chosen = tensor.chosen_total.saturating_sub(base_bytes);
    let total_bytes = chosen.max(rounded_bytes).max(tensor.extent_in_bytes(limits));
    let start = or_largest(checked::add(offset, base_bytes, BYTES), errors);
    let device_alignment = limits.offset_alignment_of(tensor.data_type, bits);
    let alignment_required = or_largest(common_multiple(device_alignment, tensor.promised_alignment(limits)), errors);
    let end = or_largest(checked::add(start, total_bytes, BYTES), errors);
    let (placed, refused_as_empty) = (buffer.is_some(), count == 0 && !limits.zero_sizes);
    let rules = [
        (elements > limits.max_elements, Code::ElementLimit, elements, limits.max_elements),
        (
            !total_bytes.is_multiple_of(limits.size_multiple.max(1)),
            Code::BindingUnaligned,
            total_bytes,
            limits.size_multiple,
        ),
        (total_bytes < limits.min_binding && !refused_as_empty, Code::BindingTooSmall, total_bytes, limits.min_binding),
        (placed && !start.is_multiple_of(alignment_required), Code::OffsetUnaligned, start, alignment_required),
        (limits.zero_offset && start > 0, Code::OffsetNotZero, start, 0),
        (placed && end > len, Code::BindingOutsideBuffer, len, total_bytes),
        (total_bytes > limits.max_binding, Code::BindingLimit, total_bytes, limits.max_binding),
        (placed && len > limits.max_buffer, Code::BufferLimit, len, limits.max_buffer),
    ];
    let broken = rules.into_iter().filter(|rule| rule.0);
    errors.extend(broken.map(|(_, code, value, limit)| code.for_value(value, limit).with_other(start)));
    let index_width = IndexWidth::for_elements(elements);
    let byte_index_width = IndexWidth::for_elements(exact_bytes).max(index_width);
    // Without strides the first index is not known.
    let is_wide = byte_index_width > IndexWidth::for_elements(0);
    let strides = if is_wide { tensor.strides() } else { None };
    let base_offset = tensor.base_offset.saturating_sub(base);
    let first_wide = strides.map(|strides| WideIndex::all(tensor.sizes(), &strides, base_offset, bits));
    let wide = || Code::WideByteOffsets.with_reason(index_width.name(), byte_index_width.name());
    UploadReport {
        data_type: tensor.data_type,
        element_count: count,
        span_elements: elements,
        exact_bits: wide_product(elements, bits),
        exact_bytes,
        rounded_bytes,
        total_bytes,
        cpu_bytes: exact_bytes,
        padding: exact_bytes..total_bytes,
        bound: start..end,
        needed_buffer: Some(end.max(start.saturating_add(limits.min_binding))).filter(|&end| end < u64::MAX),
        zero_padding: tensor.zero_padding,
        alignment_required,
        alignment_found: 1_u64.checked_shl(start.trailing_zeros()),
        index_width,
        byte_index_width,
        first_wide: first_wide.unwrap_or_default(),
        base_offset,
        warnings: (byte_index_width > index_width).then(wide).into_iter().collect(),
        copies: exact_bytes.div_ceil(limits.max_copy.minus(limits.max_copy.modulo(multiple)).max(1)),
        ..UploadReport::of_nothing(limits)
    }
}

/// Returns the value, or adds the error and returns the largest number, so that the other checks go on.
fn or_largest(value: Result<u64, Error>, errors: &mut Vec<Error>) -> u64 {
    value.unwrap_or_else(|error| {
        errors.push(error);
        u64::MAX
    })
}
