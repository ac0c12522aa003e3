//! Converts the limits of an adapter to limits of `tensor-layout`.

use tensor_layout::upload;
use tensor_layout_shader::Profile;

use crate::error::Error;

/// Returns the limits for a tensor on this device: the rules of WebGPU, with the limits of the device.
///
/// ```no_run
/// # fn with(device: &wgpu::Device) {
/// let limits = tensor_layout_wgpu::limits(device);
/// println!("{}: bindings of up to {} bytes", limits.name, limits.max_binding);
/// # }
/// ```
#[must_use]
pub fn limits(device: &wgpu::Device) -> upload::DeviceLimits {
    upload_limits(&device.adapter_info().name, &device.limits())
}

/// Returns the [`limits`] for the given numbers. The numbers may belong to an adapter, or to a device before
/// it is requested.
///
/// Sizes are rounded down to whole words of 4 bytes, because bindings and copies consist of whole words (an
/// adapter may report 2147483647).
///
/// ```
/// let limits = tensor_layout_wgpu::upload_limits("defaults", &wgpu::Limits::default());
/// let webgpu = tensor_layout::upload::DeviceLimits::webgpu();
/// assert_eq!((limits.max_binding, limits.max_buffer), (webgpu.max_binding, webgpu.max_buffer));
/// assert_eq!((limits.offset_alignment, limits.size_multiple), (256, 4));
/// ```
#[must_use]
pub fn upload_limits(name: &str, granted: &wgpu::Limits) -> upload::DeviceLimits {
    let mut limits = upload::DeviceLimits::webgpu();
    limits.name = name.to_owned().into();
    limits.max_binding = words(granted.max_storage_buffer_binding_size);
    limits.max_buffer = words(granted.max_buffer_size);
    limits.max_copy = words(granted.max_buffer_size);
    limits.offset_alignment = granted.min_storage_buffer_offset_alignment.into();
    // The binding need not begin at the base offset, because the shaders of this crate add the whole base
    // offset themselves.
    limits.base_offset_in_binding = false;
    limits
}

/// Returns the [`profile`] for generated shaders on this device.
#[must_use]
pub fn device_profile(device: &wgpu::Device) -> Profile {
    profile(&device.adapter_info().name, &device.limits())
}

/// Returns the profile for generated shaders under these limits.
///
/// ```
/// let profile = tensor_layout_wgpu::profile("downlevel", &wgpu::Limits::downlevel_defaults());
/// let webgpu = tensor_layout_shader::Profile::webgpu();
/// assert_eq!((profile.max_workgroup_memory, profile.max_binding), (webgpu.max_workgroup_memory, webgpu.max_binding));
/// ```
#[must_use]
pub fn profile(name: &str, granted: &wgpu::Limits) -> Profile {
    let mut profile = Profile::webgpu();
    profile.name = name.to_owned().into();
    profile.max_workgroup_memory = granted.max_compute_workgroup_storage_size;
    profile.max_invocations = granted.max_compute_invocations_per_workgroup;
    profile.max_workgroup_size = granted.max_compute_workgroup_size_x;
    profile.max_workgroups = granted.max_compute_workgroups_per_dimension;
    profile.max_storage_buffers = granted.max_storage_buffers_per_shader_stage;
    profile.max_binding = words(granted.max_storage_buffer_binding_size);
    profile.offset_alignment = granted.min_storage_buffer_offset_alignment.into();
    profile
}

/// Rounds a number of bytes down to whole words.
fn words(bytes: u64) -> u64 {
    bytes - bytes % wgpu::COPY_BUFFER_ALIGNMENT
}

/// Returns the limits to request from an adapter for layout changes. They are the limits of every compute
/// adapter ([`wgpu::Limits::downlevel_defaults`]), except that buffers, bindings, workgroups and their memory
/// have the limits of this adapter.
///
/// # Errors
///
/// [`Error::Limit`] with the name of the first limit that is too small in the adapter (WebGL adapters have no
/// storage buffers).
///
/// ```
/// use tensor_layout_wgpu::required_limits;
///
/// let granted = wgpu::Limits { max_buffer_size: 4 << 30, ..wgpu::Limits::default() };
/// assert_eq!(required_limits(&granted)?.max_buffer_size, 4 << 30);
///
/// let error = required_limits(&wgpu::Limits::downlevel_webgl2_defaults()).unwrap_err();
/// assert_eq!(error.limits(), ["max_storage_buffers_per_shader_stage"]);
/// # Ok::<(), tensor_layout_wgpu::Error>(())
/// ```
pub fn required_limits(granted: &wgpu::Limits) -> Result<wgpu::Limits, Error> {
    let portable = wgpu::Limits::downlevel_defaults();
    check_limits(&compute_limits(&portable, granted.clone()), granted)?;
    Ok(compute_limits(granted, portable.or_worse_values_from(granted)))
}

/// Returns `others`, but with the limits of buffers and of compute shaders taken from `limits`.
fn compute_limits(limits: &wgpu::Limits, others: wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: limits.max_buffer_size,
        max_bind_groups: limits.max_bind_groups,
        max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
        max_uniform_buffer_binding_size: limits.max_uniform_buffer_binding_size,
        max_storage_buffers_per_shader_stage: limits.max_storage_buffers_per_shader_stage,
        max_uniform_buffers_per_shader_stage: limits.max_uniform_buffers_per_shader_stage,
        min_storage_buffer_offset_alignment: limits.min_storage_buffer_offset_alignment,
        min_uniform_buffer_offset_alignment: limits.min_uniform_buffer_offset_alignment,
        max_compute_workgroup_storage_size: limits.max_compute_workgroup_storage_size,
        max_compute_invocations_per_workgroup: limits.max_compute_invocations_per_workgroup,
        max_compute_workgroup_size_x: limits.max_compute_workgroup_size_x,
        max_compute_workgroup_size_y: limits.max_compute_workgroup_size_y,
        max_compute_workgroup_size_z: limits.max_compute_workgroup_size_z,
        max_compute_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
        ..others
    }
}

/// Returns an error with the name of the first limit in `granted` that is smaller than in `needed`.
///
/// # Errors
///
/// [`Error::Limit`] for the first limit that is too small.
///
/// ```
/// use tensor_layout_wgpu::check_limits;
///
/// let needed = wgpu::Limits { max_storage_buffer_binding_size: 265 << 20, ..wgpu::Limits::default() };
/// let error = check_limits(&needed, &wgpu::Limits::default()).unwrap_err();
/// assert_eq!(error.limits(), ["max_storage_buffer_binding_size"]);
/// ```
pub fn check_limits(needed: &wgpu::Limits, granted: &wgpu::Limits) -> Result<(), Error> {
    let mut result = Ok(());
    needed.check_limits_with_fail_fn(granted, true, |name, needed, granted| {
        result = Err(Error::Limit { name, needed, granted });
    });
    result
}
