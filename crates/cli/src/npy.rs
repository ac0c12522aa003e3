//! The header of a .npy file: NumPy's format, versions 1 to 3.

use tensor_layout::element::Naming;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use crate::index_text::write_list;

const MAGIC: &[u8] = b"\x93NUMPY";

/// What the header of a .npy file says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) data_type: DataType,
    /// Whether neighbours along the first dimension, and not the last, are side by side in the file.
    pub(crate) fortran_order: bool,
    pub(crate) sizes: Vec<u64>,
}

/// Reads the header of a .npy file. Returns it, and the position at which the data begins. An error is the
/// end of a sentence that begins with the name of the file.
pub(crate) fn read_header(file: &[u8]) -> Result<(Header, usize), String> {
    let rest = file.strip_prefix(MAGIC).ok_or("is not a .npy file: it does not begin with \\x93NUMPY")?;
    let cut = || "ends inside its header".to_owned();
    let (length, start) = match *rest {
        [1, _, a, b, ..] => (u64::from(u16::from_le_bytes([a, b])), 10_usize),
        [2 | 3, _, a, b, c, d, ..] => (u64::from(u32::from_le_bytes([a, b, c, d])), 12),
        [version, ..] if version == 0 || version > 3 => {
            return Err(format!("is a .npy file of version {version}; versions 1 to 3 are known"));
        }
        _ => return Err(cut()),
    };
    let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length)).ok_or_else(cut)?;
    let text = file.get(start..end).ok_or_else(cut)?;
    let text = copied_text(text).ok_or("has a header that is not text")?;
    Ok((Dictionary { rest: &text }.read()?, end))
}

/// Returns a copy of a header, if it is valid UTF-8. It is copied because the bytes of a mapped file may
/// change, and the bytes of a `str` must not.
fn copied_text(header: &[u8]) -> Option<String> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(header.len()).ok()?;
    copy.extend_from_slice(header);
    String::from_utf8(copy).ok()
}

/// Writes a header, in the format of version 1, or of version 2 if the header is too long for that.
pub(crate) fn write_header(header: &Header) -> Result<Vec<u8>, Error> {
    let descr = header.data_type.name_in(Naming::Npy).ok_or_else(|| {
        Error::unsupported_data_type(header.data_type.name_in(Naming::Xla).unwrap_or_default(), "the .npy format")
    })?;
    let order = if header.fortran_order { "True" } else { "False" };
    let sizes: Vec<String> = header.sizes.iter().map(|size| format!("{size}, ")).collect();
    let sizes = match sizes.as_slice() {
        [_] => sizes.concat().trim_end().to_owned(),
        _ => sizes.concat().trim_end_matches(", ").to_owned(),
    };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}");
    // The header is padded so that the data begins at a multiple of 64 bytes. It ends with a line feed.
    let padded = |prefix: usize| (prefix + text.len() + 1).next_multiple_of(64) - prefix;
    let mut bytes = MAGIC.to_vec();
    match u16::try_from(padded(10)) {
        Ok(length) => {
            bytes.extend([1, 0]);
            bytes.extend(length.to_le_bytes());
        }
        Err(_) => {
            bytes.extend([2, 0]);
            bytes.extend(u32::try_from(padded(12)).unwrap_or(u32::MAX).to_le_bytes());
        }
    }
    let end = (bytes.len() + text.len() + 1).next_multiple_of(64);
    bytes.extend(text.as_bytes());
    bytes.resize(end - 1, b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

impl Header {
    /// Returns the layout of the file, which is packed in the order that the header states.
    pub(crate) fn map(&self) -> Result<IndexMap, Error> {
        packed(self.data_type, &self.sizes, self.fortran_order)?.to_index_map()
    }

    pub(crate) fn layout(&self) -> Result<String, Error> {
        Ok(packed(self.data_type, &self.sizes, self.fortran_order)?.to_string())
    }

    /// Returns the header of a file with this layout. The layout must be packed, in row-major or column-major
    /// order.
    pub(crate) fn of(map: &IndexMap, layout: &str) -> Result<Header, Error> {
        for fortran_order in [false, true] {
            let header = Header { data_type: map.data_type(), fortran_order, sizes: map.sizes().to_vec() };
            if header.map()? == *map {
                return Ok(header);
            }
        }
        Err(Error::not_expressible(
            ".npy file",
            format!("{layout} is neither packed row-major nor packed column-major, the two orders a .npy file has"),
        ))
    }

    /// Checks that a file with this header has this layout. The error is the rest of a sentence that begins
    /// with the name of the file.
    pub(crate) fn check(&self, map: &IndexMap, layout: &str) -> Result<(), String> {
        if self.data_type != map.data_type() {
            return Err(format!("holds {}, but {layout} is of {}", self.data_type, map.data_type()));
        }
        if self.sizes != map.sizes() {
            return Err(format!("has the shape {}, but {layout} has other sizes", write_list(&self.sizes)));
        }
        let own = self.map().map_err(|error| format!("is refused: {error}"))?;
        let same = own.same_places(map).map_err(|error| format!("is refused: {error}"))?;
        if own.element_bits() != map.element_bits() || !same {
            let order = if self.fortran_order { "first" } else { "last" };
            return Err(format!(
                "is packed with the {order} index as the fastest, and {layout} stores elements at other offsets"
            ));
        }
        Ok(())
    }
}

fn packed(data_type: DataType, sizes: &[u64], fortran_order: bool) -> Result<BufferTensorDesc, Error> {
    if !fortran_order {
        return BufferTensorDesc::packed(data_type, sizes);
    }
    let mut strides = Vec::with_capacity(sizes.len());
    let mut stride = 1_u64;
    for &size in sizes {
        strides.push(stride);
        stride = stride.checked_mul(size.max(1)).ok_or_else(|| Error::overflow("the number of elements", 64))?;
    }
    BufferTensorDesc::new(data_type, sizes, Some(&strides))
}

/// A reader of the Python dictionary in a header.
struct Dictionary<'a> {
    rest: &'a str,
}

