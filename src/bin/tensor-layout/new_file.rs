//! Files that are there whole or not at all: written under a temporary name beside their place, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::output::Stop;

/// A file that does not have its name yet.
pub(crate) struct NewFile {
    target: PathBuf,
    temporary: PathBuf,
    writer: Option<BufWriter<File>>,
}

impl NewFile {
    /// Begins a file that will replace whatever is at `target`.
    pub(crate) fn create(target: &Path) -> Result<NewFile, Stop> {
        let name = target.file_name().filter(|_| !target.is_dir());
        let Some(name) = name else {
            return Err(Stop::Unusable(format!("{} is no name for a file", target.display())));
        };
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = target.with_file_name(temporary);
        match File::create(&temporary) {
            Ok(file) => {
                let writer = Some(BufWriter::with_capacity(1 << 18, file));
                Ok(NewFile { target: target.to_owned(), temporary, writer })
            }
            Err(error) => Err(unwritable(target, &error)),
        }
    }

    /// Writes a whole file.
    pub(crate) fn write(target: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.finish()
    }

    /// Makes the file as long as it will be, so that a length no file can have is refused before anything is computed.
    pub(crate) fn reserve(&mut self, length: u64) -> Result<(), Stop> {
        let reserved = self.writer.as_ref().map_or(Ok(()), |writer| writer.get_ref().set_len(length));
        reserved.map_err(|error| unwritable(&self.target, &error))
    }

    /// Writes on.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.write_all(bytes));
        written.map_err(|error| unwritable(&self.target, &error))
    }

    /// Brings everything to the disk, and says where it can be read until the file has its name.
    ///
    /// That the disk is full or broken may show no earlier. And pages that are still to be written would count as memory
    /// of whoever maps them.
    pub(crate) fn written(&mut self) -> Result<&Path, Stop> {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| {
            writer.flush()?;
            writer.get_ref().sync_data()
        });
        written.map_err(|error| unwritable(&self.target, &error))?;
        Ok(&self.temporary)
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), Stop> {
        self.written()?;
        self.writer = None;
        fs::rename(&self.temporary, &self.target).map_err(|error| {
            // What is left is the next run's to replace.
            let _ = fs::remove_file(&self.temporary);
            unwritable(&self.target, &error)
        })
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // Unfinished: nothing more can be done if it stays.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Stop {
    Stop::Unusable(format!("{} cannot be written: {error}", path.display()))
}
