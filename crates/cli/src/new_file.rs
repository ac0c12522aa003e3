//! New files, which are complete or absent even if the power fails. A file is written under a temporary name
//! in the folder of its target and synced to the disk. Then it is renamed, and the folder is synced.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::output::Stop;
use crate::unfinished::{ENDING, folder_of, name_leftovers, unfinished};

/// A file that is being written under a temporary name.
pub(crate) struct NewFile {
    /// This field is in front of `temporary`, so that the writer is closed before the temporary file is
    /// removed.
    writer: BufWriter<File>,
    /// Removes the temporary file if it never gets its name.
    temporary: TempPath,
    target: PathBuf,
}

impl NewFile {
    /// Creates a file under a temporary name. It will replace the file at `target`, if there is one.
    ///
    /// An existing file is never opened for writing, because it may be mapped. The temporary name is unique:
    /// no other run has it, not even a run on another machine that sees the folder, or a run that was killed.
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
        // If the file system has no locks, the file is written without one.
        let _ = file.try_lock();
        Ok(NewFile { writer: BufWriter::with_capacity(1 << 18, file), temporary, target: target.to_owned() })
    }

    /// Writes a whole file, from its creation to its name.
    pub(crate) fn write(target: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.close()?.finish()
    }

    /// Sets the length of the file in advance. A length that does not fit on the disk is then refused before
    /// anything is computed.
    #[expect(clippy::disallowed_methods, reason = "the file is new")]
    pub(crate) fn reserve(&mut self, length: u64) -> Result<(), Stop> {
        self.writer.get_ref().set_len(length).map_err(|error| unwritable(&self.target, &error))
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.writer.write_all(bytes).map_err(|error| unwritable(&self.target, &error))
    }

    /// Syncs the file to the disk and closes it. From now on it is only read.
    ///
    /// Only syncing shows some errors of a full or broken disk. Also, pages that are not written to the disk
    /// yet would count as memory of the caller, who maps them.
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

/// A complete file that still has its temporary name.
pub(crate) struct WrittenFile {
    /// The file, which stays locked so that other runs see that it is in use, and not left by a killed run.
    lock: Option<File>,
    temporary: TempPath,
    target: PathBuf,
}

impl WrittenFile {
    /// Returns the temporary path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its name, and syncs the folder, so that the name lasts.
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

/// Syncs the names in a folder to the disk. Without this, a name may mean either the old or the new file
/// after a power failure.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Stop> {
    match File::open(folder).and_then(|opened| opened.sync_all()) {
        // These errors are ignored: some file systems cannot sync a folder and need not, and a folder may be
        // writable but not readable.
        Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied) => {
            Err(Stop::Unusable(format!("{} cannot be synced to the disk: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Does nothing, because only Unix lets a program open a folder to sync it.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Stop {
    Stop::Unusable(format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests;
