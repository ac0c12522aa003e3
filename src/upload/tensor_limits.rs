//! Limits of interfaces that are given a tensor: Metal, Vulkan's ARM tensors, CUDA's tensor maps, WebNN.

use alloc::borrow::Cow;

use crate::element::DataType::{
    self, BF16, F4E2M1FN, F8E4M3FN, F8E5M2, F16, F32, F64, Pred, S2, S4, S8, S16, S32, S64, U2, U4, U8, U16, U32, U64,
};

use super::limits::{BoxLimits, DeviceLimits, TypeLimits};

/// The usage of a Metal tensor (`MTLTensorUsage`). For several usages together, choose the strictest.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, MetalUsage};
///
/// assert!(!DeviceLimits::metal_tensor(MetalUsage::Shader).zero_offset);
/// assert!(DeviceLimits::metal_tensor(MetalUsage::MachineLearning).zero_offset);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetalUsage {
    /// The tensor is used in compute and render encoders.
    Shader,
    /// The tensor is used in machine learning encoders.
    MachineLearning,
}

/// The swizzle of a tensor map, which exchanges the 16-byte parts of a box's rows (`CUtensorMapSwizzle`). It
/// limits the width of a box.
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, Swizzle};
///
/// assert_eq!(DeviceLimits::cuda_tensor_map(Swizzle::Bytes64).box_limits.unwrap().max_row, 64);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Swizzle {
    /// No parts are exchanged.
    None,
    /// Parts are exchanged within 32 bytes.
    Bytes32,
    /// Parts are exchanged within 64 bytes.
    Bytes64,
    /// Parts are exchanged within 128 bytes.
    Bytes128,
}

/// The API of a uniform binding: see [`DeviceLimits::uniform`].
///
/// ```
/// use tensor_layout::upload::{DeviceLimits, Uniform};
///
/// assert_eq!(DeviceLimits::uniform(Uniform::WebGpu).max_binding, 64 << 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Uniform {
    /// WebGPU: a `GPUBufferBindingType` of `uniform`.
    WebGpu,
    /// Vulkan: a `VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER`.
    Vulkan,
    /// Direct3D 12: a constant buffer view.
    D3d12,
}

/// The types of `MTLTensorDataType` in macOS 27.
const METAL_TYPES: &[DataType] =
    &[F32, F16, BF16, S8, U8, S16, U16, S32, U32, S4, U4, S2, U2, F8E5M2, F8E4M3FN, F4E2M1FN];

/// The types for which Metal has stricter rules.
const METAL_FORMATS: &[DataType] = &[S4, U4, S2, U2, F8E5M2, F8E4M3FN, F4E2M1FN];

/// The types of `CUtensorMapDataType`, and the signed types that are copied as unsigned types.
const TENSOR_MAP_TYPES: &[DataType] = &[U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64];

/// The types of `VkFormat` that have one component and are not normalised or scaled numbers.
const VULKAN_TYPES: &[DataType] = &[Pred, U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64, F8E4M3FN, F8E5M2];

/// The types of `MLOperandDataType`. The 4-bit types `int4` and `uint4` are stored as in ONNX Runtime's WebNN
/// provider and the web platform tests: two elements a byte, the even element in the low half.
const WEBNN_TYPES: &[DataType] = &[F32, F16, S32, U32, S64, U64, S8, U8, S4, U4];

