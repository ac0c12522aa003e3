//! `DeviceLimits`: the rules of a device for tensors and bindings, as plain data. One table has all fields:
//! each row is a name, a type, the value of a device without the rule, and what the rule says. A new rule is
//! a new row here, and a check of it in `validate` or `strides`. The named sets are rows of `devices.txt`.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::vec::Vec;

use crate::checked::{self, BYTES, Proven};
use crate::cursor::one_of;
use crate::element::{DataType, ElementKind};
use crate::error::{Code, Error};

use super::planes::PlaneLimits;

/// Calls a macro with the table of the limits. `interop::serde` reads it too.
macro_rules! limit_fields {
    ($macro:ident) => {
        $macro! {
            /// The smallest rank that a tensor may have.
            min_rank: usize = 0;
            /// The largest rank that a tensor may have.
            max_rank: usize = usize::MAX;
            /// The data types that a tensor may have, or `None` for any type.
            data_types: Option<Cow<'static, [DataType]>> = None;
            /// Whether the sizes of a tensor may be 0.
            zero_sizes: bool = true;
            /// The largest size that an axis may have, in elements.
            max_size: u64 = u64::MAX;
            /// The largest stride that an axis may have, in elements. The limit also applies to axes of size
            /// 1, whose strides are never used but must be passed to the device. If only a stride of this
            /// kind is too large, the error is `free_stride`.
            max_stride: u64 = u64::MAX;
            /// The most elements that a tensor may span in its buffer.
            max_elements: u64 = u64::MAX;
            /// The most indices that a tensor may have: the product of its sizes.
            max_logical_elements: u64 = u64::MAX;
            /// The size of a binding must be a multiple of this number, in bytes.
            size_multiple: u64 = 1;
            /// The smallest size that a binding may have, in bytes.
            min_binding: u64 = 0;
            /// The largest size that a binding may have, in bytes.
            max_binding: u64 = u64::MAX;
            /// The offset of a binding must be a multiple of this number, in bytes.
            offset_alignment: u64 = 1;
            /// The largest size that a buffer may have, in bytes.
            max_buffer: u64 = u64::MAX;
            /// The most bytes that may be copied through CPU-visible memory at once. Larger uploads are
            /// split.
            max_copy: u64 = u64::MAX;
            /// Whether the device is given sizes and strides and nothing else, so that layouts without
            /// strides (tiles) are refused. For other devices a shader computes the offsets, and a tensor is
            /// a range of bytes.
            takes_strides: bool = false;
            /// Whether the device is given sizes alone, and assumes strides of a packed tensor. The rules on
            /// strides then ignore the strides of axes of size 1.
            sizes_only: bool = false;
            /// Whether only the width of a type matters, because the device computes nothing. An unsigned
            /// integer of the same width then replaces a type that is not among
            /// [`data_types`](Self::data_types).
            copies_only: bool = false;
            /// Whether the last axis must have stride 1. This rule and the following rules on strides are for
            /// devices that are given strides.
            unit_inner_stride: bool = false;
            /// The strides of all axes but the last must be multiples of this number, in bytes.
            stride_multiple: u64 = 1;
            /// The largest stride that an axis may have, in bytes.
            max_stride_bytes: u64 = u64::MAX;
            /// Whether each stride must be at least the next stride times the next size. Then the axes are in
            /// memory in their order, and no bytes are shared.
            ordered_strides: bool = false;
            /// Whether the axes may be in memory in any order. The rules on strides then hold from the axis
            /// of the largest stride to that of the smallest, as for matrices that are row- or column-major.
            any_order: bool = false;
            /// Whether the device ignores the strides of axes of size 1, and all strides of a tensor without
            /// elements, so that no rule holds for them.
            ignores_unit_strides: bool = false;
            /// The number of innermost axes whose strides may leave a gap. Every other stride must be the
            /// next stride times the next size. With 1, the tensor is packed except for the last stride. With
            /// 2, rows may be padded. `None` allows gaps everywhere.
            packed_outside: Option<usize> = None;
            /// Whether only the outermost axis may have stride 0, as DMA engines repeat a whole transfer and
            /// nothing inside it.
            repeats_outermost_only: bool = false;
            /// The length of every contiguous run of elements must be a multiple of this number, in bytes.
            run_multiple: u64 = 1;
            /// Whether every row of elements below a byte must begin at a whole byte: strides of more than
            /// one element are whole bytes.
            whole_byte_rows: bool = false;
            /// Whether elements of an array may be as close as their strides say. Without this, the elements
            /// of tensors with more than one are 16 bytes apart, as in uniform buffers of WGSL that lack the
            /// language feature of this name, of std140 and of HLSL.
            uniform_buffer_standard_layout: bool = true;
            /// The largest product of a stride and its size that a tensor may have, in bytes.
            max_extent: u64 = u64::MAX;
            /// Whether a tensor takes the largest product of a stride and its size, so that a gap after the
            /// last row belongs to it.
            whole_extent: bool = false;
            /// Whether the tensor must begin at byte 0 of its buffer.
            zero_offset: bool = false;
            /// Whether the offset of a binding must be a multiple of an element's bytes.
            whole_elements: bool = false;
            /// Additional rules for tensors of some types.
            stricter_types: Cow<'static, [TypeLimits]> = Cow::Borrowed(&[]);
            /// The planes that values may have beside them, by role: none if the list is empty. `None` for a
            /// device to which a plane is a tensor like any other.
            planes: Option<Cow<'static, [PlaneLimits]>> = None;
            /// Whether the sizes of a frame are multiples of 2 where its colours have half as many rows or
            /// columns.
            even_frames: bool = false;
            /// Whether a binding begins near the first element of the tensor. If so, the tensor's base offset
            /// is added to the offset of its buffer. A device that is [given strides](Self::takes_strides)
            /// gets no base offset, so the whole base offset is added. For any other device the base offset
            /// is rounded down to [`offset_alignment`](Self::offset_alignment), and a shader adds the
            /// remainder: [`UploadReport::base_offset`](super::UploadReport::base_offset). If this is not
            /// set, the binding begins with the tensor's buffer, and a shader adds the whole base offset.
            base_offset_in_binding: bool = false;
            /// Whether an output may overwrite any byte of its binding, padding included.
            writes_padding: bool = false;
            /// Whether the ranges of two written bindings of one buffer must not overlap, even if their
            /// elements do not.
            exclusive_ranges: bool = false;
            /// Whether one dispatch must either only read or only write a buffer, through all its bindings of
            /// the buffer, whatever their ranges are.
            one_usage: bool = false;
            /// The size and alignment of a memory write, in bytes. If two outputs have elements in the same
            /// unit of this size, one write may undo the other. An output needs its last unit whole, and the
            /// bytes of a unit that hold none of its elements are written as well: with other bytes if the
            /// device [overwrites](Self::overwrites_units) them, else with their own, if a shader reads them
            /// first.
            write_granularity: u64 = 1;
            /// For devices that copy boxes of a tensor ([`TensorMapBox`](super::TensorMapBox)): the bytes
            /// of a row that their swizzle permutes, or 0 without one. `None` for other devices.
            box_span: Option<u64> = None;
            /// Whether an output overwrites every unit of [`write_granularity`](Self::write_granularity)
            /// bytes that holds one of its elements, as engines do that store whole chunks or texels.
            overwrites_units: bool = false;
        }
    };
}
#[cfg(feature = "serde")]
pub(crate) use limit_fields;

