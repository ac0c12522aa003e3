//! `BlockTensorDesc`: a tensor of ggml's block types.
//!
//! Such a tensor is described twice. Its sizes count values, as those of every tensor do. Its memory is a
//! descriptor of bytes with one axis more, and everything that is known about descriptors holds for it:
//! sizes in bytes, views, checks, copies.
//!
//! ```text
//! q4_0[4096,4096]     sizes    4096 rows, 4096 values a row
//!                     bytes    u8[4096,128,18]: 4096 rows, 128 blocks a row, 18 bytes a block
//! ```

use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::checked::{self, BYTES, Dims, Proven};
use crate::cursor::Cursor;
use crate::element::{BlockType, DataType};
use crate::error::{Code, Error};
use crate::typed_sizes::{check_sizes, write_list};

use super::desc::BufferTensorDesc;
use super::numbers::{Integer, first_that_does_not_fit, index_of, natural, sizes_of};
use super::slice::Slice;

/// A tensor whose innermost axis is stored in blocks: ggml's q4_0, the K types, mxfp4 and others.
///
/// The sizes count values. The strides count bytes: from one index of an axis to the next, and on the
/// innermost axis from one block to the next. They are ggml's `nb` in the order of the sizes.
/// [`bytes`](Self::bytes) is the same memory as bytes, which checks, arenas, pictures and copies take: so
/// does the tensor itself, wherever a layout is taken.
///
/// ```
/// use tensor_layout::element::BlockType;
/// use tensor_layout::strided::BlockTensorDesc;
/// use tensor_layout::{relayout::Relayout, upload::PackedBuffer, DeviceLimits};
///
/// let weights = BlockTensorDesc::packed(BlockType::Q40, &[3, 64])?;
/// assert_eq!((weights.to_string().as_str(), weights.bytes().exact_size_in_bytes()), ("q4_0[3,64]:[36,18]", 108));
/// // Value 50 of row 1 is in the second block of the row, in the upper half of a byte.
/// let place = weights.place(&[1, 50])?;
/// assert_eq!((place.block, place.value, place.bits), (54, 18, vec![36..40]));
///
/// // Rows of 40 bytes for the GPU, and a copy of whole blocks.
/// let padded = BlockTensorDesc::padded_rows(BlockType::Q40, &[3, 64], 8)?;
/// assert_eq!(padded.to_string(), "q4_0[3,64]:[40,18]");
/// assert_eq!(Relayout::new(&weights, &padded)?.to_vec(&[7; 108])?.len(), 116);
/// assert_eq!(PackedBuffer::new(&[&weights, &padded], &DeviceLimits::webgpu())?.offsets[1], 256);
///
/// let error = BlockTensorDesc::packed(BlockType::Q40, &[3, 33]).unwrap_err();
/// assert_eq!(error.to_string(), "size 33 of axis 1 is not a multiple of 32, the values of a block of q4_0");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockTensorDesc {
    block_type: BlockType,
    sizes: Dims,
    bytes: BufferTensorDesc,
}

/// The place of a value, as [`BlockTensorDesc::place`] returns it.
///
/// ```
/// use tensor_layout::strided::{BlockPlace, BlockTensorDesc};
///
/// let weights: BlockTensorDesc = "q8_0[2,64]".parse()?;
/// let BlockPlace { block, value, bits, .. } = weights.place(&[1, 33])?;
/// // The last block of the second row, behind the scale of its values.
/// assert_eq!((block, value, bits), (102, 1, vec![24..32]));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockPlace {
    /// The offset of the value's block, in bytes from the start of the buffer.
    pub block: u64,
    /// The number of the value in its block.
    pub value: u64,
    /// The bits of the value in its block, as [`BlockType::value_bits`] returns them.
    pub bits: Vec<Range<u64>>,
}

