//! `DeviceLimits`: what a device accepts, as plain data.

use alloc::borrow::Cow;

use crate::element::{DataType, ElementKind};

use super::feature_level::FeatureLevel;
use super::multiples::{common_multiple, whole_elements};

/// The largest number of elements of a DirectML tensor, and the largest size or stride its 32-bit
/// fields hold (*DML_BUFFER_TENSOR_DESC*: "may not exceed (2^32 - 1) elements").
const U32_MAX: u64 = 0xffff_ffff;

/// What a device, or the API in front of it, accepts. Every field is public: start from a named
/// set, or from [`DeviceLimits::none`], and change what the device at hand reports.
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
    /// What these limits are called in reports.
    pub name: Cow<'static, str>,
    /// The smallest rank.
    pub min_rank: usize,
    /// The largest rank.
    pub max_rank: usize,
    /// The data types a tensor may have; `None` for any.
    pub data_types: Option<Cow<'static, [DataType]>>,
    /// Whether a size may be 0.
    pub zero_sizes: bool,
    /// The largest size of an axis, in elements.
    pub max_size: u64,
    /// The largest stride, in elements. It also counts for axes of size 1, whose strides are never
    /// used but must be written down: such an error is
    /// [`DeviceRule::FreeStride`](crate::DeviceRule::FreeStride).
    pub max_stride: u64,
    /// The most elements a tensor may span in its buffer.
    pub max_elements: u64,
    /// The most indices a tensor may have: the product of its sizes.
    pub max_logical_elements: u64,
    /// What the size of a binding must be a multiple of, in bytes.
    pub size_multiple: u64,
    /// The smallest binding, in bytes.
    pub min_binding: u64,
    /// The largest binding, in bytes.
    pub max_binding: u64,
    /// What the offset of a binding must be a multiple of, in bytes.
    pub offset_alignment: u64,
    /// The largest buffer, in bytes.
    pub max_buffer: u64,
    /// The most bytes copied through CPU-visible memory at once.
    pub max_copy: u64,
    /// The device is given sizes and strides, and nothing else: a layout without strides (tiles) is refused.
    /// Elsewhere a shader does the indexing, and a tensor is this many bytes.
    pub takes_strides: bool,
    /// The device is given sizes alone, and the rules on strides are about what it takes them for: strides of
    /// axes of size 1 do not count.
    pub sizes_only: bool,
    /// Only the width of a type matters, as the device computes nothing: an unsigned integer of the same
    /// width does for a type that is not among [`data_types`](Self::data_types).
    pub copies_only: bool,
    /// The last axis must have stride 1. This and the rules on strides below are for devices that are given
    /// them.
    pub unit_inner_stride: bool,
    /// What the strides of all axes but the last must be multiples of, in bytes.
    pub stride_multiple: u64,
    /// The largest stride, in bytes.
    pub max_stride_bytes: u64,
    /// Each stride must be at least the next one times its size: axes are in memory in their order, and share
    /// no bytes.
    pub ordered_strides: bool,
    /// The number of innermost axes after whose strides there may be a gap: the strides of all others must be
    /// the next one times its size. 1: the tensor is packed as far as the last stride allows; 2: rows may be
    /// padded. `None` if gaps are allowed everywhere.
    pub packed_outside: Option<usize>,
    /// The largest first stride times the first size, in bytes.
    pub max_extent: u64,
    /// The tensor must begin at byte 0 of its buffer.
    pub zero_offset: bool,
    /// The offset of a binding must be a multiple of an element.
    pub whole_elements: bool,
    /// Rules for tensors of some types, besides the others.
    pub stricter_types: Option<TypeLimits>,
    /// Rules for the boxes that are copied of a tensor; `None` if it has none, and nothing is copied in
    /// boxes.
    pub box_limits: Option<BoxLimits>,
    /// Whether a binding begins near the first element of the tensor: its base offset is added to the offset
    /// of its buffer. A device that is [given strides](Self::takes_strides) is given no base offset, so the
    /// whole base offset is added. For any other device it is rounded down to
    /// [`offset_alignment`](Self::offset_alignment), and a shader adds the remainder:
    /// [`UploadReport::base_offset`](super::UploadReport::base_offset). If this is not set, the binding
    /// begins with the tensor's buffer, and a shader adds the whole base offset.
    pub base_offset_in_binding: bool,
    /// An output may overwrite any byte of its binding, padding included.
    pub writes_padding: bool,
    /// Two written bindings of one buffer may not meet, by their ranges, even where no element of one is
    /// among those of the other.
    pub exclusive_ranges: bool,
    /// In one dispatch a buffer is either only read or only bound as written, whatever ranges of it are
    /// bound.
    pub one_usage: bool,
    /// How many bytes are written at once, and at multiples of which. Two outputs whose elements are in the
    /// same such unit undo each other's writes.
    pub write_unit: u64,
}

