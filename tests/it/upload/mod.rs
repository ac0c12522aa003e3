//! The checks of what a device accepts.

mod arenas;
mod bounds;
mod device_at_hand;
mod free_strides;
mod layouts;
mod parts;
mod planes;
mod rows;
mod suggest;
mod swizzled;
mod tensor_maps;
mod validation;
mod webgpu;

/// Returns the limits with this name.
fn named(name: &str) -> tensor_layout::DeviceLimits {
    name.parse().unwrap()
}
