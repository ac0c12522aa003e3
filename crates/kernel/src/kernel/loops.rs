//! The loops around a kernel.

/// A strided loop: `extent` iterations, each of which begins a fixed number of bytes from the one before.
///
/// The sign of a stride says what counts down: with a negative `destination`, the first iteration writes the
/// highest addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// How many iterations.
    pub extent: usize,
    /// Bytes from one iteration to the next on the source.
    pub source: isize,
    /// Bytes from one iteration to the next on the destination.
    pub destination: isize,
}

/// One loop of a nest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loop {
    /// Iterations at a constant stride on either side.
    Strided(Stride),
    /// The offsets of each iteration in bytes, source and destination: blocks that follow no stride, such as
    /// blocks of 48 elements against blocks of 32.
    Table(Vec<(usize, usize)>),
}

impl Stride {
    /// A single iteration.
    pub const ONCE: Stride = Stride { extent: 1, source: 0, destination: 0 };

    /// Whether the loop outside of this one begins each iteration where this one ends, so that the two are
    /// one longer loop.
    #[inline]
    #[must_use]
    pub fn continues_in(&self, outer: &Stride) -> bool {
        let whole = |stride: isize| isize::try_from(self.extent).ok().and_then(|extent| extent.checked_mul(stride));
        whole(self.destination) == Some(outer.destination) && whole(self.source) == Some(outer.source)
    }

    /// How far the last iteration begins from the first, source and destination; `None` if that does not fit.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Option<(isize, isize)> {
        let last = isize::try_from(self.extent.saturating_sub(1)).ok()?;
        Some((last.checked_mul(self.source)?, last.checked_mul(self.destination)?))
    }

    /// Whether neither side counts down.
    #[must_use]
    pub fn ascends(&self) -> bool {
        self.source >= 0 && self.destination >= 0
    }
}

impl Loop {
    /// How many iterations.
    #[must_use]
    pub fn extent(&self) -> usize {
        match self {
            Loop::Strided(stride) => stride.extent,
            Loop::Table(entries) => entries.len(),
        }
    }

    /// The strided loop; `None` for a table.
    #[must_use]
    pub fn stride(&self) -> Option<Stride> {
        match self {
            Loop::Strided(stride) => Some(*stride),
            Loop::Table(_) => None,
        }
    }

    /// Where iteration `i` begins, source and destination, relative to the first. The offsets are to be added
    /// with wrapping: a stride that counts down gives a number below zero, which wraps.
    #[must_use]
    pub fn at(&self, i: usize) -> (usize, usize) {
        match self {
            Loop::Strided(stride) => {
                (stride.source.cast_unsigned().wrapping_mul(i), stride.destination.cast_unsigned().wrapping_mul(i))
            }
            Loop::Table(entries) => entries[i],
        }
    }

    /// Whether every iteration begins a multiple of this many bytes from the first on the destination.
    #[must_use]
    pub fn moves_destination_by(&self, bytes: usize) -> bool {
        match self {
            Loop::Strided(stride) => stride.destination.unsigned_abs().is_multiple_of(bytes),
            Loop::Table(entries) => entries.iter().all(|(_, destination)| destination.is_multiple_of(bytes)),
        }
    }
}
