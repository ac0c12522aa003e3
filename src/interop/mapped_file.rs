//! Files as slices of bytes, without reading them first (feature `mapped`).
#![allow(
    unsafe_code,
    reason = "a mapped file can change under its slice; the lock taken here is what can be done against it"
)]

use std::fs::File;
use std::io;
use std::ops::Deref;

/// A file in the address space: its pages are read when they are touched, and given back when memory is short.
///
/// The file is locked for reading as long as the map lives, so that a program that locks before it writes waits. One that
/// does not, and shortens the file meanwhile, ends the reading program with a bus error: no mapped file can prevent that.
///
/// ```
/// use tensor_layout::interop::mapped_file::MappedFile;
///
/// let file = std::fs::File::open("Cargo.toml")?;
/// assert!(MappedFile::open(file)?.starts_with(b"[package]"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MappedFile {
    map: memmap2::Mmap,
    /// Holds the lock.
    _file: File,
}

impl MappedFile {
    /// Maps a whole file.
    ///
    /// # Errors
    ///
    /// What the system says: a directory, a pipe, an empty file on some systems, or a file that is locked for writing.
    pub fn open(file: File) -> io::Result<MappedFile> {
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program has locked it for writing"));
            }
            // Some file systems have no locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        // SAFETY: the map is read-only and private to this value. That the file does not change meanwhile cannot be proved; it
        // is locked against programs that ask, and the documentation says what happens otherwise.
        let map = unsafe { memmap2::MmapOptions::new().map(&file)? };
        Ok(MappedFile { map, _file: file })
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}