/// Defines the struct, the set without rules, and the setter by name.
macro_rules! define {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $none:expr;)*) => {
        /// The rules of a device, or of its API, for tensors and bindings. Every field is public. Start from
        /// a named set (`"vulkan".parse()`, [`names`](Self::names)) or from [`DeviceLimits::none`], and set
        /// what the device at hand reports: the fields, [`with`](Self::with) by name, or all numbers at once
        /// ([`reported`](Self::reported)).
        ///
        /// ```
        /// use tensor_layout::{upload::{DeviceLimits, TypeLimits}, DataType};
        ///
        /// let mut mine = DeviceLimits::webgpu().with("max_binding", "2GiB")?;
        /// // Names and types may be made at run time.
        /// mine.name = format!("adapter {}", 7).into();
        /// mine.data_types = Some(vec![DataType::F32, DataType::F16].into());
        /// assert_eq!((mine.offset_alignment, mine.max_binding), (256, 2 << 30));
        ///
        /// // Interfaces that take a tensor have rules about its strides.
        /// let metal: DeviceLimits = "metal-tensor:ml".parse()?;
        /// assert_eq!((metal.stride_multiple, metal.packed_outside), (64, Some(2)));
        /// let stricter: &TypeLimits = &metal.stricter_types[0];
        /// assert_eq!((stricter.inner_size_multiple, stricter.stride_multiple), (32, 128));
        /// # Ok::<(), tensor_layout::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DeviceLimits {
            /// The name of these limits in reports.
            pub name: Cow<'static, str>,
            $($(#[$doc])* pub $field: $type,)*
        }

        impl DeviceLimits {
            pub(super) const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Returns limits that accept everything that fits 64 bits.
            #[must_use]
            pub fn none() -> DeviceLimits {
                DeviceLimits { name: Cow::Borrowed("none"), $($field: $none,)* }
            }

            pub(super) fn set(&mut self, field: &str, value: &str) -> Option<Result<(), Error>> {
                match field {
                    $(stringify!($field) => Some(<$type>::read(value).map(|value| self.$field = value)),)*
                    _ => None,
                }
            }
        }
    };
}
limit_fields!(define);

