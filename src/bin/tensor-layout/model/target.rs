//! `Target`: the safetensors file with every tensor in its new layout.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use tensor_layout::ToIndexMap;
use tensor_layout::notation::Notated;

use crate::new_file::{NewFile, WrittenFile};
use crate::output::Stop;

use super::plan::Plan;
use super::source::{Source, Tensor};

/// A file whose header is written and whose tensors are still to come, in the order of the plans.
pub(super) struct Target {
    file: NewFile,
}

impl Target {
    /// Writes the header. The layout of tensor NAME stands in the metadata under `layout.NAME`.
    ///
    /// A tensor that is still packed keeps its shape; any other becomes one row of all its places.
    pub(super) fn create<'a>(
        path: &Path,
        plans: impl Iterator<Item = &'a Plan>,
        metadata: &BTreeMap<String, String>,
    ) -> Result<Target, Stop> {
        let mut words = metadata.clone();
        let mut header = Map::new();
        let mut end = 0_u64;
        for plan in plans {
            let start = end;
            end = start.saturating_add(plan.bytes());
            let sub_byte = plan.data_type.bits() < 8;
            let shape = match (plan.is_packed(), sub_byte) {
                (true, _) => plan.tensor.sizes.clone(),
                (false, false) => vec![plan.map.physical_elements()],
                (false, true) => vec![plan.bytes()],
            };
            let type_name = if sub_byte && !plan.is_packed() { "U8" } else { plan.tensor.type_name.as_str() };
            let entry = json!({ "dtype": type_name, "shape": shape, "data_offsets": [start, end] });
            header.insert(plan.tensor.name.clone(), entry);
            words.insert(layout_key(plan), plan.text.clone());
        }
        header.insert("__metadata__".into(), json!(words));
        let mut text = Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut file = NewFile::create(path)?;
        file.append(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes())?;
        file.append(&text)?;
        Ok(Target { file })
    }

    /// Writes on, the next tensor or a piece of it.
    pub(super) fn append(&mut self, laid_out: &[u8]) -> Result<(), Stop> {
        self.file.append(laid_out)
    }

    /// Closes the file and opens what was written as any model is opened, before it has its name.
    pub(super) fn read_back(self) -> Result<Written, Stop> {
        let file = self.file.close()?;
        let source = Source::open(file.path())?;
        let places = source.tensors.iter().enumerate().map(|(place, tensor)| (tensor.name.clone(), place)).collect();
        Ok(Written { source, places, file })
    }
}

/// What was written, as the file itself tells it.
pub(super) struct Written {
    source: Source,
    /// Where in the list each tensor stands.
    places: BTreeMap<String, usize>,
    /// Dropped last: not every system removes a mapped file.
    file: WrittenFile,
}

impl Written {
    /// The bytes of a tensor, if the file says of it that it is in the planned layout.
    pub(super) fn laid_out(&self, plan: &Plan) -> Option<&[u8]> {
        let layout: Notated = self.source.metadata.get(&layout_key(plan))?.parse().ok()?;
        let place = self.places.get(&plan.tensor.name)?;
        let tensor: &Tensor = self.source.tensors.get(*place)?;
        (layout.to_index_map().ok()? == plan.map).then(|| self.source.bytes_of(tensor))
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), Stop> {
        // Not every system renames a mapped file.
        drop(self.source);
        self.file.finish()
    }
}

/// Where the metadata names the layout of a tensor.
fn layout_key(plan: &Plan) -> String {
    format!("layout.{}", plan.tensor.name)
}
