//! Vectors of 32 bytes, half a cache line, as two NEON registers.
//!
//! One NEON register is a lane. A pair of NEON registers is as long as a register of AVX2, so both levels run
//! the same kernels. A CPU with NEON has 16 such pairs, and a CPU with AVX2 has 16 registers.
//!
//! Non-temporal stores are ordinary stores: Rust has no intrinsic for `stnp`. Nothing here has been timed.

use std::arch::aarch64::*;
use std::arch::asm;

use super::super::simd::{Operation, Vector, origin_in_three, short};

#[derive(Clone, Copy)]
pub(crate) struct Pair(uint8x16_t, uint8x16_t);

// SAFETY: each function keeps the promises that `Vector` lists. `BYTES` is the size of a `Pair`.
unsafe impl Vector for Pair {
    const BYTES: usize = 32;
    const SHUFFLES_TWO: bool = false;

    #[inline(never)]
    #[target_feature(enable = "neon")]
    unsafe fn vectorize<O: Operation>(operation: O) {
        const { assert!(Pair::BYTES == 2 * 16) };
        // SAFETY: NEON is enabled here, `Pair` has 2 lanes, and the contract has the operation's conditions.
        unsafe { operation.run::<Pair, 2>() }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe { Pair(vdupq_n_u8(0), vdupq_n_u8(0)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: by the contract of `Vector`, the CPU has NEON, and 32 bytes are readable at `from`.
        unsafe { Pair(vld1q_u8(from), vld1q_u8(from.add(16))) }
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
        // SAFETY: by the contract of `Vector`, the CPU has NEON, and `bytes` bytes are readable at `from`.
        unsafe {
            let lane = match bytes {
                1 => vdupq_n_u8(from.read()),
                2 => vreinterpretq_u8_u16(vdupq_n_u16(from.cast::<u16>().read_unaligned())),
                4 => vreinterpretq_u8_u32(vdupq_n_u32(from.cast::<u32>().read_unaligned())),
                8 => vreinterpretq_u8_u64(vdupq_n_u64(from.cast::<u64>().read_unaligned())),
                16 => vld1q_u8(from),
                _ => return Self::load(from),
            };
            Pair(lane, lane)
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: by the contract of `Vector`, the CPU has NEON, and 32 bytes are writable at `to`.
        unsafe {
            vst1q_u8(to, self.0);
            vst1q_u8(to.add(16), self.1);
        }
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
        // SAFETY: by the contract of `Vector`, the CPU has NEON, and 32 bytes are writable at `to`.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self {
        const { assert!(LANES == 2) };
        // SAFETY: by the contract of `Vector`, the CPU has NEON, and 16 bytes are readable at each pointer.
        unsafe { Pair(vld1q_u8(from[0]), vld1q_u8(from[1])) }
    }

    #[inline(always)]
    unsafe fn transpose_lanes<const LANES: usize>(mut rows: [Self; LANES]) -> [Self; LANES] {
        const { assert!(LANES == 2) };
        let (a, b) = (rows[0], rows[1]);
        rows[0] = Pair(a.0, b.0);
        rows[1] = Pair(a.1, b.1);
        rows
    }

    #[inline(always)]
    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        let (first, second) = unsafe { (zipped::<UNIT>(self.0, other.0), zipped::<UNIT>(self.1, other.1)) };
        if UNIT == 16 { (self, other) } else { (Pair(first.0, second.0), Pair(first.1, second.1)) }
    }

    #[inline(always)]
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe { (zipped::<UNIT>(self.0, other.0), zipped::<UNIT>(self.1, other.1)) }
    }

    #[inline(always)]
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        let (a, b) = unsafe { (unzipped::<UNIT>(self.0, self.1), unzipped::<UNIT>(other.0, other.1)) };
        (Pair(a.0, b.0), Pair(a.1, b.1))
    }

