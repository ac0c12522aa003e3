//! `Profile`: what a device lets a compute shader have.

use std::borrow::Cow;

/// The limits that a generated program keeps to. Start from [`Profile::webgpu`] and put in what the device
/// reports.
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
    /// What the profile is called in errors.
    pub name: Cow<'static, str>,
    /// The bytes of memory a workgroup may share (`maxComputeWorkgroupStorageSize`).
    pub max_workgroup_memory: u32,
    /// The invocations of a workgroup (`maxComputeInvocationsPerWorkgroup`).
    pub max_invocations: u32,
    /// The invocations of a workgroup along x (`maxComputeWorkgroupSizeX`), which is all that programs use.
    pub max_workgroup_size: u32,
    /// The workgroups of a dispatch along each axis (`maxComputeWorkgroupsPerDimension`).
    pub max_workgroups: u32,
    /// The storage buffers a shader sees (`maxStorageBuffersPerShaderStage`): a program needs 2.
    pub max_storage_buffers: u32,
    /// The bytes of one binding (`maxStorageBufferBindingSize`).
    pub max_binding: u64,
    /// What the offset of a binding must be a multiple of, in bytes (`minStorageBufferOffsetAlignment`): a
    /// power of two, at least 4.
    pub offset_alignment: u64,
    /// Whether sizes and strides are constants of a shader or numbers that it is given.
    pub sizes: Sizes,
}

/// Where a shader has the sizes and strides of a copy from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sizes {
    /// They are literals of its text: as fast as it gets, and a pipeline for each pair of layouts.
    #[default]
    Constants,
    /// They are in the uniform block, with the multipliers by which it divides: one text, and one
    /// [key](crate::Pass::key), for all sizes of the same form, number of loops, element and innermost run.
    /// The form `general` has constants all the same.
    Uniforms,
}

impl Profile {
    /// What every WebGPU device has, and what wgpu's downlevel defaults keep as well: 16,352 bytes of
    /// workgroup memory, 256 invocations, 4 storage buffers, bindings of 128 MiB at multiples of 256 bytes.
    /// (*WebGPU*, limits; `wgpu_types::Limits`.)
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

    /// Every NVIDIA GPU since 2014, by CUDA: 48 KiB of shared memory, 1,024 threads, pointers to multiples of
    /// 16 bytes, and 8 GiB that a pass reaches from one of them. (*CUDA C++ programming guide*, compute
    /// capabilities.)
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
    /// [`Profile::webgpu`].
    fn default() -> Profile {
        Profile::webgpu()
    }
}
