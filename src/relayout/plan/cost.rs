//! The cost model, and every threshold that follows from it and is the same on every machine. Those that are not are
//! [`Knobs`](super::machine::Knobs).
//!
//! A relayout reads every byte once and writes it once, and the processor could do much more in that time. So the cost of a
//! plan is how far its memory traffic is from two sequential streams. The rules, in the order in which they matter:
//!
//! 1. *Whole cache lines.* A store to part of a line makes the memory system read the rest of it first. A transpose therefore works in
//!    blocks that are a line long on both sides, and an axis shorter than a line is fused with the loop that continues it
//!    ([`MIN_AXIS`]).
//! 2. *Non-temporal stores.* An ordinary store reads its line into the cache, too. From a size on (`Knobs::streaming_from`), whole lines are
//!    stored past the cache; below, the reader of the destination would have to read it back from memory.
//! 3. *Sequential reads, scattered writes.* A load stalls whoever needs its value, a store does not. Contiguous runs that leave at least two
//!    lines in each place are copied in the order of the source; shorter ones, and a source that is repeated (stride 0) and so stays in
//!    the cache, in the order of the destination.
//! 4. *Software prefetch.* Where the order of the reads is none that the hardware prefetcher follows (the next row, the next tile), a
//!    kernel prefetches some bytes ahead (`Knobs::prefetch_distance`), one line for each line it copies; a transpose prefetches the next panel
//!    row by row while it works on the present one. Prefetches issued in bursts fill the queue of outstanding misses. A source that is read front to back
//!    ([`FOLLOWED`]) needs none: what goes backwards does so on the destination.
//! 5. *Cache-set conflicts.* Rows whose pitch is a multiple of a way map to the same set of the L1 cache (`Knobs::l1_way`). Copies through the cache go by
//!    way of a padded staging buffer then; streamed ones order their blocks so that runs grow in few destination rows at a time.
//! 6. *Threads* share the iterations of one outer loop, which changes none of the above; where no loop has enough of
//!    them, the destination is cut into pieces.
//!
//! # Where the numbers come from
//!
//! All were found on one machine, *Z5*: AMD EPYC (Zen 5, AVX-512, L1 data 48 KiB with 12 ways, L2 1 MiB); a few were held against a second one, *Z3*: AMD EPYC
//! (Zen 3, AVX2, L1 data 32 KiB with 8 ways). Ratios are times over a plain copy of as many bytes. "By trial" means: the best of the neighbouring powers of two
//! on Z5, of which no figure was kept. *X6* and *X5* are two Intel Xeons (AVX-512, L1 data 48 KiB with 12 ways, L2 2 MiB that is not inclusive), *Z4* is an AMD EPYC (Zen 4, AVX-512, caches as Z3). docs/PERFORMANCE.md
//! and its neighbours have the figures. Nothing here was measured on ARM CPUs.

// --- Every machine -------------------------------------------------------------------------------------------------------

/// Bytes of a cache line: every x86-64 CPU and most ARM ones. (Apple's have lines of 128: two of these, which kernels store one after the other
/// wherever rows are longer.)
pub(crate) const LINE: usize = 64;

/// Bytes of a page of memory. Addresses a multiple of it apart also share a set in each L1 cache that has 64 sets of
/// 64-byte lines, which is every L1 data cache of AMD and Intel at the time of writing.
pub(crate) const PAGE: usize = 1 << 12;

// --- Stores and prefetch of a whole copy -------------------------------------------------------------------------------

/// Iterations that a kernel prefetches ahead, at most, however little each of them reads. By trial.
pub(crate) const PREFETCH_ITERATIONS: usize = 64;

/// Bytes of the source that are read front to back from which on nothing is prefetched: the hardware prefetcher follows them (Z4).
pub(crate) const FOLLOWED: usize = 1 << 16;

/// Bytes from which on a contiguous run is followed by the hardware prefetcher, which stops at the end of a page.
pub(crate) const LONG_RUN: usize = PAGE;

/// How many bytes ahead a long run is prefetched: beyond what the hardware prefetcher has loaded. By trial.
pub(crate) const PREFETCH_IN_RUN: usize = 1 << 11;

/// How far ahead the page is looked up that will be stored to past the cache: a store waits until the address of its page is
/// translated, and no hardware prefetcher asks for that. The first line of that page is prefetched: one at random costs (Z5).
pub(crate) const TRANSLATED_AHEAD: usize = PAGE;

/// Rows of the destination that are stored to in turns from which on no page is looked up ahead. By trial.
pub(crate) const MANY_ROWS: usize = 16;

// --- Which micro-kernel a box gets -------------------------------------------------------------------------------------

/// Bytes up to which a unit is transposed. By rule 1: a run of two lines or more fills at least one whole line of the destination wherever it begins, so
/// nothing is gained by bringing its neighbours together.
pub(crate) const LONGEST_TRANSPOSED: usize = 2 * LINE;

