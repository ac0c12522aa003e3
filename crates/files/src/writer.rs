//! `Writer`: a new safetensors or .npy file of tensors in any layout.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tensor_layout::ToIndexMap;
use tensor_layout::plan::counted;
use tensor_layout_text::Layout;

use crate::error::printable;
use crate::header::{Header, Listed};
use crate::new_file::refuse_read_only;
use crate::{Error, NewFile, npy};

/// Writes tensors to a new file, which is complete or absent: it has its name when all bytes are on the disk.
///
/// A file whose name ends in `.npy` has one tensor; every other one is written as safetensors. The metadata
/// of safetensors names the layouts, as [`open`](crate::open) reads them, unless all tensors are packed.
///
/// ```
/// use tensor_layout_files::{Writer, open};
///
/// let path = std::env::temp_dir().join("tensor-layout-writer.safetensors");
/// let tiled = "u8[3,5]{1,0:T(2,2)}".parse()?;
/// let bytes: Vec<u8> = (0..24).collect();
/// Writer::create(&path)?.tensor("tiled", &tiled, &bytes)?.tensor("row", &"u8[4]:[1]".parse()?, b"abcd")?.finish()?;
/// let file = open(&path)?;
/// assert_eq!(file.tensor("tiled").ok_or("no such tensor")?.layout()?, tiled);
/// assert_eq!(file.tensor("row").ok_or("no such tensor")?.bytes(), b"abcd");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    path: PathBuf,
    tensors: Vec<(Listed, &'a [u8])>,
    /// The header of a .npy file.
    array: Option<npy::Header>,
    metadata: Map<String, Value>,
}

impl<'a> Writer<'a> {
    /// Begins a file that will have this name.
    ///
    /// # Errors
    ///
    /// The name ends in `.gguf`, which is not written, is that of a folder or a device, or that of a
    /// read-only file.
    pub fn create(path: impl AsRef<Path>) -> Result<Writer<'a>, Error> {
        let path = path.as_ref().to_owned();
        if has_ending(&path, "gguf") {
            return Err(Error::new(path, "cannot be written: tensors are written as safetensors or .npy"));
        }
        refuse_read_only(&path)?;
        Ok(Writer { path, tensors: Vec::new(), array: None, metadata: Map::new() })
    }

    /// Adds a tensor. Its bytes are not copied: they are written by [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// The layout lies in several parts or planes, takes another number of bytes, the name is taken, or a
    /// .npy file cannot have the layout.
    pub fn tensor(mut self, name: &str, layout: &Layout, bytes: &'a [u8]) -> Result<Writer<'a>, Error> {
        let shown = printable(name);
        let refuse = |why: String| Error::new(&self.path, format!("cannot have the tensor `{shown}`: {why}"));
        let listed = Listed::new(name, layout).map_err(|error| refuse(error.to_string()))?;
        let map = layout.to_index_map().map_err(|error| refuse(error.to_string()))?;
        if usize::try_from(map.physical_size_in_bytes()) != Ok(bytes.len()) {
            let needed = counted(map.physical_size_in_bytes(), "byte");
            return Err(refuse(format!("{layout} takes {needed}, but there are {}", bytes.len())));
        }
        if has_ending(&self.path, "npy") {
            if self.array.is_some() {
                return Err(refuse("a .npy file has one array".into()));
            }
            let header = npy::Header::of(&map, &layout.to_string()).map_err(|error| refuse(error.to_string()))?;
            header.write().map_err(|error| refuse(error.to_string()))?;
            self.array = Some(header);
        }
        self.tensors.push((listed, bytes));
        Ok(self)
    }

    /// Adds a word to the metadata of a safetensors file.
    #[must_use]
    pub fn word(mut self, key: &str, word: &str) -> Writer<'a> {
        self.metadata.insert(key.to_owned(), word.into());
        self
    }

    /// Writes the file, and gives it its name when all bytes are on the disk.
    ///
    /// # Errors
    ///
    /// Two tensors have one name, a .npy file has no array, or the disk is full or does not answer.
    pub fn finish(self) -> Result<(), Error> {
        let refuse = |why: String| Error::new(&self.path, format!("cannot be written: {why}"));
        let listed: Vec<Listed> = self.tensors.iter().map(|(listed, _)| listed.clone()).collect();
        let (first, order) = if has_ending(&self.path, "npy") {
            let header = self.array.as_ref().ok_or_else(|| refuse("a .npy file has one array".into()))?;
            (header.write().map_err(|error| refuse(error.to_string()))?, vec![0])
        } else {
            let header = Header::new(&listed, &self.metadata).map_err(refuse)?;
            (header.bytes, header.order)
        };
        let mut file = NewFile::create(&self.path)?;
        file.append(&first)?;
        let bytes = order.iter().filter_map(|&place| self.tensors.get(place)).map(|(_, bytes)| *bytes);
        bytes.into_iter().try_for_each(|bytes| file.append(bytes))?;
        file.close()?.finish()
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
