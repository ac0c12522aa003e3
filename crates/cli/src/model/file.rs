//! The tensors of a model, and safetensors files whose metadata may name their layouts.
//!
//! The format of safetensors itself has packed tensors only. A tensor in another layout is stored as one row
//! of all its physical elements, padding included, and the metadata names its layout under `layout.NAME`. A
//! tensor of a type below a byte, or of a type without a name in the format, is stored as a row of bytes
//! (`U8`), and its layout names the type. A tensor without such an entry is packed.

use std::cmp::Reverse;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, SafeTensorError, TensorInfo};
use serde_json::{Map, Value};
use tensor_layout::element::Naming;
use tensor_layout::plan::counted;
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};
use tensor_layout_text::{Notated, Notation};

/// The text between the name of a layout and the same layout in XLA's notation, for readers without a table
/// of names: `tensorrt.kHWC8:f16[1,3,2,2] = f16[1,3,2,2]{1,3,2,0:T(8)}`.
const SAME_AS: &str = " = ";

/// The type under which tensors are stored that the format cannot express.
const ROW_OF_BYTES: &str = "U8";

const METADATA: &str = "__metadata__";

const LENGTH: usize = size_of::<u64>();

/// The tensors of a file in the order of their bytes (of a GGUF file in the order of its list), and the
/// metadata without the layouts.
pub(super) struct Model<'a> {
    pub(super) tensors: Vec<Tensor<'a>>,
    pub(super) metadata: Map<String, Value>,
    /// What the readers of a GGUF file say. `None` for a safetensors file.
    pub(super) readers: Option<Readers>,
}

/// Why a reader refuses a file that was read here. `None` if it reads the file.
#[derive(Debug, Default)]
pub(super) struct Readers {
    pub(super) gguf: Option<String>,
    pub(super) ggml: Option<String>,
}

impl Readers {
    pub(super) fn refusals(&self) -> impl Iterator<Item = String> {
        let refusal = |name: &str, reason: &Option<String>| {
            reason.as_ref().map(|reason| format!("{name} refuses this file: {reason}"))
        };
        [refusal("gguf", &self.gguf), refusal("ggml", &self.ggml)].into_iter().flatten()
    }
}

pub(super) struct Tensor<'a> {
    pub(super) name: String,
    /// The logical sizes, in the order of the layout's notation.
    pub(super) sizes: Vec<u64>,
    /// The type of an element, or the name of a block type or of a type that has no counterpart here.
    pub(super) data_type: Result<DataType, String>,
    /// The layout of the bytes. It is an error for a packed tensor of an unknown type, or of sizes whose
    /// product passes 64 bits.
    pub(super) layout: Result<Notated, Error>,
    /// Whether the metadata names the layout. All other tensors are packed.
    pub(super) is_named: bool,
    /// Whether the file has the tensor at a multiple of the size of its elements.
    pub(super) is_aligned: bool,
    pub(super) bytes: &'a [u8],
}

impl<'a> Model<'a> {
    /// Reads a safetensors file. An error is the end of a sentence that begins with the name of the file.
    pub(super) fn read(file: &'a [u8]) -> Result<Model<'a>, String> {
        let (length, header) = SafeTensors::read_metadata(file).map_err(|error| fault(file, &error))?;
        let metadata = object(file).and_then(|(mut header, _)| header.remove(METADATA));
        let mut metadata = match metadata {
            Some(Value::Object(words)) => words,
            _ => Map::new(),
        };
        let mut infos: Vec<(String, &TensorInfo)> = header.tensors().into_iter().collect();
        infos.sort_by(|(name, info), (other, than)| (info.data_offsets, name).cmp(&(than.data_offsets, other)));
        let start = length.saturating_add(LENGTH);
        let tensors = infos.into_iter().map(|(name, info)| {
            let layout = metadata.shift_remove(&layout_key(&name));
            Tensor::of_file(name, info, layout.as_ref().and_then(Value::as_str), file, start)
        });
        Ok(Model { tensors: tensors.collect::<Result<_, _>>()?, metadata, readers: None })
    }

    pub(super) fn tensor(&self, name: &str) -> Option<&Tensor<'a>> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }
}

impl<'a> Tensor<'a> {
    fn of_file(
        name: String,
        info: &TensorInfo,
        layout: Option<&str>,
        file: &'a [u8],
        start: usize,
    ) -> Result<Tensor<'a>, String> {
        let (from, to) = info.data_offsets;
        let place = start.saturating_add(from);
        let bytes = file.get(place..start.saturating_add(to)).unwrap_or_default();
        let shape: Vec<u64> = info.shape.iter().map(|&size| size as u64).collect();
        let type_name = info.dtype.to_string();
        let is_aligned = place.is_multiple_of((info.dtype.bitsize() / 8).max(1));
        if let Some(text) = layout {
            let refuse = |why: String| format!("names `{text}`, which cannot be the layout of tensor `{name}`: {why}");
            let layout = read_layout(text).map_err(refuse)?;
            let map = layout.to_index_map().map_err(|error| refuse(error.to_string()))?;
            let needed = map.physical_size_in_bytes();
            if needed != bytes.len() as u64 {
                return Err(refuse(format!("it takes {}, but there are {}", counted(needed, "byte"), bytes.len())));
            }
            // A copy is refused if two elements share an offset.
            let packed = BufferTensorDesc::packed(map.data_type(), map.sizes());
            packed.and_then(|packed| Relayout::new(&packed, &map)).map_err(|error| refuse(error.to_string()))?;
            if type_name != stored_type(map.data_type()) && type_name != ROW_OF_BYTES {
                return Err(refuse(format!("the file says that its elements are {type_name}")));
            }
            if shape.len() != 1 && shape != map.sizes() {
                return Err(refuse(format!("the file has it with the sizes {shape:?}, and not as one row")));
            }
            let (sizes, data_type) = match layout.blocks() {
                Some(blocks) => (blocks.sizes().to_vec(), Err(blocks.block_type().to_string())),
                None => (map.sizes().to_vec(), Ok(map.data_type())),
            };
            return Ok(Tensor { sizes, data_type, layout: Ok(layout), is_named: true, is_aligned, bytes, name });
        }
        let data_type = DataType::from_name_in(Naming::Safetensors, &type_name).map_or_else(|| type_name.parse(), Ok);
        let layout = data_type.clone().and_then(|data_type| Ok(BufferTensorDesc::packed(data_type, &shape)?.into()));
        let data_type = data_type.map_err(|_: Error| type_name);
        Ok(Tensor { name, sizes: shape, data_type, layout, is_named: false, is_aligned, bytes })
    }
}

