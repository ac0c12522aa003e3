//! The cost model, and every threshold that is equal on all machines. The numbers that depend on the machine
//! are in [`Knobs`](super::machine::Knobs).
//!
//! The rules, in the order in which they matter (docs/DESIGN.md has more):
//!
//! 1. *Whole cache lines* are written: a store to a part of a line first reads the line.
//! 2. *Non-temporal stores* are used from a certain size on: an ordinary store first reads its line.
//! 3. *Reads are sequential, writes may be scattered*: a CPU waits for its loads, but not for its stores.
//! 4. *Software prefetches* come where the hardware prefetcher does not follow, and evenly: bursts of
//!    prefetches fill the queue of outstanding misses.
//! 5. *Cache-set conflicts* are avoided: rows whose pitch is a multiple of the size of a way share a set of
//!    the L1 cache, so they go through a staging buffer, or few of them are written at a time.
//!
//! The numbers were found on a Zen 5, unless another machine is named. No number was found on ARM. "By trial"
//! means the best of the neighbouring powers of two.

pub(crate) use strided_copy::kernel::{JOINED_RUN, MICRO_TILE, MOST_INTERLEAVED};
pub(crate) use strided_copy::{LINE, PAGE};

/// The size of a copy, in bytes read and written, from which on it uses non-temporal stores. The size is
/// between the best ones for a Zen 5 (2 MiB) and for a Zen 3 (9 to 12 MiB). A smaller copy leaves its result
/// in the cache for the reader.
pub(crate) const STREAMING_FROM: u64 = 8 << 20;

/// The size of a copy, in bytes read and written, from which on it uses non-temporal stores into memory that
/// was just written. This is half an L3 cache of 32 MiB. On a Zen 3, the best size was between 9 and 28 MiB.
pub(crate) const REUSED_STREAMING_FROM: u64 = 16 << 20;

/// The size of a copy of long rows, in bytes read and written, from which on it uses non-temporal stores.
/// Ordinary stores of rows are fast up to a larger size than those of scattered elements. With non-temporal
/// stores, copies of 8 to 16 MiB in rows of 256 bytes and more took 1.2 to 1.7 times as long (Zen 4).
pub(crate) const LONG_ROWS_STREAMING_FROM: u64 = 16 << 20;

/// The least length of a long row, in bytes. All bytes of a row are contiguous on both sides.
pub(crate) const LONG_ROW: usize = 2 * LINE;

// --- Prefetch -----------------------------------------------------------------------------------------

/// How many bytes ahead a kernel prefetches the source where the hardware prefetcher does not follow. By
/// trial (Zen 5). On a Zen 3, 2 KiB would be better.
pub(crate) const PREFETCH_DISTANCE: usize = 1 << 13;

/// How many iterations ahead a kernel prefetches at most, even if each reads few bytes. By trial (Zen 5).
pub(crate) const PREFETCH_ITERATIONS: usize = 64;

/// The length of a contiguous run, in bytes, from which on the hardware prefetcher follows the run. At the
/// end of a page, it stops.
pub(crate) const LONG_RUN: usize = PAGE;

/// How many bytes ahead a long row is prefetched, if several rows are read in turns. By trial (Zen 5).
pub(crate) const PREFETCH_IN_RUN: usize = 1 << 11;

/// The most runs in an iteration for which each run is prefetched by itself. Prefetches for more runs would
/// fill the queue of outstanding misses. Not tuned.
pub(crate) const FEW_RUNS: usize = 4;

// --- Contiguous runs ----------------------------------------------------------------------------------

/// The length of a run in bytes from which on `memcpy` is as fast as any kernel. By trial (Zen 5).
pub(crate) const MEMCPY_FROM: usize = 1 << 10;

/// The longest run whose lines are copied in a scattered order, in bytes. For longer runs, the order of
/// memory is as fast in the L2 cache (Zen 5).
pub(crate) const LONGEST_SCATTERED: usize = 1 << 14;

