//! `NewFile`: a new file, which is complete or absent even if the power fails.
//!
//! The crate `atomic-write-file` writes to a file that has no name, syncs it, links it into the folder of its
//! target under a name of its own, renames it and syncs the folder. A program that is killed leaves nothing
//! behind, unless it is killed between the link and the renaming, which leaves a whole file `.NAME.xxxxxx`.
//! Outside Linux, and on file systems without such files, the file has this name from the beginning, and a
//! program that is killed leaves it there.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use atomic_write_file::AtomicWriteFile;

use crate::{Error, Input};

/// A file that is written and does not have its name yet.
///
/// ```
/// use tensor_layout_files::NewFile;
///
/// let path = std::env::temp_dir().join("tensor-layout-new-file");
/// let mut file = NewFile::create(&path)?;
/// file.append(b"all of it")?;
/// file.close()?.finish()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"all of it");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), tensor_layout_files::Error>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    writer: BufWriter<AtomicWriteFile>,
    target: PathBuf,
    length: u64,
}

/// The places of a new file, which several threads may write.
#[derive(Debug)]
pub(crate) struct Places<'n> {
    file: &'n File,
    target: &'n Path,
}

impl Places<'_> {
    /// Writes bytes at a place, whatever was written before.
    pub(crate) fn write_at(&self, at: u64, bytes: &[u8]) -> Result<(), Error> {
        #[cfg(unix)]
        let done = std::os::unix::fs::FileExt::write_all_at(self.file, bytes, at);
        #[cfg(not(unix))]
        let done = {
            use std::io::{Seek, SeekFrom};
            static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
            let _one = ONE.lock();
            let mut file = self.file;
            file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes))
        };
        done.map_err(|error| Error::unwritable(self.target, error))
    }
}

impl NewFile {
    /// Begins a file that will have this name. A plain file that has the name now stays until the new one is
    /// complete, and the new one takes over its permissions.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, the name is that of a folder or a device, or the file is read-only.
    pub fn create(target: impl AsRef<Path>) -> Result<NewFile, Error> {
        let target = target.as_ref();
        let unwritable = |error| Error::unwritable(target, error);
        refuse_read_only(target)?;
        let mut options = AtomicWriteFile::options();
        options.read(true);
        #[cfg(unix)]
        {
            // The permissions of a link would otherwise be taken over, and everyone may write a link.
            use atomic_write_file::unix::OpenOptionsExt;
            options.preserve_mode(false).preserve_owner(false);
        }
        let file = options.open(target).map_err(unwritable)?;
        // The permissions are set before the first byte is written. For a link, they are those of the file
        // that the link points to.
        if let Ok(metadata) = fs::metadata(target) {
            file.as_file().set_permissions(metadata.permissions()).map_err(unwritable)?;
        }
        Ok(NewFile { writer: BufWriter::with_capacity(1 << 18, file), target: target.to_owned(), length: 0 })
    }

    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// The file cannot be created (see [`create`](Self::create)), or its bytes cannot be written.
    pub fn write(target: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.close()?.finish()
    }

    /// Writes these bytes behind those that were written before.
    ///
    /// # Errors
    ///
    /// The disk is full, or does not answer.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.length = self.length.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.writer.write_all(bytes).map_err(|error| Error::unwritable(&self.target, error))
    }

    /// Writes zeros up to a place behind what was written.
    pub(crate) fn pad_to(&mut self, place: u64) -> Result<(), Error> {
        let zeros = place.saturating_sub(self.length);
        let zeros = vec![0; usize::try_from(zeros).unwrap_or(0)];
        self.append(&zeros)
    }

    /// Writes what is buffered, and returns the places of the file.
    pub(crate) fn flushed(&mut self) -> Result<Places<'_>, Error> {
        self.writer.flush().map_err(|error| Error::unwritable(&self.target, error))?;
        Ok(Places { file: self.writer.get_ref().as_file(), target: &self.target })
    }

    /// Ends writing. From now on the file is only read.
    ///
    /// # Errors
    ///
    /// The disk is full, or does not answer.
    pub fn close(self) -> Result<WrittenFile, Error> {
        let NewFile { writer, target, .. } = self;
        match writer.into_inner() {
            Ok(file) => Ok(WrittenFile { file, target }),
            Err(failed) => Err(Error::unwritable(&target, failed.error())),
        }
    }
}

/// A complete file that does not have its name yet. If it is dropped, nothing is left of it.
#[derive(Debug)]
pub struct WrittenFile {
    file: AtomicWriteFile,
    target: PathBuf,
}

impl WrittenFile {
    /// Maps what was written.
    ///
    /// # Errors
    ///
    /// The file cannot be synced or mapped.
    pub fn read_back(&self) -> Result<Input, Error> {
        Input::of_written(&self.target, self.file.as_file()).map_err(|error| Error::unwritable(&self.target, error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// The file or its folder cannot be synced, or the old file cannot be replaced.
    pub fn finish(self) -> Result<(), Error> {
        self.file.commit().map_err(|error| Error::unwritable(&self.target, error))
    }
}

/// Refuses a name that a new file cannot take: of a folder, a device or a read-only file.
pub(crate) fn refuse_read_only(target: &Path) -> Result<(), Error> {
    if target.file_name().is_none() || fs::metadata(target).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(Error::new(target, "is not the name of a file"));
    }
    // A link is replaced, and not the file that it points to.
    let is_read_only = |metadata: fs::Metadata| metadata.is_file() && metadata.permissions().readonly();
    if fs::symlink_metadata(target).is_ok_and(is_read_only) {
        return Err(Error::new(target, "is read-only and is not replaced: choose another name, or make it writable"));
    }
    Ok(())
}

/// Returns the folder of a file; `.` if the path has none.
#[must_use]
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether a new file of the name `target` would replace `input`. A link as `target` is replaced itself.
#[must_use]
pub fn replaces(target: &Path, input: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let target = real(folder_of(target)).zip(target.file_name()).map(|(folder, name)| folder.join(name));
    target.is_some() && target == real(input)
}

/// Syncs the names in a folder to the disk, where the system can do that.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    match File::open(folder) {
        Ok(opened) => opened.sync_all().map_err(|error| Error::unwritable(folder, error)),
        Err(_) => Ok(()),
    }
}
