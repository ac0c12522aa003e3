//! The copies between two caches with block tables: one plan for all blocks of one form.
//!
//! A block of a cache is stored like any other, so the copies of two blocks differ in their first bytes
//! alone. Each index is in a block on either side, and the indices up to the end of the nearer one are copied
//! at once. How many these are, and where in both blocks they begin, is the form of the copy:
//!
//! ```text
//! source, blocks of 4       |7  . . .|2  . . .|3  . . .|
//! destination, blocks of 6  |0  . . . . .|4  . . . . .|
//! forms                      a        b   c   a            (4, 0, 0)  (2, 0, 4)  (2, 2, 0)
//! ```

use tensor_layout::checked::{self, BYTES};
use tensor_layout::plan::Code;
use tensor_layout::relayout::Relayout;
use tensor_layout::strided::{GapOwner, Slice};
use tensor_layout::{Error, IndexMap};

use super::KvCache;
use super::layout::refused;

/// The most blocks of a list of copies.
const MOST: u64 = 1 << 22;

/// A copy that is repeated for blocks, as [`copies`] returns it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BlockCopy {
    /// The copy of a block, in the first block of both caches.
    pub plan: Relayout,
    /// For each repetition, the bytes that are added to the offsets of the source and of the destination.
    pub places: Vec<(u64, u64)>,
}

impl BlockCopy {
    /// Copies every block.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::run`], such as `buffer_too_short`.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        for place in &self.places {
            let [from, to] = [place.0, place.1].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            let source = source.get(from..).unwrap_or_default();
            self.plan.run(source, destination.get_mut(to..).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// Returns the copies of one cache to another: one for each form of blocks, with the places of all of them.
/// `tensor_layout_transfers::Transfers::repeated` lists one as transfers.
///
/// # Errors
///
/// `not_expressible` for other axes and for blocks that are no whole bytes apart, `size_mismatch` for other
/// sizes, `overlapping_destination` if a block of `to` is there twice, and the errors of [`Relayout::new`].
///
/// ```
/// use tensor_layout::DataType;
/// use tensor_layout_text::kv::{KvCache, copies};
///
/// // The 7 tokens of a sequence in blocks 3, 0 and 1 of 3 tokens, to blocks 1 and 0 of 4.
/// let small = KvCache::new("BNHC", DataType::U8, &[("H", 1), ("N", 3), ("C", 2)])?;
/// let large = KvCache::new("BNHC", DataType::U8, &[("H", 1), ("N", 4), ("C", 2)])?;
/// let (from, to) = (small.with_blocks(&[3, 0, 1], 4)?.tokens(7)?, large.with_blocks(&[1, 0], 2)?.tokens(7)?);
/// let (memory, mut other) = ((0..24).collect::<Vec<u8>>(), [0; 16]);
/// for copy in copies(&from, &to)? {
///     copy.run(&memory, &mut other)?;
/// }
/// assert_eq!(other, [2, 3, 4, 5, 6, 7, 0, 0, 18, 19, 20, 21, 22, 23, 0, 1]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn copies(from: &KvCache, to: &KvCache) -> Result<Vec<BlockCopy>, Error> {
    if from.axes() != to.axes() {
        let (from, to) = (from.axes(), to.axes());
        return Err(refused(format!("one side has the axes {from} and the other {to}")));
    }
    let (sizes, expected) = (from.sizes(), to.sizes());
    let mut pairs = sizes.iter().zip(&expected).enumerate();
    if let Some((axis, (&size, &expected))) = pairs.find(|(_, (size, expected))| size != expected) {
        return Err(Code::SizeMismatch.on_axis(axis, size, expected));
    }
    to.refuse_repeated()?;
    let length = from.place.and_then(|place| sizes.get(place)).copied();
    let (Some(length), true) = (length, !from.table().is_empty() || !to.table().is_empty()) else {
        let [from, to] = [from, to].map(|cache| cache.part(None).map(|part| part.map));
        return Ok(vec![BlockCopy { plan: Relayout::new(&from?, &to?)?, places: vec![(0, 0)] }]);
    };
    let block_bytes = [from.block_bytes()?, to.block_bytes()?];
    let blocks = [from, to].map(|cache| length.div_ceil(cache.tokens_of_block.max(1)));
    if blocks[0].saturating_add(blocks[1]) > MOST {
        return Err(refused(format!("its blocks may come to more than {MOST} copies")));
    }
    let mut found: Vec<([u64; 3], BlockCopy)> = Vec::new();
    let mut at = 0;
    while at < length {
        let [(block, inside), (other, others)] = [from, to].map(|cache| cache.block_of(at));
        let left = |cache: &KvCache, inside: u64| cache.tokens_of_block.saturating_sub(inside).max(1);
        let run = left(from, inside).min(left(to, others)).min(length.saturating_sub(at));
        let place = (checked::mul(block, block_bytes[0], BYTES)?, checked::mul(other, block_bytes[1], BYTES)?);
        let form = [run, inside, others];
        match found.iter_mut().find(|(other, _)| *other == form) {
            Some((_, copy)) => copy.places.push(place),
            None => {
                let (source, destination) = (from.first_block(inside, run)?, to.first_block(others, run)?);
                found.push((form, BlockCopy { plan: Relayout::new(&source, &destination)?, places: vec![place] }));
            }
        }
        at = at.saturating_add(run);
    }
    Ok(found.into_iter().map(|(_, copy)| copy).collect())
}

impl KvCache {
    /// The distance from one block to the next in memory, in bytes.
    fn block_bytes(&self) -> Result<u64, Error> {
        let bits = checked::mul(self.block, u64::from(self.whole.element_bits()), BYTES)?;
        match bits.is_multiple_of(8) {
            true => Ok(bits.div_euclid(8)),
            false => Err(refused(format!("its blocks are {bits} bits apart, which are no whole bytes"))),
        }
    }

