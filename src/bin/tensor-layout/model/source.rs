//! `Source`: a safetensors file that was looked at before it was believed.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::tensor::Metadata;
use tensor_layout::DataType;

use crate::input_file::{Bytes, copied_text, open};
use crate::output::Stop;
use crate::table::long_bytes;

/// The longest header the format allows.
const MAX_HEADER: u64 = 100_000_000;

/// The bytes of the header's own length.
const LENGTH: u64 = 8;

/// One tensor of the file.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub(super) name: String,
    /// The type as the file names it.
    pub(super) type_name: String,
    /// `None` for a type that has no counterpart here.
    pub(super) data_type: Option<DataType>,
    pub(super) sizes: Vec<u64>,
    /// Where its bytes begin in the file.
    start: u64,
    pub(super) bytes: u64,
}

/// The bytes of a file, its tensors in the order of theirs.
pub(super) struct Source {
    bytes: Bytes,
    pub(super) tensors: Vec<Tensor>,
    pub(super) metadata: BTreeMap<String, String>,
}

impl Source {
    /// Maps a file and reads its header. Nothing is allocated that the file's own length does not cover.
    pub(super) fn open(path: &Path) -> Result<Source, Stop> {
        let refuse = |sentence: String| Stop::Unusable(format!("{} {sentence}", path.display()));
        let (file, length) = open(path)?;
        let bytes = Bytes::of(file, length, path)?;
        let Some((prefix, rest)) = bytes.split_first_chunk() else {
            return Err(refuse(format!("is no safetensors file: it has {}, too few for a header", long_bytes(length))));
        };
        let header_length = u64::from_le_bytes(*prefix);
        let behind = length.saturating_sub(LENGTH);
        if header_length > MAX_HEADER {
            return Err(refuse(format!(
                "is no safetensors file: its header would be {header_length} bytes long, and at most {MAX_HEADER} are allowed"
            )));
        }
        if header_length > behind {
            return Err(refuse(format!(
                "is truncated or no safetensors file: its header would be {header_length} bytes long, but only {behind} follow"
            )));
        }
        let header = usize::try_from(header_length).ok().and_then(|length| rest.get(..length)).unwrap_or_default();
        let header = copied_text(header).ok_or_else(|| refuse("has a header that is no text".into()))?;
        // This also checks that the tensors lie behind each other without gap or overlap, and that the bytes of each
        // are those its type and shape take.
        let metadata: Metadata = serde_json::from_str(&header)
            .map_err(|error| refuse(format!("has a header that contradicts itself or is no JSON: {error}")))?;
        let data = u64::try_from(metadata.data_len()).unwrap_or(u64::MAX);
        let present = behind.saturating_sub(header_length);
        if data > present {
            return Err(refuse(format!("is truncated: its tensors take {data} bytes, but only {present} are there")));
        }
        if data < present {
            let more = present.saturating_sub(data);
            return Err(refuse(format!("has {} behind its last tensor that belong to none", long_bytes(more))));
        }
        let base = LENGTH.saturating_add(header_length);
        let tensors = metadata.offset_keys().into_iter().filter_map(|name| tensor(&metadata, name, base)).collect();
        let words = metadata.metadata().iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Source { bytes, tensors, metadata: words })
    }

    /// The bytes of a tensor, of which the header was checked to cover no more than there are.
    pub(super) fn bytes_of(&self, tensor: &Tensor) -> &[u8] {
        let range = usize::try_from(tensor.start).ok().zip(usize::try_from(tensor.bytes).ok());
        let bytes = range.and_then(|(start, length)| self.bytes.get(start..)?.get(..length));
        bytes.unwrap_or_default()
    }
}

fn tensor(metadata: &Metadata, name: String, base: u64) -> Option<Tensor> {
    let info = metadata.info(&name)?;
    let (start, end) = info.data_offsets;
    let sizes = info.shape.iter().map(|&size| u64::try_from(size)).collect::<Result<_, _>>().ok()?;
    let type_name = info.dtype.to_string();
    Some(Tensor {
        name,
        data_type: DataType::from_safetensors_name(&type_name),
        type_name,
        sizes,
        start: base.checked_add(u64::try_from(start).ok()?)?,
        bytes: u64::try_from(end.checked_sub(start)?).ok()?,
    })
}
