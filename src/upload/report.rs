//! `UploadReport`: every number of a check, from the descriptor to the bound range. `Errors`: all errors of a
//! check.

use crate::checked::{Dims, Proven};
use alloc::borrow::Cow;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::element::DataType;
use crate::error::{Code, Error, counted};
use crate::strided::IndexWidth;

use super::limits::DeviceLimits;

/// Every intermediate number of a check, by name. Byte offsets count from the start of the buffer unless the
/// field says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize))]
#[non_exhaustive]
pub struct UploadReport {
    /// The name of the limits that the tensor was checked against.
    pub limits: Cow<'static, str>,
    /// The type of an element.
    pub data_type: DataType,
    /// The number of elements: the product of the sizes.
    pub element_count: u64,
    /// The number of elements from the start of the binding to the end of the last element.
    pub span_elements: u64,
    /// `span_elements` in bits.
    pub exact_bits: u128,
    /// `span_elements` in whole bytes.
    pub exact_bytes: u64,
    /// `exact_bytes` rounded up to a multiple of
    /// [`DeviceLimits::size_multiple`](super::DeviceLimits::size_multiple) (4 for DirectML).
    pub rounded_bytes: u64,
    /// The number of bytes that are bound: `rounded_bytes`, or the total size that was set in the descriptor
    /// if that is more.
    pub total_bytes: u64,
    /// The number of bytes that a CPU slice must have to fill the tensor, not rounded up.
    pub cpu_bytes: u64,
    /// The bytes of the binding after the elements, which should be set to zero. The range counts from the
    /// start of the binding.
    pub padding: Range<u64>,
    /// The bytes of the buffer that are bound.
    pub bound: Range<u64>,
    /// The length of the smallest buffer that holds the tensor at its place, in bytes, with at least
    /// [`DeviceLimits::min_binding`](super::DeviceLimits::min_binding) bytes bound. `None` if the end of the
    /// tensor does not fit 64 bits.
    pub needed_buffer: Option<u64>,
    /// For an output, the number of bits between the start of the binding and the last element that hold no
    /// element. The number is 0 for inputs, for tensors without a buffer, and if indices share offsets.
    pub gap_bits: u128,
    /// Whether the device may overwrite the bits between the elements of this output. This is an error for a
    /// part of a larger buffer, and one of the [`warnings`](Self::warnings) for any other tensor.
    pub overwrites_gaps: bool,
    /// Whether the padding must hold zeros, which a named layout may demand.
    pub zero_padding: bool,
    /// The start of the binding must be a multiple of this number of bytes: of the device's alignment and of
    /// the alignment that the descriptor guarantees.
    pub alignment_required: u64,
    /// The largest power of two that divides the start of the binding, in bytes, or `None` for a start of 0,
    /// which every power divides.
    pub alignment_found: Option<u64>,
    /// The narrowest integer type for every offset from the start of the binding, in elements.
    pub index_width: IndexWidth,
    /// The narrowest integer type for every offset in bytes.
    pub byte_index_width: IndexWidth,
    /// The first index whose offset from the start of the binding takes 32 bits or more, in elements and in
    /// bytes. Empty where a signed integer of 32 bits holds every offset, and without strides.
    pub first_wide: Vec<WideIndex>,
    /// The number of elements between the start of the binding and index 0. A shader adds this number to the
    /// offset that it computes from sizes and strides. The number is 0 for a device that is given strides.
    pub base_offset: u64,
    /// Facts that the caller should know, although they are no errors: sentences of the kind
    /// [`ErrorKind::Warning`](crate::ErrorKind::Warning).
    pub warnings: Vec<Error>,
    /// In how many copies of at most [`DeviceLimits::max_copy`](super::DeviceLimits::max_copy) bytes the CPU
    /// slice goes to the device.
    pub copies: u64,
}

