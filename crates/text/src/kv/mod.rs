//! `kv:`: the cache of keys and values of an inference engine, by the order of its axes.
//!
//! Every engine stores the same tensor: for each layer (L), block of tokens (B), head (H) and token of a
//! block (N) the content (C), which in most of them is K and then V. The engines differ in the *order* of
//! these axes in memory. Some of them also have an axis `2` for K and V, outside the tokens, so that C falls
//! into `2` and the head size D.
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
//!                             blocks as in oneDNN's tags: BHND16n2d has 16 tokens by 2 of D in a block, and
//!                             BHL2N4hD has groups of 4 heads around the layers
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
//! Each logical axis then has its digits, in the order of the list, and this is an index map. Those of T are
//! the digits of B and then those of N, because a token counts the blocks before it.
//!
//! # Refusals
//!
//! A name refuses what its system refuses: `kv:lmcache.LHBNC` is an order that LMCache does not read. The
//! letters alone refuse only what has no meaning.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

#[cfg(feature = "relayout")]
mod copies;
mod layout;
mod page;
mod placed;
mod recognise;

use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use std::sync::OnceLock;

use tensor_layout::checked::{self, ELEMENTS};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::strided::Slice;
use tensor_layout::{Error, IndexMap, ToIndexMap};

use crate::named::{TableRow, nearest, sections};
use crate::part::Part;

#[cfg(feature = "relayout")]
pub(crate) use copies::block_copies;
use layout::{Field, Written, refused};
pub use page::{PageField, Pages};
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
    /// Other names of the order, separated by commas.
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
///
/// Caches are built in code too: a request has a block table, and a rank has some of the heads.
///
/// ```
/// use tensor_layout::DataType;
/// use tensor_layout_text::kv::KvCache;
///
/// let cache = KvCache::new("LBNHC", DataType::BF16, &[("L", 2), ("H", 8), ("N", 16), ("C", 256)])?;
/// let request = cache.with_blocks(&[7, 2, 3], 512)?.tokens(40)?.heads(2..4)?;
/// assert_eq!(request.to_string(), "kv:LBNHC:bf16[L=2,B=[7,2,3]/512,T=40,H=2:4/8,N=16,C=256]");
/// assert_eq!((request.parts().len(), request.sizes()), (2, vec![2, 40, 2, 256]));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KvCache {
    written: Written,
    axes: String,
    /// The map of all blocks and all heads in memory. The cache may have only some of them.
    whole: IndexMap,
    /// The indices of `whole` that belong to the cache, a slice for each axis. A block table selects further.
    ranges: Vec<Slice>,
    is_whole: bool,
    /// The number of the axis of blocks or tokens. `None` if the order has neither.
    place: Option<usize>,
    /// The distance from one block to the next in memory, in elements.
    block: u64,
    tokens_of_block: u64,
}

impl KvCache {
    /// Returns the cache with an order and sizes, in the words of the text: `("L", 32)`, `("page", 256)`.
    /// Without `B` the cache has no blocks, until [`with_blocks`](Self::with_blocks) names them. The name
    /// of an order inside a block, such as `kvbm.Universal`, takes `("B", 0)` for a cache of several.
    ///
    /// # Errors
    ///
    /// The errors of the text, without a column.
    pub fn new(order: &str, data_type: DataType, sizes: &[(&str, u64)]) -> Result<KvCache, Error> {
        let fields = sizes.iter().map(|&(name, size)| Field::new(name, size)).collect::<Result<Vec<_>, _>>()?;
        let order = NamedOrder::find(order)
            .ok_or_else(|| refused(format!("`{order}` is no order: {}", nearest_order(order))))?;
        let mut written = order.written(data_type, fields)?;
        for (place, field) in written.fields.iter().enumerate() {
            if !written.has(field.name) || written.fields.iter().take(place).any(|other| other.name == field.name) {
                return Err(refused(format!(
                    "it takes one size for each axis of {}, and {} is none",
                    written.letters, field.name
                )));
            }
        }
        if written.letters.contains('B') && written.field("B").is_none() && written.field("T").is_none() {
            written.fields.push(Field::new("B", 0)?);
        }
        written.cache()
    }

