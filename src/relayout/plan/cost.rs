//! The cost model, and every threshold that is the same on every machine. The numbers that depend on the
//! machine are in [`Knobs`](super::machine::Knobs) and in the rules of a
//! [`CpuFamily`](super::super::CpuFamily).
//!
//! The rules, in the order in which they matter (docs/DESIGN.md has more):
//!
//! 1. *Whole cache lines*: a store to part of a line reads the rest of it first.
//! 2. *Non-temporal stores* from a certain size on: an ordinary store reads its line first.
//! 3. *Sequential reads, scattered writes*: a computation waits for its loads, but not for its stores.
//! 4. *Software prefetch* where the hardware prefetcher does not follow. Prefetches in bursts fill the queue
//!    of outstanding misses.
//! 5. *Cache-set conflicts*: rows whose pitch is a multiple of the size of a way share a set of the L1 cache.
//!    Such rows go through a staging buffer, or few of them are written at a time.
//!
//! The numbers were found on a Zen 5, unless another machine is named; none were found on ARM. "By trial"
//! means the best of the neighbouring powers of two.

pub(crate) use strided_copy::kernel::{JOINED_RUN, LONGEST_REVERSED, MICRO_TILE, MOST_INTERLEAVED};
pub(crate) use strided_copy::{LINE, PAGE};

/// The size of a copy, in bytes read and written, from which on it uses non-temporal stores: between the best
/// for a Zen 5 (2 MiB) and for a Zen 3 (9 to 12 MiB). A smaller copy leaves its result in the cache for the
/// reader.
pub(crate) const STREAMING_FROM: u64 = 8 << 20;

/// The size of a copy, in bytes read and written, from which on it uses non-temporal stores into memory that
/// was just written: half of an L3 cache of 32 MiB. By trial, between 9 and 28 MiB (Zen 3).
pub(crate) const REUSED_STREAMING_FROM: u64 = 16 << 20;

/// The size of a copy of long rows, in bytes read and written, from which on it uses non-temporal stores.
/// Ordinary stores of whole rows keep up longer than scattered ones: with non-temporal stores, copies of 8 to
/// 16 MiB in rows of 256 bytes and more took 1.2 to 1.7 times as long (Zen 4).
pub(crate) const LONG_ROWS_STREAMING_FROM: u64 = 16 << 20;

/// The least number of bytes, contiguous on both sides, of a long row.
pub(crate) const LONG_ROW: usize = 2 * LINE;

// --- Prefetch -----------------------------------------------------------------------------------------

/// How far ahead a kernel prefetches where the hardware prefetcher does not follow, in bytes. By trial; on a
/// Zen 3, 2 KiB would be better.
pub(crate) const PREFETCH_DISTANCE: usize = 1 << 13;

/// How many iterations ahead a kernel prefetches at most, however little each of them reads. By trial.
pub(crate) const PREFETCH_ITERATIONS: usize = 64;

/// The length from which on a contiguous run is followed by the hardware prefetcher, which stops at the end
/// of a page.
pub(crate) const LONG_RUN: usize = PAGE;

/// How many bytes ahead a long row is prefetched, if others are read in turns with it. By trial.
pub(crate) const PREFETCH_IN_RUN: usize = 1 << 11;

/// Source rows of at least this many bytes are followed by the hardware prefetcher of a CPU with few ways,
/// and are not prefetched (Zen 4; not a fifth-generation Xeon).
pub(crate) const FOLLOWED: usize = PAGE;

/// The most runs of an iteration that are prefetched one by one. The prefetches of more runs would come in a
/// burst (rule 4). Not tuned.
pub(crate) const FEW_RUNS: usize = 4;

// --- Contiguous runs ----------------------------------------------------------------------------------

/// The length of a run from which on the library's `memcpy` is as fast as any kernel. By trial.
pub(crate) const MEMCPY_FROM: usize = 1 << 10;

/// The longest run whose lines are copied in a scattered order, in bytes. Longer runs in the L2 cache are as
/// fast in order (Zen 5).
pub(crate) const LONGEST_SCATTERED: usize = 1 << 14;

// --- Planes of a few rows -----------------------------------------------------------------------------

/// A plane of units of 1 or 2 bytes is copied unit by unit if its shorter side fills at most this fraction of
/// a register: one in `NARROW`. By trial.
pub(crate) const NARROW: usize = 4;

/// A plane of at most this many units is copied unit by unit. By trial.
pub(crate) const SMALL: usize = 64;

/// The most 16-byte units of a plane that is transposed in blocks of such units only: 16 KiB on either side
/// stay in the L1 cache. By trial.
pub(crate) const FEW_LANES: usize = 1 << 10;

/// A destination row shorter than this does not pay for the table of a byte shuffle. By trial.
pub(crate) const LEAST_SHUFFLED: usize = 256;

