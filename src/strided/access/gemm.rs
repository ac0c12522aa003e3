//! `GemmOperand`: a tensor as an operand of a matrix multiplication.

use alloc::format;

use crate::dims::Dims;
use crate::error::Error;
use crate::strided::BufferTensorDesc;
use crate::strided::view::joined_axes;

/// A tensor as a matrix multiplication in the style of BLAS takes it: a batch of row-major matrices with a
/// leading dimension. The matrices may be transposed.
///
/// ```
/// use tensor_layout::strided::GemmOperand;
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// // One matrix for every element of the batch.
/// let weights = BufferTensorDesc::packed(DataType::F32, &[64, 32])?.broadcast_to(&[8, 64, 32])?;
/// let operand: GemmOperand = weights.gemm_operand()?;
/// assert_eq!((operand.rows, operand.columns, operand.leading_dimension, operand.transposed), (64, 32, 32, false));
/// assert_eq!((&operand.batch_sizes[..], &operand.batch_strides[..]), (&[8][..], &[0][..]));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GemmOperand {
    /// The number of rows of the logical matrix.
    pub rows: u64,
    /// The number of columns of the logical matrix.
    pub columns: u64,
    /// Whether memory holds the transpose in row-major order. Then neighbours in a column are contiguous.
    pub transposed: bool,
    /// The distance between the starts of two rows in memory, in elements. If `transposed` is set, this is
    /// the distance between two columns.
    pub leading_dimension: u64,
    /// The offset where the first matrix begins, in elements.
    pub offset: u64,
    /// The sizes of the batch, the slowest axis first, with as few axes as possible. A single matrix has no
    /// batch axis. With exactly one batch axis, the operand fits a strided batched call of a BLAS library.
    pub batch_sizes: Dims,
    /// The strides of the batch axes, in elements. A stride of 0 repeats a matrix.
    pub batch_strides: Dims,
}

impl BufferTensorDesc {
    /// Returns this tensor as an operand of a matrix multiplication. The last two axes are rows and columns,
    /// and the other axes are the batch.
    ///
    /// # Errors
    ///
    /// [`AxisOutOfRange`](crate::ArgumentRule) for fewer than two axes. [`Error::NotExpressible`], with the
    /// reason, if neither of the last two axes has stride 1 or if rows overlap. [`permute`](Self::permute)
    /// moves other axes to the end.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    ///
    /// let keys = BufferTensorDesc::packed(DataType::F16, &[2, 8, 128, 64])?.transpose(2, 3)?;
    /// let operand = keys.gemm_operand()?;
    /// assert!(operand.transposed);
    /// assert_eq!((operand.rows, operand.columns, operand.leading_dimension), (64, 128, 64));
    /// assert_eq!((&operand.batch_sizes[..], &operand.batch_strides[..]), (&[16][..], &[8192][..]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn gemm_operand(&self) -> Result<GemmOperand, Error> {
        let rank = self.rank();
        let (Some(rows), Some(columns)) = (rank.checked_sub(2), rank.checked_sub(1)) else {
            return Err(Error::axis_out_of_range(1, rank));
        };
        let ((row_count, row_stride), (column_count, column_stride)) = (self.axis(rows)?, self.axis(columns)?);
        let straight = leading_dimension(row_count, row_stride, column_count, column_stride);
        let turned = leading_dimension(column_count, column_stride, row_count, row_stride);
        let (transposed, leading_dimension) = match (straight, turned) {
            (Some(leading), _) => (false, leading),
            (None, Some(leading)) => (true, leading),
            (None, None) => {
                let reason = format!(
                    "rows are {row_count}:{row_stride} and columns {column_count}:{column_stride}, but one of the \
                     two needs stride 1 and the other a stride of at least that one's size"
                );
                return Err(Error::NotExpressible { target: "matrix operand", reason });
            }
        };
        let batch = joined_axes(self.axes().take(rows), self.element_count() == 0);
        Ok(GemmOperand {
            rows: row_count,
            columns: column_count,
            transposed,
            leading_dimension,
            batch_sizes: Dims::from_slice(batch.sizes()),
            batch_strides: Dims::from_slice(batch.strides()),
            offset: self.base_offset(),
        })
    }
}

/// Returns the leading dimension of a matrix whose `inner` axis is contiguous, or `None` if this axis is not
/// contiguous or if rows overlap. Any number fits an axis of size 1, so the stride of such an axis is
/// ignored.
fn leading_dimension(outer: u64, outer_stride: u64, inner: u64, inner_stride: u64) -> Option<u64> {
    if inner > 1 && inner_stride != 1 {
        return None;
    }
    let smallest = inner.max(1);
    if outer <= 1 {
        return Some(smallest);
    }
    (outer_stride >= smallest).then_some(outer_stride)
}