    /// Returns the cache of these blocks, in the order of the sequence, out of `total` blocks in memory.
    ///
    /// # Errors
    ///
    /// `not_expressible` for an empty table, and for an order without blocks; `index_out_of_range` or
    /// `slice_out_of_range` for a block that is not below `total`; `overflow`.
    pub fn with_blocks(self, table: &[u64], total: u64) -> Result<KvCache, Error> {
        if table.is_empty() {
            return Err(refused("its block table is empty"));
        }
        let field = Field { table: table.to_vec(), ..self.written.or_new("B", total)? };
        self.written.with(Field { size: total, part: None, ..field })
    }

    /// Returns the first `tokens` tokens of the cache. The logical axes then have T in place of B and N.
    ///
    /// # Errors
    ///
    /// `not_expressible` for more tokens than the blocks have, and for an order without blocks.
    pub fn tokens(self, tokens: u64) -> Result<KvCache, Error> {
        if !self.written.has("B") || !self.written.has("N") {
            return Err(refused(format!("`{}` needs B and N for tokens", self.order())));
        }
        self.written.with(Field::new("T", tokens)?)
    }

    /// Returns the part of a rank that has these heads, out of all heads of the cache.
    ///
    /// # Errors
    ///
    /// `not_expressible` for an order without heads, and the errors of [`IndexMap::slice`] for a range
    /// outside the heads.
    pub fn heads(self, heads: Range<u64>) -> Result<KvCache, Error> {
        let field =
            self.written.field("H").cloned().ok_or_else(|| refused(format!("`{}` has no heads", self.order())))?;
        self.written.with(Field { part: Some((heads.start, heads.end)), ..field })
    }

    /// The letters of the order, the slowest first, whether the text has them or a name: `HL2ND`.
    #[must_use]
    pub fn order(&self) -> &str {
        &self.written.letters
    }

    /// The bytes from one page to the next, and the bytes that a page stores: what a block holds of a layer.
    /// The pool is padded where the two differ. `None` where no page lies in one piece, as in BHLNC.
    ///
    /// ```
    /// let cache: tensor_layout_text::kv::KvCache = "kv:BNHC:u8[B=4,H=1,N=64,C=584,page=37440]".parse()?;
    /// assert_eq!(cache.page_bytes(), Some((37_440, 37_376)));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn page_bytes(&self) -> Option<(u64, u64)> {
        self.written.page_bytes()
    }

    /// The tokens of a block of the engine's memory manager, which a block table counts, and the tokens of a
    /// block of its kernels, which memory follows. They are the same number unless the text says
    /// `kernel=`. `None` for an order without blocks.
    #[must_use]
    pub fn block_tokens(&self) -> Option<(u64, u64)> {
        let tokens = self.written.size("N").filter(|_| self.written.has("B"))?;
        Some((tokens, self.written.size("kernel").unwrap_or(tokens)))
    }

    /// The letters of the logical axes: `LBHNC`, or `LTHC` where tokens are counted in place of blocks.
    #[must_use]
    pub fn axes(&self) -> &str {
        &self.axes
    }

    /// The sizes of the logical axes.
    #[must_use]
    pub fn sizes(&self) -> Vec<u64> {
        let length = |(slice, &size): (&Slice, &u64)| slice.end.unwrap_or(size).saturating_sub(slice.start);
        let mut sizes: Vec<u64> = self.ranges.iter().zip(self.whole.sizes()).map(length).collect();
        let (table, tokens) = (self.table(), self.written.size("T"));
        if let (Some(size), false) = (self.place.and_then(|place| sizes.get_mut(place)), table.is_empty()) {
            *size = tokens.unwrap_or_else(|| checked::len_u64(table.len()));
        }
        sizes
    }

    /// The parts of the cache, in the order of the indices: one, unless the cache has a block table.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::with_capacity(self.table().len().max(1));
        let mut last = None;
        for run in self.runs() {
            let moved = last.zip(parts.last()).zip(run).and_then(|((last, part), run)| self.moved(last, part, run));
            // The cache was checked when it was made.
            parts.extend(moved.or_else(|| self.part(run).ok()));
            last = run;
        }
        parts
    }

    fn table(&self) -> &[u64] {
        self.written.field("B").map(|field| field.table.as_slice()).unwrap_or_default()
    }

    /// The runs of neighbouring blocks, each with its first index and the numbers of its blocks. Without a
    /// block table the only item is `None`, which stands for the whole cache.
    fn runs(&self) -> impl Iterator<Item = Option<(u64, &[u64])>> + '_ {
        let table = self.table();
        let runs = runs_of(table, self.tokens_of_block).map(Some);
        let end = self.written.size("T").unwrap_or(u64::MAX);
        core::iter::once(None)
            .filter(move |_| table.is_empty())
            .chain(runs.take_while(move |run| run.is_none_or(|(start, _)| start < end || start == 0)))
    }

    fn part(&self, run: Option<(u64, &[u64])>) -> Result<Part, Error> {
        let (mut slices, mut ranges) = (vec![Slice::ALL; self.axes.len()], self.ranges.clone());
        let Some((start, run)) = run else {
            let map = self.whole.slice(&ranges)?;
            // A cache of all indices also owns the places after the last token of its last block.
            let map = if self.is_whole { map.with_gap_owner(self.whole.gap_owner()) } else { map };
            return Ok(Part { indices: slices, map, flip: 0 });
        };
        let first = checked::mul(run.first().copied().unwrap_or(0), self.tokens_of_block, ELEMENTS)?;
        let count = checked::mul(checked::len_u64(run.len()), self.tokens_of_block, ELEMENTS)?;
        let end = self.written.size("T").unwrap_or(u64::MAX);
        let next = checked::add(start, count, ELEMENTS)?.min(end);
        let last = checked::add(first, next.saturating_sub(start), ELEMENTS)?;
        let place = self.place.unwrap_or(0);
        if let (Some(slice), Some(range)) = (slices.get_mut(place), ranges.get_mut(place)) {
            (*slice, *range) = ((start..next).into(), (first..last).into());
        }
        Ok(Part { indices: slices, map: self.whole.slice(&ranges)?, flip: 0 })
    }

    /// Refuses a table that names blocks, or counts tokens, that do not exist. All runs of blocks have one
    /// form except the last, so the first and the last are made to find other errors.
    fn check(&self) -> Result<(), Error> {
        let (table, total) = (self.table(), self.written.size("B").unwrap_or(0));
        let is_wrong = |run: &[u64]| run.last().is_some_and(|&last| last >= total);
        let mut last = None;
        for (number, run) in self.runs().enumerate() {
            if number == 0 || run.is_some_and(|(_, run)| is_wrong(run)) {
                self.part(run)?;
            }
            last = Some(run);
        }
        last.map_or(Ok(()), |run| self.part(run).map(drop))?;
        let tokens = checked::mul(checked::len_u64(table.len()), self.tokens_of_block, ELEMENTS)?;
        match self.written.size("T").filter(|&all| !table.is_empty() && all > tokens) {
            Some(all) => Err(refused(format!("the blocks of the table have {tokens} tokens, and T is {all}"))),
            None => Ok(()),
        }
    }
}

