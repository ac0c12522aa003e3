//! GGUF files: the tensors of a header, read from the mapped file.
//!
//! ```text
//! "GGUF", version, tensors, keys       4 + 4 + 8 + 8 bytes, all numbers little-endian
//! each key: name, type, value          a string is its length (8 bytes) and its bytes
//! each tensor: name, rank, sizes, type, offset
//! padding up to the alignment (the key general.alignment, else 32), then the data
//! ```
//!
//! Sizes are stored innermost first, so they are turned around. Nothing is allocated by a number of the file
//! before the bytes that it counts were found, values of keys are skipped, and no tensor's bytes are touched.
//! The names of keys are not copied, and those of tensors once.
//!
//! The readers that engines use do not accept the same files. The package gguf takes the offset of each
//! tensor as it is. ggml requires the sum of the padded sizes of the tensors before it, and all bytes of the
//! padding after the last one. A file that only one of the two refuses is read here, and `Readers` has the
//! reason. A file that both refuse is refused, and so is a file that ends inside a string. The rules are
//! those of gguf 0.19.0 and ggml 0.26.0.

use std::collections::HashSet;

use serde_json::Map;
use tensor_layout::element::BlockType;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{BufferTensorDesc, DataType, Error};

use crate::error::printable;
use crate::stored::{Contents, Entry, Kind, MOST_AXES, MOST_NAME_BYTES, Readers, twice};

/// The first bytes of every GGUF file.
pub(crate) const MAGIC: &[u8] = b"GGUF";

/// The longest header that is read, in bytes. A vocabulary takes some tens of megabytes.
const MOST_BYTES: usize = 256 << 20;
/// The most keys, and the most tensors, that are read. The largest models have some thousands of tensors.
const MOST_LISTED: u64 = 1 << 16;

/// The most axes that the package gguf reads. NumPy has no more.
const MOST_RANK: u32 = 64;
const GGML_AXES: u32 = 4;

/// The length from which a name of a tensor is too long for ggml, in bytes.
const GGML_NAME: usize = 64;

/// The deepest nesting of arrays that is read.
const DEEPEST: usize = 64;

const ALIGNMENT: &[u8] = b"general.alignment";

/// The size of a key's value in bytes, by the number of its type. Strings and arrays have marks instead,
/// because the file states their lengths.
const VALUE_BYTES: [usize; 13] = [1, 1, 2, 2, 4, 4, 4, 1, STRING, ARRAY, 8, 8, 8];
const STRING: usize = 0;
const ARRAY: usize = usize::MAX;
const U32: u32 = 4;

/// The types of tensors that are not stored in blocks.
const PLAIN: [(u32, DataType); 8] = [
    (0, DataType::F32),
    (1, DataType::F16),
    (24, DataType::S8),
    (25, DataType::S16),
    (26, DataType::S32),
    (27, DataType::S64),
    (28, DataType::F64),
    (30, DataType::BF16),
];

