//! `Checkpoint`: the files of a model, which is one file or the parts of a sharded model.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::model_file::{Index, Model, Tensor};
use tensor_layout::Error;
use tensor_layout::plan::Code;

use crate::input_file::{Bytes, open, read};
use crate::output::Stop;

/// The longest index that is read, in bytes. The safetensors library has the same limit for a header.
const MAX_INDEX: u64 = 100_000_000;

/// A share of the parts: `2/8` is every eighth part, from the second part on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    number: usize,
    of: usize,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Share { number, of }),
            _ => Err("expected NUMBER/OF, such as 2/8: the number counts from 1".into()),
        }
    }
}

impl Share {
    /// Whether the share contains the part with this number, counted from 0.
    fn holds(self, place: usize) -> bool {
        place.checked_rem(self.of) == self.number.checked_sub(1)
    }
}

/// The files of a model.
pub(super) struct Checkpoint {
    pub(super) path: PathBuf,
    /// The index of a sharded model. `None` for a model in one file.
    pub(super) index: Option<Index>,
    /// The files that were opened, in the order of their names. A share opens only some of the parts.
    pub(super) files: Vec<PartFile>,
}

/// An open file of the model.
pub(super) struct PartFile {
    /// The name of the file, without its folder.
    pub(super) name: String,
    pub(super) path: PathBuf,
    bytes: Bytes,
}

impl PartFile {
    fn open(path: PathBuf, name: String) -> Result<PartFile, Stop> {
        Ok(PartFile { name, bytes: Bytes::open(&path)?, path })
    }

    /// Returns an error if another program changed the file after it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), Stop> {
        self.bytes.check_unchanged(&self.path)
    }

    /// Reads the header of the model in the file.
    pub(super) fn model(&self) -> Result<Model<'_>, Stop> {
        Model::read(&self.bytes).map_err(|error| match other_format(&self.bytes) {
            Some(what) => Stop::Unusable(format!("{} is {what}", self.path.display())),
            None => unusable(&self.path, &error),
        })
    }
}

impl Checkpoint {
    /// Opens a safetensors file, or the parts of a sharded model by its index, which is known by its ending.
    /// `share` says which of the parts are opened.
    pub(super) fn open(path: &Path, share: Option<Share>) -> Result<Checkpoint, Stop> {
        let is_index = path.extension().is_some_and(|ending| ending == "json");
        if !is_index {
            if share.is_some() {
                let path = path.display();
                return Err(Stop::Unusable(format!("{path} has no parts: --part is for the index of a sharded model")));
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let files = vec![PartFile::open(path.to_owned(), name)?];
            return Ok(Checkpoint { path: path.to_owned(), index: None, files });
        }
        let index = read_index(path)?;
        let chosen = index.parts().enumerate().filter(|&(place, _)| share.is_none_or(|share| share.holds(place)));
        let files = chosen.map(|(_, name)| {
            PartFile::open(path.with_file_name(name), name.to_owned()).map_err(|stop| named(stop, path))
        });
        let files = files.collect::<Result<_, _>>()?;
        Ok(Checkpoint { path: path.to_owned(), index: Some(index), files })
    }

    /// Returns sentences about mistakes in the index that are no reason to refuse the model.
    pub(super) fn remarks(&self, models: &[Model<'_>]) -> Vec<String> {
        let (Some(index), path) = (&self.index, self.path.display()) else { return Vec::new() };
        let listed: HashSet<&str> = index.tensors().map(|(name, _)| name).collect();
        let mut sentences = Vec::new();
        for (file, model) in self.files.iter().zip(models) {
            let missing = model.tensors().iter().map(Tensor::name).filter(|name| !listed.contains(name));
            sentences.extend(missing.map(|name| format!("{path} does not list `{name}`, which is in {}", file.name)));
        }
        let bytes: usize = models.iter().flat_map(|model| model.tensors()).map(|tensor| tensor.bytes().len()).sum();
        // The index states the size of all parts, so it is checked only if all parts are open.
        let is_whole = self.files.len() == index.parts().len();
        if let Some(total) = index.total_size().filter(|&total| is_whole && u64::try_from(bytes) != Ok(total)) {
            sentences.push(format!("{path} says a total_size of {total}, but its tensors have {bytes} bytes"));
        }
        sentences
    }

    /// Reads the headers of all files, and checks them against the index. A name may be in one file only.
    pub(super) fn models(&self) -> Result<Vec<Model<'_>>, Stop> {
        let models: Vec<Model<'_>> = self.files.iter().map(PartFile::model).collect::<Result<_, _>>()?;
        let Some(index) = &self.index else { return Ok(models) };
        let mut parts: HashMap<&str, &str> = HashMap::new();
        for (file, model) in self.files.iter().zip(&models) {
            index.check_part(&file.name, model).map_err(|error| unusable(&self.path, &error))?;
            for tensor in model.tensors() {
                if let Some(first) = parts.insert(tensor.name(), &file.name) {
                    let fault = Error::model(Code::ModelDuplicateTensor, tensor.name(), first, &file.name);
                    return Err(unusable(&self.path, &fault));
                }
            }
        }
        Ok(models)
    }
}

/// The first bytes of files in other formats, and a sentence that says what to do with such a file.
const OTHER_FORMATS: [(&[u8], &str); 7] = [
    (b"GGUF", "a GGUF file; `model` reads safetensors files"),
    (b"PK\x03\x04", "a zip archive, as PyTorch writes .pt and .pth; save its tensors with safetensors.torch.save_file"),
    (b"\x80\x02", "a Python pickle, as PyTorch wrote .bin and .pt; save its tensors with safetensors.torch.save_file"),
    (b"\x93NUMPY", "a .npy file of one array; `convert` reads it"),
    (b"\x89HDF", "an HDF5 file, as Keras writes .h5; save its tensors with the package safetensors"),
    (b"version https://git-lfs", "a Git LFS pointer; `git lfs pull` downloads the file that it stands for"),
    (b"{", "a JSON file; the index of a sharded model has a name that ends in .json"),
];

fn other_format(bytes: &[u8]) -> Option<&'static str> {
    OTHER_FORMATS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|&(_, what)| what)
}

fn read_index(path: &Path) -> Result<Index, Stop> {
    let (mut file, length) = open(path)?;
    if length > MAX_INDEX {
        let path = path.display();
        return Err(Stop::Unusable(format!("{path} is not an index: it has {length} bytes, more than {MAX_INDEX}")));
    }
    // The index is read and not mapped, because a `str` must not change while it is used.
    Index::read(&read(&mut file, length, path)?).map_err(|error| unusable(path, &error))
}

/// Returns the time of the last write to a file. `None` if the file does not exist.
pub(super) fn last_written(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn unusable(path: &Path, error: &Error) -> Stop {
    Stop::Unusable(format!("{}: {error}", path.display()))
}

fn named(stop: Stop, index: &Path) -> Stop {
    match stop {
        Stop::Unusable(sentence) => Stop::Unusable(format!("{}: in a part of it: {sentence}", index.display())),
        stop => stop,
    }
}

#[cfg(test)]
mod tests;