fn fault(file: &[u8], error: &SafeTensorError) -> String {
    let length = file.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let follow = file.len().saturating_sub(LENGTH);
    match error {
        SafeTensorError::HeaderTooSmall => {
            return format!("is not a safetensors file: it has {}, too few for a header", counted(file.len(), "byte"));
        }
        SafeTensorError::HeaderTooLarge => {
            return format!("is not a safetensors file: its header would be {length} bytes long");
        }
        SafeTensorError::InvalidHeaderLength => {
            let header = format!("its header would be {length} bytes long, but only {follow} follow");
            return format!("is truncated or is not a safetensors file: {header}");
        }
        _ => {}
    }
    let (Some((infos, data)), false) = (entries(file), matches!(error, SafeTensorError::ValidationOverflow)) else {
        return format!("is not a safetensors file: {error}");
    };
    let mut last = 0;
    for (name, info) in &infos {
        let (start, end) = info.data_offsets;
        let bits = info.shape.iter().try_fold(info.dtype.bitsize(), |bits, &size| bits.checked_mul(size));
        let (needed, held) = (bits.map_or(usize::MAX, |bits| bits / 8), end.saturating_sub(start));
        if start != last {
            return format!("has a header that contradicts itself: `{name}` begins at byte {start}, not at {last}");
        }
        if needed != held {
            let sentence = format!("`{name}` needs {}, and its data_offsets hold {held}", counted(needed, "byte"));
            return format!("has a header that contradicts itself: {sentence}");
        }
        last = end;
    }
    match data.checked_sub(last) {
        None => format!("is truncated: its tensors take {}, but only {data} follow its header", counted(last, "byte")),
        Some(0) => format!("is not a safetensors file: {error}"),
        Some(more) => format!("has {} after its last tensor that belong to no tensor", counted(more, "byte")),
    }
}

fn entries(file: &[u8]) -> Option<(Vec<(String, TensorInfo)>, usize)> {
    let (header, data) = object(file)?;
    let entries = header.into_iter().filter(|(name, _)| name != METADATA);
    let infos = entries.map(|(name, value)| Some((name, serde_json::from_value(value).ok()?)));
    let mut infos: Vec<(String, TensorInfo)> = infos.collect::<Option<_>>()?;
    infos.sort_by_key(|(_, info)| info.data_offsets);
    Some((infos, data))
}

/// Reads the header of a file, whose keys keep their order, and the number of bytes after the header.
fn object(file: &[u8]) -> Option<(Map<String, Value>, usize)> {
    let (length, rest) = file.split_first_chunk::<LENGTH>()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((serde_json::from_slice(header).ok()?, data.len()))
}

fn layout_key(tensor: &str) -> String {
    format!("layout.{tensor}")
}

