//! The levels: sets of kernels, and which of them this CPU can run.

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use crate::features::Features;

/// Whether the crate is built small (feature `small`): vectors have one width, and rare kernels run in safe
/// Rust. Code behind `!SMALL_PROGRAM` is not compiled into such a program. With the feature `software`
/// nothing is left out, so that tests with all features cover everything.
pub const SMALL_PROGRAM: bool = cfg!(all(feature = "small", not(feature = "software")));

/// A set of kernels, named after the instructions it requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Safe Rust, for any CPU.
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

    /// The levels of vectors in plain Rust, for tests. There are none without the feature `software`.
    pub const SOFTWARE: &[Level] = &[
        #[cfg(feature = "software")]
        Level::Software32,
        #[cfg(feature = "software")]
        Level::Software64,
    ];

    /// Whether this CPU has the instructions that the level requires.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            // The kernels assume that the first byte of a register is the first byte in memory. That holds
            // for little-endian targets only.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Features::of_this_cpu().avx2,
            #[cfg(all(target_arch = "x86_64", any(not(feature = "small"), feature = "software")))]
            Level::Avx512 => Features::of_this_cpu().avx512,
            #[cfg(feature = "software")]
            Level::Software32 | Level::Software64 => true,
            #[allow(unreachable_patterns, reason = "the levels of other CPUs, if there are any")]
            _ => false,
        }
    }

    /// The name of the level: `portable`, `neon`, `avx2` or `avx512`.
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

/// A text that is not the name of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLevel(String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a kernel level: {}, found `{}`", Level::ALL.map(Level::name).join(", "), self.0)
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    /// Reads the name of a level, as it is displayed. The level need not be one that this CPU supports.
    fn from_str(text: &str) -> Result<Level, UnknownLevel> {
        let named = Level::ALL.into_iter().find(|level| level.name() == text);
        named.ok_or_else(|| UnknownLevel(text.chars().take(120).collect()))
    }
}

/// A level that this CPU was found to support, so that code for it may run.
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

    /// Size of a vector register of this level, in bytes.
    #[must_use]
    pub fn register(self) -> usize {
        match self.0 {
            Level::Avx512 => 64,
            #[cfg(feature = "software")]
            Level::Software64 => 64,
            _ => 32,
        }
    }

    /// The level with registers of half a line, if this level has registers of a line; else this level.
    #[must_use]
    pub fn with_half_registers(self) -> Available {
        match self.0 {
            Level::Avx512 => Available::up_to(Level::Avx2),
            #[cfg(feature = "software")]
            Level::Software64 => Available(Level::Software32),
            _ => self,
        }
    }

    /// Whether the level has kernels over vectors.
    #[must_use]
    pub fn has_vectors(self) -> bool {
        self.0 != Level::Portable
    }
}
