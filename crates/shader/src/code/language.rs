//! The languages that shader code is printed in.

use std::fmt;

/// How a shader is printed: the language, and a suffix for names that must be unique in a module. Shaders
/// that share a module have different suffixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style<'a> {
    pub(crate) language: Language,
    pub(crate) suffix: &'a str,
}

/// A language that shader code is printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Wgsl,
    Cuda,
}

impl Style<'_> {
    /// The style of a WGSL module with one shader.
    pub(crate) const WGSL: Style<'static> = Style { language: Language::Wgsl, suffix: "" };
}

/// A part of a shader that is printed in a language.
pub(crate) struct In<'a, T>(pub(crate) Style<'a>, pub(crate) &'a T);

impl Language {
    /// Returns the beginning of a declaration, up to the name. A name that is `fixed` is never assigned
    /// again.
    pub(super) fn declaration(self, name: &str, fixed: bool) -> String {
        match (self, fixed) {
            (Language::Wgsl, true) => format!("let {name}"),
            (Language::Wgsl, false) => format!("var {name}"),
            (Language::Cuda, true) => format!("const unsigned {name}"),
            (Language::Cuda, false) => format!("unsigned {name}"),
        }
    }

    pub(crate) fn declare(self, name: &str, value: &str) -> String {
        format!("{} = {value};", self.declaration(name, true))
    }

    /// Returns the type of a group of this many words. One access reads or writes a group.
    pub(super) fn group(self, words: u32) -> &'static str {
        match (self, words) {
            (Language::Wgsl, 1) => "u32",
            (Language::Wgsl, 2) => "vec2<u32>",
            (Language::Wgsl, _) => "vec4<u32>",
            (Language::Cuda, 1) => "unsigned",
            (Language::Cuda, 2) => "uint2",
            (Language::Cuda, _) => "uint4",
        }
    }

    pub(super) fn make_group(self, words: u32) -> &'static str {
        match (self, words) {
            (Language::Wgsl, words) => Language::Wgsl.group(words),
            (Language::Cuda, 2) => "make_uint2",
            (Language::Cuda, _) => "make_uint4",
        }
    }

    pub(super) fn barrier(self) -> &'static str {
        match self {
            Language::Wgsl => "workgroupBarrier()",
            Language::Cuda => "__syncthreads()",
        }
    }

    /// Returns the name of the function for the upper 32 bits of a product.
    pub(super) fn high_product(self) -> &'static str {
        match self {
            Language::Wgsl => HIGH_PRODUCT,
            Language::Cuda => "__umulhi",
        }
    }

    pub(super) fn local_index(self) -> &'static str {
        match self {
            Language::Wgsl => "local_index",
            Language::Cuda => "threadIdx.x",
        }
    }

    pub(super) fn workgroup_id(self) -> &'static str {
        match self {
            Language::Wgsl => "workgroup_id",
            Language::Cuda => "blockIdx",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Language::Wgsl { "WGSL" } else { "CUDA" })
    }
}

/// The function of WGSL that [`HIGH_PRODUCT_TEXT`] defines.
pub(super) const HIGH_PRODUCT: &str = "high_product";

/// The definition of `high_product`. WGSL has no such function, so the result is added from four products of
/// 16-bit halves.
pub(crate) const HIGH_PRODUCT_TEXT: &str = "\
// The upper 32 bits of a * b.
fn high_product(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let left = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let right = (a & 0xffffu) * (b >> 16u) + (left & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u);
}
";
