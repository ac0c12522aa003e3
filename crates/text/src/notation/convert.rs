//! Conversions from shapes, descriptors and named layouts to a `Notated`.

use tensor_layout::{AnyLayout, ArrayShape, BufferTensorDesc, Error, ToIndexMap};

use crate::named::NamedLayout;

use super::{Notated, Spelling};

impl From<Notated> for AnyLayout {
    fn from(notated: Notated) -> AnyLayout {
        notated.layout
    }
}

impl From<&Notated> for AnyLayout {
    fn from(notated: &Notated) -> AnyLayout {
        notated.layout.clone()
    }
}

/// Converts the layout as if its text had been read.
impl From<ArrayShape> for Notated {
    fn from(shape: ArrayShape) -> Notated {
        Notated { layout: shape.into(), spelling: Spelling::Xla }
    }
}

/// Converts the layout as if its text had been read.
impl From<BufferTensorDesc> for Notated {
    fn from(desc: BufferTensorDesc) -> Notated {
        Notated { layout: desc.into(), spelling: Spelling::Strides }
    }
}

/// Converts the layout as if its text had been read. A layout that no single index map can express is
/// refused.
impl TryFrom<NamedLayout> for Notated {
    type Error = Error;

    fn try_from(named: NamedLayout) -> Result<Notated, Error> {
        let layout = match named.as_descriptor() {
            Some(desc) => desc.into(),
            None => named.to_index_map()?.into(),
        };
        Ok(Notated { layout, spelling: Spelling::Named(Box::new(named)) })
    }
}
