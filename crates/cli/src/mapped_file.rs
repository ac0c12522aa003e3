//! Files as slices of bytes, without reading them first: with `signals.rs`, the only `unsafe` of the command
//! line.
//!
//! A `&[u8]` promises that its bytes do not change while it lives, and a mapped file changes when anyone
//! writes the file. So this is not a module of the library, where no one can say what the rest of a program
//! does. Here one can:
//!
//! * An [`UnnamedFile`] can be reached through its own handle only, and mapping it takes the handle away.
//! * Any other file is mapped by way of an [`InputFile`], which is open for reading only. This program never
//!   opens a file for writing that exists already: `NewFile` creates its file and closes it before it is read
//!   back. tests/house/architecture holds the list of the files here that may open one for writing.
//! * Against other programs there is a lock, which they may ignore. What they overwrite meanwhile may be read
//!   in the old state or the new one, as with any other way to read a file in steps; where they shorten the
//!   file, zeros are read (`signals.rs`). Either is an error when the work is done
//!   ([`MappedFile::check_unchanged`]), before anything that came of it has its name. So that nothing worse
//!   can come of it, tensors are only copied and compared, and text is copied before it is checked to be
//!   UTF-8 (`npy::copied_text`).
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

/// A file in the address space: its pages are read when they are touched, and given back when memory is
/// short.
///
/// It is locked for reading as long as the map lives, so that a program that locks before it writes waits.
#[derive(Debug)]
pub(crate) struct MappedFile {
    /// Before the map in this order, because it names its addresses.
    watched: Watched,
    map: memmap2::Mmap,
    /// Holds the lock.
    file: File,
    /// When it was mapped.
    written: Option<SystemTime>,
}

impl MappedFile {
    /// Maps a whole file.
    ///
    /// # Errors
    ///
    /// What the system says: a directory, a pipe, an empty file on some systems, or a file that is locked for
    /// writing.
    ///
    /// # Safety
    ///
    /// The program must not write the file or change its length as long as the value lives, through this
    /// handle or any other.
    unsafe fn new(file: File) -> io::Result<MappedFile> {
        let mut locked = file.try_lock_shared();
        // A run that looks for files that were left holds each for a moment (`unfinished.rs`).
        if matches!(locked, Err(std::fs::TryLockError::WouldBlock)) {
            std::thread::sleep(Duration::from_millis(20));
            locked = file.try_lock_shared();
        }
        match locked {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program has locked it for writing"));
            }
            // Some file systems have no locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        // SAFETY: the map is read-only, and the caller promises that this program does not change what it
        // shows. What another program may do is said above.
        let map = unsafe { memmap2::MmapOptions::new().map(&file)? };
        let written = file.metadata().and_then(|metadata| metadata.modified()).ok();
        Ok(MappedFile { watched: Watched::new(&map), map, file, written })
    }

    /// Was what was read the file as it was when it was mapped? If not, the rest of a sentence that begins
    /// with its name.
    ///
    /// A file that another program has written meanwhile shows by its length or its time.
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

    /// Its bytes. Fails where a file cannot be mapped; it can still be read then.
    pub(crate) fn map(&self) -> io::Result<MappedFile> {
        let file = self.0.try_clone()?;
        // SAFETY: the handle is for reading only, and so is every other handle of this program to a file that
        // existed when it was opened. The one file that this program writes under a name is closed before its
        // path is given to other code (`NewFile::close`).
        unsafe { MappedFile::new(file) }
    }
}

impl Read for InputFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// A file without a name, in the folder for temporary files: no one else can open it, and it is gone with the
/// program however that ends.
#[derive(Debug)]
pub(crate) struct UnnamedFile(File);

impl UnnamedFile {
    #[expect(clippy::disallowed_methods, reason = "the file is new, and has no name")]
    pub(crate) fn create() -> io::Result<UnnamedFile> {
        tempfile::tempfile().map(UnnamedFile)
    }

    /// Writes on.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// What was written.
    pub(crate) fn map(self) -> io::Result<MappedFile> {
        // Mapped pages that are still to be written would count as memory of this program.
        self.0.sync_data()?;
        // SAFETY: the file has no name, and this was its only handle: no method hands it out or copies it.
        // The map keeps it, and never writes.
        unsafe { MappedFile::new(self.0) }
    }
}

#[cfg(test)]
mod tests;
