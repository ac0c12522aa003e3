//! `validate_bindings`: checks the tensors of one dispatch, also against each other.

use crate::checked::{exact, len_u64, wide_product};
use alloc::vec::Vec;
use core::ops::Range;

use crate::error::{Code, Error};
use crate::map::ToIndexMap;
use crate::strided::{OVERLAP_WORK_LIMIT, Overlap};

use super::limits::DeviceLimits;
use super::report::{Errors, UploadReport};
use super::tensor::Tensor;
#[cfg(doc)]
use super::validate::validate;
use super::validate::{Role, UploadBuffer, check, outcome};
use super::write_units::{Shared, shared_unit};

/// One tensor of a dispatch, with the buffer that it is bound to and the offset in that buffer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Binding<'a> {
    tensor: Result<Tensor<'a>, Error>,
    /// A number that the caller gives the buffer. Bindings with equal numbers are in one buffer.
    pub id: u64,
    /// The buffer and the offset in it.
    pub buffer: UploadBuffer,
    /// The position in the list of a binding that may share memory with this binding, because the operator
    /// works in place. For an input, this is the output that overwrites it. For an output, this is the input.
    pub aliasing: Option<usize>,
}

impl<'a> Binding<'a> {
    /// Returns the binding of a tensor, in any layout, in the buffer with the number `id`.
    #[must_use]
    pub fn new<L: ToIndexMap + ?Sized>(layout: &'a L, id: u64, buffer: UploadBuffer) -> Binding<'a> {
        Binding { tensor: Tensor::of(layout), id, buffer, aliasing: None }
    }

    /// Returns this binding with permission to share its memory with the binding at `position` of the list.
    /// It is enough if one of the two bindings says so.
    #[must_use]
    pub fn aliasing(self, position: usize) -> Binding<'a> {
        Binding { aliasing: Some(position), ..self }
    }
}

/// Checks every binding by itself, like [`validate`], and bindings of the same buffer against each other. The
/// list has one result for each binding, in order.
///
/// The limits choose the rules:
///
/// * [`one_usage`](DeviceLimits::one_usage) (WebGPU): it is an error if one binding only reads a buffer and
///   another binding writes it, however far apart their ranges are.
/// * [`writes_padding`](DeviceLimits::writes_padding) (DirectML) and
///   [`exclusive_ranges`](DeviceLimits::exclusive_ranges) (WebGPU): a written binding clashes with every
///   other binding whose range overlaps its own.
/// * For other limits, only the elements count, and of layouts without strides (tiles) all bytes. Two outputs
///   that are interleaved columns of one matrix do not clash. Two outputs do clash if they have elements in
///   the same unit of [`write_granularity`](DeviceLimits::write_granularity) bytes, as two rows of an odd
///   number of `u4` have. If the device [overwrites](DeviceLimits::overwrites_units) these units, an output
///   also clashes with an input that has elements in them.
///
/// An input may share memory with an output only if the operator allows it and one of the bindings says so
/// ([`aliasing`](Binding::aliasing)). Under `one_usage` this permission has no effect: a tensor
/// that is updated in place is one binding, an output.
///
/// # Errors
///
/// The errors of [`validate`] for each binding. `bindings_overlap`, `buffer_read_and_written` or
/// `undecided` is in the result of the later binding of a clashing pair.
///
/// ```
/// use tensor_layout::upload::{validate_bindings, Binding, DeviceLimits, Role, UploadBuffer};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[1, 1, 2, 2])?;
/// let at = |offset, role| Binding::new(&desc, 7, UploadBuffer::new(64, offset, role));
/// let limits = DeviceLimits::directml();
/// let apart = validate_bindings(&[at(0, Role::Input), at(16, Role::Output)], &limits);
/// assert!(apart.iter().all(Result::is_ok));
/// let clash = validate_bindings(&[at(0, Role::Input), at(0, Role::Output)], &limits);
/// assert_eq!(clash[1].as_ref().unwrap_err().codes(), ["bindings_overlap"]);
/// let in_place = [at(0, Role::Input).aliasing(1), at(0, Role::Output)];
/// assert!(validate_bindings(&in_place, &limits).iter().all(Result::is_ok));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate_bindings(bindings: &[Binding<'_>], limits: &DeviceLimits) -> Vec<Result<UploadReport, Errors>> {
    let mut results: Vec<Result<UploadReport, Errors>> = Vec::new();
    for (second, binding) in bindings.iter().enumerate() {
        let result = match &binding.tensor {
            Ok(tensor) => outcome(check(tensor, Some(&binding.buffer), limits)),
            Err(error) => Err(Errors::of(error.clone(), limits)),
        };
        let bound = &report_of(&result).bound;
        let earlier = bindings.iter().zip(results.iter().map(report_of)).enumerate();
        let clashes = earlier.filter_map(|(first, (earlier, report))| {
            clash((first, earlier, &report.bound), (second, binding, bound), limits)
        });
        let clashes: Vec<Error> = clashes.collect();
        results.push(match result {
            Ok(report) if clashes.is_empty() => Ok(report),
            Ok(report) => Err(Errors::new(clashes, report)),
            Err(errors) => {
                let report = *errors.report.clone();
                Err(Errors::new(errors.into_iter().chain(clashes).collect(), report))
            }
        });
    }
    results
}

/// Two bindings, each with its position in the list and its bound range.
fn clash(
    (first, earlier, a): (usize, &Binding<'_>, &Range<u64>),
    (second, later, b): (usize, &Binding<'_>, &Range<u64>),
    limits: &DeviceLimits,
) -> Option<Error> {
    let roles = [earlier.buffer.role, later.buffer.role];
    if earlier.id != later.id || !roles.contains(&Role::Output) {
        return None;
    }
    let both_written = !roles.contains(&Role::Input);
    if !both_written && limits.one_usage {
        return Some(Code::BufferReadAndWritten.for_value(len_u64(first), len_u64(second)));
    }
    if !both_written && (earlier.aliasing == Some(second) || later.aliasing == Some(first)) {
        return None;
    }
    let (from, to) = (earlier.buffer.offset, later.buffer.offset);
    // A layout without a map is reported as an error of its own binding.
    let of = |binding: &Binding<'_>| binding.tensor.as_ref().ok()?.strided_or_bytes().ok();
    let (first_desc, second_desc) = (of(earlier)?, of(later)?);
    let shared = if limits.writes_padding || limits.exclusive_ranges {
        let start = a.start.max(b.start);
        if start < a.end.min(b.end) { Shared::Byte(start) } else { Shared::No }
    } else if both_written || limits.overwrites_units {
        shared_unit((&first_desc, from), (&second_desc, to), limits.write_granularity)
    } else {
        // An input is read correctly although its unit is written, because the write keeps the bits of
        // the input.
        match first_desc.overlap_with_at(from, &second_desc, to) {
            Overlap::No => Shared::No,
            Overlap::Yes { offset, .. } => {
                let bits = wide_product(offset, first_desc.data_type().bits());
                Shared::Byte(exact(u64::try_from(bits.div_euclid(8)).ok()).saturating_add(from))
            }
            Overlap::Undecided => Shared::Undecided,
        }
    };
    match shared {
        Shared::No => None,
        Shared::Byte(byte) => Some(Code::BindingsOverlap.for_value(len_u64(first), len_u64(second)).with_other(byte)),
        Shared::Undecided => Some(Error::undecided("whether two bindings overlap", OVERLAP_WORK_LIMIT)),
    }
}

fn report_of(result: &Result<UploadReport, Errors>) -> &UploadReport {
    match result {
        Ok(report) => report,
        Err(errors) => &errors.report,
    }
}
