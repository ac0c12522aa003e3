//! A text for any index map.

use alloc::string::{String, ToString};
use core::fmt::Write;

use crate::bridge::spell;
use crate::error::Error;
use crate::map::{IndexMap, LayoutClass};
use crate::strided::BufferTensorDesc;

/// A text for the layout of a map, such as that of a view: strides where these say everything but the
/// padding after the end, else an XLA layout. Both are read by [`Notated`](super::Notated).
pub(super) fn text_of(map: &IndexMap) -> Result<String, Error> {
    if map.class() == LayoutClass::Affine && map.element_bits() == map.data_type().bits() {
        let strides = map.strides().unwrap_or_default();
        let desc = BufferTensorDesc::new(map.data_type(), map.sizes(), Some(&strides))?.with_base_offset(map.base())?;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = write!(text, "{desc}");
        return Ok(text);
    }
    spell(map).map(|shape| shape.to_string())
}
