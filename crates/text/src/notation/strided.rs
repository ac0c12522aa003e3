//! Layouts with one stride for each dimension: the text in every notation that writes strides, and what their
//! readers have in common.

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::checked::{self, BYTES, Dims, Exact, at};
use tensor_layout::element::{DataType, Naming};
use tensor_layout::map::same_layout;
use tensor_layout::plan::counted;
use tensor_layout::{AnyLayout, AxisOrder, BufferTensorDesc, Error, IndexMap, LayoutClass, TensorFlags, ToIndexMap};

use crate::spell::tiles::insert_missing;

use super::{Notation, type_and_sizes};
use crate::numbers::{list, python};

/// The most dimensions of a tensor of DirectML (`DML_TENSOR_DIMENSION_COUNT_MAX1`, feature level 3.0).
/// Tensors with more dimensions are neither written nor read.
pub(super) const DIRECTML_DIMENSIONS: usize = 8;

/// The types of a byte that NumPy's package `ml_dtypes` has and PyTorch has not.
const NOT_IN_TORCH: [DataType; 3] = [DataType::F8E3M4, DataType::F8E4M3, DataType::F8E4M3B11FNUZ];

pub(super) struct Strided {
    /// The type of an element. It is not that of `desc` where XLA stores an element in another width than
    /// its own, which no descriptor says: `desc` is of bytes there.
    data_type: DataType,
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

    /// Returns the text in a notation that is sizes and strides, or an order of the axes.
    pub(super) fn text(&self, notation: Notation) -> Result<String, Error> {
        let Strided { data_type, desc } = self;
        let (sizes, strides, base) = (desc.sizes(), desc.strides(), desc.base_offset());
        let refuse = |reason: String| Err(Error::not_expressible(notation.noun(), reason));
        let name_in = |naming: Naming, by: &'static str| {
            let name = data_type.name_in(naming).filter(|_| by != "PyTorch" || !NOT_IN_TORCH.contains(data_type));
            name.ok_or_else(|| Error::unsupported_data_type(data_type.name_in(Naming::Xla).unwrap_or_default(), by))
        };
        let in_bytes = |elements: u64| checked::mul(elements, u64::from(data_type.bits().div_ceil(8)), BYTES);
        let all_in_bytes = |strides: &[u64]| strides.iter().copied().map(in_bytes).collect::<Result<Vec<_>, _>>();
        let writes_parts_of_bytes = matches!(
            notation,
            Notation::Strides | Notation::AxisOrder | Notation::CuTe | Notation::Directml | Notation::Numpy
        );
        if data_type.bits() < 8 && !writes_parts_of_bytes {
            return refuse("elements of less than a byte have no strides there".into());
        }
        Ok(match notation {
            Notation::Numpy => {
                let (name, strides) = (name_in(Naming::Numpy, "NumPy")?, python(&all_in_bytes(strides)?));
                let offset = if desc.is_part() { format!(", offset={}", in_bytes(base)?) } else { String::new() };
                format!("ndarray(shape={}, dtype={name}, strides={strides}{offset})", python(sizes))
            }
            Notation::Directml => return self.directml(name_in(Naming::Directml, "DirectML")?),
            Notation::Torch => {
                let (name, strides) = (name_in(Naming::Numpy, "PyTorch")?, python(strides));
                match base {
                    0 => format!("torch.empty_strided({}, {strides}, dtype=torch.{name})", python(sizes)),
                    _ => format!("{data_type} torch.Size({sizes:?}) stride={strides} storage_offset={base}"),
                }
            }
            Notation::Ndarray => format!("{data_type} shape={sizes:?}, strides={strides:?}"),
            Notation::Candle => {
                format!("{data_type} Layout {{ shape: {sizes:?}, stride: {strides:?}, start_offset: {base} }}")
            }
            Notation::Ggml if !(1..=4).contains(&sizes.len()) => return refuse("ggml has 1 to 4 axes".into()),
            Notation::Ggml => {
                let (mut sizes, mut bytes) = (sizes.to_vec(), all_in_bytes(strides)?);
                sizes.reverse();
                bytes.reverse();
                format!("{data_type} ne={sizes:?} nb={bytes:?}")
            }
            Notation::Mlir => {
                let sizes_text: String = sizes.iter().map(|size| format!("{size}x")).collect();
                let packed = BufferTensorDesc::packed(*data_type, sizes)?.with_canonical_strides();
                let layout = match (packed.strides() == strides, base) {
                    (true, 0) => String::new(),
                    (_, 0) => format!(", strided<{strides:?}>"),
                    _ => format!(", strided<{strides:?}, offset: {base}>"),
                };
                format!("memref<{sizes_text}{}{layout}>", mlir_name(*data_type))
            }
            Notation::AxisOrder => match axis_order(desc) {
                Ok(order) => format!("{}:{order}", type_and_sizes(*data_type, sizes)),
                Err(reason) => return refuse(reason),
            },
            _ => {
                let base = if desc.is_part() { format!("+{base}") } else { String::new() };
                format!("{}:{}{base}", type_and_sizes(*data_type, sizes), list(strides))
            }
        })
    }

    /// Writes DirectML's JSON. A stride of an axis of size 1 is unused, and 1 if it is too large.
    fn directml(&self, name: &str) -> Result<String, Error> {
        let refuse = |reason: String| Err(Error::not_expressible(Notation::Directml.noun(), reason));
        let (sizes, rank, most) = (self.desc.sizes(), self.desc.rank(), u64::from(u32::MAX));
        if rank == 0 || rank > DIRECTML_DIMENSIONS {
            return refuse(format!("it has {rank} dimensions, and DirectML's tensors have 1 to {DIRECTML_DIMENSIONS}"));
        }
        if let Some(axis) = sizes.iter().position(|&size| size == 0) {
            return refuse(format!("axis {axis} has size 0, and DirectML has no empty tensors"));
        }
        let strides = sizes.iter().zip(self.desc.strides());
        let strides: Dims = strides.map(|(&size, &own)| if size == 1 && own > most { 1 } else { own }).collect();
        for (what, numbers) in [("size", sizes), ("stride", &strides)] {
            if let Some((axis, number)) = numbers.iter().enumerate().find(|&(_, &number)| number > most) {
                return refuse(format!("axis {axis} has {what} {number}, and DirectML's numbers have 32 bits"));
            }
        }
        let owned = self.desc.flags() == TensorFlags::OwnedByDirectml;
        let flags = if owned { ",\"Flags\":\"OWNED_BY_DML\"" } else { "" };
        let alignment = match self.desc.base_offset_alignment() {
            0 => String::new(),
            alignment => format!(",\"GuaranteedBaseOffsetAlignment\":{alignment}"),
        };
        Ok(format!(
            "{{\"DataType\":\"{name}\"{flags},\"Sizes\":{},\"Strides\":{},\"TotalTensorSizeInBytes\":{}{alignment}}}",
            list(sizes),
            list(&strides),
            checked::round_up(self.desc.to_index_map()?.physical_size_in_bytes(), 4, BYTES)?
        ))
    }
}