/// Reads a file. An error is the end of a sentence that begins with the name of the file.
pub(crate) fn read(file: &[u8]) -> Result<Contents, String> {
    let mut cursor = Cursor { file, at: MAGIC.len() };
    let mut readers = Readers::default();
    match cursor.number::<4>("its version")? {
        2 | 3 => {}
        version if version.trailing_zeros() >= 16 && version != 0 => {
            return Err("is a big-endian GGUF file; only little-endian ones are read".into());
        }
        version => return Err(format!("is a GGUF file of version {version}; versions 2 and 3 are read")),
    }
    let tensors = cursor.number::<8>("the number of tensors")?;
    let keys = cursor.number::<8>("the number of keys")?;
    if tensors.max(keys) > MOST_LISTED {
        return Err(format!("lists {tensors} tensors and {keys} keys, and at most {MOST_LISTED} are read"));
    }
    let (mut alignment, mut names) = (32_u64, HashSet::new());
    for place in 0..keys {
        let name = cursor.string("the name of a key")?;
        if !names.insert(name) {
            return Err(format!("has the key `{}` twice", lossy(name)));
        }
        if name.is_empty() {
            readers.ggml.get_or_insert_with(|| format!("key {place} is empty"));
        } else if str::from_utf8(name).is_err() {
            readers.gguf.get_or_insert_with(|| format!("key {place} is not UTF-8"));
        }
        let kind = cursor.number::<4>("the type of a key")?;
        let value = cursor.at;
        cursor.skip(kind, name, &mut readers)?;
        if name == ALIGNMENT {
            let set = file.get(value..cursor.at).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
            alignment = match set.filter(|_| u32::try_from(kind) == Ok(U32)) {
                Some(set) if set.is_power_of_two() => set.into(),
                Some(set) => return Err(format!("has a general.alignment of {set}, which is no power of two")),
                None => return Err("has a general.alignment that is no u32".into()),
            };
        }
    }
    drop(names);
    let (mut infos, mut axes, mut letters) = (Vec::new(), 0_usize, 0_usize);
    for _ in 0..tensors {
        let info = Info::read(&mut cursor, &mut readers)?;
        (axes, letters) = (axes.saturating_add(info.sizes.len()), letters.saturating_add(info.name.len()));
        if axes > MOST_AXES || letters > MOST_NAME_BYTES {
            return Err(format!(
                "lists tensors of more than {MOST_AXES} axes in all, or names of more than {MOST_NAME_BYTES} bytes"
            ));
        }
        infos.push(info);
    }
    let end = u64::try_from(cursor.at).unwrap_or(u64::MAX);
    let start = end.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
    let held = u64::try_from(file.len()).unwrap_or(u64::MAX);
    let (mut next, mut sum, mut entries) = (0_u64, 0_u64, Vec::with_capacity(infos.len()));
    for info in infos {
        if info.offset != next {
            let (name, offset) = (lossy(info.name), info.offset);
            readers.ggml.get_or_insert_with(|| format!("tensor `{name}` has offset {offset}, expected {next}"));
        }
        let (entry, bytes) = info.entry(file, start)?;
        // Each tensor is inside the file, so only its padding may pass the end.
        next = next.saturating_add(bytes).checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
        sum = sum.saturating_add(bytes);
        entries.push(entry);
    }
    if sum > held {
        return Err(format!(
            "has tensors that lie over each other: they would take {sum} bytes, and the file has {held}"
        ));
    }
    if let Some(name) = twice(&entries) {
        let name = printable(name);
        return Err(format!("has the tensor `{name}` twice (what is not UTF-8 in a name is written as U+FFFD)"));
    }
    let missing = start.saturating_add(next).saturating_sub(held);
    if missing > 0 && !entries.is_empty() {
        readers.ggml.get_or_insert_with(|| {
            format!("the last {missing} bytes of padding, which it reads with the data, are missing")
        });
    }
    Ok(Contents { entries, metadata: Map::new(), readers: Some(readers) })
}

/// The bytes of a file and a place in them.
struct Cursor<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: u64, what: &str) -> Result<&'a [u8], String> {
        let rest = self.file.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(bytes).ok().and_then(|bytes| rest.get(..bytes));
        let taken = taken.ok_or_else(|| {
            format!("is truncated or damaged: {what} would take {bytes} bytes, but only {} follow", rest.len())
        })?;
        self.at = self.at.saturating_add(taken.len());
        if self.at > MOST_BYTES {
            return Err(format!("has a header of more than {MOST_BYTES} bytes"));
        }
        Ok(taken)
    }

    fn number<const BYTES: usize>(&mut self, what: &str) -> Result<u64, String> {
        let taken = self.take(u64::try_from(BYTES).unwrap_or(u64::MAX), what)?;
        Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn string(&mut self, what: &str) -> Result<&'a [u8], String> {
        let bytes = self.number::<8>(what)?;
        self.take(bytes, what)
    }

    /// Skips the value of a key. Arrays of arrays are walked with a count for each level.
    fn skip(&mut self, kind: u64, key: &[u8], readers: &mut Readers) -> Result<(), String> {
        let bytes = |kind: u64| {
            let bytes = usize::try_from(kind).ok().and_then(|kind| VALUE_BYTES.get(kind));
            bytes.copied().ok_or_else(|| format!("has a key `{}` of type {kind}, which does not exist", lossy(key)))
        };
        let key = lossy(key);
        let what = format!("the value of `{key}`");
        let mut open = vec![(kind, 1_u64)];
        while let Some((kind, count)) = open.pop() {
            match bytes(kind)? {
                _ if count == 0 => {}
                ARRAY => {
                    if !open.is_empty() || count > 1 {
                        readers.ggml.get_or_insert_with(|| format!("key `{key}` is an array of arrays"));
                    }
                    open.push((kind, count.saturating_sub(1)));
                    let kind = self.number::<4>(&what)?;
                    open.push((kind, self.number::<8>(&what)?));
                }
                STRING => (0..count).try_for_each(|_| self.string(&what).map(drop))?,
                bytes => {
                    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                    self.take(count.saturating_mul(bytes), &what).map(drop)?;
                }
            }
            if open.len() > DEEPEST {
                return Err(format!("has a key `{key}` with arrays in arrays, more than {DEEPEST} deep"));
            }
        }
        Ok(())
    }
}

/// What a header says about a tensor.
struct Info<'a> {
    name: &'a [u8],
    /// The sizes, outermost first.
    sizes: Vec<u64>,
    kind: u64,
    /// The place of the first byte, counted from the start of the data.
    offset: u64,
}

