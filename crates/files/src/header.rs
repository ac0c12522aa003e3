//! The header of a new safetensors file, which lists the tensors that follow.
//!
//! Tensors with wider elements come first, so that each begins at a multiple of its element. Tensors of equal
//! width keep their order. With an alignment, tensors are sorted by the largest power of two that divides
//! their size, the largest first. A tensor that would still begin at another place has a tensor of padding in
//! front of it: `__fill.0` and so on.
//!
//! If all tensors are packed, the file names no layout and has the bytes that the safetensors libraries
//! write, with more spaces after the header. Otherwise it names the layout of every tensor and its
//! fingerprint.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};
use tensor_layout::element::Naming;
use tensor_layout::map::Fingerprint;
use tensor_layout::{BufferTensorDesc, Error, IndexMap, ToIndexMap};
use tensor_layout_text::{Layout, Notation};

use crate::error::printable;
use crate::safetensors::{FILL, FINGERPRINT, LAYOUT, LENGTH, METADATA, ROW_OF_BYTES, is_fill};
use crate::stored::{SAME_AS, size_in_bytes};

/// The first tensor begins at a multiple of this number, in bytes.
const FIRST_ALIGNED: usize = 64;
/// The largest alignment that may be asked for, in bytes: a page of some systems.
const MOST_ALIGNED: u64 = 16_384;

/// What a new header says about one tensor.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    name: String,
    /// The layout, as the metadata names it.
    layout: String,
    /// The fingerprint of the layout, if one index map describes it.
    fingerprint: Option<String>,
    /// Whether the format can store the layout as it is.
    is_plain: bool,
    dtype: &'static str,
    shape: Vec<u64>,
    element_bits: u32,
    bytes: u64,
}

impl Listed {
    pub(crate) fn new(name: &str, layout: &Layout) -> Result<Listed, Error> {
        let Ok(map) = layout.whole() else { return Listed::of_parts(name, layout) };
        let (data_type, is_plain) = (map.data_type(), layout.blocks().is_none() && is_plain(map));
        let is_whole = data_type.bits() >= 8 && map.element_bits() == data_type.bits();
        // A packed tensor keeps its shape. Any other tensor is one row of all its physical elements, or of
        // bytes if the format cannot express the elements.
        let (dtype, shape) = match data_type.name_in(Naming::Safetensors) {
            Some(dtype) if self::is_plain(map) => (dtype, map.sizes().to_vec()),
            // A permutation of the elements keeps the sizes as well.
            Some(dtype) if is_whole && map.element_count() == map.physical_elements() => (dtype, map.sizes().to_vec()),
            Some(dtype) if is_whole => (dtype, vec![map.physical_elements()]),
            _ => (ROW_OF_BYTES.name_in(Naming::Safetensors).unwrap_or_default(), vec![map.physical_size_in_bytes()]),
        };
        Ok(Listed {
            name: name.to_owned(),
            layout: text_of(layout),
            fingerprint: Fingerprint::of(layout).ok().map(|fingerprint| fingerprint.to_string()),
            is_plain,
            dtype,
            shape,
            element_bits: data_type.bits(),
            bytes: map.physical_size_in_bytes(),
        })
    }

    /// Whether the format can store the layout as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// A layout of several parts or planes is a row of bytes.
    fn of_parts(name: &str, layout: &Layout) -> Result<Listed, Error> {
        let (bytes, text) = (size_in_bytes(layout)?, layout.to_string());
        if layout.is_tuple() || text.parse::<Layout>().ok().as_ref() != Some(layout) {
            return Err(layout.whole().err().unwrap_or_else(|| Error::not_expressible("single index map", text)));
        }
        let dtype = ROW_OF_BYTES.name_in(Naming::Safetensors).unwrap_or_default();
        let (shape, element_bits) = (vec![bytes], ROW_OF_BYTES.bits());
        let (name, fingerprint) = (name.to_owned(), None);
        Ok(Listed { name, layout: text, fingerprint, is_plain: false, dtype, shape, element_bits, bytes })
    }
}

/// The header of a new file, and the order of the tensors that follow it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header {
    pub(crate) bytes: Vec<u8>,
    /// The tensors in the order of the file, as indices of the list that was passed.
    pub(crate) order: Vec<usize>,
    /// The offset in the file at which each tensor begins, in bytes.
    pub(crate) starts: Vec<u64>,
    pub(crate) data_bytes: u64,
}

