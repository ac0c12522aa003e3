//! `Writer`: a new safetensors or .npy file of tensors in any layout.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tensor_layout::ToIndexMap;
use tensor_layout::plan::counted;
use tensor_layout_text::Layout;

use crate::error::printable;
use crate::file::add_source;
use crate::header::{Header, Listed};
use crate::new_file::refuse_read_only;
use crate::{Error, File, NewFile, npy};

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
    array: Option<npy::Header>,
    metadata: Map<String, Value>,
    align: Option<u64>,
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
        Ok(Writer { path, tensors: Vec::new(), array: None, metadata: Map::new(), align: None })
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

    /// Names the model that the tensors were made of, as [`File::made_from`] reads it.
    #[must_use]
    pub fn made_from(mut self, source: &File) -> Writer<'a> {
        add_source(&mut self.metadata, &source.source_word());
        self
    }

    /// Begins every tensor of a safetensors file at a multiple of this number, in bytes: 64, 256, 4096 or
    /// 16384 for a file that is mapped as it is. Spaces after the header align the first tensor, and tensors
    /// `__fill.0`, `__fill.1` and so on, which [`open`](crate::open) does not list, the others.
    ///
    /// ```
    /// use tensor_layout_files::{Writer, open};
    ///
    /// let path = std::env::temp_dir().join("tensor-layout-aligned.safetensors");
    /// let (odd, even) = ("u8[3]:[1]".parse()?, "u8[2]:[1]".parse()?);
    /// Writer::create(&path)?.aligned(4096).tensor("a", &odd, b"abc")?.tensor("b", &even, b"de")?.finish()?;
    /// let file = open(&path)?;
    /// let starts: Vec<usize> = file.tensors().map(|tensor| tensor.range().start).collect();
    /// assert_eq!(starts, [4096, 8192]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn aligned(mut self, bytes: u64) -> Writer<'a> {
        self.align = Some(bytes);
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
            (header.write().map_err(|error| refuse(error.to_string()))?, vec![(0, 0)])
        } else {
            let header = Header::new(&listed, &self.metadata, self.align).map_err(refuse)?;
            (header.bytes, header.order.into_iter().zip(header.starts).collect())
        };
        let mut file = NewFile::create(&self.path)?;
        file.append(&first)?;
        for (place, start) in order {
            file.pad_to(start)?;
            self.tensors.get(place).map_or(Ok(()), |(_, bytes)| file.append(bytes))?;
        }
        file.close()?.finish()
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
