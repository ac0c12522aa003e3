//! The vectors of x86-64 CPUs: instructions only. The kernels that use them are in [`simd`](super::simd).
//!
//! `avx2` and `avx512` look alike because both implement [`Vector`](super::simd::Vector): each function calls
//! the instruction for its width. A macro for both widths would hide which instruction that is.

pub(super) mod avx2;
#[cfg(any(not(feature = "small"), feature = "software"))]
pub(super) mod avx512;

/// Aligns the stack frame of the function that this function is inlined into. The compiler does not align the
/// frame for registers that it spills to the stack, and a spill across the end of a page made a copy five
/// times as slow (Zen 4, AVX2).
#[inline(always)]
fn align_frame() {
    #[repr(align(64))]
    struct Line([std::mem::MaybeUninit<u8>; 64]);
    let line = Line([std::mem::MaybeUninit::uninit(); 64]);
    // SAFETY: the assembly has no instruction. It takes the address of a variable with a large alignment, so
    // the compiler must keep the variable in the frame, and aligns the frame for it.
    unsafe { std::arch::asm!("/* {} */", in(reg) line.0.as_ptr().addr(), options(nomem, nostack, preserves_flags)) }
}
