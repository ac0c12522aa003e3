//! Models written without the program that is tested.

use std::path::Path;

use serde_json::{Value, json};

/// A tensor: name, type, sizes and bytes.
pub(crate) type Row<'a> = (&'a str, &'a str, &'a [usize], usize);

/// A model of these tensors, its keys in the order of their names. No byte is zero, and neighbours differ;
/// `seed` makes two models different.
pub(crate) fn write(path: &Path, tensors: &[Row<'_>], metadata: Option<Value>, seed: usize) {
    let (mut header, mut end) = (serde_json::Map::new(), 0);
    if let Some(metadata) = metadata {
        header.insert("__metadata__".into(), metadata);
    }
    for (name, data_type, sizes, bytes) in tensors {
        let start = end;
        end += bytes;
        let entry = json!({ "dtype": data_type, "shape": sizes, "data_offsets": [start, end] });
        header.insert((*name).to_owned(), entry);
    }
    let header = Value::Object(header).to_string();
    let data = (0..end).map(|place| ((place + seed) % 251 + 1) as u8);
    let bytes = (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(data);
    std::fs::write(path, bytes.collect::<Vec<u8>>()).unwrap();
}
