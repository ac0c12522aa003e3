//! The header of a .npy file: a dict of Python with the three keys `descr`, `fortran_order` and `shape`.
//!
//! `descr` is any text that `numpy.dtype` takes. A file of records has a list there, and is refused. NumPy's
//! versions of the format differ in how many bytes the length of the header has (2 in version 1, then 4), and
//! in the encoding of the names of fields, which no file of plain elements has.

use tensor_layout::cursor::Cursor;
use tensor_layout::element::Naming;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};
use tensor_layout_text::numpy_dtype;

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read, in bytes. NumPy reads no header above 10,000 bytes by itself.
const MOST_BYTES: usize = 1 << 20;

/// NumPy begins the data at a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// What the header of a .npy file says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The type of the elements, or an unsigned integer of their width.
    pub data_type: DataType,
    /// The text of a type that NumPy does not know and writes as bytes: `<V2` for bfloat16.
    pub opaque: Option<String>,
    /// Whether neighbours along the first axis, and not the last, are side by side in the file.
    pub fortran_order: bool,
    /// The sizes in elements, outermost first.
    pub sizes: Vec<u64>,
}

/// The values of the three keys.
type Values<'a> = (&'a str, bool, Vec<u64>);

impl Header {
    /// Reads the header of a .npy file. Returns it, and the position at which the data begins.
    ///
    /// ```
    /// use tensor_layout_files::npy::Header;
    ///
    /// let text = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
    /// let file = [b"\x93NUMPY\x01\x00", &[58, 0][..], text.as_bytes()].concat();
    /// let (header, start) = Header::read(&file)?;
    /// assert_eq!((header.layout()?.to_string(), start), ("f32[2,3]:[1,2]".into(), 68));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The end of a sentence that begins with the name of the file.
    pub fn read(file: &[u8]) -> Result<(Header, usize), String> {
        let Some(after) = file.strip_prefix(MAGIC) else {
            return Err("is not a .npy file: it does not begin with \\x93NUMPY".into());
        };
        let cut = || "ends inside its header".to_owned();
        let (length, rest) = match after {
            [1, 0, a, b, rest @ ..] => (u32::from(u16::from_le_bytes([*a, *b])), rest),
            [2 | 3, 0, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]), rest),
            [1, 0, ..] | [2 | 3, 0, ..] | [] | [_] => return Err(cut()),
            [major, minor, ..] => {
                return Err(format!("is a .npy file of version {major}.{minor}; versions 1.0, 2.0 and 3.0 are read"));
            }
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MOST_BYTES {
            return Err(format!("has a header of {length} bytes, and at most {MOST_BYTES} are read"));
        }
        // The text is copied, because a mapped file may change. The names of fields alone may not be ASCII.
        let text = String::from_utf8_lossy(rest.get(..length).ok_or_else(cut)?).into_owned();
        let start = file.len().saturating_sub(rest.len()).saturating_add(length);
        let mut cursor = Cursor::new(text.trim_end());
        let unread = |error: Error| format!("is not a .npy file that can be read: {error}");
        let Some((descr, fortran_order, sizes)) = values(&mut cursor).map_err(unread)? else {
            return Err("holds records of several fields; only plain elements can be laid out".into());
        };
        // The cursor skips what XLA takes for a comment.
        if text.contains('/') {
            return Err("is not a .npy file that can be read: its header has a comment".into());
        }
        let (data_type, opaque) = element_type(descr)?;
        Ok((Header { data_type, opaque, fortran_order, sizes }, start))
    }

    /// Returns the header of a file with this layout, whose text is for the message of an error.
    ///
    /// # Errors
    ///
    /// `not_expressible` if the layout is not packed, in row-major or column-major order.
    pub fn of(map: &IndexMap, layout: &str) -> Result<Header, Error> {
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

    /// Returns the first bytes of a file with this header: everything in front of the elements.
    ///
    /// # Errors
    ///
    /// `unsupported_data_type` if NumPy does not have the type.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let unsupported =
            || Error::unsupported_data_type(self.data_type.name_in(Naming::Xla).unwrap_or_default(), "the .npy format");
        let descr = self.data_type.name_in(Naming::Npy).ok_or_else(unsupported)?;
        let order = if self.fortran_order { "True" } else { "False" };
        let sizes: Vec<String> = self.sizes.iter().map(u64::to_string).collect();
        // Python writes a tuple of one item with a comma.
        let comma = if sizes.len() == 1 { "," } else { "" };
        let shape = sizes.join(", ");
        let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}{comma}), }}");
        // The magic, the version, the length, the text and the end of its line.
        let whole = |length_bytes: usize| {
            let bytes = [MAGIC.len(), 2, length_bytes, text.len(), 1].into_iter().fold(0, usize::saturating_add);
            bytes.next_multiple_of(ALIGNMENT)
        };
        let short = whole(2).saturating_sub(MAGIC.len().saturating_add(4));
        let (version, length) = match u16::try_from(short) {
            Ok(length) => (1, length.to_le_bytes().to_vec()),
            Err(_) => {
                let long = whole(4).saturating_sub(MAGIC.len().saturating_add(6));
                (2, u32::try_from(long).unwrap_or(u32::MAX).to_le_bytes().to_vec())
            }
        };
        let end = whole(length.len());
        let mut bytes = [MAGIC, &[version, 0], &length].concat();
        text.push_str(&" ".repeat(end.saturating_sub(bytes.len()).saturating_sub(text.len()).saturating_sub(1)));
        bytes.extend(text.as_bytes());
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Returns the layout of the elements: packed, in row-major or column-major order.
    ///
    /// # Errors
    ///
    /// `overflow` for sizes whose product is too large for a [`BufferTensorDesc`].
    pub fn layout(&self) -> Result<BufferTensorDesc, Error> {
        if !self.fortran_order {
            return BufferTensorDesc::packed(self.data_type, &self.sizes);
        }
        let reversed: Vec<u64> = self.sizes.iter().rev().copied().collect();
        let axes: Vec<usize> = (0..reversed.len()).rev().collect();
        BufferTensorDesc::packed(self.data_type, &reversed)?.permute(&axes)
    }

    /// Checks that a file with this header has this layout, and returns the bytes of its elements. `layout`
    /// is the text of the layout, for the message of an error.
    ///
    /// # Errors
    ///
    /// The end of a sentence that begins with the name of the file.
    pub fn check(&self, map: &IndexMap, layout: &str) -> Result<u64, String> {
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
            return Err(format!("has the shape {:?}, but {layout} has other sizes", self.sizes));
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

/// Reads the dict. `None` if the elements are records.
fn values<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Values<'a>>, Error> {
    let (mut descr, mut fortran_order, mut sizes) = (None, None, None);
    cursor.expect("{", "`{` and a dict with the keys 'descr', 'fortran_order' and 'shape'")?;
    while !cursor.eat("}") {
        let start = cursor.position();
        match string(cursor)? {
            key @ ("descr" | "fortran_order" | "shape") => {
                cursor.expect(":", "`:` after the key")?;
                let is_first = match key {
                    "descr" if cursor.peek() == Some(b'[') => return Ok(None),
                    "descr" => descr.replace(string(cursor)?).is_none(),
                    "shape" => sizes.replace(tuple(cursor)?).is_none(),
                    _ => fortran_order.replace(truth(cursor)?).is_none(),
                };
                if !is_first {
                    return Err(cursor.error_at(start, "each key once"));
                }
            }
            _ => return Err(cursor.error_at(start, "one of the keys 'descr', 'fortran_order' and 'shape'")),
        }
        if !cursor.eat(",") {
            cursor.expect("}", "`,` or `}`")?;
            break;
        }
    }
    let missing = cursor.position();
    cursor.end("nothing more")?;
    match (descr, fortran_order, sizes) {
        (Some(descr), Some(fortran_order), Some(sizes)) => Ok(Some((descr, fortran_order, sizes))),
        _ => Err(cursor.error_at(missing, "all of the keys 'descr', 'fortran_order' and 'shape' before the end")),
    }
}