/// What a device requires of tensors of some types only: Metal of elements that it decodes.
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
    /// The types.
    pub data_types: Cow<'static, [DataType]>,
    /// What the size of the last axis must be a multiple of, in elements.
    pub inner_size_multiple: u64,
    /// What the strides of all axes but the last must be multiples of, in bytes.
    pub stride_multiple: u64,
    /// What the offset of a binding must be a multiple of, in bytes.
    pub offset_alignment: u64,
}

/// What a device requires of the boxes it copies of a tensor: see [`validate_box`](super::validate_box).
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
    /// The largest size along an axis, in elements.
    pub max_size: u64,
    /// What the last size must be a multiple of, in bytes.
    pub row_multiple: u64,
    /// The largest last size, in bytes.
    pub max_row: u64,
}

impl DeviceLimits {
    /// No limits beyond those of the arithmetic: the start of a custom set.
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

    /// What DirectML of the latest feature level accepts: see [`directml_level`](Self::directml_level).
    #[must_use]
    pub fn directml() -> DeviceLimits {
        Self::directml_level(FeatureLevel::LATEST)
    }

    /// What DirectML of this feature level accepts.
    ///
    /// From *DML_BUFFER_TENSOR_DESC* (ranks, sizes of at least 1, 32-bit sizes and strides, at most
    /// 2³²−1 elements, a total that is a multiple of 4 and at least 4), *DML_BUFFER_BINDING* (offsets
    /// are multiples of 16, `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`) and *BindOutputs* (an output owns its
    /// whole range). Single operators narrow ranks and types further.
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

    /// What Direct3D 12 requires of a raw buffer view, without DirectML on top: offsets that are
    /// multiples of 16 (`D3D12_RAW_UAV_SRV_BYTE_ALIGNMENT`) and sizes that are multiples of 4.
    ///
    /// `max_copy` is 0xffff0000 bytes: ONNX Runtime's DirectML provider found that upload
    /// heaps of 4 GiB fail, and splits its copies there. A raw view is written in words of 4 bytes.
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

    /// The default limits of WebGPU, which every adapter has: storage bindings of up to 128 MiB at
    /// offsets that are multiples of 256, buffers of up to 256 MiB, sizes that are multiples of 4
    /// and not zero. Offsets in a shader have 32 bits, and storage is written in words of 4 bytes.
    ///
    /// In one dispatch a buffer is bound either read-only or read-write (the usage scope of *WebGPU*:
    /// `storage` goes with no other usage), and the ranges of read-write bindings do not meet (*encoder bind
    /// groups alias a writable resource*). What is read and written in place is one read-write binding.
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

    /// What every Vulkan device grants (the table of required limits): storage ranges of 2²⁷ bytes
    /// (`maxStorageBufferRange`) at offsets that are multiples of 256 (`minStorageBufferOffsetAlignment` is
    /// at most that), written in words of 4 bytes (narrower storage is a feature). Real devices grant more:
    /// put in what yours reports.
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

    /// [`webgpu`](Self::webgpu) with what the adapter at hand grants, rounded to what a binding can be:
    /// `maxStorageBufferBindingSize`, `maxBufferSize` and `minStorageBufferOffsetAlignment`.
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
    /// DirectML's pages do not promise that of every operator. With these limits, parts of larger buffers are
    /// accepted as outputs.
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

    /// The type that does for one that the device does not know, where it only copies.
    pub(super) fn stand_in(&self, data_type: DataType) -> Option<DataType> {
        let known = self.data_types.as_deref().filter(|types| self.copies_only && !types.contains(&data_type))?;
        let unsigned = |known: &&DataType| known.kind() == ElementKind::Unsigned && known.bits() == data_type.bits();
        known.iter().find(unsigned).copied()
    }
}

/// What holds for one type.
impl DeviceLimits {
    fn stricter(&self, data_type: DataType) -> Option<&TypeLimits> {
        self.stricter_types.as_ref().filter(|limits| limits.data_types.contains(&data_type))
    }

    /// What strides are multiples of, in bytes: both rules at once.
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
