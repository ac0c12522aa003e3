//! `Dims`: a list with one number for each axis.

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut, RangeBounds};

use smallvec::SmallVec;

/// A short list of numbers, one for each axis: sizes, strides or an index. The list dereferences to a slice
/// of `u64`. Up to 8 numbers are stored without an allocation.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, Dims, ToIndexMap};
///
/// let desc = BufferTensorDesc::nhwc(DataType::F32, [2, 3, 4, 5])?;
/// let strides: Dims = desc.to_index_map()?.strides().unwrap();
/// assert_eq!(strides, [60, 1, 15, 3]);
/// assert_eq!((strides.len(), strides[0], strides.iter().max()), (4, 60, Some(&60)));
/// assert_eq!(Vec::from(strides), vec![60, 1, 15, 3]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dims(SmallVec<[u64; 8]>);

impl Dims {
    pub(crate) fn new() -> Dims {
        Dims(SmallVec::new())
    }

    pub(crate) fn from_elem(value: u64, count: usize) -> Dims {
        Dims(SmallVec::from_elem(value, count))
    }

    pub(crate) fn from_slice(numbers: &[u64]) -> Dims {
        Dims(SmallVec::from_slice(numbers))
    }

    pub(crate) fn push(&mut self, number: u64) {
        self.0.push(number);
    }

    pub(crate) fn extend_from_slice(&mut self, numbers: &[u64]) {
        self.0.extend_from_slice(numbers);
    }

    pub(crate) fn insert_many(&mut self, place: usize, numbers: impl IntoIterator<Item = u64>) {
        self.0.insert_many(place, numbers);
    }

    pub(crate) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    pub(crate) fn drain(&mut self, places: impl RangeBounds<usize>) -> smallvec::Drain<'_, [u64; 8]> {
        self.0.drain(places)
    }

    /// Returns the numbers as a slice.
    ///
    /// ```
    /// let dims = tensor_layout::Dims::from(vec![2, 3]);
    /// assert_eq!(dims.as_slice(), [2, 3]);
    /// ```
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }
}

impl Deref for Dims {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for Dims {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl AsRef<[u64]> for Dims {
    fn as_ref(&self) -> &[u64] {
        self
    }
}

impl From<&[u64]> for Dims {
    fn from(numbers: &[u64]) -> Dims {
        Dims::from_slice(numbers)
    }
}

impl From<Vec<u64>> for Dims {
    fn from(numbers: Vec<u64>) -> Dims {
        Dims(SmallVec::from_vec(numbers))
    }
}

impl From<Dims> for Vec<u64> {
    fn from(dims: Dims) -> Vec<u64> {
        dims.0.into_vec()
    }
}

impl FromIterator<u64> for Dims {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Dims {
        let numbers = numbers.into_iter();
        let mut dims = Dims(SmallVec::with_capacity(numbers.size_hint().0));
        dims.extend(numbers);
        dims
    }
}

impl Extend<u64> for Dims {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, numbers: I) {
        // `SmallVec::extend` compiles to five times as many instructions as this loop, for each type of
        // iterator.
        numbers.into_iter().for_each(|number| self.push(number));
    }
}

/// An iterator that moves the numbers out of a [`Dims`].
#[derive(Debug, Clone)]
pub struct IntoIter(smallvec::IntoIter<[u64; 8]>);

impl Iterator for IntoIter {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for IntoIter {
    fn next_back(&mut self) -> Option<u64> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for IntoIter {}

impl IntoIterator for Dims {
    type Item = u64;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.0.into_iter())
    }
}

impl<'a> IntoIterator for &'a Dims {
    type Item = &'a u64;
    type IntoIter = core::slice::Iter<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Dims {
    type Item = &'a mut u64;
    type IntoIter = core::slice::IterMut<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl PartialEq<[u64]> for Dims {
    fn eq(&self, other: &[u64]) -> bool {
        self.as_slice() == other
    }
}

impl PartialEq<&[u64]> for Dims {
    fn eq(&self, other: &&[u64]) -> bool {
        self.as_slice() == *other
    }
}

impl<const N: usize> PartialEq<[u64; N]> for Dims {
    fn eq(&self, other: &[u64; N]) -> bool {
        self.as_slice() == other
    }
}

impl PartialEq<Vec<u64>> for Dims {
    fn eq(&self, other: &Vec<u64>) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Whether two short lists are equal. The numbers are compared in a loop: `==` of slices calls `memcmp`, and
/// this call takes longer than the comparison of a few numbers.
#[inline]
pub(crate) fn is_same<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
