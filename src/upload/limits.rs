//! `DeviceLimits`: the rules of a device for tensors and bindings, as plain data.

use alloc::borrow::Cow;

use crate::element::{DataType, ElementKind};

use super::feature_level::FeatureLevel;
use super::multiples::{common_multiple, whole_elements};

/// The largest number of elements of a DirectML tensor, and the largest size or stride its 32-bit
/// fields hold (*DML_BUFFER_TENSOR_DESC*: "may not exceed (2^32 - 1) elements").
const U32_MAX: u64 = 0xffff_ffff;

/// The rules of a device, or of its API, for tensors and bindings. Every field is public. Start from a named
/// set or from [`DeviceLimits::none`], and set the fields to the limits that the device at hand reports.
///
/// ```
/// use tensor_layout::{upload::DeviceLimits, DataType};
///
/// let mut mine = DeviceLimits::webgpu();
/// // What the device at hand reports; names and types may be made at run time.
/// mine.name = format!("adapter {}", 7).into();
/// mine.data_types = Some(vec![DataType::F32, DataType::F16].into());
/// mine.max_binding = 2 << 30;
/// assert_eq!(mine.offset_alignment, 256);
///
/// // Interfaces that take a tensor have rules about its strides.
/// use tensor_layout::upload::{MetalUsage, Swizzle};
///
/// assert_eq!(DeviceLimits::metal_tensor(MetalUsage::MachineLearning).stride_multiple, 64);
/// assert_eq!(DeviceLimits::cuda_tensor_map(Swizzle::Bytes128).stride_multiple, 16);
/// assert_eq!((DeviceLimits::vulkan_tensor().packed_outside, DeviceLimits::webnn().packed_outside), (Some(1), Some(1)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// The name of these limits in reports.
    pub name: Cow<'static, str>,
    /// The smallest rank that a tensor may have.
    pub min_rank: usize,
    /// The largest rank that a tensor may have.
    pub max_rank: usize,
    /// The data types that a tensor may have, or `None` for any type.
    pub data_types: Option<Cow<'static, [DataType]>>,
    /// Whether the sizes of a tensor may be 0.
    pub zero_sizes: bool,
    /// The largest size that an axis may have, in elements.
    pub max_size: u64,
    /// The largest stride that an axis may have, in elements. The limit also applies to axes of size 1, whose
    /// strides are never used but must be passed to the device. If only a stride of this kind is too large,
    /// the error is `free_stride`.
    pub max_stride: u64,
    /// The most elements that a tensor may span in its buffer.
    pub max_elements: u64,
    /// The most indices that a tensor may have: the product of its sizes.
    pub max_logical_elements: u64,
    /// The size of a binding must be a multiple of this number, in bytes.
    pub size_multiple: u64,
    /// The smallest size that a binding may have, in bytes.
    pub min_binding: u64,
    /// The largest size that a binding may have, in bytes.
    pub max_binding: u64,
    /// The offset of a binding must be a multiple of this number, in bytes.
    pub offset_alignment: u64,
    /// The largest size that a buffer may have, in bytes.
    pub max_buffer: u64,
    /// The most bytes that may be copied through CPU-visible memory at once. Larger uploads are split.
    pub max_copy: u64,
    /// Whether the device is given sizes and strides and nothing else, so that layouts without strides
    /// (tiles) are refused. For other devices a shader computes the offsets, and a tensor is a range of
    /// bytes.
    pub takes_strides: bool,
    /// Whether the device is given sizes alone, and assumes strides of a packed tensor. The rules on strides
    /// then ignore the strides of axes of size 1.
    pub sizes_only: bool,
    /// Whether only the width of a type matters, because the device computes nothing. An unsigned integer of
    /// the same width then replaces a type that is not among [`data_types`](Self::data_types).
    pub copies_only: bool,
    /// Whether the last axis must have stride 1. This rule and the following rules on strides are for devices
    /// that are given strides.
    pub unit_inner_stride: bool,
    /// The strides of all axes but the last must be multiples of this number, in bytes.
    pub stride_multiple: u64,
    /// The largest stride that an axis may have, in bytes.
    pub max_stride_bytes: u64,
    /// Whether each stride must be at least the next stride times the next size. Then the axes are in memory
    /// in their order, and no bytes are shared.
    pub ordered_strides: bool,
    /// The number of innermost axes whose strides may leave a gap. Every other stride must be the next stride
    /// times the next size. With 1, the tensor is packed except for the last stride. With 2, rows may be
    /// padded. `None` allows gaps everywhere.
    pub packed_outside: Option<usize>,
    /// The largest product of the first stride and the first size of a tensor, in bytes.
    pub max_extent: u64,
    /// Whether the tensor must begin at byte 0 of its buffer.
    pub zero_offset: bool,
    /// Whether the offset of a binding must be a multiple of an element's bytes.
    pub whole_elements: bool,
    /// Additional rules for tensors of some types.
    pub stricter_types: Option<TypeLimits>,
    /// Rules for the boxes of a tensor that the device copies, or `None` if the device copies no boxes.
    pub box_limits: Option<BoxLimits>,
    /// Whether a binding begins near the first element of the tensor. If so, the tensor's base offset is
    /// added to the offset of its buffer. A device that is [given strides](Self::takes_strides) gets no base
    /// offset, so the whole base offset is added. For any other device the base offset is rounded down to
    /// [`offset_alignment`](Self::offset_alignment), and a shader adds the remainder:
    /// [`UploadReport::base_offset`](super::UploadReport::base_offset). If this is not set, the binding
    /// begins with the tensor's buffer, and a shader adds the whole base offset.
    pub base_offset_in_binding: bool,
    /// Whether an output may overwrite any byte of its binding, padding included.
    pub writes_padding: bool,
    /// Whether the ranges of two written bindings of one buffer must not overlap, even if their elements do
    /// not.
    pub exclusive_ranges: bool,
    /// Whether one dispatch must either only read or only write a buffer, through all its bindings of the
    /// buffer, whatever their ranges are.
    pub one_usage: bool,
    /// The size and alignment of a memory write, in bytes. If two outputs have elements in the same unit of
    /// this size, one write may undo the other.
    pub write_unit: u64,
}

