//! The rules that arguments can break, each with its code.

use alloc::format;
use alloc::string::String;

use crate::exact::count;

use super::{Error, ErrorKind};

/// Defines an enum with a code for each variant.
macro_rules! rules {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $rule:ident = $code:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $rule,)*
        }

        impl $name {
            /// The [code](Error::code) of the error.
            pub(super) fn code(self) -> &'static str {
                match self {
                    $($name::$rule => $code,)*
                }
            }

            #[cfg(test)]
            pub(super) const CODES: &'static [&'static str] = &[$($code),*];
        }
    };
}

rules! {
    /// A rule for arguments that holds on every device: see [`Error::InvalidArgument`].
    ///
    /// ```
    /// use tensor_layout::{ArgumentRule, BufferTensorDesc, DataType, Error};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[2, 3])?;
    /// let Err(Error::InvalidArgument { rule, value, limit, .. }) = desc.with_total_size_in_bytes(20) else { panic!() };
    /// assert_eq!((rule, value, limit), (ArgumentRule::TotalSizeTooSmall, 20, 24));
    /// # Ok::<(), Error>(())
    /// ```
    ArgumentRule {
        /// A list must have one entry for each axis, or as many entries as another list. The value is the
        /// number of entries found, and the limit is the number expected.
        RankMismatch = "rank_mismatch",
        /// An axis must be below the rank of the tensor. The limit is the rank.
        AxisOutOfRange = "axis_out_of_range",
        /// An index must be below the size of its axis. The limit is that size.
        IndexOutOfRange = "index_out_of_range",
        /// An offset, in elements, must be below the number of elements that the layout spans. The limit is
        /// that number.
        OffsetOutOfRange = "offset_out_of_range",
        /// Elements must have a width that the operation handles. The value is the width found, in bits.
        UnsupportedElementBits = "unsupported_element_bits",
        /// A copy inside one buffer must be one that can be done in place.
        NotInPlace = "not_in_place",
        /// A copy that only writes its destination must not have to keep any padding there.
        PaddingKept = "padding_kept",
        /// A size must agree with another size of the same axis. The limit is the size that was expected.
        SizeMismatch = "size_mismatch",
        /// Two shapes must hold equally many elements. The value is the number of elements of the new sizes,
        /// and the limit is the number of elements that exist.
        ElementCountMismatch = "element_count_mismatch",
        /// Two layouts must store one element in the same number of bits. The limit is the number of bits of
        /// the first layout, and the value is the number of bits of the second.
        ElementBitsMismatch = "element_bits_mismatch",
        /// A list of axes must name each axis once. The value is the position in the list where an axis is
        /// repeated.
        NotAPermutation = "not_a_permutation",
        /// A list of axes must ascend. The value is the position in the list, and the limit is the axis
        /// before this position.
        NotAscending = "not_ascending",
        /// A number must not be negative where sizes, strides and offsets cannot be negative.
        Negative = "negative",
        /// A size must not be 0 where the operation has no meaning for 0.
        ZeroSize = "zero_size",
        /// An entry of a tile must not be 0. The value is the number of the tile, and the axis is the number
        /// of the entry. Both are counted from 0.
        ZeroTile = "zero_tile",
        /// The last entry of a tile must not be `*`. The value is the number of the tile, counted from 0.
        TrailingCombine = "trailing_combine",
        /// The tail alignment of a layout, in elements, must not be 0.
        ZeroTailAlignment = "zero_tail_alignment",
        /// A total size, in bytes, must be at least the size that the sizes and strides reach. The limit is
        /// that size.
        TotalSizeTooSmall = "total_size_too_small",
        /// A total size must be a multiple of 4 bytes.
        TotalSizeUnaligned = "total_size_unaligned",
        /// A base offset alignment, in bytes, must be 0 or a power of two. The power must be at least the
        /// size of one element, which is the limit.
        BadAlignment = "bad_alignment",
        /// A pointer in a C structure must be aligned and not null. The limit is the alignment, in bytes.
        BadPointer = "bad_pointer",
        /// The padding of a part of a larger buffer must not be overwritten. The value is the base offset of
        /// the part, in elements.
        PaddingOfPart = "padding_of_part",
    }
}

