//! The planes of a layout in one buffer.

use tensor_layout::upload::{DeviceLimits, PackedBuffer};
use tensor_layout::{BufferTensorDesc, Error, ToIndexMap};

use super::{Layout, Plane};

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