/// Reads a string of Python without escapes, which no dtype needs.
fn string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    let start = cursor.position();
    let rest = cursor.rest();
    let inner = ['\'', '"'].iter().find_map(|&quote| Some(rest.strip_prefix(quote)?.split_once(quote)?.0));
    match inner.filter(|inner| !inner.contains(['\\', '\n'])) {
        Some(inner) => {
            cursor.move_to(start.saturating_add(inner.len()).saturating_add(2));
            Ok(inner)
        }
        None => Err(cursor.error_at(start, "a string such as 'descr' or '<f4'")),
    }
}

fn truth(cursor: &mut Cursor<'_>) -> Result<bool, Error> {
    let start = cursor.position();
    match cursor.word() {
        "True" => Ok(true),
        "False" => Ok(false),
        _ => Err(cursor.error_at(start, "True or False")),
    }
}

/// Reads the sizes: `()`, `(2,)` or `(2, 3)`. Python 2 wrote `(2L, 3L)`.
fn tuple(cursor: &mut Cursor<'_>) -> Result<Vec<u64>, Error> {
    cursor.expect("(", "`(` and the sizes")?;
    let mut sizes = Vec::new();
    while !cursor.eat(")") {
        sizes.push(cursor.number("a size")?);
        cursor.eat("L");
        if !cursor.eat(",") {
            // `(2)` is a number in Python.
            match sizes.as_slice() {
                [_] => return Err(cursor.error("`,` after the only size")),
                _ => cursor.expect(")", "`,` or `)`")?,
            }
            break;
        }
    }
    Ok(sizes)
}

/// Returns the type that a text of `numpy.dtype` means. A type that NumPy does not know, which is written as
/// bytes (`V2`, or `f1` of mlx), is an unsigned integer, and its text is returned too.
fn element_type(descr: &str) -> Result<(DataType, Option<String>), String> {
    let unknown = || format!("holds elements of the type {descr}, which has no counterpart here");
    // NumPy accepts one mark of the byte order. `numpy_dtype` would accept several.
    let body = descr.strip_prefix(['<', '>', '=', '|']).unwrap_or(descr);
    if body.starts_with(['<', '>', '=', '|']) {
        return Err(unknown());
    }
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
        _ => return Err(unknown()),
    };
    Ok((stand_in, Some(descr.to_owned())))
}
