//! One strided loop.

/// `extent` iterations, so many bytes apart on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stride {
    pub(crate) extent: usize,
    pub(crate) source: usize,
    pub(crate) destination: usize,
}

impl Stride {
    /// One iteration.
    pub(crate) const ONCE: Stride = Stride { extent: 1, source: 0, destination: 0 };

    /// Where the last iteration begins.
    pub(crate) fn last(self) -> (usize, usize) {
        let last = self.extent.saturating_sub(1);
        (last.saturating_mul(self.source), last.saturating_mul(self.destination))
    }
}
