//! `AnyLayout`: a layout of either model, and a reader of the texts of both.

use core::str::FromStr;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::BufferTensorDesc;
use crate::tiled::ArrayShape;
use crate::typed_sizes::read_type_and_sizes;

/// A layout of any kind: sizes and strides, tiles, or an index map.
///
/// `FromStr` reads XLA's text `f32[3,5]{1,0:T(2,2)}`, strides `f32[2,3]:[5,1]+10` and axis orders
/// `f16[8,64,56,56]:NHWC`. The crate `tensor-layout-text` reads the notations of other tools too.
///
/// ```
/// use tensor_layout::{AnyLayout, ToIndexMap};
///
/// let tiled: AnyLayout = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert!(matches!(tiled, AnyLayout::Tiled(_)));
/// assert_eq!(tiled.to_index_map()?.physical_elements(), 24);
/// let strided: AnyLayout = "f32[2,3]:[5,1]".parse()?;
/// assert_eq!(strided.as_descriptor().unwrap().strides(), [5, 1]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AnyLayout {
    /// A layout with sizes and strides.
    Strided(BufferTensorDesc),
    /// A layout with a dimension order and tiles.
    Tiled(ArrayShape),
    /// An index map, such as a view of a tiled layout or a layout in CuTe's notation. It has no text of its
    /// own.
    Mapped(IndexMap),
}

impl ToIndexMap for AnyLayout {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        match self {
            AnyLayout::Strided(desc) => desc.to_index_map(),
            AnyLayout::Tiled(shape) => shape.to_index_map(),
            AnyLayout::Mapped(map) => Ok(map.clone()),
        }
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        match self {
            AnyLayout::Strided(desc) => Some(desc),
            AnyLayout::Tiled(_) | AnyLayout::Mapped(_) => None,
        }
    }
}

impl FromStr for AnyLayout {
    type Err = Error;

    fn from_str(text: &str) -> Result<AnyLayout, Error> {
        // Only XLA's notation has sizes that are bounds.
        if !text.contains("<=") {
            let mut cursor = Cursor::new(text);
            read_type_and_sizes(&mut cursor)?;
            match cursor.peek() {
                Some(b':') => return text.parse().map(AnyLayout::Strided),
                Some(b'{') | None => {}
                Some(_) => {
                    return Err(
                        cursor.error("`{` and an XLA layout, `:` and strides or an axis order, or nothing more")
                    );
                }
            }
        }
        text.parse().map(AnyLayout::Tiled)
    }
}

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

impl From<&AnyLayout> for AnyLayout {
    fn from(layout: &AnyLayout) -> AnyLayout {
        layout.clone()
    }
}
