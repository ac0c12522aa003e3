//! `validate`: checks one tensor in one buffer against the limits of a device.

use crate::checked::{self, BYTES, Exact};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;
use crate::strided::{IndexWidth, Owns};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::limits::DeviceLimits;
use super::multiples::{byte_of, common_multiple};
use super::report::{Errors, UploadReport};
use super::strides::check_strides;
use super::tensor::Tensor;
use super::warning::Warning;

/// The way in which a device uses a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The binding is only read.
    Input,
    /// The binding is written, and perhaps read.
    Output,
}

/// A buffer on the device, and the offset in it at which a tensor is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UploadBuffer {
    /// The length of the whole buffer, in bytes.
    pub len: u64,
    /// The offset of the tensor's buffer, in bytes. The tensor's own base offset is added to this offset.
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
/// The function checks the data type, the rank, sizes of zero, sizes and strides that do not fit, the order
/// and the gaps of strides, and the number of elements. It checks the size of the binding (multiple,
/// smallest, largest), its offset (alignment of the device and of the descriptor, whole bytes), its range
/// inside the buffer, the size of the buffer, and the flags. In an output, no two indices may share an
/// offset.
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
    validate_tensor(&tensor(layout, limits)?, buffer, limits)
}

pub(super) fn validate_tensor(
    tensor: &Tensor<'_>,
    buffer: &UploadBuffer,
    limits: &DeviceLimits,
) -> Result<UploadReport, Errors> {
    let mut errors = Vec::new();
    check_description(tensor, limits, &mut errors);
    let mut report = check_binding(tensor, Some(buffer), limits, &mut errors);
    if check_role(tensor, buffer.role, &mut errors) {
        // Every index has an offset of its own, so the gaps are all bits that do not belong to one of the
        // elements.
        let used = checked::wide_product(tensor.element_count(), tensor.element_bits());
        let in_front = checked::wide_product(report.base_offset, tensor.element_bits());
        report.gap_bits = report.exact_bits.minus(used).saturating_sub(in_front);
        let overwritten = match limits.writes_padding {
            true => report.gap_bits,
            false if limits.overwrites_units => tensor.bits_in_units(limits.write_unit).min(report.gap_bits),
            false => 0,
        };
        report.overwrites_gaps = overwritten > 0;
        if report.overwrites_gaps && tensor.owns() == Owns::Elements {
            let bytes = u64::try_from(overwritten.div_ceil(8)).unwrap_or(u64::MAX);
            errors.push(Code::GapsOverwritten.by(bytes, 0));
        } else if report.overwrites_gaps {
            report.warnings.push(Warning::GapsOverwritten { bits: overwritten });
        }
    }
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
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
    let (report, errors) = check_unplaced(&tensor(layout, limits)?, limits);
    if errors.is_empty() { Ok(report) } else { Err(Errors::new(errors, report)) }
}

/// Makes the checks of a tensor that is not in a buffer yet.
pub(super) fn check_unplaced(tensor: &Tensor<'_>, limits: &DeviceLimits) -> (UploadReport, Vec<Error>) {
    let mut errors = Vec::new();
    check_description(tensor, limits, &mut errors);
    (check_binding(tensor, None, limits, &mut errors), errors)
}

pub(super) fn tensor<'a, L: ToIndexMap + ?Sized>(layout: &'a L, limits: &DeviceLimits) -> Result<Tensor<'a>, Errors> {
    Tensor::of(layout).map_err(|error| Errors::new(vec![error], UploadReport::of_nothing(limits)))
}

