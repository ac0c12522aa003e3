//! `Lowered`: what a layout is in strides.

use tensor_layout::bridge::{Lowering, Split, lower};
use tensor_layout::notation::AnyLayout;
use tensor_layout::{Error, IndexMap};

/// What a layout becomes in the language of sizes and strides.
pub(crate) struct Lowered {
    /// `strided`, `split` or `index_map`.
    pub(crate) name: &'static str,
    /// For an Affine layout.
    pub(crate) strides: Option<Vec<u64>>,
    pub(crate) split: Option<Split>,
    /// Why it is not strided.
    pub(crate) reason: Option<String>,
}

impl Lowered {
    pub(crate) fn of(layout: &AnyLayout, map: &IndexMap) -> Result<Lowered, Error> {
        let lowering = lower(layout)?;
        let (name, reason) = (lowering.name(), lowering.reason());
        Ok(match lowering {
            Lowering::Strided(desc) => {
                Lowered { name, strides: Some(desc.strides().to_vec()), split: None, reason: None }
            }
            Lowering::Split(split) => Lowered { name, strides: None, split: Some(split), reason },
            Lowering::IndexMap { .. } => {
                let strides = map.strides().map(|strides| strides.to_vec());
                Lowered { name, strides, split: None, reason }
            }
            _ => Lowered { name, strides: None, split: None, reason: None },
        })
    }
}
