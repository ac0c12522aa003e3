//! `words_as`: what the words of a checkpoint hold. Files have no types of 4 bits and the like, so they store
//! words of 32 bits or bytes, in an order that only the name of the format says.

use tensor_layout::element::ElementKind;
use tensor_layout::plan::counted;
use tensor_layout::{BufferTensorDesc, DataType, Error, ToIndexMap};

use crate::Layout;
use crate::named::{NamedLayout, full_name, is_for};
use crate::numbers::list;

/// Returns the layout of what the words of a tensor hold: GPTQ's `s32[64,256]` are `u4[512,256]` in the order
/// of `gptq.qweight_u4`. The text is
///
/// * a name: the axis along which a word holds neighbours is as much longer as there are elements in a word,
/// * a data type: the last axis is longer, and the elements are packed, the lowest bits first,
/// * a whole layout, which must take as many bytes.
///
/// # Errors
///
/// `not_expressible` for words that are not packed, if no sizes of the name have words of these sizes, and
/// for a layout of another size; the errors of a text that is none of the three.
///
/// ```
/// use tensor_layout_text::{Layout, words_as};
///
/// let held = |text: &str, words: &str| Ok::<_, tensor_layout::Error>(words_as(text, &words.parse()?)?.to_string());
/// assert_eq!(held("gptq.qweight_u4", "s32[64,256]:[256,1]")?, "gptq.qweight_u4:u4[512,256]");
/// assert_eq!(held("awq.qweight_u4", "s32[64,256]:[256,1]")?, "awq.qweight_u4:u4[64,2048]");
/// assert_eq!(held("f4e2m1fn", "u8[64,256]:[256,1]")?, "f4e2m1fn[64,512]:[512,1]");
/// let marlin: Layout = words_as("marlin.qweight_u4:u4[512,256]", &"s32[32,512]:[512,1]".parse()?)?;
/// assert_eq!(marlin.sizes(), [512, 256]);
/// let error = held("gptq.qweight_u4", "s32[64]:[1]").unwrap_err();
/// assert_eq!(error.to_string(), "no named layout describes this layout: gptq.qweight_u4 has the axes K,N, and there are 1 sizes");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn words_as(text: &str, words: &Layout) -> Result<Layout, Error> {
    let refused = |reason: String| Error::not_expressible("content of words", format!("{words}: {reason}"));
    let map = words.whole()?;
    let (bits, sizes, bytes) = (map.element_bits(), map.sizes(), map.physical_size_in_bytes());
    if words.blocks().is_some() || BufferTensorDesc::packed(map.data_type(), sizes)?.to_index_map()? != *map {
        return Err(refused("its words are not packed".into()));
    }
    if text.contains('[') {
        let held: Layout = text.parse()?;
        let [plane] = held.planes() else { return Err(refused(format!("{held} has several planes"))) };
        let own = plane.size_in_bytes()?;
        return match own == bytes {
            true => Ok(held),
            false => Err(refused(format!("{held} takes {}, and the words {bytes}", counted(own, "byte")))),
        };
    }
    // Returns the sizes with one axis longer by the number of elements that a word holds.
    let longer = |axis: usize, data_type: DataType| {
        let (mut sizes, own) = (sizes.to_vec(), u64::from(data_type.bits()));
        let size = sizes.get_mut(axis)?;
        let all = size.checked_mul(bits.into())?;
        *size = all.checked_div(own).filter(|_| all.is_multiple_of(own))?;
        Some(sizes)
    };
    if let Ok(data_type) = text.parse::<DataType>() {
        let all = sizes.len().checked_sub(1).and_then(|last| longer(last, data_type));
        let all = all.ok_or_else(|| refused(format!("rows of {} hold no whole number of {data_type}", list(sizes))))?;
        return Ok(BufferTensorDesc::packed(data_type, &all)?.into());
    }
    let name = full_name(text)?;
    let kinds = [ElementKind::Unsigned, ElementKind::Float, ElementKind::Signed];
    let types = kinds.iter().flat_map(|kind| DataType::ALL.iter().filter(move |one| one.kind() == *kind));
    let mut error = refused(format!("{name} has no elements of at most {bits} bits"));
    for &data_type in types.filter(|data_type| data_type.bits() <= bits && is_for(&name, **data_type)) {
        for (axis, sizes) in (0..sizes.len()).filter_map(|axis| Some((axis, longer(axis, data_type)?))) {
            match NamedLayout::new(&name, data_type, &sizes).and_then(Layout::try_from) {
                Ok(held) if is_along(&held, axis, bits, data_type)? && held.values().size_in_bytes()? == bytes => {
                    return Ok(held);
                }
                Ok(_) => {
                    let whole = format!("{name}:{data_type}[..]");
                    let reason = "its words are not neighbours along one axis: write the layout with its sizes, as in";
                    error = refused(format!("{reason} {whole}"));
                }
                Err(reason) => error = reason,
            }
        }
    }
    Err(error)
}

/// Whether the elements of the first word have indices that differ along this axis alone.
fn is_along(held: &Layout, axis: usize, bits: u32, data_type: DataType) -> Result<bool, Error> {
    let first = held.values().index_at(0)?;
    for place in 0..u64::from(bits.checked_div(data_type.bits()).unwrap_or(1)) {
        let index = if held.sizes().contains(&0) { None } else { held.values().index_at(place)? };
        let (Some(first), Some(index)) = (&first, &index) else { return Ok(false) };
        if first.iter().zip(index).enumerate().any(|(other, (a, b))| other != axis && a != b) {
            return Ok(false);
        }
    }
    Ok(true)
}
