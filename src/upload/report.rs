//! `UploadReport`: every number on the way from a descriptor to a bound range; `Errors`: all that is wrong.

use crate::checked::Exact;
use alloc::borrow::Cow;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::element::DataType;
use crate::error::Error;
use crate::strided::IndexWidth;

use super::limits::DeviceLimits;
use super::pieces::Pieces;
use super::warning::{Warning, in_bytes};

/// Every intermediate of a check, named. Bytes count from the start of the buffer unless said
/// otherwise.
///
/// ```
/// use tensor_layout::upload::{validate, UploadBuffer, DeviceLimits, Role, UploadReport};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::new(DataType::F16, &[2, 3], Some(&[5, 1]))?;
/// let report: UploadReport = validate(&desc, &UploadBuffer::new(64, 32, Role::Input), &DeviceLimits::directml()).unwrap();
/// assert_eq!((report.exact_bytes, report.rounded_bytes, report.cpu_bytes, report.bound), (16, 16, 16, 32..48));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadReport {
    /// The name of the limits that were held against the tensor.
    pub limits: Cow<'static, str>,
    /// The type of an element.
    pub data_type: DataType,
    /// The number of indices.
    pub element_count: u64,
    /// The elements from the start of the binding to one past the last that an index has.
    pub span_elements: u64,
    /// `span_elements` in bits.
    pub exact_bits: u128,
    /// `span_elements` in bytes, a started byte counted whole.
    pub exact_bytes: u64,
    /// `exact_bytes` rounded up to what the size of a binding must be a multiple of
    /// ([`DeviceLimits::size_multiple`](super::DeviceLimits::size_multiple): 4 for DirectML).
    pub rounded_bytes: u64,
    /// How many bytes are bound: `rounded_bytes`, or the total size that the descriptor was given if that is
    /// more. A given total may fail to be a multiple of what the device requires, which is reported as an
    /// error.
    pub total_bytes: u64,
    /// The bytes a CPU slice must have to fill the tensor: not the rounded number, so that an upload
    /// reads nothing past its source.
    pub cpu_bytes: u64,
    /// The bytes after the elements that belong to the binding and should be zeroed, from the start
    /// of the binding.
    pub padding: Range<u64>,
    /// The bytes of the buffer that are bound.
    pub bound: Range<u64>,
    /// For an output, the bits between the start of the binding and its last element that hold no element of
    /// it. They are padding of a tensor of its own, but of a slice they belong to others. 0 for inputs, for
    /// tensors without a buffer, and where indices share places.
    pub gap_bits: u128,
    /// May the device overwrite the bits between the elements of this output
    /// ([`DeviceLimits::writes_padding`](super::DeviceLimits::writes_padding))? Of a part of a larger buffer
    /// that is one of the errors, of another tensor one of the [`warnings`](Self::warnings).
    pub overwrites_gaps: bool,
    /// Must the padding between and after the elements hold zeros? A
    /// [named layout](crate::named) may demand it.
    pub zero_padding: bool,
    /// What the start of the binding must be a multiple of, in bytes: the least common multiple of what the
    /// device demands and of the alignment that the descriptor guarantees.
    pub alignment_required: u64,
    /// The largest power of two the start of the binding is a multiple of, in bytes; `None` for 0,
    /// which is a multiple of all.
    pub alignment_found: Option<u64>,
    /// The narrowest integer that holds every element offset of the tensor, counted from the
    /// start of the binding.
    pub index_width: IndexWidth,
    /// The narrowest integer that holds the same offsets in bytes.
    pub byte_index_width: IndexWidth,
    /// What a shader adds to the offsets of the elements, which sizes and strides give: the elements between
    /// the start of the binding and index 0. It is 0 for a device that is given strides.
    pub base_offset: u64,
    /// What is accepted, and should be looked at.
    pub warnings: Vec<Warning>,
    /// How to bind the range in pieces that fit, where it is too large for one binding.
    pub pieces: Option<Pieces>,
    /// How to copy the elements to the device: ranges of the CPU slice, one unless there is too
    /// much for one copy.
    pub copies: Option<Pieces>,
}

impl UploadReport {
    /// The report of a layout that has no index map: no bytes at all.
    pub(super) fn of_nothing(limits: &DeviceLimits) -> UploadReport {
        UploadReport {
            limits: limits.name.clone(),
            data_type: DataType::U8,
            element_count: 0,
            span_elements: 0,
            exact_bits: 0,
            exact_bytes: 0,
            rounded_bytes: 0,
            total_bytes: 0,
            cpu_bytes: 0,
            padding: 0..0,
            bound: 0..0,
            gap_bits: 0,
            overwrites_gaps: false,
            zero_padding: false,
            alignment_required: 1,
            alignment_found: None,
            index_width: IndexWidth::for_elements(0),
            byte_index_width: IndexWidth::for_elements(0),
            base_offset: 0,
            warnings: Vec::new(),
            pieces: None,
            copies: None,
        }
    }

