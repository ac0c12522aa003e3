//! `kv:`: the cache of keys and values of an inference engine, by the order of its axes.
//!
//! Every engine stores the same tensor: for each layer (L), block of tokens (B), head (H) and token of a
//! block (N) the content (C), which is K and then V. The engines differ in the *order* of these axes in
//! memory. Some of them also have an axis `2` for K and V, outside the tokens, so that C falls into `2` and
//! the head size D.
//!
//! ```text
//! kv:LBNHC:bf16[L=32,B=512,H=8,N=16,C=256]            vLLM's preferred order
//! kv:BHL2ND:bf16[L=32,B=512,H=8,N=16,D=128]           the universal order of kvbm: the same tensor
//! kv:kvbm.Universal:bf16[L=32,B=512,H=8,N=16,D=128]   the same, by the name of the order
//! ```
//!
//! The logical axes are L,B,H,N,C, those that the order has, whatever the order is: both tensors above have
//! the sizes \[32,512,8,16,256\], so one is copied to the other as it is.
//!
//! # Grammar
//!
//! ```text
//! kv:ORDER:TYPE[SIZE,..]      ORDER is letters, slowest first, or a name of the table orders.txt
//!                             letters L B H N C, or 2 and D in place of C (D alone: K or V, or a latent)
//!                             blocks as in oneDNN's tags: BHND16n2d has 16 tokens by 2 of D in a block
//! L=32                        the size of an axis
//! T=8192                      tokens in place of blocks: the logical axes are L,T,H,C, so that blocks of 16
//!                             and of 64 tokens have equal sizes. T may be less than B times N
//! H=2:4/8                     heads 2 and 3 of 8: a rank's part of a larger cache
//! B=[7,2,3]/512               blocks 7, 2 and 3 of 512: the block table of a sequence
//! L=2@1024                    the distance of L in bytes, where it is not dense; also B
//! 2=1                         one plane and not two
//! page=256                    the bytes of a page, which is what a block holds of a layer
//! kernel=16                   the tokens of a kernel's block, where the manager's block (N) has more
//! ```
//!
//! # How the strides are found
//!
//! The order becomes a list of digits, slowest first. A kernel's block cuts N in two, and memory follows the
//! kernel: `N/n` comes right after B. Strides are the products of what is further inside, and a page that is
//! padded lengthens the innermost of L and B, and nothing inside a page:
//!
//! ```text
//! LBHNC, N=4, kernel=2, C=10     digits   L  B  N/2  H  n  C       strides of H: 2 * 10, not 4 * 10
//! ```
//!
//! Each logical axis then has its digits, in the order of the list, and this is an index map.
//!
//! # Refusals
//!
//! A name refuses what its system refuses: `kv:lmcache.LHBNC` is an order that LMCache does not read. The
//! letters alone refuse only what has no meaning.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod layout;
mod pairs;
mod recognise;

use core::fmt;
use core::str::FromStr;
use std::sync::OnceLock;

use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::{Error, IndexMap, ToIndexMap};

use crate::layout::Part;
use crate::named::{TableRow, nearest, sections};

use layout::{Field, Written, refused};
pub use pairs::pairs;
pub use recognise::{Recognised, recognise};

/// A row of the table of orders, `crates/text/src/kv/orders.txt`.
#[derive(Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Order {
    /// The system and the name.
    pub name: String,
    /// The axes, slowest first, or `- ` and the sentence with which the system refuses the order.
    pub letters: &'static str,
    /// The widths of elements in bits that the system takes, or `any`.
    pub bits: &'static str,
    /// Another name of the order.
    pub other: &'static str,
    /// Each layer begins at a multiple of this number of bytes.
    pub layers: u64,
    /// A description of the system's caches.
    pub about: &'static str,
    /// How the order is known.
    pub known: &'static str,
}

/// Returns the rows of the table.
#[must_use]
pub fn orders() -> &'static [Order] {
    static ORDERS: OnceLock<Vec<Order>> = OnceLock::new();
    ORDERS.get_or_init(|| {
        let row = |([system, about], [known], [name, letters, bits, other, layers, _]): TableRow<1>| {
            let (name, layers) = (format!("{system}.{name}"), str::parse(layers).unwrap_or(1));
            Order { name, letters, bits, other, layers, about, known }
        };
        sections(include_str!("orders.txt"), &["known"]).into_iter().map(row).collect()
    })
}

