//! `Limits`: what a device accepts, as plain data.

use std::borrow::Cow;

use crate::element::DataType;
use crate::error::Error;

use super::feature_level::FeatureLevel;

/// The largest number of elements of a DirectML tensor, and the largest size or stride its 32-bit
/// fields hold (*DML_BUFFER_TENSOR_DESC*: "may not exceed (2^32 - 1) elements").
const U32_MAX: u64 = 0xffff_ffff;

/// What a device, or the API in front of it, accepts. Every field is public: start from a named
/// set, or from [`Limits::none`], and change what the device at hand reports.
///
/// ```
/// use tensor_layout::{upload::Limits, DataType};
///
/// let mut mine = Limits::webgpu();
/// // What the device at hand reports; names and types may be made at run time.
/// mine.name = format!("adapter {}", 7).into();
/// mine.data_types = Some(vec![DataType::F32, DataType::F16].into());
/// mine.max_binding = 2 << 30;
/// assert_eq!(mine.offset_alignment, 256);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
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
    /// used but must be written down.
    pub max_stride: u64,
    /// The most elements a tensor may span in its buffer.
    pub max_elements: u64,
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
    /// The device is told sizes and strides, and nothing else: a layout without strides (tiles) is refused. Elsewhere a shader does
    /// the indexing, and a tensor is so many bytes.
    pub told_strides: bool,
    /// The description has no base offset: a tensor's own is added to the offset it is bound at.
    /// (A shader that is told the base offset needs no such thing.)
    pub base_offset_in_binding: bool,
    /// An output may overwrite any byte of its binding, padding included.
    pub writes_padding: bool,
    /// Two written bindings of one buffer may not meet, by their ranges, even where no element of one lies among those
    /// of the other.
    pub exclusive_ranges: bool,
    /// In one dispatch a buffer is either only read or only bound as written, whatever ranges of it are bound.
    pub one_usage: bool,
    /// How many bytes are written at once, and at multiples of which. Two outputs whose elements lie in the same such unit
    /// undo each other's writes.
    pub write_unit: u64,
}

