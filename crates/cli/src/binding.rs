//! The sizes and strides that a layout is bound with.

use tensor_layout::AnyLayout;
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap};

/// Returns the strided tensor that a layout is bound as. If this is not the layout itself, a remark says what
/// is bound instead.
pub(crate) fn bound_as(layout: &AnyLayout) -> Result<(BufferTensorDesc, Option<&'static str>), Error> {
    match lower(layout)? {
        Lowering::Strided(desc) => Ok((desc, None)),
        Lowering::Split(split) => Ok((split.desc, Some("bound as the padded tensor of higher rank"))),
        Lowering::IndexMap { map, .. } => {
            Ok((flat(&map)?, Some("bound as one row of elements, because no strides describe it")))
        }
        _ => Err(Error::not_expressible("strided descriptor", "its lowering is unknown")),
    }
}

/// Describes the whole buffer as one row of elements, padding included.
fn flat(map: &IndexMap) -> Result<BufferTensorDesc, Error> {
    let data_type = match map.element_bits() {
        bits if bits == map.data_type().bits() => map.data_type(),
        8 => DataType::U8,
        16 => DataType::U16,
        32 => DataType::U32,
        64 => DataType::U64,
        bits => return Err(Error::unsupported_bits(bits, "8, 16, 32 and 64")),
    };
    BufferTensorDesc::packed(data_type, &[map.physical_elements()])
}