/// Bytes of a unit up to which runs of them are reversed in registers: half a vector of the narrowest kind.
pub(crate) const LONGEST_REVERSED: usize = 16;

/// Rows up to which an interleaved row is left as it is, because there are kernels for 2, 3, 4, 8 and 16 rows.
pub(crate) const MOST_INTERLEAVED: usize = 16;

/// Bytes that an axis of a plane should span on the side where it is packed; a shorter one is fused with the loop that
/// continues it. By trial: 512-byte runs cost nothing more than longer ones, on Z5 as on Z3.
pub(crate) const MIN_AXIS: usize = 512;

/// Entries of a table of offsets that stands for fused loops, at most: 32 KiB, which stay in the L1 cache of Z5.
pub(crate) const LARGEST_TABLE: usize = 4096;

/// Bytes of a micro-tile, at most: one shuffle inside a 16-byte lane transposes it.
pub(crate) const MICRO_TILE: usize = 16;

/// Elements of a sub-byte plane below which copying them one by one is faster than the way through three buffers. By trial.
pub(crate) const LEAST_BIT_PLANE: usize = 128;

// --- Transposes --------------------------------------------------------------------------------------------------------

/// A row pitch that is a multiple of this puts all rows into the same set of the TLB (Z5: reverse_6d_f32).
pub(crate) const TLB_PITCH: usize = 1 << 16;

/// Source rows of a panel at such a pitch: few enough that their TLB entries are still there for the next strip. By trial.
pub(crate) const TLB_ROWS: usize = 32;

/// How many bytes ahead of the panel at hand the prefetched one lies, at least one panel. By trial.
pub(crate) const PANEL_PREFETCH: usize = 1 << 15;

/// How many blocks ahead a block at the edge of a plane prefetches the lines that it will write in part. By trial.
pub(crate) const EDGE_PREFETCH: usize = 4;

/// Bytes of a run of a staged panel, at most: a vector of rows of them, and a line more each, stay in an L2 cache.
pub(crate) const LARGEST_STAGED_RUN: usize = 1 << 10;

/// The shortest such run, and that of copies through the cache whose destination rows share cache sets. By trial.
pub(crate) const LEAST_STAGED_RUN: usize = STAGED_LINES * LINE;

/// Lines of a row that are staged together, at least: runs of 256 bytes.
pub(crate) const STAGED_LINES: usize = 4;

/// The same where rows are long enough. By trial.
pub(crate) const MORE_STAGED_LINES: usize = 2 * STAGED_LINES;

/// Bytes of a destination run up to which neighbouring tiles are joined, where they are: on Z3, longer ones (untile_bf16, 256) gained nothing.
pub(crate) const LONGEST_JOINED: usize = 2 * LINE;

/// Bytes of the run in which neighbouring tiles are joined, at most: on Z3 runs of 512 bytes and more cost nothing beside a copy.
pub(crate) const JOINED_RUN: usize = 1 << 10;

/// A plane whose shorter side fills at most this fraction of a vector (one in four) and has units of 1 or 2 bytes is
/// copied unit by unit. By trial.
pub(crate) const NARROW: usize = 4;

// --- Copies of contiguous runs -----------------------------------------------------------------------------------------

/// Bytes from which on the library's `memcpy` is as fast as any kernel of this crate. By trial.
pub(crate) const MEMCPY_FROM: usize = 1 << 10;

/// Runs an iteration up to which each is prefetched for itself: they are a line each, far from those of the next iteration. More of them would come in a burst
/// (rule 4). Not tuned.
pub(crate) const FEW_RUNS: usize = 4;

/// Units of 16 bytes in a plane up to which they are moved one by one: 16 KiB on either side stay in the L1 cache. By trial.
pub(crate) const FEW_LANES: usize = 1 << 10;

/// Destination rows that an L1 cache can take stores to at the same time. By trial.
pub(crate) const FEW_ROWS: usize = 16;

/// Destination rows that are stored to at the same time where all of them begin in one set of the L1 cache. By trial (X5).
pub(crate) const FEW_COLUMNS: usize = 4;

/// Bytes of a destination row that are written before the next row is, where a plane of runs is transposed. By trial.
pub(crate) const RUN_PIECE: usize = 256;

/// The same through the cache, of rows that share a set (by trial), and past it, of long source rows, on a CPU with few ways (Z4).
pub(crate) const LONG_PIECE: usize = 1 << 10;

/// Bytes of a destination row below which building the table of a byte shuffle takes longer than it saves. By trial.
pub(crate) const LEAST_SHUFFLED: usize = 256;

/// Bytes of a plane below which a byte shuffle prefetches the next plane instead of a place further on in this one. By trial.
pub(crate) const SMALL_SHUFFLED: usize = 1 << 16;

/// Bytes of a destination row that a byte shuffle writes before the next row: its source, at most four times as much, is in the smallest L1
/// cache of today (32 KiB) until then. Not tuned.
pub(crate) const SHUFFLE_PIECE: usize = 1 << 11;

// --- Sub-byte planes ---------------------------------------------------------------------------------------------------