impl UploadReport {
    /// The report of a layout that has no index map. All its numbers are 0.
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
            needed_buffer: None,
            gap_bits: 0,
            overwrites_gaps: false,
            zero_padding: false,
            alignment_required: 1,
            alignment_found: None,
            index_width: IndexWidth::for_elements(0),
            byte_index_width: IndexWidth::for_elements(0),
            first_wide: Vec::new(),
            base_offset: 0,
            warnings: Vec::new(),
            copies: 0,
        }
    }

    /// Checks that a CPU slice of `len` bytes can fill the tensor, and returns the number of zero bytes that
    /// must follow it.
    ///
    /// # Errors
    ///
    /// `buffer_too_short` if there are fewer bytes than the tensor takes.
    pub fn check_upload_length(&self, len: u64) -> Result<u64, Error> {
        if len < self.cpu_bytes {
            return Err(Error::buffer_too_short("CPU slice", self.cpu_bytes, len));
        }
        Ok(self.padding.end.minus(self.padding.start))
    }
}

impl fmt::Display for UploadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "limits           {}", self.limits)?;
        writeln!(
            f,
            "elements         {} logical, {} physical, {}",
            self.element_count, self.span_elements, self.data_type
        )?;
        writeln!(f, "exact            {} = {}", counted(self.exact_bits, "bit"), counted(self.exact_bytes, "byte"))?;
        writeln!(f, "rounded          {}", counted(self.rounded_bytes, "byte"))?;
        writeln!(f, "CPU slice        {}", counted(self.cpu_bytes, "byte"))?;
        match self.padding.is_empty() {
            true => writeln!(f, "padding to zero  none")?,
            false => writeln!(f, "padding to zero  {:?}", self.padding)?,
        }
        if self.gap_bits > 0 {
            let in_units = |warning: &Error| warning.code() == Code::WholeUnitsWritten.row().code;
            let kept = match self.overwrites_gaps {
                true => "the device may overwrite them",
                false if self.warnings.iter().any(in_units) => "some share a unit of memory with elements",
                false => "the device keeps them",
            };
            let (gaps, other) =
                (in_bytes(self.gap_bits), "which belong to others if this is a part of a larger buffer");
            writeln!(f, "gaps             {gaps}, {other}: {kept}")?;
        }
        writeln!(f, "bound            {:?} ({})", self.bound, counted(self.total_bytes, "byte"))?;
        let found = self.alignment_found.map_or_else(|| "any".to_owned(), |found| found.to_string());
        writeln!(f, "alignment        required {}, found {found}", self.alignment_required)?;
        if self.base_offset > 0 {
            writeln!(f, "base offset      {}, which a shader adds", counted(self.base_offset, "element"))?;
        }
        write!(f, "index width      {} in elements, {} in bytes", self.index_width, self.byte_index_width)?;
        for WideIndex { unit, bits, index, offset } in &self.first_wide {
            let index = index.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
            let offset = offset.map_or_else(|| "2^64 or more".to_owned(), |offset| offset.to_string());
            write!(f, "\n                 2^{bits} {unit} are first reached at index [{index}], offset {offset}")?;
        }
        if self.copies > 1 {
            write!(f, "\ncopies           {}, as one is limited", self.copies)?;
        }
        for warning in &self.warnings {
            write!(f, "\nwarning          {warning}")?;
        }
        Ok(())
    }
}

pub(super) fn in_bytes(bits: u128) -> String {
    if bits.is_multiple_of(8) { counted(bits.div_euclid(8), "byte") } else { counted(bits, "bit") }
}

/// All errors of a tensor in its buffer, at least one. The numbers of the check are in
/// [`Errors::report`](field@Errors::report).
///
/// ```
/// use tensor_layout::upload::{validate, UploadBuffer, DeviceLimits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F32, &[64])?;
/// let errors = validate(&desc, &UploadBuffer::new(200, 4, Role::Input), &"d3d12".parse()?).unwrap_err();
/// assert_eq!(errors.codes(), ["offset_unaligned", "binding_outside_buffer"]);
/// assert_eq!(errors.iter().count(), 2);
/// assert_eq!(errors.report.bound, 4..260); // every number that could be found
/// println!("{errors}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize))]
#[non_exhaustive]
pub struct Errors {
    errors: Vec<Error>,
    /// The numbers that were checked. All numbers are 0 for a layout without an index map
    /// (`overflow`, or `SC(..)`), because nothing can be checked. A bound range whose end does not
    /// fit 64 bits ends at the largest number.
    pub report: Box<UploadReport>,
}

