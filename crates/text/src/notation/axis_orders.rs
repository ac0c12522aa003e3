//! The axis orders with a name in which a tensor is packed.

use tensor_layout::map::same_layout;
use tensor_layout::{AxisOrder, BufferTensorDesc};

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
