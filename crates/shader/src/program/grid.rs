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

/// Divides items among invocations, so that consecutive invocations take consecutive items in each round.
/// `extents` are the digits of an item's number, the fastest first. Returns for each digit the number of its
/// values that are handled side by side in one round, and the rounds that it needs for all its values.
/// Returns `None` if the items do not divide evenly, or take more than `most` rounds.
pub(super) fn shared_out(extents: &[u64], invocations: u64, most: u64) -> Option<Vec<(u64, u64)>> {
    let (mut left, mut rounds) = (invocations, 1_u64);
    let mut parts = Vec::with_capacity(extents.len());
    for &extent in extents {
        let inside = if left.is_multiple_of(extent) { extent } else { left };
        if !extent.is_multiple_of(inside) {
            return None;
        }
        let times = extent.checked_div(inside)?;
        parts.push((inside, times));
        left = left.checked_div(inside)?;
        rounds = rounds.saturating_mul(times);
    }
    (left == 1 && rounds <= most).then_some(parts)
}
