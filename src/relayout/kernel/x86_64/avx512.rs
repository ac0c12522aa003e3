//! Registers of 64 bytes, a whole cache line: AVX-512 F, BW, VL and VBMI.

use std::arch::x86_64::*;
use std::ops::Range;

use super::super::super::schedule::{Kernel, Plane, Turns};
use super::super::bits;
use super::super::blocks::{Blocks, Fetch};
use super::super::lines;
use super::super::odd_turns::OddTurns;
use super::super::places::Places;
use super::super::task::Task;
use super::super::vector::Vector;
use super::Widths;

/// Runs a kernel with 64-byte registers.
///
/// # Safety
///
/// The CPU must have AVX-512 F, BW, VL and VBMI; all calls of the kernel must stay inside source and destination.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(in super::super) unsafe fn run(kernel: &Kernel, task: &Task<'_>) {
    // SAFETY: the caller's promise, passed on.
    unsafe { lines::run::<Zmm>(kernel, task) }
}

#[derive(Clone, Copy)]
struct Zmm(__m512i);

/// Which bytes of two registers in a row, `a` then `b`, follow each other in `a b a b ...`, from byte `start` on.
const fn interleaved(unit: usize, start: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (place, inside) = ((start + i) / unit, (start + i) % unit);
        #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
        {
            bytes[i] = ((place % 2) * 64 + (place / 2) * unit + inside) as u8;
        }
        i += 1;
    }
    bytes
}

/// Which bytes of two registers in a row make up the even (`odd` 0) or the odd (1) units.
const fn deinterleaved(unit: usize, odd: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
        {
            bytes[i] = ((i / unit * 2 + odd) * unit + i % unit) as u8;
        }
        i += 1;
    }
    bytes
}

/// The same choice in 16-, 32- or 64-bit units: the permutations of wider units take wider indices and are as fast or faster.
const fn widened(bytes: [u8; 64], unit: usize) -> [u8; 64] {
    let mut wide = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
        {
            wide[i] = bytes[i] / unit as u8;
        }
        i += unit;
    }
    wide
}

struct Choice<const UNIT: usize>;

impl<const UNIT: usize> Choice<UNIT> {
    /// The unit of the permutation instruction: 16-byte units are pairs of 8-byte ones.
    const STEP: usize = if UNIT > 8 { 8 } else { UNIT };
    const LOW: [u8; 64] = widened(interleaved(UNIT, 0), Self::STEP);
    const HIGH: [u8; 64] = widened(interleaved(UNIT, 64), Self::STEP);
    const EVEN: [u8; 64] = widened(deinterleaved(UNIT, 0), Self::STEP);
    const ODD: [u8; 64] = widened(deinterleaved(UNIT, 1), Self::STEP);
}

impl Zmm {
    /// # Safety
    ///
    /// As for [`Vector`].
    #[inline(always)]
    unsafe fn choose<const UNIT: usize>(self, other: Zmm, choice: &[u8; 64]) -> Zmm {
        // SAFETY: the array has the 64 bytes that are read; the features are the trait's contract.
        unsafe {
            let index = _mm512_loadu_si512(choice.as_ptr().cast());
            Zmm(match UNIT {
                1 => _mm512_permutex2var_epi8(self.0, index, other.0),
                2 => _mm512_permutex2var_epi16(self.0, index, other.0),
                4 => _mm512_permutex2var_epi32(self.0, index, other.0),
                _ => _mm512_permutex2var_epi64(self.0, index, other.0),
            })
        }
    }
}

/// A mask of the first `bytes` bytes.
#[inline(always)]
fn first(bytes: usize) -> __mmask64 {
    u64::MAX.checked_shr(64_u32.saturating_sub(u32::try_from(bytes).unwrap_or(64))).unwrap_or(0)
}