/// Checks the description that the device is given: type, rank, sizes, strides.
fn check_description(tensor: &Tensor<'_>, limits: &DeviceLimits, errors: &mut Vec<Error>) {
    if let Some(block_type) = tensor.block_type().filter(|_| limits.takes_strides) {
        let by = format!("{} takes tensors of elements, not of blocks, and", limits.name);
        return errors.push(Error::unsupported_data_type(block_type.name(), by));
    }
    if let Some(types) = &limits.data_types {
        let (data_type, bits) = (tensor.data_type(), tensor.element_bits());
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
    let (rank, indices) = (tensor.sizes().len(), tensor.element_count());
    if rank < limits.min_rank || rank > limits.max_rank {
        errors.push(Error::rank_limit(rank, limits.min_rank, limits.max_rank));
    }
    if indices > limits.max_logical_elements {
        errors.push(Code::ElementLimit.by(indices, limits.max_logical_elements));
    }
    for (axis, &size) in tensor.sizes().iter().enumerate() {
        if size == 0 && !limits.zero_sizes {
            errors.push(Code::ZeroSize.at(axis, 0, 0));
        }
        if size > limits.max_size {
            errors.push(Code::SizeLimit.at(axis, size, limits.max_size));
        }
    }
    match tensor.strides() {
        Some(strides) => check_strides(tensor, &strides, limits, errors),
        None if limits.takes_strides || limits.array_stride() > 1 => errors.push(tensor.has_no_strides()),
        None => {}
    }
}

/// Computes every number of the bound range, and adds its errors to the list.
fn check_binding(
    tensor: &Tensor<'_>,
    buffer: Option<&UploadBuffer>,
    limits: &DeviceLimits,
    errors: &mut Vec<Error>,
) -> UploadReport {
    let bits = tensor.element_bits();
    let region = Region::of(tensor, limits, errors);
    if region.elements > limits.max_elements {
        errors.push(Code::ElementLimit.by(region.elements, limits.max_elements));
    }
    let exact_bytes = region.exact_bytes;
    let mut multiple = limits.size_multiple.max(1);
    if tensor.element_count() > 1 {
        multiple = or_largest(common_multiple(multiple, limits.array_stride()), errors);
    }
    if buffer.is_some_and(|buffer| buffer.role == Role::Output) {
        // The device writes the last unit whole.
        multiple = or_largest(common_multiple(multiple, limits.write_unit), errors);
    }
    let rounded_bytes = or_largest(checked::round_up(exact_bytes, multiple, BYTES), errors);
    // A total size that was set by hand is not rounded. The next check refuses a total that the device's
    // `size_multiple` does not divide.
    let total_bytes = region.chosen.unwrap_or(0).max(rounded_bytes).max(tensor.extent_in_bytes(limits));
    if !total_bytes.is_multiple_of(limits.size_multiple.max(1)) {
        errors.push(Code::BindingUnaligned.by(total_bytes, limits.size_multiple));
    }
    let refused_as_empty = tensor.element_count() == 0 && !limits.zero_sizes;
    if total_bytes < limits.min_binding && !refused_as_empty {
        errors.push(Code::BindingTooSmall.by(total_bytes, limits.min_binding));
    }
    let start = or_largest(checked::add(buffer.map_or(0, |buffer| buffer.offset), region.base_bytes, BYTES), errors);
    let device_alignment = limits.offset_alignment_of(tensor.data_type(), bits);
    let alignment_required = or_largest(common_multiple(device_alignment, tensor.promised_alignment(limits)), errors);
    if buffer.is_some() && !start.is_multiple_of(alignment_required) {
        errors.push(Code::OffsetUnaligned.by(start, alignment_required));
    }
    if limits.zero_offset && start > 0 {
        errors.push(Code::OffsetNotZero.by(start, 0));
    }
    let end = or_largest(checked::add(start, total_bytes, BYTES), errors);
    if let Some(&UploadBuffer { len, .. }) = buffer.filter(|buffer| end > buffer.len) {
        errors.push(Error::binding_outside(start, total_bytes, len));
    }
    if total_bytes > limits.max_binding {
        errors.push(Code::BindingLimit.by(total_bytes, limits.max_binding));
    }
    if let Some(&UploadBuffer { len, .. }) = buffer.filter(|buffer| buffer.len > limits.max_buffer) {
        errors.push(Code::BufferLimit.by(len, limits.max_buffer));
    }
    let index_width = IndexWidth::for_elements(region.elements);
    let byte_index_width = IndexWidth::for_elements(exact_bytes).max(index_width);
    UploadReport {
        limits: limits.name.clone(),
        data_type: tensor.data_type(),
        element_count: tensor.element_count(),
        span_elements: region.elements,
        exact_bits: checked::wide_product(region.elements, bits),
        exact_bytes,
        rounded_bytes,
        total_bytes,
        cpu_bytes: exact_bytes,
        padding: exact_bytes..total_bytes,
        bound: start..end,
        gap_bits: 0,
        overwrites_gaps: false,
        zero_padding: tensor.zero_padding(),
        alignment_required,
        alignment_found: 1_u64.checked_shl(start.trailing_zeros()),
        index_width,
        byte_index_width,
        base_offset: region.base_left,
        warnings: (byte_index_width > index_width)
            .then_some(Warning::WideByteOffsets { elements: index_width, bytes: byte_index_width })
            .into_iter()
            .collect(),
        copies: exact_bytes.div_ceil(limits.max_copy.minus(limits.max_copy.modulo(multiple)).max(1)),
    }
}

/// The part of the tensor's buffer that is bound.
struct Region {
    /// The part of the base offset that moves into the binding's offset, in bytes.
    base_bytes: u64,
    /// The part of the base offset that a shader adds, in elements.
    base_left: u64,
    elements: u64,
    exact_bytes: u64,
    /// The total size that was set by hand, minus the bytes of the base offset. `None` without such a size.
    chosen: Option<u64>,
}

impl Region {
    fn of(tensor: &Tensor<'_>, limits: &DeviceLimits, errors: &mut Vec<Error>) -> Region {
        let bits = tensor.element_bits();
        let base = tensor.base_in_binding(limits);
        if limits.takes_strides && !checked::wide_product(base, bits).is_multiple_of(8) {
            errors.push(Error::in_bits(Code::OffsetInsideByte, None, base, 0, bits));
        }
        let base_bytes = or_largest(byte_of(base, bits), errors);
        let elements = tensor.span_elements().saturating_sub(base);
        // This cannot fail, because the size is bounded by the layout's own invariants.
        let exact_bytes = or_largest(checked::bytes_for(elements, bits), errors);
        let chosen = tensor.chosen_total().map(|total| total.saturating_sub(base_bytes));
        let base_left = if tensor.element_count() == 0 { 0 } else { tensor.base_offset().saturating_sub(base) };
        Region { base_bytes, base_left, elements, exact_bytes, chosen }
    }
}

/// Checks the tensor as an output. Returns true for an output in which no two indices share an offset.
fn check_role(tensor: &Tensor<'_>, role: Role, errors: &mut Vec<Error>) -> bool {
    if role != Role::Output {
        return false;
    }
    if tensor.is_owned() {
        errors.push(Code::OwnedOutput.by(0, 0));
    }
    match tensor.check_output() {
        Ok(()) => true,
        Err(error) => {
            errors.push(error);
            false
        }
    }
}

/// Returns the value, or adds the error to the list and returns the largest number, so that the other checks
/// go on.
fn or_largest(value: Result<u64, Error>, errors: &mut Vec<Error>) -> u64 {
    value.unwrap_or_else(|error| {
        errors.push(error);
        u64::MAX
    })
}
