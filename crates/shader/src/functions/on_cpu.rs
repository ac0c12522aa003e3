//! Evaluates the index functions on the CPU.

use tensor_layout::Error;
use tensor_layout::plan::Code;

use super::super::code::{Function, Words};
use super::super::element::{Packing, load_function, store_function};
use super::super::index::{index_function, number};
use super::IndexFunctions;

impl IndexFunctions {
    /// Returns the result of the function `offset` for an index.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexMap::offset`](tensor_layout::IndexMap::offset).
    pub fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        let arguments = self.arguments(index)?;
        let results = run(&self.offset, &arguments, vec![]);
        Ok(results.first().copied().unwrap_or(0).into())
    }

    /// Returns the result of the function `index` for an offset, or `None` where `exists` is false.
    ///
    /// # Errors
    ///
    /// `offset_out_of_range` at or past the physical size of the layout;
    /// `undecided` in the cases of [`with_inverse`](IndexFunctions::with_inverse).
    pub fn index(&self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        let elements = self.map.physical_elements();
        if offset >= elements {
            return Err(Code::OffsetOutOfRange.for_value(offset, elements));
        }
        let function = match &self.index {
            Some(function) => function,
            None => &index_function(&self.map, self.base, &self.reversed)?,
        };
        let mut arguments: Vec<u32> = self.base.is_none().then_some(0).into_iter().collect();
        arguments.push(number(offset)?);
        let results = run(function, &arguments, vec![]);
        let (exists, index) = results.split_first().unwrap_or((&0, &[]));
        Ok((*exists == 1).then(|| index.iter().copied().map(u64::from).collect()))
    }

    /// Returns the offsets from an index to the end of an axis, by the functions `walk` and `step`.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexMap::offset`](tensor_layout::IndexMap::offset) and
    /// [`with_walk`](IndexFunctions::with_walk).
    pub fn walk(&self, axis: usize, index: &[u64]) -> Result<Vec<u64>, Error> {
        let arguments = self.arguments(index)?;
        let walk = match self.walks.iter().find(|(known, _)| *known == axis) {
            Some((_, walk)) => walk,
            None => &self.new_walk(axis)?,
        };
        let (size, from) = (self.map.sizes().get(axis).copied(), index.get(axis).copied());
        let mut at = run(&walk.start, &arguments, vec![]);
        let mut offsets = Vec::new();
        for i in from.unwrap_or(0)..size.unwrap_or(0) {
            if Some(i) > from {
                at = run(&walk.step, &at, vec![]);
            }
            offsets.push(at.first().copied().unwrap_or(0).into());
        }
        Ok(offsets)
    }

    /// Returns the result of the function `load_bits` for the words of a buffer.
    ///
    /// # Errors
    ///
    /// `offset_out_of_range` past the last word;
    /// `unsupported_element_bits` for elements of more than 32 bits.
    pub fn load_bits(&self, words: &[u32], offset: u64) -> Result<u32, Error> {
        let offset = self.check_words(words.len(), offset)?;
        let load = match &self.access {
            Some(access) => &access.load,
            None => &load_function(Packing::new(self.map.element_bits())?, "words"),
        };
        let results = run(load, &[offset], vec![Words::Read(words)]);
        Ok(results.first().copied().unwrap_or(0))
    }

    /// Runs the function `store_bits` on the words of a buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`load_bits`](IndexFunctions::load_bits).
    pub fn store_bits(&self, words: &mut [u32], offset: u64, bits: u32) -> Result<(), Error> {
        let offset = self.check_words(words.len(), offset)?;
        let store = match self.access.as_ref().and_then(|access| access.store.as_ref()) {
            Some(store) => store,
            None => &store_function(Packing::new(self.map.element_bits())?, "words"),
        };
        run(store, &[offset, bits], vec![Words::Write(words)]);
        Ok(())
    }

    /// Checks that the element at an offset lies within this many words, and returns the offset as `u32`.
    fn check_words(&self, words: usize, offset: u64) -> Result<u32, Error> {
        let words = u64::try_from(words).unwrap_or(u64::MAX);
        let elements = Packing::new(self.map.element_bits())?.elements(words);
        if offset < elements { number(offset) } else { Err(Code::OffsetOutOfRange.for_value(offset, elements)) }
    }

    /// Returns the arguments of `offset` for an index, after a check that the index is inside the sizes.
    fn arguments(&self, index: &[u64]) -> Result<Vec<u32>, Error> {
        self.map.offset(index)?;
        let base = self.base.is_none().then_some(Ok(0));
        base.into_iter().chain(index.iter().map(|&i| number(i))).collect()
    }
}

/// Calls a function with checked arguments and returns its results. `IndexFunctions` has checked that no
/// intermediate result of the layout passes 32 bits, so a fault is an error of this crate.
fn run(function: &Function, arguments: &[u32], buffers: Vec<Words<'_>>) -> Vec<u32> {
    function.call(arguments, buffers).unwrap_or_else(|fault| panic!("an index function of this crate: {fault}"))
}
