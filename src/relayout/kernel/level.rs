//! Which kernels this CPU can run.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::cursor::one_of;
use crate::error::Error;

/// A set of kernels, by the instructions they need.
///
/// ```
/// use tensor_layout::relayout::KernelLevel;
///
/// let level = KernelLevel::in_use();
/// assert!(level.is_available() && KernelLevel::Portable.is_available());
/// assert_eq!(KernelLevel::Avx2.name(), "avx2");
/// println!("relayout runs at {}", level.name());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KernelLevel {
    /// Safe Rust, any CPU.
    Portable,
    /// 64-bit ARM: vectors of 32 bytes, two registers each.
    Neon,
    /// x86-64 with AVX2: vectors of 32 bytes.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VBMI: vectors of 64 bytes.
    Avx512,
}

impl KernelLevel {
    /// All levels, the lowest first.
    pub const ALL: [KernelLevel; 4] =
        [KernelLevel::Portable, KernelLevel::Neon, KernelLevel::Avx2, KernelLevel::Avx512];

    /// Has this CPU what the level needs?
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            KernelLevel::Portable => true,
            // The order of bytes in a register is that of memory in little-endian programs alone.
            #[cfg(target_arch = "aarch64")]
            KernelLevel::Neon => cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            KernelLevel::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            KernelLevel::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
            #[allow(unreachable_patterns, reason = "the levels of other CPUs, if there are any")]
            _ => false,
        }
    }

    /// The level plans use: the highest available one, or the one that the environment variable
    /// `TENSOR_LAYOUT_LEVEL` names if it is lower. Decided once for the process.
    #[must_use]
    pub fn in_use() -> KernelLevel {
        static LEVEL: OnceLock<KernelLevel> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let most = Self::requested().ok().flatten().unwrap_or(KernelLevel::Avx512);
            Available::up_to(most).get()
        })
    }

    /// The level that the environment variable `TENSOR_LAYOUT_LEVEL` names; `None` if it is not set, or empty. Read once for the process.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`] if it names none (`Portable`, `avx`): then [`in_use`](Self::in_use) is the highest level, and whoever starts the
    /// program should be told.
    ///
    /// ```
    /// use tensor_layout::relayout::KernelLevel;
    ///
    /// if let Err(error) = KernelLevel::requested() {
    ///     eprintln!("TENSOR_LAYOUT_LEVEL is ignored: {error}");
    /// }
    /// ```
    pub fn requested() -> Result<Option<KernelLevel>, Error> {
        static REQUESTED: OnceLock<Result<Option<KernelLevel>, Error>> = OnceLock::new();
        let read = || match std::env::var_os("TENSOR_LAYOUT_LEVEL").unwrap_or_default() {
            name if name.is_empty() => Ok(None),
            name => name.to_string_lossy().parse().map(Some),
        };
        REQUESTED.get_or_init(read).clone()
    }

    /// `portable`, `neon`, `avx2` or `avx512`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            KernelLevel::Portable => "portable",
            KernelLevel::Neon => "neon",
            KernelLevel::Avx2 => "avx2",
            KernelLevel::Avx512 => "avx512",
        }
    }
}

impl FromStr for KernelLevel {
    type Err = Error;

    /// Reads its [name](Self::name), whether this CPU has the level or not.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`] for any other text.
    fn from_str(text: &str) -> Result<Self, Error> {
        one_of(text, "a kernel level", &Self::ALL, KernelLevel::name)
    }
}

/// A level that this CPU has: vectors may be used on the strength of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Available(KernelLevel);

impl Available {
    /// [`KernelLevel::in_use`].
    pub(crate) fn in_use() -> Available {
        Available(KernelLevel::in_use())
    }

    /// The highest available level up to `most`.
    pub(crate) fn up_to(most: KernelLevel) -> Available {
        let usable = KernelLevel::ALL.into_iter().filter(|&level| level <= most && level.is_available());
        Available(usable.max().unwrap_or(KernelLevel::Portable))
    }

    pub(crate) fn get(self) -> KernelLevel {
        self.0
    }

    /// Does it run kernels over vectors?
    pub(crate) fn has_vectors(self) -> bool {
        self.0 != KernelLevel::Portable
    }
}

impl fmt::Display for KernelLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
