//! The files of a model: one safetensors file, or the parts and the index of a sharded model.
//!
//! A sharded model is complete when its index exists, so the index of a new one is written last, and a folder
//! that has an index is not changed part by part:
//!
//! * A conversion of the whole model reads back every tensor of every part before any part gets its name.
//!   Then the old index is removed, the parts get their names, and the new index is written. A failure before
//!   that leaves the old model. A failure in between leaves no index, and never an index over parts of two
//!   models.
//! * With `--part`, each job names its own parts after they are read back, and writes the index if it then
//!   finds all parts. The last job to name its parts finds all of them, so the index is always written.
//!   Several jobs may write it: all write the same bytes. A job that is run again converts only what is not
//!   there. This also helps where a file system shows new files late, so that no job saw all parts.
//! * A part counts as written if its first bytes are the header that the source and the rules give it, its
//!   length is right, and it is not older than its source. So a part of another model, of other rules or of
//!   an earlier source is never taken for it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::input::Input;
use crate::new_file::{NewFile, WrittenFile, folder_of, sync_folder, unwritable};
use crate::output::Stop;
use crate::table::{counted, printable};

use super::file::{Header, Model, Readers};
use super::gguf;

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
    pub(super) fn holds(self, place: usize) -> bool {
        place.checked_rem(self.of) == self.number.checked_sub(1)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    weight_map: BTreeMap<String, String>,
}

pub(super) struct Checkpoint {
    path: PathBuf,
    /// The index of a sharded model. `None` for a model in one file.
    index: Option<Index>,
    /// The names of the files without their folder, and the files, in the order of the names.
    pub(super) files: Vec<(String, Input)>,
}

impl Checkpoint {
    /// Opens a safetensors file, or the parts of a sharded model by its index, which is known by its ending.
    pub(super) fn open(path: &Path) -> Result<Checkpoint, Stop> {
        if !is_index(path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let files = vec![(name, Input::open(path)?)];
            return Ok(Checkpoint { path: path.to_owned(), index: None, files });
        }
        let refuse = |why: String| Stop::Unusable(format!("the index {} {why}", path.display()));
        // The text is copied, because a mapped file may change.
        let text = Input::open(path)?.to_vec();
        let index: Index = serde_json::from_slice(&text)
            .map_err(|error| refuse(format!("is not JSON, or has no `weight_map` of tensors and parts: {error}")))?;
        let mut names: Vec<&String> = index.weight_map.values().collect();
        names.sort();
        names.dedup();
        let open = |name: &String| match Input::open(&path.with_file_name(name)) {
            _ if !is_part_name(name) => Err(refuse(format!(
                "names the part `{}`, which is not the name of a part: parts are other files in its folder",
                printable(name)
            ))),
            Ok(file) => Ok((name.clone(), file)),
            Err(Stop::Unusable(sentence)) => Err(refuse(format!("names a part that is not there: {sentence}"))),
            Err(stop) => Err(stop),
        };
        let files = names.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Checkpoint { path: path.to_owned(), index: Some(index), files })
    }

    pub(super) fn is_sharded(&self) -> bool {
        self.index.is_some()
    }

    /// Reads the headers of all files, and checks them against the index.
    pub(super) fn models(&self) -> Result<Vec<Model<'_>>, Stop> {
        let refuse = |path: &Path, why: String| Stop::Unusable(format!("{} {}", path.display(), printable(&why)));
        let mut models = Vec::with_capacity(self.files.len());
        for (_, file) in &self.files {
            let model = if file.starts_with(gguf::MAGIC) { gguf::read(file) } else { Model::read(file) };
            models.push(model.map_err(|why| refuse(file.path(), other_format(file).map_or(why, str::to_owned)))?);
        }
        let Some(index) = &self.index else { return Ok(models) };
        let mut parts: BTreeMap<&str, &str> = BTreeMap::new();
        for ((part, _), model) in self.files.iter().zip(&models) {
            for tensor in &model.tensors {
                let listed = index.weight_map.get(&tensor.name).map_or(part, |listed| listed);
                let other = parts.insert(&tensor.name, part).unwrap_or(listed);
                if other != part {
                    let name = printable(&tensor.name);
                    return Err(refuse(&self.path, format!("has tensor `{name}` in two parts, {other} and {part}")));
                }
            }
        }
        match index.weight_map.iter().find(|(tensor, _)| !parts.contains_key(tensor.as_str())) {
            None => Ok(models),
            Some((tensor, part)) => {
                let tensor = printable(tensor);
                Err(refuse(&self.path, format!("says that {part} holds tensor `{tensor}`, which it does not")))
            }
        }
    }

    /// Returns sentences about mistakes in the files or in the index that are no reason to refuse the model.
    pub(super) fn remarks(&self, models: &[Model<'_>]) -> Vec<String> {
        let mut sentences = Vec::new();
        for ((_, file), readers) in self.files.iter().zip(models.iter().map(|model| &model.readers)) {
            let path = file.path().display();
            sentences.extend(readers.iter().flat_map(Readers::refusals).map(|refusal| format!("{path}: {refusal}")));
        }
        let (Some(index), path) = (&self.index, self.path.display()) else { return sentences };
        for ((part, _), model) in self.files.iter().zip(models) {
            let missing = model.tensors.iter().filter(|tensor| !index.weight_map.contains_key(&tensor.name));
            sentences.extend(
                missing.map(|tensor| format!("{path} does not list `{}`, which is in {part}", printable(&tensor.name))),
            );
        }
        let bytes: usize = models.iter().flat_map(|model| &model.tensors).map(|tensor| tensor.bytes.len()).sum();
        let total = index.metadata.as_ref().and_then(|metadata| metadata.get("total_size")?.as_u64());
        if let Some(total) = total.filter(|&total| total != bytes as u64) {
            sentences
                .push(format!("{path} says a total_size of {total}, but its tensors have {}", counted(bytes, "byte")));
        }
        sentences
    }

    /// Returns the text of the index of a new model whose parts have these headers: JSON with an indentation
    /// of two and with sorted keys, as the usual writers of sharded models print it.
    pub(super) fn new_index(&self, headers: &[Header], models: &[Model<'_>]) -> String {
        let names =
            self.files.iter().zip(models).flat_map(|((part, _), model)| {
                model.tensors.iter().map(move |tensor| (tensor.name.clone(), part.clone()))
            });
        let mut metadata = self.index.as_ref().and_then(|index| index.metadata.clone());
        if let Some(metadata) = &mut metadata {
            let total: u64 = headers.iter().map(|header| header.data_bytes).sum();
            metadata.insert("total_size".into(), total.into());
        }
        // Strings and numbers can always be written.
        let index = Index { metadata, weight_map: names.collect() };
        serde_json::to_string_pretty(&index).unwrap_or_default() + "\n"
    }
}

pub(super) fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// Whether a file name has the same meaning on every system: no folder, no drive, no stream, no control
/// characters.
fn is_part_name(part: &str) -> bool {
    let is_forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !matches!(part, "" | "." | "..") && !part.contains(is_forbidden) && !part.ends_with(".index.json")
}

/// The first bytes of files in other formats, and a sentence that says what to do with such a file.
const OTHER_FORMATS: [(&[u8], &str); 6] = [
    (
        b"PK\x03\x04",
        "is a zip archive, as PyTorch writes .pt and .pth; save its tensors with safetensors.torch.save_file",
    ),
    (
        b"\x80\x02",
        "is a Python pickle, as PyTorch wrote .bin and .pt; save its tensors with safetensors.torch.save_file",
    ),
    (b"\x93NUMPY", "is a .npy file of one array; `convert` reads it"),
    (b"\x89HDF", "is an HDF5 file, as Keras writes .h5; save its tensors with the package safetensors"),
    (b"version https://git-lfs", "is a Git LFS pointer; `git lfs pull` downloads the file that it stands for"),
    (b"{", "is a JSON file; the index of a sharded model has a name that ends in .json"),
];

fn other_format(bytes: &[u8]) -> Option<&'static str> {
    OTHER_FORMATS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|&(_, what)| what)
}

