//! The error type of the crate: a row of [one table](table), with the axis, the value and the limit at hand.

mod table;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::exact::len_u64;

pub use table::Code;
#[cfg(feature = "plan")]
pub use table::Row;

/// The reason why a layout, a size or a buffer was refused.
///
/// `Display` writes a whole sentence for people. [`Error::code`] is a stable word for programs, and
/// [`Error::kind`] sorts the codes into a few kinds. The page docs/ERRORS.md lists them all.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, ErrorKind, calc_buffer_tensor_size};
///
/// let error = calc_buffer_tensor_size(DataType::F32, &[2, 0, 3], None).unwrap_err();
/// assert_eq!(error.code(), "zero_size");
/// assert_eq!(error.to_string(), "axis 1 has size 0, but every size must be at least 1 here");
///
/// let error = BufferTensorDesc::packed(DataType::F32, &[2, 3])?.with_total_size_in_bytes(20).unwrap_err();
/// assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidArgument, "total_size_too_small"));
/// assert_eq!((error.axis(), error.value(), error.limit()), (None, Some(20), Some(24)));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

/// The code and the sentence, as `main` and `unwrap` print it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.code())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    code: Code,
    axis: Option<usize>,
    value: Option<u64>,
    limit: Option<u64>,
    /// A further number, which only few sentences have: `{min}`, `{bits}` or `{from}`.
    other: Option<u64>,
    what: Cow<'static, str>,
    expected: Cow<'static, str>,
    /// What was found, or the reason: `{found}` or `{reason}`.
    found: Cow<'static, str>,
}

/// The kind of an error, for callers that do not look at every code. New codes fall into these kinds.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, ErrorKind};
///
/// let desc = BufferTensorDesc::new(DataType::F32, &[4, 6], Some(&[8, 1]))?;
/// // A padded tensor has no flat view: copy it.
/// assert_eq!(desc.reshape(&[24]).unwrap_err().kind(), ErrorKind::NotExpressible);
/// assert_eq!(desc.reshape(&[25]).unwrap_err().kind(), ErrorKind::InvalidArgument);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text does not follow its grammar, or names something that does not exist.
    Parse,
    /// Arguments contradict each other, or break a rule that holds on every device. The caller made a
    /// mistake.
    InvalidArgument,
    /// An axis, an index, an offset or another number is outside its range. The caller made a mistake.
    OutOfRange,
    /// A size or an offset does not fit its integer type.
    Overflow,
    /// An operation does not handle this data type or this element width.
    Unsupported,
    /// The question makes sense, but there is no such view, description or copy. The caller has to move the
    /// data instead.
    NotExpressible,
    /// A search was stopped at its work limit.
    Undecided,
    /// A buffer is too short for its layout.
    Buffer,
    /// Elements that are written share memory with other elements.
    Overlap,
    /// A device does not accept the tensor, the buffer or the binding.
    DeviceLimit,
    /// What a check accepts and a caller should look at:
    /// [`UploadReport::warnings`](crate::upload::UploadReport::warnings).
    Warning,
}

impl Error {
    /// A stable word, which does not change when a sentence is reworded.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code.row().code
    }

    /// The kind of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.code.row().kind
    }

    /// The axis at fault.
    #[must_use]
    pub fn axis(&self) -> Option<usize> {
        self.0.axis
    }

    /// The value that is refused, in the unit that the sentence names.
    #[must_use]
    pub fn value(&self) -> Option<u64> {
        self.0.value
    }

    /// The number that the value is compared with, in the unit that the sentence names.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.0.limit
    }

    /// What the sentence is about: the text of a parse error, the name of an unknown thing, or a noun phrase.
    /// Empty if the sentence is about nothing but numbers.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// What was expected: the text that would be right in the column of a parse error, or a data type. Empty
    /// for most other errors.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What was found in the column of a parse error, or the reason for a refusal, as the end of a sentence.
    /// Empty for most other errors.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// The column that a parse error points at, in bytes. The first byte of the text is column 1.
    ///
    /// ```
    /// let error = "f32[3,5]{1,0:T(2,x)}".parse::<tensor_layout::ArrayShape>().unwrap_err();
    /// assert_eq!(error.column(), Some(18));
    /// println!("{error}\n{}", error.pointer().unwrap()); // the text, with a mark below the place
    /// let other = tensor_layout::BufferTensorDesc::packed(tensor_layout::DataType::F32, &[u64::MAX, 2]).unwrap_err();
    /// assert_eq!((other.code(), other.column()), ("overflow", None));
    /// ```
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        let column = self.0.other.filter(|_| self.0.code == Code::Parse)?;
        usize::try_from(column).ok()
    }

    /// Returns the text of a parse error, with a caret under the byte where reading stopped. If the text has
    /// more than 120 characters, only those around this byte are shown. Returns `None` for other errors.
    #[must_use]
    pub fn pointer(&self) -> Option<String> {
        let (text, before) = excerpt(&self.0.what, self.column()?.saturating_sub(1));
        Some(format!("{text}\n{}^", " ".repeat(before)))
    }

    /// Returns the error that `text` cannot be read, because `expected` should be at this column and `found`
    /// is there. The column is counted in bytes from 1. Readers of other notations report their errors by
    /// this function.
    ///
    /// ```
    /// let error = tensor_layout::Error::parse("(3,x)", 4, "a number", "`x`");
    /// assert_eq!(error.to_string(), "column 4 of `(3,x)`: expected a number, found `x`");
    /// ```
    #[cold]
    #[must_use]
    pub fn parse(
        text: impl Into<String>,
        column: usize,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Error {
        let (what, expected, found) = (text.into().into(), expected.into(), found.into());
        Error(Box::new(Inner { other: Some(len_u64(column)), what, expected, found, ..Code::Parse.empty() }))
    }
}

