//! Kept plans: a cache of copies by their layouts, with a limited size.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};
use std::sync::Arc;

use crate::checked::is_same;
use crate::error::Error;
use crate::map::{IndexMap, StorageRule, ToIndexMap};
use crate::strided::BufferTensorDesc;

use super::relayout::Relayout;
use super::settings::Settings;

/// A cache of plans for the pairs of layouts that an engine copies again and again. If the cache is full, the
/// plan that has not been used for the longest time makes room. Finding the plan of a pair of descriptors
/// takes tens of nanoseconds. For any other layout, each look-up computes the index map.
///
/// A `Plans` belongs to one thread. Several threads share a `Mutex<Plans>`. A plan is an [`Arc`], so the lock
/// is held only for the look-up.
///
/// ```
/// use tensor_layout::{relayout::{Plans, Settings}, BufferTensorDesc};
///
/// let (rows, columns): (BufferTensorDesc, BufferTensorDesc) = ("u8[2,3]:[3,1]".parse()?, "u8[2,3]:[1,2]".parse()?);
/// let mut plans = Plans::new(256);
/// assert!(plans.is_empty());
/// let mut turned = [0; 6];
/// for _ in 0..10 {
///     plans.get(&rows, &columns, &Settings::default())?.run(b"abcdef", &mut turned)?;
/// }
/// assert_eq!((&turned, plans.len(), plans.misses()), (b"adbecf", 1, 1));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug)]
pub struct Plans {
    kept: Vec<Kept>,
    /// For the hash of a pair of layouts, the index of its plan in `kept`.
    indices: HashMap<u64, usize, BuildHasherDefault<OwnHash>>,
    most: usize,
    /// The number of look-ups so far.
    now: u64,
    misses: u64,
}

#[derive(Debug)]
struct Kept {
    hash: u64,
    from: KeptSide,
    to: KeptSide,
    settings: Settings,
    plan: Arc<Relayout>,
    used: u64,
}

impl Plans {
    /// Makes a cache with room for `most` plans, at least one.
    #[must_use]
    pub fn new(most: usize) -> Plans {
        Plans { kept: Vec::new(), indices: HashMap::default(), most: most.max(1), now: 0, misses: 0 }
    }

    /// Returns the plan of this copy. If no plan of the copy is kept, a new plan is made and kept.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::with`]. A copy that is refused is not kept.
    #[inline]
    pub fn get(
        &mut self,
        from: &impl ToIndexMap,
        to: &impl ToIndexMap,
        settings: &Settings,
    ) -> Result<&Arc<Relayout>, Error> {
        let pair = (Side::of(from)?, Side::of(to)?);
        let hash = pair.0.quick_hash().rotate_left(32) ^ pair.1.quick_hash();
        self.now = self.now.wrapping_add(1);
        let index = match self.indices.get(&hash).copied() {
            Some(index) if self.kept.get(index).is_some_and(|kept| kept.is(&pair, settings)) => index,
            // Two pairs of layouts with equal hashes share an entry, and replace each other.
            other => {
                let plan = Relayout::with(from, to, settings)?;
                self.insert(hash, other, pair, settings, plan)
            }
        };
        let kept = self.kept.get_mut(index).unwrap_or_else(|| unreachable!("the index of a plan that is kept"));
        kept.used = self.now;
        Ok(&kept.plan)
    }

    /// Keeps a plan. If there is no `index` for it, the list grows, or the plan that has not been used for
    /// the longest time is replaced. Returns the index of the plan.
    #[cold]
    fn insert(
        &mut self,
        hash: u64,
        index: Option<usize>,
        (from, to): (Side<'_>, Side<'_>),
        settings: &Settings,
        plan: Relayout,
    ) -> usize {
        self.misses = self.misses.wrapping_add(1);
        let (from, to, settings) = (from.kept(), to.kept(), settings.clone());
        let kept = Kept { hash, from, to, settings, plan: Arc::new(plan), used: self.now };
        let oldest = || self.kept.iter().enumerate().min_by_key(|(_, kept)| kept.used).map(|(index, _)| index);
        let index = index.or_else(|| if self.kept.len() < self.most { None } else { oldest() });
        let index = match index.and_then(|index| Some((index, self.kept.get_mut(index)?))) {
            Some((index, old)) => {
                self.indices.remove(&old.hash);
                *old = kept;
                index
            }
            None => {
                self.kept.push(kept);
                self.kept.len().saturating_sub(1)
            }
        };
        self.indices.insert(hash, index);
        index
    }

    /// The number of plans that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no plan is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The number of plans that have been made so far.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses
    }
}

impl Kept {
    #[inline]
    fn is(&self, (from, to): &(Side<'_>, Side<'_>), settings: &Settings) -> bool {
        let plain = |of: &Settings| (of.padding, of.memory, of.stores, of.kernels, of.family, of.least_piece);
        from.is(&self.from)
            && to.is(&self.to)
            && is_same(&self.settings.reversed, &settings.reversed)
            && plain(&self.settings) == plain(settings)
    }
}

/// A layout to look up. It is a descriptor, or the index map of any other layout and the storage rule that
/// the layout demands.
enum Side<'a> {
    Strided(&'a BufferTensorDesc),
    Mapped(Box<(IndexMap, StorageRule)>),
}

/// A layout of a plan that is kept.
#[derive(Debug)]
enum KeptSide {
    Strided(BufferTensorDesc),
    Mapped(Box<(IndexMap, StorageRule)>),
}

impl<'a> Side<'a> {
    #[inline]
    fn of(layout: &'a impl ToIndexMap) -> Result<Side<'a>, Error> {
        match layout.as_descriptor() {
            // A descriptor that belongs to a named layout may have a storage rule.
            Some(desc) if layout.storage_rule() == StorageRule::NONE => Ok(Side::Strided(desc)),
            _ => Ok(Side::Mapped(Box::new((layout.to_index_map()?, layout.storage_rule())))),
        }
    }

    #[inline]
    fn quick_hash(&self) -> u64 {
        match self {
            Side::Strided(desc) => desc.quick_hash(),
            Side::Mapped(map) => BuildHasherDefault::<DefaultHasher>::default().hash_one(&**map),
        }
    }

    #[inline]
    fn is(&self, kept: &KeptSide) -> bool {
        match (self, kept) {
            (Side::Strided(desc), KeptSide::Strided(kept)) => kept.is_identical(desc),
            (Side::Mapped(map), KeptSide::Mapped(kept)) => map == kept,
            _ => false,
        }
    }

    fn kept(self) -> KeptSide {
        match self {
            Side::Strided(desc) => KeptSide::Strided(desc.clone()),
            Side::Mapped(map) => KeptSide::Mapped(map),
        }
    }
}

/// A hasher that returns numbers unchanged, because the numbers are already hashes.
#[derive(Debug, Default)]
struct OwnHash(u64);

impl Hasher for OwnHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
