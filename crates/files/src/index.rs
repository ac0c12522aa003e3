//! The index of a sharded model, `model.safetensors.index.json`: which file has which tensor.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::printable;
use crate::{Error, Input};

/// The longest index that is read, in bytes. The index of a model of 140,000 tensors has 14 MB.
const MOST_BYTES: usize = 32 << 20;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Index {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Map<String, Value>>,
    /// For the name of each tensor, the name of the file that holds it.
    pub(crate) weight_map: BTreeMap<String, String>,
}

impl Index {
    pub(crate) fn read(path: &Path) -> Result<Index, Error> {
        let input = Input::open(path)?;
        if input.len() > MOST_BYTES {
            let length = input.len();
            return Err(Error::new(path, format!("is an index of {length} bytes, and at most {MOST_BYTES} are read")));
        }
        // The text is copied, because a mapped file may change.
        let text = input.to_vec();
        serde_json::from_slice(&text).map_err(|error: serde_json::Error| {
            let what = "is the index of a model, and is not JSON or has no `weight_map` of tensors and parts";
            Error::new(path, format!("{what}: {error}"))
        })
    }

    /// Returns the names of the parts in order, each once.
    pub(crate) fn parts(&self, path: &Path) -> Result<Vec<&str>, Error> {
        let mut names: Vec<&str> = self.weight_map.values().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        match names.iter().find(|name| !is_part_name(name)) {
            None => Ok(names),
            Some(name) => Err(Error::new(
                path,
                format!(
                    "is an index that names the part `{}`, which is not the name of a part: parts are other files in its folder",
                    printable(name)
                ),
            )),
        }
    }

    /// Returns the text of the index: JSON with an indentation of two and with sorted keys, as the usual
    /// writers of sharded models print it.
    pub(crate) fn text(&self) -> String {
        // Strings and numbers can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// Whether a path is that of an index, which is known by its ending.
#[must_use]
pub fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// Whether a file name has the same meaning on every system: no folder, no drive, no stream, no control
/// characters.
fn is_part_name(part: &str) -> bool {
    let is_forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !matches!(part, "" | "." | "..") && !part.contains(is_forbidden) && !part.ends_with(".index.json")
}