// --- Planes of a few rows -----------------------------------------------------------------------------

/// A plane of units of 1 or 2 bytes is copied unit by unit if its shorter axis fills at most one part in this
/// many of a register. By trial (Zen 5).
pub(crate) const NARROW: usize = 4;

/// A plane of at most this many units is copied unit by unit. By trial (Zen 5).
pub(crate) const SMALL: usize = 64;

/// If a plane has fewer bytes than this, and interleaves units that registers do not exchange (such as 3
/// bytes), the next plane is prefetched. By trial (Zen 5).
pub(crate) const SMALL_PLANE: usize = 1 << 16;

/// The most units of a plane of 16-byte units that is transposed in squares, and not in panels. The 16 KiB of
/// such a plane on either side stay in the L1 cache. By trial (Zen 5).
pub(crate) const FEW_LANES: usize = 1 << 10;

/// The most bytes from the first to the last row, on either side, of a plane that is transposed in squares:
/// so many bytes of both sides stay in the L1 cache. Not tuned.
pub(crate) const SQUARES: usize = 1 << 14;

// --- Planes of runs -----------------------------------------------------------------------------------

/// The most destination rows that are written in turns. The lines of so many rows stay in an L1 cache. By
/// trial (Zen 5).
pub(crate) const FEW_ROWS: usize = 16;

/// The most destination rows that are written in turns if all of them start in one set of the L1 cache. By
/// trial (a fifth-generation Xeon).
pub(crate) const FEW_COLUMNS: usize = 4;

/// The most destination rows to which whole lines are streamed in the order of the source. With 128 rows, it
/// is faster to write longer parts of rows (Zen 4). On a Zen 5, `nhwc_to_nChw8c` takes 0.85 of the time of
/// such parts, `tenstorrent_tile_bf16` 0.6.
pub(crate) const MOST_STREAMS: usize = 64;

/// The least length of a source row, in bytes, from which on the hardware prefetcher does not follow two rows
/// that are read in turns (Zen 4).
pub(crate) const PAIRED_ROW: usize = 512;

/// How many bytes of a destination row are written before those of the next row. By trial (Zen 5).
pub(crate) const RUN_PIECE: usize = 256;

/// How many bytes of a destination row are written before those of the next row, if the rows share a set of
/// the L1 cache. By trial (Zen 5).
pub(crate) const LONG_PIECE: usize = 1 << 10;

// --- Panels -------------------------------------------------------------------------------------------

/// The most rows and columns of a plane that is a single panel. A kernel lists this many of their offsets at
/// a time.
pub(crate) const MOST_LISTED: u32 = 512;

/// Rows whose pitch is a multiple of this number of bytes are all in one set of the TLB (Zen 5).
pub(crate) const TLB_PITCH: usize = 1 << 16;

/// The length of a destination run, in bytes, in a panel whose source rows are whole pages apart and whose
/// destination is streamed. On the source, the runs of such a panel have twice [`PANEL_WIDTH`] bytes. Of all
/// powers of two, 512 by 512 bytes is the best, or within 1.15 of the best (Zen 5). With 256 rows by 128
/// bytes, `transpose_f64_4096` takes 1.5 times as long.
pub(crate) const PANEL_RUN: usize = 1 << 9;

/// If the shorter side of a plane of units of 1 or 2 bytes has at most this many bytes, panels with
/// non-temporal stores take registers of half a line. On a Zen 5, `chw32_s8` then takes 0.4 to 0.6 of the
/// time, and 24 channels of u8 take 0.7 to 0.8.
pub(crate) const THIN: usize = LINE / 2;

/// The most source rows of a panel whose row pitch is a multiple of eight times [`TLB_PITCH`]. The TLB holds
/// the pages of this many rows until the next line of each row is read. If the pitch is a multiple of
/// [`TLB_PITCH`] only, panels have twice as many rows: with a pitch of 64 KiB they take 0.8 to 0.9 of the
/// time, with 512 KiB 1.1 to 1.3 (Zen 5).
pub(crate) const TLB_ROWS: usize = 32;

