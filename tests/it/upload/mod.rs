//! The checks of what a device accepts.

mod bounds;
mod device_at_hand;
mod free_strides;
mod layouts;
mod parts;
mod suggest;
mod texture;
mod validation;
mod webgpu;
