//! Reads the header of a safetensors file, whose metadata may name the layouts of its tensors.
//!
//! ```text
//! the length of the header             8 bytes, little-endian
//! the header                           JSON: {"__metadata__":{..}, NAME: {"dtype","shape","data_offsets"}, ..}
//! the data
//! ```
//!
//! The format has packed tensors only. A tensor in another layout is stored as one row of all its physical
//! elements, padding included, and the metadata names its layout under `layout.NAME`. A tensor of a type
//! below a byte, or of a type without a name in the format, is stored as a row of bytes (`U8`), and its
//! layout names the type. A tensor without such an entry is packed.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tensor_layout::element::Naming;
use tensor_layout::map::Fingerprint;
use tensor_layout::plan::counted;
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, DataType};
use tensor_layout_text::Layout;

use crate::error::printable;
use crate::stored::{
    Contents, Entry, Kind, MOST_AXES, MOST_NAME_BYTES, MOST_TENSORS, read_layout, size_in_bytes, twice,
};

pub(crate) const METADATA: &str = "__metadata__";

/// The type under which tensors are stored that the format cannot express.
pub(crate) const ROW_OF_BYTES: DataType = DataType::U8;

/// The bytes of the length in front of the header.
pub(crate) const LENGTH: usize = size_of::<u64>();

/// The longest header that the format allows, in bytes.
const LONGEST: u64 = 100_000_000;
/// The longest header that is read, in bytes. The headers of public models have less than 2 MB a file.
const MOST_BYTES: usize = 25_000_000;

const MOST_RANK: usize = 1 << 10;

/// The key of the metadata that names the layout of a tensor.
pub(crate) const LAYOUT: &str = "layout.";

/// The key of the metadata that has the fingerprint of a layout.
pub(crate) const FINGERPRINT: &str = "fingerprint.";

/// The names of tensors of padding, which are not listed: the format has no holes.
pub(crate) const FILL: &str = "__fill.";

pub(crate) fn is_fill(name: &str) -> bool {
    name.strip_prefix(FILL).is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

/// Reads a file. An error is the end of a sentence that begins with the name of the file.
pub(crate) fn read(file: &[u8]) -> Result<Contents, String> {
    let Some((length, rest)) = file.split_first_chunk::<LENGTH>() else {
        return Err(format!("is not a safetensors file: it has {}, too few for a header", counted(file.len(), "byte")));
    };
    // Eight letters would be a length far above the longest header. The last letter may be cut.
    let text = String::from_utf8_lossy(length);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == char::REPLACEMENT_CHARACTER);
    if !text.is_empty()
        && text.chars().all(|c| c != char::REPLACEMENT_CHARACTER && (!c.is_control() || c.is_whitespace()))
    {
        return Err(format!("is not a safetensors file: it begins as a text does, with `{}`", printable(text)));
    }
    let length = u64::from_le_bytes(*length);
    if length > LONGEST {
        return Err(format!("is not a safetensors file: its header would be {length} bytes long"));
    }
    let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let (header, data) = split.ok_or_else(|| {
        let header = format!("its header would be {length} bytes long, but only {} follow", rest.len());
        format!("is truncated or is not a safetensors file: {header}")
    })?;
    if header.len() > MOST_BYTES {
        return Err(format!("has a header of {length} bytes, and at most {MOST_BYTES} are read"));
    }
    // The text is copied, because a mapped file may change.
    let text = String::from_utf8(header.to_vec())
        .map_err(|_| "is not a safetensors file: its header is invalid UTF-8".to_owned())?;
    let Listed { mut infos, metadata } = serde_json::from_str(&text).map_err(|error: serde_json::Error| {
        let what = if error.is_data() {
            "its header lists what the format does not have"
        } else {
            "invalid JSON in its header"
        };
        format!("is not a safetensors file: {what}: {error}")
    })?;
    drop(text);
    infos.sort_by(|(name, info), (other, than)| (info.data_offsets, name).cmp(&(than.data_offsets, other)));
    let metadata = metadata.unwrap_or_default();
    let (mut layouts, metadata) = words_of(&infos, LAYOUT, metadata);
    let (mut fingerprints, metadata) = words_of(&infos, FINGERPRINT, metadata);
    let start = file.len().saturating_sub(data.len());
    let mut last = 0;
    let mut entries = Vec::with_capacity(infos.len());
    for (name, info) in infos {
        let named = (layouts.remove(&name), fingerprints.remove(&name));
        let shown = || printable(&name);
        let end = info.check(last, &shown)?;
        let range = usize::try_from(last).ok().zip(usize::try_from(end).ok());
        let bytes = range.and_then(|(from, to)| data.get(from..to));
        last = end;
        if is_fill(&name) && info.dtype == "U8" && info.shape.0.len() == 1 && named.0.is_none() {
            continue;
        }
        let entry = range.zip(bytes).map(|((from, to), bytes)| {
            let range = start.saturating_add(from)..start.saturating_add(to);
            entry(&name, info, &named, range, bytes)
        });
        entries.extend(entry.transpose()?);
    }
    let held = u64::try_from(data.len()).unwrap_or(u64::MAX);
    if let Some(name) = twice(&entries) {
        return Err(format!("has the tensor `{}` twice", printable(name)));
    }
    match held.checked_sub(last) {
        None => {
            Err(format!("is truncated: its tensors take {}, but only {held} follow its header", counted(last, "byte")))
        }
        Some(0) => Ok(Contents { entries, metadata, readers: None }),
        Some(more) => Err(format!("has {} after its last tensor that belong to no tensor", counted(more, "byte"))),
    }
}

