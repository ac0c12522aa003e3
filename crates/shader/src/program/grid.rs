//! What all shaders of programs begin with: which workgroup this is.

use super::super::code::{Code, ComputeShader, Expr};

/// The most words in front of a tensor in its binding: the largest alignment of a device, and room.
pub(super) const MOST_BASE: u32 = 1 << 28;

/// The workgroups of a dispatch along x and y, from the uniform block, of which they are the first two words.
pub(super) struct Grid {
    groups_x: Expr,
    groups_y: Expr,
}

impl Grid {
    pub(super) fn new(shader: &mut ComputeShader) -> Grid {
        Grid { groups_x: shader.uniform("groups_x", 65_535), groups_y: shader.uniform("groups_y", 65_535) }
    }

    /// The number of the workgroup.
    pub(super) fn group(&self, shader: &ComputeShader, code: &mut Code) -> Expr {
        let row = shader.workgroup_id(1) + &self.groups_y * shader.workgroup_id(2);
        code.bind("group", shader.workgroup_id(0) + &self.groups_x * row)
    }
}
