//! The operations of a vector register that kernels require.

use crate::machine::PAGE;

/// How many bytes ahead of a non-temporal store a prefetch loads the address translation. Only the store at
/// the start of a page prefetches: a prefetch for every store would take longer than it saves (Zen 5).
const TRANSLATED_AHEAD: usize = PAGE;

/// A kernel, or a part of a kernel, that is compiled once for each type of vector.
pub(crate) trait Operation {
    /// Runs the operation.
    ///
    /// # Safety
    ///
    /// * The CPU has the features of `V`, which has `LANES` lanes of 16 bytes.
    /// * The conditions hold that the implementation of this function lists.
    unsafe fn run<V: Vector, const LANES: usize>(self);
}

/// A register of bytes, and the shuffles that transposes and interleaves are made of.
///
/// All functions require the CPU features of the implementing type, and that the memory they name is readable
/// to a load and writable to a store. Pointers may be unaligned, except for
/// [`store_non_temporal`](Vector::store_non_temporal) and [`stream`](Vector::stream). The stores of these two
/// functions are ordered by nothing but a fence.
///
/// # Safety
///
/// The kernels are sound only if each implementation keeps these promises:
///
/// * A function reads and writes the bytes that it names and no others.
/// * The result of a function is initialised.
/// * `BYTES` is the size of the register.
pub(crate) unsafe trait Vector: Copy {
    /// Size of a register in bytes: 32 or 64.
    const BYTES: usize;

    /// Whether [`shuffle`](Vector::shuffle) of two registers is a single instruction. If not, shuffles inside
    /// lanes are faster.
    const SHUFFLES_TWO: bool;

    /// Runs an operation in a function that is compiled with the features of this type. Kernels get these
    /// features only here. The function is never inlined: otherwise every copy would have the stack frame of
    /// the largest kernel, which is several pages.
    ///
    /// # Safety
    ///
    /// * The CPU has the features of this type.
    /// * The conditions hold that [`Operation::run`] lists for this operation.
    unsafe fn vectorize<O: Operation>(operation: O);

    /// The length of a window in bytes: [`pick`](Vector::pick) shuffles inside windows, which are lanes of 16
    /// bytes, or the whole register. If they are registers, there is [`store_chosen`](Self::store_chosen).
    const WINDOW: usize = 16;

    unsafe fn zero() -> Self;

    unsafe fn load(from: *const u8) -> Self;

    /// Loads `bytes <= BYTES` bytes and no more. The rest of the register is zero. `from` may dangle if
    /// `bytes` is 0.
    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self;

    /// Loads `bytes` bytes, a power of two of at most `BYTES`, and repeats them until the register is full.
    unsafe fn repeat(from: *const u8, bytes: usize) -> Self;

    unsafe fn store(self, to: *mut u8);

    /// Stores the first `bytes <= BYTES` bytes and no more. `to` may dangle if `bytes` is 0.
    unsafe fn store_partial(self, to: *mut u8, bytes: usize);

    /// Stores `BYTES` bytes with a non-temporal store. `to` must be a multiple of `BYTES`.
    unsafe fn store_non_temporal(self, to: *mut u8);

