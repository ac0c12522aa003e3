//! `Interner`: stores equal values once, and gives each different value a number.

use std::borrow::{Borrow, ToOwned};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

use tensor_layout::Error;
use tensor_layout::checked;

/// Values that occur often. Equal values are stored once, and have the same number. Numbers count from 0.
#[derive(Debug, Clone)]
pub(super) struct Interner<T> {
    hasher: RandomState,
    /// For the hash of a value, its number. This takes 12 bytes for each different value, and no second copy
    /// of the value.
    numbers: HashMap<u64, u32>,
    values: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { hasher: RandomState::new(), numbers: HashMap::new(), values: Vec::new() }
    }
}

impl<T> Interner<T> {
    /// Returns the number of `value`. A new value gets the next number.
    pub(super) fn number<Q>(&mut self, value: &Q) -> Result<u32, Error>
    where
        T: Borrow<Q>,
        Q: ?Sized + Hash + Eq + ToOwned,
        Q::Owned: Into<T>,
    {
        let hash = self.hasher.hash_one(value);
        if let Some(&number) = self.numbers.get(&hash)
            && self.get(number).is_some_and(|found| found.borrow() == value)
        {
            return Ok(number);
        }
        let number = checked::narrow(self.values.len(), "the number of different names in a dump")?;
        self.values.push(value.to_owned().into());
        // If two different values have the same hash, only the later one is found from now on. The earlier
        // one would be stored again, under a new number.
        self.numbers.insert(hash, number);
        Ok(number)
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(usize::try_from(number).ok()?)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests;
