//! Named sets of limits, for command lines and files.

use alloc::borrow::ToOwned;
use core::str::FromStr;

use crate::cursor::one_of;
use crate::error::Error;

use super::limits::Limits;
use super::size_text::read_size;
use super::tensor_limits::{MetalUsage, Swizzle, Uniform};

impl Limits {
    /// The names that are read.
    pub const NAMES: &'static [&'static str] = &[
        "directml",
        "d3d12",
        "webgpu",
        "vulkan",
        "none",
        "metal-tensor",
        "metal-tensor:ml",
        "vulkan-tensor",
        "cuda-tensor-map",
        "cuda-tensor-map:32",
        "cuda-tensor-map:64",
        "cuda-tensor-map:128",
        "webnn",
        "webnn:chromium",
        "metal",
        "webgpu-uniform",
        "vulkan-uniform",
        "d3d12-constant",
    ];

    /// Returns these limits with one of them changed, given by its name and its value as text: a number of
    /// bytes or of elements ([`read_size`]), `true` or `false`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`](crate::Error::UnknownName) for a name that is none of the fields that hold a
    /// number or a truth; [`Error::Parse`](crate::Error::Parse).
    ///
    /// ```
    /// let limits = tensor_layout::Limits::webgpu().with("max_binding", "2GiB")?;
    /// assert_eq!(limits.max_binding, 2 << 30);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with(mut self, field: &str, value: &str) -> Result<Limits, Error> {
        let rank = || read_size(value).map(|rank| usize::try_from(rank).unwrap_or(usize::MAX));
        match field {
            "min_rank" => self.min_rank = rank()?,
            "max_rank" => self.max_rank = rank()?,
            _ => {
                if let Some(number) = self.number_mut(field) {
                    *number = read_size(value)?;
                } else if let Some(truth) = self.truth_mut(field) {
                    *truth = one_of(value, "a truth", &[false, true], |truth| if truth { "true" } else { "false" })?;
                } else {
                    return Err(Error::unknown_limit(field, &[&["min_rank", "max_rank"], NUMBERS, TRUTHS].concat()));
                }
            }
        }
        Ok(self)
    }
}

/// The fields of one type, by their names.
macro_rules! by_name {
    ($function:ident, $names:ident, $type:ty: $($field:ident)*) => {
        const $names: &[&str] = &[$(stringify!($field)),*];

        impl Limits {
            fn $function(&mut self, name: &str) -> Option<&mut $type> {
                match name {
                    $(stringify!($field) => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

by_name!(number_mut, NUMBERS, u64: max_size max_stride max_elements max_logical_elements size_multiple min_binding max_binding
    offset_alignment max_buffer max_copy stride_multiple max_stride_bytes max_extent write_unit);
by_name!(truth_mut, TRUTHS, bool: zero_sizes takes_strides sizes_only copies_only unit_inner_stride ordered_strides zero_offset
    whole_elements base_offset_in_binding writes_padding exclusive_ranges one_usage);

impl FromStr for Limits {
    type Err = Error;

    /// The limits of this name: `directml` (the latest level), `directml:5.0`, `d3d12`, `webgpu`, `vulkan`,
    /// `metal-tensor` (for shaders) or `metal-tensor:ml`, `vulkan-tensor` (`VK_ARM_tensors`),
    /// `cuda-tensor-map`, also with a swizzle as in `cuda-tensor-map:128`, `webnn` or `webnn:chromium`,
    /// `metal` (plain buffers), `webgpu-uniform`, `vulkan-uniform`, `d3d12-constant`, or `none`. After a
    /// colon limits of the device at hand may follow, as [`with`](Self::with) takes them:
    /// `webgpu:max_binding=2GiB,max_buffer=4GiB`. The sentence of
    /// [`Error::UnknownName`](crate::Error::UnknownName) lists the names.
    ///
    /// ```
    /// use tensor_layout::upload::Limits;
    ///
    /// assert_eq!("directml:2.1".parse::<Limits>()?.max_rank, 5);
    /// assert_eq!("opengl".parse::<Limits>().unwrap_err().code(), "unknown_limits");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Limits, Error> {
        let changes = text.find('=').and_then(|equals| text.get(..equals)).and_then(|start| start.rfind(':'));
        let Some((name, changes)) = changes.and_then(|colon| text.split_at_checked(colon)) else { return named(text) };
        let mut limits = named(name)?;
        for change in changes.trim_start_matches(':').split(',') {
            let (field, value) = change.split_once('=').unwrap_or((change, ""));
            limits = limits.with(field, value)?;
        }
        Ok(Limits { name: text.to_owned().into(), ..limits })
    }
}

fn named(name: &str) -> Result<Limits, Error> {
    match name {
        "directml" => Ok(Limits::directml()),
        "d3d12" => Ok(Limits::d3d12()),
        "webgpu" => Ok(Limits::webgpu()),
        "vulkan" => Ok(Limits::vulkan()),
        "none" => Ok(Limits::none()),
        "metal-tensor" => Ok(Limits::metal_tensor(MetalUsage::Shader)),
        "metal-tensor:ml" => Ok(Limits::metal_tensor(MetalUsage::MachineLearning)),
        "vulkan-tensor" => Ok(Limits::vulkan_tensor()),
        "cuda-tensor-map" => Ok(Limits::cuda_tensor_map(Swizzle::None)),
        "cuda-tensor-map:32" => Ok(Limits::cuda_tensor_map(Swizzle::Bytes32)),
        "cuda-tensor-map:64" => Ok(Limits::cuda_tensor_map(Swizzle::Bytes64)),
        "cuda-tensor-map:128" => Ok(Limits::cuda_tensor_map(Swizzle::Bytes128)),
        "webnn" => Ok(Limits::webnn()),
        "webnn:chromium" => Ok(Limits::webnn_chromium()),
        "metal" => Ok(Limits::metal()),
        "webgpu-uniform" => Ok(Limits::uniform(Uniform::WebGpu)),
        "vulkan-uniform" => Ok(Limits::uniform(Uniform::Vulkan)),
        "d3d12-constant" => Ok(Limits::uniform(Uniform::D3d12)),
        _ => match name.strip_prefix("directml:") {
            Some(level) => Ok(Limits::directml_level(level.parse()?)),
            None => Err(Error::unknown_limits(name.to_owned())),
        },
    }
}

#[cfg(test)]
mod tests;
