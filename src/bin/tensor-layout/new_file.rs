//! Files that are there whole or not at all: written under a temporary name beside their place, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::output::Stop;

/// A file that does not have its name yet.
pub(crate) struct NewFile {
    /// Closed before the temporary file is removed: fields drop in this order.
    writer: BufWriter<File>,
    temporary: Temporary,
}

impl NewFile {
    /// Begins a file that will replace whatever is at `target`.
    ///
    /// It is a file of its own even if another lies under the temporary name: what exists is never written, because it
    /// may be mapped.
    pub(crate) fn create(target: &Path) -> Result<NewFile, Stop> {
        let name = target.file_name().filter(|_| !target.is_dir());
        let Some(name) = name else {
            return Err(Stop::Unusable(format!("{} is no name for a file", target.display())));
        };
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}.part", std::process::id()));
        let path = target.with_file_name(temporary);
        let file = match File::create_new(&path) {
            // Left behind by a program that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&path).and_then(|()| File::create_new(&path))
            }
            created => created,
        };
        let file = file.map_err(|error| unwritable(target, &error))?;
        let temporary = Temporary { target: target.to_owned(), path, is_there: true };
        Ok(NewFile { writer: BufWriter::with_capacity(1 << 18, file), temporary })
    }

    /// Writes a whole file.
    pub(crate) fn write(target: &Path, bytes: &[u8]) -> Result<(), Stop> {
        let mut file = NewFile::create(target)?;
        file.append(bytes)?;
        file.close()?.finish()
    }

    /// Makes the file as long as it will be, so that a length no file can have is refused before anything is computed.
    pub(crate) fn reserve(&mut self, length: u64) -> Result<(), Stop> {
        self.writer.get_ref().set_len(length).map_err(|error| unwritable(&self.temporary.target, &error))
    }

    /// Writes on.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.writer.write_all(bytes).map_err(|error| unwritable(&self.temporary.target, &error))
    }

    /// Brings everything to the disk and closes the file: from now on it is only read.
    ///
    /// That the disk is full or broken may show no earlier. And pages that are still to be written would count as memory
    /// of whoever maps them.
    pub(crate) fn close(self) -> Result<WrittenFile, Stop> {
        let NewFile { mut writer, temporary } = self;
        let written = writer.flush().and_then(|()| writer.get_ref().sync_data());
        drop(writer);
        match written {
            Ok(()) => Ok(WrittenFile { temporary }),
            Err(error) => Err(unwritable(&temporary.target, &error)),
        }
    }
}

/// A file that is written and does not have its name yet.
pub(crate) struct WrittenFile {
    temporary: Temporary,
}

impl WrittenFile {
    /// Where it can be read until it has its name.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary.path
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), Stop> {
        let renamed = fs::rename(&self.temporary.path, &self.temporary.target);
        self.temporary.is_there = renamed.is_err();
        renamed.map_err(|error| unwritable(&self.temporary.target, &error))
    }
}

/// A file under its temporary name, removed if it never gets the other.
struct Temporary {
    target: PathBuf,
    path: PathBuf,
    is_there: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_there {
            // Nothing more can be done if it stays.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Stop {
    Stop::Unusable(format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use crate::mapped_file::InputFile;

    use super::*;

    /// What the SAFETY arguments of mapped_file.rs rest on.
    #[test]
    fn a_new_file_changes_no_byte_of_a_mapped_one() {
        let folder = tempfile::tempdir().unwrap();
        let (target, part) =
            (folder.path().join("model"), folder.path().join(format!("model.{}.part", std::process::id())));
        fs::write(&target, b"old").unwrap();
        fs::write(&part, b"left behind").unwrap();
        let maps = [&target, &part].map(|path| InputFile::open(path).unwrap().map().unwrap());
        let mut new = NewFile::create(&target).unwrap();
        new.reserve(1 << 20).unwrap();
        new.append(&[7; 1 << 20]).unwrap();
        let written = new.close().unwrap();
        assert_eq!(fs::metadata(written.path()).unwrap().len(), 1 << 20);
        written.finish().unwrap();
        assert_eq!((&*maps[0], &*maps[1]), (&b"old"[..], &b"left behind"[..]));
        assert_eq!(fs::read(&target).unwrap(), [7; 1 << 20]);
        assert!(!part.exists());
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        drop(NewFile::create(&target).unwrap());
        drop(NewFile::create(&target).unwrap().close().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
