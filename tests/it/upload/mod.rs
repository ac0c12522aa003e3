//! What a device accepts.

mod bounds;
mod layouts;
mod suggest;
mod validation;
mod webgpu;