impl Code {
    fn empty(self) -> Inner {
        let none = Cow::Borrowed("");
        let (axis, value, limit, other) = (None, None, None, None);
        Inner { code: self, axis, value, limit, other, what: none.clone(), expected: none.clone(), found: none }
    }

    /// Returns the error with this code for `value` on `axis`.
    #[cold]
    #[must_use]
    pub fn on_axis(self, axis: usize, value: u64, limit: u64) -> Error {
        Error(Box::new(Inner { axis: Some(axis), value: Some(value), limit: Some(limit), ..self.empty() }))
    }

    /// Returns the error with this code for `value`, without an axis.
    #[cold]
    #[must_use]
    pub fn for_value(self, value: u64, limit: u64) -> Error {
        Error(Box::new(Inner { value: Some(value), limit: Some(limit), ..self.empty() }))
    }

    /// Returns the error with this code about `what`, with a reason as the end of its sentence.
    #[cold]
    #[must_use]
    pub fn with_reason(self, what: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new(Inner { what: what.into(), found: reason.into(), ..self.empty() }))
    }
}

impl Error {
    pub(crate) fn with_subject(mut self, what: impl Into<Cow<'static, str>>) -> Error {
        self.0.what = what.into();
        self
    }

    pub(crate) fn with_other(mut self, other: u64) -> Error {
        self.0.other = Some(other);
        self
    }

    pub(crate) fn with_axis(mut self, axis: usize) -> Error {
        self.0.axis = Some(axis);
        self
    }

    pub(crate) fn with_limit(mut self, limit: u64) -> Error {
        self.0.limit = Some(limit);
        self
    }
}

/// Defines errors of the library. The crates of this repository report such errors too: with the feature
/// `plan` the functions can be called, but are not listed, because they may change with any version.
macro_rules! errors {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),*) { $error:expr })*) => {
        impl Error {$(
            $(#[$about])*
            #[cfg(feature = "plan")]
            #[doc(hidden)]
            #[cold]
            #[must_use]
            pub fn $name($($argument: $type),*) -> Error {
                $error
            }

            #[cfg(not(feature = "plan"))]
            #[cold]
            pub(crate) fn $name($($argument: $type),*) -> Error {
                $error
            }
        )*}
    };
}

errors! {
    /// `quantity`, a noun phrase, does not fit an integer of `bits` bits.
    fn overflow(quantity: &'static str, bits: u32) {
        Code::Overflow.with_reason(quantity, "").with_limit(bits.into())
    }

    /// `what`, a noun phrase, is `value`, but must be between `min` and `max`.
    fn out_of_limits(what: &'static str, value: u64, min: u64, max: u64) {
        Code::OutOfLimits.for_value(value, max).with_other(min).with_subject(what)
    }

    /// A layout cannot be described as a `target`. The reason is the end of a sentence.
    fn not_expressible(target: &'static str, reason: impl Into<Cow<'static, str>>) {
        Code::NotExpressible.with_reason(target, reason)
    }

    /// A search for the answer to `question` took more than `work` steps.
    fn undecided(question: &'static str, work: u64) {
        Code::Undecided.with_reason(question, "").with_limit(work)
    }

    /// `by`, a vocabulary or a device, has no such data type.
    fn unsupported_data_type(data_type: &'static str, by: impl Into<Cow<'static, str>>) {
        Code::UnsupportedDataType.with_reason(by, data_type)
    }

    /// Elements have a width that is not among the supported ones.
    fn unsupported_bits(bits: u32, supported: &'static str) {
        Code::UnsupportedElementBits.for_value(bits.into(), 0).with_subject(supported)
    }

    /// A buffer, named by a noun phrase, has `found` bytes, but its layout needs more.
    fn buffer_too_short(what: &'static str, needed: u64, found: u64) {
        Code::BufferTooShort.for_value(found, needed).with_subject(what)
    }

    /// An axis does not exist.
    fn axis_out_of_range(axis: usize, rank: usize) {
        Code::AxisOutOfRange.on_axis(axis, 0, len_u64(rank))
    }

    /// A number of a list is negative.
    fn negative(what: &'static str, axis: usize) {
        Code::Negative.on_axis(axis, 0, 0).with_subject(what)
    }

    /// Two indices of a destination are both stored at element `offset`.
    fn overlapping_destination(first: &[u64], second: &[u64], offset: u64) {{
        let mut error = Code::OverlappingDestination.with_reason(format!("{first:?}"), format!("{second:?}"));
        error.0.value = Some(offset);
        error
    }}

    fn in_bits(code: Code, axis: usize, value: u64, limit: u64, bits: u32) {
        code.on_axis(axis, value, limit).with_other(bits.into())
    }

    /// The other side of a copy has another data type.
    #[cfg(any(feature = "relayout", feature = "ndarray"))]
    fn data_type_mismatch(expected: impl Into<Cow<'static, str>>, found: impl Into<Cow<'static, str>>) {{
        let (expected, found) = (expected.into(), found.into());
        let narrow = |name: &str| matches!(name, "s1" | "s2" | "s4" | "u1" | "u2" | "u4");
        let mixed = narrow(&expected) != narrow(&found);
        let hint = " (a byte for each element of a type below a byte is said by `with_byte_elements`)";
        let mut error = Code::DataTypeMismatch.with_reason(if mixed { hint } else { "" }, found);
        error.0.expected = expected;
        error
    }}

    /// There are `found` of `what`, a noun such as `sizes`, where `expected` are needed, one for each axis.
    fn rank_mismatch(what: &'static str, expected: usize, found: usize) {
        Code::RankMismatch.for_value(len_u64(found), len_u64(expected)).with_subject(what)
    }

    /// A transfer begins at byte `value` of `what`, a side of the copy.
    fn transfer_unaligned(axis: usize, value: u64, limit: u64, what: &'static str) {
        Code::TransferUnaligned.on_axis(axis, value, limit).with_subject(what)
    }
}

