//! The cost model, and every threshold that follows from it and is the same on every machine. Those that are not are
//! [`Knobs`](super::machine::Knobs).
//!
//! The rules, in the order in which they matter (docs/DESIGN.md has more):
//!
//! 1. *Whole cache lines*: a store to part of a line reads the rest of it first.
//! 2. *Non-temporal stores* from a size on: an ordinary store reads its line, too.
//! 3. *Sequential reads, scattered writes*: whoever needs a value waits for its load, nobody for a store.
//! 4. *Software prefetch* of what the hardware prefetcher does not follow; bursts fill the queue of outstanding misses.
//! 5. *Cache-set conflicts*: rows whose pitch is a multiple of a way share a set of the L1 cache, where they are staged or written few at a time.
//!
//! The numbers were found on *Z5*, unless another machine of docs/PERFORMANCE.md is named; none on ARM. "By trial": the best of the neighbouring powers of two.

// --- Every machine -------------------------------------------------------------------------------------------------------

/// Bytes of a cache line: every x86-64 CPU and most ARM ones.
pub(crate) const LINE: usize = 64;

/// Bytes of a page of memory, and of a way of the L1 caches of AMD and Intel.
pub(crate) const PAGE: usize = 1 << 12;

// --- Stores and prefetch of a whole copy -------------------------------------------------------------------------------

/// Iterations that a kernel prefetches ahead, at most, however little each of them reads. By trial.
pub(crate) const PREFETCH_ITERATIONS: usize = 64;

/// Bytes read front to back from which on CPUs with few ways prefetch nothing: the hardware follows them (Z4; not X5).
pub(crate) const FOLLOWED: usize = PAGE;

/// Bytes from which on a contiguous run is followed by the hardware prefetcher, which stops at the end of a page.
pub(crate) const LONG_RUN: usize = PAGE;

/// How many bytes ahead a long run is prefetched. By trial.
pub(crate) const PREFETCH_IN_RUN: usize = 1 << 11;

/// How far ahead the page is looked up that will be stored to past the cache. Its first line is prefetched: one at random costs (Z5).
pub(crate) const TRANSLATED_AHEAD: usize = PAGE;

/// Rows of the destination that are stored to in turns from which on no page is looked up ahead. By trial.
pub(crate) const MANY_ROWS: usize = 16;

// --- Which micro-kernel a box gets -------------------------------------------------------------------------------------

/// Bytes up to which a unit is transposed: longer runs fill a whole line of the destination wherever they begin (rule 1).
pub(crate) const LONGEST_TRANSPOSED: usize = 2 * LINE;

/// Bytes of a unit up to which runs of them are reversed in registers: half a vector of the narrowest kind.
pub(crate) const LONGEST_REVERSED: usize = 16;

/// Rows up to which an interleaved row is left as it is, because there are kernels for 2, 3, 4, 8 and 16 rows.
pub(crate) const MOST_INTERLEAVED: usize = 16;

/// Bytes that an axis of a plane should span on the side where it is packed (rule 1): longer runs gain nothing on Z5 and Z3.
pub(crate) const MIN_AXIS: usize = 512;

/// Entries of a table of offsets that stands for fused loops, at most: 32 KiB.
pub(crate) const LARGEST_TABLE: usize = 4096;

/// Bytes of a micro-tile, at most: one shuffle inside a 16-byte lane transposes it.
pub(crate) const MICRO_TILE: usize = 16;

/// Elements of a sub-byte plane below which they are copied one by one. By trial.
pub(crate) const LEAST_BIT_PLANE: usize = 128;

// --- Transposes --------------------------------------------------------------------------------------------------------

/// A row pitch that is a multiple of this puts all rows into one set of the TLB (Z5).
pub(crate) const TLB_PITCH: usize = 1 << 16;

/// Source rows of a panel at such a pitch, for the TLB to hold them until the next strip. By trial.
pub(crate) const TLB_ROWS: usize = 32;

/// How many bytes ahead of the panel at hand the prefetched one lies, at least one panel. By trial.
pub(crate) const PANEL_PREFETCH: usize = 1 << 15;

/// Panels that boxes copy together before the next part: shorter parts begin anew too often (Z4).
pub(crate) const PANELS_TOGETHER: usize = 2;

