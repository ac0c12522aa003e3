//! Which vectors this CPU and its operating system support.
//!
//! `is_x86_feature_detected!` looks up all features of a CPU, with ten CPUID instructions. In a virtual
//! machine each CPUID takes 4 to 8 us, because the host answers it. This module runs three of them, and none
//! with glibc 2.33 or later, which looks up the features when a program starts, and has a function that
//! returns them.

use std::sync::OnceLock;

use super::machine::cpuid::leaf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) avx2: bool,
    /// AVX-512 F, BW, VL and VBMI.
    pub(crate) avx512: bool,
}

impl Features {
    /// The features of this CPU. They are looked up at the first call, and kept.
    pub(crate) fn of_this_cpu() -> Features {
        static FEATURES: OnceLock<Features> = OnceLock::new();
        *FEATURES.get_or_init(|| Features::of_c_library().unwrap_or_else(Features::of_cpuid))
    }

    /// The features that glibc found active. `None` for other C libraries, and for glibc before 2.33.
    pub(crate) fn of_c_library() -> Option<Features> {
        #[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"), not(miri)))]
        {
            use std::ffi::{c_char, c_uint, c_void};
            /// `struct cpuid_feature` of `sys/platform/x86.h`: the registers EAX to EDX that CPUID returns
            /// for a leaf, and of their bits those whose instructions a program may use.
            #[repr(C)]
            struct Leaf {
                listed: [c_uint; 4],
                active: [c_uint; 4],
            }
            /// `CPUID_INDEX_7`.
            const LEAF_7: c_uint = 1;
            unsafe extern "C" {
                fn dlsym(
                    library: *mut c_void,
                    name: *const c_char,
                ) -> Option<unsafe extern "C" fn(c_uint) -> *const Leaf>;
            }
            // SAFETY: the name ends in a zero byte, and a null library stands for all loaded libraries. Names
            // that begin with two underscores are reserved for glibc, where this name is, since 2.33, a
            // function of this signature. It takes any number, and returns an entry of a table that stays
            // until the program ends. Without such a function, `dlsym` returns null, which is `None`.
            let leaf =
                unsafe { dlsym(std::ptr::null_mut(), c"__x86_get_cpuid_feature_leaf".as_ptr())?(LEAF_7).as_ref()? };
            return Some(Features::listed(leaf.active[1], leaf.active[2], YMM | ZMM));
        }
        #[allow(unreachable_code, reason = "for other C libraries")]
        None
    }

    /// Intel SDM vol. 1, 14.7.1 and 15.2: a program may use the instructions if CPUID lists them, and if the
    /// operating system saves the registers that the instructions use, which the register XCR0 says.
    pub(crate) fn of_cpuid() -> Features {
        const OSXSAVE_AND_AVX: u32 = 0b11 << 27;
        if leaf(0, 0).eax < 7 || leaf(1, 0).ecx & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
            return Features { avx2: false, avx512: false };
        }
        // SAFETY: the CPU has the instruction, because the bit OSXSAVE is set, as checked above.
        let saved = unsafe { std::arch::x86_64::_xgetbv(0) };
        let leaf = leaf(7, 0);
        Features::listed(leaf.ebx, leaf.ecx, saved)
    }

    /// The features that CPUID lists in the registers EBX and ECX of leaf 7, if the operating system saves
    /// the vector registers that they need. `saved` is XCR0.
    fn listed(ebx: u32, ecx: u32, saved: u64) -> Features {
        let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);
        Features {
            avx2: saved & YMM == YMM && has(ebx, &[5]),
            avx512: saved & ZMM == ZMM && has(ebx, &[16, 30, 31]) && has(ecx, &[1]),
        }
    }
}

/// The bits of XCR0 that are set if the operating system saves registers of 32 bytes (`YMM`), or registers of
/// 64 bytes and mask registers (`ZMM`).
const YMM: u64 = 0b110;
const ZMM: u64 = 0b1110_0110;