impl BlockTensorDesc {
    /// Returns a tensor of these `sizes`, in values, with `strides` in bytes, or packed row-major without
    /// `strides`.
    ///
    /// # Errors
    ///
    /// `inside_block` if the innermost size is no multiple of the values of a block, `not_expressible`
    /// without an axis, and the errors of [`BufferTensorDesc::new`].
    pub fn new<T: Integer>(block_type: BlockType, sizes: &[T], strides: Option<&[T]>) -> Result<Self, Error> {
        let sizes = sizes_of(sizes)?;
        let in_bytes = in_bytes(block_type, &sizes)?;
        let Some(strides) = strides else {
            return Ok(BlockTensorDesc {
                block_type,
                bytes: BufferTensorDesc::packed(DataType::U8, &in_bytes)?,
                sizes,
            });
        };
        if strides.len() != sizes.len() {
            return Err(Error::rank_mismatch("strides", sizes.len(), strides.len()));
        }
        let mut byte_strides = Dims::from_elem(1, in_bytes.len());
        if let Some((axis, stride)) = first_that_does_not_fit(strides, &mut byte_strides) {
            return Err(natural("strides", "one of the strides", axis, stride));
        }
        let bytes = BufferTensorDesc::new(DataType::U8, &in_bytes, Some(&byte_strides))?;
        Ok(BlockTensorDesc { block_type, bytes, sizes })
    }

