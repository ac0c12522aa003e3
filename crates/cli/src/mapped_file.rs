//! Mapped files: a file as a slice of bytes, without reading it first. Besides `signals.rs` and
//! `terminal.rs`, this is the only `unsafe` code of the command line.
//!
//! A `&[u8]` promises that its bytes do not change while it lives, and a mapped file changes when anyone
//! writes the file. A library cannot know what the rest of a program does, so mapping is not part of the
//! library. This program can promise it, for these reasons:
//!
//! * An [`UnnamedFile`] can be reached only through its own handle, and mapping consumes the handle.
//! * Any other file is mapped through an [`InputFile`], which is open for reading only. This program never
//!   opens an existing file for writing: `NewFile` creates its file, and closes it before it is read back.
//!   tests/house/architecture lists the source files here that may open a file for writing.
//! * Other programs may ignore the lock. If one of them overwrites the file, its old or its new bytes are
//!   read, as when a file is read in steps. If one of them shortens the file, zeros are read (`signals.rs`).
//!   In both cases [`MappedFile::check_unchanged`] fails before a result gets its name. Until then tensors
//!   are only copied and compared, and text is copied before it is checked to be UTF-8 (`npy::copied_text`),
//!   so changing bytes cause no other harm.
#![allow(
    unsafe_code,
    reason = "mapping a file takes a promise that the compiler cannot check; it is kept in this file"
)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Deref;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::signals::Watched;

/// A file that is mapped into memory: a page is read when it is first touched, and may be dropped when memory
/// is short.
///
/// The file is locked for reading as long as the map lives, so a program that locks before it writes waits.
#[derive(Debug)]
pub(crate) struct MappedFile {
    /// This field is dropped before `map`, because it holds addresses of the map.
    watched: Watched,
    map: memmap2::Mmap,
    /// The open file holds the lock.
    file: File,
    /// The time of the last write to the file, as it was when the file was mapped.
    written: Option<SystemTime>,
}

impl MappedFile {
    /// Maps a whole file, and locks it for reading.
    ///
    /// # Errors
    ///
    /// Returns the error of the system. A directory, a pipe, a file that is locked for writing, and on some
    /// systems an empty file cannot be mapped.
    ///
    /// # Safety
    ///
    /// While the value lives, the program must not write the file or change its length, through this handle
    /// or any other.
    unsafe fn new(file: File) -> io::Result<MappedFile> {
        let mut locked = file.try_lock_shared();
        // Another run may hold the lock for a moment, to see whether a killed run left the file
        // (`unfinished.rs`). So a lock is tried twice.
        if matches!(locked, Err(std::fs::TryLockError::WouldBlock)) {
            std::thread::sleep(Duration::from_millis(20));
            locked = file.try_lock_shared();
        }
        match locked {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program has locked it for writing"));
            }
            // If the file system has no locks, the file is mapped without one.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        // SAFETY: the map is read-only, and the caller promises that this program does not change the file.
        // The head of this module says what other programs may do.
        let map = unsafe { memmap2::MmapOptions::new().map(&file)? };
        let written = file.metadata().and_then(|metadata| metadata.modified()).ok();
        Ok(MappedFile { watched: Watched::new(&map), map, file, written })
    }

    /// Checks that the file is still as it was when it was mapped. The error is the rest of a sentence that
    /// begins with the name of the file.
    ///
    /// A write by another program changes the length of the file or the time of its last write.
    pub(crate) fn check_unchanged(&self) -> Result<(), &'static str> {
        let metadata = self.file.metadata();
        let length = metadata.as_ref().map(std::fs::Metadata::len).ok();
        if length != u64::try_from(self.map.len()).ok() {
            return Err("was made shorter or longer by another program while it was read");
        }
        if self.watched.lost_a_page() {
            return Err("could not be read: a page of it is lost");
        }
        if metadata.and_then(|metadata| metadata.modified()).ok() != self.written {
            return Err("was written by another program while it was read");
        }
        Ok(())
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// A file that is open for reading only.
#[derive(Debug)]
pub(crate) struct InputFile(File);

impl InputFile {
    pub(crate) fn open(path: &Path) -> io::Result<InputFile> {
        File::open(path).map(InputFile)
    }

    pub(crate) fn metadata(&self) -> io::Result<std::fs::Metadata> {
        self.0.metadata()
    }

    /// Maps the file. If this fails, the file can still be read.
    pub(crate) fn map(&self) -> io::Result<MappedFile> {
        let file = self.0.try_clone()?;
        // SAFETY: this handle is for reading only, and so is every other handle of this program to a file
        // that already existed. `NewFile::close` closes the one file that this program writes before other
        // code gets its path.
        unsafe { MappedFile::new(file) }
    }
}

impl Read for InputFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// A file without a name in the folder for temporary files. No other program can open it, and it disappears
/// when the program ends for any reason.
#[derive(Debug)]
pub(crate) struct UnnamedFile(File);

impl UnnamedFile {
    #[expect(clippy::disallowed_methods, reason = "the file is new, and has no name")]
    pub(crate) fn create() -> io::Result<UnnamedFile> {
        tempfile::tempfile().map(UnnamedFile)
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Maps all bytes that were written to the file.
    pub(crate) fn map(self) -> io::Result<MappedFile> {
        // The bytes are written to the disk first, because pages that are not written yet would count as
        // memory of this program.
        self.0.sync_data()?;
        // SAFETY: the file has no name, and this was its only handle, which no method hands out or copies.
        // The map keeps the handle and never writes.
        unsafe { MappedFile::new(self.0) }
    }
}

#[cfg(test)]
mod tests;
