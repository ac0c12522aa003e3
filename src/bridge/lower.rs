//! Conversion of tiled layouts to strides, where the layout allows it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::checked::{self, BYTES, Dims};
use crate::element::bits_in_words;
use crate::error::Error;
use crate::map::{Component, IndexMap, LayoutClass, ToIndexMap};
use crate::strided::BufferTensorDesc;

use smallvec::SmallVec;

/// The sizes and strides of a tiled layout, as [`lower`] returns them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lowering {
    /// One stride for each dimension describes the layout exactly.
    Strided(BufferTensorDesc),
    /// A tensor of more axes describes the padded array. [`Split`] also says which indices are padding.
    Split(Split),
    /// No sizes and strides describe the layout, but an index map does.
    IndexMap {
        /// The index map of the layout.
        map: IndexMap,
        /// A sentence that says why there are no strides and names the dimension.
        reason: String,
    },
}

/// A tiled layout as a strided tensor of higher rank.
///
/// Each logical dimension becomes one or more axes, the major axis first. The indices of these axes form a
/// row-major number, which is the logical index. Where the number is at or above the logical size, the
/// element is padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The descriptor of the padded tensor.
    pub desc: BufferTensorDesc,
    /// The logical dimension of each axis.
    pub dims: Vec<usize>,
    /// The logical sizes, in elements, without padding.
    pub logical_sizes: Vec<u64>,
}

impl Lowering {
    /// The name of the variant: `strided`, `split` or `index_map`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Lowering::Strided(_) => "strided",
            Lowering::Split(_) => "split",
            Lowering::IndexMap { .. } => "index_map",
        }
    }

    /// Returns a sentence that says why there is not one stride for each dimension, and names the dimensions.
    /// Returns `None` for [`Lowering::Strided`].
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Lowering::Strided(_) => None,
            Lowering::Split(split) => Some(split.reason()),
            Lowering::IndexMap { reason, .. } => Some(reason.clone()),
        }
    }
}

