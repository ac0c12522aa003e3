//! Files that are complete or absent, whenever the power fails: written under a temporary name in the same
//! folder, synced, renamed, and then the folder is synced.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::output::Stop;
use crate::unfinished::{ENDING, folder_of, name_leftovers, unfinished};

/// A file that does not have its name yet.
pub(crate) struct NewFile {
    /// Closed before the temporary file is removed: fields drop in this order.
    writer: BufWriter<File>,
    /// Removes the file if it never gets its name.
    temporary: TempPath,
    target: PathBuf,
}

impl NewFile {
    /// Begins a file that will replace whatever is at `target`.
    ///
    /// It is always a file of its own: what exists is never written, because it may be mapped. Its temporary
    /// name no one else has: not a program on another machine that sees the folder, nor one that was killed.
    #[expect(clippy::disallowed_methods, reason = "the file is new")]
    pub(crate) fn create(target: &Path) -> Result<NewFile, Stop> {
        let name = target.file_name().filter(|_| !target.is_dir());
        let Some(name) = name else {
            return Err(Stop::Unusable(format!("{} is not a file name", target.display())));
        };
        let mut prefix = name.to_owned();
        prefix.push(".");
        let mut named = tempfile::Builder::new();
        name_leftovers(target);
        let mut list = unfinished();
        let made = named.prefix(&prefix).suffix(ENDING).make_in(folder_of(target), |path| File::create_new(path));
        let (file, temporary) = made.map_err(|error| unwritable(target, &error))?.into_parts();
        list.files.push(temporary.to_path_buf());
        // Some file systems have no locks.
        let _ = file.try_lock();
        Ok(NewFile { writer: BufWriter::with_capacity(1 << 18, file), temporary, target: target.to_owned() })
    }

    /// Writes a whole file.
    pub(crate) fn write(target: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.close()?.finish()
    }

    /// Makes the file as long as it will be, so that a length no file can have is refused before anything is
    /// computed.
    #[expect(clippy::disallowed_methods, reason = "the file is new")]
    pub(crate) fn reserve(&mut self, length: u64) -> Result<(), Stop> {
        self.writer.get_ref().set_len(length).map_err(|error| unwritable(&self.target, &error))
    }

    /// Writes on.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.writer.write_all(bytes).map_err(|error| unwritable(&self.target, &error))
    }

    /// Brings everything to the disk and closes the file: from now on it is only read.
    ///
    /// Only here may it become known that the disk is full or broken. And pages that are still to be written
    /// would count as memory of the caller, who maps them.
    pub(crate) fn close(self) -> Result<WrittenFile, Stop> {
        let NewFile { mut writer, temporary, target } = self;
        let written = writer.flush().and_then(|()| writer.get_ref().sync_data());
        drop(writer);
        match written {
            Ok(()) => {
                let lock = File::open(&temporary).ok().filter(|file| file.try_lock_shared().is_ok());
                Ok(WrittenFile { lock, temporary, target })
            }
            Err(error) => Err(unwritable(&target, &error)),
        }
    }
}

/// A file that is written and does not have its name yet.
pub(crate) struct WrittenFile {
    /// Open for reading, and locked, so that no other program takes the file for one that was left.
    lock: Option<File>,
    temporary: TempPath,
    target: PathBuf,
}

impl WrittenFile {
    /// Where it can be read until it has its name.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Renames the file to its name, and syncs the folder.
    pub(crate) fn finish(self) -> Result<(), Stop> {
        let WrittenFile { lock, temporary, target } = self;
        drop(lock);
        let mut list = unfinished();
        temporary.persist(&target).map_err(|failed| unwritable(&target, &failed.error))?;
        list.written.push(target.clone());
        drop(list);
        sync_folder(folder_of(&target))
    }
}

/// Brings the names in a folder to the disk: which file a name means after the power failed is known only
/// then.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Stop> {
    match File::open(folder).and_then(|opened| opened.sync_all()) {
        // Some file systems cannot, and need not; and a folder may be writable but not readable.
        Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied) => {
            Err(Stop::Unusable(format!("{} cannot be synced to the disk: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Other systems open no folder.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Stop {
    Stop::Unusable(format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests;
