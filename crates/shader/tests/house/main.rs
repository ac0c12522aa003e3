//! No public function takes long, or much memory, on a short text: as in the library's
//! `tests/house/work_limits`.

#![allow(unsafe_code, reason = "the allocator that counts, and the compiler's counters")]
#![allow(dead_code, reason = "the library's own tests use the rest")]

#[path = "../../../../tests/house/work_limits/calls.rs"]
mod calls;
#[path = "../../../../tests/counting/mod.rs"]
mod counting;
mod cuda;
#[path = "../../../../tests/house/work_limits/hostile.rs"]
mod hostile;
#[path = "../../../../tests/literal/mod.rs"]
mod literal;
#[path = "../it/planes.rs"]
mod planes;
#[path = "../../../../tests/house/work_limits/steps.rs"]
mod steps;

use calls::{each_map, each_plan};
use tensor_layout::relayout::Padding;
use tensor_layout_shader::{IndexFunctions, Profile, Program};

#[test]
fn shaders() {
    each_map("IndexFunctions", |map| IndexFunctions::new(map).map(|functions| functions.wgsl()));
    each_map("with_inverse", |map| {
        IndexFunctions::with_base_argument(map).and_then(IndexFunctions::with_inverse).map(|functions| functions.wgsl())
    });
    each_map("with_walk", |map| {
        IndexFunctions::new(map).and_then(|functions| functions.with_walk(0)).map(|f| f.wgsl())
    });
    each_plan("Program", |plan| Program::new(plan, &Profile::default()).map(|program| program.explain()));
    each_plan("Program of a padded copy", |plan| {
        let plan = plan.clone().with_padding(Padding::Zero).ok()?;
        Program::new(&plan, &Profile::default()).map(|program| program.explain()).ok()
    });
}