impl Limits {
    /// The names [`by_name`](Self::by_name) knows.
    pub const NAMES: &'static [&'static str] = &["directml", "d3d12", "webgpu", "vulkan", "none"];

    /// No limits beyond those of the arithmetic: the start of a custom set.
    ///
    /// ```
    /// use tensor_layout::upload::{FeatureLevel, Limits};
    ///
    /// assert_eq!(Limits::none().offset_alignment, 1);
    /// assert_eq!(Limits::directml(FeatureLevel::LATEST).offset_alignment, 16);
    /// assert_eq!((Limits::d3d12().offset_alignment, Limits::webgpu().offset_alignment), (16, 256));
    /// // Plain data: set what the device reports.
    /// let mut limits = Limits::vulkan();
    /// limits.max_binding = 1 << 31;
    /// ```
    #[must_use]
    pub fn none() -> Limits {
        Limits {
            name: Cow::Borrowed("none"),
            min_rank: 0,
            max_rank: usize::MAX,
            data_types: None,
            zero_sizes: true,
            max_size: u64::MAX,
            max_stride: u64::MAX,
            max_elements: u64::MAX,
            size_multiple: 1,
            min_binding: 0,
            max_binding: u64::MAX,
            offset_alignment: 1,
            max_buffer: u64::MAX,
            max_copy: u64::MAX,
            told_strides: false,
            base_offset_in_binding: false,
            writes_padding: false,
            exclusive_ranges: false,
            one_usage: false,
            write_unit: 1,
        }
    }

    /// What DirectML of this feature level accepts.
    ///
    /// From *DML_BUFFER_TENSOR_DESC* (ranks, sizes of at least 1, 32-bit sizes and strides, at most
    /// 2³²−1 elements, a total that is a multiple of 4 and at least 4), *DML_BUFFER_BINDING* (offsets
    /// are multiples of 16, `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`) and *BindOutputs* (an output owns its
    /// whole range). Single operators narrow ranks and types further.
    #[must_use]
    pub fn directml(level: FeatureLevel) -> Limits {
        let (min_rank, max_rank) = level.ranks();
        Limits {
            name: Cow::Borrowed(level.limits_name()),
            min_rank,
            max_rank,
            data_types: Some(Cow::Borrowed(level.data_types())),
            zero_sizes: false,
            max_size: U32_MAX,
            max_stride: U32_MAX,
            max_elements: U32_MAX,
            told_strides: true,
            base_offset_in_binding: true,
            writes_padding: true,
            ..Self::d3d12()
        }
    }

    /// What Direct3D 12 asks of a raw buffer view, without DirectML on top: offsets that are
    /// multiples of 16 (`D3D12_RAW_UAV_SRV_BYTE_ALIGNMENT`) and sizes that are multiples of 4.
    ///
    /// `max_copy` is 0xffff0000 bytes: ONNX Runtime's DirectML provider found that upload
    /// heaps of 4 GiB fail, and splits its copies there. A raw view is written in words of 4 bytes.
    #[must_use]
    pub fn d3d12() -> Limits {
        Limits {
            name: Cow::Borrowed("Direct3D 12"),
            size_multiple: 4,
            min_binding: 4,
            offset_alignment: 16,
            max_copy: 0xffff_0000,
            write_unit: 4,
            ..Self::none()
        }
    }

    /// The default limits of WebGPU, which every adapter has: storage bindings of up to 128 MiB at
    /// offsets that are multiples of 256, buffers of up to 256 MiB, sizes that are multiples of 4
    /// and not zero. Offsets in a shader have 32 bits, and storage is written in words of 4 bytes.
    ///
    /// In one dispatch a buffer is bound either read-only or read-write (the usage scope of *WebGPU*: `storage` goes with
    /// no other usage), and the ranges of read-write bindings do not meet (*encoder bind groups alias a writable
    /// resource*). What is read and written in place is one read-write binding.
    #[must_use]
    pub fn webgpu() -> Limits {
        Limits {
            name: Cow::Borrowed("WebGPU defaults"),
            max_elements: U32_MAX,
            size_multiple: 4,
            min_binding: 4,
            max_binding: 128 << 20,
            offset_alignment: 256,
            max_buffer: 256 << 20,
            exclusive_ranges: true,
            one_usage: true,
            write_unit: 4,
            ..Self::none()
        }
    }

    /// What every Vulkan device grants (the table of required limits): storage ranges of 2²⁷ bytes
    /// (`maxStorageBufferRange`) at offsets that are multiples of 256
    /// (`minStorageBufferOffsetAlignment` is at most that), written in words of 4 bytes (narrower storage is a feature).
    /// Real devices grant more: put in what yours reports.
    #[must_use]
    pub fn vulkan() -> Limits {
        Limits {
            name: Cow::Borrowed("Vulkan minimums"),
            min_binding: 1,
            max_binding: 1 << 27,
            offset_alignment: 256,
            write_unit: 4,
            ..Self::none()
        }
    }

    /// The limits called `name`: `directml` (the latest level), `directml:5.0`, `d3d12`, `webgpu`,
    /// `vulkan` or `none`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownLimits`], whose sentence lists the names.
    ///
    /// ```
    /// use tensor_layout::upload::Limits;
    ///
    /// assert_eq!(Limits::by_name("directml:2.1")?.max_rank, 5);
    /// assert_eq!(Limits::by_name("metal").unwrap_err().code(), "unknown_limits");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn by_name(name: &str) -> Result<Limits, Error> {
        match name {
            "directml" => Ok(Self::directml(FeatureLevel::LATEST)),
            "d3d12" => Ok(Self::d3d12()),
            "webgpu" => Ok(Self::webgpu()),
            "vulkan" => Ok(Self::vulkan()),
            "none" => Ok(Self::none()),
            _ => match name.strip_prefix("directml:") {
                Some(level) => Ok(Self::directml(level.parse()?)),
                None => Err(Error::UnknownLimits { name: name.to_owned() }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_known() {
        for name in Limits::NAMES {
            Limits::by_name(name).unwrap();
        }
        for level in FeatureLevel::ALL {
            assert_eq!(Limits::by_name(&format!("directml:{level}")).unwrap(), Limits::directml(*level));
        }
        for name in ["", "DirectML", "directml:", "directml:9.9", "webgpu:1"] {
            assert_eq!(Limits::by_name(name).unwrap_err().code(), "unknown_limits", "{name}");
        }
    }
}
