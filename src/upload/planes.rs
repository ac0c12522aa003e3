//! `PlaneLimits`: what a device demands of a plane beside the values of a tensor, by the role of the plane.

use alloc::borrow::Cow;
use core::fmt;
use core::str::FromStr;

use crate::cursor::one_of;
use crate::element::DataType;
use crate::error::Error;

/// What a plane beside the values of a tensor holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PlaneRole {
    /// The numbers that values are multiplied by.
    Scales,
    /// The numbers that are subtracted from values first.
    ZeroPoints,
}

impl fmt::Display for PlaneRole {
    /// Writes `scales` or `zero_points`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl PlaneRole {
    fn name(self) -> &'static str {
        match self {
            PlaneRole::Scales => "scales",
            PlaneRole::ZeroPoints => "zero_points",
        }
    }
}

impl FromStr for PlaneRole {
    type Err = Error;

    fn from_str(text: &str) -> Result<PlaneRole, Error> {
        one_of(text, "a role of a plane", &[PlaneRole::Scales, PlaneRole::ZeroPoints], PlaneRole::name)
    }
}

/// The rules of a device for planes of one role. The text is `scales:f8e8m0fnu:32:8`.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, PlaneLimits};
///
/// let metal: DeviceLimits = "metal-tensor".parse()?;
/// let scales: &PlaneLimits = &metal.planes.as_ref().expect("it takes scales")[0];
/// assert_eq!((scales.block, scales.max_value_bits), (32, 8));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize), serde(deny_unknown_fields))]
pub struct PlaneLimits {
    /// What the planes hold.
    pub role: PlaneRole,
    /// The types of their elements.
    pub data_types: Cow<'static, [DataType]>,
    /// The number of values of the last axis that have one element of the plane. It is 1 on every other axis.
    pub block: u64,
    /// The most bits that a value beside such a plane may have.
    pub max_value_bits: u32,
}
