//! Reads files: `Input`, the bytes of a file, which is mapped, so that it may be larger than memory.
//!
//! This is the only `unsafe` code of the crate. A `&[u8]` promises that its bytes do not change while it
//! lives, and a mapped file changes when anyone writes it:
//!
//! * This crate writes no file that exists: [`NewFile`](crate::NewFile) always makes a new one, and is read
//!   back only when nothing is written to it any more. `clippy.toml` forbids other ways to open a file for
//!   writing.
//! * What a header says is copied before it is looked at, so that no text or number changes between a check
//!   and its use.
//! * If another program overwrites the file, the old or the new bytes of tensors are read, as when a file is
//!   read in steps, and [`Input::check_unchanged`] fails. Tensors are only copied and compared. If another
//!   program makes the file shorter, the system may end this program (SIGBUS), which leaves nothing behind.
#![allow(unsafe_code, reason = "mapping a file takes a promise that the compiler cannot check")]

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::Mmap;
use tempfile::{SpooledData, SpooledTempFile};

use crate::Error;

/// The bytes of a file. Pipes and other files that cannot be mapped are read.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    bytes: Bytes,
    /// A mapped file, with its length and the time of its last write when it was mapped.
    mapped: Option<(File, State)>,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Read(Vec<u8>),
}

type State = (Option<u64>, Option<SystemTime>);

impl Input {
    /// Opens a file and maps it.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, Error> {
        let path = path.as_ref();
        let unreadable = |error: io::Error| Error::unreadable(path, error);
        let mut file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_file() {
            // SAFETY: the head of this module says why no bytes change that matter.
            if let Ok(map) = unsafe { Mmap::map(&file) } {
                let mapped = Some((file, state(Some(metadata))));
                return Ok(Input { path: path.to_owned(), bytes: Bytes::Mapped(map), mapped });
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Input::of(path, bytes))
    }

    /// Takes bytes that were read before, from standard input for example. `path` names them in errors.
    #[must_use]
    pub fn of(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Input {
        Input { path: path.into(), bytes: Bytes::Read(bytes), mapped: None }
    }

    /// Maps a file to which nothing is written while the value lives.
    pub(crate) fn of_written(path: &Path, file: &File) -> io::Result<Input> {
        // Pages that are not on the disk yet would count as memory of this program.
        file.sync_data()?;
        // SAFETY: the caller holds the only handle to this file, which has no name that another program could
        // know, and writes nothing to it from now on.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Input { path: path.to_owned(), bytes: Bytes::Mapped(map), mapped: None })
    }

    /// Takes what was written to a temporary file, which keeps short contents in memory.
    pub(crate) fn of_spooled(file: SpooledTempFile) -> io::Result<Input> {
        match file.into_inner() {
            SpooledData::InMemory(bytes) => Ok(Input::of("", bytes.into_inner())),
            SpooledData::OnDisk(file) => Input::of_written(Path::new(""), &file),
        }
    }

    /// The path of the file, as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that no other program changed the file after it was opened. Call it before a result is used
    /// that was made of the bytes.
    ///
    /// # Errors
    ///
    /// The length of the file, or the time of its last write, is another one.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        if self.mapped.as_ref().is_none_or(|(file, held)| *held == state(file.metadata().ok())) {
            return Ok(());
        }
        let sentence = "was changed by another program while it was read: its contents cannot be relied on";
        Err(Error::new(&self.path, sentence))
    }
}

fn state(metadata: Option<std::fs::Metadata>) -> State {
    (metadata.as_ref().map(|metadata| metadata.len()), metadata.and_then(|metadata| metadata.modified().ok()))
}

impl Deref for Input {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}
