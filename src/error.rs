//! The one error type: which axis, which value, which limit.

mod kind;
mod model;
mod words;

use alloc::string::String;
use alloc::vec::Vec;

pub use kind::ErrorKind;
pub use model::ModelFault;

use alloc::borrow::Cow;

/// Why a layout, a size or a buffer was refused.
///
/// `Display` is a whole sentence for people; [`Error::code`] is a stable word for programs, and [`Error::kind`] sorts
/// the variants into a few kinds.
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
    /// Two lists that must be equally long are not.
    RankMismatch {
        /// What the second list holds.
        what: &'static str,
        /// The rank asked for.
        expected: usize,
        /// The rank found.
        found: usize,
    },
    /// An axis number is not below the rank.
    AxisOutOfRange {
        /// The axis given.
        axis: usize,
        /// The number of axes there are.
        rank: usize,
    },
    /// An index is not below the size of its axis.
    IndexOutOfRange {
        /// The axis.
        axis: usize,
        /// The index given.
        index: u64,
        /// The size of that axis.
        size: u64,
    },
    /// An offset lies outside the buffer a layout describes.
    OffsetOutOfRange {
        /// The offset given, in elements.
        offset: u64,
        /// The number of elements the layout spans.
        elements: u64,
    },
    /// A list of axes repeats one of them.
    NotAPermutation {
        /// What the list is.
        what: &'static str,
        /// Where in the list the repeated axis stands.
        position: usize,
        /// The repeated axis.
        axis: usize,
    },
    /// A list of axes that must ascend does not.
    NotAscending {
        /// What the list is.
        what: &'static str,
        /// Where in the list the axis stands that is too small.
        position: usize,
        /// That axis.
        axis: usize,
        /// The axis in front of it.
        before: usize,
    },
    /// Two sizes that must agree do not.
    SizeMismatch {
        /// The axis.
        axis: usize,
        /// The size asked for.
        expected: u64,
        /// The size found.
        found: u64,
    },
    /// A size of zero where the rule at hand has no meaning for one.
    ZeroSize {
        /// The axis of size zero.
        axis: usize,
    },
    /// A name that is no data type.
    UnknownDataType {
        /// The name given.
        name: String,
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
        /// The data type asked for, in XLA's spelling.
        expected: &'static str,
        /// The data type found.
        found: &'static str,
    },
    /// Two layouts store one element in different numbers of bits.
    ElementBitsMismatch {
        /// Bits an element takes in the first.
        expected: u32,
        /// Bits an element takes in the second.
        found: u32,
    },
    /// A number of bits per element that the operation cannot handle.
    UnsupportedElementBits {
        /// The bits an element takes.
        bits: u32,
        /// What can be handled.
        supported: &'static str,
    },
    /// Text that does not follow its grammar.
    Parse {
        /// The whole text.
        text: String,
        /// Where it went wrong: bytes from the start, the first is 1.
        column: usize,
        /// What would have been right there.
        expected: String,
        /// What stands there instead.
        found: String,
    },
    /// An axis order that is not a list of different letters, or lacks one.
    BadAxisOrder {
        /// The order given.
        order: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tile of size zero.
    ZeroTile {
        /// Which tile, the first is 0.
        tile: usize,
        /// Which of its entries.
        entry: usize,
    },
    /// A tile whose last entry is `*`, which then has no dimension to join.
    TrailingCombine {
        /// Which tile, the first is 0.
        tile: usize,
    },
    /// A tail alignment of zero elements.
    ZeroTailAlignment,
    /// A total size below what the sizes and strides reach.
    TotalSizeTooSmall {
        /// The total given, in bytes.
        total: u64,
        /// The smallest there can be, in bytes.
        min: u64,
    },
    /// A total size that is no multiple of four bytes.
    TotalSizeUnaligned {
        /// The total given, in bytes.
        total: u64,
    },
    /// A base offset alignment that is not 0 or a power of two of at least one element.
    BadAlignment {
        /// The alignment given, in bytes.
        alignment: u64,
        /// The smallest power of two that would do, in bytes.
        min: u64,
    },
    /// A buffer that ends before the layout does.
    BufferTooShort {
        /// Which buffer.
        what: &'static str,
        /// The bytes the layout needs.
        needed: u64,
        /// The bytes there are.
        found: u64,
    },
    /// A pointer of a C structure that is null, or not aligned for what it points to.
    BadPointer {
        /// What it points to.
        what: &'static str,
        /// The alignment it needs, in bytes.
        alignment: usize,
    },
    /// Two indices of a destination share one offset, so a write to one is lost.
    OverlappingDestination {
        /// One index.
        first: Vec<u64>,
        /// The other.
        second: Vec<u64>,
        /// The offset both lie at, in elements.
        offset: u64,
    },
    /// A search was stopped at its work limit.
    TooHard {
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
    /// Padding that is to be set in a part of a larger buffer, where it may be others' elements.
    PaddingOfPart {
        /// Where the part begins, in elements.
        base_offset: u64,
    },
    /// Padding that is to be kept where it cannot be.
    PaddingKept {
        /// Why it cannot, said of the padding.
        reason: &'static str,
    },
    /// A copy that needs a second buffer.
    NotInPlace {
        /// Why it does, said of the copy.
        reason: &'static str,
    },
    /// A view that would need the data to move, or makes no sense for the tensor.
    NotAView {
        /// What was asked for.
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
    /// Two shapes that must hold equally many elements do not.
    ElementCountMismatch {
        /// The elements there are.
        expected: u64,
        /// The elements the other shape has.
        found: u64,
    },
    /// A number below zero where sizes, strides and offsets cannot be.
    Negative {
        /// What the list holds.
        what: &'static str,
        /// Where in it the number stands.
        axis: usize,
    },
    /// A rank outside what a device accepts.
    RankLimit {
        /// The rank of the tensor.
        rank: usize,
        /// The smallest the device takes.
        min: usize,
        /// The largest the device takes.
        max: usize,
    },
    /// A size above what a device can be told.
    SizeLimit {
        /// The axis.
        axis: usize,
        /// Its size, in elements.
        size: u64,
        /// The largest size there can be.
        max: u64,
    },
    /// A stride above what a device can be told.
    StrideLimit {
        /// The axis.
        axis: usize,
        /// Its stride, in elements.
        stride: u64,
        /// The largest stride there can be.
        max: u64,
    },
    /// More elements than a device can address in one tensor.
    ElementLimit {
        /// The elements the tensor spans in its buffer.
        elements: u64,
        /// The most there can be.
        max: u64,
    },
    /// A stride other than 1 of the innermost axis, for a device that is not told it.
    InnerStride {
        /// The axis.
        axis: usize,
        /// Its stride, in elements.
        stride: u64,
    },
    /// A stride that is no multiple of what a device wants.
    StrideUnaligned {
        /// The axis.
        axis: usize,
        /// Its stride, in elements.
        stride: u64,
        /// The bits an element takes.
        bits: u32,
        /// What the stride must be a multiple of, in bytes.
        multiple: u64,
    },
    /// A stride below what the axes inside it take, for a device that wants axes in their order.
    StrideOrder {
        /// The axis.
        axis: usize,
        /// Its stride, in elements.
        stride: u64,
        /// The smallest there can be: the next stride times its size.
        least: u64,
    },
    /// A stride that leaves a gap, or shares elements, where a device wants axes packed.
    StrideNotPacked {
        /// The axis.
        axis: usize,
        /// Its stride, in elements.
        stride: u64,
        /// What it must be: the next stride times its size.
        packed: u64,
    },
    /// A size that is no multiple of what a device wants.
    SizeUnaligned {
        /// The axis.
        axis: usize,
        /// Its size, in elements.
        size: u64,
        /// What that must be a multiple of.
        multiple: u64,
    },
    /// A box whose size along an axis a device does not copy.
    BoxLimit {
        /// The axis.
        axis: usize,
        /// The size of the box along it, in elements.
        size: u64,
        /// The largest there can be; the smallest is 1.
        max: u64,
    },
    /// A box whose rows are no multiple of what a device wants.
    BoxUnaligned {
        /// The axis of a row.
        axis: usize,
        /// The size of the box along it, in elements.
        size: u64,
        /// The bits an element takes.
        bits: u32,
        /// What a row must be a multiple of, in bytes.
        multiple: u64,
    },
    /// A tensor that does not begin where its buffer does, for a device that cannot be told where.
    OffsetNotZero {
        /// Where it begins, in bytes.
        offset: u64,
    },
    /// A binding that does not begin where a device wants it to.
    OffsetUnaligned {
        /// Where it begins, in bytes.
        offset: u64,
        /// What that must be a multiple of, in bytes.
        alignment: u64,
    },
    /// A tensor that begins in the middle of a byte, where no binding can begin.
    OffsetInsideByte {
        /// The base offset, in elements.
        base_offset: u64,
        /// The bits an element takes.
        bits: u32,
    },
    /// A binding whose size is no multiple of what a device wants.
    BindingUnaligned {
        /// Its size, in bytes.
        size: u64,
        /// What that must be a multiple of, in bytes.
        multiple: u64,
    },
    /// A binding below the smallest a device accepts.
    BindingTooSmall {
        /// Its size, in bytes.
        size: u64,
        /// The smallest there can be, in bytes.
        min: u64,
    },
    /// A binding above the largest a device accepts.
    BindingLimit {
        /// Its size, in bytes.
        size: u64,
        /// The largest there can be, in bytes.
        max: u64,
    },
    /// A buffer above the largest a device can make.
    BufferLimit {
        /// Its length, in bytes.
        len: u64,
        /// The largest there can be, in bytes.
        max: u64,
    },
    /// A binding that reaches past the end of its buffer.
    BindingOutsideBuffer {
        /// Where it begins, in bytes.
        offset: u64,
        /// Its size, in bytes.
        size: u64,
        /// The length of the buffer, in bytes.
        len: u64,
    },
    /// An output that DirectML is told to own.
    OwnedOutput,
    /// Two bindings share bytes of one buffer, and at least one of them is written.
    BindingsOverlap {
        /// The place of one in the list.
        first: usize,
        /// The place of the other.
        second: usize,
        /// The first byte of the buffer that both cover.
        byte: u64,
    },
    /// Two bindings of one buffer in one dispatch, one only read and one written, for a device that wants all bindings of
    /// a buffer to be the one or the other.
    BufferReadAndWritten {
        /// The place of one in the list.
        first: usize,
        /// The place of the other.
        second: usize,
    },
    /// A binding too large for one piece, and limits that leave no smaller piece.
    NoPieces {
        /// The largest piece, in bytes.
        max: u64,
        /// What every piece must begin at a multiple of, in bytes.
        alignment: u64,
    },
    /// A model file that is damaged or contradicts itself, or a sharded model whose parts do not fit together.
    Model(ModelFault),
    /// A name that is no set of limits.
    UnknownLimits {
        /// The name given.
        name: String,
    },
}
