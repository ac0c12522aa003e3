//! `AxisOrder`: memory orders such as NCHW, NHWC, NCDHW and NDHWC.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use smallvec::SmallVec;

use crate::checked::{self, Dims, OFFSET, exact};
use crate::error::{Code, Error};
use crate::short_sort::sort_by_key;

/// The logical order of the letters that engines use: groups, batch or output channels, channels or input
/// channels, depth, height, width.
const LOGICAL: &[u8] = b"GNOCIDHW";

/// The letters of XLA's page on shapes. A tensor of rank below 4 has the last letters: the axes of rank 2 are
/// y and x.
const OF_XLA: &[u8] = b"PZYX";

/// The order of axes in memory, the slowest axis first. Each axis is named by a letter.
///
/// Sizes and strides are always given in the logical order (N, C, D, H, W for activations, G, O, I, D,
/// H, W for weights), whatever the order in memory is. This is DirectML's rule. An axis order
/// determines the strides.
///
/// The letters a, b, c, ... name axes 0, 1, 2, ... as oneDNN's tags do. Y X, Z Y X and P Z Y X name the
/// axes of ranks 2, 3 and 4, as XLA's page on shapes does.
///
/// ```
/// use tensor_layout::{AxisOrder, BufferTensorDesc, DataType};
///
/// let desc = BufferTensorDesc::with_order(DataType::F32, &[2, 3, 4, 5], AxisOrder::NHWC)?;
/// assert_eq!(desc.strides(), [60, 1, 15, 3]);
/// assert_eq!(BufferTensorDesc::with_order(DataType::F32, &[2, 3], "ba".parse()?)?.strides(), [1, 2]);
/// assert_eq!(AxisOrder::NHWC.axes().collect::<Vec<_>>(), [0, 2, 3, 1]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisOrder {
    /// The letters of the axes in upper case, the slowest axis first. Zeros fill the rest of the array.
    letters: [u8; Self::MAX_RANK],
    /// The logical axis that each entry of `letters` names.
    axes: [u8; Self::MAX_RANK],
}

impl AxisOrder {
    /// The most axes that an order can name. A text with more letters is refused.
    pub const MAX_RANK: usize = 8;

    /// Batch, channels, height, width: row-major.
    pub const NCHW: AxisOrder = Self::fixed(*b"NCHW\0\0\0\0", [0, 1, 2, 3, 0, 0, 0, 0]);
    /// Batch, height, width, channels.
    pub const NHWC: AxisOrder = Self::fixed(*b"NHWC\0\0\0\0", [0, 2, 3, 1, 0, 0, 0, 0]);
    /// Batch, channels, depth, height, width: row-major.
    pub const NCDHW: AxisOrder = Self::fixed(*b"NCDHW\0\0\0", [0, 1, 2, 3, 4, 0, 0, 0]);
    /// Batch, depth, height, width, channels.
    pub const NDHWC: AxisOrder = Self::fixed(*b"NDHWC\0\0\0", [0, 2, 3, 4, 1, 0, 0, 0]);

    const fn fixed(letters: [u8; Self::MAX_RANK], axes: [u8; Self::MAX_RANK]) -> AxisOrder {
        AxisOrder { letters, axes }
    }

    pub(super) fn read(letters: &str) -> Result<AxisOrder, String> {
        let upper = letters.to_ascii_uppercase();
        let bytes = upper.as_bytes();
        if bytes.is_empty() {
            return Err("it names no axis".into());
        }
        if bytes.len() > Self::MAX_RANK {
            return Err(format!("it names more than {} axes", Self::MAX_RANK));
        }
        let mut logical = bytes.to_vec();
        sort_by_key(&mut logical, |&letter| letter);
        if let Some(&[twice, _]) = logical.windows(2).find(|pair| pair.first() == pair.last()) {
            return Err(format!("it names the axis {} twice", char::from(twice)));
        }
        if let Some(all) = logical.iter().map(|letter| LOGICAL.iter().position(|l| l == letter)).collect() {
            let mut places: SmallVec<[usize; 8]> = all;
            sort_by_key(&mut places, |&place| place);
            logical = places.iter().filter_map(|&place| LOGICAL.get(place).copied()).collect();
        } else if let Some(last) = OF_XLA.len().checked_sub(logical.len()).and_then(|first| OF_XLA.get(first..))
            && last.len() > 1
            && last.iter().all(|letter| logical.contains(letter))
        {
            logical = last.to_vec();
        } else if logical.iter().zip(b'A'..).any(|(&letter, expected)| letter != expected) {
            return Err("its letters are neither among N C D H W (G O I for weights) nor Y X, Z Y X, P Z Y X nor a run a b c ...".into());
        }
        let mut order = AxisOrder { letters: [0; 8], axes: [0; 8] };
        let slots = order.letters.iter_mut().zip(&mut order.axes);
        for ((letter, axis), &byte) in slots.zip(bytes) {
            *letter = byte;
            let place = logical.iter().position(|&l| l == byte).unwrap_or_default();
            *axis = exact(u8::try_from(place).ok());
        }
        Ok(order)
    }

    pub(super) fn rank(&self) -> usize {
        self.letters.iter().filter(|&&letter| letter != 0).count()
    }

    /// The numbers of the logical axes in memory order: 0, 2, 3, 1 for NHWC.
    pub fn axes(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        self.axes.iter().take(self.rank()).map(|&axis| usize::from(axis))
    }

    pub(super) fn strides(&self, sizes: &[u64]) -> Result<Dims, Error> {
        let rank = self.rank();
        if sizes.len() != rank {
            return Err(Error::rank_mismatch("sizes", rank, sizes.len()));
        }
        packed_strides(sizes, self.axes().rev())
    }
}

/// Returns packed strides, the first axis of `minor_to_major` with stride 1. A size of 0 counts as 1.
pub(super) fn packed_strides(sizes: &[u64], minor_to_major: impl Iterator<Item = usize>) -> Result<Dims, Error> {
    let mut strides = Dims::from_elem(0, sizes.len());
    let mut next = 1;
    for axis in minor_to_major {
        if let (Some(stride), Some(&size)) = (strides.get_mut(axis), sizes.get(axis)) {
            *stride = next;
            next = checked::mul(next, size.max(1), OFFSET)?;
        }
    }
    Ok(strides)
}

impl FromStr for AxisOrder {
    type Err = Error;

    /// Reads a memory order from its letters, the slowest axis first, in upper or lower case.
    ///
    /// # Errors
    ///
    /// `bad_axis_order` if a letter is repeated, for more than [`MAX_RANK`](Self::MAX_RANK) letters, and for
    /// other letters than those of engines (G N O C I D H W), of XLA (P Z Y X) or a run a, b, c, ...
    fn from_str(letters: &str) -> Result<Self, Error> {
        AxisOrder::read(letters).map_err(|reason| Code::BadAxisOrder.with_reason(letters.to_owned(), reason))
    }
}

impl fmt::Display for AxisOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.letters.iter().take(self.rank()).map(|&letter| char::from(letter)).collect();
        f.pad(&text)
    }
}

impl fmt::Debug for AxisOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AxisOrder({self})")
    }
}
