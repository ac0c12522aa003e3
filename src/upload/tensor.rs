//! `Tensor`: the properties of a layout that the checks read, for all kinds of layouts.

use alloc::borrow::Cow;

use crate::checked::{self, Dims, Exact, wide_product};
use crate::element::{BlockType, DataType};
use crate::error::Error;
use crate::map::{IndexMap, LayoutClass, StorageRule, ToIndexMap};
use crate::strided::{BufferTensorDesc, OVERLAP_WORK_LIMIT, Overlap, Owns, TensorFlags, set_free_strides};

use super::limits::{DeviceLimits, binding_unit, whole_elements};
use super::write_units::bits_in_units;

/// A tensor that is checked. A descriptor is kept as it is, with its flags, its guaranteed alignment and its
/// chosen total size. Any other layout is kept as its index map and its rules for the buffer.
#[derive(Debug, Clone)]
pub(super) enum Tensor<'a> {
    /// The descriptor, and the type of the blocks whose bytes it describes, if it is a tensor of blocks.
    Strided(Cow<'a, BufferTensorDesc>, Option<BlockType>),
    Mapped(Cow<'a, IndexMap>, StorageRule),
}

impl<'a> Tensor<'a> {
    pub(super) fn of<L: ToIndexMap + ?Sized>(layout: &'a L) -> Result<Tensor<'a>, Error> {
        match layout.as_descriptor() {
            Some(desc) => Ok(Tensor::Strided(Cow::Borrowed(desc), layout.block_type())),
            None => Ok(Tensor::Mapped(Cow::Owned(layout.to_index_map()?), layout.storage_rule())),
        }
    }

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Tensor::Strided(desc, _) => desc.data_type(),
            Tensor::Mapped(map, _) => map.data_type(),
        }
    }

    pub(super) fn block_type(&self) -> Option<BlockType> {
        match self {
            Tensor::Strided(_, block_type) => *block_type,
            Tensor::Mapped(..) => None,
        }
    }

    /// The bits of an element in memory, which may differ from the bits of its type.
    pub(super) fn element_bits(&self) -> u32 {
        match self {
            Tensor::Strided(desc, _) => desc.data_type().bits(),
            Tensor::Mapped(map, _) => map.element_bits(),
        }
    }

    pub(super) fn element_bytes(&self) -> u64 {
        whole_elements(self.element_bits())
    }

    pub(super) fn sizes(&self) -> &[u64] {
        match self {
            Tensor::Strided(desc, _) => desc.sizes(),
            Tensor::Mapped(map, _) => map.sizes(),
        }
    }

    pub(super) fn strides(&self) -> Option<Dims> {
        match self {
            Tensor::Strided(desc, _) => Some(Dims::from_slice(desc.strides())),
            Tensor::Mapped(map, _) => {
                // The stride of an axis of size 1 is unused. It gets the stride that continues the axes after
                // it, which obeys every rule that the strides of these axes obey.
                let mut strides = Dims::from_vec(map.strides()?);
                set_free_strides(map.sizes(), &mut strides, |_, inside, _| inside);
                Some(strides)
            }
        }
    }

    pub(super) fn has_no_strides(&self) -> Error {
        let reason = match self {
            Tensor::Mapped(map, _) if map.class() == LayoutClass::Split => {
                "its tiles cut dimensions; `bridge::lower` gives the padded tensor of higher rank"
            }
            _ => "strides alone do not say where its elements are stored; copy it to a layout of strides",
        };
        Error::not_expressible("strided tensor", reason)
    }

    pub(super) fn element_count(&self) -> u64 {
        match self {
            Tensor::Strided(desc, _) => desc.element_count(),
            Tensor::Mapped(map, _) => map.element_count(),
        }
    }

    /// The number of elements from the start of the tensor's buffer to its end. For a descriptor, the end is
    /// the end of the last element. For any other layout, the end includes the padding after the last
    /// element, which XLA's size counts.
    pub(super) fn span_elements(&self) -> u64 {
        match self {
            Tensor::Strided(desc, _) => desc.span_elements(),
            Tensor::Mapped(map, _) if map.is_part() => map.span_elements(),
            Tensor::Mapped(map, _) => map.physical_elements(),
        }
    }

    /// The number of elements before index 0, or 0 for a tensor without elements.
    pub(super) fn base_offset(&self) -> u64 {
        match self {
            _ if self.element_count() == 0 => 0,
            Tensor::Strided(desc, _) => desc.base_offset(),
            Tensor::Mapped(map, _) => map.base(),
        }
    }

    /// The part of the base offset that moves into the binding's offset, in elements. If the device gets no
    /// base offset, this is the whole base offset. If a shader adds the rest, this is as much as the
    /// alignment of bindings allows.
    pub(super) fn base_in_binding(&self, limits: &DeviceLimits) -> u64 {
        let base = self.base_offset();
        match limits.base_offset_in_binding {
            true if limits.takes_strides => base,
            true => {
                let alignment = limits.offset_alignment_of(self.data_type(), self.element_bits());
                let unit = binding_unit(alignment, self.element_bits());
                base.minus(base.modulo(unit))
            }
            false => 0,
        }
    }

    pub(super) fn owns(&self) -> Owns {
        match self {
            Tensor::Strided(desc, _) => desc.owns(),
            Tensor::Mapped(map, _) => map.owns(),
        }
    }

    /// The alignment that was promised for the tensor's buffer, in bytes, or 0 without a promise.
    pub(super) fn promise(&self) -> u64 {
        match self {
            Tensor::Strided(desc, _) => desc.base_offset_alignment().into(),
            Tensor::Mapped(_, rule) if rule.alignment > 1 => rule.alignment,
            Tensor::Mapped(..) => 0,
        }
    }

    /// The alignment that was promised for the start of the binding, in bytes, or 0 without a promise. The
    /// promise is reduced by the base offset that is part of the binding's offset.
    pub(super) fn promised_alignment(&self, limits: &DeviceLimits) -> u64 {
        match self {
            Tensor::Strided(desc, _) => desc.alignment_after(self.base_in_binding(limits)).into(),
            Tensor::Mapped(..) => self.promise(),
        }
    }

    /// The bytes that the tensor takes on a device that counts from the first axis, or 0 for other devices.
    pub(super) fn extent_in_bytes(&self, limits: &DeviceLimits) -> u64 {
        let first = self.strides().filter(|_| limits.whole_extent).and_then(|strides| strides.first().copied());
        let elements = first.zip(self.sizes().first()).map_or(0, |(stride, size)| stride.saturating_mul(*size));
        let bytes = wide_product(elements, self.element_bits()).div_ceil(8);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The bits of the units of memory that hold an element of the tensor, without those of its elements:
    /// what a device writes with them. The tensor's buffer begins at the byte `at`. `None` if there are no
    /// strides, or too many ways in which units and rows meet.
    pub(super) fn bits_around(&self, at: u64, unit: u64) -> Option<u128> {
        let bits = u64::from(self.element_bits());
        if bits.is_multiple_of(unit.saturating_mul(8)) {
            return Some(0);
        }
        let used = wide_product(self.element_count(), bits);
        Some(bits_in_units((&self.strided().ok()?, at), unit)?.saturating_sub(used))
    }

    pub(super) fn zero_padding(&self) -> bool {
        matches!(self, Tensor::Mapped(_, rule) if rule.zero_padding)
    }

    pub(super) fn chosen_total(&self) -> Option<u64> {
        match self {
            Tensor::Strided(desc, _) => {
                let total = desc.total_tensor_size_in_bytes();
                (total != desc.min_size_in_bytes()).then_some(total)
            }
            Tensor::Mapped(..) => None,
        }
    }

    pub(super) fn is_owned(&self) -> bool {
        matches!(self, Tensor::Strided(desc, _) if desc.flags() == TensorFlags::OwnedByDirectml)
    }

    /// Returns an error if the tensor cannot be an output: two indices share an offset, or the search took
    /// too long.
    pub(super) fn check_output(&self) -> Result<(), Error> {
        let overlap = match self {
            Tensor::Strided(desc, _) => desc.overlap(),
            Tensor::Mapped(map, _) => return map.check_injective(),
        };
        match overlap {
            Overlap::No => Ok(()),
            Overlap::Yes { first, second, offset } => Err(Error::overlapping_destination(&first, &second, offset)),
            Overlap::Undecided => Err(Error::undecided("whether the output overlaps itself", OVERLAP_WORK_LIMIT)),
        }
    }
}

impl Tensor<'_> {
    pub(super) fn strided(&self) -> Result<BufferTensorDesc, Error> {
        if let Tensor::Strided(desc, _) = self {
            return Ok(desc.clone().into_owned());
        }
        let strides = self.strides().filter(|_| self.element_bits() == self.data_type().bits());
        let strides = strides.ok_or_else(|| self.has_no_strides())?;
        BufferTensorDesc::new(self.data_type(), self.sizes(), Some(&strides))?.beginning_at(self.base_offset())
    }

    /// Returns the tensor as sizes and strides, or else as the bytes of its buffer.
    pub(super) fn strided_or_bytes(&self) -> Result<BufferTensorDesc, Error> {
        let bytes = || {
            BufferTensorDesc::packed(DataType::U8, &[checked::bytes_for(self.span_elements(), self.element_bits())?])
        };
        self.strided().or_else(|_| bytes())
    }
}