impl Errors {
    pub(crate) fn new(errors: Vec<Error>, report: UploadReport) -> Errors {
        Errors { errors, report: Box::new(report) }
    }

    /// The error of a layout of which nothing can be reported.
    pub(super) fn of(error: Error, limits: &DeviceLimits) -> Errors {
        Errors::new(Vec::from([error]), UploadReport::of_nothing(limits))
    }

    /// The stable code of every error: see [`Error::code`].
    #[must_use]
    pub fn codes(&self) -> Vec<&'static str> {
        self.errors.iter().map(Error::code).collect()
    }
}

/// Dereferences to the errors, in the order of the checks.
impl core::ops::Deref for Errors {
    type Target = [Error];

    fn deref(&self) -> &[Error] {
        &self.errors
    }
}

/// Returns the first of the errors, so that `?` works in a function that returns [`Error`].
impl From<Errors> for Error {
    fn from(mut errors: Errors) -> Error {
        // The list has at least one error.
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

/// The first index, in row-major order, whose offset from the start of the binding takes more bits than a
/// width of integers has. Kernels that compute offsets in that width read a wrong element from there on.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, WideIndex, validate_description};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F16, &[40_000, 40_000])?;
/// let report = validate_description(&desc, &DeviceLimits::none())?;
/// let bytes: &WideIndex = &report.first_wide[0];
/// assert_eq!((bytes.unit, bytes.bits, bytes.offset), ("bytes", 31, Some(1 << 31)));
/// assert_eq!(bytes.index, [26843, 21824]); // element 2^30
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize))]
#[non_exhaustive]
pub struct WideIndex {
    /// What the offset counts: `elements` or `bytes`.
    pub unit: &'static str,
    /// The offset is 2 to the power of this number, or more: 32, or 31 if none is that large.
    pub bits: u32,
    /// The index.
    pub index: Vec<u64>,
    /// The offset, or `None` if it does not fit 64 bits.
    pub offset: Option<u64>,
}

impl WideIndex {
    /// Returns the first wide index in elements and in bytes, of those that exist.
    pub(super) fn all(sizes: &[u64], strides: &Dims, base: u64, element_bits: u32) -> Vec<WideIndex> {
        let units = [("elements", 8), ("bytes", element_bits)];
        let widest = |(unit, scale): (&'static str, u32)| {
            [32, 31].into_iter().find_map(|bits| WideIndex::of(sizes, strides, base, (unit, scale.into(), bits)))
        };
        units.into_iter().filter_map(widest).collect()
    }

    /// An offset of `n` elements is `n * scale / 8` units. So `scale` is 8 if a unit is an element, and the
    /// bits of an element if a unit is a byte.
    fn of(
        sizes: &[u64],
        strides: &Dims,
        base: u64,
        (unit, scale, bits): (&'static str, u128, u32),
    ) -> Option<WideIndex> {
        let axes = || sizes.iter().zip(strides.iter()).map(|(&size, &stride)| (size, u128::from(stride)));
        let reach = |(size, stride): (u64, u128)| u128::from(size.saturating_sub(1)).times(stride);
        // How far the axes without an index yet reach together, in elements.
        let mut left = axes().map(reach).fold(0_u128, Proven::plus);
        let (wanted, mut offset) = ((8_u128 << bits).div_ceil(scale), u128::from(base));
        if sizes.contains(&0) || offset.plus(left) < wanted {
            return None;
        }
        let mut index = Vec::new();
        for (size, stride) in axes() {
            left = left.minus(reach((size, stride)));
            let place = wanted.saturating_sub(offset.plus(left)).div_ceil(stride.max(1));
            offset = offset.plus(place.times(stride));
            index.push(u64::try_from(place).unwrap_or(u64::MAX));
        }
        Some(WideIndex { unit, bits, index, offset: u64::try_from(offset.times(scale).div_euclid(8)).ok() })
    }
}
