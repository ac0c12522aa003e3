//! A layout as the notations with strides see it.

use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use crate::checked::Dims;
use crate::element::DataType;
use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::{BufferTensorDesc, TensorFlags};

/// A layout with one stride for each dimension: what four of the notations say.
pub(super) struct Strided {
    pub(super) data_type: DataType,
    /// What an element takes in memory; not its type's own bits where XLA stores a small type in a byte.
    pub(super) element_bits: u32,
    pub(super) sizes: Dims,
    /// In elements.
    pub(super) strides: Dims,
    pub(super) base: u64,
    /// Of the whole buffer.
    pub(super) elements: u64,
    pub(super) flags: TensorFlags,
    pub(super) alignment: u32,
}

impl Strided {
    pub(super) fn of(desc: &BufferTensorDesc) -> Result<Strided, Error> {
        Ok(Strided {
            data_type: desc.data_type(),
            element_bits: desc.data_type().bits(),
            sizes: Dims::from_slice(desc.sizes()),
            strides: Dims::from_slice(desc.strides()),
            base: desc.base_offset(),
            elements: desc.to_index_map()?.physical_elements(),
            flags: desc.flags(),
            alignment: desc.base_offset_alignment(),
        })
    }

    /// With elements of another width than their type's, which a descriptor cannot have.
    pub(super) fn of_map(map: &IndexMap, strides: Dims) -> Strided {
        Strided {
            data_type: map.data_type(),
            element_bits: map.element_bits(),
            sizes: Dims::from_slice(map.sizes()),
            strides,
            base: map.base(),
            elements: map.physical_elements(),
            flags: TensorFlags::None,
            alignment: 0,
        }
    }
}

/// `[2,3]`.
pub(super) fn list(numbers: &[u64]) -> String {
    format!("[{}]", joined(numbers))
}

/// `(2,3)`, `(2,)` and `()`, as Python writes tuples.
pub(super) fn tuple(numbers: &[u64]) -> String {
    format!("({}{})", joined(numbers), if numbers.len() == 1 { "," } else { "" })
}

fn joined(numbers: &[u64]) -> String {
    let mut text = String::new();
    for (position, number) in numbers.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{number}", if position > 0 { "," } else { "" });
    }
    text
}
