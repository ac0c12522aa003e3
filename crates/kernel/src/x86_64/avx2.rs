//! Vectors of 32 bytes, half a cache line, with AVX2.
//!
//! The functions from `unpack` on are built like the functions in `avx512.rs`, but from other intrinsics, so
//! the two files share no code.

use std::arch::x86_64::*;

use super::super::simd::{Operation, Vector, origin_in_three, short};

#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256i);

// SAFETY: each function keeps the promises that `Vector` lists. `BYTES` is the size of a `Ymm`.
unsafe impl Vector for Ymm {
    const BYTES: usize = 32;
    const SHUFFLES_TWO: bool = false;

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn vectorize<O: Operation>(operation: O) {
        const { assert!(Ymm::BYTES == 2 * 16) };
        super::align_frame();
        // SAFETY: AVX2 is enabled here, `Ymm` has 2 lanes, and the contract has the operation's conditions.
        unsafe { operation.run::<Ymm, 2>() }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe { Ymm(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: by the contract of `Vector`, the CPU has AVX2, and 32 bytes are readable at `from`.
        unsafe { Ymm(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self {
        let mut whole = [0_u8; 32];
        // SAFETY: by the contract of `Vector`, `bytes` bytes are readable at `from`. At most 32 of them are
        // copied, into an array of 32.
        unsafe {
            short(from, whole.as_mut_ptr(), bytes.min(32));
            Self::load(whole.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn repeat(from: *const u8, bytes: usize) -> Self {
        // SAFETY: by the contract of `Vector`, the CPU has AVX2, and `bytes` bytes are readable at `from`.
        unsafe {
            Ymm(match bytes {
                1 => _mm256_set1_epi8(from.cast::<i8>().read()),
                2 => _mm256_set1_epi16(from.cast::<i16>().read_unaligned()),
                4 => _mm256_set1_epi32(from.cast::<i32>().read_unaligned()),
                8 => _mm256_set1_epi64x(from.cast::<i64>().read_unaligned()),
                16 => _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast())),
                _ => _mm256_loadu_si256(from.cast()),
            })
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: by the contract of `Vector`, the CPU has AVX2, and 32 bytes are writable at `to`.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        let mut whole = [0_u8; 32];
        // SAFETY: by the contract of `Vector`, `bytes` bytes are writable at `to`. At most 32 bytes are
        // copied there, from an array of 32.
        unsafe {
            self.store(whole.as_mut_ptr());
            short(whole.as_ptr(), to, bytes.min(32));
        }
    }

    #[inline(always)]
    unsafe fn store_non_temporal(self, to: *mut u8) {
        debug_assert!(to.addr().is_multiple_of(32));
        // SAFETY: by the contract of `Vector`, the CPU has AVX2, and `to` is aligned, with 32 writable bytes.
        unsafe { _mm256_stream_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self {
        const { assert!(LANES == 2) };
        // SAFETY: by the contract of `Vector`, the CPU has AVX2, and 16 bytes are readable at each pointer.
        unsafe { Ymm(_mm256_loadu2_m128i(from[1].cast(), from[0].cast())) }
    }

    #[inline(always)]
    unsafe fn transpose_lanes<const LANES: usize>(mut rows: [Self; LANES]) -> [Self; LANES] {
        const { assert!(LANES == 2) };
        let (a, b) = (rows[0].0, rows[1].0);
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe {
            rows[0] = Ymm(_mm256_permute2x128_si256::<0x20>(a, b));
            rows[1] = Ymm(_mm256_permute2x128_si256::<0x31>(a, b));
        }
        rows
    }

    #[inline(always)]
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        const { assert!(matches!(UNIT, 1 | 2 | 4 | 8 | 16)) };
        let (a, b) = (self.0, other.0);
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                8 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                _ => (a, b),
            }
        };
        (Ymm(low), Ymm(high))
    }

    #[inline(always)]
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let (low, high) = self.unpack::<UNIT>(other);
            let [first, second] = Self::transpose_lanes([low, high]);
            (first, second)
        }
    }

    #[inline(always)]
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe {
            if UNIT == 2 {
                // Units of 2 bytes are packed: the compiler makes three instructions of each byte shuffle.
                let (a, b) = (self.0, other.0);
                let even = |x| _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
                let (evens, odds) = (
                    _mm256_packus_epi32(even(a), even(b)),
                    _mm256_packus_epi32(_mm256_srli_epi32::<16>(a), _mm256_srli_epi32::<16>(b)),
                );
                let sorted = |x| Ymm(_mm256_permute4x64_epi64::<0b11_01_10_00>(x));
                return (sorted(evens), sorted(odds));
            }
            // In each lane, the even units go to the lower 8 bytes and the odd units to the upper 8 bytes.
            let gathered = |x: __m256i| match UNIT {
                1 => _mm256_shuffle_epi8(
                    x,
                    _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)),
                ),
                4 => _mm256_shuffle_epi32::<0b11_01_10_00>(x),
                _ => x,
            };
            // Sorts the 8-byte quarters of a register, which `gathered` made: the even units go to the lower
            // half of the register, and the odd units to the upper half.
            let sorted =
                |x: __m256i| if UNIT <= 8 { _mm256_permute4x64_epi64::<0b11_01_10_00>(gathered(x)) } else { x };
            let (a, b) = (sorted(self.0), sorted(other.0));
            (Ymm(_mm256_permute2x128_si256::<0x20>(a, b)), Ymm(_mm256_permute2x128_si256::<0x31>(a, b)))
        }
    }

    #[inline(always)]
    unsafe fn exchange_bits<const WIDTH: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe {
            // Lanes of 16 bits are shifted, so bits move from byte to byte. The masks drop these bits.
            let (even, up, down) = match WIDTH {
                1 => (_mm256_set1_epi8(0x55), _mm256_slli_epi16::<1>(b), _mm256_srli_epi16::<1>(a)),
                2 => (_mm256_set1_epi8(0x33), _mm256_slli_epi16::<2>(b), _mm256_srli_epi16::<2>(a)),
                _ => (_mm256_set1_epi8(0x0f), _mm256_slli_epi16::<4>(b), _mm256_srli_epi16::<4>(a)),
            };
            let evens = _mm256_or_si256(_mm256_and_si256(even, a), _mm256_andnot_si256(even, up));
            let odds = _mm256_or_si256(_mm256_and_si256(even, down), _mm256_andnot_si256(even, b));
            (Ymm(evens), Ymm(odds))
        }
    }

