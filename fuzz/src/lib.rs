//! What the targets share: layouts made from bytes, the literal meaning of a layout, the literal copy, and
//! texts that read back.
//!
//! A target is a function of bytes. A layout takes the same number of bytes whatever it is, each byte one
//! choice, so that a change of one byte is a small change of a layout.

pub mod copies;
pub mod layouts;
pub mod offsets;
pub mod places;
pub mod texts;
