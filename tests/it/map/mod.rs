//! `IndexMap`, and layouts in it.

mod base;
mod equality;
mod golden_layouts;
mod limits;
mod lowering;
mod parts;
mod properties;
mod views;
