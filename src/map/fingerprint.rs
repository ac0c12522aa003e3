//! `Fingerprint`: 16 bytes by which two programs know that they mean the same layout.
//!
//! A cache is written by one program and read by another, on another machine and in another language. Each
//! can describe its layout in a notation of its own, so texts say little. The *normal form* of an index map
//! is the same for both, and its text is hashed:
//!
//! ```text
//! bf16/16[2,7,3,4,10]+0 0=(1,840) 1=(1,120) 2=(1,20) 3=(2,60)(1,10) 4=(1,1)
//!   type, bits of an element, sizes, base, and the digits of each component: (divisor,stride)
//! ```
//!
//! The size of the buffer and the contents of padding are left out: both sides may keep different numbers of
//! blocks behind the last one they share. The hash is FNV-1a with 128 bits, whose published test values are
//! held by the tests: one line, no dependency, and in any language. It recognises mistakes, not attackers.

use alloc::format;
use core::fmt;
use core::str::FromStr;

use crate::error::Error;

use super::index_map::ToIndexMap;

/// The fingerprint of a layout: equal for layouts with one type, sizes and normal form, whatever their
/// notation. It stays the same across versions and machines.
///
/// The text is 32 hexadecimal digits, the first byte first.
///
/// ```
/// use tensor_layout::{map::Fingerprint, ArrayShape, BufferTensorDesc};
///
/// let tiled: ArrayShape = "f32[3,100]{1,0:T(8,128)}".parse()?;
/// let strided: BufferTensorDesc = "f32[3,100]:[128,1]".parse()?;
/// let fingerprint = Fingerprint::of(&tiled)?;
/// assert_eq!(fingerprint, Fingerprint::of(&strided)?);
/// assert_eq!(fingerprint.to_string().parse::<Fingerprint>()?, fingerprint);
///
/// let other: BufferTensorDesc = "f32[3,100]:[100,1]".parse()?;
/// assert_eq!(fingerprint.check(&other).unwrap_err().code(), "fingerprint_mismatch");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    /// Returns the fingerprint of a layout.
    ///
    /// # Errors
    ///
    /// `not_expressible` for an Irreducible layout, which has no normal form, and the errors of
    /// [`ToIndexMap::to_index_map`].
    pub fn of(layout: &(impl ToIndexMap + ?Sized)) -> Result<Fingerprint, Error> {
        Ok(Self::of_form(&layout.to_index_map()?.normal_form()?))
    }

    /// Checks that a layout has this fingerprint, which another program sent.
    ///
    /// # Errors
    ///
    /// `fingerprint_mismatch` with the normal form of the layout and both fingerprints, and the errors of
    /// [`of`](Self::of).
    pub fn check(self, layout: &(impl ToIndexMap + ?Sized)) -> Result<(), Error> {
        let form = layout.to_index_map()?.normal_form()?;
        let found = Self::of_form(&form);
        if found == self { Ok(()) } else { Err(Error::fingerprint_mismatch(form, self, found)) }
    }

    /// Returns FNV-1a with 128 bits of a normal form.
    fn of_form(form: &str) -> Fingerprint {
        let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        Fingerprint(form.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, step).to_be_bytes())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Fingerprint, Error> {
        let digits = Some(text).filter(|text| text.len() == 32 && !text.starts_with('+'));
        let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
        let number =
            number.ok_or_else(|| Error::parse(text, 1, "a fingerprint: 32 hexadecimal digits", format!("`{text}`")))?;
        Ok(Fingerprint(number.to_be_bytes()))
    }
}
