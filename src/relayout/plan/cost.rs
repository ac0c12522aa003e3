//! The cost model, and every threshold that follows from it and is the same on every machine. What differs
//! is in [`Knobs`](super::machine::Knobs) and in the rules of a [`CpuFamily`](super::super::CpuFamily).
//!
//! The rules, in the order in which they matter (docs/DESIGN.md has more):
//!
//! 1. *Whole cache lines*: a store to part of a line reads the rest of it first.
//! 2. *Non-temporal stores* from a size on: an ordinary store reads its line, too.
//! 3. *Sequential reads, scattered writes*: whoever needs a value waits for its load, no one for a store.
//! 4. *Software prefetch* of what the hardware prefetcher does not follow; bursts fill the queue of
//!    outstanding misses.
//! 5. *Cache-set conflicts*: rows whose pitch is a multiple of a way share a set of the L1 cache, where they
//!    are staged or written few at a time.
//!
//! The numbers were found on *Z5*, unless another machine of docs/PERFORMANCE.md is named; none on ARM. "By
//! trial": the best of the neighbouring powers of two.

pub(crate) use strided_copy::kernel::{JOINED_RUN, LONGEST_REVERSED, MICRO_TILE, MOST_INTERLEAVED};
pub(crate) use strided_copy::{LINE, PAGE};

/// Bytes read and written from which on a copy uses non-temporal stores: between what Z5 (2 MiB) and Z3 (9 to
/// 12) want; what a smaller copy leaves in the cache, its reader finds there.
pub(crate) const STREAMING_FROM: u64 = 8 << 20;

/// Bytes read and written from which on a copy into memory that was just written stores past the cache: half
/// of an L3 cache of 32 MiB. By trial, between 9 and 28 MiB (Z3).
pub(crate) const REUSED_STREAMING_FROM: u64 = 16 << 20;

/// Bytes read and written from which on a copy of long rows uses non-temporal stores. Ordinary stores of
/// whole rows keep up longer than scattered ones: copies of rows of 256 bytes and more, of 8 to 16 MiB, took
/// 1.2 to 1.7 times as long past the cache (Zen 4).
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

/// The bytes that must be read front to back before a CPU with few ways prefetches nothing, as its hardware
/// follows them (Zen 4; not a Xeon of the fifth generation).
pub(crate) const FOLLOWED: usize = PAGE;

/// How many runs an iteration may have so that each is prefetched for itself: more prefetches would come in a
/// burst (rule 4). Not tuned.
pub(crate) const FEW_RUNS: usize = 4;

// --- Contiguous runs ----------------------------------------------------------------------------------

/// The length of a run from which on the library's `memcpy` is as fast as any kernel. By trial.
pub(crate) const MEMCPY_FROM: usize = 1 << 10;

/// Longer runs than this are as fast with their lines in order, in the L2 cache (Zen 5).
pub(crate) const LONGEST_SCATTERED: usize = 1 << 14;

// --- Planes of a few rows -----------------------------------------------------------------------------

/// A plane of units of 1 or 2 bytes is copied unit by unit if its shorter side fills at most one in this many
/// of a register. By trial.
pub(crate) const NARROW: usize = 4;

/// A plane of at most this many units is copied unit by unit. By trial.
pub(crate) const SMALL: usize = 64;

/// A plane of at most this many 16-byte units is blocks and nothing else: 16 KiB on either side stay in the
/// L1 cache. By trial.
pub(crate) const FEW_LANES: usize = 1 << 10;

/// A destination row shorter than this does not pay for the table of a byte shuffle. By trial.
pub(crate) const LEAST_SHUFFLED: usize = 256;

/// Below this size of a plane, a byte shuffle prefetches the next plane. By trial.
pub(crate) const SMALL_SHUFFLED: usize = 1 << 16;

// --- Planes of runs -----------------------------------------------------------------------------------

/// Destination rows that an L1 cache can take stores to at the same time. By trial.
pub(crate) const FEW_ROWS: usize = 16;

/// Destination rows that are stored to at the same time where all of them begin in one set of the L1 cache.
/// By trial (a Xeon of the fifth generation).
pub(crate) const FEW_COLUMNS: usize = 4;