/// Additional rules of a device for tensors of some types. Metal has such rules for its types of 8 bits and
/// less that are not plain integers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize), serde(deny_unknown_fields))]
pub struct TypeLimits {
    /// The types that these rules apply to.
    pub data_types: Cow<'static, [DataType]>,
    /// The size of the last axis must be a multiple of this number, in elements.
    pub inner_size_multiple: u64,
    /// The strides of all axes but the last must be multiples of this number, in bytes.
    pub stride_multiple: u64,
    /// The offset of a binding must be a multiple of this number, in bytes.
    pub offset_alignment: u64,
}

impl Field for Cow<'static, [TypeLimits]> {
    fn read(text: &str) -> Result<Self, Error> {
        let rules = text.split(';').filter(|rule| !rule.is_empty()).map(|rule| {
            let mut parts = rule.split(':');
            let data_types = Field::read(parts.next().unwrap_or(""))?;
            let mut number = || read_size(parts.next().unwrap_or(""));
            let (inner_size_multiple, stride_multiple, offset_alignment) = (number()?, number()?, number()?);
            Ok(TypeLimits { data_types, inner_size_multiple, stride_multiple, offset_alignment })
        });
        rules.collect::<Result<Vec<_>, Error>>().map(Cow::Owned)
    }
}

impl DeviceLimits {
    /// Returns these limits for a device that is known to keep the bytes between the elements of an output.
    /// DirectML's pages do not promise this for every operator. With these limits, parts of larger buffers
    /// are accepted as outputs.
    #[must_use]
    pub fn with_gaps_kept(self) -> DeviceLimits {
        DeviceLimits { writes_padding: false, overwrites_units: false, ..self }
    }

    /// Refuses limits that no tensor could satisfy.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.max_rank < self.min_rank {
            let (least, most) = (checked::len_u64(self.min_rank), checked::len_u64(usize::MAX));
            return Err(Code::RankLimit.for_value(checked::len_u64(self.max_rank), most).with_other(least));
        }
        let least = |what, value: u64, min| {
            if value < min { Err(Error::out_of_limits(what, value, min, u64::MAX)) } else { Ok(()) }
        };
        least("the multiple of a binding's size", self.size_multiple, 1)?;
        least("the largest binding", self.max_binding, self.min_binding)?;
        least("the alignment of an offset", self.offset_alignment, 1)?;
        least("the multiple of a stride", self.stride_multiple, 1)?;
        least("the multiple of a run", self.run_multiple, 1)?;
        least("the number of bytes written at once", self.write_granularity, 1)?;
        self.stricter_types.iter().try_for_each(|limits| {
            least("the multiple of the innermost size", limits.inner_size_multiple, 1)?;
            least("the multiple of a stride", limits.stride_multiple, 1)?;
            least("the alignment of an offset", limits.offset_alignment, 1)
        })
    }

    /// The unsigned integer that replaces a type that a device which only copies does not know.
    pub(super) fn stand_in(&self, data_type: DataType) -> Option<DataType> {
        let known = self.data_types.as_deref().filter(|types| self.copies_only && !types.contains(&data_type))?;
        let unsigned = |known: &&DataType| known.kind() == ElementKind::Unsigned && known.bits() == data_type.bits();
        known.iter().find(unsigned).copied()
    }

    pub(super) fn array_stride(&self) -> u64 {
        if self.uniform_buffer_standard_layout { 1 } else { 16 }
    }
}

/// The general rules together with the stricter rules for a type.
impl DeviceLimits {
    /// Returns the common multiple of a general number and of those of the stricter rules for a type.
    pub(super) fn strictest(&self, data_type: DataType, general: u64, of: impl Fn(&TypeLimits) -> u64) -> u64 {
        let rules = self.stricter_types.iter().filter(|limits| limits.data_types.contains(&data_type));
        rules.fold(general.max(1), |all, limits| common_multiple(all, of(limits)).unwrap_or(u64::MAX))
    }

