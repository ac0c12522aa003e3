//! `File`: the tensors of a model with their layouts, in one file or in the parts of a sharded one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tensor_layout::plan::counted;
use tensor_layout_text::Layout;

use crate::error::printable;
use crate::index::{Index, is_index};
use crate::npy;
use crate::stored::{Contents, Entry, Kind, Readers};
use crate::{Error, Input, gguf, safetensors};

/// The key of the metadata that names the source of a model.
const SOURCE: &str = "source";
/// The start value of the hash FNV-1a of 128 bits.
const FNV_128: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

/// Opens a safetensors, GGUF or .npy file, or the index of a sharded model with all its parts. A file is
/// known by its first bytes, an index by its ending `.json`.
///
/// Headers are read whole and checked; the bytes of tensors are mapped and not touched.
///
/// ```
/// use tensor_layout_files::{Writer, open};
///
/// let path = std::env::temp_dir().join("tensor-layout-open.safetensors");
/// Writer::create(&path)?.tensor("a", &"u8[2,3]:[4,1]".parse()?, b"abc-def")?.finish()?;
/// let file = open(&path)?;
/// let tensor = file.tensor("a").ok_or("no such tensor")?;
/// assert_eq!((tensor.layout()?.to_string(), tensor.bytes()), ("u8[2,3]:[4,1]".into(), &b"abc-def"[..]));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A file cannot be read, is in another format, is damaged, contradicts itself or its index, or lists more
/// than the bounds: 65,536 tensors of a GGUF file and 131,072 of another one, 1,048,576 axes in all, 16 MiB
/// of names, headers of 25 MB (safetensors) and 256 MiB (GGUF, whose vocabularies are skipped).
pub fn open(path: impl AsRef<Path>) -> Result<File, Error> {
    let path = path.as_ref();
    if !is_index(path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(File { path: path.to_owned(), parts: vec![Part::read(name, Input::open(path)?)?], index: None });
    }
    let index = Index::read(path)?;
    let part = |name: &str| {
        let input = Input::open(path.with_file_name(name)).map_err(|error| {
            let what = "is an index that names a part that is not there";
            Error::new(path, format!("{what}: {error}"))
        })?;
        Part::read(name.to_owned(), input)
    };
    let parts = index.parts(path)?.into_iter().map(part).collect::<Result<_, _>>()?;
    let file = File { path: path.to_owned(), parts, index: None };
    file.check_index(&index)?;
    Ok(File { index: Some(index), ..file })
}

/// Reads a safetensors, GGUF or .npy file that is in memory. `path` names it in errors.
///
/// # Errors
///
/// The file is in another format, is damaged, contradicts itself, or lists more than the bounds of [`open`].
pub fn read(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<File, Error> {
    let path = path.as_ref();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(File { path: path.to_owned(), parts: vec![Part::read(name, Input::of(path, bytes))?], index: None })
}

/// The tensors of a model. It is `Send` and `Sync`, and its bytes are mapped.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    parts: Vec<Part>,
    /// The index of a sharded model.
    index: Option<Index>,
}