impl DeviceLimits {
    /// Returns the limits of a tensor that Metal makes in a buffer
    /// (`MTLBuffer.makeTensor(descriptor:offset:)`).
    ///
    /// The rules come from *MTLTensorDescriptor* and *MTLBuffer* (Metal 4, which counts axes from the
    /// innermost). A tensor has up to 16 axes, and no size is 0. The innermost stride is 1, and each further
    /// stride is at least the previous stride times the previous size. The offset is a multiple of an
    /// element. For machine learning the second stride is a multiple of 64 bytes, the further strides leave
    /// no gap, and the offset is 0. Types of 8 bits and less that are not plain integers
    /// (`MTLTensorDataTypeInt4`, the `MetalFloat8` types, ...) need an innermost size that is a multiple of
    /// 32, and strides and offsets that are multiples of 128 bytes.
    #[must_use]
    pub fn metal_tensor(usage: MetalUsage) -> DeviceLimits {
        let machine_learning = usage == MetalUsage::MachineLearning;
        DeviceLimits {
            name: Cow::Borrowed(if machine_learning { "Metal tensor, machine learning" } else { "Metal tensor" }),
            max_rank: 16,
            data_types: Some(Cow::Borrowed(METAL_TYPES)),
            stride_multiple: if machine_learning { 64 } else { 1 },
            packed_outside: machine_learning.then_some(2),
            zero_offset: machine_learning,
            stricter_types: Some(TypeLimits {
                data_types: Cow::Borrowed(METAL_FORMATS),
                inner_size_multiple: 32,
                stride_multiple: 128,
                offset_alignment: 128,
            }),
            ..Self::told_in_order()
        }
    }

