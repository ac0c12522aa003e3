//! Reads files, and allocates buffers whose length a file states. If the memory is not enough, this is an
//! error and never an abort.

use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use crate::mapped_file::{InputFile, MappedFile};
use crate::output::Stop;
use crate::table::short_bytes;

/// Opens a file for reading, and returns it with its length in bytes.
pub(crate) fn open(path: &Path) -> Result<(InputFile, u64), Stop> {
    let unreadable = |reason: String| Stop::Unusable(format!("{} cannot be read: {reason}", path.display()));
    let file = InputFile::open(path).map_err(|error| unreadable(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| unreadable(error.to_string()))?;
    if metadata.is_dir() {
        return Err(unreadable("it is a directory".into()));
    }
    Ok((file, metadata.len()))
}

/// Whether the path is `-`, which stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The bytes of a file. A file is mapped if the system can do that; others, such as pipes, are read.
pub(crate) enum Bytes {
    Mapped(MappedFile),
    Read(Vec<u8>),
}

impl Bytes {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Bytes, Stop> {
        if is_standard(path) {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            return match read {
                Ok(_) => Ok(Bytes::Read(bytes)),
                Err(error) => Err(Stop::Unusable(format!("standard input cannot be read: {error}"))),
            };
        }
        let (file, length) = open(path)?;
        Bytes::of(file, length, path)
    }

    pub(crate) fn of(mut file: InputFile, length: u64, path: &Path) -> Result<Bytes, Stop> {
        match file.map() {
            Ok(map) if map.len() as u64 == length => Ok(Bytes::Mapped(map)),
            _ => read(&mut file, length, path).map(Bytes::Read),
        }
    }

    /// Returns an error if another program changed the file after it was opened. It must be called before a
    /// result gets its name.
    pub(crate) fn check_unchanged(&self, path: &Path) -> Result<(), Stop> {
        match self {
            Bytes::Mapped(map) => map
                .check_unchanged()
                .map_err(|how| Stop::Unusable(format!("{} {how}: its contents cannot be relied on", path.display()))),
            Bytes::Read(_) => Ok(()),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

/// Reads the next `length` bytes of a file. A shorter file is an error.
pub(crate) fn read(file: &mut InputFile, length: u64, path: &Path) -> Result<Vec<u8>, Stop> {
    let mut bytes = zeroed(length)?;
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Stop::Unusable(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Allocates a buffer of zeros of this length, or returns a sentence that says that the memory is not enough.
pub(crate) fn zeroed(length: u64) -> Result<Vec<u8>, Stop> {
    let mut bytes = room(length)?;
    // The length fits in `usize`, because `room` refuses any other.
    bytes.resize(usize::try_from(length).unwrap_or(0), 0);
    Ok(bytes)
}

/// Allocates an empty buffer with this capacity, or returns a sentence that says that the memory is not
/// enough.
pub(crate) fn room(length: u64) -> Result<Vec<u8>, Stop> {
    let refuse = || Stop::Unusable(format!("there is not enough memory for a buffer of {}", short_bytes(length)));
    let length = usize::try_from(length).map_err(|_| refuse())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| refuse())?;
    Ok(bytes)
}
