//! Texts that no strides or tiles describe, by their beginnings.

use tensor_layout::Error;

/// The beginnings of texts that no strides or tiles describe, and the reason.
const NO_LAYOUT: [(&str, &str); 15] = [
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
    ("affine_map<", "an affine map may be any function: write its strides, `strided<[..]>`"),
];
const SWIZZLE: &str = "a swizzle combines bits of the offset by XOR, which strides and tiles cannot";
const TRITON: &str = "Triton's encoding divides a tensor among the registers of threads, and says nothing about memory";

pub(super) fn refuse_without_layout(text: &str) -> Result<(), Error> {
    let Some((beginning, reason)) = NO_LAYOUT.iter().find(|(beginning, _)| text.starts_with(beginning)) else {
        return Ok(());
    };
    let name = text.split_inclusive('>').next().filter(|_| *reason == SWIZZLE).unwrap_or(beginning);
    Err(Error::not_expressible("list of strides or tiles", format!("`{name}`: {reason}")))
}
