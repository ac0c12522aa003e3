//! `NewFile`: a new file, which is complete or absent even if the power fails.
//!
//! The crate `atomic-write-file` writes to a file that has no name, syncs it, links it into the folder of its
//! target under a name of its own, renames it and syncs the folder. A program that is killed leaves nothing
//! behind, unless it is killed between the link and the renaming, which leaves a whole file `.NAME.xxxxxx`.
//! Outside Linux, and on file systems without such files, the file has this name from the beginning, and a
//! program that is killed leaves it there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use atomic_write_file::AtomicWriteFile;

use crate::input::Bytes;
use crate::output::Stop;

pub(crate) struct NewFile {
    writer: BufWriter<AtomicWriteFile>,
    target: PathBuf,
}

impl NewFile {
    pub(crate) fn create(target: &Path) -> Result<NewFile, Stop> {
        // A folder or a device is never replaced.
        if target.file_name().is_none() || fs::metadata(target).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Stop::Unusable(format!("{} is not the name of a file", target.display())));
        }
        let mut options = AtomicWriteFile::options();
        options.read(true);
        #[cfg(unix)]
        {
            // The permissions of a link would otherwise be taken over, and everyone may write a link.
            use atomic_write_file::unix::OpenOptionsExt;
            options.preserve_mode(false).preserve_owner(false);
        }
        let file = options.open(target).map_err(|error| unwritable(target, &error))?;
        Ok(NewFile { writer: BufWriter::with_capacity(1 << 18, file), target: target.to_owned() })
    }

    pub(crate) fn write(target: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.close()?.finish()
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.writer.write_all(bytes).map_err(|error| unwritable(&self.target, &error))
    }

    /// Ends writing. From now on the file is only read.
    pub(crate) fn close(self) -> Result<WrittenFile, Stop> {
        let NewFile { writer, target } = self;
        match writer.into_inner() {
            Ok(file) => Ok(WrittenFile { file, target }),
            Err(failed) => Err(unwritable(&target, failed.error())),
        }
    }
}

/// A complete file that does not have its name yet.
pub(crate) struct WrittenFile {
    file: AtomicWriteFile,
    target: PathBuf,
}

impl WrittenFile {
    pub(crate) fn read_back(&self) -> Result<Bytes, Stop> {
        Bytes::of_written(self.file.as_file()).map_err(|error| unwritable(&self.target, &error))
    }

    pub(crate) fn finish(self) -> Result<(), Stop> {
        self.file.commit().map_err(|error| unwritable(&self.target, &error))
    }
}

/// Returns the folder of a file; `.` if the path has none.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Syncs the names in a folder to the disk, where the system can do that.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Stop> {
    match File::open(folder) {
        Ok(opened) => opened.sync_all().map_err(|error| unwritable(folder, &error)),
        Err(_) => Ok(()),
    }
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Stop {
    Stop::Unusable(format!("{} cannot be written: {error}", path.display()))
}