/// Additional rules of a device for tensors of some types. Metal has such rules for its types of 8 bits and
/// less that are not plain integers.
///
/// ```
/// use tensor_layout::{upload::{DeviceLimits, TypeLimits}, DataType};
///
/// let rules: TypeLimits = "metal-tensor".parse::<DeviceLimits>()?.stricter_types.unwrap();
/// assert!(rules.data_types.contains(&DataType::S4) && !rules.data_types.contains(&DataType::S8));
/// assert_eq!((rules.inner_size_multiple, rules.stride_multiple), (32, 128));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The rules of a device for the boxes of a tensor that it copies: see [`validate_box`](super::validate_box).
///
/// ```
/// use tensor_layout::upload::{BoxLimits, DeviceLimits};
///
/// let rules = BoxLimits { max_size: 256, row_multiple: 16, max_row: 64 };
/// assert_eq!("cuda-tensor-map:64".parse::<DeviceLimits>()?.box_limits, Some(rules));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoxLimits {
    /// The largest size that a box may have along an axis, in elements.
    pub max_size: u64,
    /// The size of a box along the last axis must be a multiple of this number, in bytes.
    pub row_multiple: u64,
    /// The largest size of a box along the last axis, in bytes.
    pub max_row: u64,
}

impl DeviceLimits {
    /// Returns limits that accept everything that fits 64 bits. A custom set can start from these limits.
    ///
    /// ```
    /// use tensor_layout::upload::{FeatureLevel, DeviceLimits};
    ///
    /// assert_eq!(DeviceLimits::none().offset_alignment, 1);
    /// assert_eq!(DeviceLimits::directml().offset_alignment, 16);
    /// assert_eq!((DeviceLimits::d3d12().offset_alignment, DeviceLimits::webgpu().offset_alignment), (16, 256));
    /// // Plain data: set what the device reports.
    /// let mut limits = DeviceLimits::vulkan();
    /// limits.max_binding = 1 << 31;
    /// ```
    #[must_use]
    pub fn none() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("none"),
            min_rank: 0,
            max_rank: usize::MAX,
            data_types: None,
            zero_sizes: true,
            max_size: u64::MAX,
            max_stride: u64::MAX,
            max_elements: u64::MAX,
            max_logical_elements: u64::MAX,
            size_multiple: 1,
            min_binding: 0,
            max_binding: u64::MAX,
            offset_alignment: 1,
            max_buffer: u64::MAX,
            max_copy: u64::MAX,
            takes_strides: false,
            sizes_only: false,
            copies_only: false,
            unit_inner_stride: false,
            stride_multiple: 1,
            max_stride_bytes: u64::MAX,
            ordered_strides: false,
            packed_outside: None,
            max_extent: u64::MAX,
            zero_offset: false,
            whole_elements: false,
            stricter_types: None,
            box_limits: None,
            base_offset_in_binding: false,
            writes_padding: false,
            exclusive_ranges: false,
            one_usage: false,
            write_unit: 1,
        }
    }

    /// Returns the limits of DirectML at the latest feature level: see
    /// [`directml_level`](Self::directml_level).
    #[must_use]
    pub fn directml() -> DeviceLimits {
        Self::directml_level(FeatureLevel::LATEST)
    }

    /// Returns the limits of DirectML at this feature level.
    ///
    /// The numbers come from *DML_BUFFER_TENSOR_DESC* (ranks, sizes of at least 1, 32-bit sizes and strides,
    /// at most 2³²−1 elements, a total that is a multiple of 4 and at least 4), *DML_BUFFER_BINDING* (offsets
    /// are multiples of 16, `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`) and *BindOutputs* (an output owns its
    /// whole range). Single operators may accept fewer ranks and types.
    ///
    /// ```
    /// use tensor_layout::{upload::FeatureLevel, DeviceLimits};
    ///
    /// let (first, latest) = (DeviceLimits::directml_level("1.0".parse::<FeatureLevel>()?), DeviceLimits::directml());
    /// assert!(first.max_rank < latest.max_rank);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn directml_level(level: FeatureLevel) -> DeviceLimits {
        let (min_rank, max_rank) = level.ranks();
        DeviceLimits {
            name: Cow::Borrowed(level.limits_name()),
            min_rank,
            max_rank,
            data_types: Some(Cow::Borrowed(level.data_types())),
            zero_sizes: false,
            max_size: U32_MAX,
            max_stride: U32_MAX,
            max_elements: U32_MAX,
            takes_strides: true,
            writes_padding: true,
            ..Self::d3d12()
        }
    }

    /// Returns the limits of Direct3D 12 for a raw buffer view, without DirectML: offsets are multiples of 16
    /// (`D3D12_RAW_UAV_SRV_BYTE_ALIGNMENT`) and sizes are multiples of 4.
    ///
    /// `max_copy` is 0xffff0000 bytes: ONNX Runtime's DirectML provider found that upload heaps of 4 GiB
    /// fail, and splits its copies at that size. A raw view is written in words of 4 bytes.
    #[must_use]
    pub fn d3d12() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("Direct3D 12"),
            size_multiple: 4,
            min_binding: 4,
            offset_alignment: 16,
            max_copy: 0xffff_0000,
            base_offset_in_binding: true,
            write_unit: 4,
            ..Self::none()
        }
    }

    /// Returns the default limits of WebGPU, which every adapter has: storage bindings of up to 128 MiB at
    /// offsets that are multiples of 256, buffers of up to 256 MiB, sizes that are multiples of 4 and not
    /// zero. Offsets in a shader have 32 bits, and storage is written in words of 4 bytes.
    ///
    /// In one dispatch a buffer is bound either read-only or read-write (the usage scope of *WebGPU*:
    /// `storage` excludes every other usage), and the ranges of read-write bindings do not overlap (*encoder
    /// bind groups alias a writable resource*). A tensor that is updated in place is one read-write binding.
    #[must_use]
    pub fn webgpu() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("WebGPU defaults"),
            max_elements: U32_MAX,
            size_multiple: 4,
            min_binding: 4,
            max_binding: 128 << 20,
            offset_alignment: 256,
            max_buffer: 256 << 20,
            base_offset_in_binding: true,
            exclusive_ranges: true,
            one_usage: true,
            write_unit: 4,
            ..Self::none()
        }
    }

    /// Returns the limits that every Vulkan device satisfies (the table of required limits): storage ranges
    /// of 2²⁷ bytes (`maxStorageBufferRange`) at offsets that are multiples of 256
    /// (`minStorageBufferOffsetAlignment` is at most 256), written in words of 4 bytes (narrower storage is a
    /// feature). Real devices have larger limits, so set the fields to what your device reports.
    #[must_use]
    pub fn vulkan() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("Vulkan minimums"),
            min_binding: 1,
            max_binding: 1 << 27,
            offset_alignment: 256,
            base_offset_in_binding: true,
            write_unit: 4,
            ..Self::none()
        }
    }

    /// Returns [`webgpu`](Self::webgpu) with the limits of an adapter, rounded to sizes that a binding can
    /// have: `maxStorageBufferBindingSize`, `maxBufferSize` and `minStorageBufferOffsetAlignment`.
    ///
    /// ```
    /// use tensor_layout::DeviceLimits;
    ///
    /// // An adapter may report 2147483647.
    /// let limits = DeviceLimits::webgpu_with(2_147_483_647, 4 << 30, 32);
    /// assert_eq!((limits.max_binding, limits.max_buffer, limits.offset_alignment), (2_147_483_644, 4 << 30, 32));
    /// ```
    #[must_use]
    pub fn webgpu_with(max_binding: u64, max_buffer: u64, offset_alignment: u64) -> DeviceLimits {
        let words = |bytes: u64| bytes & !3;
        DeviceLimits {
            name: Cow::Borrowed("WebGPU adapter"),
            max_binding: words(max_binding),
            max_buffer: words(max_buffer),
            offset_alignment: offset_alignment.max(1),
            ..Self::webgpu()
        }
    }

    /// Returns these limits for a device that is known to keep the bytes between the elements of an output.
    /// DirectML's pages do not promise this for every operator. With these limits, parts of larger buffers
    /// are accepted as outputs.
    ///
    /// ```
    /// use tensor_layout::{validate, UploadBuffer, BufferTensorDesc, DeviceLimits, Role};
    ///
    /// let tokens = "f16[4,16,64]:[1024,64,1]".parse::<BufferTensorDesc>()?.slice_axis(1, 4..6)?;
    /// let output = UploadBuffer::new(8192, 0, Role::Output);
    /// let errors = validate(&tokens, &output, &DeviceLimits::directml()).unwrap_err();
    /// assert_eq!(errors.codes(), ["gaps_overwritten"]);
    /// assert!(validate(&tokens, &output, &DeviceLimits::directml().keeping_gaps()).is_ok());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn keeping_gaps(self) -> DeviceLimits {
        DeviceLimits { writes_padding: false, ..self }
    }

    /// Returns the type that replaces `data_type` on a device that only copies, if the device does not know
    /// the type: an unsigned integer of the same width.
    pub(super) fn stand_in(&self, data_type: DataType) -> Option<DataType> {
        let known = self.data_types.as_deref().filter(|types| self.copies_only && !types.contains(&data_type))?;
        let unsigned = |known: &&DataType| known.kind() == ElementKind::Unsigned && known.bits() == data_type.bits();
        known.iter().find(unsigned).copied()
    }
}

