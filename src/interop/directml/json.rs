//! The JSON form of DxDispatch (its guide, section `DML_TENSOR_DESC`).

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::element::{DataType, Naming};
use crate::error::{ArgumentRule, Error};
use crate::strided::{BufferTensorDesc, TensorFlags};

const OWNED_BY_DML: &str = "OWNED_BY_DML";
const FLAG_PREFIX: &str = "DML_TENSOR_FLAG_";
const TYPE_PREFIX: &str = "DML_TENSOR_DATA_TYPE_";

/// A tensor as DxDispatch's models write it. Everything but `DataType` and `Sizes` may be left
/// out; both the full and the short names of types and flags are read, the full ones are written.
/// The longer form `{"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": {...}}` is read as well.
///
/// ```
/// use tensor_layout::{interop::directml::JsonTensor, BufferTensorDesc};
///
/// let json: JsonTensor = serde_json::from_str(r#"{ "DataType": "FLOAT32", "Sizes": [1,1,2,3] }"#)?;
/// let desc = BufferTensorDesc::try_from(json)?;
/// assert_eq!(desc.total_tensor_size_in_bytes(), 24);
/// let text = serde_json::to_string(&JsonTensor::try_from(&desc)?)?;
/// assert!(text.starts_with(r#"{"DataType":"DML_TENSOR_DATA_TYPE_FLOAT32","Flags":"DML_TENSOR_FLAG_NONE""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
#[serde(rename_all = "PascalCase")]
pub struct JsonTensor {
    /// The name of a `DML_TENSOR_DATA_TYPE`.
    pub data_type: String,
    /// The name of a `DML_TENSOR_FLAGS` value.
    pub flags: Option<String>,
    /// The number of axes; taken from `sizes` if left out.
    pub dimension_count: Option<u32>,
    /// In elements.
    pub sizes: Vec<u32>,
    /// In elements; packed if left out.
    pub strides: Option<Vec<u32>>,
    /// The minimum if left out.
    pub total_tensor_size_in_bytes: Option<u64>,
    /// None if left out.
    pub guaranteed_base_offset_alignment: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Long {
        #[serde(rename = "Desc")]
        desc: Fields,
    },
    Short(Fields),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Fields {
    data_type: String,
    flags: Option<String>,
    dimension_count: Option<u32>,
    sizes: Vec<u32>,
    strides: Option<Vec<u32>>,
    total_tensor_size_in_bytes: Option<u64>,
    guaranteed_base_offset_alignment: Option<u32>,
}

impl From<Written> for JsonTensor {
    fn from(written: Written) -> Self {
        let (Written::Long { desc: fields } | Written::Short(fields)) = written;
        JsonTensor {
            data_type: fields.data_type,
            flags: fields.flags,
            dimension_count: fields.dimension_count,
            sizes: fields.sizes,
            strides: fields.strides,
            total_tensor_size_in_bytes: fields.total_tensor_size_in_bytes,
            guaranteed_base_offset_alignment: fields.guaranteed_base_offset_alignment,
        }
    }
}

impl TryFrom<JsonTensor> for BufferTensorDesc {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::UnknownName`](crate::Error::UnknownName); [`Error::RankMismatch`] if `DimensionCount` or the
    /// number of strides is not that of the sizes; [`ArgumentRule::ZeroSize`](crate::ArgumentRule::ZeroSize);
    /// [`Error::Parse`] for an unknown flag; [`Error::Overflow`];
    /// [`ArgumentRule::BadAlignment`](crate::ArgumentRule::BadAlignment);
    /// [`ArgumentRule::TotalSizeTooSmall`](crate::ArgumentRule::TotalSizeTooSmall) or
    /// [`ArgumentRule::TotalSizeUnaligned`](crate::ArgumentRule::TotalSizeUnaligned).
    fn try_from(json: JsonTensor) -> Result<Self, Error> {
        let unknown = || Error::unknown_data_type(json.data_type.clone());
        let data_type = DataType::from_name_in(Naming::Directml, &json.data_type).ok_or_else(unknown)?;
        if let Some(count) = json.dimension_count {
            let expected = usize::try_from(count).unwrap_or(usize::MAX);
            if expected != json.sizes.len() {
                return Err(Error::RankMismatch { what: "sizes", expected, found: json.sizes.len() });
            }
        }
        if let Some(axis) = json.sizes.iter().position(|&size| size == 0) {
            return Err(ArgumentRule::ZeroSize.at(axis));
        }
        let flags = match json.flags.as_deref().map(|name| name.strip_prefix(FLAG_PREFIX).unwrap_or(name)) {
            None | Some("NONE") => TensorFlags::None,
            Some(OWNED_BY_DML) => TensorFlags::OwnedByDml,
            Some(other) => {
                return Err(Error::Parse {
                    text: other.to_owned(),
                    column: 1,
                    expected: String::from("the flag NONE or OWNED_BY_DML"),
                    found: format!("`{other}`"),
                });
            }
        };
        let desc = BufferTensorDesc::from_integers(data_type, &json.sizes, json.strides.as_deref())?
            .with_flags(flags)
            .with_base_offset_alignment(json.guaranteed_base_offset_alignment.unwrap_or(0))?;
        match json.total_tensor_size_in_bytes {
            Some(total) => desc.with_total_size_in_bytes(total),
            None => Ok(desc),
        }
    }
}

impl TryFrom<&BufferTensorDesc> for JsonTensor {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::UnsupportedDataType`] for a type DirectML has not, [`Error::Overflow`] for numbers above 32
    /// bits, [`Error::NotExpressible`] for a base offset, which has no place in this form.
    fn try_from(desc: &BufferTensorDesc) -> Result<Self, Error> {
        if desc.base_offset() != 0 {
            let reason = format!("it begins at element {}, and the form has no base offset", desc.base_offset());
            return Err(Error::NotExpressible { target: "DxDispatch JSON", reason });
        }
        let data_type = desc.data_type();
        let name = data_type.name_in(Naming::Directml);
        let name = name.ok_or(Error::UnsupportedDataType { data_type: data_type.xla_name(), by: "DirectML".into() })?;
        let to_u32 = |numbers: &[u64]| -> Result<Vec<u32>, Error> {
            numbers.iter().map(|&number| crate::checked::narrow(number, "a size or a stride")).collect()
        };
        let flag = match desc.flags() {
            TensorFlags::None => "NONE",
            TensorFlags::OwnedByDml => OWNED_BY_DML,
        };
        Ok(JsonTensor {
            data_type: format!("{TYPE_PREFIX}{name}"),
            flags: Some(format!("{FLAG_PREFIX}{flag}")),
            dimension_count: Some(crate::checked::narrow(desc.rank(), "the rank")?),
            sizes: to_u32(desc.sizes())?,
            strides: desc.explicit_strides().map(to_u32).transpose()?,
            total_tensor_size_in_bytes: Some(desc.total_tensor_size_in_bytes()),
            guaranteed_base_offset_alignment: Some(desc.base_offset_alignment()),
        })
    }
}
