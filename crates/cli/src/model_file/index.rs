//! `Index`: the list of a sharded model's tensors, with the file that has each tensor.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use tensor_layout::Error;
use tensor_layout::checked::{self, BYTES};
use tensor_layout::plan::Code;

use super::check_names;
use super::header::Pairs;
use super::model::Model;
use super::new_header::Header;

/// The index of a sharded model, `model.safetensors.index.json`. For each tensor, the index names the part
/// that holds the tensor. The parts are files beside the index, each a [`Model`].
///
/// ```
/// use tensor_layout_cli::model_file::Index;
///
/// let text = r#"{"metadata": {"total_size": 12}, "weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}"#;
/// let index = Index::read(text.as_bytes())?;
/// assert_eq!(index.parts().collect::<Vec<_>>(), ["1.safetensors", "2.safetensors"]);
/// assert_eq!(index.tensors().last(), Some(("b", "2.safetensors")));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    metadata: Option<Map<String, Value>>,
    weight_map: BTreeMap<String, String>,
    /// The names of `weight_map` in the order of the text.
    order: Vec<String>,
    parts: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    weight_map: Pairs,
}

impl Index {
    /// Reads the text of an index. A part must be a plain file name. A name with a folder, or one that leads
    /// to another folder on any system, is refused.
    ///
    /// # Errors
    ///
    /// `model_index` if the text is not JSON of this form;
    /// `model_repeated_name` for a tensor that is named twice; `model_part_name` for a part
    /// that is not a plain file name.
    pub fn read(text: &[u8]) -> Result<Index, Error> {
        let raw: Raw = serde_json::from_slice(text).map_err(|error| {
            let reason = format!("is not JSON, or has no `weight_map` of tensors and parts: {error}");
            Error::model(Code::ModelIndex, "", "", reason)
        })?;
        let Pairs(pairs) = raw.weight_map;
        check_names("the weight_map of the index", pairs.iter().map(|(name, _)| name.as_str()))?;
        let parts: BTreeSet<String> = pairs.iter().map(|(_, part)| part.clone()).collect();
        parts.iter().try_for_each(|part| check_part_name(part))?;
        let order = pairs.iter().map(|(tensor, _)| tensor.clone()).collect();
        Ok(Index { metadata: raw.metadata, weight_map: pairs.into_iter().collect(), order, parts })
    }

