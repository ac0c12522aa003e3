//! serde for `DeviceLimits` and `UploadBuffer`, the limits and the buffer of an upload check.

use alloc::borrow::Cow;

use ::serde::de::{Deserialize, Deserializer, Error as _};
use ::serde::ser::{Serialize, Serializer};

use crate::element::DataType;
use crate::error::Error;
use crate::upload::{BoxLimits, DeviceLimits, Role, TypeLimits, UploadBuffer};

/// The fields of [`DeviceLimits`], as they are written. A field that is missing here is a compile error.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(
    remote = "DeviceLimits",
    default = "DeviceLimits::none",
    deny_unknown_fields,
    expecting = "the fields of DeviceLimits"
)]
struct LimitsFields {
    name: Cow<'static, str>,
    min_rank: usize,
    max_rank: usize,
    data_types: Option<Cow<'static, [DataType]>>,
    zero_sizes: bool,
    max_size: u64,
    max_stride: u64,
    max_elements: u64,
    max_logical_elements: u64,
    size_multiple: u64,
    min_binding: u64,
    max_binding: u64,
    offset_alignment: u64,
    max_buffer: u64,
    max_copy: u64,
    takes_strides: bool,
    sizes_only: bool,
    copies_only: bool,
    unit_inner_stride: bool,
    stride_multiple: u64,
    max_stride_bytes: u64,
    ordered_strides: bool,
    packed_outside: Option<usize>,
    max_extent: u64,
    zero_offset: bool,
    whole_elements: bool,
    stricter_types: Option<TypeLimits>,
    box_limits: Option<BoxLimits>,
    base_offset_in_binding: bool,
    writes_padding: bool,
    exclusive_ranges: bool,
    one_usage: bool,
    write_unit: u64,
}

#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(remote = "TypeLimits", deny_unknown_fields, expecting = "the fields of TypeLimits")]
struct TypeFields {
    data_types: Cow<'static, [DataType]>,
    inner_size_multiple: u64,
    stride_multiple: u64,
    offset_alignment: u64,
}

#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(remote = "BoxLimits", deny_unknown_fields, expecting = "the fields of BoxLimits")]
struct BoxFields {
    max_size: u64,
    row_multiple: u64,
    max_row: u64,
}

#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(remote = "UploadBuffer", deny_unknown_fields, expecting = "the fields of an UploadBuffer")]
struct BufferFields {
    len: u64,
    /// The offset in bytes, which is 0 if it is left out.
    #[serde(default)]
    offset: u64,
    role: Role,
}

#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(remote = "Role", rename_all = "lowercase")]
enum RoleNames {
    Input,
    Output,
}

/// Refuses limits that no tensor could satisfy.
fn check_limits(limits: &DeviceLimits) -> Result<(), Error> {
    if limits.max_rank < limits.min_rank {
        return Err(Error::rank_limit(limits.max_rank, limits.min_rank, usize::MAX));
    }
    least("the multiple of a binding's size", limits.size_multiple, 1)?;
    least("the largest binding", limits.max_binding, limits.min_binding)?;
    least("the alignment of an offset", limits.offset_alignment, 1)?;
    least("the multiple of a stride", limits.stride_multiple, 1)?;
    least("the number of bytes written at once", limits.write_unit, 1)
}

fn check_types(limits: &TypeLimits) -> Result<(), Error> {
    least("the multiple of the innermost size", limits.inner_size_multiple, 1)?;
    least("the multiple of a stride", limits.stride_multiple, 1)?;
    least("the alignment of an offset", limits.offset_alignment, 1)
}

fn check_boxes(limits: &BoxLimits) -> Result<(), Error> {
    least("the largest size of a box", limits.max_size, 1)?;
    least("the multiple of a box's row", limits.row_multiple, 1)?;
    least("the longest row of a box", limits.max_row, 1)
}

fn least(what: &'static str, value: u64, min: u64) -> Result<(), Error> {
    if value < min { Err(Error::out_of_limits(what, value, min, u64::MAX)) } else { Ok(()) }
}

macro_rules! as_fields {
    ($($type:ty, $fields:ty, $check:expr;)*) => {$(
        /// The value is written as a map of its fields.
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$fields>::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read = <$fields>::deserialize(deserializer)?;
                $check(&read).map_err(D::Error::custom)?;
                Ok(read)
            }
        }
    )*};
}

as_fields! {
    DeviceLimits, LimitsFields, check_limits;
    TypeLimits, TypeFields, check_types;
    BoxLimits, BoxFields, check_boxes;
    UploadBuffer, BufferFields, |_: &UploadBuffer| Ok::<(), Error>(());
    Role, RoleNames, |_: &Role| Ok::<(), Error>(());
}
