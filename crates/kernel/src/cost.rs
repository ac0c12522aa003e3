//! Every threshold of the kernels that is the same on every machine. Those that are not are fields of a
//! [`Schedule`](crate::Schedule).

// --- Every machine
// -------------------------------------------------------------------------------------------------------

/// Bytes of a cache line: every x86-64 CPU and most ARM ones.
pub const LINE: usize = 64;

/// Bytes of a page of memory, and of a way of the L1 caches of AMD and Intel.
pub const PAGE: usize = 1 << 12;

// --- Stores and prefetch of a whole copy
// -------------------------------------------------------------------------------

/// Iterations that a kernel prefetches ahead, at most, however little each of them reads. By trial.
pub const PREFETCH_ITERATIONS: usize = 64;

/// Bytes read front to back from which on CPUs with few ways prefetch nothing: the hardware follows them (Z4;
/// not X5).
pub const FOLLOWED: usize = PAGE;

/// Bytes from which on a contiguous run is followed by the hardware prefetcher, which stops at the end of a
/// page.
pub const LONG_RUN: usize = PAGE;

/// How many bytes ahead a long run is prefetched. By trial.
pub const PREFETCH_IN_RUN: usize = 1 << 11;

/// How far ahead the page is looked up that will be stored to past the cache. Its first line is prefetched:
/// one at random costs (Z5).
pub const TRANSLATED_AHEAD: usize = PAGE;

/// Rows of the destination that are stored to in turns from which on no page is looked up ahead. By trial.
pub const MANY_ROWS: usize = 16;

// --- Which micro-kernel a box gets
// -------------------------------------------------------------------------------------

/// Bytes up to which a unit is transposed: longer runs fill a whole line of the destination wherever they
/// begin.
pub const LONGEST_UNIT: usize = 2 * LINE;

/// Bytes of a unit up to which runs of them are reversed in registers: half a vector of the narrowest kind.
pub const LONGEST_REVERSED: usize = 16;

/// Rows up to which an interleaved row is left as it is, because there are kernels for 2, 3, 4, 8 and 16
/// rows.
pub const MOST_INTERLEAVED: usize = 16;

/// Bytes of a micro-tile, at most: one shuffle inside a 16-byte lane transposes it.
pub const MICRO_TILE: usize = 16;

// --- Transposes
// --------------------------------------------------------------------------------------------------------

/// A row pitch that is a multiple of this puts all rows into one set of the TLB (Z5).
pub const TLB_PITCH: usize = 1 << 16;

/// Source rows of a panel at such a pitch, for the TLB to hold them until the next strip. By trial.
pub const TLB_ROWS: usize = 32;

/// How many bytes ahead of the panel at hand the prefetched one is stored, at least one panel. By trial.
pub const PANEL_PREFETCH: usize = 1 << 15;

/// Columns of planes whose destination rows begin inside lines that are transposed through all rows before
/// the next: what is left of each row is kept, a line each, 64 KiB in all. Not tuned.
pub const KEPT_COLUMNS: usize = 1 << 10;

/// Lines of each such row that are staged before they are drained, and of units of 1 and 2 bytes, of which a
/// stage has more rows. By trial (Z4).
pub const DRAINED_LINES: usize = 16;
/// The same of narrow units.
pub const FEW_DRAINED_LINES: usize = 8;

/// Bytes of a run of a staged panel, at most.
pub const LARGEST_STAGED_RUN: usize = 1 << 10;

/// The shortest such run, and that of copies through the cache whose destination rows share cache sets. By
/// trial.
pub const LEAST_STAGED_RUN: usize = STAGED_LINES * LINE;

/// Lines of a row that are staged together, at least: runs of 256 bytes.
pub const STAGED_LINES: usize = 4;

/// The same where rows are long enough. By trial.
pub const MORE_STAGED_LINES: usize = 2 * STAGED_LINES;

/// Bytes of a destination run up to which neighbouring tiles are joined, where they are: longer ones gained
/// nothing (Z3).
pub const LONGEST_JOINED: usize = 2 * LINE;

/// Bytes of the run in which neighbouring tiles are joined, at most: 512 and more cost nothing beside a copy
/// (Z3).
pub const JOINED_RUN: usize = 1 << 10;

/// A plane of units of 1 or 2 bytes is copied one by one if its shorter side fills at most one in this many
/// of a vector. By trial.
pub const NARROW: usize = 4;

/// Units up to which a plane is copied one by one. By trial.
pub const SMALL: usize = 64;

// --- Copies of contiguous runs
// -----------------------------------------------------------------------------------------

/// Bytes from which on the library's `memcpy` is as fast as any kernel of this crate. By trial.
pub const MEMCPY_FROM: usize = 1 << 10;

/// Runs in the L2 cache whose lines go in another order, at most: longer ones are as fast in theirs (Z5).
pub const LONGEST_PERMUTED: usize = 1 << 14;

/// Runs an iteration up to which each is prefetched for itself; more of them would come in a burst (rule 4).
/// Not tuned.
pub const FEW_RUNS: usize = 4;

/// Units of 16 bytes up to which a plane is blocks and nothing else: 16 KiB on either side stay in the L1
/// cache. By trial.
pub const FEW_LANES: usize = 1 << 10;

/// Destination rows that an L1 cache can take stores to at the same time. By trial.
pub const FEW_ROWS: usize = 16;

/// Destination rows that are stored to at the same time where all of them begin in one set of the L1 cache.
/// By trial (X5).
pub const FEW_COLUMNS: usize = 4;

/// Destination rows up to which whole lines are streamed to them in the order of the source, on a CPU with
/// few ways: of 128 rows pieces are faster (Z4).
pub const MOST_STREAMS: usize = 64;

/// Bytes of source rows from which on the hardware does not follow two that are read in turns (Z4).
pub const PAIRED_ROW: usize = 512;

/// Bytes of a destination row that are written before the next row is, where a plane of runs is transposed.
/// By trial.
pub const RUN_PIECE: usize = 256;

/// The same through the cache, of rows that share a set (by trial), and past it, of long source rows, on a
/// CPU with few ways (Z4).
pub const LONG_PIECE: usize = 1 << 10;

/// Bytes of a destination row below which the table of a byte shuffle does not pay. By trial.
pub const LEAST_SHUFFLED: usize = 256;

/// Bytes of a plane below which a byte shuffle prefetches the next plane. By trial.
pub const SMALL_SHUFFLED: usize = 1 << 16;

/// Bytes of a destination row that a byte shuffle writes before the next row: its source stays in the L1
/// cache. Not tuned.
pub const SHUFFLE_PIECE: usize = 1 << 11;
