//! Texts that no strides or tiles describe, by their beginnings.

use tensor_layout::Error;

/// The beginnings of texts that no strides or tiles describe, and the reason.
const NO_LAYOUT: [(&str, &str); 22] = [
    ("Swizzle<", SWIZZLE),
    ("#blocked", TRITON),
    ("#linear", TRITON),
    ("#mma", TRITON),
    ("#ttg.blocked", TRITON),
    ("#ttg.linear", TRITON),
    ("#ttg.slice", TRITON),
    ("#ttg.dot_op", TRITON),
    ("#ttg.nvidia_mma", TRITON),
    ("#ttg.amd_mfma", TRITON),
    ("#ttg.amd_wmma", TRITON),
    ("#ttg.partitioned_shared", "Triton divides the tensor among several allocations of shared memory"),
    ("#ttng.tensor_memory", "tensor memory has rows and columns, not offsets"),
    ("#shared", "an alias: write the encoding that the module gives it, such as #ttg.swizzled_shared<{..}>"),
    ("BlockedLayout(", TRITON),
    ("shape: [", UNIT),
    ("shape: (", UNIT),
    ("Tensor[", UNKNOWN),
    ("Tensor(shape=", UNKNOWN),
    ("FakeTensor(", UNKNOWN),
    ("tensor(...", UNKNOWN),
    ("affine_map<", "an affine map may be any function: write its strides, `strided<[..]>`"),
];
const UNKNOWN: &str = "a print without strides: write f32[2,3] if they are packed, or f32[2,3]:[3,1]";
const SWIZZLE: &str =
    "C++'s type of a swizzle: write `S<..>e` for bits of the element, or `S<..>b` for bits of the byte";
const UNIT: &str =
    "strides may count elements, f32[2,3]:[3,1], or bytes, ndarray(shape=(2,3), dtype=float32, strides=(12,4))";
const TRITON: &str = "Triton's encoding divides a tensor among the registers of threads, and says nothing about memory";

/// Returns an encoding without the alias that the text defines: `#shared = #ttg.swizzled_shared<{..}>`.
pub(super) fn without_alias(text: &str) -> &str {
    let definition = text.split_once(" = ").filter(|(alias, _)| alias.starts_with('#') && !alias.contains('<'));
    definition.map_or(text, |(_, encoding)| encoding)
}

pub(super) fn refuse_without_layout(text: &str) -> Result<(), Error> {
    let text = without_alias(text);
    let Some((beginning, reason)) = NO_LAYOUT.iter().find(|(beginning, _)| text.starts_with(beginning)) else {
        return Ok(());
    };
    let name = text.split_inclusive('>').next().filter(|_| *reason == SWIZZLE).unwrap_or(beginning);
    let name = name.trim_end_matches('(');
    Err(Error::not_expressible("list of strides or tiles", format!("`{name}`: {reason}")))
}