    #[inline(always)]
    unsafe fn exchange_bits<const WIDTH: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        let exchanged = |a: uint8x16_t, b: uint8x16_t| unsafe {
            let (even, up, down) = match WIDTH {
                1 => (vdupq_n_u8(0x55), vshlq_n_u8::<1>(b), vshrq_n_u8::<1>(a)),
                2 => (vdupq_n_u8(0x33), vshlq_n_u8::<2>(b), vshrq_n_u8::<2>(a)),
                _ => (vdupq_n_u8(0x0f), vshlq_n_u8::<4>(b), vshrq_n_u8::<4>(a)),
            };
            (vbslq_u8(even, a, up), vbslq_u8(even, down, b))
        };
        let (low, high) = (exchanged(self.0, other.0), exchanged(self.1, other.1));
        (Pair(low.0, high.0), Pair(low.1, high.1))
    }

    #[inline(always)]
    unsafe fn sign_extended<const BITS: usize>(self) -> Self {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let sign = vdupq_n_u8(1 << (BITS - 1));
            Pair(vsubq_u8(veorq_u8(self.0, sign), sign), vsubq_u8(veorq_u8(self.1, sign), sign))
        }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe { Pair(vorrq_u8(self.0, other.0), vorrq_u8(self.1, other.1)) }
    }

    #[inline(always)]
    unsafe fn store_lanes<const LANES: usize>(self, to: [*mut u8; LANES]) {
        const { assert!(LANES == 2) };
        // SAFETY: by the contract of `Vector`, the CPU has NEON, and 16 bytes are writable at each pointer.
        unsafe {
            vst1q_u8(to[0], self.0);
            vst1q_u8(to[1], self.1);
        }
    }

    #[inline(always)]
    unsafe fn choose_bits(self, other: Self, mask: Self) -> Self {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe { Pair(vbslq_u8(mask.0, self.0, other.0), vbslq_u8(mask.1, self.1, other.1)) }
    }

    #[inline(always)]
    unsafe fn shuffle_in_lanes(self, index: Self) -> Self {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe { Pair(vqtbl1q_u8(self.0, index.0), vqtbl1q_u8(self.1, index.1)) }
    }

    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        // SAFETY: a prefetch never faults, and changes no data. (Rust's intrinsic is not stable yet.)
        unsafe { asm!("prfm pldl2keep, [{}]", in(reg) from, options(nostack, readonly, preserves_flags)) }
    }

    #[inline(always)]
    unsafe fn prefetch_near(from: *const u8) {
        // SAFETY: a prefetch never faults, and changes nothing that a program sees.
        unsafe { asm!("prfm pldl1keep, [{}]", in(reg) from, options(nostack, readonly, preserves_flags)) }
    }

    #[inline(always)]
    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
        unsafe {
            let mut bytes = Self::zero();
            // `vqtbx2q` keeps bytes whose index is 32 or more. Each turn of the loop subtracts 32 from all
            // indices, so only the indices into the next pair of registers are below 32.
            let mut index = index;
            let next = vdupq_n_u8(32);
            for register in registers {
                let table = uint8x16x2_t(register.0, register.1);
                bytes = Pair(vqtbx2q_u8(bytes.0, table, index.0), vqtbx2q_u8(bytes.1, table, index.1));
                index = Pair(vsubq_u8(index.0, next), vsubq_u8(index.1, next));
            }
            bytes
        }
    }

    #[inline(always)]
    unsafe fn interleave_three<const UNIT: usize>([a, b, c]: [Self; 3]) -> [Self; 3] {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. The only memory that is read is the table.
        unsafe {
            let [a0, b0, c0] = three([a.0, b.0, c.0], &Three::<UNIT>::INTERLEAVE);
            let [a1, b1, c1] = three([a.1, b.1, c.1], &Three::<UNIT>::INTERLEAVE);
            [Pair(a0, b0), Pair(c0, a1), Pair(b1, c1)]
        }
    }

    #[inline(always)]
    unsafe fn deinterleave_three<const UNIT: usize>([a, b, c]: [Self; 3]) -> [Self; 3] {
        // SAFETY: the CPU has NEON, by the contract of `Vector`. The only memory that is read is the table.
        unsafe {
            let [a0, b0, c0] = three([a.0, a.1, b.0], &Three::<UNIT>::DEINTERLEAVE);
            let [a1, b1, c1] = three([b.1, c.0, c.1], &Three::<UNIT>::DEINTERLEAVE);
            [Pair(a0, a1), Pair(b0, b1), Pair(c0, c1)]
        }
    }
}