    /// Returns the limits of a tensor on every Vulkan device with `VK_ARM_tensors` and without the feature
    /// `tensorNonPacked`.
    ///
    /// The rules on strides come from the valid usage of *VkTensorDescriptionARM*: the last stride is one
    /// element (09736), strides are positive (09738), and each stride is at least the next stride times the
    /// next size (09739). Without `tensorNonPacked`, each stride equals this product (09740). The numbers are
    /// the required limits of *VkPhysicalDeviceTensorPropertiesARM*: 4 axes, 65,536 elements, and 65,536 each
    /// for the indices of an axis, the bytes of a stride and the bytes of the tensor (09884: the first stride
    /// times the first size). Real devices have larger limits: set the fields to what your device reports,
    /// and clear `packed_outside` if the device has the feature. `vkGetTensorMemoryRequirementsARM` returns
    /// the alignment of a tensor in memory.
    #[must_use]
    pub fn vulkan_tensor() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("Vulkan tensor minimums"),
            min_rank: 1,
            max_rank: 4,
            data_types: Some(Cow::Borrowed(VULKAN_TYPES)),
            max_size: 1 << 16,
            max_logical_elements: 1 << 16,
            max_stride_bytes: 1 << 16,
            max_extent: 1 << 16,
            packed_outside: Some(1),
            ..Self::told_in_order()
        }
    }

    /// Returns the limits of a CUDA tensor map (`cuTensorMapEncodeTiled`, for the tensor memory accelerator),
    /// without interleaving.
    ///
    /// The rules come from the *CUDA driver API*, tensor map objects. There are 1 to 5 axes of sizes 1 to
    /// 2³², and the address is a multiple of 16. The innermost stride is one element. All other strides are
    /// multiples of 16 bytes below 2⁴⁰, and each is at least the next stride times the next size. A box
    /// ([`validate_box`](super::validate_box)) has sizes of 1 to 256, and its rows are a multiple of 16
    /// bytes, no longer than the swizzle. Signed 8- and 16-bit integers are copied as unsigned integers.
    #[must_use]
    pub fn cuda_tensor_map(swizzle: Swizzle) -> DeviceLimits {
        let (name, widest) = match swizzle {
            Swizzle::None => ("CUDA tensor map", u64::MAX),
            Swizzle::Bytes32 => ("CUDA tensor map, 32-byte swizzle", 32),
            Swizzle::Bytes64 => ("CUDA tensor map, 64-byte swizzle", 64),
            Swizzle::Bytes128 => ("CUDA tensor map, 128-byte swizzle", 128),
        };
        DeviceLimits {
            name: Cow::Borrowed(name),
            min_rank: 1,
            max_rank: 5,
            data_types: Some(Cow::Borrowed(TENSOR_MAP_TYPES)),
            max_size: 1 << 32,
            stride_multiple: 16,
            max_stride_bytes: (1 << 40) - 1,
            offset_alignment: 16,
            box_limits: Some(BoxLimits { max_size: 256, row_multiple: 16, max_row: widest }),
            copies_only: true,
            ..Self::told_in_order()
        }
    }

    /// Returns the limits of WebNN for an `MLTensor`: a type, sizes that are positive 32-bit numbers, and no
    /// strides. So a tensor is packed and has its buffer for itself (*MLTensorDescriptor*,
    /// *MLOperandDescriptor*). The context reports the largest tensor
    /// (`opSupportLimits().maxTensorByteLength`). [`webnn_chromium`](Self::webnn_chromium) has the limit of
    /// Chromium.
    #[must_use]
    pub fn webnn() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("WebNN"),
            data_types: Some(Cow::Borrowed(WEBNN_TYPES)),
            max_size: 0xffff_ffff,
            packed_outside: Some(1),
            zero_offset: true,
            sizes_only: true,
            ..Self::told_in_order()
        }
    }

    /// Returns [`webnn`](Self::webnn) with the limits of Chromium: tensors of up to 2³¹−1 bytes and 8 axes.
    /// These are the limits of Chromium's ONNX Runtime and TensorFlow Lite backends in `ContextProperties`
    /// (services/webnn). A 4-bit type may be missing in one of the backends, and single operators may accept
    /// fewer ranks.
    ///
    /// ```
    /// use tensor_layout::{upload::validate_description, BufferTensorDesc, DataType, DeviceLimits};
    ///
    /// let large = BufferTensorDesc::packed(DataType::U8, &[1_u64 << 31])?;
    /// assert_eq!(validate_description(&large, &DeviceLimits::webnn_chromium()).unwrap_err().codes(), ["binding_limit"]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn webnn_chromium() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("WebNN in Chromium"),
            max_rank: 8,
            max_binding: 0x7fff_ffff,
            ..Self::webnn()
        }
    }

    /// Returns the limits of a plain Metal buffer, which a shader indexes in the address space `device`. The
    /// offset is a multiple of the element (*setBufferOffset*), and every device makes buffers of 256 MiB
    /// (*maxBufferLength*). Your device may report more.
    ///
    /// ```
    /// assert_eq!(tensor_layout::DeviceLimits::metal().max_buffer, 256 << 20);
    /// ```
    #[must_use]
    pub fn metal() -> DeviceLimits {
        DeviceLimits {
            name: Cow::Borrowed("Metal buffer"),
            min_binding: 1,
            max_buffer: 256 << 20,
            whole_elements: true,
            base_offset_in_binding: true,
            ..Self::none()
        }
    }

    /// Returns the limits of a uniform binding, which is small. WebGPU's defaults are 64 KiB at multiples of
    /// 256 bytes (`maxUniformBufferBindingSize`, `minUniformBufferOffsetAlignment`). Every Vulkan device has
    /// 16 KiB at multiples of 256 bytes (`maxUniformBufferRange`). A constant buffer view of Direct3D 12 has
    /// 4096 vectors of 16 bytes, and its offset and size are multiples of 256 bytes. Arrays in a uniform
    /// buffer have strides of 16 bytes in WGSL and std140: pad the rows to match.
    ///
    /// ```
    /// use tensor_layout::upload::{DeviceLimits, Uniform};
    ///
    /// assert_eq!(DeviceLimits::uniform(Uniform::Vulkan).max_binding, 16 << 10);
    /// ```
    #[must_use]
    pub fn uniform(api: Uniform) -> DeviceLimits {
        let (name, max_binding, size_multiple, of) = match api {
            Uniform::WebGpu => ("WebGPU uniform defaults", 64 << 10, 4, Self::webgpu()),
            Uniform::Vulkan => ("Vulkan uniform minimums", 16 << 10, 1, Self::vulkan()),
            Uniform::D3d12 => ("Direct3D 12 constant buffer", 64 << 10, 256, Self::d3d12()),
        };
        DeviceLimits {
            name: Cow::Borrowed(name),
            max_binding,
            size_multiple,
            min_binding: size_multiple,
            offset_alignment: 256,
            ..of
        }
    }

    /// Returns the common limits of interfaces that take sizes and strides from the outermost axis to the
    /// innermost. The innermost axis is dense, and the offset of the first element is passed separately.
    fn told_in_order() -> DeviceLimits {
        DeviceLimits {
            zero_sizes: false,
            takes_strides: true,
            unit_inner_stride: true,
            ordered_strides: true,
            whole_elements: true,
            base_offset_in_binding: true,
            ..Self::none()
        }
    }
}
