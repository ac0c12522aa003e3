//! serde for `Padding` and `KernelLevel`, the two settings of a plan.

use alloc::borrow::Cow;

use ::serde::de::{Deserialize, Deserializer, Error as _, Unexpected};
use ::serde::ser::{Serialize, Serializer};

use crate::relayout::{KernelLevel, Padding};

/// The value is written as `"keep"`, `"zero"`, or the bits of an element in hexadecimal: `"0x7f"`.
impl Serialize for Padding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Padding::Keep => serializer.serialize_str("keep"),
            Padding::Zero => serializer.serialize_str("zero"),
            Padding::Fill(pattern) => serializer.collect_str(&format_args!("{pattern:#x}")),
        }
    }
}

impl<'de> Deserialize<'de> for Padding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let pattern = |digits: &str| {
            let hexadecimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            hexadecimal.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
        };
        match &*text {
            "keep" => Ok(Padding::Keep),
            "zero" => Ok(Padding::Zero),
            other => other.strip_prefix("0x").and_then(pattern).map(Padding::Fill).ok_or_else(|| {
                D::Error::invalid_value(Unexpected::Str(other), &"keep, zero or at most 128 bits as 0x...")
            }),
        }
    }
}

/// The value is written as its name: `"avx2"`.
impl Serialize for KernelLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for KernelLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let found = KernelLevel::ALL.into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| D::Error::unknown_variant(&name, &["portable", "avx2", "avx512"]))
    }
}
