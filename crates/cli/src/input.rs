//! Reads files: `Input`, the bytes of an input file.
//!
//! A file is mapped, so that it may be larger than memory. This is the only `unsafe` code of the command
//! line. A `&[u8]` promises that its bytes do not change while it lives, and a mapped file changes when
//! anyone writes it:
//!
//! * This program writes no file that exists: [`NewFile`](crate::new_file::NewFile) always makes a new one,
//!   and is read back only when nothing is written to it any more. `clippy.toml` forbids other ways to open a
//!   file for writing.
//! * If another program overwrites the file, its old or its new bytes are read, as when a file is read in
//!   steps, and [`Input::check_unchanged`] fails before a result gets its name. Until then tensors are only
//!   copied and compared. If another program makes the file shorter, the system may end this program
//!   (SIGBUS), which leaves nothing behind.
#![allow(unsafe_code, reason = "mapping a file takes a promise that the compiler cannot check")]

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::Mmap;
use tempfile::{SpooledData, SpooledTempFile};

use crate::output::Stop;
use crate::table::{long_bytes, short_bytes};

pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(crate) fn unreadable(path: &Path, error: &dyn Display) -> Stop {
    Stop::Unusable(format!("{} cannot be read: {error}", path.display()))
}

/// Reads a short file of text whole.
pub(crate) fn read_text(path: &Path) -> Result<String, Stop> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// The bytes of a file. Pipes and other files that cannot be mapped are read.
pub(crate) enum Bytes {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Bytes {
    /// Maps a file to which nothing is written while the value lives.
    pub(crate) fn of_written(file: &File) -> io::Result<Bytes> {
        // Pages that are not on the disk yet would count as memory of this program.
        file.sync_data()?;
        // SAFETY: the caller holds the only handle to this file, which has no name that another program could
        // know, and writes nothing to it from now on.
        unsafe { Mmap::map(file) }.map(Bytes::Mapped)
    }

    /// Takes what was written to a temporary file, which keeps short contents in memory.
    pub(crate) fn of_spooled(file: SpooledTempFile) -> io::Result<Bytes> {
        match file.into_inner() {
            SpooledData::InMemory(bytes) => Ok(Bytes::Read(bytes.into_inner())),
            SpooledData::OnDisk(file) => Bytes::of_written(&file),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

pub(crate) struct Input {
    path: PathBuf,
    bytes: Bytes,
    /// A mapped file, with its length and the time of its last write when it was mapped.
    mapped: Option<(File, State)>,
}

type State = (Option<u64>, Option<SystemTime>);

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Input, Stop> {
        let unreadable = |error: io::Error| unreadable(path, &error);
        let mut bytes = Vec::new();
        if is_standard(path) {
            return match io::stdin().lock().read_to_end(&mut bytes) {
                Ok(_) => Ok(Input { path: path.to_owned(), bytes: Bytes::Read(bytes), mapped: None }),
                Err(error) => Err(Stop::Unusable(format!("standard input cannot be read: {error}"))),
            };
        }
        let mut file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_file() {
            // SAFETY: the head of this module says why no bytes change that matter.
            if let Ok(map) = unsafe { Mmap::map(&file) } {
                let mapped = Some((file, state(Some(metadata))));
                return Ok(Input { path: path.to_owned(), bytes: Bytes::Mapped(map), mapped });
            }
        }
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Input { path: path.to_owned(), bytes: Bytes::Read(bytes), mapped: None })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file has one of these lengths, of which the first is that of the layout.
    pub(crate) fn check_length(&self, lengths: &[u64], layout: &str) -> Result<(), Stop> {
        let length = u64::try_from(self.len()).unwrap_or(u64::MAX);
        match lengths {
            [needed, ..] if !lengths.contains(&length) => {
                let (path, length, needed) = (self.path.display(), long_bytes(length), long_bytes(*needed));
                Err(Stop::Failed(format!("{path} has {length}, but {layout} takes {needed}")))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if another program changed the file after it was opened. It must be called before a
    /// result gets its name.
    pub(crate) fn check_unchanged(&self) -> Result<(), Stop> {
        if self.mapped.as_ref().is_none_or(|(file, held)| *held == state(file.metadata().ok())) {
            return Ok(());
        }
        let path = self.path.display();
        Err(Stop::Unusable(format!(
            "{path} was changed by another program while it was read: its contents cannot be relied on"
        )))
    }
}

fn state(metadata: Option<std::fs::Metadata>) -> State {
    (metadata.as_ref().map(|metadata| metadata.len()), metadata.and_then(|metadata| metadata.modified().ok()))
}

impl Deref for Input {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Allocates a buffer of zeros, or returns a sentence that says that the memory is not enough.
pub(crate) fn zeroed(length: u64) -> Result<Vec<u8>, Stop> {
    let mut bytes: Vec<u8> = Vec::new();
    match usize::try_from(length).map(|length| bytes.try_reserve_exact(length).map(|()| length)) {
        Ok(Ok(length)) => {
            drop(bytes);
            Ok(vec![0; length])
        }
        _ => Err(Stop::Unusable(format!("there is not enough memory for a buffer of {}", short_bytes(length)))),
    }
}