/// To at most this many destination rows, whole lines are streamed in the order of the source, on a CPU with
/// few ways: for 128 rows, pieces are faster (Zen 4).
pub(crate) const MOST_STREAMS: usize = 64;

/// The hardware does not follow two source rows of at least this many bytes that are read in turns (Zen 4).
pub(crate) const PAIRED_ROW: usize = 512;

/// Bytes of a destination row that are written before the next row. By trial.
pub(crate) const RUN_PIECE: usize = 256;

/// The same number for copies through the cache whose rows share a set (by trial), and for copies past it
/// from long source rows, on a CPU with few ways (Zen 4).
pub(crate) const LONG_PIECE: usize = 1 << 10;

// --- Panels -------------------------------------------------------------------------------------------

/// Rows and columns of a plane that is one panel, at most: as many offsets as a kernel lists at a time.
pub(crate) const MOST_LISTED: u32 = 512;

/// A row pitch that is a multiple of this puts all rows into one set of the TLB (Zen 5).
pub(crate) const TLB_PITCH: usize = 1 << 16;

/// Source rows of a panel at such a pitch, so that the TLB holds them until the next strip. By trial.
pub(crate) const TLB_ROWS: usize = 32;

/// How many bytes ahead of the panel at hand the prefetched panel is, at least one panel. By trial.
pub(crate) const PANEL_PREFETCH: usize = 1 << 15;

/// How many cache lines of a row are collected in the staging buffer before they are written out, where rows
/// begin inside lines. By trial (Zen 4).
pub(crate) const DRAINED_LINES: usize = 16;

/// Units of 1 and 2 bytes need more rows in the staging buffer, so they have fewer lines of each. By trial
/// (Zen 4).
pub(crate) const FEW_DRAINED_LINES: usize = 8;

/// The longest run of a staged panel, in bytes.
pub(crate) const LARGEST_STAGED_RUN: usize = 1 << 10;

/// Lines of a row that are staged together, at least: runs of 256 bytes.
pub(crate) const STAGED_LINES: usize = 4;

/// Lines of a row that are staged together where rows are long enough. By trial.
pub(crate) const MORE_STAGED_LINES: usize = 2 * STAGED_LINES;

/// The longest destination run for which neighbouring tiles are joined, where the machine wants that: joining
/// longer ones gained nothing (Zen 3).
pub(crate) const LONGEST_JOINED: usize = 2 * LINE;

// --- Which micro-kernel a box gets --------------------------------------------------------------------

/// Bytes up to which a unit is transposed (rule 1).
pub(crate) const LONGEST_TRANSPOSED: usize = strided_copy::kernel::LONGEST_UNIT;

/// Bytes that an axis of a plane should span on the side where it is packed (rule 1): longer runs gain
/// nothing on Z5 and Z3.
pub(crate) const MIN_AXIS: usize = 512;

/// Entries of a table of offsets that replaces fused loops, at most: 32 KiB.
pub(crate) const LARGEST_TABLE: usize = 4096;

/// Elements of a sub-byte plane below which they are copied one by one. By trial.
pub(crate) const LEAST_BIT_PLANE: usize = 128;

// --- Transposes ---------------------------------------------------------------------------------------

/// Bytes of a panel, at most: two fit half an L2 cache. By trial.
pub(crate) const LARGEST_PANEL: usize = 1 << 17;

/// Source rows of a panel, at most: whole lines of bytes ([`LINE`] of them). By trial.
pub(crate) const PANEL_ROWS: usize = 256;

/// Bytes of a run in which panels are staged, of constant pitches and by tables of offsets (X6, X5).
pub(crate) const STAGED_RUN: usize = STAGED_LINES * LINE;
pub(crate) const STAGED_TABLE_RUN: usize = 1 << 9;

/// Units of a register from which on panels pay a stage where L2 does not hold what L1 holds (X5).
pub(crate) const STAGED_UNITS: usize = 16;

/// Panels that boxes copy together before the next part: shorter parts begin anew too often (Z4).
pub(crate) const PANELS_TOGETHER: usize = 2;

// --- Sub-byte planes ----------------------------------------------------------------------------------

/// Size of a buffer that elements go through when they begin inside bytes, or when they are unpacked or
/// packed, in bytes. Three of them fit an L1 cache of 48 KiB together; a buffer and its packed source fit one
/// of 32 KiB. By trial.
pub(crate) const BUFFER: usize = 1 << 14;

