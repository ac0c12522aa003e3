//! `NewShards`: where a sharded model is written, part by part, and its index last.
//!
//! A sharded model is complete when its index exists. So the index is written after all parts have their
//! names, and a folder that already has an index is not changed part by part:
//!
//! * A conversion of the whole model reads back every tensor of every part before any part gets its name.
//!   Then the old index is removed, the parts get their names, and the new index is written. A failure before
//!   that leaves the old model. A failure in between leaves no index, and never an index over parts of two
//!   models.
//! * With `--part`, each job names its own parts after they are read back. It refuses to begin if there is an
//!   index. At its end it writes the index if all parts exist. The last job to name its parts finds all of
//!   them, so the index is always written. Several jobs may write it: each uses a temporary name of its own,
//!   and all write the same bytes. A job that is run again converts its parts again, or finds the model
//!   complete.
//! * A part counts as written if its first bytes are the header that the source and the rules give it, its
//!   length is right, and it is not older than its source. So a part of another model, of other rules or of
//!   an earlier source is never taken for it.
//! * Some file systems show a new file late to other machines, so that no job sees all parts. `--index` looks
//!   again and converts nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::model_file::{Header, Index};

use crate::input_file::Bytes;
use crate::new_file::{NewFile, WrittenFile, sync_folder, unwritable};
use crate::output::Stop;
use crate::unfinished::{all_or_nothing, create_folders, folder_of};

use super::checkpoint::{Checkpoint, PartFile, last_written};
use super::plan::new_header;
use super::rules::Rules;

/// The folder of a new sharded model.
pub(super) struct NewShards {
    folder: PathBuf,
    index: PathBuf,
}

/// Whether all parts of a new model exist.
pub(super) enum Progress {
    /// All parts exist. This is the text of their index.
    AllParts(String),
    /// `there` of the `of` parts exist. `why` says what is wrong with the first part that does not.
    Missing { there: usize, of: usize, why: String },
}

impl NewShards {
    /// Prepares the folder of a new model. `out` is the path of the new index, or a folder for an index with
    /// the name of the old one. A missing folder is made. The folder must not be that of the old model.
    pub(super) fn create(out: &Path, old_index: &Path) -> Result<NewShards, Stop> {
        let names_index = out.extension().is_some_and(|ending| ending == "json") && !out.is_dir();
        let index = if names_index { out.to_owned() } else { out.join(old_index.file_name().unwrap_or_default()) };
        let folder = folder_of(&index).to_owned();
        create_folders(&folder).map_err(|error| unwritable(&folder, &error))?;
        let real = |folder: &Path| fs::canonicalize(folder).map_err(|error| unwritable(folder, &error));
        if real(&folder)? == real(folder_of(old_index))? {
            let out = out.display();
            return Err(Stop::Unusable(format!(
                "{out} is in the folder of the model that is read, and its parts keep their names: choose another folder"
            )));
        }
        Ok(NewShards { folder, index })
    }

    /// Returns the path of a part of the new model.
    pub(super) fn part(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn index(&self) -> &Path {
        &self.index
    }

    /// Gives all parts of a new model their names, and writes the index.
    pub(super) fn finish(&self, parts: Vec<WrittenFile>, index: &Index) -> Result<(), Stop> {
        let _signals_wait = all_or_nothing();
        match fs::remove_file(&self.index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(&self.index, &error)),
            _ => sync_folder(&self.folder)?,
        }
        parts.into_iter().try_for_each(WrittenFile::finish)?;
        self.write_index(&index.to_string())
    }

    /// Writes the index, after the names of the parts were synced to the disk.
    pub(super) fn write_index(&self, text: &str) -> Result<(), Stop> {
        sync_folder(&self.folder)?;
        NewFile::write(&self.index, text.as_bytes())
    }

    /// Whether the new model exists already: the folder has its index and all its parts. A folder with any
    /// other index is refused.
    pub(super) fn is_complete(&self, source: &Path, rules: &Rules) -> Result<bool, Stop> {
        let Some(found) = fs::read(&self.index).map(Some).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(None),
            _ => Err(unwritable(&self.index, &error)),
        })?
        else {
            return Ok(false);
        };
        match self.progress(source, rules)? {
            Progress::AllParts(text) if text.as_bytes() == found => Ok(true),
            _ => Err(Stop::Unusable(format!(
                "{} exists already, and the index is written last: remove it, or choose another folder",
                self.index.display()
            ))),
        }
    }

    /// Looks for all parts of the new model in its folder.
    pub(super) fn progress(&self, source: &Path, rules: &Rules) -> Result<Progress, Stop> {
        let source = Checkpoint::open(source, None)?;
        let (models, of) = (source.models()?, source.files.len());
        let (mut headers, mut missing) = (Vec::new(), None);
        for (file, model) in source.files.iter().zip(&models) {
            let header = new_header(model, rules)
                .map_err(|error| Stop::Unusable(format!("{} cannot be laid out: {error}", file.path.display())))?;
            match self.is_there(file, &header) {
                Ok(()) => headers.push((file.name.as_str(), header)),
                Err(why) => missing = missing.or(Some(why)),
            }
        }
        if let Some(why) = missing {
            return Ok(Progress::Missing { there: headers.len(), of, why });
        }
        let parts = headers.iter().map(|(name, header)| (*name, header));
        let index = Index::new(parts, source.index.as_ref());
        index.map(|index| Progress::AllParts(index.to_string())).map_err(|error| Stop::Unusable(error.to_string()))
    }

    /// Checks that a part of the new model exists and was made of the file `source`. The error says what is
    /// wrong.
    fn is_there(&self, source: &PartFile, header: &Header) -> Result<(), String> {
        let path = self.part(&source.name);
        let name = path.display();
        let written = last_written(&path).ok_or_else(|| format!("{name} does not exist"))?;
        if last_written(&source.path).is_some_and(|source| source > written) {
            return Err(format!("{name} is older than {}", source.path.display()));
        }
        let bytes = Bytes::open(&path).map_err(|_| format!("{name} cannot be read"))?;
        if !bytes.starts_with(&header.bytes) {
            return Err(format!("{name} has other tensors, other layouts or other metadata"));
        }
        if u64::try_from(bytes.len()) != Ok(header.file_size_in_bytes) {
            return Err(format!("{name} is too short"));
        }
        Ok(())
    }
}
