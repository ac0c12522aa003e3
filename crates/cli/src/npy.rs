//! The header of a .npy file, which the crate `ndarray-npy` reads and writes. Its type is any text that
//! `numpy.dtype` takes; this module says which type of elements the text means.

use ndarray_npy::npy::header::{Header as RawHeader, Layout};
use py_literal::Value;
use tensor_layout::element::Naming;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};
use tensor_layout_text::numpy_dtype;

use crate::table::write_list;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The type of the elements, or an unsigned integer of their width.
    pub(crate) data_type: DataType,
    /// The text of a type that NumPy does not know and writes as bytes: `<V2` for bfloat16.
    pub(crate) opaque: Option<String>,
    /// Whether neighbours along the first dimension, and not the last, are side by side in the file.
    pub(crate) fortran_order: bool,
    pub(crate) sizes: Vec<u64>,
}

/// Reads the header of a .npy file. Returns it, and the position at which the data begins. An error is the
/// end of a sentence that begins with the name of the file.
pub(crate) fn read_header(file: &[u8]) -> Result<(Header, usize), String> {
    if !file.starts_with(b"\x93NUMPY") {
        return Err("is not a .npy file: it does not begin with \\x93NUMPY".into());
    }
    // A copy is read, because a mapped file may change. NumPy reads no header above 10,000 bytes by itself.
    let mut head = file.get(..file.len().min(1 << 20)).unwrap_or_default().to_vec();
    if let [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] = *head
        && u64::from(u32::from_le_bytes([a, b, c, d])) > head.len() as u64
    {
        return Err("ends inside its header".into());
    }
    // Python 2 appended an L to long integers.
    for place in 1..head.len().min(1 << 10) {
        if let Some([b'0'..=b'9', letter @ b'L', b',' | b')']) = head.get_mut(place - 1..place + 2) {
            *letter = b' ';
        }
    }
    if depth(&head) > MOST_NESTED {
        return Err(format!(
            "has a header that nests brackets more than {MOST_NESTED} deep, which no array of plain elements does"
        ));
    }
    let mut rest = &*head;
    let raw = RawHeader::from_reader(&mut rest).map_err(|error| {
        // The crate shows the whole header below a syntax error.
        let error = error.to_string();
        let error = error.split("  -->").next().unwrap_or_default().trim_end_matches(':');
        let is_cut = error.contains("fill whole buffer");
        if is_cut { "ends inside its header".into() } else { format!("is not a .npy file that can be read: {error}") }
    })?;
    let Some(descr) = raw.type_descriptor.as_string() else {
        return Err("holds records of several fields; only plain elements can be laid out".into());
    };
    let (data_type, opaque) = read_type(descr)?;
    let sizes = raw.shape.iter().map(|&size| size as u64).collect();
    let header = Header { data_type, opaque, fortran_order: raw.layout.is_fortran(), sizes };
    Ok((header, head.len().saturating_sub(rest.len())))
}

/// The deepest brackets in a header. The time in which it is parsed doubles, and more, with each level.
const MOST_NESTED: usize = 8;

/// How deep the brackets of the header are nested. The header follows its length, of 2 bytes in version 1.
fn depth(head: &[u8]) -> usize {
    let (text, length) = match *head {
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ref text @ ..] => (text, u32::from_le_bytes([a, b, c, d])),
        [_, _, _, _, _, _, _, _, a, b, ref text @ ..] => (text, u16::from_le_bytes([a, b]).into()),
        _ => return 0,
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.iter().take(length) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns the type that a text of `numpy.dtype` means. A type that NumPy does not know, which is written as
/// bytes (`V2`, or `f1` of mlx), is an unsigned integer, and its text is returned too.
fn read_type(descr: &str) -> Result<(DataType, Option<String>), String> {
    let (exact, data_type) = numpy_dtype(descr);
    if descr.starts_with('>') && exact.starts_with('<') {
        return Err(format!("holds big-endian elements ({descr}); save it with the byte order of {exact}"));
    }
    if let Some(data_type) = data_type {
        return Ok((data_type, None));
    }
    let stand_in = match &*exact {
        "|V1" | "|f1" => DataType::U8,
        "<V2" => DataType::U16,
        "<V4" => DataType::U32,
        "<V8" => DataType::U64,
        _ => return Err(format!("holds elements of the type {descr}, which has no counterpart here")),
    };
    Ok((stand_in, Some(descr.to_owned())))
}

impl Header {
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        let unsupported =
            || Error::unsupported_data_type(self.data_type.name_in(Naming::Xla).unwrap_or_default(), "the .npy format");
        let descr = self.data_type.name_in(Naming::Npy).ok_or_else(unsupported)?;
        let layout = if self.fortran_order { Layout::Fortran } else { Layout::Standard };
        let shape = self.sizes.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
        let raw = RawHeader { type_descriptor: Value::String(descr.to_owned()), layout, shape };
        raw.to_bytes().map_err(|error| Error::not_expressible(".npy file", error.to_string()))
    }

    pub(crate) fn layout(&self) -> Result<BufferTensorDesc, Error> {
        if !self.fortran_order {
            return BufferTensorDesc::packed(self.data_type, &self.sizes);
        }
        let reversed: Vec<u64> = self.sizes.iter().rev().copied().collect();
        let axes: Vec<usize> = (0..reversed.len()).rev().collect();
        BufferTensorDesc::packed(self.data_type, &reversed)?.permute(&axes)
    }

    /// Returns the header of a file with this layout. The layout must be packed, in row-major or column-major
    /// order.
    pub(crate) fn of(map: &IndexMap, layout: &str) -> Result<Header, Error> {
        for fortran_order in [false, true] {
            let (data_type, sizes) = (map.data_type(), map.sizes().to_vec());
            let header = Header { data_type, opaque: None, fortran_order, sizes };
            if header.layout()?.to_index_map()? == *map {
                return Ok(header);
            }
        }
        let reason =
            format!("{layout} is neither packed row-major nor packed column-major, the two orders a .npy file has");
        Err(Error::not_expressible(".npy file", reason))
    }

    /// Checks that a file with this header has this layout, and returns the bytes of its data. The error is
    /// the rest of a sentence that begins with the name of the file.
    pub(crate) fn check(&self, map: &IndexMap, layout: &str) -> Result<u64, String> {
        let own = self.layout().and_then(|own| own.to_index_map()).map_err(|error| format!("is refused: {error}"))?;
        match &self.opaque {
            Some(descr) if own.element_bits() != map.element_bits() => {
                let bits = map.element_bits();
                return Err(format!("holds elements of the type {descr}, but those of {layout} have {bits} bits"));
            }
            None if self.data_type != map.data_type() => {
                return Err(format!("holds {}, but {layout} is of {}", self.data_type, map.data_type()));
            }
            _ => {}
        }
        if self.sizes != map.sizes() {
            return Err(format!("has the shape {}, but {layout} has other sizes", write_list(&self.sizes)));
        }
        let same = own.same_places(map).map_err(|error| format!("is refused: {error}"))?;
        if own.element_bits() != map.element_bits() || !same {
            let order = if self.fortran_order { "first" } else { "last" };
            return Err(format!(
                "is packed with the {order} index as the fastest, and {layout} stores elements at other offsets"
            ));
        }
        Ok(own.physical_size_in_bytes())
    }
}
