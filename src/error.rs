//! The one error type: which axis, which value, which limit.

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

/// Why a layout, a size or a buffer was refused.
///
/// `Display` is a whole sentence for people; [`Error::code`] is a stable word for programs, and
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
        /// What was being computed, as a noun phrase.
        quantity: &'static str,
        /// How many bits there were for it.
        bits: u32,
    },
    /// A data type that has no counterpart in another vocabulary.
    UnsupportedDataType {
        /// The data type, in XLA's spelling.
        data_type: &'static str,
        /// Who cannot name it.
        by: Cow<'static, str>,
    },
    /// Two tensors that must hold the same data type do not.
    DataTypeMismatch {
        /// The data type requested, in XLA's spelling.
        expected: &'static str,
        /// The data type found.
        found: &'static str,
    },
    /// Text that does not follow its grammar.
    Parse {
        /// The whole text.
        text: String,
        /// Where it went wrong: bytes from the start, the first is 1.
        column: usize,
        /// What would have been right there.
        expected: String,
        /// What is there instead.
        found: String,
    },
    /// A buffer that ends before the layout, or a binding of it, does.
    BufferTooShort {
        /// Which buffer.
        what: &'static str,
        /// Where the binding begins, in bytes. `None` for a layout, which begins where the buffer does.
        offset: Option<u64>,
        /// The bytes the layout or the binding takes.
        needed: u64,
        /// The bytes there are.
        found: u64,
    },
    /// Two indices of a destination share one offset, so a write to one is lost.
    OverlappingDestination {
        /// One index.
        first: Vec<u64>,
        /// The other.
        second: Vec<u64>,
        /// The offset both are stored at, in elements.
        offset: u64,
    },
    /// A search was stopped at its work limit.
    Undecided {
        /// What was being decided.
        question: &'static str,
        /// The limit, in search steps.
        work: u64,
    },
    /// A layout that the other model has no words for.
    NotExpressible {
        /// What it was to become.
        target: &'static str,
        /// Why it cannot.
        reason: String,
    },
    /// A pattern that has bits outside one element.
    FillTooWide {
        /// The pattern.
        pattern: u128,
        /// The bits an element takes.
        bits: u32,
    },
    /// A view that would need the data to move, or makes no sense for the tensor.
    NotAView {
        /// What was requested.
        operation: &'static str,
        /// The axis where it fails.
        axis: usize,
        /// Why.
        reason: String,
    },
    /// A value outside what an operation accepts.
    OutOfLimits {
        /// What the value is.
        what: &'static str,
        /// The value.
        value: u64,
        /// The smallest that is accepted.
        min: u64,
        /// The largest that is accepted.
        max: u64,
    },
    /// A model file that is damaged or contradicts itself, or a sharded model whose parts do not fit
    /// together.
    Model(ModelFault),
    /// A name that is none of those there are, or an axis order that does not fit.
    UnknownName {
        /// The [code](Error::code), such as `unknown_data_type`, `unknown_limits` or `bad_axis_order`.
        code: &'static str,
        /// The name given.
        name: String,
        /// What is wrong with it, as the end of a sentence.
        reason: Cow<'static, str>,
    },
    /// Arguments that break a rule which holds on every device.
    InvalidArgument {
        /// The rule.
        rule: ArgumentRule,
        /// What the argument is or has to be, or why, where the rule says so in words.
        what: &'static str,
        /// The axis, or the entry of a tile, where it is broken.
        axis: Option<usize>,
        /// The value given, or its position in a list; 0 where there is none.
        value: u64,
        /// What it is compared with; 0 where there is nothing.
        limit: u64,
    },
    /// Something a device does not accept.
    DeviceLimit {
        /// The rule.
        rule: DeviceRule,
        /// The axis where it is broken.
        axis: Option<usize>,
        /// The value: a rank, a size or stride in elements, a number of bytes. 0 where there is none.
        value: u64,
        /// The smallest rank, where a rank is refused; else 0.
        least: u64,
        /// The largest value, the multiple, or the exact value that the device takes; 0 where there is none.
        limit: u64,
        /// The bits of an element, where the limit is one of bytes and the value one of elements; else 0.
        bits: u32,
    },
    /// Two bindings that may not be used together: they share bytes, and at least one of them is written.
    BindingConflict {
        /// The position of one in the list.
        first: usize,
        /// The position of the other.
        second: usize,
        /// The first byte of the buffer that both cover. `None` if there is none, but the device wants all
        /// bindings of a buffer in one dispatch to be only read or only written.
        byte: Option<u64>,
    },
}

#[cfg(test)]
mod tests;