/// Below this size of a plane, a byte shuffle prefetches the next plane. By trial.
pub(crate) const SMALL_SHUFFLED: usize = 1 << 16;

// --- Planes of runs -----------------------------------------------------------------------------------

/// The most destination rows that are written in turns, so that their lines stay in an L1 cache. By trial.
pub(crate) const FEW_ROWS: usize = 16;

/// The most destination rows that are written in turns if all of them start in one set of the L1 cache. By
/// trial (a fifth-generation Xeon).
pub(crate) const FEW_COLUMNS: usize = 4;

/// The most destination rows to which whole lines are streamed in the order of the source, on a CPU with few
/// ways. For 128 rows, pieces of rows are faster (Zen 4).
pub(crate) const MOST_STREAMS: usize = 64;

/// The least length of a source row, in bytes, from which on the hardware prefetcher does not follow two rows
/// that are read in turns (Zen 4).
pub(crate) const PAIRED_ROW: usize = 512;

/// How many bytes of a destination row are written before the next row. By trial.
pub(crate) const RUN_PIECE: usize = 256;

/// How many bytes of a destination row are written before the next row, in two other cases: with ordinary
/// stores if the rows share a set of the cache (by trial), and with non-temporal stores from long source rows
/// on a CPU with few ways (Zen 4).
pub(crate) const LONG_PIECE: usize = 1 << 10;

// --- Panels -------------------------------------------------------------------------------------------

/// The most rows and columns of a plane that is a single panel: as many offsets as a kernel lists at a time.
pub(crate) const MOST_LISTED: u32 = 512;

/// A row pitch that is a multiple of this puts all rows into one set of the TLB (Zen 5).
pub(crate) const TLB_PITCH: usize = 1 << 16;

/// The most source rows of a panel at such a pitch, so that the TLB holds them until the next strip. By
/// trial.
pub(crate) const TLB_ROWS: usize = 32;

/// How many bytes ahead of the current panel the prefetched panel is; at least one panel. By trial.
pub(crate) const PANEL_PREFETCH: usize = 1 << 15;

/// How many cache lines of a row are collected in the staging buffer before they are written out, where rows
/// begin inside lines. By trial (Zen 4).
pub(crate) const DRAINED_LINES: usize = 16;

/// How many cache lines of a row are collected if units have 1 or 2 bytes. Such units need more rows in the
/// staging buffer, so there is room for fewer lines of each. By trial (Zen 4).
pub(crate) const FEW_DRAINED_LINES: usize = 8;

/// The longest run that a panel collects in a staging buffer, in bytes.
pub(crate) const LARGEST_STAGED_RUN: usize = 1 << 10;

/// The least number of lines of a row that are collected in a staging buffer: runs of 256 bytes.
pub(crate) const STAGED_LINES: usize = 4;

/// How many lines of a row are collected in a staging buffer if rows are long enough. By trial.
pub(crate) const MORE_STAGED_LINES: usize = 2 * STAGED_LINES;

/// The longest destination run for which neighbouring tiles are joined, where the machine wants that: joining
/// longer ones gained nothing (Zen 3).
pub(crate) const LONGEST_JOINED: usize = 2 * LINE;

// --- Which micro-kernel a box gets --------------------------------------------------------------------

/// The longest unit that is transposed, in bytes (rule 1).
pub(crate) const LONGEST_TRANSPOSED: usize = strided_copy::kernel::LONGEST_UNIT;

/// How many bytes an axis of a plane should span on the side where it is packed (rule 1). Longer runs gain
/// nothing on a Zen 5 and a Zen 3.
pub(crate) const MIN_AXIS: usize = 512;

/// The most entries of a table of offsets that replaces fused loops: 32 KiB.
pub(crate) const LARGEST_TABLE: usize = 4096;

/// Sub-byte planes of fewer elements than this are copied one element at a time. By trial.
pub(crate) const LEAST_BIT_PLANE: usize = 128;

// --- Transposes ---------------------------------------------------------------------------------------

/// The largest panel in bytes: two of them fit half an L2 cache. By trial.
pub(crate) const LARGEST_PANEL: usize = 1 << 17;

/// The most source rows of a panel: whole lines of bytes. By trial.
pub(crate) const PANEL_ROWS: usize = 256;

/// The length of the runs that a staging buffer collects, in bytes, for panels of constant pitches and for
/// panels by tables of offsets (Xeons of the fifth and the sixth generation).
pub(crate) const STAGED_RUN: usize = STAGED_LINES * LINE;
pub(crate) const STAGED_TABLE_RUN: usize = 1 << 9;

/// If a register holds at least this many units, panels pay a staging buffer on CPUs whose L2 cache does not
/// hold what the L1 cache holds (a fifth-generation Xeon).
pub(crate) const STAGED_UNITS: usize = 16;

/// How many panels boxes copy together before the next part. Shorter parts start anew too often (Zen 4).
pub(crate) const PANELS_TOGETHER: usize = 2;

