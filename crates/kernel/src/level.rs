//! Which kernels this CPU can run.

use std::fmt;

/// A set of kernels, by the instructions they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Safe Rust, any CPU.
    Portable,
    /// 64-bit ARM: vectors of 32 bytes, two registers each.
    Neon,
    /// x86-64 with AVX2: vectors of 32 bytes.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VBMI: vectors of 64 bytes.
    Avx512,
    /// Vectors of 32 bytes in plain Rust, for tests.
    #[cfg(feature = "software")]
    Software32,
    /// Vectors of 64 bytes in plain Rust, for tests.
    #[cfg(feature = "software")]
    Software64,
}

impl Level {
    /// All levels, the lowest first.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512];

    /// Has this CPU what the level needs?
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            // The order of bytes in a register is that of memory in little-endian programs alone.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(feature = "software")]
            Level::Software32 | Level::Software64 => true,
            #[allow(unreachable_patterns, reason = "the levels of other CPUs, if there are any")]
            _ => false,
        }
    }

    /// `portable`, `neon`, `avx2` or `avx512`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            #[cfg(feature = "software")]
            Level::Software32 => "software32",
            #[cfg(feature = "software")]
            Level::Software64 => "software64",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A level that this CPU has: vectors may be used on the strength of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Available(Level);

impl Available {
    /// The highest available level up to `most`.
    #[must_use]
    pub fn up_to(most: Level) -> Available {
        #[cfg(feature = "software")]
        if matches!(most, Level::Software32 | Level::Software64) {
            return Available(most);
        }
        let usable = Level::ALL.into_iter().filter(|&level| level <= most && level.is_available());
        Available(usable.max().unwrap_or(Level::Portable))
    }

    /// The level.
    #[must_use]
    pub fn get(self) -> Level {
        self.0
    }

    /// Bytes of a register of its kernels.
    #[must_use]
    pub fn register(self) -> usize {
        match self.0 {
            Level::Avx512 => 64,
            #[cfg(feature = "software")]
            Level::Software64 => 64,
            _ => 32,
        }
    }

    /// Does it run kernels over vectors?
    #[must_use]
    pub fn has_vectors(self) -> bool {
        self.0 != Level::Portable
    }
}
