//! `Limits` and `Buffer`: what an upload is checked against.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use ::serde::de::{Deserialize, Deserializer, Error as _};
use ::serde::ser::{Serialize, Serializer};

use crate::element::DataType;
use crate::error::Error;
use crate::upload::{BoxLimits, Buffer, Limits, Role, TypeLimits};

/// The fields of [`Limits`], as they are written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename = "Limits", expecting = "the fields of Limits")]
struct Fields {
    name: Cow<'static, str>,
    min_rank: usize,
    max_rank: usize,
    data_types: Option<Vec<DataType>>,
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
    told_strides: bool,
    unit_inner_stride: bool,
    stride_multiple: u64,
    max_stride_bytes: u64,
    ordered_strides: bool,
    packed_outside: Option<usize>,
    max_extent: u64,
    zero_offset: bool,
    whole_elements: bool,
    stricter_types: Option<TypeFields>,
    box_limits: Option<BoxFields>,
    base_offset_in_binding: bool,
    writes_padding: bool,
    exclusive_ranges: bool,
    one_usage: bool,
    write_unit: u64,
}

impl Default for Fields {
    fn default() -> Fields {
        Fields::from(&Limits::none())
    }
}

impl From<&Limits> for Fields {
    fn from(limits: &Limits) -> Fields {
        // Every field by name: a new limit cannot be forgotten here.
        let Limits {
            name,
            min_rank,
            max_rank,
            data_types,
            zero_sizes,
            max_size,
            max_stride,
            max_elements,
            max_logical_elements,
            size_multiple,
            min_binding,
            max_binding,
            offset_alignment,
            max_buffer,
            max_copy,
            told_strides,
            unit_inner_stride,
            stride_multiple,
            max_stride_bytes,
            ordered_strides,
            packed_outside,
            max_extent,
            zero_offset,
            whole_elements,
            stricter_types,
            box_limits,
            base_offset_in_binding,
            writes_padding,
            exclusive_ranges,
            one_usage,
            write_unit,
        } = limits.clone();
        Fields {
            name,
            min_rank,
            max_rank,
            data_types: data_types.map(Cow::into_owned),
            zero_sizes,
            max_size,
            max_stride,
            max_elements,
            max_logical_elements,
            size_multiple,
            min_binding,
            max_binding,
            offset_alignment,
            max_buffer,
            max_copy,
            told_strides,
            unit_inner_stride,
            stride_multiple,
            max_stride_bytes,
            ordered_strides,
            packed_outside,
            max_extent,
            zero_offset,
            whole_elements,
            stricter_types: stricter_types.map(TypeFields::from),
            box_limits: box_limits.map(BoxFields::from),
            base_offset_in_binding,
            writes_padding,
            exclusive_ranges,
            one_usage,
            write_unit,
        }
    }
}

impl TryFrom<Fields> for Limits {
    type Error = Error;

    /// Refuses limits that nothing could keep.
    fn try_from(fields: Fields) -> Result<Limits, Error> {
        if fields.max_rank < fields.min_rank {
            let (rank, min, max) = (fields.max_rank, fields.min_rank, usize::MAX);
            return Err(Error::rank_limit(rank, min, max));
        }
        Ok(Limits {
            name: fields.name,
            min_rank: fields.min_rank,
            max_rank: fields.max_rank,
            data_types: fields.data_types.map(Cow::Owned),
            zero_sizes: fields.zero_sizes,
            max_size: fields.max_size,
            max_stride: fields.max_stride,
            max_elements: fields.max_elements,
            max_logical_elements: fields.max_logical_elements,
            size_multiple: least("the multiple of a binding's size", fields.size_multiple, 1)?,
            min_binding: fields.min_binding,
            max_binding: least("the largest binding", fields.max_binding, fields.min_binding)?,
            offset_alignment: least("the alignment of an offset", fields.offset_alignment, 1)?,
            max_buffer: fields.max_buffer,
            max_copy: fields.max_copy,
            told_strides: fields.told_strides,
            unit_inner_stride: fields.unit_inner_stride,
            stride_multiple: least("the multiple of a stride", fields.stride_multiple, 1)?,
            max_stride_bytes: fields.max_stride_bytes,
            ordered_strides: fields.ordered_strides,
            packed_outside: fields.packed_outside,
            max_extent: fields.max_extent,
            zero_offset: fields.zero_offset,
            whole_elements: fields.whole_elements,
            stricter_types: fields.stricter_types.map(TypeLimits::try_from).transpose()?,
            box_limits: fields.box_limits.map(BoxLimits::try_from).transpose()?,
            base_offset_in_binding: fields.base_offset_in_binding,
            writes_padding: fields.writes_padding,
            exclusive_ranges: fields.exclusive_ranges,
            one_usage: fields.one_usage,
            write_unit: least("the number of bytes written at once", fields.write_unit, 1)?,
        })
    }
}

