//! `IndexMap`, and layouts as index maps.

mod digits;
mod equality;
mod fingerprints;
mod golden_layouts;
mod limits;
mod lowering;
mod properties;
mod swizzles;
mod views;
mod with_base;