/// Interleaves the units of `UNIT` bytes of two NEON registers, into two NEON registers.
///
/// # Safety
///
/// The conditions of [`Vector`].
#[inline(always)]
unsafe fn zipped<const UNIT: usize>(a: uint8x16_t, b: uint8x16_t) -> Pair {
    const { assert!(matches!(UNIT, 1 | 2 | 4 | 8 | 16)) };
    // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
    unsafe {
        match UNIT {
            1 => Pair(vzip1q_u8(a, b), vzip2q_u8(a, b)),
            2 => {
                let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                Pair(vreinterpretq_u8_u16(vzip1q_u16(a, b)), vreinterpretq_u8_u16(vzip2q_u16(a, b)))
            }
            4 => {
                let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                Pair(vreinterpretq_u8_u32(vzip1q_u32(a, b)), vreinterpretq_u8_u32(vzip2q_u32(a, b)))
            }
            8 => {
                let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                Pair(vreinterpretq_u8_u64(vzip1q_u64(a, b)), vreinterpretq_u8_u64(vzip2q_u64(a, b)))
            }
            _ => Pair(a, b),
        }
    }
}

/// Separates the even and the odd units of `UNIT` bytes of two NEON registers, which undoes [`zipped`].
///
/// # Safety
///
/// The conditions of [`Vector`].
#[inline(always)]
unsafe fn unzipped<const UNIT: usize>(a: uint8x16_t, b: uint8x16_t) -> Pair {
    const { assert!(matches!(UNIT, 1 | 2 | 4 | 8 | 16)) };
    // SAFETY: the CPU has NEON, by the contract of `Vector`. Only registers are touched.
    unsafe {
        match UNIT {
            1 => Pair(vuzp1q_u8(a, b), vuzp2q_u8(a, b)),
            2 => {
                let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                Pair(vreinterpretq_u8_u16(vuzp1q_u16(a, b)), vreinterpretq_u8_u16(vuzp2q_u16(a, b)))
            }
            4 => {
                let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                Pair(vreinterpretq_u8_u32(vuzp1q_u32(a, b)), vreinterpretq_u8_u32(vuzp2q_u32(a, b)))
            }
            8 => {
                let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                Pair(vreinterpretq_u8_u64(vuzp1q_u64(a, b)), vreinterpretq_u8_u64(vuzp2q_u64(a, b)))
            }
            _ => Pair(a, b),
        }
    }
}

/// Permutes the bytes of three NEON registers. For each byte of the results, `index` has the index of the
/// source byte, counted through all three registers.
///
/// # Safety
///
/// The conditions of [`Vector`].
#[inline(always)]
unsafe fn three([a, b, c]: [uint8x16_t; 3], index: &[[u8; 16]; 3]) -> [uint8x16_t; 3] {
    // SAFETY: the CPU has NEON, by the contract of `Vector`. Each array of `index` has the 16 bytes that are
    // read.
    unsafe {
        let table = uint8x16x3_t(a, b, c);
        [
            vqtbl3q_u8(table, vld1q_u8(index[0].as_ptr())),
            vqtbl3q_u8(table, vld1q_u8(index[1].as_ptr())),
            vqtbl3q_u8(table, vld1q_u8(index[2].as_ptr())),
        ]
    }
}

/// The indices that interleave or deinterleave the units of three NEON registers. For each byte of the three
/// results, there is the index of its source byte among the bytes of all three registers.
struct Three<const UNIT: usize>;

impl<const UNIT: usize> Three<UNIT> {
    const INTERLEAVE: [[u8; 16]; 3] = Self::table(true);
    const DEINTERLEAVE: [[u8; 16]; 3] = Self::table(false);

    const fn table(interleave: bool) -> [[u8; 16]; 3] {
        let mut table = [[0; 16]; 3];
        let mut i = 0;
        while i < 48 {
            let origin = origin_in_three(i, UNIT, 16, interleave);
            #[allow(clippy::as_conversions, reason = "below 48; `try_from` is not const")]
            {
                table[i / 16][i % 16] = origin as u8;
            }
            i += 1;
        }
        table
    }
}
