//! What the line kernels need of a vector register.

/// A register of bytes, and the two shuffles every transposition is made of.
///
/// # Safety
///
/// All functions need the CPU features of the implementing type. Pointers may be unaligned, except for
/// [`stream`](Vector::stream).
pub(super) trait Vector: Copy {
    /// Bytes in a register: 32 or 64.
    const BYTES: usize;

    /// All bits zero.
    unsafe fn zero() -> Self;

    /// Reads `BYTES` bytes.
    unsafe fn load(from: *const u8) -> Self;

    /// Reads `bytes <= BYTES` bytes and no more; the rest of the register is zero.
    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self;

    /// Reads `bytes` bytes, a power of two of at most `BYTES`, and repeats them until the register is full.
    unsafe fn repeat(from: *const u8, bytes: usize) -> Self;

    /// Writes `BYTES` bytes.
    unsafe fn store(self, to: *mut u8);

    /// Writes the first `bytes <= BYTES` bytes and no more.
    unsafe fn store_partial(self, to: *mut u8, bytes: usize);

    /// Writes `BYTES` bytes round the cache; `to` must be a multiple of `BYTES`.
    unsafe fn stream(self, to: *mut u8);

    /// Reads 16 bytes from each place, one to each lane.
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self;

    /// Among as many registers as there are 16-byte lanes: lane `i` of register `j` becomes lane `j` of register `i`.
    unsafe fn swap_lanes<const LANES: usize>(rows: [Self; LANES]) -> [Self; LANES];

    /// In every lane, the units of `UNIT` bytes of two registers in turn, a b a b ...: the first half of each lane's, and the
    /// second.
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// The units of `UNIT` bytes of two registers in turn, a b a b ...: as two registers.
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// The even and the odd units of two registers in a row: undoes [`interleave`](Vector::interleave).
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// With every byte in parts of `WIDTH` bits, 1, 2 or 4: the first register gets the even parts of both in turn, those of
    /// `self` first, and the second one the odd parts. It is its own inverse.
    unsafe fn exchange<const WIDTH: usize>(self, other: Self) -> (Self, Self);

    /// The bytes of each 16 in another order.
    unsafe fn shuffle(self, order: &[u8; 16]) -> Self;

    /// Reads `BYTES / 2` bytes from either place.
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self;

    /// Asks for the line at `from`, which may lie anywhere, to come to the level-2 cache.
    unsafe fn prefetch(from: *const u8);

    /// Asks for the line at `to`, which may lie anywhere, to come to the cache in order to be written.
    unsafe fn prefetch_to_write(to: *const u8);

    /// The bytes that `index` names: byte `n` of all registers in a row, of which there are at most four.
    unsafe fn pick<const ROWS: usize>(rows: [Self; ROWS], index: Self) -> Self;

    /// The units of three registers in turn, as three registers in a row.
    unsafe fn weave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3];

    /// Undoes [`weave_three`](Vector::weave_three).
    unsafe fn unweave_three<const UNIT: usize>(lines: [Self; 3]) -> [Self; 3];
}
