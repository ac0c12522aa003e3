//! The stable codes of the errors, and their sentences.

use crate::checked::Exact;
use std::fmt;

use super::Error;

impl Error {
    /// A stable word for the kind of error: it is part of the interface and does not change
    /// when a sentence is reworded.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Overflow { .. } => "overflow",
            Error::RankMismatch { .. } => "rank_mismatch",
            Error::AxisOutOfRange { .. } => "axis_out_of_range",
            Error::IndexOutOfRange { .. } => "index_out_of_range",
            Error::OffsetOutOfRange { .. } => "offset_out_of_range",
            Error::NotAPermutation { .. } => "not_a_permutation",
            Error::NotAscending { .. } => "not_ascending",
            Error::SizeMismatch { .. } => "size_mismatch",
            Error::ZeroSize { .. } => "zero_size",
            Error::UnknownDataType { .. } => "unknown_data_type",
            Error::UnsupportedDataType { .. } => "unsupported_data_type",
            Error::DataTypeMismatch { .. } => "data_type_mismatch",
            Error::ElementBitsMismatch { .. } => "element_bits_mismatch",
            Error::UnsupportedElementBits { .. } => "unsupported_element_bits",
            Error::Parse { .. } => "parse",
            Error::BadAxisOrder { .. } => "bad_axis_order",
            Error::ZeroTile { .. } => "zero_tile",
            Error::TrailingCombine { .. } => "trailing_combine",
            Error::ZeroTailAlignment => "zero_tail_alignment",
            Error::TotalSizeTooSmall { .. } => "total_size_too_small",
            Error::TotalSizeUnaligned { .. } => "total_size_unaligned",
            Error::BadAlignment { .. } => "bad_alignment",
            Error::BufferTooShort { .. } => "buffer_too_short",
            Error::BadPointer { .. } => "bad_pointer",
            Error::OverlappingDestination { .. } => "overlapping_destination",
            Error::TooHard { .. } => "too_hard",
            Error::NotExpressible { .. } => "not_expressible",
            Error::FillTooWide { .. } => "fill_too_wide",
            Error::PaddingOfPart { .. } => "padding_of_part",
            Error::PaddingKept { .. } => "padding_kept",
            Error::NotInPlace { .. } => "not_in_place",
            Error::NotAView { .. } => "not_a_view",
            Error::OutOfLimits { .. } => "out_of_limits",
            Error::ElementCountMismatch { .. } => "element_count_mismatch",
            Error::Negative { .. } => "negative",
            Error::RankLimit { .. } => "rank_limit",
            Error::SizeLimit { .. } => "size_limit",
            Error::StrideLimit { .. } => "stride_limit",
            Error::ElementLimit { .. } => "element_limit",
            Error::InnerStride { .. } => "inner_stride",
            Error::StrideUnaligned { .. } => "stride_unaligned",
            Error::StrideOrder { .. } => "stride_order",
            Error::StrideNotPacked { .. } => "stride_not_packed",
            Error::SizeUnaligned { .. } => "size_unaligned",
            Error::BoxLimit { .. } => "box_limit",
            Error::BoxUnaligned { .. } => "box_unaligned",
            Error::OffsetNotZero { .. } => "offset_not_zero",
            Error::OffsetUnaligned { .. } => "offset_unaligned",
            Error::OffsetInsideByte { .. } => "offset_inside_byte",
            Error::BindingUnaligned { .. } => "binding_unaligned",
            Error::BindingTooSmall { .. } => "binding_too_small",
            Error::BindingLimit { .. } => "binding_limit",
            Error::BufferLimit { .. } => "buffer_limit",
            Error::BindingOutsideBuffer { .. } => "binding_outside_buffer",
            Error::OwnedOutput => "owned_output",
            Error::BindingsOverlap { .. } => "bindings_overlap",
            Error::BufferReadAndWritten { .. } => "buffer_read_and_written",
            Error::NoPieces { .. } => "no_pieces",
            Error::Model(fault) => fault.code(),
            Error::UnknownLimits { .. } => "unknown_limits",
        }
    }

    /// The column a parse error points at (bytes from the start of the text, the first is 1).
    ///
    /// ```
    /// let error = "f32[3,5]{1,0:T(2,x)}".parse::<tensor_layout::ArrayShape>().unwrap_err();
    /// assert_eq!(error.column(), Some(18));
    /// println!("{error}\n{}", error.pointer().unwrap()); // the text, with a mark below the place
    /// let other = tensor_layout::BufferTensorDesc::packed(tensor_layout::DataType::F32, &[u64::MAX, 2]).unwrap_err();
    /// assert_eq!((other.code(), other.kind(), other.column()), ("overflow", tensor_layout::ErrorKind::Overflow, None));
    /// ```
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self {
            Error::Parse { column, .. } => Some(*column),
            _ => None,
        }
    }
}