impl Error {
    pub(crate) fn inside_block(name: &'static str, what: &'static str, axis: usize, value: u64, values: u64) -> Error {
        let mut error = Code::InsideBlock.with_reason(what, name).with_axis(axis).with_limit(values);
        error.0.value = Some(value);
        error
    }

    pub(crate) fn fingerprint_mismatch(form: String, expected: impl fmt::Display, found: impl fmt::Display) -> Error {
        let mut error = Code::FingerprintMismatch.with_reason(form, found.to_string());
        error.0.expected = expected.to_string().into();
        error
    }

    pub(crate) fn unknown_data_type(name: String) -> Error {
        let reason = "is not a data type: expected a name such as f32, bf16, s8, u4, pred or f8e4m3fn";
        Code::UnknownDataType.with_reason(name, reason)
    }
}

/// The most characters of a text that a sentence quotes.
const QUOTED: usize = 120;

/// Returns the characters of a text around a byte, with `…` for those that are left out, and how many of them
/// are in front of the byte.
fn excerpt(text: &str, at: usize) -> (Cow<'_, str>, usize) {
    let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let (front, back) = text.split_at_checked(at).unwrap_or((text, ""));
    if text.chars().nth(QUOTED).is_none() {
        return (text.into(), front.len());
    }
    let half = QUOTED / 2;
    let start = front.char_indices().rev().nth(half.saturating_sub(1)).map_or(0, |(start, _)| start);
    let end = back.char_indices().nth(half).map_or(back.len(), |(end, _)| end);
    let kept = [front.get(start..), back.get(..end)].map(Option::unwrap_or_default);
    let marks = [start > 0, end < back.len()].map(|is_cut| if is_cut { "…" } else { "" });
    let before = kept[0].chars().count().saturating_add(usize::from(start > 0));
    (format!("{}{}{}{}", marks[0], kept[0], kept[1], marks[1]).into(), before)
}

/// Writes a number with its noun: `1 byte`, `4 bytes`. The library and the command line count by this
/// function.
pub fn counted(number: impl TryInto<u128>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u128::MAX);
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Nouns that follow numbers in the table of errors.
const NOUNS: [&str; 3] = [" bytes", " elements", " bits"];

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { code, axis, value, limit, other, what, expected, found } = &*self.0;
        let mut rest = code.row().sentence;
        while let Some((before, name, after)) = rest
            .split_once('{')
            .and_then(|(before, rest)| rest.split_once('}').map(|(name, after)| (before, name, after)))
        {
            f.write_str(before)?;
            rest = after;
            let number = match name {
                "what" | "expected" | "found" | "reason" => None,
                "axis" => Some(axis.map(len_u64)),
                "value" => Some(*value),
                "limit" => Some(*limit),
                _ => Some(*other),
            };
            match (number.map(Option::unwrap_or_default), name) {
                (Some(number), _) => {
                    write!(f, "{number}")?;
                    if let Some(noun) = NOUNS.iter().find(|noun| number == 1 && rest.starts_with(**noun)) {
                        f.write_str(noun.trim_end_matches('s'))?;
                        rest = rest.strip_prefix(noun).unwrap_or_default();
                    }
                }
                (None, "what") => match self.column() {
                    Some(column) => f.write_str(&excerpt(what, column.saturating_sub(1)).0)?,
                    None => f.write_str(what)?,
                },
                (None, "expected") => f.write_str(expected)?,
                (None, _) => f.write_str(found)?,
            }
        }
        f.write_str(rest)
    }
}

impl core::error::Error for Error {}
