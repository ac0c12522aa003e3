//! The loops around a kernel.

use std::fmt;
use std::ops::Deref;

/// A strided loop: `extent` iterations, at a constant distance from each other on either side.
///
/// Strides may be negative. With a negative `destination`, the first iteration writes the highest addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// The number of iterations.
    pub extent: usize,
    /// The distance from one iteration to the next on the source, in bytes.
    pub source: isize,
    /// The distance from one iteration to the next on the destination, in bytes.
    pub destination: isize,
}

/// Prints the extent, and the strides on the source and on the destination: `32 x (+802816, -3211264)`.
impl fmt::Debug for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x ({:+}, {:+})", self.extent, self.source, self.destination)
    }
}

/// Offsets in bytes, source and destination, that follow no stride.
#[derive(Clone, PartialEq, Eq)]
pub struct Offsets(pub Vec<(usize, usize)>);

impl Deref for Offsets {
    type Target = [(usize, usize)];

    fn deref(&self) -> &[(usize, usize)] {
        &self.0
    }
}

impl fmt::Debug for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table of {} offsets", self.len())
    }
}

/// One loop of a nest.
#[derive(Clone, PartialEq, Eq)]
pub enum Loop {
    /// The iterations are a constant stride apart on the source, and a constant stride on the destination.
    Strided(Stride),
    /// The iterations are at listed offsets in bytes, source and destination. No strides say where parts
    /// begin if, for example, one side is cut into parts of 48 elements and the other side into parts of 32.
    Table(Offsets),
}

/// A list that gives the same entries each time: a `Vec`, a borrowed slice, and a `SmallVec` with the feature
/// `smallvec`.
///
/// A copy checks its loops once, and runs them without another check. A list of another type could give
/// different loops to the check and to the run, so no other type has this trait:
///
/// ```compile_fail,E0277
/// use strided_copy::PlainNest;
/// use strided_copy::kernel::Stride;
///
/// struct Loops([Stride; 1]);
///
/// impl AsRef<[Stride]> for Loops {
///     fn as_ref(&self) -> &[Stride] {
///         &self.0
///     }
/// }
///
/// PlainNest::new(1, (0, 0), Loops([Stride::ONCE]));
/// ```
pub trait FixedList<T>: sealed::Sealed + AsRef<[T]> {}

impl<T> FixedList<T> for Vec<T> {}
impl<T> FixedList<T> for &[T] {}
#[cfg(feature = "smallvec")]
impl<A: smallvec::Array> FixedList<A::Item> for smallvec::SmallVec<A> {}

mod sealed {
    pub trait Sealed {}

    impl<T> Sealed for Vec<T> {}
    impl<T> Sealed for &[T] {}
    #[cfg(feature = "smallvec")]
    impl<A: smallvec::Array> Sealed for smallvec::SmallVec<A> {}
}

impl fmt::Debug for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loop::Strided(stride) => stride.fmt(f),
            Loop::Table(offsets) => offsets.fmt(f),
        }
    }
}

impl Stride {
    /// A loop of a single iteration.
    pub const ONCE: Stride = Stride { extent: 1, source: 0, destination: 0 };

    /// Whether this loop and the loop outside of it are one longer loop, because every iteration of the outer
    /// loop begins where the iteration before it ends, on both sides.
    #[inline]
    #[must_use]
    pub fn continues_in(&self, outer: &Stride) -> bool {
        let whole = |stride: isize| isize::try_from(self.extent).ok().and_then(|extent| extent.checked_mul(stride));
        whole(self.destination) == Some(outer.destination) && whole(self.source) == Some(outer.source)
    }

    /// The offset of the last iteration from the first iteration, source and destination. `None` if an offset
    /// overflows.
    #[inline]
    #[must_use]
    // Proved for every input (proofs/lemmas.py):
    // * stride_last.between: every iteration is between the first one and the last one.
    // * stride_last.fits: an answer is the exact distance, and fits an `isize`.
    // * stride_last.error: without an answer, the distance does not fit an `isize`.
    pub fn last(&self) -> Option<(isize, isize)> {
        let last = isize::try_from(self.extent.saturating_sub(1)).ok()?;
        Some((last.checked_mul(self.source)?, last.checked_mul(self.destination)?))
    }

    /// Whether neither stride is negative.
    #[must_use]
    pub fn ascends(&self) -> bool {
        self.source >= 0 && self.destination >= 0
    }
}

impl Loop {
    /// The number of iterations.
    #[inline]
    #[must_use]
    pub fn extent(&self) -> usize {
        match self {
            Loop::Strided(stride) => stride.extent,
            Loop::Table(entries) => entries.len(),
        }
    }

    /// The strided loop; `None` for a table.
    #[inline]
    #[must_use]
    pub fn stride(&self) -> Option<Stride> {
        match self {
            Loop::Strided(stride) => Some(*stride),
            Loop::Table(_) => None,
        }
    }

    /// The offset of iteration `i` from the start of the loop, source and destination. Callers add it with
    /// wrapping, because a negative stride gives a negative offset that is wrapped.
    #[must_use]
    pub fn at(&self, i: usize) -> (usize, usize) {
        match self {
            Loop::Strided(stride) => {
                (stride.source.cast_unsigned().wrapping_mul(i), stride.destination.cast_unsigned().wrapping_mul(i))
            }
            Loop::Table(entries) => entries[i],
        }
    }

    /// Whether the destination offset of every iteration is a multiple of `bytes`.
    #[must_use]
    pub fn moves_destination_by(&self, bytes: usize) -> bool {
        match self {
            Loop::Strided(stride) => stride.destination.unsigned_abs().is_multiple_of(bytes),
            Loop::Table(entries) => entries.iter().all(|(_, destination)| destination.is_multiple_of(bytes)),
        }
    }
}
