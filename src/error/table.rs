//! The table of errors: one row for each code, with its kind, its sentence and what the page docs/ERRORS.md
//! says about it.
//!
//! In a sentence, `{axis}`, `{value}` and `{limit}` are numbers of the error, and `{what}`, `{expected}` and
//! `{found}` are its texts. `{reason}` is another name of `{found}`, where the text is the end of a sentence.
//! `{min}`, `{bits}` and `{from}` are names of the one number that few errors have: the smallest value that
//! is accepted, the bits of an element, and the byte where something begins.
//!
//! A new error is a new row. Its code stays when its sentence is reworded.

use super::ErrorKind;

/// Defines `Code`, with a variant and a row for each line of the table.
macro_rules! rows {
    ($($kind:ident { $($code:literal $name:ident $sentence:literal $page:literal;)* })*) => {
        /// The code of an error: a row of the table of errors, from which back ends make errors of their own.
        ///
        /// ```
        /// use tensor_layout::plan::Code;
        ///
        /// let error = Code::IndexOutOfRange.at(1, 7, 5);
        /// assert_eq!(error.to_string(), "index 7 on axis 1 is out of range: its size is 5");
        /// assert_eq!(Code::OffsetOutOfRange.by(30, 24).code(), "offset_out_of_range");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $page] $name,)*)*
        }

        impl Code {
            /// Every code, in the order of the page docs/ERRORS.md.
            pub const ALL: &'static [Code] = &[$($(Code::$name),*),*];

            /// The row of the table.
            #[must_use]
            pub fn row(self) -> &'static Row {
                match self {
                    $($(Code::$name => &Row { code: $code, kind: ErrorKind::$kind, sentence: $sentence, page: $page },)*)*
                }
            }
        }
    };
}

/// A row of the table of errors.
#[derive(Debug)]
#[non_exhaustive]
pub struct Row {
    /// The stable word for the error.
    pub code: &'static str,
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The sentence of the error, with names in braces for its numbers and texts.
    pub sentence: &'static str,
    /// What must hold, or what went wrong, in general.
    pub page: &'static str,
}

