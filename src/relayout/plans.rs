//! Kept plans: a cache that finds the plan of a copy by its layouts and settings.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::checked::is_same;
use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::BufferTensorDesc;

use super::relayout::Relayout;
use super::settings::Settings;

/// A cache of the plans of copies that come again and again, for any number of threads.
///
/// A plan is found without cloning anything: the given descriptors are compared with those of kept plans. If
/// a side is a layout of another kind, each look-up makes the index map of that side. A full cache drops the
/// plan that was not used for the longest time.
///
/// ```
/// use tensor_layout::relayout::{Plans, Settings};
/// use tensor_layout::BufferTensorDesc;
///
/// let (rows, columns): (BufferTensorDesc, BufferTensorDesc) = ("u8[2,3]:[3,1]".parse()?, "u8[2,3]:[1,2]".parse()?);
/// let plans = Plans::new(256);
/// let mut turned = [0; 6];
/// for _ in 0..10 {
///     plans.get(&rows, &columns, &Settings::default())?.run(b"abcdef", &mut turned)?;
/// }
/// assert_eq!((&turned, plans.len()), (b"adbecf", 1));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug)]
pub struct Plans {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    /// The plans, each in the list that the sizes of its copy choose. Copies of equal sizes are in one list:
    /// it would take longer to hash strides and settings, too, than to compare them.
    lists: Vec<Vec<Plan>>,
    length: usize,
    /// The number of look-ups so far.
    now: u64,
}

/// The most lists of plans. If a cache holds more plans than this, its lists are longer.
const MOST_LISTS: usize = 1 << 12;

#[derive(Debug)]
struct Plan {
    from: Side<BufferTensorDesc>,
    to: Side<BufferTensorDesc>,
    settings: Settings,
    plan: Arc<Relayout>,
    used: u64,
}

/// A layout of a pair: borrowed for a look-up, or owned by a kept plan.
#[derive(Debug, PartialEq, Eq)]
enum Side<D> {
    Descriptor(D),
    /// The index map of a layout of any other kind, and whether its padding must hold zeros.
    Map(Box<(IndexMap, bool)>),
}

/// The two layouts of a look-up.
type Pair<'a> = (Side<&'a BufferTensorDesc>, Side<&'a BufferTensorDesc>);

impl Plans {
    /// Makes a cache that holds up to `capacity` plans, at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Plans {
        let lists = capacity.clamp(1, MOST_LISTS).next_power_of_two();
        let kept = Kept { lists: (0..lists).map(|_| Vec::new()).collect(), length: 0, now: 0 };
        Plans { capacity: capacity.max(1), kept: Mutex::new(kept) }
    }

    /// Returns the plan of a copy, and makes the plan if the cache does not have it. While a plan is made,
    /// other threads can use the cache.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::with_settings`]. A copy that is refused is not kept.
    pub fn get(
        &self,
        from: &impl ToIndexMap,
        to: &impl ToIndexMap,
        settings: &Settings,
    ) -> Result<Arc<Relayout>, Error> {
        let pair = (Side::of(from)?, Side::of(to)?);
        let mixed = mixed(pair.0.sizes());
        // The lock is released before the copy is planned, because planning takes long.
        let found = self.lock().find(mixed, &pair, settings);
        if let Some(plan) = found {
            return Ok(plan);
        }
        Ok(self.insert(mixed, pair, Relayout::with_settings(from, to, settings)?, settings))
    }

    #[cold]
    fn insert(&self, mixed: usize, pair: Pair<'_>, plan: Relayout, settings: &Settings) -> Arc<Relayout> {
        let mut kept = self.lock();
        // Another thread may have planned the same copy meanwhile.
        if let Some(plan) = kept.find(mixed, &pair, settings) {
            return plan;
        }
        if kept.length >= self.capacity {
            kept.drop_oldest();
        }
        let (used, plan) = (kept.now, Arc::new(plan));
        if let Some(list) = kept.list(mixed) {
            let (from, to) = (pair.0.kept(), pair.1.kept());
            list.push(Plan { from, to, settings: settings.clone(), plan: Arc::clone(&plan), used });
            kept.length = kept.length.saturating_add(1);
        }
        plan
    }

    /// The number of plans that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().length
    }

    /// Whether no plan is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Locks the cache, also after a panic of another thread: nothing panics while the cache is locked.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn list(&mut self, mixed: usize) -> Option<&mut Vec<Plan>> {
        // The number of lists is a power of two, so a mask chooses a list.
        let place = mixed & self.lists.len().wrapping_sub(1);
        self.lists.get_mut(place)
    }

    fn find(&mut self, mixed: usize, pair: &Pair<'_>, settings: &Settings) -> Option<Arc<Relayout>> {
        self.now = self.now.wrapping_add(1);
        let now = self.now;
        let found = self.list(mixed)?.iter_mut().find(|plan| plan.is(pair, settings))?;
        found.used = now;
        Some(Arc::clone(&found.plan))
    }

    fn drop_oldest(&mut self) {
        let oldest = self.lists.iter().flatten().map(|plan| plan.used).min();
        self.lists.iter_mut().for_each(|list| list.retain(|plan| Some(plan.used) != oldest));
        self.length = self.lists.iter().map(Vec::len).fold(0, usize::saturating_add);
    }
}

impl Plan {
    fn is(&self, (from, to): &Pair<'_>, settings: &Settings) -> bool {
        from.is(&self.from) && to.is(&self.to) && is_same_settings(settings, &self.settings)
    }
}

/// Whether two settings are equal. The lists of axes in them are mostly empty, and are compared number by
/// number: on a CPU with AVX-512, the `memcmp` of glibc takes 95 ns to compare no bytes at the address of a
/// list that was never allocated.
fn is_same_settings(a: &Settings, b: &Settings) -> bool {
    let Settings { reversed, padding, memory, stores, least_piece, kernels, caches, effort, choice } = a;
    is_same(reversed, &b.reversed)
        && (padding, memory, stores, effort) == (&b.padding, &b.memory, &b.stores, &b.effort)
        && (least_piece, kernels, caches, choice) == (&b.least_piece, &b.kernels, &b.caches, &b.choice)
}

/// Mixes sizes to a number whose lowest bits choose a list.
fn mixed(sizes: &[u64]) -> usize {
    let mixed = sizes.iter().fold(0, |sum: u64, &size| (sum ^ size).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    usize::try_from(mixed >> 40).unwrap_or(0)
}

impl<'a> Side<&'a BufferTensorDesc> {
    fn of(layout: &'a impl ToIndexMap) -> Result<Self, Error> {
        if let Some(desc) = layout.as_descriptor() {
            return Ok(Side::Descriptor(desc));
        }
        let map = layout.to_index_map()?;
        let zeros = map.has_zero_padding();
        Ok(Side::Map(Box::new((map, zeros))))
    }

    fn sizes(&self) -> &[u64] {
        match self {
            Side::Descriptor(desc) => desc.sizes(),
            Side::Map(map) => map.0.sizes(),
        }
    }

    fn is(&self, kept: &Side<BufferTensorDesc>) -> bool {
        match (self, kept) {
            (Side::Descriptor(desc), Side::Descriptor(kept)) => *desc == kept,
            (Side::Map(map), Side::Map(kept)) => map == kept,
            _ => false,
        }
    }

    fn kept(self) -> Side<BufferTensorDesc> {
        match self {
            Side::Descriptor(desc) => Side::Descriptor(desc.clone()),
            Side::Map(map) => Side::Map(map),
        }
    }
}
