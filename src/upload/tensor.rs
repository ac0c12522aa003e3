//! `Tensor`: the properties of a layout that the checks read, for all kinds of layouts.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::checked::{self, Dims, Proven, wide_product};
use crate::element::{BlockType, DataType};
use crate::error::Error;
use crate::map::{IndexMap, LayoutClass, ToIndexMap};
use crate::strided::{
    BlockTensorDesc, BufferTensorDesc, GapOwner, OVERLAP_WORK_LIMIT, Overlap, TensorFlags, set_free_strides,
};

use super::limits::{DeviceLimits, binding_unit, whole_elements};
use super::write_units::bits_in_units;

/// What the checks read of a tensor. Sizes and offsets are in elements.
#[derive(Debug, Clone)]
pub(super) struct Tensor<'a> {
    pub(super) layout: Layout<'a>,
    pub(super) data_type: DataType,
    /// The bits of an element in memory, which may differ from the bits of its type.
    pub(super) element_bits: u32,
    pub(super) element_count: u64,
    /// The number of elements from the start of the tensor's buffer to its end. For a descriptor, the end is
    /// the end of the last element. For any other layout, the end includes the padding after the last
    /// element, which XLA's size counts.
    pub(super) span_elements: u64,
    /// The number of elements before index 0, or 0 for a tensor without elements.
    pub(super) base_offset: u64,
    pub(super) owns: GapOwner,
    /// The alignment that was promised for the tensor's buffer, in bytes, or 0.
    pub(super) promise: u64,
    /// The total size in bytes that was set by hand, or 0.
    pub(super) chosen_total: u64,
    /// The size by which the tensor's buffer is allocated, in bytes: what a copy with zeroed padding writes.
    pub(super) allocated_bytes: u64,
    pub(super) zero_padding: bool,
    pub(super) owned_by_directml: bool,
    /// The type of the blocks whose bytes the descriptor describes.
    pub(super) block_type: Option<BlockType>,
}

#[derive(Debug, Clone)]
pub(super) enum Layout<'a> {
    Strided(&'a BufferTensorDesc),
    Mapped(Box<IndexMap>),
}