impl Widths for Zmm {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn plane1(task: &Task<'_>, plane: &Plane) {
        // SAFETY: the caller's promise, passed on.
        unsafe { lines::plane::<Self, 1, 64, 16, 4>(task, plane) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn plane2(task: &Task<'_>, plane: &Plane) {
        // SAFETY: the caller's promise, passed on.
        unsafe { lines::plane::<Self, 2, 32, 8, 4>(task, plane) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn plane4(task: &Task<'_>, plane: &Plane) {
        // SAFETY: the caller's promise, passed on.
        unsafe { lines::plane::<Self, 4, 16, 4, 4>(task, plane) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn plane8(task: &Task<'_>, plane: &Plane) {
        // SAFETY: the caller's promise, passed on.
        unsafe { lines::plane::<Self, 8, 8, 2, 4>(task, plane) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn plane16(task: &Task<'_>, plane: &Plane) {
        // SAFETY: the caller's promise, passed on.
        unsafe { lines::plane::<Self, 16, 4, 1, 4>(task, plane) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn turns<const BITS: usize>(task: &Task<'_>, turns: &Turns) {
        // SAFETY: the caller's promise, passed on.
        unsafe { bits::turns::<Self, BITS, 64>(task, turns) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn odd_turns<const WINDOWS: usize>(task: &Task<'_>, turns: &OddTurns) {
        // SAFETY: the caller's promise, passed on.
        unsafe { turns.run::<Self, WINDOWS>(task) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn strip<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        a: usize,
        rows: Range<usize>,
        fetch: &mut Fetch<P>,
    ) {
        // SAFETY: the caller's promise, passed on.
        unsafe { job.strip::<Self, UNIT, N, K, LANES>(a, rows, fetch) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn scatter<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        a: usize,
        rows: Range<usize>,
    ) {
        // SAFETY: the caller's promise, passed on.
        unsafe { job.scatter::<Self, UNIT, N, K, LANES>(a, rows) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn gather<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        columns: Range<usize>,
        b: usize,
    ) {
        // SAFETY: the caller's promise, passed on.
        unsafe { job.gather::<Self, UNIT, N, K, LANES>(columns, b) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn edge<const UNIT: usize, const N: usize, const K: usize, const LANES: usize, P: Places>(
        job: &Blocks<P>,
        place: (usize, usize),
        size: (usize, usize),
    ) {
        // SAFETY: the caller's promise, passed on.
        unsafe { job.edge::<Self, UNIT, N, K, LANES>(place, size) }
    }
}

impl Vector for Zmm {
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the trait's contract.
        unsafe { Zmm(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the trait's contract.
        unsafe { Zmm(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self {
        // SAFETY: bytes that the mask leaves out are not touched; the rest is the trait's contract.
        unsafe { Zmm(_mm512_maskz_loadu_epi8(first(bytes), from.cast())) }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8, bytes: usize) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            Zmm(match bytes {
                1 => _mm512_set1_epi8(from.cast::<i8>().read()),
                2 => _mm512_set1_epi16(from.cast::<i16>().read_unaligned()),
                4 => _mm512_set1_epi32(from.cast::<i32>().read_unaligned()),
                8 => _mm512_set1_epi64(from.cast::<i64>().read_unaligned()),
                16 => _mm512_broadcast_i32x4(_mm_loadu_si128(from.cast())),
                32 => _mm512_broadcast_i64x4(_mm256_loadu_si256(from.cast())),
                _ => _mm512_loadu_si512(from.cast()),
            })
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the trait's contract.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        // SAFETY: bytes that the mask leaves out are not touched; the rest is the trait's contract.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), first(bytes), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the trait's contract, alignment included.
        unsafe { _mm512_stream_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let lane = |i: usize| _mm_loadu_si128(from[i].cast());
            let first = _mm512_castsi128_si512(lane(0));
            let second = _mm512_inserti32x4::<1>(first, lane(1));
            let third = _mm512_inserti32x4::<2>(second, lane(2));
            Zmm(_mm512_inserti32x4::<3>(third, lane(3)))
        }
    }

    #[inline(always)]
    unsafe fn swap_lanes<const LANES: usize>(mut rows: [Self; LANES]) -> [Self; LANES] {
        let (a, b, c, d) = (rows[0].0, rows[1].0, rows[2].0, rows[3].0);
        // SAFETY: the trait's contract.
        unsafe {
            let (first, second) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
            let (third, fourth) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
            rows[0] = Zmm(_mm512_shuffle_i64x2::<0x88>(first, second));
            rows[1] = Zmm(_mm512_shuffle_i64x2::<0xdd>(first, second));
            rows[2] = Zmm(_mm512_shuffle_i64x2::<0x88>(third, fourth));
            rows[3] = Zmm(_mm512_shuffle_i64x2::<0xdd>(third, fourth));
        }
        rows
    }

    #[inline(always)]
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the trait's contract.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)),
                2 => (_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)),
                4 => (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)),
                8 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
                _ => (a, b),
            }
        };
        (Zmm(low), Zmm(high))
    }

    #[inline(always)]
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe { (self.choose::<UNIT>(other, &Choice::<UNIT>::LOW), self.choose::<UNIT>(other, &Choice::<UNIT>::HIGH)) }
    }

    #[inline(always)]
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe { (self.choose::<UNIT>(other, &Choice::<UNIT>::EVEN), self.choose::<UNIT>(other, &Choice::<UNIT>::ODD)) }
    }

    #[inline(always)]
    unsafe fn exchange<const WIDTH: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the trait's contract.
        unsafe {
            // Shifts cross from byte to byte; the masks drop what has.
            let (even, up, down) = match WIDTH {
                1 => (_mm512_set1_epi8(0x55), _mm512_slli_epi16::<1>(b), _mm512_srli_epi16::<1>(a)),
                2 => (_mm512_set1_epi8(0x33), _mm512_slli_epi16::<2>(b), _mm512_srli_epi16::<2>(a)),
                _ => (_mm512_set1_epi8(0x0f), _mm512_slli_epi16::<4>(b), _mm512_srli_epi16::<4>(a)),
            };
            let evens = _mm512_or_si512(_mm512_and_si512(even, a), _mm512_andnot_si512(even, up));
            let odds = _mm512_or_si512(_mm512_and_si512(even, down), _mm512_andnot_si512(even, b));
            (Zmm(evens), Zmm(odds))
        }
    }

    #[inline(always)]
    unsafe fn shuffle(self, order: &[u8; 16]) -> Self {
        // SAFETY: the array has the 16 bytes that are read; the features are the trait's contract.
        unsafe { Zmm(_mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(_mm_loadu_si128(order.as_ptr().cast())))) }
    }

    #[inline(always)]
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let (low, high) = (_mm256_loadu_si256(low.cast()), _mm256_loadu_si256(high.cast()));
            Zmm(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        }
    }

    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
    }

    #[inline(always)]
    unsafe fn prefetch_to_write(to: *const u8) {
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(to.cast()) }
    }

    #[inline(always)]
    unsafe fn pick<const ROWS: usize>(rows: [Self; ROWS], index: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            // Bit 6 of an index chooses between two registers, bit 7, which the permutation does not see, between two pairs.
            let pair = |a: Zmm, b: Zmm| _mm512_permutex2var_epi8(a.0, index.0, b.0);
            if ROWS <= 2 {
                return Zmm(pair(rows[0], rows[ROWS - 1]));
            }
            let later = _mm512_movepi8_mask(index.0);
            Zmm(_mm512_mask_blend_epi8(later, pair(rows[0], rows[1]), pair(rows[2], rows[ROWS - 1])))
        }
    }

    #[inline(always)]
    unsafe fn weave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3] {
        let (first, second) = (&Three::<UNIT>::WEAVE_FIRST, &Three::<UNIT>::WEAVE_SECOND);
        // SAFETY: no memory but the tables is touched; the features are the trait's contract.
        unsafe { three(rows, first, second) }
    }

    #[inline(always)]
    unsafe fn unweave_three<const UNIT: usize>(lines: [Self; 3]) -> [Self; 3] {
        let (first, second) = (&Three::<UNIT>::UNWEAVE_FIRST, &Three::<UNIT>::UNWEAVE_SECOND);
        // SAFETY: no memory but the tables is touched; the features are the trait's contract.
        unsafe { three(lines, first, second) }
    }
}

/// Three registers out of three, each byte picked from the first two and then from that and the third.
///
/// # Safety
///
/// As for [`Vector`].
#[inline(always)]
unsafe fn three(rows: [Zmm; 3], first: &[[u8; 64]; 3], second: &[[u8; 64]; 3]) -> [Zmm; 3] {
    let mut result = rows;
    for ((line, first), second) in result.iter_mut().zip(first).zip(second) {
        // SAFETY: the caller's promise.
        *line = unsafe { rows[0].choose::<1>(rows[1], first).choose::<1>(rows[2], second) };
    }
    result
}

/// For each byte of three registers in a row, where it comes from in three others in a row.
struct Three<const UNIT: usize>;

impl<const UNIT: usize> Three<UNIT> {
    const WEAVE_FIRST: [[u8; 64]; 3] = Self::table(true, false);
    const WEAVE_SECOND: [[u8; 64]; 3] = Self::table(true, true);
    const UNWEAVE_FIRST: [[u8; 64]; 3] = Self::table(false, false);
    const UNWEAVE_SECOND: [[u8; 64]; 3] = Self::table(false, true);

    const fn table(weave: bool, second: bool) -> [[u8; 64]; 3] {
        let mut table = [[0; 64]; 3];
        let mut i = 0;
        while i < 192 {
            let (unit, inside) = (i / UNIT, i % UNIT);
            let units = 64 / UNIT;
            let origin =
                if weave { (unit % 3) * 64 + unit / 3 * UNIT } else { (unit % units * 3 + unit / units) * UNIT };
            let origin = origin + inside;
            // The second step keeps what the first has placed, and takes the rest from the third register.
            let choice = match (second, origin >= 128) {
                (false, false) => origin,
                (false, true) => 0,
                (true, false) => i % 64,
                (true, true) => 64 + origin - 128,
            };
            #[allow(clippy::as_conversions, reason = "below 128; `try_from` is not const")]
            {
                table[i / 64][i % 64] = choice as u8;
            }
            i += 1;
        }
        table
    }
}