    pub(super) fn stride_multiple_of(&self, data_type: DataType) -> u64 {
        self.strictest(data_type, self.stride_multiple, |limits| limits.stride_multiple)
    }

    pub(super) fn offset_alignment_of(&self, data_type: DataType, bits: u32) -> u64 {
        let element = if self.whole_elements { whole_elements(bits) } else { 1 };
        let all = self.strictest(data_type, self.offset_alignment, |limits| limits.offset_alignment);
        common_multiple(all, element).unwrap_or(u64::MAX)
    }
}

/// A type of a limit, which can be read from a text: numbers with units, truths, lists of types.
pub(super) trait Field: Sized {
    fn read(text: &str) -> Result<Self, Error>;
}

impl Field for u64 {
    fn read(text: &str) -> Result<u64, Error> {
        read_size(text)
    }
}

impl Field for usize {
    fn read(text: &str) -> Result<usize, Error> {
        read_size(text).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }
}

impl Field for bool {
    fn read(text: &str) -> Result<bool, Error> {
        one_of(text, "a truth", &[false, true], |truth| if truth { "true" } else { "false" })
    }
}

impl<T: Field> Field for Option<T> {
    fn read(text: &str) -> Result<Option<T>, Error> {
        if text == "any" { Ok(None) } else { T::read(text).map(Some) }
    }
}

impl Field for Cow<'static, [DataType]> {
    fn read(text: &str) -> Result<Self, Error> {
        text.split('+').map(str::parse).collect::<Result<Vec<DataType>, Error>>().map(Cow::Owned)
    }
}

const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Reads a number of bytes: `4096`, `4_194_304`, `4MiB`, `2 GiB`, `64kB` (1000 bytes each).
/// # Errors
///
/// `parse` if the text is not a number with one of these units, or does not fit 64 bits.
///
/// ```
/// use tensor_layout::upload::read_size;
///
/// assert_eq!((read_size("4MiB")?, read_size("4_194_304")?), (4 << 20, 4 << 20));
/// assert_eq!(read_size("4 potatoes").unwrap_err().column(), Some(3));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[doc(hidden)]
pub fn read_size(text: &str) -> Result<u64, Error> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let refuse = |column: usize, expected: &'static str| {
        let found = text
            .get(column..)
            .filter(|rest| !rest.is_empty())
            .map_or("the end of the text".to_owned(), |rest| format!("`{rest}`"));
        Error::parse(text, column.saturating_add(1), expected, found)
    };
    let value = number.replace('_', "").parse::<u64>().ok().filter(|_| !number.starts_with('_'));
    let value = value.ok_or_else(|| refuse(0, "a number of bytes below 2^64, such as 4096, 4_194_304 or 4MiB"))?;
    let blanks = unit.len().saturating_sub(unit.trim_start().len());
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|&(_, factor)| factor);
    let factor =
        factor.ok_or_else(|| refuse(digits.saturating_add(blanks), "KiB, MiB, GiB, TiB, kB, MB, GB, TB or nothing"))?;
    value.checked_mul(factor).ok_or_else(|| refuse(0, "a number of bytes below 2^64"))
}

/// The smallest number of whole bytes that holds a whole number of elements: 3 for elements of 6 bits.
pub(super) fn whole_elements(bits: u32) -> u64 {
    let bits = u64::from(bits.max(1));
    common_multiple(bits, 8).unwrap_or(bits).div_euclid(8)
}

/// Returns the least common multiple, where 0 counts as 1.
pub(super) fn common_multiple(a: u64, b: u64) -> Result<u64, Error> {
    let (a, b) = (a.max(1), b.max(1));
    checked::mul(a, b.divided_by(checked::gcd(a, b)), "a common alignment in bytes")
}

pub(super) fn byte_of(element: u64, bits: u32) -> Result<u64, Error> {
    checked::narrow(checked::wide_product(element, bits).div_euclid(8), BYTES)
}

/// The fewest elements whose bytes are a multiple of the alignment: where bindings may begin.
pub(super) fn binding_unit(alignment: u64, bits: u32) -> u64 {
    let bits = u64::from(bits.max(1));
    let unit = checked::mul(alignment.max(1), 8, BYTES).and_then(|in_bits| common_multiple(in_bits, bits));
    unit.map_or(u64::MAX, |unit| unit.divided_by(bits))
}