/// Columns of planes whose destination rows begin inside lines that are transposed through all rows before the next: what is left of each row is kept, a
/// line each, 64 KiB in all. Not tuned.
pub(crate) const KEPT_COLUMNS: usize = 1 << 10;

/// Lines of each such row that are staged before they are drained, and of units of 1 and 2 bytes, of which a stage has more rows. By trial (Z4).
pub(crate) const DRAINED_LINES: usize = 16;
pub(crate) const FEW_DRAINED_LINES: usize = 8;

/// Lines of a run of a panel up to which they are prefetched at once. By trial.
pub(crate) const SHORT_PREFETCH: usize = 16;

/// How many blocks ahead a block at the edge of a plane prefetches the lines that it will write in part. By trial.
pub(crate) const EDGE_PREFETCH: usize = 4;

/// Bytes of a run of a staged panel, at most.
pub(crate) const LARGEST_STAGED_RUN: usize = 1 << 10;

/// The shortest such run, and that of copies through the cache whose destination rows share cache sets. By trial.
pub(crate) const LEAST_STAGED_RUN: usize = STAGED_LINES * LINE;

/// Lines of a row that are staged together, at least: runs of 256 bytes.
pub(crate) const STAGED_LINES: usize = 4;

/// The same where rows are long enough. By trial.
pub(crate) const MORE_STAGED_LINES: usize = 2 * STAGED_LINES;

/// Bytes of a destination run up to which neighbouring tiles are joined, where they are: longer ones gained nothing (Z3).
pub(crate) const LONGEST_JOINED: usize = 2 * LINE;

/// Bytes of the run in which neighbouring tiles are joined, at most: 512 and more cost nothing beside a copy (Z3).
pub(crate) const JOINED_RUN: usize = 1 << 10;

/// A plane of units of 1 or 2 bytes is copied one by one if its shorter side fills at most one in so many of a vector. By trial.
pub(crate) const NARROW: usize = 4;

// --- Copies of contiguous runs -----------------------------------------------------------------------------------------

/// Bytes from which on the library's `memcpy` is as fast as any kernel of this crate. By trial.
pub(crate) const MEMCPY_FROM: usize = 1 << 10;

/// Runs in the L2 cache whose lines go in another order, at most: longer ones are as fast in theirs (Z5).
pub(crate) const LONGEST_PERMUTED: usize = 1 << 14;

/// Runs an iteration up to which each is prefetched for itself; more of them would come in a burst (rule 4). Not tuned.
pub(crate) const FEW_RUNS: usize = 4;

/// Units of 16 bytes up to which a plane is blocks and nothing else: 16 KiB on either side stay in the L1 cache. By trial.
pub(crate) const FEW_LANES: usize = 1 << 10;

/// Destination rows that an L1 cache can take stores to at the same time. By trial.
pub(crate) const FEW_ROWS: usize = 16;

/// Destination rows that are stored to at the same time where all of them begin in one set of the L1 cache. By trial (X5).
pub(crate) const FEW_COLUMNS: usize = 4;

/// Destination rows up to which whole lines are streamed to them in the order of the source, on a CPU with few ways: of 128 rows pieces are faster (Z4).
pub(crate) const MOST_STREAMS: usize = 64;

/// Bytes of source rows from which on the hardware does not follow two that are read in turns (Z4).
pub(crate) const PAIRED_ROW: usize = 512;

/// Bytes of a destination row that are written before the next row is, where a plane of runs is transposed. By trial.
pub(crate) const RUN_PIECE: usize = 256;

/// The same through the cache, of rows that share a set (by trial), and past it, of long source rows, on a CPU with few ways (Z4).
pub(crate) const LONG_PIECE: usize = 1 << 10;

/// Bytes of a destination row below which the table of a byte shuffle does not pay. By trial.
pub(crate) const LEAST_SHUFFLED: usize = 256;

/// Bytes of a plane below which a byte shuffle prefetches the next plane. By trial.
pub(crate) const SMALL_SHUFFLED: usize = 1 << 16;

/// Bytes of a destination row that a byte shuffle writes before the next row: its source stays in the L1 cache. Not tuned.
pub(crate) const SHUFFLE_PIECE: usize = 1 << 11;

// --- Sub-byte planes ---------------------------------------------------------------------------------------------------

/// Bytes of each of the three buffers that a block of a sub-byte plane goes through: together they fit an L1 cache of 48 KiB.
pub(crate) const BIT_BUFFER: usize = 1 << 14;