rules! {
    /// A rule of a device: see [`Error::DeviceLimit`].
    ///
    /// ```
    /// use tensor_layout::{upload, BufferTensorDesc, DataType, DeviceRule, Error, DeviceLimits};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[1; 9])?;
    /// let errors = upload::validate_description(&desc, &DeviceLimits::directml()).unwrap_err();
    /// let rank = Error::DeviceLimit { rule: DeviceRule::RankLimit, axis: None, value: 9, least: 1, limit: 8, bits: 0 };
    /// assert_eq!(errors.iter().next(), Some(&rank));
    /// # Ok::<(), Error>(())
    /// ```
    DeviceRule {
        /// The rank of a tensor must be one that the device accepts.
        RankLimit = "rank_limit",
        /// A size must be at most the largest size that the device takes.
        SizeLimit = "size_limit",
        /// A stride must be at most the largest stride that the device takes.
        StrideLimit = "stride_limit",
        /// A tensor must span at most as many elements as the device can address.
        ElementLimit = "element_limit",
        /// The stride of the innermost axis must be 1.
        InnerStride = "inner_stride",
        /// A stride must be a multiple of a number of bytes. The limit is that number.
        StrideUnaligned = "stride_unaligned",
        /// A stride must be at least the stride times the size of the next axis. The limit is that product.
        StrideOrder = "stride_order",
        /// A stride must equal the stride times the size of the next axis. The limit is that product.
        StrideNotPacked = "stride_not_packed",
        /// An axis of size 1 must have a stride that the device accepts, although no element uses this
        /// stride. The limit is an accepted stride.
        FreeStride = "free_stride",
        /// A size must be a multiple of a number. The limit is that number.
        SizeUnaligned = "size_unaligned",
        /// The size of a copied box along an axis must be between 1 and the limit.
        BoxLimit = "box_limit",
        /// The length of a box's rows must be a multiple of a number of bytes. The limit is that number.
        BoxUnaligned = "box_unaligned",
        /// A tensor must begin at the start of its buffer. The value is the offset where it begins, in bytes.
        OffsetNotZero = "offset_not_zero",
        /// A binding must begin at a multiple of a number of bytes. The limit is that number.
        OffsetUnaligned = "offset_unaligned",
        /// A tensor must begin at a whole byte. The value is the base offset of the tensor, in elements.
        OffsetInsideByte = "offset_inside_byte",
        /// The size of a binding must be a multiple of a number of bytes. The limit is that number.
        BindingUnaligned = "binding_unaligned",
        /// The size of a binding, in bytes, must be at least the limit.
        BindingTooSmall = "binding_too_small",
        /// The size of a binding, in bytes, must be at most the limit.
        BindingLimit = "binding_limit",
        /// The size of a buffer, in bytes, must be at most the limit.
        BufferLimit = "buffer_limit",
        /// An output must not be a part of a larger buffer, if the device may overwrite the gaps between its
        /// elements. The value is the size of the gaps, in bytes.
        GapsOverwritten = "gaps_overwritten",
        /// A tensor that DirectML owns must not be an output.
        OwnedOutput = "owned_output",
        /// A binding that is too large must be divisible into pieces. The value is the size of the largest
        /// piece, and the limit is the alignment of a piece, both in bytes.
        NoPieces = "no_pieces",
    }
}

impl ArgumentRule {
    fn broken(self, what: &'static str, axis: Option<usize>, value: u64, limit: u64) -> Error {
        Error::InvalidArgument { rule: self, what, axis, value, limit }
    }

    /// Returns the error that `value` breaks this rule on `axis`.
    ///
    /// ```
    /// let error = tensor_layout::ArgumentRule::IndexOutOfRange.at(1, 7, 5);
    /// assert_eq!(error.to_string(), "index 7 on axis 1 is out of range: its size is 5");
    /// let error = tensor_layout::ArgumentRule::OffsetOutOfRange.by(30, 24);
    /// assert_eq!((error.code(), error.kind()), ("offset_out_of_range", tensor_layout::ErrorKind::OutOfRange));
    /// ```
    #[must_use]
    pub fn at(self, axis: usize, value: u64, limit: u64) -> Error {
        self.broken("", Some(axis), value, limit)
    }

    /// Returns the error that `value` breaks this rule, for a rule without an axis.
    #[must_use]
    pub fn by(self, value: u64, limit: u64) -> Error {
        self.broken("", None, value, limit)
    }

    /// Returns the error that this rule is broken. `what` is the end of its sentence: the accepted values, or
    /// a reason.
    #[cfg(feature = "relayout")]
    pub(crate) fn because(self, what: &'static str) -> Error {
        self.broken(what, None, 0, 0)
    }

    pub(super) fn kind(self) -> ErrorKind {
        match self {
            ArgumentRule::AxisOutOfRange | ArgumentRule::IndexOutOfRange | ArgumentRule::OffsetOutOfRange => {
                ErrorKind::OutOfRange
            }
            ArgumentRule::UnsupportedElementBits => ErrorKind::Unsupported,
            ArgumentRule::NotInPlace => ErrorKind::NotExpressible,
            _ => ErrorKind::InvalidArgument,
        }
    }
}

