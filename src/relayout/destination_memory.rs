//! What is known of the memory that a copy writes.

use strided_copy::knobs::STREAMING_FROM;

use super::relayout::Relayout;

/// Whether the destination is in the cache when a copy begins, which decides how it is stored to. It changes how fast a copy is,
/// never what it writes.
///
/// Non-temporal stores go past the cache: right for memory that is not in it, as an ordinary store reads its line first; wrong for memory that an
/// allocator handed back a moment ago.
///
/// ```
/// use tensor_layout::{relayout::{DestinationMemory, Relayout}, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
/// let relayout = Relayout::new(&rows, &columns)?.with_destination(DestinationMemory::Reused);
/// # let _ = relayout;
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DestinationMemory {
    /// Nothing is known: copies store past the cache once they read and write more than the part of the L3 cache that a core may use.
    #[default]
    Unknown,
    /// It was never written, or not for long: copies store past the cache from 8 MiB on, read and written together.
    Fresh,
    /// It was written a moment ago, as what an allocator hands back: copies store through the cache until they are too large for the
    /// whole L3 cache.
    Reused,
}

impl Relayout {
    /// The same copy into memory of which more is known. Into memory that is [`Reused`](DestinationMemory::Reused),
    /// [`run_write_only`](Self::run_write_only) stores through the cache, unless it is a mapped GPU buffer
    /// ([`WriteOnly::new`](super::WriteOnly::new)).
    #[must_use]
    pub fn with_destination(self, memory: DestinationMemory) -> Relayout {
        let from = match memory {
            DestinationMemory::Unknown => self.machine.knobs.streaming_from,
            DestinationMemory::Fresh => STREAMING_FROM,
            DestinationMemory::Reused => u64::MAX,
        };
        let mut passes = self.passes;
        passes.stream_from(from);
        Relayout { passes, memory, ..self }
    }
}
