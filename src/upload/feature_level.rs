//! `FeatureLevel`: the DirectML feature levels.

use core::fmt;

use crate::element::DataType::{self, F16, F32, F64, S4, S8, S16, S32, S64, U4, U8, U16, U32, U64};

/// Lists each level once, with its name in Rust, its value of `DML_FEATURE_LEVEL`, the name of its limits,
/// and what came with it.
macro_rules! levels {
    ($($level:ident = $value:literal, $limits:literal $(, $about:literal)?;)*) => {
        /// A DirectML feature level (`DML_FEATURE_LEVEL`). Later levels accept everything that earlier levels
        /// accept.
        ///
        /// ```
        /// use tensor_layout::upload::FeatureLevel;
        ///
        /// let level: FeatureLevel = "5.0".parse()?;
        /// assert_eq!((level, u32::from(level)), (FeatureLevel::V5_0, 0x5000));
        /// assert_eq!(FeatureLevel::try_from(0x5000)?, level);
        /// assert!(level < FeatureLevel::LATEST);
        /// # Ok::<(), tensor_layout::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FeatureLevel {
            $(#[doc = concat!($limits, $(", ", $about,)? ".")] $level,)*
        }

        impl FeatureLevel {
            /// Every level, oldest first.
            pub const ALL: &'static [FeatureLevel] = &[$(FeatureLevel::$level),*];

            /// The name is a constant, so that a check that passes allocates nothing.
            pub(super) fn limits_name(self) -> &'static str {
                match self {
                    $(FeatureLevel::$level => $limits,)*
                }
            }
        }

        /// Returns the value of `DML_FEATURE_LEVEL`: 0x5000 for 5.0.
        impl From<FeatureLevel> for u32 {
            fn from(level: FeatureLevel) -> u32 {
                match level {
                    $(FeatureLevel::$level => $value,)*
                }
            }
        }
    };
}

levels! {
    V1_0 = 0x1000, "DirectML 1.0", "of Windows 10 version 1903";
    V2_0 = 0x2000, "DirectML 2.0";
    V2_1 = 0x2100, "DirectML 2.1";
    V3_0 = 0x3000, "DirectML 3.0", "the first with ranks 1 to 8 and the 64-bit types";
    V3_1 = 0x3100, "DirectML 3.1";
    V4_0 = 0x4000, "DirectML 4.0";
    V4_1 = 0x4100, "DirectML 4.1";
    V5_0 = 0x5000, "DirectML 5.0";
    V5_1 = 0x5100, "DirectML 5.1";
    V5_2 = 0x5200, "DirectML 5.2";
    V6_0 = 0x6000, "DirectML 6.0";
    V6_1 = 0x6100, "DirectML 6.1";
    V6_2 = 0x6200, "DirectML 6.2";
    V6_3 = 0x6300, "DirectML 6.3", "the first with the 4-bit types";
    V6_4 = 0x6400, "DirectML 6.4";
}

/// The data types in the order in which levels accepted them: 8 at level 1.0, 11 at 3.0, all at 6.3.
const TYPES: &[DataType] = &[F32, F16, U32, U16, U8, S32, S16, S8, F64, U64, S64, U4, S4];

impl FeatureLevel {
    /// The newest level. DirectML is in sustained engineering, so it gets no further levels.
    pub const LATEST: FeatureLevel = FeatureLevel::V6_4;

    /// The smallest and the largest rank (`DML_TENSOR_DIMENSION_COUNT_MAX` and `..._MAX1`).
    pub(super) fn ranks(self) -> (usize, usize) {
        if self < FeatureLevel::V3_0 { (4, 5) } else { (1, 8) }
    }

    /// The data types that a tensor may have (DirectML feature level history).
    pub(super) fn data_types(self) -> &'static [DataType] {
        let count = match self {
            level if level < FeatureLevel::V3_0 => 8,
            level if level < FeatureLevel::V6_3 => 11,
            _ => TYPES.len(),
        };
        TYPES.get(..count).unwrap_or_default()
    }
}

impl fmt::Display for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.limits_name().trim_start_matches("DirectML "))
    }
}