/// The runs of neighbouring blocks of a table, each with its first index, where a block has some tokens.
fn runs_of(table: &[u64], tokens_of_block: u64) -> impl Iterator<Item = (u64, &[u64])> {
    let mut done = 0_u64;
    table.chunk_by(|&block, &next| block.checked_add(1) == Some(next)).map(move |run| {
        let start = done;
        done = done.saturating_add(checked::len_u64(run.len()).saturating_mul(tokens_of_block));
        (start, run)
    })
}

/// An order: its letters, or the row of the table that has its name.
struct NamedOrder<'t> {
    name: &'t str,
    row: Option<&'static Order>,
}

impl<'t> NamedOrder<'t> {
    fn find(name: &'t str) -> Option<NamedOrder<'t>> {
        let row = row_of(name);
        (row.is_some() || is_order(name)).then(|| NamedOrder { name: row.map_or(name, |row| row.name.as_str()), row })
    }

    fn check(&self, data_type: DataType) -> Result<(), Error> {
        if let Some(row) = self.row.filter(|row| row.bits != "any")
            && !row.bits.split(' ').any(|bits| bits.parse() == Ok(data_type.bits()))
        {
            let (name, bits) = (self.name, row.bits.replace(' ', " or "));
            return Err(refused(format!(
                "{name} takes elements of {bits} bits, and {data_type} has {}",
                data_type.bits()
            )));
        }
        Ok(())
    }

    /// Returns the fields of a cache of this order. A named order may lack the axis of blocks, or of layers
    /// that a list holds. Such an axis is put outside all others.
    fn written(&self, data_type: DataType, fields: Vec<Field>) -> Result<Written, Error> {
        if let Some(sentence) = self.row.and_then(|row| row.letters.strip_prefix("- ")) {
            return Err(refused(sentence));
        }
        self.check(data_type)?;
        let mut letters = self.row.map_or(self.name, |row| row.letters).to_owned();
        for axis in ["B", "L"] {
            let is_given = fields.iter().any(|field| field.name == axis || axis == "B" && field.name == "T");
            if self.row.is_some() && !letters.contains(axis) && is_given {
                letters.insert_str(0, axis);
            }
        }
        let layers = self.row.map_or(1, |row| row.layers);
        Ok(Written { data_type, name: self.name.to_owned(), letters, layers, fields })
    }
}

impl Written {
    fn has(&self, name: &str) -> bool {
        self.letters.contains(name) || ["T", "page", "kernel"].contains(&name)
    }