impl<'a> Info<'a> {
    fn read(cursor: &mut Cursor<'a>, readers: &mut Readers) -> Result<Info<'a>, String> {
        let name = cursor.string("the name of a tensor")?;
        let shown = || lossy(name);
        let rank = cursor.number::<4>("the rank of a tensor")?;
        if rank > MOST_RANK.into() {
            return Err(format!("has a tensor `{}` of {rank} axes, and readers take at most {MOST_RANK}", shown()));
        }
        let sizes: Result<Vec<u64>, String> = (0..rank).map(|_| cursor.number::<8>("the size of an axis")).collect();
        let mut sizes = sizes?;
        sizes.reverse();
        let info = Info {
            name,
            sizes,
            kind: cursor.number::<4>("the type of a tensor")?,
            offset: cursor.number::<8>("the offset of a tensor")?,
        };
        if name.len() >= GGML_NAME {
            let (length, most) = (name.len(), GGML_NAME - 1);
            readers.ggml.get_or_insert_with(|| format!("the name `{}` has {length} bytes, more than {most}", shown()));
        }
        if str::from_utf8(name).is_err() {
            readers.gguf.get_or_insert_with(|| format!("the name of tensor `{}` is not UTF-8", shown()));
        }
        if rank > GGML_AXES.into() {
            readers.ggml.get_or_insert_with(|| format!("tensor `{}` has {rank} axes, more than {GGML_AXES}", shown()));
        }
        if info.block_type() == Some(BlockType::Q20) {
            readers.gguf.get_or_insert_with(|| format!("it does not know the type q2_0 of tensor `{}`", shown()));
        }
        Ok(info)
    }

    fn block_type(&self) -> Option<BlockType> {
        u32::try_from(self.kind).ok().and_then(BlockType::from_number)
    }

    /// Returns the entry of a tensor whose data begins at `start`, and its bytes.
    fn entry(self, file: &[u8], start: u64) -> Result<(Entry, u64), String> {
        let shown = || lossy(self.name);
        let plain = PLAIN.iter().find(|(number, _)| u64::from(*number) == self.kind).map(|row| row.1);
        let refuse = |error: Error| format!("has a tensor `{}` that cannot be: {error}", shown());
        if let Some(size) = self.sizes.iter().find(|&&size| i64::try_from(size).is_err()) {
            return Err(format!("has a tensor `{}` with a size of {size}, which no reader takes", shown()));
        }
        let (kind, bytes, unit) = match (plain, self.block_type()) {
            (Some(data_type), _) => {
                let desc = BufferTensorDesc::packed(data_type, &self.sizes).map_err(refuse)?;
                let unit = u8::try_from(data_type.bits() / 8).unwrap_or(1);
                (Kind::Plain(data_type), desc.exact_size_in_bytes(), unit)
            }
            (None, Some(block_type)) => {
                let desc = BlockTensorDesc::packed(block_type, &self.sizes).map_err(refuse)?;
                // Blocks of an even number of bytes have scales of 2 bytes.
                let unit = if block_type.bytes().is_multiple_of(2) { 2 } else { 1 };
                (Kind::Blocks(block_type), desc.bytes().exact_size_in_bytes(), unit)
            }
            (None, None) => {
                let (name, kind) = (shown(), self.kind);
                let last = BlockType::ALL.last().map_or(0, |last| u64::from(last.number()));
                let why = match kind > last {
                    true => format!("is not known here (types up to {last}); forks of ggml have types of their own"),
                    false => "ggml removed".to_owned(),
                };
                return Err(format!("has a tensor `{name}` of type {kind}, which {why}"));
            }
        };
        let place = start.checked_add(self.offset);
        let end = place.and_then(|place| place.checked_add(bytes));
        let range = place.zip(end).and_then(|(from, to)| Some(usize::try_from(from).ok()?..usize::try_from(to).ok()?));
        // A tensor without elements may lie behind the end.
        let range = range.filter(|range| bytes == 0 || range.end <= file.len()).ok_or_else(|| {
            let (name, offset, held) = (shown(), self.offset, file.len());
            let from = place.map_or_else(|| format!("offset {offset}"), |place| format!("byte {place}"));
            format!("is truncated: `{name}` takes {bytes} bytes from {from} on, and the file has {held}")
        })?;
        // The name is copied before it is looked at, because a mapped file may change.
        let name = String::from_utf8(self.name.to_vec())
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok((Entry { name: name.into(), kind, sizes: self.sizes.into(), range, unit: unit.max(1) }, bytes))
    }
}

/// Returns the name in a form that may be printed. Only the first letters of a long name are copied.
fn lossy(name: &[u8]) -> String {
    let head = name.get(..SHOWN).unwrap_or(name).to_vec();
    let shown = printable(&String::from_utf8_lossy(&head));
    if head.len() < name.len() { format!("{shown}…") } else { shown }
}

/// The most bytes of a name that are shown.
const SHOWN: usize = 120;