impl DeviceRule {
    /// Returns the error that `value` breaks this rule on `axis`.
    ///
    /// ```
    /// let error = tensor_layout::DeviceRule::SizeLimit.at(1, 70_000, 65_536);
    /// assert_eq!(error.to_string(), "axis 1 has size 70000, but the device takes at most 65536");
    /// let error = tensor_layout::DeviceRule::ElementLimit.by(1 << 33, 1 << 32);
    /// assert_eq!(error.code(), "element_limit");
    /// ```
    #[must_use]
    pub fn at(self, axis: usize, value: u64, limit: u64) -> Error {
        self.in_bits(Some(axis), value, limit, 0)
    }

    /// Returns the error that `value` breaks this rule, for a rule without an axis.
    #[must_use]
    pub fn by(self, value: u64, limit: u64) -> Error {
        self.in_bits(None, value, limit, 0)
    }

    pub(crate) fn in_bits(self, axis: Option<usize>, value: u64, limit: u64, bits: u32) -> Error {
        Error::DeviceLimit { rule: self, axis, value, least: 0, limit, bits }
    }
}

impl Error {
    pub(crate) fn rank_mismatch(what: &'static str, expected: usize, found: usize) -> Error {
        ArgumentRule::RankMismatch.broken(what, None, count(found), count(expected))
    }

    pub(crate) fn axis_out_of_range(axis: usize, rank: usize) -> Error {
        ArgumentRule::AxisOutOfRange.at(axis, 0, count(rank))
    }

    pub(crate) fn unsupported_bits(bits: u32, supported: &'static str) -> Error {
        ArgumentRule::UnsupportedElementBits.broken(supported, None, bits.into(), 0)
    }

    pub(crate) fn not_a_permutation(what: &'static str, position: usize, axis: usize) -> Error {
        ArgumentRule::NotAPermutation.broken(what, Some(axis), count(position), 0)
    }

    pub(crate) fn not_ascending(what: &'static str, position: usize, axis: usize, before: usize) -> Error {
        ArgumentRule::NotAscending.broken(what, Some(axis), count(position), count(before))
    }

    pub(crate) fn negative(what: &'static str, axis: usize) -> Error {
        ArgumentRule::Negative.broken(what, Some(axis), 0, 0)
    }

    pub(crate) fn zero_tile(tile: u64, entry: usize) -> Error {
        ArgumentRule::ZeroTile.broken("", Some(entry), tile, 0)
    }

    #[cfg(any(feature = "directml", feature = "dlpack", feature = "pjrt"))]
    pub(crate) fn bad_pointer(what: &'static str, alignment: usize) -> Error {
        ArgumentRule::BadPointer.broken(what, None, 0, count(alignment))
    }

    pub(crate) fn rank_limit(rank: usize, least: usize, most: usize) -> Error {
        let (value, least, limit) = (count(rank), count(least), count(most));
        Error::DeviceLimit { rule: DeviceRule::RankLimit, axis: None, value, least, limit, bits: 0 }
    }

    pub(crate) fn unknown_data_type(name: String) -> Error {
        let reason = "is not a data type: expected a name such as f32, bf16, s8, u4, pred or f8e4m3fn".into();
        Error::UnknownName { code: "unknown_data_type", name, reason }
    }

    pub(crate) fn unknown_limits(name: String) -> Error {
        let reason = "names no limits: expected directml, directml:LEVEL (1.0 to 6.4), d3d12, webgpu, vulkan, metal-tensor, metal-tensor:ml, \
                      vulkan-tensor, cuda-tensor-map, cuda-tensor-map:SWIZZLE (32, 64 or 128), webnn, webnn:chromium, metal, webgpu-uniform, \
                      vulkan-uniform, d3d12-constant or none, perhaps with limits of your own after it, as in webgpu:max_binding=2GiB";
        Error::UnknownName { code: "unknown_limits", name, reason: reason.into() }
    }

    pub(crate) fn unknown_limit(name: &str, fields: &[&str]) -> Error {
        let reason = format!("is no limit that can be set by name: expected one of {}", fields.join(", "));
        Error::UnknownName { code: "unknown_limits", name: name.into(), reason: reason.into() }
    }

    pub(crate) fn bad_axis_order(name: String, reason: &str) -> Error {
        Error::UnknownName {
            code: "bad_axis_order",
            name,
            reason: format!("is not an axis order here: {reason}").into(),
        }
    }
}
