//! `Profile`: the limits of a device for compute shaders.

use std::borrow::Cow;

/// The limits that a generated program obeys. Start from [`Profile::webgpu`] and set the fields to the limits
/// that the device reports.
///
/// ```
/// use tensor_layout_shader::Profile;
///
/// let mut profile = Profile::webgpu();
/// profile.max_binding = 2 << 30;
/// assert_eq!((profile.max_workgroup_memory, profile.max_invocations), (16_352, 256));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The name of the profile in error messages.
    pub name: Cow<'static, str>,
    /// The most bytes of workgroup memory that a workgroup may use (`maxComputeWorkgroupStorageSize`). Tiles
    /// that do not fit are not used.
    pub max_workgroup_memory: u32,
    /// The most invocations of a workgroup (`maxComputeInvocationsPerWorkgroup`). Programs use at most 256.
    pub max_invocations: u32,
    /// The most invocations of a workgroup along x (`maxComputeWorkgroupSizeX`). Programs use no other axis.
    pub max_workgroup_size: u32,
    /// The most workgroups of a dispatch along each axis (`maxComputeWorkgroupsPerDimension`). Larger
    /// dispatches use more axes.
    pub max_workgroups: u32,
    /// The most storage buffers of a shader (`maxStorageBuffersPerShaderStage`). A program needs 2.
    pub max_storage_buffers: u32,
    /// The largest binding, in bytes (`maxStorageBufferBindingSize`). A larger tensor is copied by several
    /// passes.
    pub max_binding: u64,
    /// The alignment of a binding's offset, in bytes (`minStorageBufferOffsetAlignment`): a power of two, at
    /// least 4.
    pub offset_alignment: u64,
    /// Whether sizes and strides are constants of a shader or values of its uniform block.
    pub sizes: Sizes,
}

/// Where a shader has the sizes and strides of a copy: in its text, or in its uniform block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sizes {
    /// Sizes and strides are literals of the shader's text. Such a shader is the fastest, but each pair of
    /// layouts needs a pipeline of its own.
    #[default]
    Constants,
    /// Sizes and strides are in the uniform block, with the multipliers that replace divisions. Copies of
    /// other sizes share one text and one [key](crate::Pass::key), if they have the same form, number of
    /// loops, element width and innermost run. The form `general` has constants in any case.
    Uniforms,
}

impl Profile {
    /// The default limits of WebGPU, which wgpu's downlevel defaults satisfy too: 16,352 bytes of workgroup
    /// memory, 256 invocations, 4 storage buffers, bindings of 128 MiB at multiples of 256 bytes. (*WebGPU*,
    /// limits; `wgpu_types::Limits`.)
    #[must_use]
    pub fn webgpu() -> Profile {
        Profile {
            name: Cow::Borrowed("WebGPU defaults"),
            max_workgroup_memory: 16_352,
            max_invocations: 256,
            max_workgroup_size: 256,
            max_workgroups: 65_535,
            max_storage_buffers: 4,
            max_binding: 128 << 20,
            offset_alignment: 256,
            sizes: Sizes::Constants,
        }
    }

    /// The limits of every NVIDIA GPU since 2014, by CUDA: 48 KiB of shared memory, 1,024 threads, pointers
    /// to multiples of 16 bytes, and 8 GiB that a pass reaches from one pointer. (*CUDA C++ programming
    /// guide*, compute capabilities.)
    #[must_use]
    pub fn cuda() -> Profile {
        Profile {
            name: Cow::Borrowed("CUDA"),
            max_workgroup_memory: 48 << 10,
            max_invocations: 1024,
            max_workgroup_size: 1024,
            max_workgroups: 65_535,
            max_storage_buffers: 8,
            max_binding: 8 << 30,
            offset_alignment: 16,
            sizes: Sizes::Constants,
        }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::webgpu()
    }
}
