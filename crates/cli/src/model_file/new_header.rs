//! `Header`: the first bytes of a new file.

use core::cmp::Reverse;
use core::ops::Range;

use ::safetensors::tensor::{Dtype, TensorInfo};
use serde::Serialize;
use serde_json::Value;

use tensor_layout::Error;
use tensor_layout::checked::{self, BYTES, Exact, narrow};
use tensor_layout::element::{DataType, Naming};
use tensor_layout::map::IndexMap;
use tensor_layout_text::Notated;
use tensor_layout_text::Notation;

use super::SAME_AS;
use super::header::Pairs;
use super::tensor::ROW_OF_BYTES;
use super::{MAX_HEADER, METADATA, check_names, check_places, header_fault, is_plain, layout_key, map_of};

/// The first bytes of a file, which list the tensors that follow, with their layouts and their order.
///
/// This type is for a program that writes a model piece by piece, or from several threads. The program writes
/// these bytes, and then each tensor at its range. [`Model::write`](super::Model::write) does the same for
/// tensors that are in memory.
///
/// Tensors with wider elements come first, so that each tensor begins at a multiple of its element. Tensors
/// of equal width keep their order. If all tensors are packed, the file names no layout and has the bytes
/// that the safetensors libraries write. Otherwise the file names the layout of every tensor.
///
/// ```
/// use tensor_layout_cli::model_file::Header;
///
/// let (bias, weight) = ("bf16[3]:[1]".parse()?, "f32[3,2]{0,1:T(4)}".parse()?);
/// let header = Header::new([("bias", &bias), ("weight", &weight)], &[])?;
/// assert_eq!((header.order, header.names), (vec![1, 0], vec!["bias".to_owned(), "weight".to_owned()]));
/// let start = header.bytes.len() as u64;
/// assert_eq!(header.ranges, [start + 32..start + 38, start..start + 32]);
/// assert_eq!(header.file_size_in_bytes, start + 38);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The first bytes of the file: the length of the header, and the header.
    pub bytes: Vec<u8>,
    /// The order of the tensors in the file. Each entry is the index of a tensor in the list passed to
    /// [`new`](Self::new).
    pub order: Vec<usize>,
    /// The names of the tensors, in the order in which they were passed.
    pub names: Vec<String>,
    /// The byte range of each tensor in the file, in the order in which the tensors were passed.
    pub ranges: Vec<Range<u64>>,
    /// The size of the whole file, in bytes.
    pub file_size_in_bytes: u64,
}

impl Header {
    /// Returns the header of a file with these tensors and this metadata.
    ///
    /// # Errors
    ///
    /// `model_repeated_name` for a name that occurs twice, also in the
    /// metadata, where `layout.NAME` belongs to the tensor NAME; `model_layout` for a layout without
    /// an index map, for a layout in which two elements share an offset, or if the search for two such
    /// elements took too long; `model_header` for a header above the 100 MB that the format allows,
    /// or a tensor with the name `__metadata__`. `overflow` if the size of the file passes 64 bits.
    pub fn new<'t>(
        tensors: impl IntoIterator<Item = (&'t str, &'t Notated)>,
        metadata: &[(String, String)],
    ) -> Result<Header, Error> {
        Header::of_rows(&tensors.into_iter().map(Row::new).collect::<Result<Vec<_>, _>>()?, metadata)
    }

    fn of_rows(rows: &[Row<'_>], metadata: &[(String, String)]) -> Result<Header, Error> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&place| rows.get(place).map(|row| Reverse(row.map.data_type().bits())));
        let sorted = || order.iter().filter_map(|&place| rows.get(place));

        let mut words = metadata.to_vec();
        if !rows.iter().all(|row| row.is_plain) {
            words.extend(sorted().map(|row| (layout_key(row.name), row.text.clone())));
        }
        check_names("the metadata of the new model", words.iter().map(|(key, _)| key.as_str()))?;
        check_names("the header of the new model", rows.iter().map(|row| row.name))?;

        let mut text = Text::new();
        if !words.is_empty() {
            text.entry(METADATA, &Pairs(words))?;
        }
        let mut end = 0;
        let mut ranges = vec![0..0; rows.len()];
        for (&place, row) in order.iter().zip(sorted()) {
            let start = end;
            end = checked::add(start, row.map.physical_size_in_bytes(), BYTES)?;
            text.entry(row.name, &row.info(start, end)?)?;
            if let Some(range) = ranges.get_mut(place) {
                *range = start..end;
            }
        }
        let bytes = text.finish()?;
        let base: u64 = narrow(bytes.len(), BYTES)?;
        // The sums are at most the size of the file, which is computed with a check below.
        let shifted = |range: Range<u64>| range.start.plus(base)..range.end.plus(base);
        let names = rows.iter().map(|row| row.name.to_owned()).collect();
        let ranges = ranges.into_iter().map(shifted).collect();
        Ok(Header { bytes, order, names, ranges, file_size_in_bytes: checked::add(base, end, BYTES)? })
    }
}

