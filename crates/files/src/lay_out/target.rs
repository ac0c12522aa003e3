//! `Target`: the files of a new model, one or the parts and the index of a sharded model.
//!
//! A sharded model is complete when its index exists, so the index of a new one is written last, and a folder
//! that has an index is not changed part by part:
//!
//! * A conversion of the whole model reads back every tensor of every part before any part gets its name.
//!   Then the old index is removed, the parts get their names, and the new index is written. A failure before
//!   that leaves the old model. A failure in between leaves no index, and never an index over parts of two
//!   models.
//! * With a [`Share`], each job names its own parts after they are read back, and writes the index if it then
//!   finds all parts. The last job to name its parts finds all of them, so the index is always written.
//!   Several jobs may write it: all write the same bytes. A job that is run again converts only what is not
//!   there. This also helps where a file system shows new files late, so that no job saw all parts.
//! * A part counts as written if its first bytes are the header that the source and the rules give it, its
//!   length is right, and it is not older than its source. So a part of another model, of other rules or of
//!   an earlier source is never taken for it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::header::Header;
use crate::new_file::{WrittenFile, folder_of, refuse_read_only, sync_folder};
use crate::{Error, File, Input, NewFile, is_index, replaces};

/// A share of the parts: `2/8` is every eighth part, from the second part on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
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
    /// The number, from 1 on, and how many shares there are.
    pub(crate) fn numbers(self) -> (usize, usize) {
        (self.number, self.of)
    }

    pub(super) fn holds(self, place: usize) -> bool {
        place.checked_rem(self.of) == self.number.checked_sub(1)
    }
}

pub(crate) struct Target {
    /// The file, or the index of a sharded model, whose parts are beside it.
    pub(crate) path: PathBuf,
    pub(super) is_sharded: bool,
}

impl Target {
    /// Prepares the folder of a new model. If `old` has an index, `out` is the path of the new index, or a
    /// folder for an index with the name of the old one. A missing folder is made. The folder must not be
    /// that of the old model, and a file must not be the old one unless it is to be overwritten.
    pub(super) fn create(out: &Path, old: &File, overwrite: bool) -> Result<Target, Error> {
        if !old.is_sharded() {
            refuse_read_only(out)?;
            if !overwrite && replaces(out, old.path()) {
                return Err(Error::new(
                    out,
                    "is the model that is read: choose another file, or replace it with --overwrite",
                ));
            }
            return Ok(Target { path: out.to_owned(), is_sharded: false });
        }
        let target = Target::sharded(out, old.path(), old.path().file_name().unwrap_or_default())?;
        old.parts().iter().try_for_each(|part| refuse_read_only(&target.part(part.name())))?;
        Ok(target)
    }

    /// Prepares the folder of a new sharded model, whose index has this name unless `out` names it.
    pub(crate) fn sharded(out: &Path, old: &Path, name: &OsStr) -> Result<Target, Error> {
        let names_index = is_index(out) && !out.is_dir();
        let path = if names_index { out.to_owned() } else { out.join(name) };
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(|error| Error::unwritable(folder, error))?;
        let real = |folder: &Path| fs::canonicalize(folder).map_err(|error| Error::unwritable(folder, error));
        if real(folder)? == real(folder_of(old))? {
            return Err(Error::new(
                out,
                "is in the folder of the model that is read, and its parts keep their names: choose another folder",
            ));
        }
        let target = Target { path, is_sharded: true };
        refuse_read_only(&target.path)?;
        Ok(target)
    }

    pub(crate) fn part(&self, name: &str) -> PathBuf {
        if self.is_sharded { self.path.with_file_name(name) } else { self.path.clone() }
    }

    /// Gives the files of a whole model their names.
    pub(super) fn finish(&self, files: Vec<WrittenFile>, index: Option<&str>) -> Result<(), Error> {
        // The new index takes over the permissions of the old one, so it is made before that goes.
        let index = index.map(|text| written(&self.path, text)).transpose()?;
        if index.is_some() {
            match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::unwritable(&self.path, error));
                }
                _ => sync_folder(folder_of(&self.path))?,
            }
        }
        files.into_iter().try_for_each(WrittenFile::finish)?;
        index.map_or(Ok(()), WrittenFile::finish)
    }

    /// Writes the index after all jobs have written their parts.
    pub(crate) fn write_index(&self, text: &str) -> Result<(), Error> {
        sync_folder(folder_of(&self.path))?;
        written(&self.path, text)?.finish()
    }

    pub(crate) fn refuse_other(&self, index: &str) -> Result<(), Error> {
        match Input::open(&self.path) {
            Ok(found) if *found != *index.as_bytes() => Err(Error::new(
                &self.path,
                "exists already, and the index is written last: remove it, or choose another folder",
            )),
            _ => Ok(()),
        }
    }

    /// Returns why a part of the new model does not count as written.
    pub(crate) fn missing(&self, name: &str, sources: &[&Path], header: &Header) -> Option<Error> {
        let path = self.part(name);
        let why = |sentence: String| Some(Error::new(&path, sentence));
        let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let Some(made) = written(&path) else { return why("does not exist".into()) };
        if let Some(newer) = sources.iter().find(|source| written(source).is_some_and(|source| source > made)) {
            return why(format!("is older than {}", newer.display()));
        }
        let Ok(bytes) = Input::open(&path) else { return why("cannot be read".into()) };
        if !bytes.starts_with(&header.bytes) {
            return why("has other tensors, other layouts or other metadata".into());
        }
        let data = bytes.len().checked_sub(header.bytes.len()).and_then(|bytes| u64::try_from(bytes).ok());
        if data == Some(header.data_bytes) { None } else { why("is too short".into()) }
    }
}

fn written(path: &Path, text: &str) -> Result<WrittenFile, Error> {
    let mut file = NewFile::create(path)?;
    file.append(text.as_bytes())?;
    file.close()
}
