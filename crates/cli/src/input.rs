//! Files and standard input as the commands take them.

use std::fmt::Display;
use std::io::{self, Read};
use std::path::Path;

use tensor_layout_files::{Input, visible};

use crate::output::Stop;
use crate::table::{long_bytes, short_bytes};

pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(crate) fn unreadable(path: &Path, error: &dyn Display) -> Stop {
    Stop::Unusable(format!("{} cannot be read: {error}", visible(&path.to_string_lossy())))
}

/// Reads a short file of text whole.
pub(crate) fn read_text(path: &Path) -> Result<String, Stop> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

/// Maps a file, or reads standard input.
pub(crate) fn open(path: &Path) -> Result<Input, Stop> {
    if !is_standard(path) {
        return Ok(Input::open(path)?);
    }
    let mut bytes = Vec::new();
    match io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(Input::of(path, bytes)),
        Err(error) => Err(Stop::Unusable(format!("standard input cannot be read: {error}"))),
    }
}

/// Checks that the file has one of these lengths, of which the first is that of the layout.
pub(crate) fn check_length(input: &Input, lengths: &[u64], layout: &str) -> Result<(), Stop> {
    let length = u64::try_from(input.len()).unwrap_or(u64::MAX);
    match lengths {
        [needed, ..] if !lengths.contains(&length) => {
            let (path, length, needed) = (input.path().display(), long_bytes(length), long_bytes(*needed));
            Err(Stop::Failed(format!("{path} has {length}, but {layout} takes {needed}")))
        }
        _ => Ok(()),
    }
}

/// Allocates a buffer of zeros, or returns a sentence that says that the memory is not enough.
pub(crate) fn zeroed(length: u64) -> Result<Vec<u8>, Stop> {
    tensor_layout_files::zeroed(length).ok_or_else(|| no_memory(length))
}

pub(crate) fn no_memory(length: u64) -> Stop {
    Stop::Unusable(format!("there is not enough memory for a buffer of {}", short_bytes(length)))
}
