//! `validate_bindings`: the tensors of one dispatch, held against each other as well.

use std::ops::Range;

use crate::error::Error;
use crate::strided::{BufferTensorDesc, OVERLAP_WORK_LIMIT, Overlap};

use super::limits::Limits;
use super::report::{Errors, UploadReport};
use super::validate::{Buffer, Role, validate};

/// One tensor of a dispatch: which buffer it is bound to, and where.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The tensor.
    pub desc: &'a BufferTensorDesc,
    /// A number of the caller's for the buffer: equal numbers are the same buffer.
    pub id: u64,
    /// The buffer and the place in it.
    pub buffer: Buffer,
}

/// Checks every binding by itself as [`validate`] does, and that none that is written shares bytes
/// with another. One result for each binding, in order.
///
/// Two bindings in one buffer clash when one is an output and their ranges meet: DirectML may write every byte of
/// an output's range, padding included. An input may lie at the place of an output only where the operator says so;
/// `in_place` lists the pairs of positions (input, output) for which it does. Where the padding is left
/// alone ([`Limits::writes_padding`] is false) only bytes of elements count, exactly: two outputs
/// that are interleaved columns of one matrix do not clash.
///
/// # Errors
///
/// [`Error::BindingsOverlap`] is on the list of the later binding of a clashing pair.
///
/// ```
/// use tensor_layout::upload::{validate_bindings, Binding, Buffer, Limits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[1, 1, 2, 2])?;
/// let at = |offset, role| Binding { desc: &desc, id: 7, buffer: Buffer::new(64, offset, role) };
/// let limits = Limits::by_name("directml")?;
/// let apart = validate_bindings(&[at(0, Role::Input), at(16, Role::Output)], &[], &limits);
/// assert!(apart.iter().all(Result::is_ok));
/// let clash = validate_bindings(&[at(0, Role::Input), at(0, Role::Output)], &[], &limits);
/// assert_eq!(clash[1].as_ref().unwrap_err().codes(), ["bindings_overlap"]);
/// let in_place = validate_bindings(&[at(0, Role::Input), at(0, Role::Output)], &[(0, 1)], &limits);
/// assert!(in_place.iter().all(Result::is_ok));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn validate_bindings(
    bindings: &[Binding<'_>],
    in_place: &[(usize, usize)],
    limits: &Limits,
) -> Vec<Result<UploadReport, Errors>> {
    let mut results: Vec<Result<UploadReport, Errors>> = Vec::new();
    for (second, binding) in bindings.iter().enumerate() {
        let result = validate(binding.desc, &binding.buffer, limits);
        let mut clashes = Vec::new();
        for (first, (earlier, report)) in bindings.iter().zip(results.iter().map(report_of)).enumerate() {
            let allowed = in_place.contains(&(first, second)) || in_place.contains(&(second, first));
            let written = earlier.buffer.role == Role::Output || binding.buffer.role == Role::Output;
            if written && !allowed && earlier.id == binding.id {
                let ranges_meet = shared_byte(&report.bound, &report_of(&result).bound);
                clashes.extend(ranges_meet.and_then(|byte| {
                    if limits.writes_padding {
                        Some(Error::BindingsOverlap { first, second, byte })
                    } else {
                        elements_meet((first, earlier), (second, binding))
                    }
                }));
            }
        }
        results.push(match result {
            Ok(report) if clashes.is_empty() => Ok(report),
            Ok(report) => Err(Errors::new(clashes, report)),
            Err(errors) => {
                let report = errors.report().clone();
                Err(Errors::new(errors.into_iter().chain(clashes).collect(), report))
            }
        });
    }
    results
}

/// The error if two bindings share a byte of an element.
fn elements_meet(a: (usize, &Binding<'_>), b: (usize, &Binding<'_>)) -> Option<Error> {
    let ((first, earlier), (second, later)) = (a, b);
    match earlier.desc.overlap_with_at(earlier.buffer.offset, later.desc, later.buffer.offset) {
        Overlap::No => None,
        Overlap::Yes { offset, .. } => {
            let bits = u128::from(offset).saturating_mul(earlier.desc.data_type().bits().into());
            let byte = u64::try_from(bits.div_euclid(8)).unwrap_or(u64::MAX).saturating_add(earlier.buffer.offset);
            Some(Error::BindingsOverlap { first, second, byte })
        }
        Overlap::TooHard => Some(Error::TooHard { question: "whether two bindings overlap", work: OVERLAP_WORK_LIMIT }),
    }
}

fn report_of(result: &Result<UploadReport, Errors>) -> &UploadReport {
    match result {
        Ok(report) => report,
        Err(errors) => errors.report(),
    }
}

fn shared_byte(a: &Range<u64>, b: &Range<u64>) -> Option<u64> {
    let start = a.start.max(b.start);
    (start < a.end.min(b.end)).then_some(start)
}
