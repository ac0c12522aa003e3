//! serde (feature `serde`): descriptors, shapes, layouts and the other values that a plan or a check is made
//! from. Deserialisation makes all checks of the constructors.
//!
//! | value | form |
//! |---|---|
//! | types with a text (data types, axis orders, slices, shapes, layouts and their parts, TPU generations, feature levels, ...) | the text, as a string |
//! | [`AnyLayout`] | the text of its descriptor or shape; an index map has none and is refused |
//! | [`BufferTensorDesc`] | its fields: `{"data_type":"f32","sizes":[2,3],"strides":[5,1]}` and, where they are not the default, `base_offset`, `flags`, `total_tensor_size_in_bytes`, `base_offset_alignment` |
//! | [`Padding`] | `"keep"`, `"zero"` or the bits of an element, `"0x7f"` |
//! | [`Error`], written only | `code` and `message`, and for some errors `axis`, `value` and `limit` |
//! | [`UploadReport`](crate::upload::UploadReport) and [`Errors`](crate::upload::Errors), written only | their fields, and the errors as a list beside the report |
//! | [`DeviceLimits`], [`UploadBuffer`](crate::upload::UploadBuffer) | their fields, where a missing limit has the value of [`DeviceLimits::none`](crate::upload::DeviceLimits::none) |
//!
//! A plan itself is not serialised: it is made from its layouts in one or two microseconds, for the CPU at
//! hand.
//!
//! ```
//! use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
//!
//! let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?;
//! let json = serde_json::to_string(&desc)?;
//! assert_eq!(json, r#"{"data_type":"f32","sizes":[2,3],"strides":[5,1]}"#);
//! assert_eq!(serde_json::from_str::<BufferTensorDesc>(&json)?, desc);
//! let shape: ArrayShape = serde_json::from_str(r#""f32[3,5]{1,0:T(2,2)}""#)?;
//! assert_eq!(shape.sizes(), [3, 5]);
//! let wrong = serde_json::from_str::<BufferTensorDesc>(r#"{"data_type":"f32","sizes":[2,3],"strides":[5]}"#);
//! assert!(wrong.unwrap_err().to_string().starts_with("the number of strides must be 2"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use ::serde::de::{Deserialize, Deserializer, Error as _, Unexpected, Visitor};
use ::serde::ser::{Error as _, Serialize, SerializeMap, Serializer};

use crate::bridge::AnyLayout;
use crate::checked::len_u64;
use crate::element::DataType;
use crate::error::Error;
use crate::map::LayoutClass;
#[cfg(feature = "relayout")]
use crate::relayout::Padding;
use crate::strided::{AxisOrder, BufferTensorDesc, GapOwner, IndexWidth, Slice, Slices, TensorFlags};
use crate::tiled::{ArrayShape, Extent, Layout, Shape, SplitConfig, Tile, TileSize, TpuGeneration, UnboundedArray};
use crate::upload::{DeviceLimits, FeatureLevel, PlaneLimits, TypeLimits, limit_fields};

struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err = Error>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: ::serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

fn read_text<'de, T: FromStr<Err = Error>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text(PhantomData))
}

macro_rules! by_text {
    ($($name:ident),* $(,)?) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read_text(deserializer)
            }
        }
    )*};
}

by_text!(
    DataType,
    AxisOrder,
    IndexWidth,
    Slice,
    Slices,
    ArrayShape,
    Extent,
    Layout,
    Shape,
    SplitConfig,
    Tile,
    TileSize,
    TpuGeneration,
    UnboundedArray,
    LayoutClass,
    FeatureLevel,
);

impl Serialize for AnyLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AnyLayout::Strided(desc) => serializer.collect_str(desc),
            AnyLayout::Tiled(shape) => serializer.collect_str(shape),
            AnyLayout::Mapped(_) => Err(S::Error::custom("an index map has no text")),
        }
    }
}

impl<'de> Deserialize<'de> for AnyLayout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_text(deserializer)
    }
}

impl Serialize for TensorFlags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            TensorFlags::None => "none",
            TensorFlags::OwnedByDirectml => "owned_by_dml",
        })
    }
}

impl<'de> Deserialize<'de> for TensorFlags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        match &*name {
            "none" => Ok(TensorFlags::None),
            "owned_by_dml" => Ok(TensorFlags::OwnedByDirectml),
            other => Err(D::Error::unknown_variant(other, &["none", "owned_by_dml"])),
        }
    }
}

