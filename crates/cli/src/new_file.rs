//! New files, which are complete or absent even if the power fails. A file is written under a temporary name
//! in the same folder and synced. Then it is renamed, and the folder is synced.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::output::Stop;
use crate::unfinished::{ENDING, folder_of, name_leftovers, unfinished};

/// A file that is being written under a temporary name.
pub(crate) struct NewFile {
    /// Fields drop in this order, so the writer is closed before the temporary file is removed.
    writer: BufWriter<File>,
    /// Removes the temporary file if it never gets its name.
    temporary: TempPath,
    target: PathBuf,
}

impl NewFile {
    /// Begins a file that will replace whatever is at `target`.
    ///
    /// An existing file is never written, because it may be mapped. The temporary name is unique: no program
    /// on another machine that sees the folder has it, and no run that was killed.
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
        // Some file systems have no locks. The file is written without one.
        let _ = file.try_lock();
        Ok(NewFile { writer: BufWriter::with_capacity(1 << 18, file), temporary, target: target.to_owned() })
    }

    /// Writes a whole file.
    pub(crate) fn write(target: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.close()?.finish()
    }

    /// Sets the length of the file, so that a length that the disk cannot hold is refused before anything is
    /// computed.
    #[expect(clippy::disallowed_methods, reason = "the file is new")]
    pub(crate) fn reserve(&mut self, length: u64) -> Result<(), Stop> {
        self.writer.get_ref().set_len(length).map_err(|error| unwritable(&self.target, &error))
    }

    /// Appends bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.writer.write_all(bytes).map_err(|error| unwritable(&self.target, &error))
    }

    /// Syncs the file to the disk and closes it. From now on it is only read.
    ///
    /// A full or broken disk may show only here. And pages that are still to be written would count as memory
    /// of the caller, who maps them.
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
    /// The locked file. Other programs see that it is not one that a killed run left.
    lock: Option<File>,
    temporary: TempPath,
    target: PathBuf,
}

impl WrittenFile {
    /// The path of the file until it gets its name.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its name, and syncs the folder.
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

/// Syncs the names in a folder to the disk. Before that, a name may mean either the old or the new file after
/// the power fails.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Stop> {
    match File::open(folder).and_then(|opened| opened.sync_all()) {
        // Some file systems cannot sync a folder and need not. A folder may also be writable but not
        // readable.
        Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied) => {
            Err(Stop::Unusable(format!("{} cannot be synced to the disk: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Other systems do not open folders.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Stop {
    Stop::Unusable(format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests;