/// Bytes of each of the three buffers that a block of a sub-byte plane goes through: together they fit an L1 cache of 48 KiB.
pub(crate) const BIT_BUFFER: usize = 1 << 14;

/// Bytes of the shorter side of such a block, at most. By trial.
pub(crate) const BIT_BLOCK: usize = 64;

// --- Changes of the storage width --------------------------------------------------------------------------------------

/// Elements of a row from which on it is unpacked or packed without a stage: a line of the side that has a byte for each.
pub(crate) const LEAST_UNPACKED_ROW: u64 = 64;

/// Bytes of the stage between a packed side and one of bytes: with what it is filled from, half as much again, it stays in an L1 cache of 32 KiB. By trial:
/// half and twice as much are slower.
pub(crate) const WIDTH_STAGE: u64 = 1 << 14;

/// Elements that follow each other on the packed side and are staged together, at least: a line of 4-bit ones.
pub(crate) const STAGED_PACKED_RUN: u64 = 128;

/// Elements that follow each other on the side of bytes and are staged together, at least: four lines.
pub(crate) const STAGED_UNPACKED_RUN: u64 = 256;

/// The same where they are read from memory (Z5, tile_pack_s4).
pub(crate) const STAGED_READ_RUN: u64 = 1 << 11;

// --- Programs, padding, pieces and threads -----------------------------------------------------------------------------

/// Boxes up to which a program plans all of them ahead; more are planned as they are run. Bounds the memory of a plan. Not tuned.
pub(crate) const PREPARED_BOXES: u64 = 64;

/// Bytes of a box from which on progress is reported between the iterations of its outermost loop: a copy of less takes a few milliseconds. Not tuned.
pub(crate) const REPORT_FROM: u64 = 1 << 24;

/// About so many bytes lie between two reports: a millisecond at 2 GB/s.
pub(crate) const REPORT_EACH: u64 = 1 << 21;

/// Boxes of padding, at most; a destination with more is filled as a whole first. Bounds the memory of a plan. Not tuned.
pub(crate) const MOST_PADDING_BOXES: usize = 1 << 10;

/// Bytes of a run of padding below which, on average, filling everything first is faster than writing each run of padding (Z5).
pub(crate) const LEAST_PADDING_RUN: u64 = 64;

/// Bytes that are filled and then copied over while they are in the cache: the last cache, if not the one before. Longer ones would
/// leave it on small machines, shorter ones are more pieces to plan. Not tuned.
pub(crate) const FILL_BLOCK: usize = 1 << 22;

/// Bytes that are put together in a buffer before they go to memory that is not to be read, or to be written twice: with what they
/// are read from, they stay in an L2 cache of 1 MiB.
pub(crate) const WRITE_BLOCK: usize = 1 << 18;

/// Boxes of a copy that is cut into pieces, at most. Bounds the time and the memory of cutting. Not tuned.
pub(crate) const MOST_CUT_BOXES: u64 = 1 << 12;

/// Clipped boxes of all pieces together, at most, for the same reason. Not tuned.
pub(crate) const MOST_CLIPPED: usize = 1 << 14;

/// Entries of all tables of the boxes that are planned ahead, cut or clipped, at most: 16 MiB each. Not tuned.
pub(crate) const MOST_ENTRIES: u64 = 1 << 20;

/// Loops and entries of tables that are looked at to cut a copy into so many pieces, at most: tens of milliseconds. Where it does not suffice,
/// half as many pieces are tried. Not tuned.
pub(crate) const MOST_CLIP_STEPS: u64 = 1 << 20;

/// Boxes that are held against the bounds of pieces, at most, those of each piece counted: tens of milliseconds. Not tuned.
pub(crate) const MOST_COMPARED: usize = 1 << 23;

/// A piece may be longer or shorter than an equal share by one part in so many, if it then ends where a large stride takes a step. So the longest piece takes
/// at most an eighth longer than an equal share. Not tuned.
pub(crate) const PIECE_SLACK: u64 = 16;

/// Bytes of a piece, at least, for which waking a thread pays. By trial.
#[cfg(feature = "rayon")]
pub(crate) const LEAST_PIECE: u64 = 1 << 18;

/// Pieces, or parts of a loop, for each thread: a thread that is held up leaves the rest to the others. Four of them bound
/// what one late part costs to a quarter of a thread's share. Not tuned.
#[cfg(feature = "rayon")]
pub(crate) const PARTS_PER_THREAD: usize = 4;

/// Boxes of a copy in place, at most: that each has its counterpart is found by sorting them. Not tuned.
pub(crate) const MOST_EXCHANGED_BOXES: u64 = 1 << 10;

/// Elements on a side of the blocks that a copy in place exchanges: two blocks of 16-byte elements stay in an L2 cache. By trial.
pub(crate) const EXCHANGE_BLOCK: u64 = 64;

/// Bytes from which on elements are exchanged directly, not in blocks.
pub(crate) const LARGE_ELEMENT: usize = LINE;