/// Bytes of the shorter side of such a block, at most. By trial.
pub(crate) const BIT_BLOCK: usize = 64;

// --- Changes of the storage width --------------------------------------------------------------------------------------

/// Elements of a row from which on it is unpacked or packed without a stage: a line of the side that has a byte for each.
pub(crate) const LEAST_UNPACKED_ROW: u64 = 64;

/// Bytes of the stage between a packed side and one of bytes: with what it is filled from, half as much again, it stays in an L1 cache. By trial.
pub(crate) const WIDTH_STAGE: u64 = 1 << 14;

/// Elements that follow each other on the packed side and are staged together, at least: a line of 4-bit ones.
pub(crate) const STAGED_PACKED_RUN: u64 = 128;

/// Elements that follow each other on the side of bytes and are staged together, at least: four lines.
pub(crate) const STAGED_UNPACKED_RUN: u64 = 256;

/// The same where they are read from memory (Z5, tile_pack_s4).
pub(crate) const STAGED_READ_RUN: u64 = 1 << 11;

// --- Programs, padding, pieces and threads -----------------------------------------------------------------------------

/// Boxes up to which a program plans all of them ahead; more are planned as they are run. Not tuned.
pub(crate) const PREPARED_BOXES: u64 = 64;

/// Bytes of a box from which on progress is reported between the iterations of its outermost loop. Not tuned.
pub(crate) const REPORT_FROM: u64 = 1 << 24;

/// About so many bytes lie between two reports: a millisecond at 2 GB/s.
pub(crate) const REPORT_EACH: u64 = 1 << 21;

/// Boxes of padding, at most; a destination with more is filled as a whole first. Not tuned.
pub(crate) const MOST_PADDING_BOXES: usize = 1 << 10;

/// Bytes of a run of padding, on average, below which everything is filled first (Z5).
pub(crate) const LEAST_PADDING_RUN: u64 = 64;

/// Bytes between two shorter runs of padding that are filled with them and copied over; as many could be filled in the time that a run of its own takes.
/// By trial (Z4).
pub(crate) const FILL_AROUND: u64 = 1 << 10;

/// Bytes that are filled and then copied over while they are in a cache. Not tuned.
pub(crate) const FILL_BLOCK: usize = 1 << 22;

/// Bytes that are put together, in an L2 cache, before they go to memory that is not to be read, or to be written twice.
pub(crate) const WRITE_BLOCK: usize = 1 << 18;

/// Boxes of a copy that is cut into pieces, at most. Not tuned.
pub(crate) const MOST_CUT_BOXES: u64 = 1 << 12;

/// Clipped boxes of all pieces together, at most. Not tuned.
pub(crate) const MOST_CLIPPED: usize = 1 << 14;

/// Entries of all tables of the boxes that are planned ahead, cut or clipped, at most: 16 MiB each. Not tuned.
pub(crate) const MOST_ENTRIES: u64 = 1 << 20;

/// Loops and entries of tables that are looked at to cut a copy into so many pieces, at most; then half as many are tried. Tens of milliseconds. Not tuned.
pub(crate) const MOST_CLIP_STEPS: u64 = 1 << 20;

/// Boxes that are held against the bounds of pieces, at most, those of each piece counted. Not tuned.
pub(crate) const MOST_COMPARED: usize = 1 << 23;

/// A piece may be longer or shorter than an equal share by one part in so many, if it then ends where a large stride takes a step. Not tuned.
pub(crate) const PIECE_SLACK: u64 = 16;

/// Bytes of a piece, at least, for which waking a thread pays. By trial.
#[cfg(feature = "rayon")]
pub(crate) const LEAST_PIECE: u64 = 1 << 18;

/// Pieces, or parts of a loop, for each thread: one that is late costs a quarter of a thread's share. Not tuned.
#[cfg(feature = "rayon")]
pub(crate) const PARTS_PER_THREAD: usize = 4;

/// Boxes of a copy in place, at most: that each has its counterpart is found by sorting them. Not tuned.
pub(crate) const MOST_EXCHANGED_BOXES: u64 = 1 << 10;

/// Elements on a side of the blocks that a copy in place exchanges. By trial.
pub(crate) const EXCHANGE_BLOCK: u64 = 64;

/// Bytes from which on elements are exchanged directly, not in blocks.
pub(crate) const LARGE_ELEMENT: usize = LINE;
