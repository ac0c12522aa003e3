//! Kept plans: a cache of copies by their layouts and settings.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::BufferTensorDesc;

use super::relayout::Relayout;
use super::settings::Settings;

/// A cache of the plans of copies that come again and again, for any number of threads.
///
/// A plan is found by reference: two descriptors are hashed and compared, and nothing is cloned. If one side
/// is another layout, each look-up makes its index map. A full cache drops the plan that was not used for the
/// longest time.
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

#[derive(Debug, Default)]
struct Kept {
    /// The plans by the hashes of their copies. Two copies of one hash replace each other.
    plans: HashMap<u64, Plan, BuildHasherDefault<Mixer>>,
    /// The number of look-ups so far.
    now: u64,
}

#[derive(Debug)]
struct Plan {
    from: Side<BufferTensorDesc>,
    to: Side<BufferTensorDesc>,
    settings: Settings,
    plan: Arc<Relayout>,
    used: u64,
}

/// A layout to look up, or that of a kept plan.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Side<D> {
    Descriptor(D),
    /// The index map of any other layout, and whether its padding must hold zeros.
    Map(Box<(IndexMap, bool)>),
}

impl Plans {
    /// Makes a cache that holds up to `capacity` plans, at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Plans {
        Plans { capacity: capacity.max(1), kept: Mutex::default() }
    }

    /// Returns the plan of a copy, which is made if it is not there. Other threads find plans meanwhile.
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
        let mut hasher = Mixer::default();
        (&pair, settings).hash(&mut hasher);
        let hash = hasher.finish();
        let mut kept = self.lock();
        kept.now = kept.now.wrapping_add(1);
        let now = kept.now;
        if let Some(found) = kept.plans.get_mut(&hash)
            && pair.0.is(&found.from)
            && pair.1.is(&found.to)
            && *settings == found.settings
        {
            found.used = now;
            return Ok(Arc::clone(&found.plan));
        }
        drop(kept);
        self.insert(hash, pair, Relayout::with_settings(from, to, settings)?, settings)
    }

    #[cold]
    fn insert(
        &self,
        hash: u64,
        (from, to): (Side<&BufferTensorDesc>, Side<&BufferTensorDesc>),
        plan: Relayout,
        settings: &Settings,
    ) -> Result<Arc<Relayout>, Error> {
        let plan = Arc::new(plan);
        let mut kept = self.lock();
        let used = kept.now;
        if kept.plans.len() >= self.capacity
            && let Some(oldest) = kept.plans.iter().min_by_key(|(_, plan)| plan.used).map(|(&hash, _)| hash)
        {
            kept.plans.remove(&oldest);
        }
        let settings = settings.clone();
        kept.plans.insert(hash, Plan { from: from.kept(), to: to.kept(), settings, plan: Arc::clone(&plan), used });
        Ok(plan)
    }

    /// The number of plans that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().plans.len()
    }

    /// Whether no plan is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nothing panics while the cache is locked, so it is whole.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// A hasher of a few cycles. Its results choose a place in a cache and nothing else: whoever makes two copies
/// of one hash on purpose makes their plans replace each other.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(u64::try_from(number).unwrap_or(u64::MAX));
    }
}