    /// Returns the field of this name, or a new one if the order has its axis.
    fn or_new(&self, name: &str, size: u64) -> Result<Field, Error> {
        match self.field(name) {
            Some(field) => Ok(field.clone()),
            None if self.has(name) => Field::new(name, size),
            None => Err(refused(format!("`{}` has no axis {name}", self.letters))),
        }
    }
}

fn nearest_order(name: &str) -> String {
    let nearest = nearest(": ", name, orders().iter().map(|row| (&*row.name, &*row.name)));
    format!("an order such as LBNHC or L2BNHD, or the name of one{nearest}")
}

impl FromStr for KvCache {
    type Err = Error;

    fn from_str(text: &str) -> Result<KvCache, Error> {
        let mut cursor = Cursor::new(text);
        let cache = KvCache::read(&mut cursor)?;
        cursor.end("nothing more")?;
        Ok(cache)
    }
}

impl KvCache {
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<KvCache, Error> {
        cursor.expect("kv", "`kv:`")?;
        cursor.expect(":", "`:` and an order such as LBNHC")?;
        let start = cursor.position();
        cursor.word();
        if cursor.eat(".") {
            cursor.word();
        }
        let end = cursor.position();
        let name = cursor.text().get(start..end).unwrap_or("").trim();
        let order = NamedOrder::find(name).ok_or_else(|| cursor.error_at(start, &nearest_order(name)))?;
        if let Some(sentence) = order.row.and_then(|row| row.letters.strip_prefix("- ")) {
            return Err(refused(sentence));
        }
        cursor.expect(":", "`:` and the type of an element")?;
        let at = cursor.position();
        let data_type = DataType::from_name_in(Naming::Xla, cursor.word())
            .ok_or_else(|| cursor.error_at(at, "the type of an element, such as bf16"))?;
        order.check(data_type)?;
        cursor.expect("[", "`[` and the sizes, such as L=32")?;
        let read = cursor.list("]", Field::read)?;
        let (columns, fields): (Vec<usize>, Vec<Field>) = read.into_iter().unzip();
        let written = order.written(data_type, fields)?;
        for (place, (field, column)) in written.fields.iter().zip(columns).enumerate() {
            if !written.has(field.name) || written.fields.iter().take(place).any(|other| other.name == field.name) {
                return Err(cursor.error_at(column, &format!("one size for each axis of {}", written.letters)));
            }
        }
        written.cache()
    }
}

/// Whether a text can be an order, such as `LBHNC` or `NHD`. Such a text is read as an order even if a system
/// also uses it as a name.
fn is_order(text: &str) -> bool {
    text.bytes().all(|byte| b"LBHN2CDhnd0123456789".contains(&byte))
}

fn row_of(name: &str) -> Option<&'static Order> {
    let (system, short) = name.split_once('.').unwrap_or(("", name));
    let is_short = |row: &&Order| {
        let (own, row_short) = row.name.split_once('.').unwrap_or(("", &row.name));
        (system.is_empty() || own == system)
            && (row_short == short || row.other.split(", ").any(|other| other == short))
    };
    let exact = orders().iter().find(|row| row.name == name);
    exact.or_else(|| orders().iter().find(|row| !is_order(name) && is_short(row)))
}

impl fmt::Display for KvCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written.fmt(f)
    }
}

impl ToIndexMap for KvCache {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        let mut runs = self.runs();
        match (runs.next(), runs.count()) {
            (Some(run), 0) => self.part(run).map(|part| part.map),
            (_, others) => {
                let count = others.saturating_add(1);
                Err(refused(format!("its blocks lie in {count} places, each with a map of its own")))
            }
        }
    }
}
