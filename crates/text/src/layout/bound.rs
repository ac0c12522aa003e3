//! `Bound`: the strided tensor that an upload binds.

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, Error, IndexMap};

use super::Plane;

/// The strided tensor that a plane is bound as.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bound {
    /// The tensor.
    pub desc: BufferTensorDesc,
    /// What is bound instead of the layout itself: `bound as the padded tensor of higher rank`.
    pub remark: Option<&'static str>,
}

impl Plane {
    /// Returns the strided tensor that the plane is bound as: itself, the padded tensor of higher rank, or
    /// one row of elements if no strides describe it. Axes that run backwards are bound from the lowest
    /// address on.
    ///
    /// # Errors
    ///
    /// The reason why a plane has no index map, and `unsupported_bits` for elements of a width that no
    /// descriptor has.
    ///
    /// ```
    /// use tensor_layout_text::layout::Layout;
    ///
    /// let bound = |text: &str| text.parse::<Layout>()?.values().bound().map(|bound| bound.desc.to_string());
    /// assert_eq!(bound("f32[3,5]{1,0:T(2,2)}")?, "f32[2,2,3,2]:[12,2,4,1]");
    /// assert_eq!(bound("sglang.packed_vnni2:bf16[48,32]")?, "bf16[1536]:[1]");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn bound(&self) -> Result<Bound, Error> {
        let mut bound = match (self.any(), self.maps().next()) {
            (Some(layout), _) => bound_as(layout)?,
            (None, Some(first)) => {
                let elements = self.maps().map(IndexMap::physical_elements).max().unwrap_or(0);
                let desc = row(first.data_type(), first.element_bits(), elements)?;
                Bound { desc, remark: Some("bound as one row of elements, because it lies in several parts") }
            }
            (None, None) => match &self.blocks {
                Some(blocks) => bound_as(&blocks.bytes().into())?,
                None => return Err(self.why_without_map()),
            },
        };
        bound.desc = self.aligned(bound.desc)?;
        if self.blocks.is_some() {
            bound.remark = Some("bound as the bytes of its blocks");
        } else if !self.reversed.is_empty() {
            bound.remark = bound.remark.or(Some("bound from its lowest address on"));
        }
        Ok(bound)
    }

    fn aligned(&self, desc: BufferTensorDesc) -> Result<BufferTensorDesc, Error> {
        match u32::try_from(self.alignment()) {
            Ok(alignment) if alignment > 1 => desc.with_base_offset_alignment(alignment),
            _ => Ok(desc),
        }
    }
}

/// Returns the strided tensor that a layout of the crate's own types is bound as; see [`Plane::bound`].
///
/// # Errors
///
/// The errors of [`lower`], and `unsupported_bits` for elements of a width that no descriptor has.
pub fn bound_as(layout: &AnyLayout) -> Result<Bound, Error> {
    let (desc, remark) = match lower(layout)? {
        Lowering::Strided(desc) => (desc, None),
        Lowering::Split(split) => (split.desc, Some("bound as the padded tensor of higher rank")),
        Lowering::IndexMap { map, .. } => (
            row(map.data_type(), map.element_bits(), map.physical_elements())?,
            Some("bound as one row of elements, because no strides describe it"),
        ),
        _ => return Err(Error::not_expressible("strided descriptor", "its lowering is unknown")),
    };
    Ok(Bound { desc, remark })
}

fn row(data_type: DataType, element_bits: u32, elements: u64) -> Result<BufferTensorDesc, Error> {
    let data_type = match element_bits {
        bits if bits == data_type.bits() => data_type,
        8 => DataType::U8,
        16 => DataType::U16,
        32 => DataType::U32,
        64 => DataType::U64,
        bits => return Err(Error::unsupported_bits(bits, "8, 16, 32 and 64")),
    };
    BufferTensorDesc::packed(data_type, &[elements])
}
