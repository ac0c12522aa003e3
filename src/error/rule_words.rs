//! The sentences that tell which rule is broken.

use core::fmt;

use super::rules::{ArgumentRule, DeviceRule};

impl ArgumentRule {
    pub(super) fn sentence(
        self,
        f: &mut fmt::Formatter<'_>,
        what: &str,
        axis: Option<usize>,
        value: u64,
        limit: u64,
    ) -> fmt::Result {
        let axis = axis.unwrap_or_default();
        match self {
            ArgumentRule::RankMismatch => {
                write!(f, "the number of {what} must be {limit}, one for each axis, but is {value}")
            }
            ArgumentRule::AxisOutOfRange => write!(f, "axis {axis} does not exist: the rank is {limit}"),
            ArgumentRule::IndexOutOfRange => {
                write!(f, "index {value} on axis {axis} is out of range: its size is {limit}")
            }
            ArgumentRule::OffsetOutOfRange => {
                write!(f, "offset {value} is out of range: the layout spans {limit} elements")
            }
            ArgumentRule::UnsupportedElementBits => {
                write!(f, "elements of {value} bits cannot be handled here, only {what}")
            }
            ArgumentRule::NotInPlace => write!(f, "this copy cannot be done inside one buffer: {what}"),
            ArgumentRule::PaddingKept => {
                write!(f, "the padding of the destination cannot be kept here, as {what}")
            }
            ArgumentRule::SizeMismatch => {
                write!(f, "axis {axis} has size {value}, but size {limit} was expected")
            }
            ArgumentRule::ElementCountMismatch => {
                write!(f, "the new sizes hold {value} elements, but there are {limit}")
            }
            ArgumentRule::ElementBitsMismatch => {
                write!(f, "an element is stored in {value} bits on one side and in {limit} bits on the other")
            }
            ArgumentRule::NotAPermutation => {
                write!(f, "{what} names axis {axis} a second time, at position {value}")
            }
            ArgumentRule::NotAscending => {
                write!(f, "{what} must ascend, but names axis {axis} at position {value}, after axis {limit}")
            }
            ArgumentRule::Negative => {
                write!(f, "number {axis} of the {what} is negative, which cannot be expressed here")
            }
            ArgumentRule::ZeroSize => write!(f, "axis {axis} has size 0, but every size must be at least 1 here"),
            ArgumentRule::ZeroTile => {
                write!(f, "entry {axis} of tile {value} is 0, but a tile spans at least one element")
            }
            ArgumentRule::TrailingCombine => write!(
                f,
                "the last entry of tile {value} is `*`, which joins a dimension to the next one, and there is none"
            ),
            ArgumentRule::ZeroTailAlignment => {
                f.write_str("the tail alignment is 0 elements, but it must be at least 1")
            }
            ArgumentRule::TotalSizeTooSmall => {
                write!(f, "a total size of {value} bytes is too small: the sizes and strides reach {limit} bytes")
            }
            ArgumentRule::TotalSizeUnaligned => {
                write!(f, "a total size of {value} bytes is not a multiple of 4 bytes")
            }
            ArgumentRule::BadAlignment => write!(
                f,
                "a base offset alignment of {value} bytes is not 0 or a power of two of at least {limit} bytes"
            ),
            ArgumentRule::BadPointer => {
                write!(f, "the pointer to {what} is null or not a multiple of {limit} bytes")
            }
            ArgumentRule::PaddingOfPart => write!(
                f,
                "the destination is a part of a larger buffer, from element {value} on (it was sliced, was given a base offset, or was \
                 made with `as_part`), so its gaps may hold what is not its own: keep them, or ask for them to be overwritten, with \
                 `with_padding_everywhere`"
            ),
        }
    }
}

impl DeviceRule {
    pub(super) fn sentence(
        self,
        f: &mut fmt::Formatter<'_>,
        axis: Option<usize>,
        value: u64,
        [least, limit]: [u64; 2],
        bits: u32,
    ) -> fmt::Result {
        let axis = axis.unwrap_or_default();
        match self {
            DeviceRule::RankLimit => {
                write!(f, "the tensor has rank {value}, but the device takes ranks {least} to {limit}")
            }
            DeviceRule::SizeLimit => write!(f, "axis {axis} has size {value}, but the device takes at most {limit}"),
            DeviceRule::StrideLimit => {
                write!(f, "axis {axis} has stride {value}, but the device takes at most {limit}")
            }
            DeviceRule::ElementLimit => {
                write!(f, "the tensor spans {value} elements, but the device addresses at most {limit}")
            }
            DeviceRule::InnerStride => {
                write!(f, "axis {axis} is the innermost and has stride {value}, but the device requires 1 there")
            }
            DeviceRule::StrideUnaligned => write!(
                f,
                "axis {axis} has a stride of {value} elements of {bits} bits, which is not a multiple of {limit} bytes"
            ),
            DeviceRule::StrideOrder => write!(
                f,
                "axis {axis} has stride {value}, but the axis inside it takes {limit} elements, and the device requires axes in their order"
            ),
            DeviceRule::StrideNotPacked => write!(
                f,
                "axis {axis} has stride {value}, but the device requires it packed there, with a stride of {limit}"
            ),
            DeviceRule::FreeStride => write!(
                f,
                "axis {axis} has size 1, so that any stride would do, but the device checks it and does not take {value} there: {limit} \
                 would do, and no byte moves"
            ),
            DeviceRule::SizeUnaligned => {
                write!(f, "axis {axis} has size {value}, which is not a multiple of {limit}")
            }
            DeviceRule::BoxLimit => {
                write!(f, "the box has size {value} on axis {axis}, but the device copies 1 to {limit}")
            }
            DeviceRule::BoxUnaligned => write!(
                f,
                "the box has rows of {value} elements of {bits} bits on axis {axis}, which are not a multiple of {limit} bytes"
            ),
            DeviceRule::OffsetNotZero => {
                write!(f, "the tensor begins at byte {value}, but the device takes a buffer from its beginning")
            }
            DeviceRule::OffsetUnaligned => {
                write!(f, "the binding begins at byte {value}, which is not a multiple of {limit}")
            }
            DeviceRule::OffsetInsideByte => write!(
                f,
                "the tensor begins at element {value} of {bits} bits, inside a byte, where no binding can begin"
            ),
            DeviceRule::BindingUnaligned => {
                write!(f, "the binding takes {value} bytes, which is not a multiple of {limit}")
            }
            DeviceRule::BindingTooSmall => {
                write!(f, "the binding takes {value} bytes, but the device requires at least {limit}")
            }
            DeviceRule::BindingLimit => {
                write!(f, "the binding takes {value} bytes, but the device binds at most {limit}")
            }
            DeviceRule::BufferLimit => {
                write!(f, "the buffer holds {value} bytes, but the device makes buffers of at most {limit}")
            }
            DeviceRule::GapsOverwritten => write!(
                f,
                "the output is a part of a larger buffer, and the device may overwrite the {value} bytes between its elements, which may \
                 belong to other tensors: write to a tensor of its own and copy, or say that this device keeps them, with `DeviceLimits::keeping_gaps` \
                 (`writes_padding=false` after the name of the limits)"
            ),
            DeviceRule::OwnedOutput => f.write_str("the tensor is an output, but only inputs can be owned by DirectML"),
            DeviceRule::NoPieces => write!(
                f,
                "a piece of at most {value} bytes cannot be followed by one that begins at a multiple of {limit}"
            ),
        }
    }
}