rows! {
    Parse {
        "parse" Parse "column {from} of `{what}`: expected {expected}, found {found}"
            "A text does not follow its grammar. `column` says where.";
        "unknown_data_type" UnknownDataType "`{what}` {reason}"
            "A name of a data type that no vocabulary has.";
        "unknown_limits" UnknownLimits "`{what}` {reason}"
            "A name of limits, or of one limit, that does not exist.";
        "unknown_texture_format" UnknownTextureFormat "`{what}` {reason}"
            "A texture format whose blocks are not known.";
        "unknown_texture_api" UnknownTextureApi "`{what}` {reason}"
            "An API whose rules for textures are not known.";
        "bad_axis_order" BadAxisOrder "`{what}` is not an axis order here: {reason}"
            "Letters that are no order of the axes.";
    }
    InvalidArgument {
        "rank_mismatch" RankMismatch "the number of {what} must be {limit}, one for each axis, but is {value}"
            "A list has one entry for each axis, or as many as another. The value is their number.";
        "size_mismatch" SizeMismatch "axis {axis} has size {value}, but size {limit} was expected"
            "A size agrees with another of the same axis. The limit is the size expected.";
        "element_count_mismatch" ElementCountMismatch "the new sizes hold {value} elements, but there are {limit}"
            "Two shapes hold equally many elements. The value is those of the other shape, the limit those there are.";
        "element_bits_mismatch" ElementBitsMismatch
            "an element is stored in {value} bits on one side and in {limit} bits on the other"
            "Two layouts store one element in the same number of bits. The limit is that of the first, the value that of the second.";
        "data_type_mismatch" DataTypeMismatch
            "the data type is {found}, but {expected} was expected: elements are moved, never converted{what}"
            "Two sides of a copy hold one type: elements are moved, never converted.";
        "not_a_permutation" NotAPermutation "{what} names axis {axis} a second time, at position {value}"
            "A list of axes names each axis once. The value is the position in the list.";
        "negative" Negative "number {axis} of the {what} is negative, which cannot be expressed here"
            "A number is not negative, where sizes, strides and offsets cannot be.";
        "zero_size" ZeroSize "axis {axis} has size 0, but every size must be at least 1 here"
            "A size is not 0, where the operation has no meaning for 0.";
        "zero_tile" ZeroTile "entry {axis} of tile {value} is 0, but a tile spans at least one element"
            "An entry of a tile is not 0. The value is the number of the tile, the axis that of the entry; the first is 0.";
        "trailing_combine" TrailingCombine
            "the last entry of tile {value} is `*`, which joins a dimension to the next one, and there is none"
            "The last entry of a tile is not `*`. The value is the number of the tile.";
        "zero_tail_alignment" ZeroTailAlignment "the tail alignment is 0 elements, but it must be at least 1"
            "A tail alignment is not 0 elements.";
        "total_size_too_small" TotalSizeTooSmall
            "a total size of {value} bytes is too small: the sizes and strides reach {limit} bytes"
            "A total size is at least what the sizes and strides reach, in bytes.";
        "total_size_unaligned" TotalSizeUnaligned "a total size of {value} bytes is not a multiple of 4 bytes"
            "A total size is a multiple of 4 bytes.";
        "bad_alignment" BadAlignment
            "a base offset alignment of {value} bytes is not 0 or a power of two of at least {limit} bytes"
            "A base offset alignment is 0, or a power of two of at least one element, in bytes.";
        "bad_pointer" BadPointer "the pointer to {what} is null or not a multiple of {limit} bytes"
            "A pointer of a C structure is not null, and aligned. The limit is the alignment, in bytes.";
        "padding_of_part" PaddingOfPart
            "the destination is a part of a larger buffer, from element {value} on (it was sliced, was given a base offset, or was \
             made with `as_part`), so its gaps may hold what is not its own: keep them, or ask for them to be overwritten, with \
             `with_padding_everywhere`"
            "Padding that is set is not that of a part of a larger buffer. The value is the base offset, in elements.";
        "destination_read" DestinationRead "this copy has to read its destination, which can only be written: copy to other memory (`to_vec`), and write its bytes"
            "A copy that has to read its destination, because elements share bytes there, is given memory that can be read.";
        "inside_block" InsideBlock
            "{what} {value} of axis {axis} is not a multiple of {limit}, the values of a block of {found}"
            "A size, or the bounds of a slice, hold whole blocks of a block type. The limit is the number of values of a block.";
        "fill_too_wide" FillTooWide "the pattern {what} does not fit into an element of {limit} bits"
            "A pattern for padding has no bits outside one element.";
    }
    OutOfRange {
        "axis_out_of_range" AxisOutOfRange "axis {axis} does not exist: the rank is {limit}"
            "An axis is one of the tensor. The limit is the rank.";
        "index_out_of_range" IndexOutOfRange "index {value} on axis {axis} is out of range: its size is {limit}"
            "An index is below the size of its axis, which is the limit.";
        "offset_out_of_range" OffsetOutOfRange "offset {value} is out of range: the layout spans {limit} elements"
            "An offset, in elements, is below the number of those that the layout spans, which is the limit.";
        "out_of_limits" OutOfLimits "{what} is {value}, but must be between {min} and {limit}"
            "A value is one that the operation accepts. The limit is the largest.";
    }
    Overflow {
        "overflow" Overflow "{what} does not fit into {limit} bits"
            "A size or an offset does not fit its integer type. The limit is the number of bits of the type.";
    }
    Unsupported {
        "unsupported_element_bits" UnsupportedElementBits
            "elements of {value} bits cannot be handled here, only {what}"
            "The operation handles elements of this width. The value is in bits.";
        "unsupported_data_type" UnsupportedDataType "{what} has no data type for {found}"
            "A data type has a counterpart in the other vocabulary, or on the device.";
    }
    NotExpressible {
        "not_expressible" NotExpressible "no {what} describes this layout: {reason}"
            "A layout that the other model has no words for. The sentence says why.";
        "not_a_view" NotAView "{what} is not possible without moving data: axis {axis} {reason}"
            "A view for which data would have to move.";
    }
    Undecided {
        "undecided" Undecided "could not decide {what} within {limit} search steps"
            "A search was stopped at its work limit.";
    }
    Buffer {
        "buffer_too_short" BufferTooShort "the {what} holds {value} bytes, but its layout needs {limit}"
            "A buffer ends before its layout does. The value is the size of the buffer, the limit the size that is needed.";
        "binding_outside_buffer" BindingOutsideBuffer
            "the binding takes {limit} bytes from byte {from}, which passes the end of the {what} at {value}"
            "A binding ends after its buffer. The value is the size of the buffer, the limit that of the binding.";
    }
    Overlap {
        "overlapping_destination" OverlappingDestination
            "the destination overlaps itself: indices {what} and {found} are both stored at element {value}"
            "Two indices of what is written share a place. The value is its offset, in elements.";
        "bindings_overlap" BindingsOverlap
            "bindings {value} and {limit} share byte {from} of their buffer, and at least one of them is written"
            "Two bindings share bytes, and one of them is written. The value and the limit are their positions in the list.";
        "buffer_read_and_written" BufferReadAndWritten
            "bindings {value} and {limit} read and write one buffer in one dispatch, which the device refuses however far apart they are"
            "A buffer is read and written in one dispatch, which the device refuses. The value and the limit are the positions of two bindings.";
    }
    DeviceLimit {
        "rank_limit" RankLimit "the tensor has rank {value}, but the device takes ranks {min} to {limit}"
            "The rank is one that the device accepts.";
        "size_limit" SizeLimit "axis {axis} has size {value}, but the device takes at most {limit}"
            "A size fits the device's integer.";
        "stride_limit" StrideLimit "axis {axis} has stride {value}, but the device takes at most {limit}"
            "A stride fits the device's integer.";
        "element_limit" ElementLimit "the tensor spans {value} elements, but the device addresses at most {limit}"
            "The device can address the elements of one tensor.";
        "inner_stride" InnerStride
            "axis {axis} is the innermost and has stride {value}, but the device requires 1 there"
            "The stride of the innermost axis is 1.";
        "stride_unaligned" StrideUnaligned
            "axis {axis} has a stride of {value} elements of {bits} bits, which is not a multiple of {limit} bytes"
            "A stride is a multiple of this many bytes.";
        "stride_order" StrideOrder
            "axis {axis} has stride {value}, but the axis inside it takes {limit} elements, and the device requires axes in their order"
            "A stride is at least the next stride times its size, which is the limit.";
        "stride_not_packed" StrideNotPacked
            "axis {axis} has stride {value}, but the device requires it packed there, with a stride of {limit}"
            "A stride is the next stride times its size, which is the limit.";
        "stride_repeated" StrideRepeated
            "axis {axis} has stride 0, but the device repeats nothing inside the outermost axis"
            "Only the outermost axis has stride 0.";
        "run_unaligned" RunUnaligned
            "the contiguous runs that begin with axis {axis} are {value} elements of {bits} bits, which are not a multiple of {limit} bytes"
            "Every contiguous run of elements is a multiple of this many bytes. The value is its number of elements.";
        "run_inside_byte" RunInsideByte
            "the contiguous runs that begin with axis {axis} are {value} elements of {bits} bits, and begin or end inside a byte, which \
             no transfer does"
            "Every contiguous run of elements begins and ends at whole bytes. The value is its number of elements.";
        "transfer_unaligned" TransferUnaligned
            "along axis {axis} a transfer begins at byte {value} of the {what}, which is not a multiple of {limit}"
            "A transfer begins at a multiple of this many bytes on both sides. The value is the first byte that is none.";
        "transfer_limit" TransferLimit
            "the copy takes {value} transfers, because its contiguous runs end along axis {axis}, but the executor takes at most {limit}"
            "A copy takes at most this many transfers.";
        "free_stride" FreeStride
            "axis {axis} has size 1, so that any stride would do, but the device checks it and does not take {value} there: {limit} \
             would do, and no byte moves"
            "An axis of size 1, whose stride is never used, has one that the device takes. The limit is such a stride.";
        "size_unaligned" SizeUnaligned "axis {axis} has size {value}, which is not a multiple of {limit}"
            "A size is a multiple of a number.";
        "offset_not_zero" OffsetNotZero
            "the tensor begins at byte {value}, but the device takes a buffer from its beginning"
            "A tensor begins where its buffer does. The value is in bytes.";
        "offset_unaligned" OffsetUnaligned "the binding begins at byte {value}, which is not a multiple of {limit}"
            "A binding begins at a multiple of this many bytes.";
        "offset_inside_byte" OffsetInsideByte
            "the tensor begins at element {value} of {bits} bits, inside a byte, where no binding can begin"
            "A tensor begins at a whole byte. The value is its base offset, in elements.";
        "binding_unaligned" BindingUnaligned "the binding takes {value} bytes, which is not a multiple of {limit}"
            "The size of a binding is a multiple of this many bytes.";
        "binding_too_small" BindingTooSmall
            "the binding takes {value} bytes, but the device requires at least {limit}"
            "A binding has at least this many bytes.";
        "binding_limit" BindingLimit "the binding takes {value} bytes, but the device binds at most {limit}"
            "A binding has at most this many bytes.";
        "buffer_limit" BufferLimit "the buffer holds {value} bytes, but the device makes buffers of at most {limit}"
            "A buffer has at most this many bytes.";
        "gaps_overwritten" GapsOverwritten
            "the output is a part of a larger buffer, and the device may overwrite the {value} bytes between its elements, which may \
             belong to other tensors: write to a tensor of its own and copy, or say that this device keeps them, with `DeviceLimits::keeping_gaps` \
             (`writes_padding=false` after the name of the limits)"
            "A part of a larger buffer is not an output of a device that may overwrite the gaps between its elements. The value is the bytes of the gaps.";
        "owned_output" OwnedOutput "the tensor is an output, but only inputs can be owned by DirectML"
            "DirectML does not own an output.";
        "no_pieces" NoPieces
            "a piece of at most {value} bytes cannot be followed by one that begins at a multiple of {limit}"
            "A binding can be divided into pieces. The value is the largest piece, the limit the alignment, in bytes.";
    }
}