pub(super) struct NewModel {
    /// The file, or the index of a sharded model, whose parts are beside it.
    pub(super) path: PathBuf,
    pub(super) is_sharded: bool,
}

impl NewModel {
    /// Prepares the folder of a new model. If `old` is an index, `out` is the path of the new index, or a
    /// folder for an index with the name of the old one. A missing folder is made. The folder must not be
    /// that of the old model.
    pub(super) fn create(out: &Path, old: &Path) -> Result<NewModel, Stop> {
        if !is_index(old) {
            return Ok(NewModel { path: out.to_owned(), is_sharded: false });
        }
        let names_index = is_index(out) && !out.is_dir();
        let path = if names_index { out.to_owned() } else { out.join(old.file_name().unwrap_or_default()) };
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let real = |folder: &Path| fs::canonicalize(folder).map_err(|error| unwritable(folder, &error));
        if real(folder)? == real(folder_of(old))? {
            let out = out.display();
            return Err(Stop::Unusable(format!(
                "{out} is in the folder of the model that is read, and its parts keep their names: choose another folder"
            )));
        }
        Ok(NewModel { path, is_sharded: true })
    }

    pub(super) fn part(&self, name: &str) -> PathBuf {
        if self.is_sharded { self.path.with_file_name(name) } else { self.path.clone() }
    }

    pub(super) fn finish(&self, files: Vec<WrittenFile>, index: Option<&str>) -> Result<(), Stop> {
        if index.is_some() {
            match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(&self.path, &error)),
                _ => sync_folder(folder_of(&self.path))?,
            }
        }
        files.into_iter().try_for_each(WrittenFile::finish)?;
        index.map_or(Ok(()), |index| NewFile::write(&self.path, index.as_bytes()))
    }

    pub(super) fn refuse_other(&self, index: &str) -> Result<(), Stop> {
        match fs::read(&self.path) {
            Ok(found) if found != index.as_bytes() => Err(Stop::Unusable(format!(
                "{} exists already, and the index is written last: remove it, or choose another folder",
                self.path.display()
            ))),
            _ => Ok(()),
        }
    }

    pub(super) fn missing(&self, (name, source): &(String, Input), header: &Header) -> Option<String> {
        let path = self.part(name);
        let name = path.display();
        let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let Some(made) = written(&path) else { return Some(format!("{name} does not exist")) };
        if written(source.path()).is_some_and(|source| source > made) {
            return Some(format!("{name} is older than {}", source.path().display()));
        }
        let Ok(bytes) = Input::open(&path) else { return Some(format!("{name} cannot be read")) };
        if !bytes.starts_with(&header.bytes) {
            return Some(format!("{name} has other tensors, other layouts or other metadata"));
        }
        let is_whole = bytes.len() as u64 == header.data_bytes.saturating_add(header.bytes.len() as u64);
        (!is_whole).then(|| format!("{name} is too short"))
    }
}