/// A tensor that is to be written.
struct Row<'t> {
    name: &'t str,
    text: String,
    map: IndexMap,
    is_plain: bool,
}

impl<'t> Row<'t> {
    fn new((name, layout): (&'t str, &'t Notated)) -> Result<Row<'t>, Error> {
        if name == METADATA {
            return Err(header_fault(format!("cannot hold a tensor called `{METADATA}`")));
        }
        let map = map_of(name, layout)?;
        check_places(name, layout, &map)?;
        let is_plain = is_plain(&map);
        Ok(Row { name, text: text_of(layout), map, is_plain })
    }

    /// Returns the entry of the tensor. A packed tensor keeps its shape. Any other tensor is one row of all
    /// its physical elements, or of bytes if the format cannot express the elements.
    fn info(&self, start: u64, end: u64) -> Result<TensorInfo, Error> {
        let (map, data_type) = (&self.map, self.map.data_type());
        let is_whole = data_type.bits() >= 8 && map.element_bits() == data_type.bits();
        let (name, shape) = match data_type.name_in(Naming::Safetensors) {
            Some(name) if self.is_plain => (name, map.sizes().to_vec()),
            Some(name) if is_whole => (name, vec![map.physical_elements()]),
            _ => (ROW_OF_BYTES, vec![map.physical_size_in_bytes()]),
        };
        let shape = shape.into_iter().map(|size| narrow(size, BYTES)).collect::<Result<_, _>>()?;
        Ok(TensorInfo {
            dtype: dtype(name, data_type)?,
            shape,
            data_offsets: (narrow(start, BYTES)?, narrow(end, BYTES)?),
        })
    }
}

/// Returns the text of a layout for the metadata. A name is followed by the same layout in another notation,
/// so that readers need no table of names.
fn text_of(layout: &Notated) -> String {
    if layout.notation() == Notation::Named
        && let Ok(text) = tensor_layout_text::text_in(layout, Notation::Xla)
    {
        return format!("{layout}{SAME_AS}{text}");
    }
    layout.to_string()
}

fn dtype(name: &str, data_type: DataType) -> Result<Dtype, Error> {
    let unsupported =
        |_| Error::unsupported_data_type(data_type.name_in(Naming::Xla).unwrap_or_default(), "the safetensors format");
    serde_json::from_value(Value::String(name.to_owned())).map_err(unsupported)
}

/// The text of a header: a JSON object whose keys keep their order. In front is room for the length of the
/// text.
struct Text(Vec<u8>);

impl Text {
    fn new() -> Text {
        Text(vec![0; size_of::<u64>()])
    }

    fn entry(&mut self, key: &str, value: &impl Serialize) -> Result<(), Error> {
        self.0.push(if self.0.len() == size_of::<u64>() { b'{' } else { b',' });
        let written = serde_json::to_writer(&mut self.0, key).and_then(|()| {
            self.0.push(b':');
            serde_json::to_writer(&mut self.0, value)
        });
        written.map_err(|error| header_fault(format!("has a header that cannot be written: {error}")))
    }

    /// Ends the object. Spaces fill the header, so that the tensors after it begin at a multiple of 8 bytes.
    fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.0.len() == size_of::<u64>() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0.resize(self.0.len().next_multiple_of(size_of::<u64>()), b' ');
        let length: u64 = narrow(self.0.len().minus(size_of::<u64>()), BYTES)?;
        if length > MAX_HEADER {
            return Err(header_fault(format!(
                "cannot be written: its header would be {length} bytes long, and at most {MAX_HEADER} are allowed"
            )));
        }
        if let Some(prefix) = self.0.first_chunk_mut() {
            *prefix = length.to_le_bytes();
        }
        Ok(self.0)
    }
}
