//! One strided loop.

/// `extent` iterations, this many bytes apart on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// How many iterations.
    pub extent: usize,
    /// Bytes from one to the next on the source.
    pub source: usize,
    /// Bytes from one to the next on the destination.
    pub destination: usize,
}

impl Stride {
    /// One iteration.
    pub const ONCE: Stride = Stride { extent: 1, source: 0, destination: 0 };

    /// Where the last iteration begins.
    pub fn last(self) -> (usize, usize) {
        let last = self.extent.saturating_sub(1);
        (last.saturating_mul(self.source), last.saturating_mul(self.destination))
    }
}
