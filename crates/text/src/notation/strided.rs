//! Layouts with one stride for each dimension: the text in every notation that writes strides, and what their
//! readers have in common.

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::checked::{Proven, nth_or_panic};
use tensor_layout::element::DataType;
use tensor_layout::map::same_layout;
use tensor_layout::plan::counted;
use tensor_layout::short_sort::sort_by_key;
use tensor_layout::{AnyLayout, AxisOrder, BufferTensorDesc, Error, IndexMap, LayoutClass};

use crate::spell::tiles::insert_missing;

pub(super) struct Strided {
    /// The type of an element. If XLA stores an element in another width than its own, no descriptor of this
    /// type exists, and `desc` has bytes as elements instead.
    pub(super) data_type: DataType,
    /// The layout, with canonical strides.
    pub(super) desc: BufferTensorDesc,
}

impl Strided {
    /// Returns the layout with one stride for each dimension, or the reason why it has none.
    pub(super) fn of(layout: &AnyLayout, map: &IndexMap) -> Result<Strided, String> {
        let in_words = |error: Error| error.to_string();
        let data_type = map.data_type();
        let desc = if map.class() == LayoutClass::Affine && map.element_bits() != data_type.bits() {
            let desc = BufferTensorDesc::new(DataType::U8, map.sizes(), map.strides().as_deref()).map_err(in_words)?;
            if map.is_part() { desc.with_base_offset(map.base()).map_err(in_words)? } else { desc }
        } else {
            match lower(layout).map_err(in_words)? {
                Lowering::Strided(desc) => desc,
                other => return Err(other.reason().unwrap_or_default()),
            }
        };
        Ok(Strided { data_type, desc: desc.with_canonical_strides() })
    }
}

/// A layout that was read, and the axes that run backwards: their strides are negative in the text.
pub(super) type Signed = (AnyLayout, Vec<usize>);

/// Returns the tensor of these sizes and signed strides, and the axes that run backwards. Strides and
/// `offset` are in elements. Without strides the tensor is packed. `offset` is the offset of index 0 of all
/// axes; without it the buffer begins at the lowest address of an element.
pub(super) fn signed(
    data_type: DataType,
    sizes: &[u64],
    strides: Option<&[i128]>,
    offset: Option<i128>,
) -> Result<(BufferTensorDesc, Vec<usize>), Error> {
    let (desc, reversed, first) = match strides {
        Some(strides) => {
            let signed = BufferTensorDesc::from_signed(data_type, sizes, strides)?;
            (signed.desc, signed.reversed, signed.first)
        }
        None => (BufferTensorDesc::packed(data_type, sizes)?, Vec::new(), 0),
    };
    let desc = desc.with_canonical_strides();
    let Some(offset) = offset else { return Ok((desc, reversed)) };
    let lowest = offset.minus(i128::from(first));
    let base = u64::try_from(lowest).map_err(|_| {
        let bits = lowest.unsigned_abs().saturating_mul(data_type.bits().into());
        let bytes = counted(bits.div_ceil(8), "byte");
        Error::not_expressible("index map", format!("an element would be stored {bytes} before its buffer"))
    })?;
    Ok((desc.with_base_offset(base)?, reversed))
}

/// Returns the order of axes that are packed one after the other, or the reason why they are not packed. The
/// letters are NCHW and NCDHW for ranks 4 and 5, and A, B, C, ... for other ranks.
pub(super) fn axis_order(desc: &BufferTensorDesc) -> Result<AxisOrder, String> {
    let (rank, empty) = (desc.rank(), desc.sizes().contains(&0));
    if rank == 0 || rank > AxisOrder::MAX_RANK {
        return Err(format!("an axis order has 1 to {} letters, and there are {rank} axes", AxisOrder::MAX_RANK));
    }
    let (size, stride) =
        (|axis: usize| nth_or_panic(desc.sizes(), axis), |axis: usize| nth_or_panic(desc.strides(), axis));
    // The axes longer than 1, the slowest first. The other axes are inserted, each after the axis with the
    // next lower number.
    let mut order: Vec<usize> = (0..rank).filter(|&axis| empty || size(axis) > 1).collect();
    if !empty {
        sort_by_key(&mut order, |&axis| core::cmp::Reverse(stride(axis)));
        let (mut packed, mut after) = (1_u64, "packed".to_owned());
        for &axis in order.iter().rev() {
            match stride(axis) {
                0 => return Err(format!("axis {axis} is broadcast (stride 0)")),
                taken if taken != packed => {
                    let taken = counted(taken, "element");
                    return Err(format!("axis {axis} takes steps of {taken}, and {after} it would take {packed}"));
                }
                _ => (packed, after) = (packed.saturating_mul(size(axis)), format!("packed after axis {axis}")),
            }
        }
    }
    insert_missing(&mut order, rank);
    let letters = match rank {
        4 => "NCHW",
        5 => "NCDHW",
        _ => "ABCDEFGH",
    };
    let text: String = order.iter().filter_map(|&axis| letters.chars().nth(axis)).collect();
    text.parse().map_err(|error: Error| error.to_string())
}

/// The orders that engines have names for, by rank. The batch is first or last, and the channels are before
/// or after the other axes.
const NAMED_ORDERS: [&[&str]; 2] = [&["NCHW", "NHWC", "CHWN", "HWCN"], &["NCDHW", "NDHWC", "CDHWN", "DHWCN"]];

/// Returns every axis order with a name in engines in which this tensor is packed: `NCHW`, `NHWC`, `CHWN`
/// and `HWCN`, or the same orders with a depth. There may be several orders, because the strides of axes of
/// size 1 are free. The list is empty if the rank is not 4 or 5, or if the tensor is packed in none of the
/// orders.
///
/// ```
/// use tensor_layout::BufferTensorDesc;
///
/// let gray: BufferTensorDesc = "f32[63,1,3,3]:[9,1,3,1]".parse()?;
/// let names: Vec<String> = tensor_layout_text::axis_orders(&gray).iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["NCHW", "NHWC"]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn axis_orders(desc: &BufferTensorDesc) -> Vec<AxisOrder> {
    let names = desc.rank().checked_sub(4).and_then(|place| NAMED_ORDERS.get(place)).copied().unwrap_or_default();
    let fits = |order: &AxisOrder| {
        BufferTensorDesc::with_order(desc.data_type(), desc.sizes(), *order)
            .is_ok_and(|packed| desc.base_offset() == 0 && same_layout(&packed, desc) == Ok(true))
    };
    names.iter().filter_map(|name| name.parse().ok()).filter(fits).collect()
}