/// The limits for one data type: the general rules, together with the stricter rules for the type.
impl DeviceLimits {
    fn stricter(&self, data_type: DataType) -> Option<&TypeLimits> {
        self.stricter_types.as_ref().filter(|limits| limits.data_types.contains(&data_type))
    }

    /// The number that strides must be a multiple of, in bytes, by the general rule and by the rule for the
    /// type.
    pub(super) fn stride_multiple_of(&self, data_type: DataType) -> u64 {
        let stricter = self.stricter(data_type).map_or(1, |limits| limits.stride_multiple);
        common_multiple(self.stride_multiple, stricter).unwrap_or(u64::MAX)
    }

    pub(super) fn offset_alignment_of(&self, data_type: DataType, bits: u32) -> u64 {
        let stricter = self.stricter(data_type).map_or(1, |limits| limits.offset_alignment);
        let element = if self.whole_elements { whole_elements(bits) } else { 1 };
        let both = common_multiple(self.offset_alignment, stricter);
        both.and_then(|both| common_multiple(both, element)).unwrap_or(u64::MAX)
    }

    pub(super) fn inner_size_multiple_of(&self, data_type: DataType) -> u64 {
        self.stricter(data_type).map_or(1, |limits| limits.inner_size_multiple.max(1))
    }
}
