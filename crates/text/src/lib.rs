#![doc = include_str!("../README.md")]
//!
//! | module | contents |
//! |---|---|
//! | the root | one reader and one writer for every notation ([`Layout`], [`all_notations`], [`to_notation`]); strides and views as XLA's tiles ([`to_xla`], [`to_xla_exact`], [`view_to_xla`]) |
//! | [`layout`] | a layout as one value, whatever its text is ([`Layout`]) |
//! | [`named`] | device layouts by their names |
//! | [`rule`] | layouts without a type and sizes, as `--to` takes them ([`rule::Rule`]) |
//! | [`kv`] | caches of keys and values of inference engines, by the order of their axes |
//! | [`draw`] | pictures of a layout |
//!
//! # Notations
//!
//! | notation | example | sizes are in | an element of a sub-byte type takes |
//! |---|---|---|---|
//! | XLA | `f32[3,5]{1,0:T(2,2)}` | its own order | a whole byte, or what `E(n)` says |
//! | strides | `f32[2,3]:[5,1]`, `f32[2,3]:[5,1]+10` (base offset) | logical order | its own bits |
//! | axis order | `f16[8,64,56,56]:NHWC` | logical order (N, C, H, W) | its own bits |
//! | oneDNN tag | `f32[2,35,9,9]:nChw16c` | the order of the tag's alphabet | its own bits |
//! | CuTe | `f32((8,2),128):((1,1024),8)` | its own order | its own bits |
//! | NumPy, PyTorch | `ndarray(shape=(2,3), dtype=float32, strides=(20,4), offset=40)` | logical order | a whole byte |
//! | DirectML | `{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1],"TotalTensorSizeInBytes":32}` | logical order | its own bits |
//! | KV cache | `kv:LBNHC:bf16[L=32,B=512,H=8,N=16,C=256]` | the order L,B,H,N,C | its own bits |
//! | PyTorch, JAX, MLIR, ndarray, candle, ggml, TVM | as they print it: `memref<4x6xf32, strided<[10, 1], offset: 3>>`; docs/NOTATIONS.md has all | its own order, ggml's innermost first | its own bits |
//! | values and scales | `f4e2m1fn[128,320] with f8e8m0fnu per 32` ([`Layout`]) | logical order | its own bits |
//! | name | `tensorrt.kCHW32:s8[2,33,3,2]`, `ggml.q8_0x4.qs<8>:s8[8,96]` | the order of the name's axes | its own bits |

pub mod draw;
pub mod kv;
pub mod layout;
pub mod named;
mod notation;
mod numbers;
mod part;
pub mod rule;
mod spell;
mod swizzle;
mod words;

pub use layout::Layout;
pub use notation::{
    Line, Notation, ViewStep, all_notations, array_of_onednn_tag, axis_orders, lacks_type, numpy_dtype, offset_steps,
    onednn_size_in_bytes, to_notation, to_text,
};
pub use numbers::read_list;
pub use spell::{Raised, to_xla, to_xla_exact, view_to_xla};
pub use words::words_as;