    /// Returns a packed row-major tensor.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn packed<T: Integer>(block_type: BlockType, sizes: &[T]) -> Result<Self, Error> {
        Self::new(block_type, sizes, None)
    }

    /// Returns a row-major tensor in which every row begins at a multiple of `alignment` bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), and `out_of_limits` for an alignment of 0.
    pub fn padded_rows<T: Integer>(block_type: BlockType, sizes: &[T], alignment: u64) -> Result<Self, Error> {
        if alignment == 0 {
            return Err(Error::out_of_limits("the alignment of rows", 0, 1, u64::MAX));
        }
        let packed = Self::packed(block_type, sizes)?;
        let mut strides = Dims::from_elem(block_type.bytes(), packed.sizes.len());
        let (mut below, blocks) = (block_type.bytes(), packed.bytes.sizes.iter().rev().skip(1));
        for (stride, &size) in strides.iter_mut().rev().skip(1).zip(blocks) {
            below = checked::round_up(checked::mul(below, size.max(1), BYTES)?, alignment, BYTES)?;
            *stride = below;
        }
        Self::new(block_type, &packed.sizes, Some(&strides))
    }

    /// Returns the tensor that these bytes hold: `u8[.., blocks, bytes of a block]`, whose last axis is one
    /// whole block.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a descriptor of another type or form.
    pub fn from_bytes(block_type: BlockType, bytes: BufferTensorDesc) -> Result<Self, Error> {
        let (sizes, strides) = (bytes.sizes(), bytes.strides());
        let is_block = |(size, stride): (&u64, &u64)| *size == block_type.bytes() && *stride == 1;
        let (true, true, Some((_, [.., _]))) = (
            bytes.data_type() == DataType::U8,
            sizes.last().zip(strides.last()).is_some_and(is_block),
            sizes.split_last(),
        ) else {
            let size = block_type.bytes();
            let reason = format!("{bytes} is not u8[.., blocks,{size}], whose last axis is one block of {block_type}");
            return Err(Error::not_expressible("tensor of blocks", reason));
        };
        let mut sizes = Dims::from_slice(sizes.get(..sizes.len().minus(1)).unwrap_or_default());
        if let Some(last) = sizes.last_mut() {
            *last = checked::mul(*last, block_type.values(), checked::ELEMENTS)?;
        }
        checked::product(&sizes, checked::ELEMENTS)?;
        Ok(BlockTensorDesc { block_type, sizes, bytes })
    }

    /// The type of the blocks.
    #[must_use]
    pub fn block_type(&self) -> BlockType {
        self.block_type
    }

    /// The sizes, in values.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The strides, in bytes. The last one is the distance between two blocks.
    #[must_use]
    pub fn strides(&self) -> &[u64] {
        let strides = self.bytes.strides();
        strides.get(..self.sizes.len()).unwrap_or(strides)
    }

    /// The memory of the tensor as bytes: the blocks of the innermost axis, and an axis of the bytes of a
    /// block.
    #[must_use]
    pub fn bytes(&self) -> &BufferTensorDesc {
        &self.bytes
    }

    /// Returns the place of a value: the byte at which its block begins, its number in the block, and its
    /// bits.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` and `index_out_of_range` for an index outside the sizes.
    pub fn place<T: Integer>(&self, index: &[T]) -> Result<BlockPlace, Error> {
        if index.len() != self.sizes.len() {
            return Err(Error::rank_mismatch("indices", self.sizes.len(), index.len()));
        }
        let mut index: Dims = index.iter().map(|&i| index_of(i)).collect();
        if let Some((axis, (&i, &size))) = index.iter().zip(&self.sizes).enumerate().find(|(_, (i, size))| i >= size) {
            return Err(Code::IndexOutOfRange.on_axis(axis, i, size));
        }
        let mut value = 0;
        if let Some(last) = index.last_mut() {
            value = last.modulo(self.block_type.values());
            *last = last.divided_by(self.block_type.values());
        }
        index.push(0);
        let block = self.bytes.offset(&index)?;
        Ok(BlockPlace { block, value, bits: self.block_type.value_bits(value) })
    }

    /// Returns this tensor `base_offset` bytes into its buffer, as a part of it.
    ///
    /// # Errors
    ///
    /// The errors of [`BufferTensorDesc::with_base_offset`].
    pub fn with_base_offset(self, base_offset: u64) -> Result<Self, Error> {
        Ok(BlockTensorDesc { bytes: self.bytes.with_base_offset(base_offset)?, ..self })
    }

    /// Returns the part of the tensor that `slices` keep, one slice for each axis, as
    /// [`BufferTensorDesc::slice`] does. On the innermost axis the part consists of whole blocks.
    ///
    /// # Errors
    ///
    /// `inside_block` for a start or an end inside a block, `not_a_view` for a step on the innermost axis,
    /// and the errors of [`BufferTensorDesc::slice`].
    ///
    /// ```
    /// use tensor_layout::element::BlockType;
    /// use tensor_layout::strided::BlockTensorDesc;
    ///
    /// let weights = BlockTensorDesc::packed(BlockType::Q80, &[4, 128])?;
    /// assert_eq!(weights.slice(&[1..3, 64..128])?.to_string(), "q8_0[2,64]:[136,34]+204");
    /// let error = weights.slice(&[1..3, 0..48]).unwrap_err();
    /// assert_eq!(error.to_string(), "end 48 of axis 1 is not a multiple of 32, the values of a block of q8_0");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn slice<S: Clone + Into<Slice>>(&self, slices: &[S]) -> Result<Self, Error> {
        let mut in_bytes: Vec<Slice> = slices.iter().cloned().map(Into::into).collect();
        let axis = self.innermost();
        if slices.len() != self.sizes.len() {
            return Err(Error::rank_mismatch("slices", self.sizes.len(), slices.len()));
        }
        if let (Some(slice), Some(&size)) = (in_bytes.last_mut(), self.sizes.last()) {
            let taken = slice.on_axis(axis, size)?;
            if taken.step > 1 {
                let reason = format!("takes single values out of blocks of {}", self.block_type.values());
                return Err(Code::NotAView.with_reason("a slice with a step", reason).with_axis(axis));
            }
            let start = blocks(self.block_type, "start", axis, taken.start)?;
            *slice = (start..blocks(self.block_type, "end", axis, slice.end.unwrap_or(size))?).into();
        }
        in_bytes.push(Slice::ALL);
        Self::from_bytes(self.block_type, self.bytes.slice(&in_bytes)?)
    }

    /// Returns a view with the axes in another order, as [`BufferTensorDesc::permute`] does. The innermost
    /// axis stays where it is.
    ///
    /// # Errors
    ///
    /// `not_a_view` if the innermost axis would move, and the errors of [`BufferTensorDesc::permute`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self, Error> {
        if axes.len() != self.sizes.len() {
            return Err(Error::rank_mismatch("axes", self.sizes.len(), axes.len()));
        }
        let mut all = Vec::from(axes);
        all.push(self.sizes.len());
        let bytes = self.bytes.permute(&all)?;
        if axes.last() != Some(&self.innermost()) {
            let reason = format!("is stored in blocks of {} values, so it stays innermost", self.block_type.values());
            return Err(Code::NotAView.with_reason("another order of the axes", reason).with_axis(self.innermost()));
        }
        Self::from_bytes(self.block_type, bytes)
    }

    /// Returns a view of the same values with other sizes, as [`BufferTensorDesc::reshape`] does.
    ///
    /// # Errors
    ///
    /// `element_count_mismatch`, in values; `inside_block` if the innermost size is no multiple of the values
    /// of a block, and the errors of [`BufferTensorDesc::reshape`].
    pub fn reshape<T: Integer>(&self, sizes: &[T]) -> Result<Self, Error> {
        let sizes = sizes_of(sizes)?;
        let [found, expected] = [&sizes, &self.sizes].map(|sizes| checked::product(sizes, checked::ELEMENTS));
        let (found, expected) = (found?, expected?);
        if found != expected {
            return Err(Code::ElementCountMismatch.for_value(found, expected));
        }
        let bytes = self.bytes.reshape(&in_bytes(self.block_type, &sizes)?)?;
        Self::from_bytes(self.block_type, bytes)
    }

    /// Returns the indices, in values, of a piece of [`bytes`](Self::bytes), such as
    /// [`BindingPiece::indices`](crate::upload::BindingPiece::indices).
    ///
    /// # Errors
    ///
    /// `not_expressible` if the piece cuts a block.
    pub fn indices_of_piece(&self, indices: &[Range<u64>]) -> Result<Vec<Range<u64>>, Error> {
        let (Some((bytes, [outer @ .., last])), values) = (indices.split_last(), self.block_type.values()) else {
            return Err(Error::rank_mismatch("ranges", self.sizes.len().saturating_add(1), indices.len()));
        };
        if *bytes != (0..self.block_type.bytes()) {
            let reason = format!("it has the bytes {bytes:?} of the blocks alone");
            return Err(Error::not_expressible("tensor of blocks", reason));
        }
        let last = last.start.saturating_mul(values)..last.end.saturating_mul(values);
        Ok(outer.iter().cloned().chain([last]).collect())
    }

    fn innermost(&self) -> usize {
        self.sizes.len().saturating_sub(1)
    }
}

