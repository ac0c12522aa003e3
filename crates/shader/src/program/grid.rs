//! What all shaders of programs begin with: which invocation this is, and which steps of the loops are its
//! own.

use super::super::code::{Code, ComputeShader, Expr};
use super::gather::small;
use super::strided_box::StridedLoop;

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

/// The steps that iteration `number` of a loop nest takes in each loop, the outermost first. The number of
/// steps in that loop does not matter.
pub(super) fn digits(code: &mut Code, number: Expr, steps: &[StridedLoop]) -> Vec<Expr> {
    let mut rest = number;
    let mut digits = Vec::with_capacity(steps.len());
    for place in 1..steps.len() {
        let inner = steps.get(place..).unwrap_or_default().iter();
        let inner = small(inner.fold(1, |product: u64, step| product.saturating_mul(step.extent)));
        digits.push(code.bind("digit", &rest / inner));
        rest = code.bind("rest", rest % inner);
    }
    digits.extend((!steps.is_empty()).then_some(rest));
    digits
}

/// How far these digits go with the strides that `stride` picks.
pub(super) fn moved(start: Expr, digits: &[Expr], steps: &[StridedLoop], stride: impl Fn(&StridedLoop) -> u64) -> Expr {
    digits.iter().zip(steps).fold(start, |sum, (digit, step)| sum + digit * small(stride(step)))
}
