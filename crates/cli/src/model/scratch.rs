//! `Scratch`: memory for a converted tensor that is not kept.

use std::io;

use crate::input_file::{Bytes, room};
use crate::mapped_file::UnnamedFile;
use crate::output::Stop;
use crate::table::short_bytes;

/// A buffer for a short tensor, and a file without a name for a long one.
pub(super) enum Scratch {
    Memory(Vec<u8>),
    File { file: UnnamedFile, length: u64 },
}

impl Scratch {
    /// Makes room for `length` bytes: in memory up to `most` bytes, in a file beyond that.
    pub(super) fn new(length: u64, most: u64) -> Result<Scratch, Stop> {
        if length <= most {
            return room(length).map(Scratch::Memory);
        }
        let file = UnnamedFile::create().map_err(|error| unusable(length, &error))?;
        Ok(Scratch::File { file, length })
    }

    /// Appends bytes.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self {
            Scratch::Memory(memory) => memory.extend_from_slice(bytes),
            Scratch::File { file, length } => file.append(bytes).map_err(|error| unusable(*length, &error))?,
        }
        Ok(())
    }

    /// The bytes that were written.
    pub(super) fn read_back(self) -> Result<Bytes, Stop> {
        match self {
            Scratch::Memory(memory) => Ok(Bytes::Read(memory)),
            Scratch::File { file, length } => file.map().map(Bytes::Mapped).map_err(|error| unusable(length, &error)),
        }
    }
}

fn unusable(length: u64, error: &io::Error) -> Stop {
    let (length, folder) = (short_bytes(length), std::env::temp_dir());
    Stop::Unusable(format!("a temporary file of {length} in {} cannot be used: {error}", folder.display()))
}

#[cfg(test)]
mod tests;
