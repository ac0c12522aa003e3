//! serde for `DeviceLimits` and `UploadBuffer`, the limits and the buffer of an upload check.

use alloc::borrow::Cow;

use ::serde::de::{Deserialize, Deserializer, Error as _};
use ::serde::ser::{Serialize, Serializer};

use crate::element::DataType;
use crate::error::Error;
use crate::upload::{DeviceLimits, Role, TypeLimits, UploadBuffer, limit_fields};

/// Defines the fields of [`DeviceLimits`], as they are written, from the table of limits.
macro_rules! define {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $none:expr;)*) => {
        #[derive(::serde::Serialize, ::serde::Deserialize)]
        #[serde(
            remote = "DeviceLimits",
            default = "DeviceLimits::none",
            deny_unknown_fields,
            expecting = "the fields of DeviceLimits"
        )]
        struct LimitsFields {
            name: Cow<'static, str>,
            $($field: $type,)*
        }
    };
}
limit_fields!(define);

#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(remote = "TypeLimits", deny_unknown_fields, expecting = "the fields of TypeLimits")]
struct TypeFields {
    data_types: Cow<'static, [DataType]>,
    inner_size_multiple: u64,
    stride_multiple: u64,
    offset_alignment: u64,
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
    DeviceLimits, LimitsFields, DeviceLimits::check;
    TypeLimits, TypeFields, |_: &TypeLimits| Ok::<(), Error>(());
    UploadBuffer, BufferFields, |_: &UploadBuffer| Ok::<(), Error>(());
    Role, RoleNames, |_: &Role| Ok::<(), Error>(());
}