fn in_bytes(block_type: BlockType, sizes: &[u64]) -> Result<Dims, Error> {
    let axis = sizes.len().checked_sub(1).ok_or_else(|| {
        Error::not_expressible("tensor of blocks", "it has no axis, and blocks are those of the innermost one")
    })?;
    checked::product(sizes, checked::ELEMENTS)?;
    let mut in_bytes = Dims::from_slice(sizes);
    if let Some(last) = in_bytes.last_mut() {
        *last = blocks(block_type, "size", axis, *last)?;
    }
    in_bytes.push(block_type.bytes());
    Ok(in_bytes)
}

fn blocks(block_type: BlockType, what: &'static str, axis: usize, values: u64) -> Result<u64, Error> {
    match values.modulo(block_type.values()) {
        0 => Ok(values.divided_by(block_type.values())),
        _ => Err(Error::inside_block(block_type.name(), what, axis, values, block_type.values())),
    }
}

impl fmt::Display for BlockTensorDesc {
    /// Writes the notation `q4_0[3,64]:[40,18]`, followed by `+n` for the base offset of a part of a larger
    /// buffer, in bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.block_type)?;
        write_list(f, self.sizes())?;
        f.write_str(":")?;
        write_list(f, self.strides())?;
        if self.bytes.is_part() { write!(f, "+{}", self.bytes.base_offset()) } else { Ok(()) }
    }
}

impl FromStr for BlockTensorDesc {
    type Err = Error;

    /// Reads the notation that `Display` writes. Without strides, `q4_0[3,64]` is packed.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let start = cursor.position();
        let block_type = cursor.word().parse().map_err(|_| cursor.error_at(start, "a block type such as q4_0"))?;
        let desc = read_after_type(&mut cursor, block_type)?;
        cursor.end("nothing more, or `:` and the strides in bytes")?;
        Ok(desc)
    }
}

/// Reads the sizes and strides of a tensor of blocks at the cursor, which is behind the block type.
///
/// # Errors
///
/// `parse` with the column, and the errors of [`BlockTensorDesc::new`].
pub fn read_after_type(cursor: &mut Cursor<'_>, block_type: BlockType) -> Result<BlockTensorDesc, Error> {
    cursor.expect("[", "`[` and the sizes")?;
    let start = cursor.position();
    let sizes: Dims = cursor.list("]", |cursor| cursor.number("a size"))?.into_iter().collect();
    check_sizes(cursor, start, &sizes)?;
    if !cursor.eat(":") {
        return BlockTensorDesc::packed(block_type, &sizes);
    }
    cursor.expect("[", "`[` and the strides in bytes, of the last axis from block to block")?;
    let strides: Dims = cursor.list("]", |cursor| cursor.number("a stride in bytes"))?.into_iter().collect();
    let desc = BlockTensorDesc::new(block_type, &sizes, Some(&strides))?;
    if !cursor.eat("+") {
        return Ok(desc);
    }
    desc.with_base_offset(cursor.number("a base offset in bytes")?)
}
