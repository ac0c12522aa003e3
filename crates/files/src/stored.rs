//! `Entry`: what a header says about one tensor, in few bytes; `Contents`: all that a header says.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};
use tensor_layout::element::BlockType;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::upload::DeviceLimits;
use tensor_layout::{BufferTensorDesc, DataType, Error, ToIndexMap};
use tensor_layout_text::Layout;

/// The most tensors that a header may list. The largest models have some thousands of tensors in a file. With
/// this limit and the next two, a header takes at most some 60 MB of memory, whatever it says.
pub(crate) const MOST_TENSORS: usize = 1 << 17;
/// The most axes that all tensors of a header may have together.
pub(crate) const MOST_AXES: usize = 1 << 20;
/// The most bytes that all names of a header may have together.
pub(crate) const MOST_NAME_BYTES: usize = 16 << 20;

/// The text between the name of a layout and the same layout in XLA's notation, for readers without a table
/// of names: `tensorrt.kHWC8:f16[1,3,2,2] = f16[1,3,2,2]{1,3,2,0:T(8)}`.
pub(crate) const SAME_AS: &str = " = ";

/// The tensors of one file in the order of their bytes (of a GGUF file in the order of its list), and the
/// metadata without the layouts.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
    pub(crate) metadata: Map<String, Value>,
    /// What the readers of a GGUF file say. `None` for other files.
    pub(crate) readers: Option<Readers>,
}

/// Why a reader of GGUF files refuses a file that was read here. `None` if it reads the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Readers {
    /// The package gguf.
    pub gguf: Option<String>,
    /// ggml.
    pub ggml: Option<String>,
}

impl Readers {
    pub(crate) fn refusals(&self) -> impl Iterator<Item = String> {
        let refusal = |name: &str, reason: &Option<String>| {
            reason.as_ref().map(|reason| format!("{name} refuses this file: {reason}"))
        };
        [refusal("gguf", &self.gguf), refusal("ggml", &self.ggml)].into_iter().flatten()
    }
}

/// What a header says about a tensor. The layout is made when it is asked for, because it takes many times
/// the memory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Arc<str>,
    pub(crate) kind: Kind,
    /// The logical sizes, outermost first.
    pub(crate) sizes: Arc<[u64]>,
    /// The place of the bytes in the file.
    pub(crate) range: Range<usize>,
    /// The alignment of an element, in bytes. An aligned tensor begins at a multiple of this number.
    pub(crate) unit: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Packed elements.
    Plain(DataType),
    /// Packed blocks.
    Blocks(BlockType),
    /// The layout that the metadata names.
    Named(Box<str>),
    /// Elements whose type has no counterpart here, as the file names it.
    Unknown(Box<str>),
    /// Elements of an array in column-major order.
    ColumnMajor(DataType),
}

impl Entry {
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        match &self.kind {
            Kind::Plain(data_type) => Ok(BufferTensorDesc::packed(*data_type, &self.sizes)?.into()),
            Kind::Blocks(block_type) => Ok(BlockTensorDesc::packed(*block_type, &self.sizes)?.into()),
            Kind::Named(text) => read_layout(text),
            Kind::Unknown(name) => {
                let reason = format!("its elements are of the type {name}, which has no counterpart here");
                Err(Error::not_expressible("layout", reason))
            }
            Kind::ColumnMajor(data_type) => {
                let reversed: Vec<u64> = self.sizes.iter().rev().copied().collect();
                let axes: Vec<usize> = (0..reversed.len()).rev().collect();
                Ok(BufferTensorDesc::packed(*data_type, &reversed)?.permute(&axes)?.into())
            }
        }
    }

    pub(crate) fn type_name(&self) -> String {
        match &self.kind {
            Kind::Plain(data_type) | Kind::ColumnMajor(data_type) => data_type.to_string(),
            Kind::Blocks(block_type) => block_type.to_string(),
            Kind::Unknown(name) => name.to_string(),
            Kind::Named(text) => read_layout(text).map_or_else(|_| "?".into(), |layout| layout.values().type_name()),
        }
    }
}

/// Reads the text that names a layout in the metadata. A name may be followed by the same layout in another
/// notation, which must be the same.
pub(crate) fn read_layout(text: &str) -> Result<Layout, Error> {
    let Some((name, same)) = text.split_once(SAME_AS) else { return text.parse() };
    let (named, other): (Layout, Layout) = (name.parse()?, same.parse()?);
    if named.to_index_map()? == other.to_index_map()? {
        return Ok(named);
    }
    Err(Error::not_expressible("layout of the file", format!("`{name}` is another layout than `{same}`")))
}

/// The bytes of a layout of any planes and parts in one buffer.
pub(crate) fn size_in_bytes(layout: &Layout) -> Result<u64, Error> {
    match layout.planes() {
        [plane] => plane.size_in_bytes(),
        _ => Ok(layout.packed(&DeviceLimits::none())?.len),
    }
}

/// Returns a name that two entries have.
pub(crate) fn twice(entries: &[Entry]) -> Option<&str> {
    let mut names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
    names.sort_unstable();
    names.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}