/// A layout that was read, and the axes that run backwards: their strides are negative in the text.
pub(super) type Signed = (AnyLayout, Vec<usize>);

/// Returns the tensor of these sizes and of strides in elements, packed without strides, and the axes that
/// run backwards. `offset` is the place of index 0 of all axes. Without it the buffer begins at the lowest
/// address.
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

pub(super) fn mlir_name(data_type: DataType) -> String {
    let name = data_type.to_string();
    match (name.split_at(1), data_type) {
        (_, DataType::Pred) => "i1".into(),
        (_, DataType::C64) => "complex<f32>".into(),
        (_, DataType::C128) => "complex<f64>".into(),
        (("s", bits), _) => format!("i{bits}"),
        (("u", bits), _) => format!("ui{bits}"),
        (("f", rest), _) => format!("f{}", rest.to_ascii_uppercase()),
        _ => name,
    }
}

/// Returns the order of axes that are packed one after the other, or the reason why they are not packed. The
/// letters are NCHW and NCDHW for ranks 4 and 5, and A, B, C, ... for other ranks.
fn axis_order(desc: &BufferTensorDesc) -> Result<AxisOrder, String> {
    let (rank, empty) = (desc.rank(), desc.sizes().contains(&0));
    if rank == 0 || rank > AxisOrder::MAX_RANK {
        return Err(format!("an axis order has 1 to {} letters, and there are {rank} axes", AxisOrder::MAX_RANK));
    }
    let (size, stride) = (|axis: usize| at(desc.sizes(), axis), |axis: usize| at(desc.strides(), axis));
    // The axes longer than 1, the slowest first. The other axes are inserted, each after the axis with the
    // next lower number.
    let mut order: Vec<usize> = (0..rank).filter(|&axis| empty || size(axis) > 1).collect();
    if !empty {
        order.sort_by_key(|&axis| core::cmp::Reverse(stride(axis)));
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