fn read_layout(text: &str) -> Result<Notated, String> {
    let read = |text: &str| text.parse::<Notated>().map_err(|error| error.to_string());
    let Some((name, same)) = text.split_once(SAME_AS) else { return read(text) };
    let (named, same) = (read(name)?, read(same)?);
    let map = |layout: &Notated| layout.to_index_map().map_err(|error| error.to_string());
    if map(&named)? == map(&same)? { Ok(named) } else { Err(format!("`{name}` is another layout than `{same}`")) }
}

fn stored_type(data_type: DataType) -> &'static str {
    data_type.name_in(Naming::Safetensors).unwrap_or(ROW_OF_BYTES)
}

/// The first bytes of a new file, which list the tensors that follow.
///
/// Tensors with wider elements come first, so that each begins at a multiple of its element. Tensors of equal
/// width keep their order. If all tensors are packed, the file names no layout and has the bytes that the
/// safetensors libraries write. Otherwise it names the layout of every tensor.
pub(super) struct Header {
    pub(super) bytes: Vec<u8>,
    /// The tensors in the order of the file, as indices of the list that was passed.
    pub(super) order: Vec<usize>,
    pub(super) data_bytes: u64,
}

impl Header {
    pub(super) fn new<'t>(
        tensors: impl IntoIterator<Item = (&'t str, &'t Notated, &'t IndexMap)>,
        metadata: &Map<String, Value>,
    ) -> Result<Header, String> {
        let tensors: Vec<_> = tensors.into_iter().collect();
        let mut order: Vec<usize> = (0..tensors.len()).collect();
        order.sort_by_key(|&place| tensors.get(place).map(|(.., map)| Reverse(map.data_type().bits())));
        let sorted = || order.iter().filter_map(|&place| tensors.get(place));

        let mut words = metadata.clone();
        if !tensors.iter().all(|(_, layout, map)| layout.blocks().is_none() && is_plain(map)) {
            words.extend(sorted().map(|&(name, layout, _)| (layout_key(name), text_of(layout).into())));
        }
        let (mut end, mut infos) = (0_usize, Vec::with_capacity(tensors.len()));
        for (name, _, map) in sorted() {
            let bytes = usize::try_from(map.physical_size_in_bytes()).ok().and_then(|bytes| end.checked_add(bytes));
            let next = bytes.ok_or("the file would have more than 2^64 bytes")?;
            infos.push(((*name).to_owned(), info(map, (end, next))));
            end = next;
        }
        let json = |error: serde_json::Error| error.to_string();
        let header = Metadata::new(None, infos).map_err(|error| error.to_string())?;
        let mut text = serde_json::to_string(&header).map_err(json)?;
        if !words.is_empty() {
            let words = serde_json::to_string(&words).map_err(json)?;
            let comma = if tensors.is_empty() { "" } else { "," };
            text.insert_str(1, &format!("\"{METADATA}\":{words}{comma}"));
        }
        let length = text.len().next_multiple_of(LENGTH);
        let mut bytes = (length as u64).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.resize(length + LENGTH, b' ');
        Ok(Header { bytes, order, data_bytes: end as u64 })
    }
}

/// Whether the format can store a layout as it is: every element has the offset that it has in a packed
/// buffer, no bytes follow the last element, and the format has a name for the type.
fn is_plain(map: &IndexMap) -> bool {
    let data_type = map.data_type();
    let packed = BufferTensorDesc::packed(data_type, map.sizes()).and_then(|packed| packed.to_index_map());
    let bits = u128::from(map.element_count()) * u128::from(data_type.bits());
    data_type.name_in(Naming::Safetensors).is_some()
        && map.element_bits() == data_type.bits()
        && bits == u128::from(map.physical_size_in_bytes()) * 8
        && packed.is_ok_and(|packed| packed == *map)
}

/// Returns the entry of a tensor. A packed tensor keeps its shape. Any other tensor is one row of all its
/// physical elements, or of bytes if the format cannot express the elements.
fn info(map: &IndexMap, data_offsets: (usize, usize)) -> TensorInfo {
    let data_type = map.data_type();
    let is_whole = data_type.bits() >= 8 && map.element_bits() == data_type.bits();
    let (name, shape) = match data_type.name_in(Naming::Safetensors) {
        Some(name) if is_plain(map) => (name, map.sizes().to_vec()),
        Some(name) if is_whole => (name, vec![map.physical_elements()]),
        _ => (ROW_OF_BYTES, vec![map.physical_size_in_bytes()]),
    };
    let dtype = serde_json::from_value(Value::from(name)).unwrap_or(Dtype::U8);
    let shape = shape.into_iter().map(|size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
    TensorInfo { dtype, shape, data_offsets }
}

/// Returns the text of a layout for the metadata. A name is followed by the same layout in XLA's notation.
fn text_of(layout: &Notated) -> String {
    match layout.text_in(Notation::Xla) {
        Ok(text) if layout.notation() == Notation::Named => format!("{layout}{SAME_AS}{text}"),
        _ => layout.to_string(),
    }
}