/// A cache of keys and values: `kv:LBNHC:bf16[L=32,B=512,H=8,N=16,C=256]`.
///
/// The [module](self) has the grammar. A cache whose blocks are chosen by a block table has one part for each
/// run of neighbouring blocks, and no index map of its own unless it is one run.
///
/// ```
/// use tensor_layout::{relayout::Relayout, ToIndexMap};
/// use tensor_layout_text::kv::KvCache;
///
/// // Blocks of 4 tokens become blocks of 8, and K and V become planes.
/// let from: KvCache = "kv:LBNHC:f32[L=2,T=24,H=3,N=4,C=10]".parse()?;
/// let to: KvCache = "kv:L2BHND:f32[L=2,T=24,H=3,N=8,D=5]".parse()?;
/// assert_eq!((from.axes(), from.to_index_map()?.sizes()), ("LTHC", &[2, 24, 3, 10][..]));
/// let copy = Relayout::new(&from, &to)?;
/// assert_eq!((copy.source_size_in_bytes(), copy.destination_size_in_bytes()), (5760, 5760));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KvCache {
    text: String,
    order: String,
    axes: String,
    parts: Vec<Part>,
}

impl KvCache {
    /// The letters of the order, the slowest first, whether the text has them or a name: `HL2ND`.
    #[must_use]
    pub fn order(&self) -> &str {
        &self.order
    }

    /// The letters of the logical axes: `LBHNC`, or `LTHC` where tokens are counted in place of blocks.
    #[must_use]
    pub fn axes(&self) -> &str {
        &self.axes
    }

    /// The parts of the cache, in the order of the indices: one, unless the cache has a block table.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl FromStr for KvCache {
    type Err = Error;

    fn from_str(text: &str) -> Result<KvCache, Error> {
        let mut cursor = Cursor::new(text);
        cursor.expect("kv", "`kv:`")?;
        cursor.expect(":", "`:` and an order such as LBNHC")?;
        let start = cursor.position();
        cursor.word();
        if cursor.eat(".") {
            cursor.word();
        }
        let end = cursor.position();
        let name = text.get(start..end).unwrap_or("").trim();
        let row = row_of(name);
        if row.is_none() && !is_order(name) {
            let nearest = nearest(name, orders().iter().map(|row| (&*row.name, &*row.name)));
            let expected = format!("an order such as LBNHC or L2BNHD, or the name of one: the nearest is {nearest}");
            return Err(cursor.error_at(start, &expected));
        }
        let name = row.map_or(name, |row| row.name.as_str());
        if let Some(sentence) = row.and_then(|row| row.letters.strip_prefix("- ")) {
            return Err(refused(sentence));
        }
        cursor.expect(":", "`:` and the type of an element")?;
        let at = cursor.position();
        let data_type = DataType::from_name_in(Naming::Xla, cursor.word())
            .ok_or_else(|| cursor.error_at(at, "the type of an element, such as bf16"))?;
        if let Some(row) = row.filter(|row| row.bits != "any")
            && !row.bits.split(' ').any(|bits| bits.parse() == Ok(data_type.bits()))
        {
            let bits = row.bits.replace(' ', " or ");
            return Err(refused(format!(
                "{name} takes elements of {bits} bits, and {data_type} has {}",
                data_type.bits()
            )));
        }
        cursor.expect("[", "`[` and the sizes, such as L=32")?;
        let fields = cursor.list("]", Field::read)?;
        cursor.end("nothing more")?;
        let mut letters = row.map_or(name, |row| row.letters).to_owned();
        for axis in ["B", "L"] {
            // The axes that a named order is without are outside it: the blocks, and the layers of a list.
            let is_given = fields.iter().any(|field| field.name == axis || axis == "B" && field.name == "T");
            if row.is_some() && !letters.contains(axis) && is_given {
                letters.insert_str(0, axis);
            }
        }
        for (place, field) in fields.iter().enumerate() {
            let is_axis = letters.contains(field.name) || ["T", "page", "kernel"].contains(&field.name);
            if !is_axis || fields.iter().take(place).any(|other| other.name == field.name) {
                return Err(cursor.error_at(field.column, &format!("one size for each axis of {letters}")));
            }
        }
        let layers = row.map_or(1, |row| row.layers);
        let (text, axes, parts) = Written { data_type, name, letters: &letters, layers, fields }.cache()?;
        Ok(KvCache { text, order: letters, axes, parts })
    }
}

/// Whether a text can be an order. Such a text is an order even if a system has this name: `LBHNC`, `NHD`.
fn is_order(text: &str) -> bool {
    text.bytes().all(|byte| b"LBHN2CDhnd0123456789".contains(&byte))
}

fn row_of(name: &str) -> Option<&'static Order> {
    let short = |row: &Order| row.name.split_once('.').is_some_and(|(_, short)| short == name) || row.other == name;
    let exact = orders().iter().find(|row| row.name == name);
    exact.or_else(|| orders().iter().find(|row| !is_order(name) && short(row)))
}

impl fmt::Display for KvCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ToIndexMap for KvCache {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        match self.parts.as_slice() {
            [part] => Ok(part.map.clone()),
            parts => Err(refused(format!("its blocks lie in {} places, each with a map of its own", parts.len()))),
        }
    }
}
