//! Conversions from shapes, descriptors and named layouts to a `Notated`.

#[cfg(feature = "named")]
use alloc::boxed::Box;

#[cfg(feature = "named")]
use crate::error::Error;
use crate::map::IndexMap;
#[cfg(feature = "named")]
use crate::map::ToIndexMap;
#[cfg(feature = "named")]
use crate::named::NamedLayout;
use crate::strided::BufferTensorDesc;
use crate::tiled::ArrayShape;

use super::{AnyLayout, Notated, Spelling};

macro_rules! variants {
    ($($layout:ty => $variant:ident;)*) => {$(
        impl From<$layout> for AnyLayout {
            fn from(layout: $layout) -> AnyLayout {
                AnyLayout::$variant(layout)
            }
        }

        impl From<&$layout> for AnyLayout {
            fn from(layout: &$layout) -> AnyLayout {
                layout.clone().into()
            }
        }
    )*};
}

variants! {
    BufferTensorDesc => Strided;
    ArrayShape => Tiled;
    IndexMap => Mapped;
}

impl From<Notated> for AnyLayout {
    fn from(notated: Notated) -> AnyLayout {
        notated.layout
    }
}

impl From<&AnyLayout> for AnyLayout {
    fn from(layout: &AnyLayout) -> AnyLayout {
        layout.clone()
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
#[cfg(feature = "named")]
impl TryFrom<NamedLayout> for Notated {
    type Error = Error;

    fn try_from(named: NamedLayout) -> Result<Notated, Error> {
        let layout = match (&named.shape, named.as_descriptor()) {
            (Some(shape), _) => shape.into(),
            (None, Some(desc)) => desc.into(),
            (None, None) => named.to_index_map()?.into(),
        };
        Ok(Notated { layout, spelling: Spelling::Named(Box::new(named)) })
    }
}
