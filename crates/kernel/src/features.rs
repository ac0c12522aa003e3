//! Which vectors this CPU and its operating system have.
//!
//! `is_x86_feature_detected!` asks for all instructions that there are, by ten CPUID instructions. In a
//! virtual machine each of them takes 4 to 8 us, because the host answers it. These are three.

use std::sync::OnceLock;

use crate::machine::cpuid::leaf;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Features {
    pub(crate) avx2: bool,
    /// AVX-512 F, BW, VL and VBMI.
    #[cfg_attr(
        all(feature = "small", not(feature = "software")),
        expect(dead_code, reason = "a small program has no kernels for AVX-512")
    )]
    pub(crate) avx512: bool,
}

impl Features {
    /// The features of this CPU, which is asked once.
    pub(crate) fn of_this_cpu() -> Features {
        static FEATURES: OnceLock<Features> = OnceLock::new();
        *FEATURES.get_or_init(Features::ask)
    }

    /// Intel SDM vol. 1, 14.7.1 and 15.2: a program may use the instructions if CPUID lists them, and if the
    /// operating system saves their registers, which the register XCR0 says.
    fn ask() -> Features {
        const OSXSAVE_AND_AVX: u32 = 0b11 << 27;
        const YMM: u64 = 0b110;
        const ZMM: u64 = 0b1110_0110;
        let none = Features { avx2: false, avx512: false };
        if leaf(0, 0).eax < 7 || leaf(1, 0).ecx & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
            return none;
        }
        // SAFETY: the instruction exists if the bit OSXSAVE is set.
        let saved = unsafe { std::arch::x86_64::_xgetbv(0) };
        let listed = leaf(7, 0);
        let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);
        Features {
            avx2: saved & YMM == YMM && has(listed.ebx, &[5]),
            avx512: saved & ZMM == ZMM && has(listed.ebx, &[16, 30, 31]) && has(listed.ecx, &[1]),
        }
    }
}
