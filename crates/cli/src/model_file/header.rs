//! Reads a header: the names, types, shapes and offsets of a file.

use core::fmt;

use ::safetensors::tensor::{Metadata, TensorInfo};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use tensor_layout::Error;
use tensor_layout::checked::{BYTES, Exact, narrow};
use tensor_layout::plan::Code;

use super::{MAX_HEADER, METADATA, check_names, header_fault};

/// The header of a file, checked. The tensors follow each other without gap or overlap, each has as many
/// bytes as its type and shape take, and no name occurs twice.
#[derive(Debug)]
pub(super) struct RawHeader {
    /// The tensors in the order of their bytes.
    pub(super) tensors: Vec<(String, TensorInfo)>,
    /// The metadata in the order of the file.
    pub(super) metadata: Vec<(String, String)>,
}

/// Reads the header of a file, and returns it with the bytes after it. Allocations never exceed the length of
/// the file.
pub(super) fn read(file: &[u8]) -> Result<(RawHeader, &[u8]), Error> {
    let Some((prefix, rest)) = file.split_first_chunk() else {
        return Err(header_fault(format!(
            "is not a safetensors file: it has {} bytes, too few for a header",
            file.len()
        )));
    };
    let (length, follow): (_, u64) = (u64::from_le_bytes(*prefix), narrow(rest.len(), BYTES)?);
    if length > MAX_HEADER {
        return Err(header_fault(format!(
            "is not a safetensors file: its header would be {length} bytes long, and at most {MAX_HEADER} are allowed"
        )));
    }
    let truncated = |what, needed, found| Error::model_truncated(what, needed, found);
    let split = rest.split_at_checked(narrow(length, BYTES)?);
    let (text, data) = split.ok_or_else(|| truncated("its header", length, follow))?;
    // The text is copied, because the bytes may belong to a mapped file that changes, and the bytes of a
    // `str` must not change.
    let text = String::from_utf8(text.to_vec()).map_err(|_| header_fault("has a header that is not text"))?;
    let header = parse(&text)?;
    let end = header.tensors.last().map_or(0, |(_, info)| info.data_offsets.1);
    let (needed, found): (u64, u64) = (narrow(end, BYTES)?, narrow(data.len(), BYTES)?);
    if needed > found {
        return Err(truncated("the data of its tensors", needed, found));
    }
    match found.minus(needed) {
        0 => Ok((header, data)),
        bytes => Err(Code::ModelTrailingBytes.by(bytes, 0)),
    }
}

fn parse(text: &str) -> Result<RawHeader, Error> {
    let mut header: RawHeader = serde_json::from_str(text)
        .map_err(|error| header_fault(format!("has a header that is not JSON or not of this format: {error}")))?;
    check_names("the header of the model", header.tensors.iter().map(|(name, _)| name.as_str()))?;
    check_names("the metadata of the model", header.metadata.iter().map(|(key, _)| key.as_str()))?;
    header.tensors.sort_by_key(|(_, info)| info.data_offsets);
    check_offsets(&header.tensors)?;
    Metadata::new(None, header.tensors.clone())
        .map_err(|error| header_fault(format!("has a header that contradicts itself: {error}")))?;
    Ok(header)
}

/// Checks the offsets of all tensors. The error names the tensor that has wrong offsets, and its bytes. The
/// error of `Metadata::new` would not.
fn check_offsets(tensors: &[(String, TensorInfo)]) -> Result<(), Error> {
    let mut last = 0_usize;
    for (name, info) in tensors {
        let (start, end) = info.data_offsets;
        let name = name.escape_debug();
        if start != last {
            let reason =
                format!("has a header that contradicts itself: `{name}` begins at byte {start}, not at {last}");
            return Err(header_fault(reason));
        }
        let bits = info.shape.iter().try_fold(info.dtype.bitsize(), |bits, &size| bits.checked_mul(size));
        let needed = bits.map(|bits| bits.div_ceil(8));
        let held = end.saturating_sub(start);
        if needed != Some(held) {
            let needed = needed.map_or_else(|| "more bytes than there are".into(), |needed| format!("{needed} bytes"));
            let sentence = format!("`{name}` needs {needed}, and its data_offsets hold {held}");
            return Err(header_fault(format!("has a header that contradicts itself: {sentence}")));
        }
        last = end;
    }
    Ok(())
}

/// A repeated name is kept twice, so that it can be reported. (A map would keep only the last entry.)
impl<'de> Deserialize<'de> for RawHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawHeader, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = RawHeader;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header: an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawHeader, A::Error> {
        let (mut tensors, mut metadata) = (Vec::new(), None);
        while let Some(name) = map.next_key::<String>()? {
            if name != METADATA {
                tensors.push((name, map.next_value()?));
            } else if metadata.replace(map.next_value::<Option<Pairs>>()?).is_some() {
                return Err(serde::de::Error::duplicate_field(METADATA));
            }
        }
        let metadata = metadata.flatten().map_or_else(Vec::new, |Pairs(pairs)| pairs);
        Ok(RawHeader { tensors, metadata })
    }
}

/// A JSON object of strings, in its own order.
#[derive(Debug)]
pub(super) struct Pairs(pub(super) Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