    #[inline(always)]
    unsafe fn sign_extended<const BITS: usize>(self) -> Self {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let sign = _mm256_set1_epi8(1 << (BITS - 1));
            Ymm(_mm256_sub_epi8(_mm256_xor_si256(self.0, sign), sign))
        }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe { Ymm(_mm256_or_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn store_lanes<const LANES: usize>(self, to: [*mut u8; LANES]) {
        const { assert!(LANES == 2) };
        // SAFETY: by the contract of `Vector`, the CPU has AVX2, and 16 bytes are writable at each pointer.
        unsafe { _mm256_storeu2_m128i(to[1].cast(), to[0].cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn choose_bits(self, other: Self, mask: Self) -> Self {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe { Ymm(_mm256_or_si256(_mm256_and_si256(mask.0, self.0), _mm256_andnot_si256(mask.0, other.0))) }
    }

    #[inline(always)]
    unsafe fn shuffle_in_lanes(self, index: Self) -> Self {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe { Ymm(_mm256_shuffle_epi8(self.0, index.0)) }
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
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let mut bytes = _mm256_setzero_si256();
            // Each turn of the loop selects from 16 bytes of the source registers, and then subtracts 16 from
            // all indices. So an index is below 16 in the turn of its own 16 bytes. In all other turns,
            // `order` has its highest bit set, and the result is zero.
            let mut index = index.0;
            for register in registers {
                for half in [
                    _mm256_permute2x128_si256::<0x00>(register.0, register.0),
                    _mm256_permute2x128_si256::<0x11>(register.0, register.0),
                ] {
                    let order = _mm256_adds_epu8(index, _mm256_set1_epi8(0x70));
                    bytes = _mm256_or_si256(bytes, _mm256_shuffle_epi8(half, order));
                    index = _mm256_sub_epi8(index, _mm256_set1_epi8(16));
                }
            }
            Ymm(bytes)
        }
    }

    #[inline(always)]
    unsafe fn interleave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3] {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. The only memory that is read is the table.
        unsafe {
            let [a, b, c] = three(rows, &Three::<UNIT>::INTERLEAVE).map(|line| line.0);
            [
                Ymm(_mm256_permute2x128_si256::<0x20>(a, b)),
                Ymm(_mm256_permute2x128_si256::<0x30>(c, a)),
                Ymm(_mm256_permute2x128_si256::<0x31>(b, c)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn deinterleave_three<const UNIT: usize>(lines: [Self; 3]) -> [Self; 3] {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. The only memory that is read is the table.
        unsafe {
            let [a, b, c] = lines.map(|line| line.0);
            let halves = [
                Ymm(_mm256_permute2x128_si256::<0x30>(a, b)),
                Ymm(_mm256_permute2x128_si256::<0x21>(a, c)),
                Ymm(_mm256_permute2x128_si256::<0x30>(b, c)),
            ];
            three(halves, &Three::<UNIT>::DEINTERLEAVE)
        }
    }
}

/// Makes three registers of the bytes of three registers. Bytes stay in their lane. For each byte of a
/// result, `table` says from which register and from which place of the lane it comes.
///
/// # Safety
///
/// The conditions of [`Vector`].
#[inline(always)]
unsafe fn three(from: [Ymm; 3], table: &[[[u8; 16]; 3]; 3]) -> [Ymm; 3] {
    let mut result = from;
    for (line, choices) in result.iter_mut().zip(table) {
        // SAFETY: the CPU has AVX2, by the contract of `Vector`. The only memory that is read is `table`.
        unsafe {
            let (a, b) = (from[0].shuffle_lanes(&choices[0]), from[1].shuffle_lanes(&choices[1]));
            let c = from[2].shuffle_lanes(&choices[2]);
            *line = Ymm(_mm256_or_si256(_mm256_or_si256(a.0, b.0), c.0));
        }
    }
    result
}

/// The tables that interleave or deinterleave the units of three lanes. For each byte of a result and for
/// each source lane, there is the index of the source byte, or 0x80 if the byte comes from another lane.
struct Three<const UNIT: usize>;

impl<const UNIT: usize> Three<UNIT> {
    const INTERLEAVE: [[[u8; 16]; 3]; 3] = Self::table(true);
    const DEINTERLEAVE: [[[u8; 16]; 3]; 3] = Self::table(false);

    const fn table(interleave: bool) -> [[[u8; 16]; 3]; 3] {
        let mut table = [[[0x80; 16]; 3]; 3];
        let mut i = 0;
        while i < 48 {
            let origin = origin_in_three(i, UNIT, 16, interleave);
            #[allow(clippy::as_conversions, reason = "below 16; `try_from` is not const")]
            {
                table[i / 16][origin / 16][i % 16] = (origin % 16) as u8;
            }
            i += 1;
        }
        table
    }
}