impl<'a> Tensor<'a> {
    pub(super) fn of<L: ToIndexMap + ?Sized>(layout: &'a L) -> Result<Tensor<'a>, Error> {
        match layout.as_descriptor() {
            Some(desc) => {
                Ok(Tensor { block_type: layout.as_blocks().map(BlockTensorDesc::block_type), ..Tensor::of_desc(desc) })
            }
            None => Ok(Tensor::of_map(layout.to_index_map()?)),
        }
    }

    fn of_desc(desc: &'a BufferTensorDesc) -> Tensor<'a> {
        let total = desc.total_tensor_size_in_bytes();
        Tensor {
            data_type: desc.data_type(),
            element_bits: desc.data_type().bits(),
            element_count: desc.element_count(),
            span_elements: desc.span_elements(),
            base_offset: if desc.element_count() == 0 { 0 } else { desc.base_offset() },
            owns: desc.gap_owner(),
            promise: desc.base_offset_alignment().into(),
            chosen_total: if total == desc.min_size_in_bytes() { 0 } else { total },
            allocated_bytes: total,
            zero_padding: false,
            owned_by_directml: desc.flags() == TensorFlags::OwnedByDirectml,
            block_type: None,
            layout: Layout::Strided(desc),
        }
    }

    fn of_map(map: IndexMap) -> Tensor<'a> {
        Tensor {
            data_type: map.data_type(),
            element_bits: map.element_bits(),
            element_count: map.element_count(),
            span_elements: if map.is_part() { map.span_elements() } else { map.physical_elements() },
            base_offset: if map.element_count() == 0 { 0 } else { map.base() },
            owns: map.gap_owner(),
            promise: if map.alignment() > 1 { map.alignment() } else { 0 },
            chosen_total: 0,
            allocated_bytes: map.total_size_in_bytes(),
            zero_padding: map.has_zero_padding(),
            owned_by_directml: false,
            block_type: None,
            layout: Layout::Mapped(Box::new(map)),
        }
    }

    pub(super) fn element_bytes(&self) -> u64 {
        whole_elements(self.element_bits)
    }

    pub(super) fn sizes(&self) -> &[u64] {
        match &self.layout {
            Layout::Strided(desc) => desc.sizes(),
            Layout::Mapped(map) => map.sizes(),
        }
    }

    pub(super) fn strides(&self) -> Option<Dims> {
        match &self.layout {
            Layout::Strided(desc) => Some(Dims::from_slice(desc.strides())),
            Layout::Mapped(map) => {
                // The stride of an axis of size 1 is unused. It gets the stride that continues the axes after
                // it, which obeys every rule that the strides of these axes obey.
                let mut strides = Dims::from_vec(map.strides()?);
                set_free_strides(map.sizes(), &mut strides, |_, inside, _| inside);
                Some(strides)
            }
        }
    }

    pub(super) fn has_no_strides(&self) -> Error {
        let reason: String = match &self.layout {
            Layout::Mapped(map) if map.class() == LayoutClass::Split => {
                "its tiles cut dimensions; `bridge::lower` gives the padded tensor of higher rank".into()
            }
            Layout::Mapped(map) if map.class() == LayoutClass::Swizzled => {
                let words = map.swizzle().map(|swizzle| swizzle.in_words(map.element_bits()));
                format!("{}; copy it to a layout of strides", words.unwrap_or_default())
            }
            _ => "strides alone do not say where its elements are stored; copy it to a layout of strides".into(),
        };
        Error::not_expressible("strided tensor", reason)
    }

    /// The part of the base offset that moves into the binding's offset, in elements: all of it if the device
    /// gets no base offset, and as much as the alignment allows if a shader adds the rest.
    pub(super) fn base_in_binding(&self, limits: &DeviceLimits) -> u64 {
        let base = self.base_offset;
        match limits.base_offset_in_binding {
            true if limits.takes_strides => base,
            true => {
                let alignment = limits.offset_alignment_of(self.data_type, self.element_bits);
                let unit = binding_unit(alignment, self.element_bits);
                base.minus(base.modulo(unit))
            }
            false => 0,
        }
    }

    /// The promise, reduced by the base offset that is part of the binding's offset.
    pub(super) fn promised_alignment(&self, limits: &DeviceLimits) -> u64 {
        match &self.layout {
            Layout::Strided(desc) => desc.alignment_after(self.base_in_binding(limits)).into(),
            Layout::Mapped(_) => self.promise,
        }
    }

    /// The bytes that the tensor takes on a device that counts the gap after the last row, or 0 for others. A
    /// tensor without elements takes none.
    pub(super) fn extent_in_bytes(&self, limits: &DeviceLimits) -> u64 {
        let strides = if limits.whole_extent && self.element_count > 0 { self.strides() } else { None };
        let axes = self.sizes().iter().zip(strides.into_iter().flatten());
        let axes = axes.filter(|(size, _)| !limits.ignores_unit_strides || **size != 1);
        let elements = axes.map(|(&size, stride)| size.saturating_mul(stride)).max().unwrap_or(0);
        let bytes = wide_product(elements, self.element_bits).div_ceil(8);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The number of bits around the elements that a device writes together with them, because it writes
    /// whole units of `unit` bytes. The tensor's buffer begins at the byte `at`. `None` if the layout has no
    /// strides, or if units and rows meet in too many ways.
    pub(super) fn bits_around(&self, at: u64, unit: u64) -> Option<u128> {
        let bits = u64::from(self.element_bits);
        if bits.is_multiple_of(unit.saturating_mul(8)) {
            return Some(0);
        }
        let used = wide_product(self.element_count, bits);
        Some(bits_in_units((&self.strided().ok()?, at), unit)?.saturating_sub(used))
    }

    pub(super) fn check_output(&self) -> Result<(), Error> {
        let overlap = match &self.layout {
            Layout::Strided(desc) => desc.overlap(),
            Layout::Mapped(map) => return map.check_injective(),
        };
        match overlap {
            Overlap::No => Ok(()),
            Overlap::Yes { first, second, offset } => Err(Error::overlapping_destination(&first, &second, offset)),
            Overlap::Undecided => Err(Error::undecided("whether the output overlaps itself", OVERLAP_WORK_LIMIT)),
        }
    }

    pub(super) fn strided(&self) -> Result<BufferTensorDesc, Error> {
        if let Layout::Strided(desc) = &self.layout {
            return Ok((*desc).clone());
        }
        let strides = self.strides().filter(|_| self.element_bits == self.data_type.bits());
        let strides = strides.ok_or_else(|| self.has_no_strides())?;
        BufferTensorDesc::new(self.data_type, self.sizes(), Some(&strides))?.beginning_at(self.base_offset)
    }

    /// Returns the tensor as sizes and strides, or else as the bytes of its buffer.
    pub(super) fn strided_or_bytes(&self) -> Result<BufferTensorDesc, Error> {
        let bytes =
            || BufferTensorDesc::packed(DataType::U8, &[checked::bytes_for(self.span_elements, self.element_bits)?]);
        self.strided().or_else(|_| bytes())
    }
}
