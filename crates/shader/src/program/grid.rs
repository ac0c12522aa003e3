//! The number of the workgroup in its dispatch, which every shader of a program computes first.

use super::super::code::{Code, ComputeShader, Expr};

/// The most words between the start of a binding and the start of a tensor in it. This is more than any
/// device's offset alignment needs.
pub(super) const MOST_BASE: u32 = 1 << 28;

/// The workgroups of a dispatch along x and y, which are the first two words of the uniform block.
pub(super) struct Grid {
    groups_x: Expr,
    groups_y: Expr,
}

impl Grid {
    pub(super) fn new(shader: &mut ComputeShader) -> Grid {
        Grid { groups_x: shader.uniform("groups_x", 65_535), groups_y: shader.uniform("groups_y", 65_535) }
    }

    /// Returns the number of the workgroup, counted over the whole dispatch.
    pub(super) fn group(&self, shader: &ComputeShader, code: &mut Code) -> Expr {
        let row = shader.workgroup_id(1) + &self.groups_y * shader.workgroup_id(2);
        code.bind("group", shader.workgroup_id(0) + &self.groups_x * row)
    }
}
