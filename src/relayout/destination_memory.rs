//! What a caller knows about a destination's memory. It decides how a copy stores.

/// Whether the destination is in the cache when a copy begins. This decides how the copy stores. It changes
/// the speed of a copy, and never its result.
///
/// Non-temporal stores do not go through the cache. They are right for memory that is not in the cache,
/// because an ordinary store reads its line first. They are wrong for memory that an allocator handed back a
/// moment ago.
///
/// ```
/// use tensor_layout::{relayout::{DestinationMemory, Relayout, Settings}, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
/// let settings = Settings { memory: DestinationMemory::Reused, ..Settings::default() };
/// let relayout = Relayout::with(&rows, &columns, &settings)?;
/// assert!(relayout.explain().contains("non-temporal stores: from 16 MiB"));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DestinationMemory {
    /// Nothing is known. Copies use non-temporal stores from 8 MiB on, read and written together. Copies of
    /// rows of two cache lines and more use them from 16 MiB on.
    #[default]
    Unknown,
    /// The memory was written a moment ago, like memory that an allocator hands back. Copies use ordinary
    /// stores up to 16 MiB, read and written together, which is half of a common L3 cache.
    Reused,
}