impl Header {
    /// Makes the header of these tensors. The metadata has the words of the file besides their layouts. The
    /// first tensor begins at a multiple of 64 bytes, and every tensor at a multiple of `align`. The error is
    /// the rest of a sentence about the file.
    pub(crate) fn new(tensors: &[Listed], metadata: &Map<String, Value>, align: Option<u64>) -> Result<Header, String> {
        let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        names.sort_unstable();
        if let Some([name, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
            return Err(format!("two tensors have the name `{}`", printable(name)));
        }
        if let Some(name) = names.iter().find(|name| is_fill(name)) {
            return Err(format!("`{name}` is the name of padding, which readers do not list"));
        }
        if let Some(align) = align.filter(|align| !align.is_power_of_two() || *align > MOST_ALIGNED) {
            return Err(format!(
                "tensors begin at multiples of a power of two up to {MOST_ALIGNED}, and not of {align}"
            ));
        }
        let mut order: Vec<usize> = (0..tensors.len()).collect();
        order.sort_by_key(|&place| tensors.get(place).map(|tensor| Reverse(tensor.element_bits)));
        if align.is_some() {
            order.sort_by_key(|&place| tensors.get(place).map(|tensor| Reverse(tensor.bytes.trailing_zeros())));
        }
        let sorted = || order.iter().filter_map(|&place| tensors.get(place));

        let mut words = metadata.clone();
        if !tensors.iter().all(|tensor| tensor.is_plain) {
            words.extend(sorted().map(|tensor| (format!("{LAYOUT}{}", tensor.name), tensor.layout.as_str().into())));
            let print =
                |tensor: &Listed| Some((format!("{FINGERPRINT}{}", tensor.name), tensor.fingerprint.clone()?.into()));
            words.extend(sorted().filter_map(print));
        }
        let (mut starts, mut fills) = (Vec::with_capacity(tensors.len()), 0_u64);
        let (mut end, mut entries) = (0_u64, Vec::with_capacity(tensors.len().saturating_add(1)));
        let pair = |name: &str, value: &Value| format!("{}:{value}", Value::from(name));
        if !words.is_empty() {
            entries.push(pair(METADATA, &words.into()));
        }
        for tensor in sorted() {
            let aligned =
                end.checked_next_multiple_of(align.unwrap_or(1)).ok_or("the file would have more than 2^64 bytes")?;
            if let Some(length) = aligned.checked_sub(end).filter(|&length| length > 0) {
                let info = json!({ "dtype": "U8", "shape": [length], "data_offsets": [end, aligned] });
                entries.push(pair(&format!("{FILL}{fills}"), &info));
                fills = fills.saturating_add(1);
            }
            end = aligned;
            starts.push(end);
            let next = end.checked_add(tensor.bytes).ok_or("the file would have more than 2^64 bytes")?;
            let info = json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [end, next] });
            entries.push(pair(&tensor.name, &info));
            end = next;
        }
        let text = format!("{{{}}}", entries.join(","));
        let align = usize::try_from(align.unwrap_or(1)).unwrap_or(1).max(FIRST_ALIGNED);
        let length = text.len().saturating_add(LENGTH).next_multiple_of(align).saturating_sub(LENGTH);
        let mut bytes = u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.resize(length.saturating_add(LENGTH), b' ');
        let before = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        starts.iter_mut().for_each(|start| *start = start.saturating_add(before));
        Ok(Header { bytes, order, starts, data_bytes: end })
    }
}

/// Whether the format can store a layout as it is: every element has the offset that it has in a packed
/// buffer, no bytes follow the last element, and the format has a name for the type.
fn is_plain(map: &IndexMap) -> bool {
    let data_type = map.data_type();
    let packed = BufferTensorDesc::packed(data_type, map.sizes()).and_then(|packed| packed.to_index_map());
    let bits = u128::from(map.element_count()).saturating_mul(data_type.bits().into());
    data_type.name_in(Naming::Safetensors).is_some()
        && map.element_bits() == data_type.bits()
        && bits == u128::from(map.physical_size_in_bytes()).saturating_mul(8)
        && packed.is_ok_and(|packed| packed == *map)
}

/// Returns the text of a layout for the metadata. A name is followed by the same layout in XLA's notation.
fn text_of(layout: &Layout) -> String {
    match layout.to_notation(Notation::Xla) {
        Ok(text) if layout.notation() == Notation::Named => format!("{layout}{SAME_AS}{text}"),
        _ => layout.to_string(),
    }
}