/// Takes the entries whose keys begin with `prefix` out of the metadata. Each such entry is about the tensor
/// that the rest of its key names.
fn words_of(
    infos: &[(String, Info)],
    prefix: &str,
    metadata: Map<String, Value>,
) -> (HashMap<String, String>, Map<String, Value>) {
    if !metadata.keys().any(|key| key.starts_with(prefix)) {
        return (HashMap::new(), metadata);
    }
    let names: std::collections::HashSet<&str> = infos.iter().map(|(name, _)| name.as_str()).collect();
    let (mut layouts, mut rest) = (HashMap::new(), Map::new());
    for (key, value) in metadata {
        match (key.strip_prefix(prefix).filter(|name| names.contains(name)), value) {
            (Some(name), Value::String(text)) => drop(layouts.insert(name.to_owned(), text)),
            (_, value) => drop(rest.insert(key, value)),
        }
    }
    (layouts, rest)
}

fn entry(
    name: &str,
    info: Info,
    named: &(Option<String>, Option<String>),
    range: std::ops::Range<usize>,
    bytes: &[u8],
) -> Result<Entry, String> {
    let Some(data_type) = info.data_type() else {
        return Err(format!(
            "has a tensor `{}` of type {}, which the format does not have",
            printable(name),
            printable(&info.dtype)
        ));
    };
    let unit = u8::try_from(data_type.bits() / 8).unwrap_or(1).max(1);
    let (kind, sizes) = match named {
        (None, _) => (Kind::Plain(data_type), info.shape.0),
        (Some(text), print) => {
            let layout = named_layout(name, text, data_type, &info.shape.0, bytes)?;
            let other =
                print.as_deref().filter(|print| Fingerprint::of(&layout).is_ok_and(|own| own.to_string() != *print));
            if let Some(other) = other {
                let (text, name) = (printable(text), printable(name));
                return Err(format!(
                    "names the layout `{text}` of tensor `{name}`, and the fingerprint {other} of another"
                ));
            }
            let sizes = layout.blocks().map_or(layout.sizes(), |blocks| blocks.sizes()).to_vec();
            (Kind::Named(text.as_str().into()), sizes)
        }
    };
    Ok(Entry { name: name.into(), kind, sizes: sizes.into(), range, unit })
}

/// Reads the layout that the metadata names, and checks that the stored type, shape and number of bytes fit
/// it.
fn named_layout(name: &str, text: &str, stored: DataType, shape: &[u64], bytes: &[u8]) -> Result<Layout, String> {
    let refuse = |why: String| {
        format!("names `{}`, which cannot be the layout of tensor `{}`: {why}", printable(text), printable(name))
    };
    let of_error = |error: tensor_layout::Error| refuse(error.to_string());
    let layout = read_layout(text).map_err(of_error)?;
    let (needed, held) = (size_in_bytes(&layout).map_err(of_error)?, bytes.len());
    if usize::try_from(needed) != Ok(held) {
        return Err(refuse(format!("it takes {}, but there are {held}", counted(needed, "byte"))));
    }
    let Ok(map) = layout.whole() else {
        // A layout of several planes or parts is a row of bytes.
        if layout.is_tuple() || stored != ROW_OF_BYTES || shape.len() != 1 {
            return Err(layout.whole().err().map_or_else(|| refuse("it is no row of bytes".into()), of_error));
        }
        let mut parts = layout.planes().iter().flat_map(|plane| plane.parts());
        parts.try_for_each(|part| part.map.check_injective()).map_err(of_error)?;
        return Ok(layout);
    };
    // A copy is refused if two elements share an offset.
    let packed = BufferTensorDesc::packed(map.data_type(), map.sizes());
    packed.and_then(|packed| Relayout::new(&packed, map)).map_err(of_error)?;
    let as_stored = map.data_type().name_in(Naming::Safetensors).map_or(ROW_OF_BYTES, |_| map.data_type());
    if ![as_stored, ROW_OF_BYTES].contains(&stored) {
        let said = stored.name_in(Naming::Safetensors).unwrap_or_default();
        return Err(refuse(format!("the file says that its elements are {said}")));
    }
    if shape.len() != 1 && shape != map.sizes() {
        return Err(refuse(format!("the file has it with the sizes {shape:?}, and not as one row")));
    }
    Ok(layout)
}

