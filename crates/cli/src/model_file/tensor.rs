//! `Tensor`: a name, a layout and bytes.

use ::safetensors::tensor::TensorInfo;

use tensor_layout::Error;
use tensor_layout::checked::{BYTES, narrow};
use tensor_layout::element::{DataType, Naming};
use tensor_layout::map::ToIndexMap;
use tensor_layout::strided::BufferTensorDesc;
use tensor_layout_text::Notated;

use super::{SAME_AS, check_places, layout_fault, map_of};

/// A tensor of a model: its name, the layout of its bytes, and the bytes.
///
/// The bytes are borrowed from the file or buffer, padding included.
///
/// ```
/// use tensor_layout::{interop::safetensors::{Model, Tensor}, DataType};
///
/// let tensor = Tensor::new("a", "u8[2,2]{0,1:T(4)}".parse()?, b"a\0\0\0b\0\0\0")?;
/// assert_eq!((tensor.name(), tensor.sizes(), tensor.data_type()), ("a", &[2, 2][..], Some(DataType::U8)));
/// let mut file = Vec::new();
/// Model::new(vec![tensor], Vec::new())?.write(&mut file)?;
///
/// // In the file it is a row of bytes, and the metadata names its layout.
/// let model = Model::read(&file)?;
/// let tensor = model.tensor("a").unwrap();
/// assert!(tensor.is_layout_named());
/// assert_eq!((tensor.type_name(), tensor.layout()?.to_string().as_str()), ("U8", "u8[2,2]{0,1:T(4)}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tensor<'a> {
    name: String,
    sizes: Vec<u64>,
    layout: Result<Notated, Error>,
    data_type: Option<DataType>,
    type_name: String,
    is_named: bool,
    bytes: &'a [u8],
}

impl<'a> Tensor<'a> {
    /// Returns a tensor whose bytes have this layout. The number of bytes must be exactly
    /// `physical_size_in_bytes` of the layout's index map.
    ///
    /// # Errors
    ///
    /// `model_layout` if the layout has no index
    /// map, if two of its elements share an offset (or the search for two such elements took too long), or if
    /// the number of bytes is wrong.
    ///
    /// ```
    /// use tensor_layout_cli::model_file::Tensor;
    ///
    /// assert!(Tensor::new("a", "u8[2,3]:[4,1]".parse()?, &[1, 2, 3, 0, 4, 5, 6]).is_ok());
    /// let error = Tensor::new("a", "u8[2,3]:[4,1]".parse()?, &[1, 2, 3]).unwrap_err();
    /// assert_eq!(error.to_string(), "`u8[2,3]:[4,1]` cannot be the layout of tensor `a`: it takes 7 bytes, but there are 3");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn new(name: impl Into<String>, layout: Notated, bytes: &'a [u8]) -> Result<Tensor<'a>, Error> {
        let name = name.into();
        let map = map_of(&name, &layout)?;
        let (needed, found): (u64, u64) = (map.physical_size_in_bytes(), narrow(bytes.len(), BYTES)?);
        if needed != found {
            let reason = format!("it takes {needed} bytes, but there are {found}");
            return Err(layout_fault(&name, &layout.to_string(), reason));
        }
        check_places(&name, &layout, &map)?;
        let data_type = map.data_type();
        let type_name = data_type.name_in(Naming::Safetensors).map_or_else(|| data_type.to_string(), str::to_owned);
        let (sizes, data_type) = (map.sizes().to_vec(), Some(data_type));
        Ok(Tensor { name, sizes, layout: Ok(layout), data_type, type_name, is_named: true, bytes })
    }

    /// Returns a tensor from the header and the metadata of a file. The header has been checked.
    pub(super) fn of_file(
        name: String,
        info: &TensorInfo,
        layout: Option<&str>,
        data: &'a [u8],
    ) -> Result<Tensor<'a>, Error> {
        let (start, end) = info.data_offsets;
        let bytes = data.get(start..end).unwrap_or_default();
        let shape: Vec<u64> = info.shape.iter().map(|&size| narrow(size, BYTES)).collect::<Result<_, _>>()?;
        let type_name = info.dtype.to_string();
        let Some(text) = layout else {
            let layout = packed(&type_name, &shape);
            let data_type = DataType::from_name_in(Naming::Safetensors, &type_name);
            return Ok(Tensor { name, sizes: shape, layout, data_type, type_name, is_named: false, bytes });
        };
        let refuse = |reason: String| layout_fault(&name, text, reason);
        let layout = read_layout(text).map_err(|error: Error| match error.column() {
            // The message already begins with the whole text, so only the column is added.
            Some(column) => refuse(format!("column {column}: expected {}, found {}", error.expected(), error.found())),
            None => refuse(error.to_string()),
        })?;
        let tensor = Tensor::new(name.as_str(), layout, bytes)?;
        if type_name != tensor.type_name && type_name != ROW_OF_BYTES {
            return Err(refuse(format!("the file says that its elements are {type_name}")));
        }
        if shape.len() != 1 && shape != tensor.sizes {
            return Err(refuse(format!("the file has it with the sizes {shape:?}, and not as one row")));
        }
        Ok(tensor)
    }

    /// The name of the tensor.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The layout of the bytes.
    ///
    /// # Errors
    ///
    /// Only a packed tensor of a file has errors: `unknown_data_type` if this
    /// crate does not have its type, and `overflow` if it is empty and the product of its other
    /// sizes exceeds 64 bits.
    pub fn layout(&self) -> Result<&Notated, Error> {
        self.layout.as_ref().map_err(Clone::clone)
    }

    /// The logical sizes, in the order of the layout's notation.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The type of an element, or `None` if this crate does not have the type.
    #[must_use]
    pub fn data_type(&self) -> Option<DataType> {
        self.data_type
    }

    /// The name of an element's type in the format: `F32`, `BF16`, `F6_E2M3`.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Whether the layout was given, by the metadata of the file or to [`new`](Self::new). All other tensors
    /// are packed.
    #[must_use]
    pub fn is_layout_named(&self) -> bool {
        self.is_named
    }

    /// The bytes of the tensor, padding included.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Reads a layout, or a name followed by the same layout in another notation.
fn read_layout(text: &str) -> Result<Notated, Error> {
    let Some((name, same)) = text.split_once(SAME_AS) else { return text.parse() };
    let same: Notated = same.parse()?;
    let named: Notated = name.parse()?;
    if named.to_index_map()? == same.to_index_map()? {
        return Ok(named);
    }
    let reason = format!("`{name}` is another layout than `{same}`");
    Err(Error::not_expressible("named layout", reason))
}

/// The type under which the format stores tensors that it cannot express.
pub(super) const ROW_OF_BYTES: &str = "U8";

fn packed(type_name: &str, shape: &[u64]) -> Result<Notated, Error> {
    let data_type = DataType::from_name_in(Naming::Safetensors, type_name).map_or_else(|| type_name.parse(), Ok)?;
    BufferTensorDesc::packed(data_type, shape)?.to_string().parse()
}