    /// Returns the index of new parts, each with its file name. The metadata is copied from `old`, with a new
    /// `total_size`. If `old` has the same tensors, their order in the text is kept too.
    ///
    /// # Errors
    ///
    /// `model_duplicate_tensor` for a tensor in two parts,
    /// `model_part_name` for a part that is not a plain file name, `model_repeated_name` for
    /// two parts with the same name. `overflow` if the tensors have more than 2^64 bytes together.
    ///
    /// ```
    /// use tensor_layout_cli::model_file::{Header, Index, Model, Tensor};
    ///
    /// let layout = "u8[4]:[1]".parse()?;
    /// let header = Header::new([("a", &layout)], &[])?;
    /// assert_eq!(header.names, ["a"]);
    /// let index = Index::new([("1.safetensors", &header)], None)?;
    /// assert_eq!(index.tensors().collect::<Vec<_>>(), [("a", "1.safetensors")]);
    /// assert!(index.to_string().contains("weight_map"));
    ///
    /// // Does a part hold what the index says?
    /// let mut file = Vec::new();
    /// Model::new(vec![Tensor::new("a", layout, b"abcd")?], Vec::new())?.write(&mut file)?;
    /// index.check_part("1.safetensors", &Model::read(&file)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<'p>(
        parts: impl IntoIterator<Item = (&'p str, &'p Header)>,
        old: Option<&Index>,
    ) -> Result<Index, Error> {
        let (mut weight_map, mut names, mut total) = (BTreeMap::new(), BTreeSet::new(), 0);
        for (part, header) in parts {
            check_part_name(part)?;
            if !names.insert(part.to_owned()) {
                return Err(Error::model(Code::ModelRepeatedName, part, "", "the list of parts"));
            }
            for (tensor, range) in header.names.iter().zip(&header.ranges) {
                total = checked::add(total, range.end.saturating_sub(range.start), BYTES)?;
                if let Some(first) = weight_map.insert(tensor.clone(), part.to_owned()) {
                    return Err(duplicate(tensor, &first, part));
                }
            }
        }
        let mut metadata = old.map_or_else(|| Some(Map::new()), |old| old.metadata.clone());
        if let Some(metadata) = &mut metadata {
            metadata.insert("total_size".into(), json!(total));
        }
        let same_tensors = |old: &&Index| old.weight_map.keys().eq(weight_map.keys());
        let order = old.filter(same_tensors).map(|old| old.order.clone());
        let order = order.unwrap_or_else(|| weight_map.keys().cloned().collect());
        Ok(Index { metadata, weight_map, order, parts: names })
    }

    /// The number of bytes of all tensors, as the metadata states it, or `None` if the metadata does not. The
    /// number may be wrong, and no reader needs it.
    ///
    /// ```
    /// use tensor_layout_cli::model_file::Index;
    ///
    /// let text = br#"{"metadata": {"total_size": 12}, "weight_map": {"a": "1.safetensors"}}"#;
    /// assert_eq!(Index::read(text)?.total_size(), Some(12));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn total_size(&self) -> Option<u64> {
        self.metadata.as_ref()?.get("total_size")?.as_u64()
    }

    /// The file names of the parts, in alphabetical order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.iter().map(String::as_str)
    }

    /// Every tensor with its part, in alphabetical order.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.weight_map.iter().map(|(name, part)| (name.as_str(), part.as_str()))
    }

    /// Checks a part against the index. Tensors that the index does not name are allowed.
    ///
    /// # Errors
    ///
    /// `model_missing_tensor` if the part lacks a tensor that the index lists
    /// for it, `model_duplicate_tensor` if the part has a tensor that the index lists for another
    /// part.
    pub fn check_part(&self, part: &str, model: &Model<'_>) -> Result<(), Error> {
        for (tensor, _) in self.tensors().filter(|&(_, of)| of == part) {
            if model.tensor(tensor).is_none() {
                return Err(Error::model(Code::ModelMissingTensor, tensor, "", part));
            }
        }
        for tensor in model.tensors() {
            if let Some(other) = self.weight_map.get(tensor.name()).filter(|&other| other != part) {
                return Err(duplicate(tensor.name(), other, part));
            }
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
    weight_map: Pairs,
}

/// Returns the value with its keys in alphabetical order, whatever order serde_json's map keeps.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let entries: BTreeMap<_, _> = object.iter().collect();
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

impl fmt::Display for Index {
    /// Writes the text of the index: JSON with an indentation of two, as the usual writers of sharded models
    /// print it. The tensors are in the order of the index that was read, otherwise in alphabetical order.
    /// Other keys always are in alphabetical order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = self.metadata.as_ref().map(|metadata| sorted(&Value::Object(metadata.clone())));
        let part_of = |tensor: &String| self.weight_map.get(tensor).cloned().unwrap_or_default();
        let weight_map = Pairs(self.order.iter().map(|tensor| (tensor.clone(), part_of(tensor))).collect());
        // Strings and numbers can always be written, so the default is never used.
        let text = serde_json::to_string_pretty(&Written { metadata, weight_map }).unwrap_or_default();
        f.write_str(&text)?;
        f.write_str("\n")
    }
}

fn duplicate(tensor: &str, first: &str, second: &str) -> Error {
    Error::model(Code::ModelDuplicateTensor, tensor, first, second)
}

/// Checks that a file name has the same meaning on every system: no folder, no drive, no stream, no control
/// characters.
fn check_part_name(part: &str) -> Result<(), Error> {
    let forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    if part.is_empty() || part == "." || part == ".." || part.contains(forbidden) || part.ends_with(".index.json") {
        return Err(Error::model(Code::ModelPartName, part, "", ""));
    }
    Ok(())
}
