//! Vectors of x86-64 CPUs: instructions only. What is done with them is in [`simd`](super::simd).
//!
//! `avx2` and `avx512` have one shape, because both implement [`Vector`](super::simd::Vector): under each
//! name is the instruction of that width. A macro over both would hide which instruction that is.

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod cpuid;

/// Aligns the stack frame of the function it is inlined into, as the compiler does not for registers that it
/// spills: one across the end of a page made a copy five times as slow (Z4, AVX2).
#[inline(always)]
fn align_frame() {
    #[repr(align(64))]
    struct Line([std::mem::MaybeUninit<u8>; 64]);
    let line = Line([std::mem::MaybeUninit::uninit(); 64]);
    // SAFETY: there is no instruction; the address is taken, so that the variable exists.
    unsafe { std::arch::asm!("/* {} */", in(reg) line.0.as_ptr().addr(), options(nomem, nostack, preserves_flags)) }
}
