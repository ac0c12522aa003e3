//! A text for any index map.

use alloc::string::{String, ToString};
use core::fmt::Write;

use crate::bridge::spell;
use crate::error::Error;
use crate::map::{IndexMap, LayoutClass};
use crate::strided::BufferTensorDesc;

/// A text for the layout of a map, such as that of a view: strides where these say everything but the
/// padding after the end, else an XLA layout. Both are read by [`Notated`](super::Notated).
///
/// # Errors
///
/// [`Error::NotExpressible`] if there is neither.
///
/// ```
/// use tensor_layout::{notation, ArrayShape, ToIndexMap};
///
/// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
/// assert_eq!(notation::text_of(&map.reshape(&[2, 8, 2, 128])?)?, "f32[2,8,2,128]:[2048,128,1024,1]");
/// assert_eq!(notation::text_of(&map.permute(&[1, 0])?)?, "f32[256,16]{0,1:T(8,128)}");
/// assert_eq!(notation::text_of(&map.slice(&[(8..16).into(), (0..128).into()])?)?, "f32[8,128]:[128,1]+2048");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn text_of(map: &IndexMap) -> Result<String, Error> {
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