/// Two lines for a terminal: the text, and a caret under the column of a parse error.
pub(crate) fn caret(text: &str, column: usize) -> String {
    let before = column.minus(1);
    format!("{text}\n{:before$}^", "")
}

impl Error {
    /// The text of a parse error with a caret under the byte it stopped at; `None` for other errors.
    ///
    /// ```
    /// let error = "f32[2,3".parse::<tensor_layout::ArrayShape>().unwrap_err();
    /// assert_eq!(error.pointer().unwrap(), "f32[2,3\n       ^");
    /// ```
    #[must_use]
    pub fn pointer(&self) -> Option<String> {
        match self {
            Error::Parse { text, column, .. } => Some(caret(text, *column)),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Overflow { quantity, bits } => write!(f, "{quantity} does not fit into {bits} bits"),
            Error::RankMismatch { what, expected, found } => {
                write!(f, "the number of {what} must be {expected}, one for each axis, but is {found}")
            }
            Error::AxisOutOfRange { axis, rank } => write!(f, "axis {axis} does not exist: the rank is {rank}"),
            Error::IndexOutOfRange { axis, index, size } => {
                write!(f, "index {index} on axis {axis} is out of range: its size is {size}")
            }
            Error::OffsetOutOfRange { offset, elements } => {
                write!(f, "offset {offset} is out of range: the layout spans {elements} elements")
            }
            Error::NotAPermutation { what, position, axis } => {
                write!(f, "{what} names axis {axis} a second time, at position {position}")
            }
            Error::NotAscending { what, position, axis, before } => {
                write!(f, "{what} must ascend, but names axis {axis} at position {position}, behind axis {before}")
            }
            Error::SizeMismatch { axis, expected, found } => {
                write!(f, "axis {axis} has size {found}, but size {expected} was expected")
            }
            Error::ZeroSize { axis } => {
                write!(f, "axis {axis} has size 0, but every size must be at least 1 here")
            }
            Error::UnknownDataType { name } => {
                write!(f, "`{name}` is no data type: expected a name such as f32, bf16, s8, u4, pred or f8e4m3fn")
            }
            Error::UnsupportedDataType { data_type, by } => write!(f, "{by} has no data type for {data_type}"),
            Error::DataTypeMismatch { expected, found } => {
                write!(f, "the data type is {found}, but {expected} was expected: elements are moved, never converted")
            }
            Error::ElementBitsMismatch { expected, found } => {
                write!(f, "an element is stored in {found} bits on one side and in {expected} bits on the other")
            }
            Error::UnsupportedElementBits { bits, supported } => {
                write!(f, "elements of {bits} bits cannot be handled here, only {supported}")
            }
            Error::Parse { text, column, expected, found } => {
                write!(f, "column {column} of `{text}`: expected {expected}, found {found}")
            }
            Error::BadAxisOrder { order, reason } => write!(f, "`{order}` is no axis order here: {reason}"),
            Error::ZeroTile { tile, entry } => {
                write!(f, "entry {entry} of tile {tile} is 0, but a tile spans at least one element")
            }
            Error::TrailingCombine { tile } => write!(
                f,
                "the last entry of tile {tile} is `*`, which joins a dimension to the next one, and there is none"
            ),
            Error::ZeroTailAlignment => {
                write!(f, "the tail alignment is 0 elements, but it must be at least 1")
            }
            Error::TotalSizeTooSmall { total, min } => {
                write!(f, "a total size of {total} bytes is too small: the sizes and strides reach {min} bytes")
            }
            Error::TotalSizeUnaligned { total } => {
                write!(f, "a total size of {total} bytes is not a multiple of 4 bytes")
            }
            Error::BadAlignment { alignment, min } => write!(
                f,
                "a base offset alignment of {alignment} bytes is not 0 or a power of two of at least {min} bytes"
            ),
            Error::BufferTooShort { what, needed, found } => {
                write!(f, "the {what} holds {found} bytes, but its layout needs {needed}")
            }
            Error::BadPointer { what, alignment } => {
                write!(f, "the pointer to {what} is null or not a multiple of {alignment} bytes")
            }
            Error::OverlappingDestination { first, second, offset } => write!(
                f,
                "the destination overlaps itself: indices {first:?} and {second:?} both lie at element {offset}"
            ),
            Error::TooHard { question, work } => {
                write!(f, "could not decide {question} within {work} search steps")
            }
            Error::NotExpressible { target, reason } => write!(f, "no {target} describes this layout: {reason}"),
            Error::FillTooWide { pattern, bits } => {
                write!(f, "the pattern {pattern:#x} does not fit into an element of {bits} bits")
            }
            Error::PaddingOfPart { base_offset } => write!(
                f,
                "the destination is a part of a larger buffer, from element {base_offset} on, so its gaps may hold what is not its own: \
                 keep them, or ask for them to be overwritten, with `with_padding_everywhere`"
            ),
            Error::PaddingKept { reason } => {
                write!(
                    f,
                    "the padding of the destination cannot be kept here, as {reason}: set it, with `with_padding`"
                )
            }
            Error::NotInPlace { reason } => write!(f, "this copy cannot be done inside one buffer: {reason}"),
            Error::NotAView { operation, axis, reason } => {
                write!(f, "{operation} is not possible without moving data: axis {axis} {reason}")
            }
            Error::OutOfLimits { what, value, min, max } => {
                write!(f, "{what} is {value}, but must lie between {min} and {max}")
            }
            Error::ElementCountMismatch { expected, found } => {
                write!(f, "the new sizes hold {found} elements, but there are {expected}")
            }
            Error::Negative { what, axis } => {
                write!(f, "number {axis} of the {what} is negative, which cannot be expressed here")
            }
            Error::RankLimit { rank, min, max } => {
                write!(f, "the tensor has rank {rank}, but the device takes ranks {min} to {max}")
            }
            Error::SizeLimit { axis, size, max } => {
                write!(f, "axis {axis} has size {size}, but the device counts to {max}")
            }
            Error::StrideLimit { axis, stride, max } => {
                write!(f, "axis {axis} has stride {stride}, but the device counts to {max}")
            }
            Error::ElementLimit { elements, max } => {
                write!(f, "the tensor spans {elements} elements, but the device addresses at most {max}")
            }
            Error::InnerStride { axis, stride } => {
                write!(f, "axis {axis} is the innermost and has stride {stride}, but the device wants 1 there")
            }
            Error::StrideUnaligned { axis, stride, bits, multiple } => write!(
                f,
                "axis {axis} has a stride of {stride} elements of {bits} bits, which is not a multiple of {multiple} bytes"
            ),
            Error::StrideOrder { axis, stride, least } => write!(
                f,
                "axis {axis} has stride {stride}, but the axis inside it takes {least} elements, and the device wants axes in their order"
            ),
            Error::StrideNotPacked { axis, stride, packed } => write!(
                f,
                "axis {axis} has stride {stride}, but the device wants it packed there, with a stride of {packed}"
            ),
            Error::SizeUnaligned { axis, size, multiple } => {
                write!(f, "axis {axis} has size {size}, which is not a multiple of {multiple}")
            }
            Error::BoxLimit { axis, size, max } => {
                write!(f, "the box has size {size} on axis {axis}, but the device copies 1 to {max}")
            }
            Error::BoxUnaligned { axis, size, bits, multiple } => write!(
                f,
                "the box has rows of {size} elements of {bits} bits on axis {axis}, which are not a multiple of {multiple} bytes"
            ),
            Error::OffsetNotZero { offset } => {
                write!(f, "the tensor begins at byte {offset}, but the device takes a buffer from its beginning")
            }
            Error::OffsetUnaligned { offset, alignment } => {
                write!(f, "the binding begins at byte {offset}, which is not a multiple of {alignment}")
            }
            Error::OffsetInsideByte { base_offset, bits } => write!(
                f,
                "the tensor begins at element {base_offset} of {bits} bits, inside a byte, where no binding can begin"
            ),
            Error::BindingUnaligned { size, multiple } => {
                write!(f, "the binding takes {size} bytes, which is not a multiple of {multiple}")
            }
            Error::BindingTooSmall { size, min } => {
                write!(f, "the binding takes {size} bytes, but the device wants at least {min}")
            }
            Error::BindingLimit { size, max } => {
                write!(f, "the binding takes {size} bytes, but the device binds at most {max}")
            }
            Error::BufferLimit { len, max } => {
                write!(f, "the buffer holds {len} bytes, but the device makes buffers of at most {max}")
            }
            Error::BindingOutsideBuffer { offset, size, len } => write!(
                f,
                "the binding takes {size} bytes from byte {offset}, which passes the end of the buffer at {len}"
            ),
            Error::OwnedOutput => {
                write!(f, "the tensor is an output, but only inputs can be owned by DirectML")
            }
            Error::BindingsOverlap { first, second, byte } => write!(
                f,
                "bindings {first} and {second} share byte {byte} of their buffer, and at least one of them is written"
            ),
            Error::BufferReadAndWritten { first, second } => write!(
                f,
                "bindings {first} and {second} read and write one buffer in one dispatch, which the device refuses however far apart they are"
            ),
            Error::NoPieces { max, alignment } => write!(
                f,
                "a piece of at most {max} bytes cannot be followed by one that begins at a multiple of {alignment}"
            ),
            Error::Model(fault) => fault.fmt(f),
            Error::UnknownLimits { name } => write!(
                f,
                "`{name}` names no limits: expected directml, directml:LEVEL (1.0 to 6.4), d3d12, webgpu, vulkan, metal-tensor, metal-tensor:ml, \
                 vulkan-tensor, cuda-tensor-map, cuda-tensor-map:SWIZZLE (32, 64 or 128), webnn or none"
            ),
        }
    }
}

impl std::error::Error for Error {}
