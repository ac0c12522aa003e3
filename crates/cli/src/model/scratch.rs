//! `Scratch`: memory for a converted tensor that is only read back.

use std::io;

use crate::input_file::{Bytes, room};
use crate::mapped_file::UnnamedFile;
use crate::output::Stop;
use crate::table::short_bytes;

/// The bytes of a converted tensor: a buffer if it is short, or else a file without a name.
pub(super) enum Scratch {
    Memory(Vec<u8>),
    File { file: UnnamedFile, length: u64 },
}

impl Scratch {
    /// Makes room for `length` bytes: in memory if these are at most `most` bytes, and otherwise in a file.
    pub(super) fn new(length: u64, most: u64) -> Result<Scratch, Stop> {
        if length <= most {
            return room(length).map(Scratch::Memory);
        }
        let file = UnnamedFile::create().map_err(|error| unusable(length, &error))?;
        Ok(Scratch::File { file, length })
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self {
            Scratch::Memory(memory) => memory.extend_from_slice(bytes),
            Scratch::File { file, length } => file.append(bytes).map_err(|error| unusable(*length, &error))?,
        }
        Ok(())
    }

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
