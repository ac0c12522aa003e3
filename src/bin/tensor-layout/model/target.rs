//! `Target`: the safetensors file with every tensor in its new layout.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::new_file::NewFile;
use crate::output::Stop;

use super::plan::Plan;

/// A file whose header is written and whose tensors are still to come, in the order of the plans.
pub(super) struct Target {
    file: NewFile,
}

impl Target {
    /// Writes the header. The layout of tensor NAME stands in the metadata under `layout.NAME`.
    ///
    /// A tensor that is still packed keeps its shape; any other becomes one row of all its places.
    pub(super) fn create(path: &Path, plans: &[&Plan], metadata: &BTreeMap<String, String>) -> Result<Target, Stop> {
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
            words.insert(format!("layout.{}", plan.tensor.name), plan.text.clone());
        }
        header.insert("__metadata__".into(), json!(words));
        let mut text = Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut file = NewFile::create(path)?;
        file.append(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes())?;
        file.append(&text)?;
        Ok(Target { file })
    }

    /// Writes the next tensor.
    pub(super) fn append(&mut self, laid_out: &[u8]) -> Result<(), Stop> {
        self.file.append(laid_out)
    }

    pub(super) fn finish(self) -> Result<(), Stop> {
        self.file.finish()
    }
}
