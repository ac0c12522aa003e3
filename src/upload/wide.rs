//! `WideIndex`: where offsets stop fitting an integer of 32 bits, or of 31.

use alloc::vec::Vec;

use crate::checked::{Dims, Proven};

/// The first index, in row-major order, whose offset from the start of the binding takes more bits than a
/// width of integers has. Kernels that compute offsets in that width read a wrong element from there on.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, WideIndex, validate_description};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::packed(DataType::F16, &[40_000, 40_000])?;
/// let report = validate_description(&desc, &DeviceLimits::none())?;
/// let bytes: &WideIndex = &report.first_wide[0];
/// assert_eq!((bytes.unit, bytes.bits, bytes.offset), ("bytes", 31, Some(1 << 31)));
/// assert_eq!(bytes.index, [26843, 21824]); // element 2^30
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize))]
#[non_exhaustive]
pub struct WideIndex {
    /// What the offset counts: `elements` or `bytes`.
    pub unit: &'static str,
    /// The offset is 2 to the power of this number, or more: 32, or 31 if none is that large.
    pub bits: u32,
    /// The index.
    pub index: Vec<u64>,
    /// The offset, or `None` if it does not fit 64 bits.
    pub offset: Option<u64>,
}

impl WideIndex {
    /// Returns the first wide index in elements and in bytes, of those that exist.
    pub(super) fn all(sizes: &[u64], strides: &Dims, base: u64, element_bits: u32) -> Vec<WideIndex> {
        let units = [("elements", 8), ("bytes", element_bits)];
        let widest = |(unit, scale): (&'static str, u32)| {
            [32, 31].into_iter().find_map(|bits| WideIndex::of(sizes, strides, base, (unit, scale.into(), bits)))
        };
        units.into_iter().filter_map(widest).collect()
    }

    /// `scale` is 8 for offsets in elements, and the bits of an element for offsets in bytes.
    fn of(
        sizes: &[u64],
        strides: &Dims,
        base: u64,
        (unit, scale, bits): (&'static str, u128, u32),
    ) -> Option<WideIndex> {
        let axes = || sizes.iter().zip(strides.iter()).map(|(&size, &stride)| (size, u128::from(stride)));
        let reach = |(size, stride): (u64, u128)| u128::from(size.saturating_sub(1)).times(stride);
        // How far the axes without an index yet reach together, in elements.
        let mut left = axes().map(reach).fold(0_u128, Proven::plus);
        let (wanted, mut offset) = ((8_u128 << bits).div_ceil(scale), u128::from(base));
        if sizes.contains(&0) || offset.plus(left) < wanted {
            return None;
        }
        let mut index = Vec::new();
        for (size, stride) in axes() {
            left = left.minus(reach((size, stride)));
            let place = wanted.saturating_sub(offset.plus(left)).div_ceil(stride.max(1));
            offset = offset.plus(place.times(stride));
            index.push(u64::try_from(place).unwrap_or(u64::MAX));
        }
        Some(WideIndex { unit, bits, index, offset: u64::try_from(offset.times(scale).div_euclid(8)).ok() })
    }
}
