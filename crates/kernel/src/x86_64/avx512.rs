//! Vectors of 64 bytes, a whole cache line, with AVX-512 F, BW, VL and VBMI.

use std::arch::x86_64::*;

use super::super::simd::{Operation, Vector};
use tables::{Choice, Three};

mod tables;

#[derive(Clone, Copy)]
pub(crate) struct Zmm(__m512i);

impl Zmm {
    /// Takes units of `UNIT` bytes from two registers. `choice` has their indices.
    ///
    /// # Safety
    ///
    /// The conditions of [`Vector`].
    #[inline(always)]
    unsafe fn choose<const UNIT: usize>(self, other: Zmm, choice: &[u8; 64]) -> Zmm {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. The array has the 64 bytes that are read.
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

#[inline(always)]
fn first(bytes: usize) -> __mmask64 {
    u64::MAX.checked_shr(64_u32.saturating_sub(u32::try_from(bytes).unwrap_or(64))).unwrap_or(0)
}

// SAFETY: each function keeps the promises that `Vector` lists. `BYTES` is the size of a `Zmm`.
unsafe impl Vector for Zmm {
    const BYTES: usize = 64;
    const SHUFFLES_TWO: bool = true;
    const WINDOW: usize = 64;

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    unsafe fn vectorize<O: Operation>(operation: O) {
        const { assert!(Zmm::BYTES == 4 * 16) };
        super::align_frame();
        // SAFETY: the features of `Zmm`, which has 4 lanes, are enabled here. The conditions of the operation
        // are in the contract of this function.
        unsafe { operation.run::<Zmm, 4>() }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe { Zmm(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: by the contract of `Vector`, the CPU has AVX-512, and 64 bytes are readable at `from`.
        unsafe { Zmm(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self {
        // SAFETY: by `Vector`'s contract, `bytes` bytes are readable at `from`. The mask leaves out the rest.
        unsafe { Zmm(_mm512_maskz_loadu_epi8(first(bytes), from.cast())) }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8, bytes: usize) -> Self {
        // SAFETY: by the contract of `Vector`, the CPU has AVX-512, and `bytes` bytes are readable at `from`.
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
        // SAFETY: by the contract of `Vector`, the CPU has AVX-512, and 64 bytes are writable at `to`.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        // SAFETY: by `Vector`'s contract, `bytes` bytes are writable at `to`. The mask leaves out the rest.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), first(bytes), self.0) }
    }

    #[inline(always)]
    unsafe fn store_non_temporal(self, to: *mut u8) {
        debug_assert!(to.addr().is_multiple_of(64));
        // SAFETY: by `Vector`'s contract, the CPU has AVX-512, and `to` is aligned, with 64 writable bytes.
        unsafe { _mm512_stream_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self {
        const { assert!(LANES == 4) };
        // SAFETY: by `Vector`'s contract, the CPU has AVX-512, and 16 bytes are readable at each pointer.
        unsafe {
            // Broadcasts from memory under a mask leave the CPU's shuffle ports to the transpose. Inserting
            // lanes into registers would take a third of the time of these ports.
            let lane = |i: usize| _mm_loadu_si128(from[i].cast());
            let first = _mm512_castsi128_si512(lane(0));
            let second = _mm512_mask_broadcast_i32x4(first, 0x00f0, lane(1));
            let third = _mm512_mask_broadcast_i32x4(second, 0x0f00, lane(2));
            Zmm(_mm512_mask_broadcast_i32x4(third, 0xf000, lane(3)))
        }
    }

    #[inline(always)]
    unsafe fn transpose_lanes<const LANES: usize>(mut rows: [Self; LANES]) -> [Self; LANES] {
        const { assert!(LANES == 4) };
        let (a, b, c, d) = (rows[0].0, rows[1].0, rows[2].0, rows[3].0);
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe {
            // The first shuffles separate even and odd lanes. If these shuffles separated low and high
            // halves, LLVM would load each half on its own, and read every row twice.
            let (first, second) = (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0x88>(c, d));
            let (third, fourth) = (_mm512_shuffle_i64x2::<0xdd>(a, b), _mm512_shuffle_i64x2::<0xdd>(c, d));
            rows[0] = Zmm(_mm512_shuffle_i64x2::<0x88>(first, second));
            rows[1] = Zmm(_mm512_shuffle_i64x2::<0x88>(third, fourth));
            rows[2] = Zmm(_mm512_shuffle_i64x2::<0xdd>(first, second));
            rows[3] = Zmm(_mm512_shuffle_i64x2::<0xdd>(third, fourth));
        }
        rows
    }

    #[inline(always)]
    unsafe fn load_transposed<const LANES: usize>(rows: [*const u8; LANES], in_cache: bool) -> [Self; LANES] {
        const { assert!(LANES == 4) };
        // SAFETY: by `Vector`'s contract, the CPU has AVX-512, and 64 bytes are readable at each pointer.
        unsafe {
            let mut lines = [Self::zero(); LANES];
            if !in_cache {
                for (line, row) in lines.iter_mut().zip(rows) {
                    *line = Self::load(row);
                }
                return Self::transpose_lanes(lines);
            }
            // A half of a register is inserted from memory, which does not use the CPU's shuffle port.
            let pair = |half: usize, first: usize, second: usize| {
                Self::load_halves(rows[first].add(32 * half), rows[second].add(32 * half)).0
            };
            for half in 0..2 {
                let (low, high) = (pair(half, 0, 1), pair(half, 2, 3));
                lines[2 * half] = Zmm(_mm512_shuffle_i64x2::<0x88>(low, high));
                lines[2 * half + 1] = Zmm(_mm512_shuffle_i64x2::<0xdd>(low, high));
            }
            lines
        }
    }

    #[inline(always)]
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        const { assert!(matches!(UNIT, 1 | 2 | 4 | 8 | 16)) };
        let (a, b) = (self.0, other.0);
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
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
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe { (self.choose::<UNIT>(other, &Choice::<UNIT>::LOW), self.choose::<UNIT>(other, &Choice::<UNIT>::HIGH)) }
    }

    #[inline(always)]
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe { (self.choose::<UNIT>(other, &Choice::<UNIT>::EVEN), self.choose::<UNIT>(other, &Choice::<UNIT>::ODD)) }
    }

    #[inline(always)]
    unsafe fn exchange_bits<const WIDTH: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe {
            // Lanes of 16 bits are shifted, so bits move from byte to byte. The masks drop these bits.
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
    unsafe fn sign_extended<const BITS: usize>(self) -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let sign = _mm512_set1_epi8(1 << (BITS - 1));
            Zmm(_mm512_sub_epi8(_mm512_xor_si512(self.0, sign), sign))
        }
    }

    #[inline(always)]
    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: by the contract of `Vector`, the CPU has AVX-512, and both pointers have 32 readable bytes.
        unsafe {
            let (low, high) = (_mm256_loadu_si256(low.cast()), _mm256_loadu_si256(high.cast()));
            Zmm(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe { Zmm(_mm512_or_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn pick(self, from: Self, index: Self) -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let picked = _mm512_movepi8_mask(index.0);
            Zmm(_mm512_mask_permutexvar_epi8(self.0, picked, index.0, from.0))
        }
    }

    #[inline(always)]
    unsafe fn store_chosen(self, to: *mut u8, chosen: Self) {
        // SAFETY: by the contract of `Vector`, the chosen bytes are writable. The mask leaves out the others.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), _mm512_movepi8_mask(chosen.0), self.0) }
    }

    #[inline(always)]
    unsafe fn store_lanes<const LANES: usize>(self, to: [*mut u8; LANES]) {
        const { assert!(LANES == 4) };
        // SAFETY: by `Vector`'s contract, the CPU has AVX-512, and 16 bytes are writable at each pointer.
        unsafe {
            _mm_storeu_si128(to[0].cast(), _mm512_castsi512_si128(self.0));
            _mm_storeu_si128(to[1].cast(), _mm512_extracti32x4_epi32::<1>(self.0));
            _mm_storeu_si128(to[2].cast(), _mm512_extracti32x4_epi32::<2>(self.0));
            _mm_storeu_si128(to[3].cast(), _mm512_extracti32x4_epi32::<3>(self.0));
        }
    }

    #[inline(always)]
    unsafe fn choose_bits(self, other: Self, mask: Self) -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe { Zmm(_mm512_ternarylogic_epi64::<0xca>(mask.0, self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn shuffle_in_lanes(self, index: Self) -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe { Zmm(_mm512_shuffle_epi8(self.0, index.0)) }
    }

    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
    }

    #[inline(always)]
    unsafe fn prefetch_near(from: *const u8) {
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    #[inline(always)]
    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. Only registers are touched.
        unsafe {
            // Bit 6 of an index chooses between the two registers of a permutation. The permutation ignores
            // bit 7, which chooses between two pairs of registers.
            let pair = |a: Zmm, b: Zmm| _mm512_permutex2var_epi8(a.0, index.0, b.0);
            if REGISTERS <= 2 {
                return Zmm(pair(registers[0], registers[REGISTERS - 1]));
            }
            let later = _mm512_movepi8_mask(index.0);
            let pairs = (pair(registers[0], registers[1]), pair(registers[2], registers[REGISTERS - 1]));
            Zmm(_mm512_mask_blend_epi8(later, pairs.0, pairs.1))
        }
    }

    #[inline(always)]
    unsafe fn interleave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3] {
        let (first, second) = (&Three::<UNIT>::INTERLEAVE_FIRST, &Three::<UNIT>::INTERLEAVE_SECOND);
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. The only memory read is the table.
        unsafe { three(rows, first, second) }
    }

    #[inline(always)]
    unsafe fn deinterleave_three<const UNIT: usize>(lines: [Self; 3]) -> [Self; 3] {
        let (first, second) = (&Three::<UNIT>::DEINTERLEAVE_FIRST, &Three::<UNIT>::DEINTERLEAVE_SECOND);
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`. The only memory read is the table.
        unsafe { three(lines, first, second) }
    }
}

/// Makes three registers of the bytes of three registers, in two permutations. The first one takes bytes of
/// the first two registers. The second one takes each byte from this result or from the third register.
///
/// # Safety
///
/// The conditions of [`Vector`].
#[inline(always)]
unsafe fn three(rows: [Zmm; 3], first: &[[u8; 64]; 3], second: &[[u8; 64]; 3]) -> [Zmm; 3] {
    let mut result = rows;
    for ((line, first), second) in result.iter_mut().zip(first).zip(second) {
        // SAFETY: the CPU has AVX-512, by the contract of `Vector`, which is all that `choose` requires.
        *line = unsafe { rows[0].choose::<1>(rows[1], first).choose::<1>(rows[2], second) };
    }
    result
}
