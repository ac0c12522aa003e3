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
    ($($kind:ident { $($code:literal $name:ident $sentence:literal $($page:literal)?;)* })*) => {
        /// The code of an error: a row of the table of errors, from which back ends make errors of their own.
        ///
        /// ```
        /// use tensor_layout::plan::Code;
        ///
        /// let error = Code::IndexOutOfRange.on_axis(1, 7, 5);
        /// assert_eq!(error.to_string(), "index 7 on axis 1 is out of range: its size is 5");
        /// assert_eq!(Code::OffsetOutOfRange.for_value(30, 24).code(), "offset_out_of_range");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $sentence] $(#[doc = ""] #[doc = $page])? $name,)*)*
        }

        impl Code {
            /// Every code, in the order of the page docs/ERRORS.md.
            pub const ALL: &'static [Code] = &[$($(Code::$name),*),*];

            /// The row of the table.
            #[must_use]
            pub fn row(self) -> &'static Row {
                match self {
                    $($(Code::$name => &Row { code: $code, kind: ErrorKind::$kind, sentence: $sentence, page: concat!($($page)?) },)*)*
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
    /// What must hold, or what went wrong, in general. Empty where the sentence says all.
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
        "bad_axis_order" BadAxisOrder "`{what}` is not an axis order here: {reason}"
            "Letters that are no order of the axes.";
    }
    InvalidArgument {
        "rank_mismatch" RankMismatch "the number of {what} must be {limit}, one for each axis, but is {value}"
            "A list has one entry for each axis, or as many as another. The value is their number.";
        "size_mismatch" SizeMismatch "axis {axis} has size {value}, but size {limit} was expected";
        "element_count_mismatch" ElementCountMismatch "the new sizes hold {value} elements, but there are {limit}";
        "element_bits_mismatch" ElementBitsMismatch
            "an element is stored in {value} bits on one side and in {limit} bits on the other";
        "data_type_mismatch" DataTypeMismatch
            "the data type is {found}, but {expected} was expected: elements are moved, never converted{what}"
            "Two sides of a copy hold one type: elements are moved, never converted.";
        "fingerprint_mismatch" FingerprintMismatch
            "the layout {what} has the fingerprint {found}, and {expected} was expected"
            "A layout has the fingerprint that was expected of it. The layout is in normal form.";
        "not_a_permutation" NotAPermutation "{what} names axis {axis} a second time, at position {value}"
            "A list of axes names each axis once. The value is the position in the list.";
        "negative" Negative "number {axis} of the {what} is negative, which cannot be expressed here"
            "A number is not negative, where sizes, strides and offsets cannot be.";
        "zero_size" ZeroSize "axis {axis} has size 0, but every size must be at least 1 here";
        "zero_tile" ZeroTile "entry {axis} of tile {value} is 0, but a tile spans at least one element";
        "trailing_combine" TrailingCombine
            "the last entry of tile {value} is `*`, which joins a dimension to the next one, and there is none";
        "zero_tail_alignment" ZeroTailAlignment "the tail alignment is 0 elements, but it must be at least 1";
        "total_size_too_small" TotalSizeTooSmall
            "a total size of {value} bytes is too small: the sizes and strides reach {limit} bytes";
        "total_size_unaligned" TotalSizeUnaligned "a total size of {value} bytes is not a multiple of 4 bytes";
        "bad_alignment" BadAlignment
            "a base offset alignment of {value} bytes is not 0 or a power of two of at least {limit} bytes";
        "bad_pointer" BadPointer "the pointer to {what} is null or not a multiple of {limit} bytes"
            "A pointer of a C structure is not null, and aligned. The limit is the alignment, in bytes.";
        "padding_of_part" PaddingOfPart
            "the destination is a part of a larger buffer, from element {value} on (it was sliced, was given a base offset, or was \
             made with `as_part`), so its gaps may hold what is not its own: keep them, or ask for them to be overwritten, with \
             `with_padding_of_whole_buffer`";
        "destination_read" DestinationRead
            "this copy has to read its destination, which can only be written: copy to other memory (`to_vec`), and write its bytes";
        "inside_block" InsideBlock
            "{what} {value} of axis {axis} is not a multiple of {limit}, the values of a block of {found}"
            "A size, or the bounds of a slice, hold whole blocks of a block type. The limit is the number of values of a block.";
        "fill_too_wide" FillTooWide "the pattern {what} does not fit into an element of {limit} bits"
            "A pattern for padding has no bits outside one element.";
    }
    OutOfRange {
        "axis_out_of_range" AxisOutOfRange "axis {axis} does not exist: the rank is {limit}";
        "index_out_of_range" IndexOutOfRange "index {value} on axis {axis} is out of range: its size is {limit}";
        "offset_out_of_range" OffsetOutOfRange "offset {value} is out of range: the layout spans {limit} elements";
        "out_of_limits" OutOfLimits "{what} is {value}, but must be between {min} and {limit}"
            "A value is one that the operation accepts. The limit is the largest.";
        "swizzle_bit" SwizzleBit "bit {value} of an offset cannot be flipped by bit {limit}: only bits above it, up to bit 61, flip a bit"
            "A swizzle flips a bit by higher bits. The value is the bit, and the limit the bit that would flip it.";
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
            "the binding takes {limit} bytes from byte {from}, which passes the end of the buffer at {value}";
    }
    Overlap {
        "overlapping_destination" OverlappingDestination
            "the destination overlaps itself: indices {what} and {found} are both stored at element {value}"
            "Two indices of what is written share a place. The value is its offset, in elements.";
        "bindings_overlap" BindingsOverlap
            "bindings {value} and {limit} share byte {from} of their buffer, and at least one of them is written";
        "buffer_read_and_written" BufferReadAndWritten
            "bindings {value} and {limit} read and write one buffer in one dispatch, which the device refuses however far apart they are";
    }
    DeviceLimit {
        "rank_limit" RankLimit "the tensor has rank {value}, but the device takes ranks {min} to {limit}";
        "size_limit" SizeLimit "axis {axis} has size {value}, but the device takes at most {limit}";
        "stride_limit" StrideLimit "axis {axis} has stride {value}, but the device takes at most {limit}";
        "element_limit" ElementLimit "the tensor spans {value} elements, but the device addresses at most {limit}";
        "inner_stride" InnerStride
            "axis {axis} is the innermost and has stride {value}, but the device requires 1 there";
        "stride_unaligned" StrideUnaligned
            "axis {axis} has a stride of {value} elements of {bits} bits, which is not a multiple of {limit} bytes";
        "stride_order" StrideOrder
            "axis {axis} has stride {value}, but the axis inside it takes {limit} elements, and the device requires axes in their order";
        "stride_not_packed" StrideNotPacked
            "axis {axis} has stride {value}, but the device requires it packed there, with a stride of {limit}";
        "stride_repeated" StrideRepeated
            "axis {axis} has stride 0, but the device repeats nothing inside the outermost axis";
        "run_unaligned" RunUnaligned
            "the contiguous runs that begin with axis {axis} are {value} elements of {bits} bits, which are not a multiple of {limit} bytes";
        "run_inside_byte" RunInsideByte
            "the contiguous runs that begin with axis {axis} are {value} elements of {bits} bits, and begin or end inside a byte, which \
             no transfer does";
        "transfer_unaligned" TransferUnaligned
            "along axis {axis} a transfer begins at byte {value} of the {what}, which is not a multiple of {limit}"
            "A transfer begins at a multiple of this many bytes on both sides. The value is the first byte that is none.";
        "transfer_limit" TransferLimit
            "the copy takes {value} transfers, because its contiguous runs end along axis {axis}, but the executor takes at most {limit}";
        "free_stride" FreeStride
            "axis {axis} has size 1, so that any stride would do, but the device checks it and does not take {value} there: {limit} \
             would do, and no byte moves";
        "size_unaligned" SizeUnaligned "axis {axis} has size {value}, which is not a multiple of {limit}";
        "offset_not_zero" OffsetNotZero
            "the tensor begins at byte {value}, but the device takes a buffer from its beginning";
        "offset_unaligned" OffsetUnaligned "the binding begins at byte {value}, which is not a multiple of {limit}";
        "offset_inside_byte" OffsetInsideByte
            "the tensor begins at element {value} of {bits} bits, inside a byte, where no binding can begin";
        "binding_unaligned" BindingUnaligned "the binding takes {value} bytes, which is not a multiple of {limit}";
        "binding_too_small" BindingTooSmall
            "the binding takes {value} bytes, but the device requires at least {limit}";
        "binding_limit" BindingLimit "the binding takes {value} bytes, but the device binds at most {limit}";
        "buffer_limit" BufferLimit "the buffer holds {value} bytes, but the device makes buffers of at most {limit}";
        "gaps_overwritten" GapsOverwritten
            "the output is a part of a larger buffer, and the device may overwrite the {value} bytes between its elements or around \
             them, which may belong to other tensors: write to a tensor of its own and copy, or say that this device keeps them, with \
             `DeviceLimits::with_gaps_kept` (`writes_padding=false` after the name of the limits, or `overwrites_units=false`)";
        "owned_output" OwnedOutput "the tensor is an output, but only inputs can be owned by DirectML";
        "plane_role" PlaneRole "{what} takes no plane of {found} beside the values"
            "The rules of a device say which planes values may have beside them.";
        "plane_values" PlaneValues "values of {value} bits have no plane beside them on the device, only those of up to {limit} bits";
        "plane_block" PlaneBlock "axis {axis} has one scale for {value} values, but the device takes one for {limit}";
        "box_size" BoxSize "the box has size {value} on axis {axis}, but a tensor map copies 1 to {limit}";
        "box_inner_bytes" BoxInnerBytes
            "a row of the box has {value} bytes along axis {axis}, which is not a multiple of {limit}";
        "box_span" BoxSpan
            "a row of the box has {value} bytes along axis {axis}, but the swizzle permutes at most {limit}";
        "box_row" BoxRow
            "a row of the box has {value} values of {bits} bits along axis {axis}, but a tensor map copies {limit} of them";
        "swizzle_type" SwizzleType "no {what} of this span: {reason}"
            "A tensor map has swizzles that not every data type takes.";
        "element_stride" ElementStride
            "the box takes every {value}th element of axis {axis}, but a tensor map takes steps of 1 to {limit}";
        "interleave" Interleave "no {what} here: {reason}"
            "An interleaved tensor map has rules of its own for its type and its swizzle.";
        "im2col_corner" Im2colCorner "the {what} cannot be encoded: {reason}"
            "The corners of an im2col box have few bits, and hold at least one pixel between them.";
        "im2col_channels" Im2colChannels "the box takes {value} channels of a pixel, but a tensor map copies 1 to {limit}";
        "im2col_pixels" Im2colPixels "the box takes {value} pixels, but a tensor map copies 1 to {limit}";
        "no_pieces" NoPieces
            "a piece of at most {value} bytes cannot be followed by one that begins at a multiple of {limit}";
    }
    Warning {
        "gaps_may_be_overwritten" GapsMayBeOverwritten
            "the device may overwrite the {what} between the elements of this output: if they are not its own padding, say so, with \
             `as_part` or a base offset"
            "An output that has its buffer to itself has gaps between its elements. The value is their number of bits.";
        "whole_units_written" WholeUnitsWritten
            "the device writes whole units of {limit} bytes: a shader keeps the {what} around these elements only if it reads a unit, \
             changes its own part and writes it back, or stores narrower types where the device has them (`write_granularity=1`)"
            "Units of memory hold bits of an output and bits around it. The value is the most bits around it.";
        "wide_byte_offsets" WideByteOffsets
            "offsets fit {what} in elements and need {found} in bytes: a kernel that multiplies by the size of an element first overflows";
    }
}