/// Bytes of the shorter side of such a block, at most. By trial.
pub(crate) const BIT_BLOCK: usize = 64;

// --- Changes of the storage width ---------------------------------------------------------------------

/// Elements of a row from which on it is unpacked or packed without a stage: a line of the side that has a
/// byte for each.
pub(crate) const LEAST_UNPACKED_ROW: u64 = 64;

/// Elements that follow each other on the packed side and are staged together, at least: a line of 4-bit
/// ones.
pub(crate) const STAGED_PACKED_RUN: u64 = 128;

/// Elements that follow each other on the side of bytes and are staged together, at least: four lines.
pub(crate) const STAGED_UNPACKED_RUN: u64 = 256;

/// The same where they are read from memory (Z5, tile_pack_s4).
pub(crate) const STAGED_READ_RUN: u64 = 1 << 11;

// --- Programs, padding, pieces and threads ------------------------------------------------------------

/// Boxes up to which a program plans all of them ahead; more are planned as they are run. Not tuned.
pub(crate) const PREPARED_BOXES: u64 = 64;

/// Bytes of a box from which on progress is reported between the iterations of its outermost loop. Not tuned.
pub(crate) const REPORT_FROM: u64 = 1 << 24;

/// About this many bytes are between two reports: a millisecond at 2 GB/s.
pub(crate) const REPORT_EACH: u64 = 1 << 21;

/// Boxes of padding, at most; a destination with more is filled as a whole first. Not tuned.
pub(crate) const MOST_PADDING_BOXES: usize = 1 << 10;

/// Bytes of a run of padding, on average, below which everything is filled first (Z5).
pub(crate) const LEAST_PADDING_RUN: u64 = 64;

/// Bytes between two shorter runs of padding that are filled with them and copied over; as many could be
/// filled in the time that a run of its own takes. By trial (Z4).
pub(crate) const FILL_AROUND: u64 = 1 << 10;

/// Bytes that are filled and then copied over while they are in a cache. Not tuned.
pub(crate) const FILL_BLOCK: usize = 1 << 22;

/// Bytes that are put together, in an L2 cache, before they go to memory that is not to be read, or to be
/// written twice.
pub(crate) const WRITE_BLOCK: usize = 1 << 18;

/// Boxes of a copy that is cut into pieces, at most. Not tuned.
pub(crate) const MOST_CUT_BOXES: u64 = 1 << 12;

/// Clipped boxes of all pieces together, at most. Not tuned.
pub(crate) const MOST_CLIPPED: usize = 1 << 14;

/// Entries of all tables of the boxes that are planned ahead, cut or clipped, at most: 16 MiB each. Not
/// tuned.
pub(crate) const MOST_ENTRIES: u64 = 1 << 20;

/// Loops and entries of tables that are looked at to cut a copy into this many pieces, at most; then half as
/// many are tried. Tens of milliseconds. Not tuned.
pub(crate) const MOST_CLIP_STEPS: u64 = 1 << 20;

/// Boxes that are held against the bounds of pieces, at most, those of each piece counted. Not tuned.
pub(crate) const MOST_COMPARED: usize = 1 << 23;

/// A piece may be longer or shorter than an equal share by one part in this many, if it then ends where a
/// large stride takes a step. Not tuned.
pub(crate) const PIECE_SLACK: u64 = 16;

/// Bytes of a piece, at least, for which waking a thread pays. By trial.
#[cfg(feature = "rayon")]
pub(crate) const LEAST_PIECE: u64 = 1 << 18;

/// Pieces, or parts of a loop, for each thread: one that is late costs a quarter of a thread's share. Not
/// tuned.
#[cfg(feature = "rayon")]
pub(crate) const PARTS_PER_THREAD: usize = 4;

/// Boxes of a copy in place, at most: that each has its counterpart is found by sorting them. Not tuned.
pub(crate) const MOST_EXCHANGED_BOXES: u64 = 1 << 10;

/// Elements on a side of the blocks that a copy in place exchanges. By trial.
pub(crate) const EXCHANGE_BLOCK: u64 = 64;

/// Bytes from which on elements are exchanged directly, not in blocks.
pub(crate) const LARGE_ELEMENT: usize = LINE;
