//! The levels: sets of kernels, and which of them this CPU can run.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use strided_copy::{Available, Level};

use crate::cursor::one_of;
use crate::error::Error;

/// A set of kernels, named after the instructions it requires.
///
/// ```
/// use tensor_layout::relayout::KernelLevel;
///
/// let level = KernelLevel::in_use();
/// assert!(level.is_available() && KernelLevel::Portable.is_available());
/// assert_eq!(KernelLevel::Avx2.to_string(), "avx2");
/// println!("relayout runs at {level}");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KernelLevel {
    /// Safe Rust, for any CPU.
    Portable,
    /// 64-bit ARM: vectors of 32 bytes, two registers each.
    Neon,
    /// x86-64 with AVX2: vectors of 32 bytes.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VBMI: vectors of 64 bytes.
    Avx512,
    /// Vectors of 32 bytes in plain Rust, for tests on any CPU.
    #[cfg(feature = "software")]
    Software32,
    /// Vectors of 64 bytes in plain Rust, for tests on any CPU.
    #[cfg(feature = "software")]
    Software64,
}

impl KernelLevel {
    /// All levels, the lowest first.
    pub const ALL: [KernelLevel; 4] =
        [KernelLevel::Portable, KernelLevel::Neon, KernelLevel::Avx2, KernelLevel::Avx512];

    /// The levels of vectors in plain Rust, for tests: none without the feature `software`.
    pub const SOFTWARE: &[KernelLevel] = &[
        #[cfg(feature = "software")]
        KernelLevel::Software32,
        #[cfg(feature = "software")]
        KernelLevel::Software64,
    ];

    /// Whether this CPU has the instructions that the level requires.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.level().is_available()
    }

    /// The level that plans use: the highest level of this CPU, or the level that the environment variable
    /// `TENSOR_LAYOUT_LEVEL` names if that is lower. It is determined once per process.
    #[must_use]
    pub fn in_use() -> KernelLevel {
        Self::of(Self::available_in_use())
    }

    /// The level that the environment variable `TENSOR_LAYOUT_LEVEL` names. `None` if the variable is empty
    /// or not set. The variable is read once per process.
    ///
    /// # Errors
    ///
    /// `parse` if the variable names no level (`Portable`, `avx`). In that case
    /// [`in_use`](Self::in_use) is the highest level, and the program should tell its user.
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

    pub(crate) fn name(self) -> &'static str {
        self.level().name()
    }

    fn level(self) -> Level {
        match self {
            KernelLevel::Portable => Level::Portable,
            KernelLevel::Neon => Level::Neon,
            KernelLevel::Avx2 => Level::Avx2,
            KernelLevel::Avx512 => Level::Avx512,
            #[cfg(feature = "software")]
            KernelLevel::Software32 => Level::Software32,
            #[cfg(feature = "software")]
            KernelLevel::Software64 => Level::Software64,
        }
    }

    /// The highest available level that is not above this level.
    pub(super) fn available(self) -> Available {
        Available::up_to(self.level())
    }

    pub(super) fn available_in_use() -> Available {
        static LEVEL: OnceLock<Available> = OnceLock::new();
        // Not `requested`, so that only programs that ask for its error have the code for the error.
        *LEVEL.get_or_init(|| {
            let name = std::env::var_os("TENSOR_LAYOUT_LEVEL").unwrap_or_default();
            let named = Self::ALL.iter().copied().find(|level| *level.name() == *name);
            named.unwrap_or(KernelLevel::Avx512).available()
        })
    }

    fn of(level: Available) -> KernelLevel {
        match level.get() {
            Level::Neon => KernelLevel::Neon,
            Level::Avx2 => KernelLevel::Avx2,
            Level::Avx512 => KernelLevel::Avx512,
            _ => KernelLevel::Portable,
        }
    }
}

impl FromStr for KernelLevel {
    type Err = Error;

    /// Reads the name of a level, as it is displayed. This CPU need not have the level.
    ///
    /// # Errors
    ///
    /// `parse` for any other text.
    fn from_str(text: &str) -> Result<Self, Error> {
        one_of(text, "a kernel level", &Self::ALL, KernelLevel::name)
    }
}

impl fmt::Display for KernelLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
