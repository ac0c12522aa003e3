//! What kernels need of a vector register.

use crate::line::PAGE;

/// How far ahead of a store past the cache the translation of its page is looked up, in bytes. The first line
/// of the page is prefetched for it: a prefetch of a line at random costs (Zen 5).
const TRANSLATED_AHEAD: usize = PAGE;

/// Something to do over vectors, compiled once for each width.
pub(crate) trait Operation {
    /// Does it.
    ///
    /// # Safety
    ///
    /// The CPU has the features of `V`, which has `LANES` lanes of 16 bytes; and the conditions of the
    /// operation itself hold.
    unsafe fn run<V: Vector, const LANES: usize>(self);
}

/// A register of bytes, and the shuffles that transposes and interleaves are made of.
///
/// All functions need the CPU features of the implementing type, and the memory that they name. Pointers may
/// be unaligned, except those of [`store_past_cache`](Vector::store_past_cache) and
/// [`stream`](Vector::stream), whose stores are ordered by a fence alone.
///
/// # Safety
///
/// That kernels are sound rests on it: each function reads and writes the bytes that it names and no others,
/// its result is initialised, and `BYTES` is the size of a register.
pub(crate) unsafe trait Vector: Copy {
    /// Bytes in a register: 32 or 64.
    const BYTES: usize;

    /// Is [`shuffle`](Vector::shuffle) over two registers a single instruction, or are shuffles inside lanes
    /// cheaper?
    const SHUFFLES_TWO: bool;

    /// Runs an operation as a function of its own, which may use the features of this type: the one place
    /// where a kernel is compiled with them.
    ///
    /// # Safety
    ///
    /// The CPU has the features; and the conditions of [`Operation::run`] of this operation hold.
    unsafe fn vectorize<O: Operation>(operation: O);

    /// All bits zero.
    unsafe fn zero() -> Self;

    /// Reads `BYTES` bytes.
    unsafe fn load(from: *const u8) -> Self;

    /// Reads `bytes <= BYTES` bytes and no more; the rest of the register is zero. `from` may dangle if
    /// `bytes` is 0.
    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self;

    /// Reads `bytes` bytes, a power of two of at most `BYTES`, and repeats them until the register is full.
    unsafe fn repeat(from: *const u8, bytes: usize) -> Self;

    /// Writes `BYTES` bytes.
    unsafe fn store(self, to: *mut u8);

    /// Writes the first `bytes <= BYTES` bytes and no more. `to` may dangle if `bytes` is 0.
    unsafe fn store_partial(self, to: *mut u8, bytes: usize);

    /// Writes `BYTES` bytes past the cache (a non-temporal store); `to` must be a multiple of `BYTES`.
    unsafe fn store_past_cache(self, to: *mut u8);

    /// The same of vectors that follow each other in memory: where a page begins, one further on is looked
    /// up, for which only a prefetch can ask ([`TRANSLATED_AHEAD`]).
    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the trait's contract; a prefetch may go anywhere.
        unsafe {
            if to.addr().is_multiple_of(PAGE) {
                Self::prefetch(to.wrapping_add(TRANSLATED_AHEAD));
            }
            self.store_past_cache(to);
        }
    }

    /// Reads 16 bytes from each pointer, one to each lane.
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self;

    /// Among as many registers as there are 16-byte lanes: lane `i` of register `j` becomes lane `j` of
    /// register `i`.
    unsafe fn transpose_lanes<const LANES: usize>(rows: [Self; LANES]) -> [Self; LANES];

    /// The same of `BYTES` bytes at each pointer: in a cache, more loads may save shuffles.
    #[inline(always)]
    unsafe fn load_transposed<const LANES: usize>(rows: [*const u8; LANES], _in_cache: bool) -> [Self; LANES] {
        // SAFETY: the trait's contract.
        unsafe {
            let mut lines = [Self::zero(); LANES];
            for (line, row) in lines.iter_mut().zip(rows) {
                *line = Self::load(row);
            }
            Self::transpose_lanes(lines)
        }
    }

    /// In every lane, the units of `UNIT` bytes of two registers interleaved, a b a b ...: the first half of
    /// each lane's, and the second.
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// The units of `UNIT` bytes of two registers interleaved, a b a b ...: as two registers.
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// The even and the odd units of two registers in a row: undoes [`interleave`](Vector::interleave).
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// The units of three registers interleaved, as three registers in a row.
    unsafe fn interleave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3];

    /// Undoes [`interleave_three`](Vector::interleave_three).
    unsafe fn deinterleave_three<const UNIT: usize>(joined: [Self; 3]) -> [Self; 3];

    /// With every byte in parts of `WIDTH` bits, 1, 2 or 4: the first register gets the even parts of both
    /// interleaved, those of `self` first, and the second one the odd parts. It is its own inverse.
    unsafe fn exchange_bits<const WIDTH: usize>(self, other: Self) -> (Self, Self);

    /// Every byte as a signed number of 8 bits, whose value its low `BITS` bits, 1, 2 or 4, hold; the others
    /// are zero.
    unsafe fn sign_extended<const BITS: usize>(self) -> Self;

    /// The bytes of each lane in another order; the indices are below 16.
    unsafe fn shuffle_lanes(self, order: &[u8; 16]) -> Self;

    /// The lanes in the opposite order.
    unsafe fn reverse_lanes(self) -> Self;

    /// In every lane a byte shuffle over the 32 bytes of two registers in a row: byte `index[i]`, below 32,
    /// of `low` and `high`.
    unsafe fn shuffle_pairs(low: Self, high: Self, index: Self) -> Self;

    /// Reads `BYTES / 2` bytes from either pointer.
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self;

    /// The bytes of `self` where those of `mask` are ones, and those of `other` where they are zeros.
    unsafe fn select(self, other: Self, mask: Self) -> Self;

    /// The bits of both.
    unsafe fn or(self, other: Self) -> Self;

    /// The bits of `self` where those of `mask` are ones, and those of `other` where they are zeros.
    unsafe fn choose_bits(self, other: Self, mask: Self) -> Self;

    /// In every lane a byte shuffle: byte `index[i]` of the lane if that is below 16, and a zero if its
    /// highest bit is set. There are no other indices.
    unsafe fn shuffle_in_lanes(self, index: Self) -> Self;

    /// Prefetches the line at `from`, which may be anywhere, into the L2 cache.
    unsafe fn prefetch(from: *const u8);

    /// The same into the L1 cache.
    unsafe fn prefetch_near(from: *const u8);

    /// Prefetches the line at `to`, which may be anywhere, to be written.
    unsafe fn prefetch_to_write(to: *const u8);

    /// A byte shuffle over at most four registers: byte `index[i]` of all of them in a row.
    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self;
}

/// Which byte of three registers of `register` bytes comes to byte `i` when their units, of `unit` bytes, are
/// interleaved, or deinterleaved.
pub(crate) const fn origin_in_three(i: usize, unit: usize, register: usize, interleave: bool) -> usize {
    let (place, inside) = (i / unit, i % unit);
    let units = register / unit;
    let first =
        if interleave { (place % 3) * register + place / 3 * unit } else { (place % units * 3 + place / units) * unit };
    first + inside
}