impl File {
    /// The path that was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All tensors: part by part, and in each part in the order of the bytes (of a GGUF file in the order of
    /// its list).
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        self.parts.iter().flat_map(Part::tensors)
    }

    /// Returns the tensor with this name. The search goes through the list of tensors from the front.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<Tensor<'_>> {
        self.tensors().find(|tensor| tensor.name() == name)
    }

    /// The files: one, or the parts of a sharded model in the order of their names.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether an index was opened.
    #[must_use]
    pub fn is_sharded(&self) -> bool {
        self.index.is_some()
    }

    pub(crate) fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// Returns sentences about mistakes in the files or in the index that are no reason to refuse the model.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        /// The most tensors that are named one by one.
        const NAMED: usize = 10;
        let warning = |path: &Path, what: String| Error::new(path, what).to_string();
        let refusals = self.parts.iter().flat_map(|part| {
            part.contents.readers.iter().flat_map(Readers::refusals).map(|refusal| (part.input.path(), refusal))
        });
        let mut sentences: Vec<String> =
            refusals.map(|(path, refusal)| warning(path, format!(": {refusal}"))).collect();
        let Some(index) = &self.index else { return sentences };
        let listed = |tensor: &Tensor<'_>| index.weight_map.contains_key(tensor.name());
        let missing = || {
            let all = self.parts.iter().flat_map(|part| part.tensors().map(move |tensor| (&part.name, tensor)));
            all.filter(|(_, tensor)| !listed(tensor))
        };
        sentences.extend(missing().take(NAMED).map(|(part, tensor)| {
            warning(&self.path, format!("does not list `{}`, which is in {part}", printable(tensor.name())))
        }));
        if let Some(more) = missing().count().checked_sub(NAMED).filter(|&more| more > 0) {
            sentences.push(warning(&self.path, format!("does not list {more} more")));
        }
        let bytes: usize = self.tensors().map(|tensor| tensor.bytes().len()).fold(0, usize::saturating_add);
        let total = index.metadata.as_ref().and_then(|metadata| metadata.get("total_size")?.as_u64());
        if let Some(total) = total.filter(|&total| usize::try_from(total) != Ok(bytes)) {
            let held = counted(bytes, "byte");
            sentences.push(warning(&self.path, format!("says a total_size of {total}, but its tensors have {held}")));
        }
        sentences
    }

    /// Checks that no other program changed the files after they were opened. Call it before a result is used
    /// that was made of their bytes.
    ///
    /// # Errors
    ///
    /// The length of a file, or the time of its last write, is another one.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| part.input.check_unchanged())
    }

    /// The word of metadata that names a model as the source of another: a hash of its headers and sizes.
    pub(crate) fn source_word(&self) -> (String, Value) {
        let hash = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul((1 << 88) | 0x13b);
        let mut all = FNV_128;
        for part in &self.parts {
            let bytes: &[u8] = &part.input;
            let start = part.contents.entries.iter().map(|entry| entry.range.start).min().unwrap_or(bytes.len());
            let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes();
            all = bytes.get(..start).unwrap_or_default().iter().chain(&size).fold(all, |all, &byte| hash(all, byte));
        }
        (SOURCE.to_owned(), format!("{all:032x}").into())
    }

    /// Checks that this model, a cache, was made of `source` as it is now: of a model with these headers and
    /// sizes. `lay_out` and recipes write this source into the metadata of a new model. The
    /// bytes of tensors are not compared.
    ///
    /// # Errors
    ///
    /// An error if this file names no source, or not `source`: it was changed since, or is another model.
    ///
    /// ```
    /// use tensor_layout_files::{Writer, open};
    ///
    /// let [path, cache] = ["source", "cache"].map(|name| std::env::temp_dir().join(format!("tensor-layout-{name}.safetensors")));
    /// Writer::create(&path)?.tensor("a", &"u8[3]:[1]".parse()?, b"abc")?.finish()?;
    /// let source = open(&path)?;
    /// Writer::create(&cache)?.made_from(&source).tensor("a", &"u8[3]:[1]".parse()?, b"abc")?.finish()?;
    /// open(&cache)?.made_from(&source)?;
    /// assert!(source.made_from(&source).unwrap_err().to_string().ends_with("names no source"));
    /// # std::fs::remove_file(&path)?;
    /// # std::fs::remove_file(&cache)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn made_from(&self, source: &File) -> Result<(), Error> {
        let (_, word) = source.source_word();
        self.parts.iter().try_for_each(|part| match part.source() {
            None => Err(Error::new(part.input.path(), "names no source")),
            Some((found, _)) if word != found => {
                let source = source.path.display();
                Err(Error::new(
                    part.input.path(),
                    format!("was made of another model than {source}, or of an earlier one"),
                ))
            }
            Some(_) => Ok(()),
        })
    }

    /// Checks that each tensor is in one part, the one that the index says.
    fn check_index(&self, index: &Index) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::new(&self.path, why));
        let mut parts: BTreeMap<&str, &str> = BTreeMap::new();
        for part in &self.parts {
            for tensor in part.tensors() {
                let listed = index.weight_map.get(tensor.name()).unwrap_or(&part.name);
                let other = parts.insert(tensor.name(), &part.name).unwrap_or(listed);
                if other != part.name {
                    let (name, part) = (printable(tensor.name()), &part.name);
                    return refuse(format!("has tensor `{name}` in two parts, {other} and {part}"));
                }
            }
        }
        match index.weight_map.iter().find(|(tensor, _)| !parts.contains_key(tensor.as_str())) {
            None => Ok(()),
            Some((tensor, part)) => {
                refuse(format!("says that {part} holds tensor `{}`, which it does not", printable(tensor)))
            }
        }
    }
}

/// Adds the hash of a source to metadata. A word of this name that is there already is kept after it.
pub(crate) fn add_source(words: &mut Map<String, Value>, (key, hash): &(String, Value)) {
    let own = words.get(key).and_then(Value::as_str).map(|own| format!(" {own}")).unwrap_or_default();
    let hash = hash.as_str().unwrap_or_default();
    words.insert(key.clone(), format!("{hash}{own}").into());
}

/// One file of a model.
#[derive(Debug)]
pub struct Part {
    name: String,
    input: Input,
    contents: Contents,
}

impl Part {
    pub(crate) fn read(name: String, input: Input) -> Result<Part, Error> {
        let contents = match &*input {
            bytes if bytes.starts_with(gguf::MAGIC) => gguf::read(bytes),
            bytes if bytes.starts_with(npy::MAGIC) => array(bytes, input.path()),
            bytes => safetensors::read(bytes).map_err(|why| {
                let other = OTHER_FORMATS.iter().find(|(magic, _)| bytes.starts_with(magic));
                other.map_or(why, |&(_, what)| what.to_owned())
            }),
        };
        let contents = contents.map_err(|why| Error::new(input.path(), why))?;
        Ok(Part { name, input, contents })
    }