    /// Checks that a CPU slice of `len` bytes can fill the tensor, and returns how many zero bytes
    /// have to follow it.
    ///
    /// # Errors
    ///
    /// [`Error::BufferTooShort`] if there are fewer bytes than the tensor takes.
    ///
    /// ```
    /// use tensor_layout::upload::{self, UploadBuffer, DeviceLimits, Role};
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F16, &[3])?;
    /// let report = upload::validate(&desc, &UploadBuffer::new(8, 0, Role::Input), &DeviceLimits::webgpu()).unwrap();
    /// assert_eq!(report.check_source(6)?, 2);
    /// assert_eq!(report.check_source(4).unwrap_err().code(), "buffer_too_short");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn check_source(&self, len: u64) -> Result<u64, Error> {
        if len < self.cpu_bytes {
            return Err(Error::BufferTooShort { what: "CPU slice", offset: None, needed: self.cpu_bytes, found: len });
        }
        Ok(self.padding.end.minus(self.padding.start))
    }
}

impl fmt::Display for UploadReport {
    /// One line for every number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "limits           {}", self.limits)?;
        writeln!(
            f,
            "elements         {} logical, {} physical, {}",
            self.element_count, self.span_elements, self.data_type
        )?;
        writeln!(f, "exact            {} bits = {} bytes", self.exact_bits, self.exact_bytes)?;
        writeln!(f, "rounded          {} bytes", self.rounded_bytes)?;
        writeln!(f, "CPU slice        {} bytes", self.cpu_bytes)?;
        match self.padding.is_empty() {
            true => writeln!(f, "padding to zero  none")?,
            false => writeln!(f, "padding to zero  {:?}", self.padding)?,
        }
        if self.gap_bits > 0 {
            let kept = if self.overwrites_gaps { "the device may overwrite them" } else { "the device keeps them" };
            let (gaps, other) =
                (in_bytes(self.gap_bits), "which belong to others if this is a part of a larger buffer");
            writeln!(f, "gaps             {gaps}, {other}: {kept}")?;
        }
        writeln!(f, "bound            {:?} ({} bytes)", self.bound, self.total_bytes)?;
        let found = self.alignment_found.map_or_else(|| "any".to_owned(), |found| found.to_string());
        writeln!(f, "alignment        required {}, found {found}", self.alignment_required)?;
        if self.base_offset > 0 {
            writeln!(f, "base offset      {} elements, which a shader adds", self.base_offset)?;
        }
        write!(f, "index width      {} in elements, {} in bytes", self.index_width, self.byte_index_width)?;
        if let Some(pieces) = &self.pieces {
            write!(f, "\npieces           {} of {} bytes", pieces.number(), pieces.step())?;
        }
        if let Some(copies) = self.copies.filter(|copies| copies.number() > 1) {
            write!(f, "\ncopies           {} of {} bytes", copies.number(), copies.step())?;
        }
        for warning in &self.warnings {
            write!(f, "\nwarning          {warning}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a tensor in its buffer; at least one error. The numbers are still
/// there, in [`Errors::report`](field@Errors::report).
///
/// ```
/// use tensor_layout::upload::{validate, UploadBuffer, DeviceLimits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[64])?;
/// let errors = validate(&desc, &UploadBuffer::new(200, 4, Role::Input), &DeviceLimits::d3d12()).unwrap_err();
/// assert_eq!(errors.codes(), ["offset_unaligned", "binding_outside_buffer"]);
/// assert_eq!(errors.iter().count(), 2);
/// assert_eq!(errors.report.bound, 4..260); // every number that could be found
/// println!("{errors}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Errors {
    errors: Vec<Error>,
    /// The numbers that were checked; all 0 for a layout that has no index map ([`Error::Overflow`], or
    /// `SC(..)`), of which there is nothing to check. A bound range that does not fit 64 bits ends at the
    /// largest number.
    pub report: Box<UploadReport>,
}

impl Errors {
    pub(crate) fn new(errors: Vec<Error>, report: UploadReport) -> Errors {
        Errors { errors, report: Box::new(report) }
    }

    /// The stable word of every error: see [`Error::code`].
    #[must_use]
    pub fn codes(&self) -> Vec<&'static str> {
        self.errors.iter().map(Error::code).collect()
    }
}

/// The errors, in the order of the checks.
impl core::ops::Deref for Errors {
    type Target = [Error];

    fn deref(&self) -> &[Error] {
        &self.errors
    }
}

/// The first of the errors, so that `?` works in a function that returns [`Error`].
///
/// ```
/// use tensor_layout::{validate, UploadBuffer, BufferTensorDesc, DataType, Error, DeviceLimits, Role};
///
/// fn upload(desc: &BufferTensorDesc) -> Result<u64, Error> {
///     Ok(validate(desc, &UploadBuffer::new(200, 4, Role::Input), &DeviceLimits::directml())?.total_bytes)
/// }
/// let desc = BufferTensorDesc::packed(DataType::F32, &[64])?;
/// assert_eq!(upload(&desc).unwrap_err().code(), "offset_unaligned");
/// # Ok::<(), Error>(())
/// ```
impl From<Errors> for Error {
    fn from(mut errors: Errors) -> Error {
        // There is at least one.
        errors.errors.swap_remove(0)
    }
}

impl<'a> IntoIterator for &'a Errors {
    type Item = &'a Error;
    type IntoIter = core::slice::Iter<'a, Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Errors {
    type Item = Error;
    type IntoIter = alloc::vec::IntoIter<Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.into_iter()
    }
}

impl fmt::Display for Errors {
    /// One sentence a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, error) in self.errors.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Errors {}