impl<'a> Dictionary<'a> {
    fn read(mut self) -> Result<Header, String> {
        let (mut descr, mut fortran_order, mut sizes) = (None, None, None);
        self.expect("{")?;
        while !self.eat("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" if self.peeks("[") => {
                    return Err("holds records of several fields; only plain elements can be laid out".into());
                }
                "descr" => descr = Some(self.string()?),
                "fortran_order" => fortran_order = Some(self.truth()?),
                "shape" => sizes = Some(self.tuple()?),
                other => return Err(format!("has an unknown key `{other}` in its header")),
            }
            if !self.eat(",") && !self.peeks("}") {
                return Err(self.garbled("`,` or `}`"));
            }
        }
        let missing = |key: &str| format!("has no `{key}` in its header");
        let descr = descr.ok_or_else(|| missing("descr"))?;
        let data_type = DataType::from_name_in(Naming::Npy, descr).ok_or_else(|| match descr.starts_with('>') {
            true => format!(
                "holds big-endian elements ({descr}); save it with the byte order of {}",
                descr.replace('>', "<")
            ),
            false => format!("holds elements of the type {descr}, which has no counterpart here"),
        })?;
        Ok(Header {
            data_type,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            sizes: sizes.ok_or_else(|| missing("shape"))?,
        })
    }

    fn peeks(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.starts_with(token)
    }

    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(self.garbled(&format!("`{token}`"))) }
    }

    fn garbled(&self, expected: &str) -> String {
        let found: String = self.rest.chars().take(12).collect();
        format!("has a header that is not a NumPy dictionary: {expected} is missing before `{}`", found.trim_end())
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.eat("\"") {
            '"'
        } else {
            self.expect("'")?;
            '\''
        };
        let (text, rest) = self.rest.split_once(quote).ok_or_else(|| self.garbled("a closing quote"))?;
        self.rest = rest;
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, String> {
        if self.eat("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        self.expect("(")?;
        let mut sizes = Vec::new();
        while !self.eat(")") {
            self.rest = self.rest.trim_start();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at_checked(digits).unwrap_or(("", self.rest));
            sizes.push(number.parse().map_err(|_| self.garbled("a size below 2^64"))?);
            // Python 2 appended an L to long integers.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.eat(",") && !self.peeks(")") {
                return Err(self.garbled("`,` or `)`"));
            }
        }
        Ok(sizes)
    }
}
