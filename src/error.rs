//! The error type of the crate. An error names the axis, the value and the limit.

mod kind;
mod model;
mod rule_words;
mod rules;
mod words;

use alloc::string::String;
use alloc::vec::Vec;

pub use kind::ErrorKind;
pub use model::ModelFault;
pub use rules::{ArgumentRule, DeviceRule};

use alloc::borrow::Cow;

/// The reason why a layout, a size or a buffer was refused.
///
/// `Display` writes a whole sentence for people. [`Error::code`] is a stable word for programs, and
/// [`Error::kind`] sorts the variants into a few kinds.
///
/// ```
/// use tensor_layout::{calc_buffer_tensor_size, DataType};
///
/// let error = calc_buffer_tensor_size(DataType::F32, &[2, 0, 3], None).unwrap_err();
/// assert_eq!(error.code(), "zero_size");
/// assert_eq!(error.to_string(), "axis 1 has size 0, but every size must be at least 1 here");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A size or an offset does not fit its integer type.
    Overflow {
        /// The quantity that was computed, as a noun phrase.
        quantity: &'static str,
        /// The bits of the integer type that the quantity has to fit.
        bits: u32,
    },
    /// A data type has no counterpart in another vocabulary.
    UnsupportedDataType {
        /// The data type, in XLA's spelling.
        data_type: &'static str,
        /// The vocabulary or the device that has no such data type.
        by: Cow<'static, str>,
    },
    /// Two tensors have different data types, but an operation needs equal data types.
    DataTypeMismatch {
        /// The data type that was required, in XLA's spelling.
        expected: &'static str,
        /// The data type that was found, in XLA's spelling.
        found: &'static str,
    },
    /// A text does not follow its grammar.
    Parse {
        /// The whole text.
        text: String,
        /// The column where reading stopped, in bytes. The first byte is column 1.
        column: usize,
        /// The text that would be correct at this column.
        expected: String,
        /// The text that was found at this column.
        found: String,
    },
    /// A buffer ends before the layout or the binding does.
    BufferTooShort {
        /// The name of the buffer, as a noun phrase for the error message.
        what: &'static str,
        /// The offset where the binding begins, in bytes. `None` for a layout, which begins at the start of
        /// the buffer.
        offset: Option<u64>,
        /// The number of bytes that the layout or the binding takes.
        needed: u64,
        /// The number of bytes in the buffer.
        found: u64,
    },
    /// Two indices of a destination share one offset, so one of the two writes would be lost.
    OverlappingDestination {
        /// The first of the two indices.
        first: Vec<u64>,
        /// The second of the two indices.
        second: Vec<u64>,
        /// The offset where both elements are stored, in elements.
        offset: u64,
    },
    /// A search reached its work limit before it found the answer.
    Undecided {
        /// The question that the search was to decide.
        question: &'static str,
        /// The work limit, in search steps.
        work: u64,
    },
    /// A layout cannot be described in the form that was requested.
    NotExpressible {
        /// The form that was requested, such as a tiled layout.
        target: &'static str,
        /// The reason why the layout cannot be described.
        reason: String,
    },
    /// A fill pattern has set bits above the width of one element.
    FillTooWide {
        /// The fill pattern.
        pattern: u128,
        /// The number of bits of an element.
        bits: u32,
    },
    /// A view would need the data to move, or makes no sense for the tensor.
    NotAView {
        /// The operation that was requested.
        operation: &'static str,
        /// The axis where the operation fails.
        axis: usize,
        /// The reason why the operation fails, as the end of a sentence.
        reason: String,
    },
    /// A value is outside the range that an operation accepts.
    OutOfLimits {
        /// The name of the value, as a noun phrase for the error message.
        what: &'static str,
        /// The value that was given.
        value: u64,
        /// The smallest accepted value.
        min: u64,
        /// The largest accepted value.
        max: u64,
    },
    /// A model file is damaged or contradicts itself, or the parts of a sharded model do not fit together.
    Model(ModelFault),
    /// A name is unknown, such as the name of a data type or of limits, or the letters of an axis order are
    /// wrong.
    UnknownName {
        /// The [code](Error::code), such as `unknown_data_type`, `unknown_limits` or `bad_axis_order`.
        code: &'static str,
        /// The name that was given.
        name: String,
        /// The mistake in the name, as the end of a sentence.
        reason: Cow<'static, str>,
    },
    /// Arguments break a rule that holds on every device.
    InvalidArgument {
        /// The rule that is broken.
        rule: ArgumentRule,
        /// A noun or a reason for the error message. Empty for rules with a fixed message.
        what: &'static str,
        /// The axis, or the entry of a tile, where the rule is broken.
        axis: Option<usize>,
        /// The value that was given, or its position in a list. 0 if the rule has no value.
        value: u64,
        /// The number that the value is compared with. 0 if the rule has no such number.
        limit: u64,
    },
    /// A device does not accept a tensor, a buffer or a binding.
    DeviceLimit {
        /// The rule that is broken.
        rule: DeviceRule,
        /// The axis where the rule is broken.
        axis: Option<usize>,
        /// The value that is refused: a rank, a size or stride in elements, or a number of bytes. 0 if the
        /// rule has no value.
        value: u64,
        /// The smallest rank that the device accepts, if a rank is refused. 0 for all other rules.
        least: u64,
        /// The largest value, the multiple, or the exact value that the device accepts. 0 if the rule has no
        /// limit.
        limit: u64,
        /// The bits of an element, if the limit is in bytes and the value is in elements. 0 for all other
        /// rules.
        bits: u32,
    },
    /// Two bindings may not be used together, because they share bytes and at least one of them is written.
    BindingConflict {
        /// The position of the first binding in the list.
        first: usize,
        /// The position of the second binding in the list.
        second: usize,
        /// The first byte of the buffer that both bindings cover. `None` if the bindings share no byte, but
        /// the device requires that a dispatch only reads or only writes all bindings of one buffer.
        byte: Option<u64>,
    },
}

#[cfg(test)]
mod tests;