    /// Stores `BYTES` bytes with a non-temporal store, as one of many vectors that follow each other in
    /// memory. At the start of a page, the address translation of a later page is loaded
    /// ([`TRANSLATED_AHEAD`]). `to` must be a multiple of `BYTES`.
    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: `store_non_temporal` has the same contract. A prefetch may be given any address.
        unsafe {
            if to.addr().is_multiple_of(PAGE) {
                Self::prefetch(to.wrapping_add(TRANSLATED_AHEAD));
            }
            self.store_non_temporal(to);
        }
    }

    /// Loads 16 bytes from each pointer, one pointer for each lane.
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self;

    /// Transposes the lanes of as many registers as a register has lanes: lane `i` of register `j` becomes
    /// lane `j` of register `i`.
    unsafe fn transpose_lanes<const LANES: usize>(rows: [Self; LANES]) -> [Self; LANES];

    /// Loads `BYTES` bytes from each pointer, and transposes the lanes of the loaded registers. If the source
    /// is in a cache, an implementation may use more loads and fewer shuffles.
    #[inline(always)]
    unsafe fn load_transposed<const LANES: usize>(rows: [*const u8; LANES], _in_cache: bool) -> [Self; LANES] {
        // SAFETY: by the contract of the trait, `BYTES` bytes are readable at each pointer.
        unsafe {
            let mut lines = [Self::zero(); LANES];
            for (line, row) in lines.iter_mut().zip(rows) {
                *line = Self::load(row);
            }
            Self::transpose_lanes(lines)
        }
    }

    /// Interleaves the units, of `UNIT` bytes, of registers a and b inside every lane, as a b a b ... In each
    /// lane, the first result has the first half of the units of both, and the second result the rest.
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// Interleaves the units of `UNIT` bytes of two whole registers, as a b a b ..., into two registers.
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// Separates two registers into their even and their odd units, which undoes
    /// [`interleave`](Vector::interleave).
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self);

    /// Interleaves the units of three registers, as a b c a b c ..., into three registers.
    unsafe fn interleave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3];

    /// Separates three registers into the units of three rows, which undoes
    /// [`interleave_three`](Vector::interleave_three).
    unsafe fn deinterleave_three<const UNIT: usize>(joined: [Self; 3]) -> [Self; 3];

    /// Exchanges fields of `WIDTH` bits, 1, 2 or 4, of every byte. In the first result, the even fields of
    /// `self` and those of `other` alternate; in the second result, their odd fields. The exchange undoes
    /// itself.
    unsafe fn exchange_bits<const WIDTH: usize>(self, other: Self) -> (Self, Self);

    /// Sign-extends every byte. On entry, the low `BITS` bits of a byte (1, 2 or 4) are a signed number, and
    /// its other bits are zero.
    unsafe fn sign_extended<const BITS: usize>(self) -> Self;

    /// Shuffles the bytes of each lane by the indices in `order`, as
    /// [`shuffle_in_lanes`](Vector::shuffle_in_lanes) does.
    #[inline(always)]
    unsafe fn shuffle_lanes(self, order: &[u8; 16]) -> Self {
        // SAFETY: `order` has the 16 bytes that are read. The features are in the contract of the trait.
        unsafe { self.shuffle_in_lanes(Self::repeat(order.as_ptr(), 16)) }
    }

    /// Loads the lower half of a register from `low`, and the upper half from `high`: `BYTES / 2` bytes each.
    #[inline(always)]
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: by the contract of the trait, half a register is readable at `low` and at `high`. Here this
        // is a lane: a vector with more than two lanes overrides this function.
        unsafe { Self::load_lanes([low, high]) }
    }

    unsafe fn or(self, other: Self) -> Self;

    /// Puts bytes of `from` into `self`, window by window: byte `index[i]` becomes byte `i` of the window. If
    /// windows are lanes, an index with the highest bit picks nothing, and `self` must be zero where a byte
    /// is picked. If windows are registers, only an index with the highest bit picks a byte.
    #[inline(always)]
    unsafe fn pick(self, from: Self, index: Self) -> Self {
        // SAFETY: only registers are touched. By the contract of the trait, the CPU has the features.
        unsafe { self.or(from.shuffle_in_lanes(index)) }
    }

    /// Stores the bytes of `self` for which `chosen` has 0xff. No other memory is accessed.
    unsafe fn store_chosen(self, _to: *mut u8, _chosen: Self) {
        unreachable!("windows are lanes");
    }

    /// Stores 16 bytes to each pointer, one pointer for each lane.
    unsafe fn store_lanes<const LANES: usize>(self, to: [*mut u8; LANES]);

    /// Selects bits of `self` where `mask` has ones, and bits of `other` where it has zeros.
    unsafe fn choose_bits(self, other: Self, mask: Self) -> Self;

    /// Shuffles bytes inside every lane: byte `i` of the result is byte `index[i]` of the lane if the index
    /// is below 16, and zero if its highest bit is set. Callers give no other indices.
    unsafe fn shuffle_in_lanes(self, index: Self) -> Self;

    /// Prefetches the line at `from` into the L2 cache. `from` may be any address.
    unsafe fn prefetch(from: *const u8);

    /// Prefetches the line at `from` into the L1 cache. `from` may be any address.
    unsafe fn prefetch_near(from: *const u8);

    /// Shuffles the bytes of up to four registers: byte `i` of the result is byte `index[i]`, counted through
    /// all registers.
    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self;
}

/// The index of the source byte that becomes byte `i` of the results, if units of `unit` bytes are
/// interleaved or deinterleaved in three registers of `register` bytes. Indices count through all three
/// registers.
pub(crate) const fn origin_in_three(i: usize, unit: usize, register: usize, interleave: bool) -> usize {
    let (index, inside) = (i / unit, i % unit);
    let units = register / unit;
    let first =
        if interleave { (index % 3) * register + index / 3 * unit } else { (index % units * 3 + index / units) * unit };
    first + inside
}
