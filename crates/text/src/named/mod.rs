//! Layouts for which devices and libraries have names, in one exact table.
//!
//! A name, a type and logical sizes determine a layout: `tensorrt.kCHW32:s8[2,33,3,2]`. [`NamedLayout`] reads
//! such a text, and [`Notated`](crate::Notated) reads it among other notations. [`known_as`]
//! returns the names of a layout. [`rows`] returns the table itself, which is the file
//! `crates/text/src/named/layouts.txt`.
//!
//! The rules come from the sources that each row names. Most were compared with the libraries themselves, run or
//! compiled, and tests read what the libraries answered: docs/DEVICE_LAYOUTS.md says for each name how its rule
//! is known.
//!
//! ```
//! use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc, DataType};
//! use tensor_layout_text::named::NamedLayout;
//!
//! // Block scales of 200 rows: the padding up to 256 x 12 must be zero.
//! let scales = BufferTensorDesc::packed(DataType::F8E4M3FN, &[200, 10])?;
//! let swizzled: NamedLayout = "nvidia.sf_128x4:f8e4m3fn[200,10]".parse()?;
//! let copy = Relayout::new(&scales, &swizzled)?.with_padding(Padding::Zero)?;
//! let mut buffer = vec![0xff; 3072];
//! copy.run(&[1; 2000], &mut buffer)?;
//! assert_eq!(buffer.iter().filter(|&&byte| byte == 0).count(), 1072);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod layout;
mod rule;
mod table;

pub use layout::{KnownAs, NamedLayout, full_name, known_as};
pub use rule::LayoutPart;
pub use table::{Row, rows};
