//! A layout on its way to a device: the buffer that holds its planes, and the strided tensors that are bound.

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::upload::{DeviceLimits, PackedBuffer};
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use super::{Layout, Plane};

/// The strided tensor that a plane is bound as.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bound {
    /// The tensor.
    pub desc: BufferTensorDesc,
    /// What is bound instead of the layout itself: `bound as the padded tensor of higher rank`.
    pub remark: Option<&'static str>,
}

impl Plane {
    /// Returns the strided tensor that the plane is bound as: itself, the padded tensor of higher rank, or
    /// one row of elements if no strides describe it. Axes that run backwards are bound from the lowest
    /// address on.
    ///
    /// # Errors
    ///
    /// The reason why a plane has no index map, and `unsupported_bits` for elements of a width that no
    /// descriptor has.
    ///
    /// ```
    /// use tensor_layout_text::layout::Layout;
    ///
    /// let bound = |text: &str| text.parse::<Layout>()?.values().bound().map(|bound| bound.desc.to_string());
    /// assert_eq!(bound("f32[3,5]{1,0:T(2,2)}")?, "f32[2,2,3,2]:[12,2,4,1]");
    /// assert_eq!(bound("sglang.packed_vnni2:bf16[48,32]")?, "bf16[1536]:[1]");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn bound(&self) -> Result<Bound, Error> {
        let mut bound = match (self.any(), self.maps().next()) {
            (Some(layout), _) => bound_as(layout)?,
            (None, Some(first)) => {
                let elements = self.maps().map(IndexMap::physical_elements).max().unwrap_or(0);
                let desc = row(first.data_type(), first.element_bits(), elements)?;
                Bound { desc, remark: Some("bound as one row of elements, because it lies in several parts") }
            }
            (None, None) => match &self.blocks {
                Some(blocks) => bound_as(&blocks.bytes().into())?,
                None => return Err(self.why_without_map()),
            },
        };
        bound.desc = self.aligned(bound.desc)?;
        if self.blocks.is_some() {
            bound.remark = Some("bound as the bytes of its blocks");
        } else if !self.reversed.is_empty() {
            bound.remark = bound.remark.or(Some("bound from its lowest address on"));
        }
        Ok(bound)
    }

    fn aligned(&self, desc: BufferTensorDesc) -> Result<BufferTensorDesc, Error> {
        match u32::try_from(self.alignment()) {
            Ok(alignment) if alignment > 1 => desc.with_base_offset_alignment(alignment),
            _ => Ok(desc),
        }
    }
}

/// Returns the strided tensor that a layout of the crate's own types is bound as; see [`Plane::bound`].
///
/// # Errors
///
/// The errors of [`lower`], and `unsupported_bits` for elements of a width that no descriptor has.
pub fn bound_as(layout: &AnyLayout) -> Result<Bound, Error> {
    let (desc, remark) = match lower(layout)? {
        Lowering::Strided(desc) => (desc, None),
        Lowering::Split(split) => (split.desc, Some("bound as the padded tensor of higher rank")),
        Lowering::IndexMap { map, .. } => (
            row(map.data_type(), map.element_bits(), map.physical_elements())?,
            Some("bound as one row of elements, because no strides describe it"),
        ),
        _ => return Err(Error::not_expressible("strided descriptor", "its lowering is unknown")),
    };
    Ok(Bound { desc, remark })
}

fn row(data_type: DataType, element_bits: u32, elements: u64) -> Result<BufferTensorDesc, Error> {
    let data_type = match element_bits {
        bits if bits == data_type.bits() => data_type,
        8 => DataType::U8,
        16 => DataType::U16,
        32 => DataType::U32,
        64 => DataType::U64,
        bits => return Err(Error::unsupported_bits(bits, "8, 16, 32 and 64")),
    };
    BufferTensorDesc::packed(data_type, &[elements])
}

impl Layout {
    /// The size in bytes of the buffer that holds every plane, as [`packed`](Self::packed) places them
    /// without a device.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a tuple, whose elements have buffers of their own, and the errors of
    /// [`packed`](Self::packed) and of [`Plane::size_in_bytes`].
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        match self.planes.as_slice() {
            _ if self.is_tuple() => {
                let reason = "it is a tuple, and each of its elements has a buffer of its own";
                Err(Error::not_expressible("size of one buffer", reason))
            }
            [plane] => plane.size_in_bytes(),
            _ => Ok(self.packed(&DeviceLimits::none())?.len),
        }
    }

    /// Chooses an offset for each plane in one buffer, the values first, as [`PackedBuffer::new`] does.
    /// Planes of the same records, such as `tenstorrent.bfp8_b.values` and `tenstorrent.bfp8_b.exponents`,
    /// have the same offset: the bytes of the records are there once.
    ///
    /// # Errors
    ///
    /// The errors of [`PackedBuffer::new`] and of [`Plane::bound`].
    ///
    /// ```
    /// use tensor_layout::DeviceLimits;
    /// use tensor_layout_text::Layout;
    ///
    /// let planes: Layout = "f4e2m1fn[200,160] with nvidia.sf_128x4:f8e4m3fn per 16 with f32 per tensor".parse()?;
    /// let packed = planes.packed(&DeviceLimits::webgpu())?;
    /// assert_eq!((packed.offsets.as_slice(), packed.len), (&[0, 16_128, 19_200][..], 19_204));
    /// let records = "tenstorrent.bfp8_b.values:u8[32,32] with tenstorrent.bfp8_b.exponents:u8 per 16".parse::<Layout>()?;
    /// let packed = records.packed(&DeviceLimits::none())?;
    /// assert_eq!((packed.offsets.as_slice(), packed.len), (&[0, 0][..], 1088));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn packed(&self, limits: &DeviceLimits) -> Result<PackedBuffer, Error> {
        let first_of = |place: usize, plane: &Plane| {
            let records = plane.records.as_ref();
            let first = self.planes.iter().position(|other| records.is_some() && other.records.as_ref() == records);
            first.unwrap_or(place)
        };
        let firsts: Vec<usize> = self.planes.iter().enumerate().map(|(place, plane)| first_of(place, plane)).collect();
        let own = self.planes.iter().enumerate().filter(|(place, _)| firsts.get(*place) == Some(place));
        let own: Vec<(usize, &Plane)> = own.collect();
        // A plane of several parts is placed as the row of elements that it is bound as.
        let rows = own.iter().map(|(_, plane)| match plane.whole() {
            Ok(_) => Ok(None),
            Err(_) => plane.bound().map(|bound| Some(bound.desc)),
        });
        let rows: Vec<Option<BufferTensorDesc>> = rows.collect::<Result<_, Error>>()?;
        let layouts: Vec<&dyn ToIndexMap> = own
            .iter()
            .zip(&rows)
            .map(|((_, plane), row)| -> &dyn ToIndexMap {
                match row {
                    Some(row) => row,
                    None => *plane,
                }
            })
            .collect();
        let mut packed = PackedBuffer::new(&layouts, limits)?;
        let offset = |first: &usize| {
            let place = own.iter().position(|(place, _)| place == first)?;
            packed.offsets.get(place).copied()
        };
        packed.offsets = firsts.iter().map(|first| offset(first).unwrap_or(0)).collect();
        Ok(packed)
    }
}