/// How many bytes ahead panels are prefetched, rounded to panels: at least one panel. By trial (Zen 5).
pub(crate) const PANEL_PREFETCH: usize = 1 << 15;

/// How many cache lines of a row are collected in the staging buffer before they are written out, if rows
/// begin inside lines. By trial (Zen 4).
pub(crate) const DRAINED_LINES: usize = 16;

/// How many cache lines of a row the staging buffer collects if units have 1 or 2 bytes. It then has more
/// rows, and room for fewer lines of each. By trial (Zen 4).
pub(crate) const FEW_DRAINED_LINES: usize = 8;

/// The least number of lines of a destination row that are collected in a staging buffer: a run of 256 bytes.
pub(crate) const STAGED_LINES: u8 = 4;

/// How many lines of a row are collected in a staging buffer if panels are high enough. By trial (Zen 5).
pub(crate) const MORE_STAGED_LINES: u8 = 2 * STAGED_LINES;

/// The longest destination run, in bytes, for which the runs of neighbouring tiles are joined, on machines
/// that join tiles. Joining longer runs gained nothing (Zen 3).
pub(crate) const LONGEST_JOINED: usize = 2 * LINE;

/// The most ways of an L1 cache for which runs of neighbouring tiles are joined, with registers of half a
/// line. With 8 ways (Zen 3) `untile_s4` takes 0.58 of the time, with 12 ways (Zen 5) `untile_s8` takes 1.4
/// times as long.
pub(crate) const FEW_WAYS: usize = 8;

// --- Which micro-kernel a box gets --------------------------------------------------------------------

/// The longest unit that is transposed, in bytes. Longer runs are copied as they are, because nearly all of
/// their lines are whole.
pub(crate) const LONGEST_TRANSPOSED: usize = strided_copy::kernel::LONGEST_UNIT;

/// The least number of bytes that an axis of a plane should span on the side where it is packed, so that
/// nearly all lines are whole. Longer axes are no faster on a Zen 5 and a Zen 3.
pub(crate) const MIN_AXIS: usize = 512;

/// The most entries of a table of offsets that replaces fused loops: 32 KiB. Loops beyond that are not fused.
pub(crate) const LARGEST_TABLE: usize = 4096;

// --- Transposes ---------------------------------------------------------------------------------------

/// The largest panel in bytes. Two panels of this size fit half an L2 cache of 512 KiB. By trial (Zen 5).
pub(crate) const LARGEST_PANEL: usize = 1 << 17;

/// The most source rows of a panel. Even if units have one byte, so many rows fill whole lines of the
/// destination. By trial (Zen 5).
pub(crate) const PANEL_ROWS: usize = 256;

/// The least length of a row of a panel, in bytes. If the row pitch is whole pages, the least length is twice
/// this. On a Zen 5, `oihw_to_OIhw16i16o` in rows of 1 KiB takes 0.7 of the time of rows of 256 bytes, and
/// `nchw_to_nhwc_f32` takes 1.1 times as long. If rows begin inside lines, rows of 512 bytes take 0.8 to 1.0
/// of the time.
pub(crate) const PANEL_WIDTH: usize = 1 << 8;
/// The bytes of a panel with few rows: its rows are lengthened until it has so many bytes, to four times
/// their length at most. If the row pitch is whole pages, the panel has four times as many bytes. If, in
/// addition, destination rows begin inside lines, it has twice as many, because with four times as many
/// `nhwc_to_nchw_f32_7x7` takes 1.15 times as long (Zen 5).
pub(crate) const SMALL_PANEL: usize = 1 << 14;

// --- Elements below a byte ----------------------------------------------------------------------------

