//! Named sets of limits, for command lines and files.

use alloc::borrow::ToOwned;
use core::str::FromStr;

use crate::cursor::one_of;
use crate::error::Error;

use super::limits::DeviceLimits;
use super::size_text::read_size;
use super::tensor_limits::{MetalUsage, Swizzle, Uniform};

impl DeviceLimits {
    /// The names of the sets of limits that can be read. `directml` stands for the latest feature level.
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

    /// Returns these limits with one field changed. The value is a text: a number of bytes or elements
    /// ([`read_size`]), `true` or `false`.
    ///
    /// # Errors
    ///
    /// `unknown_limits` for a name that is not a field with a number or a
    /// `bool`. `parse` if the value cannot be read.
    ///
    /// ```
    /// let limits = tensor_layout::DeviceLimits::webgpu().with("max_binding", "2GiB")?;
    /// assert_eq!(limits.max_binding, 2 << 30);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with(mut self, field: &str, value: &str) -> Result<DeviceLimits, Error> {
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

/// Defines a function that finds the fields of one type by their names.
macro_rules! by_name {
    ($function:ident, $names:ident, $type:ty: $($field:ident)*) => {
        const $names: &[&str] = &[$(stringify!($field)),*];

        impl DeviceLimits {
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

impl FromStr for DeviceLimits {
    type Err = Error;

    /// Returns the limits with this name: `directml` (the latest level), `directml:5.0`, `d3d12`, `webgpu`,
    /// `vulkan`, `metal-tensor` (for shaders) or `metal-tensor:ml`, `vulkan-tensor` (`VK_ARM_tensors`),
    /// `cuda-tensor-map`, also with a swizzle as in `cuda-tensor-map:128`, `webnn` or `webnn:chromium`,
    /// `metal` (plain buffers), `webgpu-uniform`, `vulkan-uniform`, `d3d12-constant`, or `none`. Limits of
    /// the device at hand may follow after a colon, in the form of [`with`](Self::with):
    /// `webgpu:max_binding=2GiB,max_buffer=4GiB`. The message of
    /// `unknown_limits` lists the names.
    ///
    /// ```
    /// use tensor_layout::upload::DeviceLimits;
    ///
    /// assert_eq!("directml:2.1".parse::<DeviceLimits>()?.max_rank, 5);
    /// assert_eq!("opengl".parse::<DeviceLimits>().unwrap_err().code(), "unknown_limits");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<DeviceLimits, Error> {
        let changes = text.find('=').and_then(|equals| text.get(..equals)).and_then(|start| start.rfind(':'));
        let Some((name, changes)) = changes.and_then(|colon| text.split_at_checked(colon)) else { return named(text) };
        let mut limits = named(name)?;
        for change in changes.trim_start_matches(':').split(',') {
            let (field, value) = change.split_once('=').unwrap_or((change, ""));
            limits = limits.with(field, value)?;
        }
        Ok(DeviceLimits { name: text.to_owned().into(), ..limits })
    }
}

fn named(name: &str) -> Result<DeviceLimits, Error> {
    match name {
        "directml" => Ok(DeviceLimits::directml()),
        "d3d12" => Ok(DeviceLimits::d3d12()),
        "webgpu" => Ok(DeviceLimits::webgpu()),
        "vulkan" => Ok(DeviceLimits::vulkan()),
        "none" => Ok(DeviceLimits::none()),
        "metal-tensor" => Ok(DeviceLimits::metal_tensor(MetalUsage::Shader)),
        "metal-tensor:ml" => Ok(DeviceLimits::metal_tensor(MetalUsage::MachineLearning)),
        "vulkan-tensor" => Ok(DeviceLimits::vulkan_tensor()),
        "cuda-tensor-map" => Ok(DeviceLimits::cuda_tensor_map(Swizzle::None)),
        "cuda-tensor-map:32" => Ok(DeviceLimits::cuda_tensor_map(Swizzle::Bytes32)),
        "cuda-tensor-map:64" => Ok(DeviceLimits::cuda_tensor_map(Swizzle::Bytes64)),
        "cuda-tensor-map:128" => Ok(DeviceLimits::cuda_tensor_map(Swizzle::Bytes128)),
        "webnn" => Ok(DeviceLimits::webnn()),
        "webnn:chromium" => Ok(DeviceLimits::webnn_chromium()),
        "metal" => Ok(DeviceLimits::metal()),
        "webgpu-uniform" => Ok(DeviceLimits::uniform(Uniform::WebGpu)),
        "vulkan-uniform" => Ok(DeviceLimits::uniform(Uniform::Vulkan)),
        "d3d12-constant" => Ok(DeviceLimits::uniform(Uniform::D3d12)),
        _ => match name.strip_prefix("directml:") {
            Some(level) => Ok(DeviceLimits::directml_level(level.parse()?)),
            None => Err(Error::unknown_limits(name.to_owned())),
        },
    }
}

#[cfg(test)]
mod tests;
