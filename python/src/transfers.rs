//! `transfers`: a copy as a list for whatever executes it.

use pyo3::prelude::*;
use tensor_layout::Relayout;
use tensor_layout_transfers::{Executor, Transfers};

use crate::error::refused;
use crate::layout::Layout;

/// One transfer: the offsets in the source and in the destination, the length of a run, and the loops.
type Row = (u64, u64, u64, Vec<(u64, i64, i64)>);

/// Lists a copy as the fewest transfers, in bytes.
///
/// Each transfer is (source, destination, bytes, loops): `bytes` is one contiguous run, and each of the loops
/// around it, from outer to inner, is (count, source stride, destination stride). `loops` is the most loops
/// of a transfer: 0 for plain ranges, None for any number, or for what `limits` has. `limits` names the
/// executor: any, rdma, nixl, cuda-2d, vulkan, d3d12, webgpu or metal, perhaps with limits of its own after
/// it (rdma:max_run=1MiB).
///
/// >>> transfers("f16[4,6]:[8,1]", "f16[4,6]:[6,1]")
/// [(0, 0, 12, [(4, 16, 12)])]
/// >>> transfers("f16[2,6]:[8,1]", "f16[2,6]:[6,1]", loops=0)
/// [(0, 0, 12, []), (16, 12, 12, [])]
#[pyfunction]
#[pyo3(signature = (layout, to, loops = None, *, limits = "any"))]
pub(crate) fn transfers(
    layout: &Bound<'_, PyAny>,
    to: &Bound<'_, PyAny>,
    loops: Option<usize>,
    limits: &str,
) -> PyResult<Vec<Row>> {
    let plan = Relayout::new(&Layout::of(layout)?.map, &Layout::of(to)?.map).map_err(refused)?;
    let mut executor: Executor = limits.parse().map_err(refused)?;
    executor.loops = loops.or(executor.loops);
    let list = Transfers::of(&[&plan], &executor).map_err(refused)?;
    let rows = list.iter().map(|one| {
        let loops = one.loops.iter().map(|step| (step.count, step.source_stride, step.destination_stride));
        (one.source, one.destination, one.bytes, loops.collect())
    });
    Ok(rows.collect())
}
