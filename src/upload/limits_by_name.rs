//! Named sets of limits, for command lines and files.

use alloc::borrow::ToOwned;
use core::str::FromStr;

use crate::error::Error;

use super::limits::Limits;
use super::tensor_limits::{MetalUsage, Swizzle};

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
    ];
}

impl FromStr for Limits {
    type Err = Error;

    /// The limits of this name: `directml` (the latest level), `directml:5.0`, `d3d12`, `webgpu`, `vulkan`,
    /// `metal-tensor` (for shaders) or `metal-tensor:ml`, `vulkan-tensor` (`VK_ARM_tensors`),
    /// `cuda-tensor-map`, also with a swizzle as in `cuda-tensor-map:128`, `webnn`, or `none`. The sentence
    /// of [`Error::UnknownName`](crate::Error::UnknownName) lists the names.
    ///
    /// ```
    /// use tensor_layout::upload::Limits;
    ///
    /// assert_eq!("directml:2.1".parse::<Limits>()?.max_rank, 5);
    /// assert_eq!("opengl".parse::<Limits>().unwrap_err().code(), "unknown_limits");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    fn from_str(name: &str) -> Result<Limits, Error> {
        match name {
            "directml" => Ok(Self::directml()),
            "d3d12" => Ok(Self::d3d12()),
            "webgpu" => Ok(Self::webgpu()),
            "vulkan" => Ok(Self::vulkan()),
            "none" => Ok(Self::none()),
            "metal-tensor" => Ok(Self::metal_tensor(MetalUsage::Shader)),
            "metal-tensor:ml" => Ok(Self::metal_tensor(MetalUsage::MachineLearning)),
            "vulkan-tensor" => Ok(Self::vulkan_tensor()),
            "cuda-tensor-map" => Ok(Self::cuda_tensor_map(Swizzle::None)),
            "cuda-tensor-map:32" => Ok(Self::cuda_tensor_map(Swizzle::Bytes32)),
            "cuda-tensor-map:64" => Ok(Self::cuda_tensor_map(Swizzle::Bytes64)),
            "cuda-tensor-map:128" => Ok(Self::cuda_tensor_map(Swizzle::Bytes128)),
            "webnn" => Ok(Self::webnn()),
            _ => match name.strip_prefix("directml:") {
                Some(level) => Ok(Self::directml_level(level.parse()?)),
                None => Err(Error::unknown_limits(name.to_owned())),
            },
        }
    }
}

#[cfg(test)]
mod tests;
