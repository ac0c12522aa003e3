//! Models in the safetensors format, with a layout for each tensor.
//!
//! The format itself has packed tensors only. A model with layouts is an ordinary safetensors file. A tensor
//! that is not packed is stored as one row of all its physical elements, padding included. The metadata names
//! the tensor's layout under `layout.NAME`, in any notation that [`Notated`] reads. A tensor without such an
//! entry is packed. A tensor of a type below a byte, or of a type without a name in the format, is stored as
//! a row of bytes (`U8`), and its layout names the type.
//!
//! This module works on bytes that the caller has mapped, read or received, and copies no tensor.
//!
//! ```
//! use tensor_layout_cli::model_file::{Model, Tensor};
//! use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
//!
//! // Three rows of two, one after the other in columns of three and a place of padding.
//! let buffer: Vec<u8> = [1.0_f32, 3.0, 5.0, 0.0, 2.0, 4.0, 6.0, 0.0].into_iter().flat_map(f32::to_le_bytes).collect();
//! let tensor = Tensor::new("weight", "f32[3,2]{0,1:T(4)}".parse()?, &buffer)?;
//! let mut file = Vec::new();
//! Model::new(vec![tensor], vec![("format".into(), "pt".into())])?.write(&mut file)?;
//!
//! let model = Model::read(&file)?;
//! let weight = model.tensor("weight").unwrap();
//! assert_eq!(weight.layout()?.to_string(), "f32[3,2]{0,1:T(4)}");
//! assert_eq!(weight.bytes(), buffer);
//! // The engine wants it packed.
//! let packed = BufferTensorDesc::packed(DataType::F32, weight.sizes())?;
//! let mut mine = vec![0; 24];
//! Relayout::new(weight.layout()?, &packed)?.run(weight.bytes(), &mut mine)?;
//! assert_eq!(mine[..8], [0, 0, 128, 63, 0, 0, 0, 64]); // 1.0 and 2.0
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod header;
mod index;
mod model;
mod new_header;
mod tensor;

pub use index::Index;
pub use model::Model;
pub use new_header::Header;
pub use tensor::Tensor;

use tensor_layout::Error;
use tensor_layout::checked::wide_product;
use tensor_layout::element::Naming;
use tensor_layout::map::{IndexMap, ToIndexMap};
use tensor_layout::plan::Code;
use tensor_layout::strided::BufferTensorDesc;
use tensor_layout_text::Notated;

/// The most bytes of a header, by the rule of the format. A file with a longer header is refused.
const MAX_HEADER: u64 = 100_000_000;

/// The key of the metadata in the header, which cannot be the name of a tensor.
const METADATA: &str = "__metadata__";

/// The text between the name of a layout and the same layout in another notation:
/// `tensorrt.kHWC8:f16[1,3,2,2] = f16[1,3,2,2]{1,3,2,0:T(8)}`.
const SAME_AS: &str = " = ";

/// Returns the key of a tensor's layout in the metadata.
fn layout_key(tensor: &str) -> String {
    format!("layout.{tensor}")
}

/// Whether the format can store a layout as it is: every element has the offset that it has in a packed
/// buffer, no bytes follow the last element, and the format has a name for the type.
fn is_plain(map: &IndexMap) -> bool {
    let data_type = map.data_type();
    let packed = BufferTensorDesc::packed(data_type, map.sizes()).and_then(|packed| packed.to_index_map());
    data_type.name_in(Naming::Safetensors).is_some()
        && map.element_bits() == data_type.bits()
        && wide_product(map.element_count(), data_type.bits()) == wide_product(map.physical_size_in_bytes(), 8_u64)
        && packed.is_ok_and(|packed| packed == *map)
}

fn map_of(tensor: &str, layout: &Notated) -> Result<IndexMap, Error> {
    layout.to_index_map().map_err(|error| layout_fault(tensor, &layout.to_string(), error.to_string()))
}

/// Refuses a layout in which two elements share an offset, because no tensor can be written in it.
fn check_places(tensor: &str, layout: &Notated, map: &IndexMap) -> Result<(), Error> {
    let reason = match map.check_injective() {
        Ok(()) => return Ok(()),
        Err(error) => match (error.code(), error.value(), error.limit()) {
            ("overlapping_destination", Some(offset), _) => {
                format!("indices {} and {} are both stored at element {offset}", error.what(), error.found())
            }
            ("undecided", _, Some(work)) => {
                format!("whether two elements share their place could not be decided within {work} search steps")
            }
            _ => error.to_string(),
        },
    };
    Err(layout_fault(tensor, &layout.to_string(), reason))
}

fn layout_fault(tensor: &str, layout: &str, reason: String) -> Error {
    Error::model(Code::ModelLayout, tensor, layout, reason)
}

fn header_fault(reason: impl Into<String>) -> Error {
    Error::model(Code::ModelHeader, "", "", reason)
}

/// Refuses a name that occurs twice in `names`.
fn check_names<'n>(place: &'static str, names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::new();
    match names.into_iter().find(|&name| !seen.insert(name)) {
        None => Ok(()),
        Some(name) => Err(Error::model(Code::ModelRepeatedName, name, "", place)),
    }
}