    /// The name of the file without its folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mapped file.
    #[must_use]
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The tensors of this file.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        self.contents.entries.iter().map(|entry| Tensor { entry, input: &self.input })
    }

    /// The words of a safetensors file besides its tensors and their layouts.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.contents.metadata
    }

    /// The words besides the hash of a source.
    pub(crate) fn metadata_without_source(&self) -> Map<String, Value> {
        let mut words = self.metadata().clone();
        if let Some((_, own)) = self.source() {
            let kept = |(key, word)| if key == SOURCE { Some((key, own?.into())) } else { Some((key, word)) };
            words = words.into_iter().filter_map(kept).collect();
        }
        words
    }

    /// The hash of the source, and the word of this name that the source had itself.
    fn source(&self) -> Option<(&str, Option<&str>)> {
        let word = self.metadata().get(SOURCE)?.as_str()?;
        let (hash, own) = word.split_once(' ').map_or((word, None), |(hash, own)| (hash, Some(own)));
        let is_hash = hash.len() == 32 && hash.bytes().all(|c| c.is_ascii_hexdigit());
        is_hash.then_some((hash, own))
    }

    /// What the readers of GGUF files say. `None` for other files.
    #[must_use]
    pub fn readers(&self) -> Option<&Readers> {
        self.contents.readers.as_ref()
    }
}

/// A tensor of a file: its name, its layout and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'f> {
    entry: &'f Entry,
    input: &'f Input,
}

impl<'f> Tensor<'f> {
    /// The name of the tensor. The array of a .npy file is named after the file, without the ending.
    #[must_use]
    pub fn name(&self) -> &'f str {
        &self.entry.name
    }

    /// The logical sizes, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &'f [u64] {
        &self.entry.sizes
    }

    /// The name and the sizes, shared with this tensor.
    pub(crate) fn shared(&self) -> (Arc<str>, Arc<[u64]>) {
        (Arc::clone(&self.entry.name), Arc::clone(&self.entry.sizes))
    }

    /// The kind and the sizes, which determine the layout. Tensors with an equal form have equal layouts.
    pub(crate) fn form(&self) -> (&'f Kind, &'f [u64]) {
        (&self.entry.kind, &self.entry.sizes)
    }

    /// The name of the type of the elements or of the blocks: `bf16`, `q4_0`.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.entry.type_name()
    }

    /// Returns the layout of the bytes. It is made anew in each call, because a header takes little memory
    /// without the layouts.
    ///
    /// # Errors
    ///
    /// Sizes whose product passes 64 bits (which a tensor without elements may have), and a type without a
    /// counterpart here.
    pub fn layout(&self) -> Result<Layout, tensor_layout::Error> {
        self.entry.layout()
    }

    /// Whether the metadata of the file names the layout. A tensor without a named layout is packed.
    #[must_use]
    pub fn has_named_layout(&self) -> bool {
        matches!(self.entry.kind, Kind::Named(_))
    }

    /// Whether the tensor begins in the file at a multiple of the size of its elements.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        self.entry.range.start.is_multiple_of(usize::from(self.entry.unit))
    }

    /// The range of the file that holds the tensor, in bytes.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.entry.range.clone()
    }

    /// The bytes, as they are in the mapped file.
    #[must_use]
    pub fn bytes(&self) -> &'f [u8] {
        self.input.get(self.entry.range.clone()).unwrap_or_default()
    }
}

/// Reads a .npy file, which has one array.
fn array(bytes: &[u8], path: &Path) -> Result<Contents, String> {
    let (header, start) = npy::Header::read(bytes)?;
    let needed = header.layout().map_err(|error| format!("is refused: {error}"))?.exact_size_in_bytes();
    let held = bytes.len().saturating_sub(start);
    if usize::try_from(needed) != Ok(held) {
        return Err(format!("has {} after its header, but its shape takes {needed}", counted(held, "byte")));
    }
    let kind = match header.opaque {
        Some(descr) => Kind::Unknown(descr.into()),
        None if header.fortran_order => Kind::ColumnMajor(header.data_type),
        None => Kind::Plain(header.data_type),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let unit = u8::try_from(header.data_type.bits() / 8).unwrap_or(1).max(1);
    let entry = Entry { name: name.into(), kind, sizes: header.sizes.into(), range: start..bytes.len(), unit };
    Ok(Contents { entries: vec![entry], ..Contents::default() })
}

/// The first bytes of files in other formats, and a sentence that says what to do with such a file.
const OTHER_FORMATS: [(&[u8], &str); 5] = [
    (
        b"PK\x03\x04",
        "is a zip archive, as PyTorch writes .pt and .pth; save its tensors with safetensors.torch.save_file",
    ),
    (
        b"\x80\x02",
        "is a Python pickle, as PyTorch wrote .bin and .pt; save its tensors with safetensors.torch.save_file",
    ),
    (b"\x89HDF", "is an HDF5 file, as Keras writes .h5; save its tensors with the package safetensors"),
    (b"version https://git-lfs", "is a Git LFS pointer; `git lfs pull` downloads the file that it stands for"),
    (b"{", "is a JSON file; the index of a sharded model has a name that ends in .json"),
];