#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields, rename = "BufferTensorDesc", expecting = "the fields of a BufferTensorDesc")]
struct Fields {
    data_type: DataType,
    sizes: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strides: Option<Strides>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_offset: Option<u64>,
    /// Whether a part owns the gaps between its elements.
    #[serde(default, skip_serializing_if = "is_default")]
    owns_gaps: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    flags: TensorFlags,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total_tensor_size_in_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    base_offset_alignment: u32,
}

/// Strides as they are read. The strides of axes of size 1 may be any number.
struct Strides(Vec<i128>);

impl Serialize for Strides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&stride| u64::try_from(stride).unwrap_or(0)))
    }
}

impl<'de> Deserialize<'de> for Strides {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Vec::deserialize(deserializer).map(Strides);
        }
        Ok(Strides(Vec::<u64>::deserialize(deserializer)?.into_iter().map(i128::from).collect()))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TryFrom<Fields> for BufferTensorDesc {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        let sizes: Vec<i128> = fields.sizes.iter().map(|&size| size.into()).collect();
        let strides = fields.strides.as_ref().map(|strides| strides.0.as_slice());
        let desc = BufferTensorDesc::new(fields.data_type, &sizes, strides)?
            .beginning_at(fields.base_offset.unwrap_or(0))?
            .with_flags(fields.flags)
            .with_base_offset_alignment(fields.base_offset_alignment)?;
        let owned = if fields.owns_gaps { GapOwner::Inside } else { GapOwner::Others };
        let desc = if fields.base_offset.is_some() { desc.with_gap_owner(owned) } else { desc };
        match fields.total_tensor_size_in_bytes {
            Some(total) => desc.with_total_size_in_bytes(total),
            None => Ok(desc),
        }
    }
}

impl Serialize for BufferTensorDesc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let total = self.total_tensor_size_in_bytes();
        let fields = Fields {
            data_type: self.data_type(),
            sizes: self.sizes().to_vec(),
            strides: self.explicit_strides().map(|own| Strides(own.iter().map(|&stride| stride.into()).collect())),
            base_offset: self.is_part().then_some(self.base_offset()),
            owns_gaps: self.gap_owner() == GapOwner::Inside,
            flags: self.flags(),
            total_tensor_size_in_bytes: (total != self.min_size_in_bytes()).then_some(total),
            base_offset_alignment: self.base_offset_alignment(),
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BufferTensorDesc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

/// Defines the fields of [`DeviceLimits`], as they are written, from the table of limits.
macro_rules! limits {
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

limit_fields!(limits);

impl Serialize for DeviceLimits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LimitsFields::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for DeviceLimits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limits = LimitsFields::deserialize(deserializer)?;
        limits.check().map_err(D::Error::custom)?;
        Ok(limits)
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = [("axis", self.axis().map(len_u64)), ("value", self.value()), ("limit", self.limit())];
        let numbers = numbers.iter().filter_map(|&(name, number)| Some((name, number?)));
        let mut map = serializer.serialize_map(Some(numbers.clone().count().saturating_add(2)))?;
        map.serialize_entry("code", self.code())?;
        map.serialize_entry("message", &self.to_string())?;
        numbers.into_iter().try_for_each(|(name, number)| map.serialize_entry(name, &number))?;
        map.end()
    }
}

#[cfg(feature = "relayout")]
impl Serialize for Padding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Padding::Keep => serializer.serialize_str("keep"),
            Padding::Zero => serializer.serialize_str("zero"),
            Padding::Fill(pattern) => serializer.collect_str(&format_args!("{pattern:#x}")),
        }
    }
}

#[cfg(feature = "relayout")]
impl<'de> Deserialize<'de> for Padding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let pattern = |digits: &str| {
            let hexadecimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            hexadecimal.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
        };
        match &*text {
            "keep" => Ok(Padding::Keep),
            "zero" => Ok(Padding::Zero),
            other => other.strip_prefix("0x").and_then(pattern).map(Padding::Fill).ok_or_else(|| {
                D::Error::invalid_value(Unexpected::Str(other), &"keep, zero or at most 128 bits as 0x...")
            }),
        }
    }
}
