//! Kept plans: a bounded cache of copies by their layouts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::error::Error;
use crate::strided::BufferTensorDesc;

use super::relayout::Relayout;
use super::settings::Settings;

/// The plans of the pairs of descriptors that an engine copies again and again. Where there is no room for
/// another, the plan that was not used for longest goes.
///
/// A `Plans` belongs to one thread. Threads share one as a `Mutex<Plans>`: a plan is an [`Arc`], so the lock
/// is held for the look-up alone.
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
    /// For each hash, the index of its plan.
    places: HashMap<u64, usize, BuildHasherDefault<OwnHash>>,
    most: usize,
    /// Look-ups so far.
    now: u64,
    misses: u64,
}

#[derive(Debug)]
struct Kept {
    hash: u64,
    source: BufferTensorDesc,
    destination: BufferTensorDesc,
    settings: Settings,
    plan: Arc<Relayout>,
    used: u64,
}

impl Plans {
    /// Room for `most` plans, at least one.
    #[must_use]
    pub fn new(most: usize) -> Plans {
        Plans { kept: Vec::new(), places: HashMap::default(), most: most.max(1), now: 0, misses: 0 }
    }

    /// The plan of this copy, kept or made.
    ///
    /// # Errors
    ///
    /// The errors of [`Relayout::with`]; a copy that is refused is not kept.
    #[inline]
    pub fn get(
        &mut self,
        source: &BufferTensorDesc,
        destination: &BufferTensorDesc,
        settings: &Settings,
    ) -> Result<&Arc<Relayout>, Error> {
        let hash = source.quick_hash().rotate_left(32) ^ destination.quick_hash();
        self.now = self.now.wrapping_add(1);
        let place = match self.places.get(&hash).copied() {
            Some(place) if self.kept.get(place).is_some_and(|kept| kept.is(source, destination, settings)) => place,
            // Two pairs of one hash take turns.
            other => self.insert(hash, other, (source, destination, settings))?,
        };
        let kept = self.kept.get_mut(place).unwrap_or_else(|| unreachable!("the place of a plan that is kept"));
        kept.used = self.now;
        Ok(&kept.plan)
    }

    /// Makes a plan and keeps it: at `place`, in new room, or in that of the plan that was not used for
    /// longest.
    #[cold]
    fn insert(
        &mut self,
        hash: u64,
        place: Option<usize>,
        (source, destination, settings): (&BufferTensorDesc, &BufferTensorDesc, &Settings),
    ) -> Result<usize, Error> {
        let plan = Arc::new(Relayout::with(source, destination, settings)?);
        self.misses = self.misses.wrapping_add(1);
        let (source, destination, settings) = (source.clone(), destination.clone(), settings.clone());
        let kept = Kept { hash, source, destination, settings, plan, used: self.now };
        let oldest = || self.kept.iter().enumerate().min_by_key(|(_, kept)| kept.used).map(|(place, _)| place);
        let place = place.or_else(|| if self.kept.len() < self.most { None } else { oldest() });
        let place = match place.and_then(|place| Some((place, self.kept.get_mut(place)?))) {
            Some((place, old)) => {
                self.places.remove(&old.hash);
                *old = kept;
                place
            }
            None => {
                self.kept.push(kept);
                self.kept.len().saturating_sub(1)
            }
        };
        self.places.insert(hash, place);
        Ok(place)
    }

    /// How many plans are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no plan is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many plans were made so far.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses
    }
}

impl Kept {
    #[inline]
    fn is(&self, source: &BufferTensorDesc, destination: &BufferTensorDesc, settings: &Settings) -> bool {
        self.source.is_identical(source) && self.destination.is_identical(destination) && self.settings == *settings
    }
}

/// The hash of a number that is a hash already.
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
