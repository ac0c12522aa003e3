//! Registers of 64 bytes, a whole cache line: AVX-512 F, BW, VL and VBMI.

use std::arch::x86_64::*;

use super::super::super::schedule::{Kernel, Stride};
use super::super::lines;
use super::super::vector::Vector;
use super::Widths;

/// Runs a kernel with 64-byte registers.
///
/// # Safety
///
/// The CPU must have AVX-512 F, BW, VL and VBMI; the kernel must stay inside the two slices.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(in super::super) unsafe fn run(kernel: &Kernel, source: &[u8], destination: &mut [u8], stream: bool) {
    // SAFETY: the caller's promise, passed on.
    unsafe { lines::run::<Zmm>(kernel, source, destination, stream) }
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
    #[inline(always)]
    unsafe fn plane(unit: usize, from: *const u8, to: *mut u8, across: Stride, along: Stride, stream: bool) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            match unit {
                1 => lines::plane::<Self, 1, 64>(from, to, across, along, stream),
                2 => lines::plane::<Self, 2, 32>(from, to, across, along, stream),
                4 => lines::plane::<Self, 4, 16>(from, to, across, along, stream),
                8 => lines::plane::<Self, 8, 8>(from, to, across, along, stream),
                _ => lines::plane::<Self, 16, 4>(from, to, across, along, stream),
            }
        }
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
    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe { (self.choose::<UNIT>(other, &Choice::<UNIT>::LOW), self.choose::<UNIT>(other, &Choice::<UNIT>::HIGH)) }
    }

    #[inline(always)]
    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the trait's contract.
        unsafe { (self.choose::<UNIT>(other, &Choice::<UNIT>::EVEN), self.choose::<UNIT>(other, &Choice::<UNIT>::ODD)) }
    }
}