/// The JSON of a header, before it is checked.
struct Listed {
    infos: Vec<(String, Info)>,
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Info {
    dtype: String,
    shape: Axes,
    data_offsets: (u64, u64),
}

struct Axes(Vec<u64>);

impl Info {
    fn data_type(&self) -> Option<DataType> {
        DataType::from_name_in(Naming::Safetensors, &self.dtype)
    }

    /// Checks that the tensor begins where the one before it ends, and is as long as its elements. Returns
    /// its end.
    fn check(&self, last: u64, shown: &dyn Fn() -> String) -> Result<u64, String> {
        let (start, end) = self.data_offsets;
        let contradicts = |why: String| Err(format!("has a header that contradicts itself: {why}"));
        let Some(data_type) = self.data_type() else { return Ok(end.max(last)) };
        let bits = self.shape.0.iter().try_fold(u64::from(data_type.bits()), |bits, &size| bits.checked_mul(size));
        let empty = self.shape.0.contains(&0).then_some(0);
        let Some(bits) = empty.or(bits) else {
            return Err(format!("is not a safetensors file: the size of `{}` would overflow 64 bits", shown()));
        };
        let held = end.saturating_sub(start);
        if start != last {
            return contradicts(format!("`{}` begins at byte {start}, not at {last}", shown()));
        }
        if !bits.is_multiple_of(8) {
            let (whole, tenths) = (bits / 8, (bits % 8).saturating_mul(125));
            let bytes = format!("{whole}.{tenths:03}");
            let bytes = bytes.trim_end_matches('0');
            return contradicts(format!("`{}` would take {bytes} bytes, and a file has whole bytes", shown()));
        }
        if bits / 8 != held {
            let needed = counted(bits / 8, "byte");
            return contradicts(format!("`{}` needs {needed}, and its data_offsets hold {held}", shown()));
        }
        Ok(end)
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Listed, D::Error> {
        struct Header;

        impl<'de> Visitor<'de> for Header {
            type Value = Listed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listed, A::Error> {
                let (mut listed, mut axes, mut letters) =
                    (Listed { infos: Vec::new(), metadata: None }, 0_usize, 0_usize);
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        // MLX writes `null` where there is no metadata.
                        let words: Option<Words> = map.next_value()?;
                        if listed.metadata.replace(words.map(|words| words.0).unwrap_or_default()).is_some() {
                            return Err(A::Error::custom("its metadata twice"));
                        }
                        continue;
                    }
                    let info: Info = map.next_value()?;
                    (axes, letters) = (axes.saturating_add(info.shape.0.len()), letters.saturating_add(name.len()));
                    refuse_more(listed.infos.len(), axes, letters).map_err(A::Error::custom)?;
                    listed.infos.push((name, info));
                }
                Ok(listed)
            }
        }

        deserializer.deserialize_map(Header)
    }
}

/// Refuses a header that lists more than the bounds.
fn refuse_more(tensors: usize, axes: usize, letters: usize) -> Result<(), String> {
    let bounds = [
        (tensors >= MOST_TENSORS, MOST_TENSORS, "tensors"),
        (axes > MOST_AXES, MOST_AXES, "axes in all"),
        (letters > MOST_NAME_BYTES, MOST_NAME_BYTES, "bytes of names"),
    ];
    let passed = bounds.into_iter().find(|(is_passed, ..)| *is_passed);
    passed.map_or(Ok(()), |(_, most, what)| Err(format!("more than {most} {what}")))
}

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Axes, D::Error> {
        struct Shape;

        impl<'de> Visitor<'de> for Shape {
            type Value = Axes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of sizes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Axes, A::Error> {
                let mut axes = Axes(Vec::new());
                while let Some(size) = list.next_element()? {
                    if axes.0.len() == MOST_RANK {
                        return Err(A::Error::custom(format!("a tensor of more than {MOST_RANK} axes")));
                    }
                    axes.0.push(size);
                }
                Ok(axes)
            }
        }

        deserializer.deserialize_seq(Shape)
    }
}

/// The metadata of a header: texts by their keys.
struct Words(Map<String, Value>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Words, D::Error> {
        struct Metadata;

        impl<'de> Visitor<'de> for Metadata {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Words, A::Error> {
                let mut words = Words(Map::new());
                while let Some((key, word)) = map.next_entry::<String, String>()? {
                    if words.0.len() == MOST_TENSORS {
                        return Err(A::Error::custom(format!("more than {MOST_TENSORS} words of metadata")));
                    }
                    words.0.insert(key, word.into());
                }
                Ok(words)
            }
        }

        deserializer.deserialize_map(Metadata)
    }
}
