//! The text of a descriptor: `f32[2,3]:[5,1]+10`. `f16[8,64,56,56]:NHWC` is read, too.

use alloc::format;
use core::fmt;
use core::str::FromStr;

use crate::checked::Dims;
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;
use crate::typed_sizes::{read_type_and_sizes, write_list};

use super::axes::AxisOrder;
use super::desc::BufferTensorDesc;

impl FromStr for BufferTensorDesc {
    type Err = Error;

    /// Reads the notation that `Display` writes: the type, the sizes in logical order, and the strides in
    /// elements. `+` and a base offset may follow. A packed tensor may have an axis order instead of strides.
    ///
    /// The text does not contain flags, alignment or a total size that was set by hand. Sizes alone,
    /// `f32[2,3]`, are not a descriptor. [`AnyLayout`](crate::AnyLayout) reads sizes alone, and also XLA's
    /// tiles.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let desc: BufferTensorDesc = "f32[2,3]:[5,1]+10".parse()?;
    /// assert_eq!(desc, BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1]))?.with_base_offset(10)?);
    /// assert_eq!(desc.to_string().parse(), Ok(desc));
    /// let image: BufferTensorDesc = "f16[8,64,56,56]:NHWC".parse()?;
    /// assert_eq!(image.strides(), [200_704, 1, 3584, 64]);
    /// assert_eq!("f32[2,3]:[5]".parse::<BufferTensorDesc>().unwrap_err().column(), Some(10));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let (data_type, sizes) = read_type_and_sizes(&mut cursor)?;
        cursor.expect(":", "`:` and strides or an axis order")?;
        let desc = read_after_sizes(&mut cursor, data_type, &sizes)?;
        cursor.end("nothing more, or `+` and a base offset in elements")?;
        Ok(desc)
    }
}

/// Reads the strides or the axis order of a tensor at the cursor, which is behind the `:` after the sizes.
///
/// # Errors
///
/// `parse` with the column, and the errors of [`BufferTensorDesc::new`].
pub fn read_after_sizes(
    cursor: &mut Cursor<'_>,
    data_type: DataType,
    sizes: &[u64],
) -> Result<BufferTensorDesc, Error> {
    if cursor.peek() == Some(b'[') {
        read_strides(cursor, data_type, sizes)
    } else {
        read_order(cursor, data_type, sizes)
    }
}

fn read_strides(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<BufferTensorDesc, Error> {
    let start = cursor.position();
    cursor.expect("[", "`[` and the strides")?;
    let strides: Dims = cursor.list("]", |cursor| cursor.number("a stride of 0 or more"))?.into_iter().collect();
    if strides.len() != sizes.len() {
        return Err(cursor.error_at(start, &format!("{} strides, one for each size", sizes.len())));
    }
    let mut desc = BufferTensorDesc::new(data_type, sizes, Some(&strides))?;
    if cursor.eat("+") {
        desc = desc.with_base_offset(cursor.number("a base offset in elements")?)?;
    }
    Ok(desc)
}

fn read_order(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<BufferTensorDesc, Error> {
    let start = cursor.position();
    let order = AxisOrder::read(cursor.word()).map_err(|reason| {
        let expected = format!("strides in brackets, an axis order such as NHWC ({reason})");
        cursor.error_at(start, &expected)
    })?;
    if order.rank() != sizes.len() {
        return Err(cursor.error_at(start, &format!("an axis order of {} letters, one for each size", sizes.len())));
    }
    BufferTensorDesc::with_order(data_type, sizes, order)
}

impl fmt::Debug for BufferTensorDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferTensorDesc")
            .field("data_type", &self.data_type())
            .field("flags", &self.flags())
            .field("sizes", &self.sizes())
            .field("strides", &self.explicit_strides())
            .field("base_offset", &self.base_offset())
            .field("total_tensor_size_in_bytes", &self.total_tensor_size_in_bytes())
            .field("guaranteed_base_offset_alignment", &self.base_offset_alignment())
            .finish()
    }
}

impl fmt::Display for BufferTensorDesc {
    /// Writes `f32[2,3]:[5,1]`, and `+n` for the base offset of a part of a larger buffer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.data_type())?;
        write_list(f, self.sizes())?;
        f.write_str(":")?;
        write_list(f, self.strides())?;
        if self.is_part() {
            write!(f, "+{}", self.base_offset())?;
        }
        Ok(())
    }
}
