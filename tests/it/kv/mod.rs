//! KV caches by name: what engines recorded, copies between their orders, block tables.

mod built;
mod copies;
mod pages;
mod recognised;
mod recorded;

use tensor_layout::{IndexMap, ToIndexMap};
use tensor_layout_text::kv::KvCache;

fn cache(text: &str) -> KvCache {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(text: &str) -> IndexMap {
    cache(text).to_index_map().unwrap_or_else(|error| panic!("{text}: {error}"))
}