fn least(what: &'static str, value: u64, min: u64) -> Result<u64, Error> {
    if value < min { Err(Error::OutOfLimits { what, value, min, max: u64::MAX }) } else { Ok(value) }
}

/// The fields of [`TypeLimits`], as they are written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields, rename = "TypeLimits", expecting = "the fields of TypeLimits")]
struct TypeFields {
    data_types: Vec<DataType>,
    inner_size_multiple: u64,
    stride_multiple: u64,
    offset_alignment: u64,
}

impl From<TypeLimits> for TypeFields {
    fn from(limits: TypeLimits) -> TypeFields {
        let TypeLimits { data_types, inner_size_multiple, stride_multiple, offset_alignment } = limits;
        TypeFields { data_types: data_types.into_owned(), inner_size_multiple, stride_multiple, offset_alignment }
    }
}

impl TryFrom<TypeFields> for TypeLimits {
    type Error = Error;

    fn try_from(fields: TypeFields) -> Result<TypeLimits, Error> {
        Ok(TypeLimits {
            data_types: Cow::Owned(fields.data_types),
            inner_size_multiple: least("the multiple of the innermost size", fields.inner_size_multiple, 1)?,
            stride_multiple: least("the multiple of a stride", fields.stride_multiple, 1)?,
            offset_alignment: least("the alignment of an offset", fields.offset_alignment, 1)?,
        })
    }
}

/// The fields of [`BoxLimits`], as they are written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields, rename = "BoxLimits", expecting = "the fields of BoxLimits")]
struct BoxFields {
    max_size: u64,
    row_multiple: u64,
    max_row: u64,
}

impl From<BoxLimits> for BoxFields {
    fn from(limits: BoxLimits) -> BoxFields {
        let BoxLimits { max_size, row_multiple, max_row } = limits;
        BoxFields { max_size, row_multiple, max_row }
    }
}

impl TryFrom<BoxFields> for BoxLimits {
    type Error = Error;

    fn try_from(fields: BoxFields) -> Result<BoxLimits, Error> {
        Ok(BoxLimits {
            max_size: least("the largest size of a box", fields.max_size, 1)?,
            row_multiple: least("the multiple of a box's row", fields.row_multiple, 1)?,
            max_row: least("the longest row of a box", fields.max_row, 1)?,
        })
    }
}

/// As its fields.
impl Serialize for Limits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Fields::from(self).serialize(serializer)
    }
}

/// From its fields; those left out are not limit.
impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

/// `input` or `output`.
impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Role::Input => "input",
            Role::Output => "output",
        })
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        match &*name {
            "input" => Ok(Role::Input),
            "output" => Ok(Role::Output),
            other => Err(D::Error::unknown_variant(other, &["input", "output"])),
        }
    }
}

/// The fields of [`Buffer`], as they are written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields, rename = "Buffer", expecting = "the fields of a Buffer")]
struct BufferFields {
    len: u64,
    #[serde(default)]
    offset: u64,
    role: Role,
}

/// As its fields.
impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BufferFields { len: self.len, offset: self.offset, role: self.role }.serialize(serializer)
    }
}

/// From its fields; an offset that is left out is 0.
impl<'de> Deserialize<'de> for Buffer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let BufferFields { len, offset, role } = BufferFields::deserialize(deserializer)?;
        Ok(Buffer::new(len, offset, role))
    }
}