impl Split {
    /// `dimension 0 is cut into digits of 2 x 2 and dimension 1 into ...`
    fn reason(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for dim in 0..self.logical_sizes.len() {
            let axes = self.dims.iter().zip(self.desc.sizes()).filter(|&(&of, _)| of == dim);
            let digits: Vec<String> = axes.map(|(_, size)| size.to_string()).collect();
            if digits.len() > 1 {
                let verb = if parts.is_empty() { "is cut " } else { "" };
                parts.push(format!("dimension {dim} {verb}into digits of {}", digits.join(" x ")));
            }
        }
        match parts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

/// Lowers any layout, for example a tiled layout, a view or a CuTe text, to strides: exactly, or not at all.
///
/// The total size of the descriptor is the size of the layout's buffer, rounded up to 4 bytes. This size is
/// often more than DirectML's minimum. A dimension of size 1 gets the stride that a packed layout would give
/// it. A descriptor is returned unchanged.
///
/// A layout can store elements in another width than their type has. A descriptor cannot say this, so the
/// result is [`Lowering::IndexMap`].
///
/// **Post-condition** (`lowering_keeps_every_offset`): every index has the same offset, in a `Split` the
/// index whose digits are the index of the layout.
///
/// # Errors
///
/// `overflow` if the padded size passes 64 bits; `not_expressible` for a layout with
/// `SC(..)`, which is stored in several buffers.
///
/// ```
/// use tensor_layout::{bridge::{lower, Lowering}, ArrayShape};
///
/// // A tile as large as the array is only a row pitch.
/// let Lowering::Strided(desc) = lower(&"f32[3,100]{1,0:T(8,128)}".parse::<ArrayShape>()?)? else { panic!() };
/// assert_eq!(desc.strides(), [128, 1]);
/// assert_eq!(desc.total_tensor_size_in_bytes(), 4096);
///
/// let Lowering::Split(split) = lower(&"f32[3,5]{1,0:T(2,2)}".parse::<ArrayShape>()?)? else { panic!() };
/// assert_eq!(split.desc.sizes(), [2, 2, 3, 2]);
/// assert_eq!(split.desc.strides(), [12, 2, 4, 1]);
/// assert_eq!(split.dims, [0, 0, 1, 1]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn lower(layout: &(impl ToIndexMap + ?Sized)) -> Result<Lowering, Error> {
    if let Some(desc) = layout.as_descriptor() {
        return Ok(Lowering::Strided(desc.clone()));
    }
    let map = layout.to_index_map()?;
    let reason = match map.class() {
        LayoutClass::Affine | LayoutClass::Split if map.element_bits() != map.data_type().bits() => format!(
            "an element of {} takes {} here, and strides count elements of {}",
            map.data_type(),
            bits_in_words(map.element_bits()),
            bits_in_words(map.data_type().bits())
        ),
        LayoutClass::Affine => return affine(&map).map(Lowering::Strided),
        LayoutClass::Split => return split(&map).map(Lowering::Split),
        _ => why_not(&map),
    };
    Ok(Lowering::IndexMap { map, reason })
}

fn affine(map: &IndexMap) -> Result<BufferTensorDesc, Error> {
    let mut strides = Dims::from_vec(map.strides().unwrap_or_default());
    // A size-1 dimension gets the stride that a packed layout of this order would give it.
    let (mut packed, rank) = (1, strides.len());
    let row_major: SmallVec<[usize; 8]> = (0..rank).rev().collect();
    for &dim in map.minor_to_major().unwrap_or(&row_major) {
        let (Some(stride), Some(&size)) = (strides.get_mut(dim), map.sizes().get(dim)) else { continue };
        if size <= 1 || map.element_count() == 0 {
            *stride = packed;
            // The product saturates only if the array has no elements, and then no stride is used.
            packed = packed.saturating_mul(size.max(1));
        } else {
            packed = packed.max(checked::mul(*stride, size, checked::OFFSET)?);
        }
    }
    in_buffer(map, Dims::from_slice(map.sizes()), strides)
}

fn split(map: &IndexMap) -> Result<Split, Error> {
    let (mut sizes, mut strides, mut dims) = (Dims::new(), Dims::new(), Vec::new());
    for (dim, &size) in map.sizes().iter().enumerate() {
        let component = map.components.iter().find(|component| component.dims() == [dim]);
        let digits = component.into_iter().flat_map(Component::counted_digits);
        let digits = digits.map(|(digit, count)| (count, digit.stride));
        for (count, stride) in digits.chain(component.is_none().then_some((size, 0))) {
            sizes.push(count);
            strides.push(stride);
            dims.push(dim);
        }
    }
    let desc = in_buffer(map, sizes, strides)?;
    Ok(Split { desc, dims, logical_sizes: map.sizes().to_vec() })
}

fn in_buffer(map: &IndexMap, sizes: Dims, strides: Dims) -> Result<BufferTensorDesc, Error> {
    let total = checked::round_up(map.physical_size_in_bytes(), 4, BYTES)?;
    BufferTensorDesc::in_buffer(map.data_type(), sizes, strides, (map.base(), map.gap_owner()), total)
}

fn why_not(map: &IndexMap) -> String {
    if let Some(swizzle) = map.swizzle() {
        return swizzle.in_words(map.element_bits());
    }
    if map.class() == LayoutClass::Irreducible {
        return "a `*` in a later tile joins parts of dimensions that do not line up".into();
    }
    if let Some(fused) = map.components.iter().find(|component| component.dims().len() > 1) {
        let dims: Vec<String> = fused.dims().iter().map(usize::to_string).collect();
        return format!(
            "dimensions {} are joined by `*` into one of {}, and the tile boundaries at multiples of {} cut none of them cleanly",
            dims.join(", "),
            fused.extent,
            boundary(fused)
        );
    }
    let ragged = map.components.iter().find_map(|component| {
        let digits = component.chain.digits();
        let pair = digits.iter().zip(digits.iter().skip(1));
        let clash = pair.map(|(a, b)| (a.divisor.get(), b.divisor.get())).find(|(a, b)| !a.is_multiple_of(*b));
        clash.map(|(outer, inner)| (component.dims().first().copied().unwrap_or(0), outer, inner))
    });
    match ragged {
        Some((dim, outer, inner)) => {
            format!(
                "dimension {dim} is cut into blocks of {outer} and those into blocks of {inner}, which does not divide {outer}"
            )
        }
        None => String::new(),
    }
}

/// The size of the smallest block that a tile cuts a fused component into, in elements.
fn boundary(component: &Component) -> u64 {
    component.chain.digits().iter().rev().nth(1).map_or(1, |digit| digit.divisor.get())
}
