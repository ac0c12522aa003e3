//! Numbers in narrower types.

use tensor_layout::Error;

/// A number in another integer type, or the error that names it and the width that is too narrow for it.
pub(crate) fn narrow<T: TryFrom<U>, U>(value: U, quantity: &'static str) -> Result<T, Error> {
    let bits = u32::try_from(size_of::<T>()).unwrap_or(u32::MAX).saturating_mul(8);
    value.try_into().map_err(|_| Error::Overflow { quantity, bits })
}