// --- Sub-byte planes ----------------------------------------------------------------------------------

/// Size of a buffer that elements go through when they begin inside bytes, or when they are unpacked or
/// packed, in bytes. Three of them fit an L1 cache of 48 KiB together; a buffer and its packed source fit one
/// of 32 KiB. By trial.
pub(crate) const BUFFER: usize = 1 << 14;

/// The most bytes of the shorter side of a block of a sub-byte plane. By trial.
pub(crate) const BIT_BLOCK: usize = 64;

// --- Changes of the storage width ---------------------------------------------------------------------

/// The least number of elements of a row that is unpacked or packed without a staging buffer: a cache line on
/// the side that has a byte for each element.
pub(crate) const LEAST_UNPACKED_ROW: u64 = 64;

/// The least number of elements that follow each other on the packed side and go into the staging buffer
/// together: a cache line of elements of 4 bits is 128.
pub(crate) const STAGED_PACKED_RUN: u64 = 128;

/// The least number of elements that follow each other on the side with a byte for each element and go into
/// the staging buffer together: four cache lines.
pub(crate) const STAGED_UNPACKED_RUN: u64 = 256;

/// The least number of elements that follow each other on the side with a byte for each element and go into
/// the staging buffer together, if they are read from memory (Zen 5, `tile_pack_s4`).
pub(crate) const STAGED_READ_RUN: u64 = 1 << 11;

// --- Programs, padding, pieces and threads ------------------------------------------------------------

/// The most boxes that a program plans ahead; further boxes are planned as they are run. Not tuned.
pub(crate) const PREPARED_BOXES: u64 = 64;

/// The least size of a box, in bytes, for which progress is reported between the iterations of its outermost
/// loop. Not tuned.
pub(crate) const REPORT_FROM: u64 = 1 << 24;

/// How many bytes are copied between two reports, roughly: a millisecond at 2 GB/s.
pub(crate) const REPORT_EACH: u64 = 1 << 21;

/// The most boxes of padding. A destination with more is filled as a whole first. Not tuned.
pub(crate) const MOST_PADDING_BOXES: usize = 1 << 10;

/// If runs of padding are shorter than this on average, in bytes, the destination is filled first (Zen 5).
pub(crate) const LEAST_PADDING_RUN: u64 = 64;

/// The longest gap, in bytes, between two short runs of padding that is filled together with them, and copied
/// over later. In the time that one more run takes, as many bytes could be filled. By trial (Zen 4).
pub(crate) const FILL_AROUND: u64 = 1 << 10;

/// How many bytes are filled and then copied over while they are in a cache. Not tuned.
pub(crate) const FILL_BLOCK: usize = 1 << 22;

/// How many bytes are put together in an L2 cache before they go to memory that must not be read, or must not
/// be written twice.
pub(crate) const WRITE_BLOCK: usize = 1 << 18;

/// The most boxes of a copy that is cut into pieces. Not tuned.
pub(crate) const MOST_CUT_BOXES: u64 = 1 << 12;

/// The most clipped boxes of all pieces together. Not tuned.
pub(crate) const MOST_CLIPPED: usize = 1 << 14;

/// The most entries of all tables of the boxes that are planned ahead, cut or clipped. Each of these three
/// takes at most 16 MiB. Not tuned.
pub(crate) const MOST_ENTRIES: u64 = 1 << 20;

/// The most loops and entries of tables that are looked at to cut a copy into some number of pieces, which
/// takes tens of milliseconds. If they do not suffice, half as many pieces are tried. Not tuned.
pub(crate) const MOST_CLIP_STEPS: u64 = 1 << 20;

/// The most comparisons of a box with the bounds of a piece: the number of boxes times the number of pieces.
/// Not tuned.
pub(crate) const MOST_COMPARED: usize = 1 << 23;

/// A piece may be longer or shorter than an equal share by one part in this many, if it then ends where a
/// large stride takes a step. Not tuned.
pub(crate) const PIECE_SLACK: u64 = 16;

/// The least size of a piece, in bytes, for which waking a thread pays. By trial.
#[cfg(feature = "rayon")]
pub(crate) const LEAST_PIECE: u64 = 1 << 18;

/// How many pieces each thread gets. With four, a thread that is late costs a quarter of its share. Not
/// tuned.
#[cfg(feature = "rayon")]
pub(crate) const PARTS_PER_THREAD: usize = 4;

/// The most boxes of a copy in place. They are sorted to find the counterpart of each box. Not tuned.
pub(crate) const MOST_EXCHANGED_BOXES: u64 = 1 << 10;

/// The side of the blocks that a copy in place exchanges, in elements. By trial.
pub(crate) const EXCHANGE_BLOCK: u64 = 64;

/// Elements of at least this many bytes are exchanged directly, not in blocks.
pub(crate) const LARGE_ELEMENT: usize = LINE;