    /// Returns the block in memory that holds an index of the axis of blocks or tokens, and the position of
    /// that index in the block.
    fn block_of(&self, index: u64) -> (u64, u64) {
        let divided = |index: u64| {
            let block = index.checked_div(self.tokens_of_block).unwrap_or(0);
            (block, index.checked_rem(self.tokens_of_block).unwrap_or(0))
        };
        let table = self.table();
        if table.is_empty() {
            let first = self.place.and_then(|place| self.ranges.get(place)).map_or(0, |range| range.start);
            return divided(first.saturating_add(index));
        }
        let (number, inside) = divided(index);
        let block = usize::try_from(number).ok().and_then(|number| table.get(number));
        (block.copied().unwrap_or(0), inside)
    }

    /// Returns a range of the first block, in a buffer that ends with it.
    fn first_block(&self, inside: u64, length: u64) -> Result<IndexMap, Error> {
        let mut ranges = self.ranges.clone();
        if let Some(range) = self.place.and_then(|place| ranges.get_mut(place)) {
            *range = Slice::from(inside..inside.saturating_add(length));
        }
        let map = self.whole.slice(&ranges)?;
        let end = map.span_elements();
        Ok(map.with_physical_elements(end)?.with_gap_owner(GapOwner::Others))
    }

    /// Refuses a table of a destination that names a block twice.
    fn refuse_repeated(&self) -> Result<(), Error> {
        let mut blocks: Vec<(u64, usize)> = self.table().iter().copied().zip(0..).collect();
        blocks.sort_unstable();
        let pairs = blocks.iter().zip(blocks.iter().skip(1));
        let Some((&(block, first), &(_, second))) = pairs.into_iter().find(|(a, b)| a.0 == b.0) else { return Ok(()) };
        let index = |number: u64| {
            let mut index = vec![0; self.axes().len()];
            if let Some(at) = self.place.and_then(|place| index.get_mut(place)) {
                *at = number.saturating_mul(self.tokens_of_block);
            }
            index
        };
        let offset = self.whole.offset(&index(block))?;
        let [first, second] = [first, second].map(|number| index(checked::len_u64(number)));
        Err(Error::overlapping_destination(&first, &second, offset))
    }
}
