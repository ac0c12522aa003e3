//! What a TPU compiler picks for bare sizes.

use serde_json::{Value, json};
use tensor_layout::tiled::TpuGeneration;
use tensor_layout::{ArrayShape, Error, ToIndexMap};

use crate::answer::list;

pub(crate) fn choose(sizes: &str, generation: &str) -> Result<Value, Error> {
    let generation: TpuGeneration = generation.parse()?;
    let bare: ArrayShape = sizes.trim().parse()?;
    let row_major = bare.to_index_map()?;
    let chosen = bare.clone().with_tpu_layout(generation)?;
    let map = chosen.to_index_map()?;
    let bytes = u128::from(row_major.element_count()).saturating_mul(row_major.element_bits().into()).div_ceil(8);
    Ok(json!({
        "row_major": bare.to_string(),
        "row_major_bytes": bytes.to_string(),
        "layout": chosen.to_string(),
        "bytes": map.physical_size_in_bytes().to_string(),
        "sizes": list(map.sizes()),
    }))
}