/// How many elements, a byte each, a staging buffer holds between a packed side and the other side. Two
/// buffers fit an L1 cache of 48 KiB with the source. With half as many elements, `untile_unpack_s4` takes
/// 1.5 times as long (Zen 5).
pub(crate) const BUFFER: usize = 1 << 14;

/// The least number of elements of a row that is unpacked or packed without a staging buffer. A row of 64
/// elements is a cache line on the side that has a byte for each element.
pub(crate) const LEAST_UNPACKED_ROW: u64 = 64;

/// How many elements that follow each other on the packed side go into the staging buffer together, at least.
/// A cache line of elements of 4 bits has 128 elements.
pub(crate) const STAGED_PACKED_RUN: u64 = 128;

/// How many elements that follow each other on the side with a byte for each element go into the staging
/// buffer together, at least. A run of 256 elements is four cache lines.
pub(crate) const STAGED_UNPACKED_RUN: u64 = 256;

/// The least number of elements that follow each other on the source and go into the staging buffer together,
/// if the source has a byte for each element. Runs that are read from memory should be longer than runs that
/// are stored (Zen 5, `tile_pack_s4`).
pub(crate) const STAGED_READ_RUN: u64 = 1 << 11;

// --- Programs, padding, pieces and threads ------------------------------------------------------------

/// The most boxes that a program plans ahead. Further boxes are planned as they are run. Not tuned.
pub(crate) const PREPARED_BOXES: u64 = 64;

/// The most boxes of padding. A destination with more of them is first filled as a whole. Not tuned.
pub(crate) const MOST_PADDING_BOXES: usize = 1 << 10;

/// If runs of padding are shorter than this on average, in bytes, the destination is filled before the
/// elements are copied (Zen 5).
pub(crate) const LEAST_PADDING_RUN: u64 = 64;

/// The longest gap, in bytes, between two short runs of padding that is filled together with them, and copied
/// over later. One more run takes as much time to start as filling this many bytes. By trial (Zen 4).
pub(crate) const FILL_AROUND: u64 = 1 << 10;

/// How many bytes are filled and then copied over while they are in a cache. Not tuned.
pub(crate) const FILL_BLOCK: usize = 1 << 22;

/// A copy of more boxes than this stays one piece. Not tuned.
pub(crate) const MOST_CUT_BOXES: u64 = 1 << 12;

/// The most clipped boxes of all pieces together. If there would be more, fewer pieces are made. Not tuned.
pub(crate) const MOST_CLIPPED: usize = 1 << 13;

/// The most entries of all offset tables: of boxes that are planned ahead, of boxes that are to be clipped,
/// and of clipped boxes. Each of the three takes at most 16 MiB. Not tuned.
pub(crate) const MOST_ENTRIES: u64 = 1 << 20;

/// The most loops and entries of offset tables that are visited when a copy is cut into some number of
/// pieces, in tens of milliseconds. At this limit, half as many pieces are tried instead. Not tuned.
pub(crate) const MOST_CLIP_STEPS: u64 = 1 << 20;

/// The most comparisons of a box with a piece when a copy is cut. If each box with each piece would be more,
/// fewer pieces are made. Not tuned.
pub(crate) const MOST_COMPARED: usize = 1 << 23;

/// A piece may be longer or shorter than an equal share by one part in this many. So a piece can end at a
/// multiple of a large stride. Not tuned.
pub(crate) const PIECE_SLACK: u64 = 16;

/// The least size of a piece, in bytes, that is worth a thread which already runs. On two threads of rayon,
/// two pieces of this size take 0.44 of the time of one thread, and two of half the size 0.56 to 1.0 (Zen 5).
pub(crate) const LEAST_PIECE: u64 = 1 << 18;

/// How many pieces a copy is cut into for each thread. With four, a thread that is late delays the copy by a
/// quarter of the thread's share. Not tuned.
#[cfg(feature = "rayon")]
pub(crate) const PARTS_PER_THREAD: usize = 4;
