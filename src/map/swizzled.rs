//! Maps with a [swizzle](super::swizzle): how one is put behind the digits, and which bits of an offset the
//! indices set.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::checked::{self, PHYSICAL, Proven};
use crate::error::Error;

use super::digits::{Chain, Digit};
use super::index_map::{Components, IndexMap};
use super::swizzle::Swizzle;

impl IndexMap {
    /// The last step of this map, in which bits of the offset are flipped. `None` for most maps.
    #[must_use]
    pub fn swizzle(&self) -> Option<&Swizzle> {
        self.swizzle.as_deref()
    }

    /// Returns this map followed by a swizzle of its offsets, base included. Bits that no index sets flip
    /// nothing, and are dropped. If strides give the same offsets, the map has them. The buffer grows to a
    /// whole number of the pieces that the step permutes.
    ///
    /// # Errors
    ///
    /// `not_expressible` for an Irreducible layout, and for a map that has a swizzle. `overflow` if the size
    /// of the buffer passes 64 bits.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, ToIndexMap, map::Swizzle};
    ///
    /// let rows: BufferTensorDesc = "f16[8,64]:[64,1]".parse()?;
    /// let swizzle = Swizzle::from_bytes(&[(4, 1 << 7), (5, 1 << 8), (6, 1 << 9)], 16)?;
    /// let map = rows.to_index_map()?.with_swizzle(&swizzle)?;
    /// assert_eq!((map.offset(&[1, 0])?, map.inverse(72)?.as_deref()), (72, Some(&[1, 0][..])));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_swizzle(self, swizzle: &Swizzle) -> Result<IndexMap, Error> {
        if self.levels.is_some() || self.swizzle.is_some() {
            let has = if self.swizzle.is_some() { "a swizzle" } else { "`*` in a later tile" };
            let reason = format!("the layout has {has}, and a swizzle follows digits only");
            return Err(Error::not_expressible("swizzled layout", reason));
        }
        let swizzle = swizzle.of_set_bits(self.set_bits());
        let physical_elements = checked::round_up(self.physical_elements, swizzle.block(), PHYSICAL)?;
        checked::bytes_for(physical_elements, self.element_bits)?;
        Ok(IndexMap { physical_elements, swizzle: Some(Box::new(swizzle)), ..self }.without_idle_flips().checked())
    }

    /// Returns the map without its swizzle, in as large a buffer, and the swizzle.
    ///
    /// The method needs the feature `plan`.
    #[cfg(feature = "plan")]
    #[must_use]
    pub fn apart_from_swizzle(&self) -> (IndexMap, Option<Swizzle>) {
        let mut plain = self.clone();
        let swizzle = plain.swizzle.take();
        (plain, swizzle.map(|swizzle| *swizzle))
    }

    /// Drops the flips by bits that are 0 at every index, and the whole swizzle where strides say the same.
    pub(super) fn without_idle_flips(mut self) -> IndexMap {
        if let Some(swizzle) = self.swizzle.take() {
            let kept = swizzle.of_set_bits(self.set_bits());
            if !kept.flips().is_empty() {
                match self.in_strides(&kept) {
                    Some((base, components)) => (self.base, self.components) = (base, Arc::new(components)),
                    None => self.swizzle = Some(Box::new(kept)),
                }
            }
        }
        self
    }

    /// Returns the base and the components that do what these components and the swizzle do. A column of
    /// swizzled rows is one: bits that are the same at every index are flipped, and a flip adds or takes away
    /// one number. `None` if a bit of the offset depends on two bits of the indices, and if a chain would
    /// need more digits than it has, because fewer views are possible then.
    fn in_strides(&self, swizzle: &Swizzle) -> Option<(u64, Components)> {
        let base = swizzle.apply(self.base);
        let (mut seen, mut digits) = (0, Vec::new());
        for (dim, value, offset) in self.bit_offsets()? {
            let changed = swizzle.apply(self.base ^ offset) ^ base;
            if changed & seen != 0 {
                return None;
            }
            seen |= changed;
            let stride = (changed & !base).checked_sub(changed & base)?;
            digits.push((dim, Digit::new(NonZeroU64::new(value)?, stride)));
        }
        let mut components = Components::clone(&self.components);
        for component in &mut components {
            let own = digits.iter().rev().filter(|(dim, _)| component.dims() == [*dim]).map(|&(_, digit)| digit);
            let chain = Chain::normalised(own, component.extent);
            if chain.digits().len() > component.chain.digits().len() {
                return None;
            }
            component.chain = chain;
        }
        Some((base, components))
    }

    /// The bits that are 1 in the offset of some index before the swizzle. If sums carry, there may be more
    /// bits in the result.
    fn set_bits(&self) -> u64 {
        if self.sizes.contains(&0) {
            return 0;
        }
        match self.bit_offsets() {
            Some(bits) => bits.iter().fold(self.base, |set, (.., offset)| set | offset),
            None => {
                let strides = self.components.iter().flat_map(|component| component.chain.digits());
                let steps = strides.fold(self.base, |steps, digit| steps | digit.stride);
                let largest = self.components.iter().map(|component| component.chain.largest(component.extent));
                let last = largest.fold(self.base, u64::plus);
                // No bit is set below the lowest bit of all strides, nor above the highest of the last
                // offset.
                let low = 1_u64.checked_shl(steps.trailing_zeros()).unwrap_or(0);
                let high = u64::MAX.checked_shr(last.leading_zeros()).unwrap_or(0);
                if low == 0 { 0 } else { high & !low.minus(1) }
            }
        }
    }

    /// Returns each index with a single bit, as its dimension and value, with the offset that it adds to the
    /// base before the swizzle. The offset of every index is then the exclusive or of the base and the
    /// offsets of its bits. `None` if sums carry, or if a digit is no range of bits.
    pub(super) fn bit_offsets(&self) -> Option<Vec<(usize, u64, u64)>> {
        if self.levels.is_some() {
            return None;
        }
        let (mut bits, mut seen) = (Vec::new(), self.base);
        for component in self.components.iter() {
            let [dim] = *component.dims() else { return None };
            if !component.chain.digits().iter().all(|digit| digit.divisor.get().is_power_of_two()) {
                return None;
            }
            let values = core::iter::successors(Some(1_u64), |value| value.checked_mul(2));
            for value in values.take_while(|&value| value < component.extent) {
                let offset = component.chain.at(value);
                if offset & seen != 0 {
                    return None;
                }
                seen |= offset;
                bits.push((dim, value, offset));
            }
        }
        Some(bits)
    }
}
