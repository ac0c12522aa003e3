//! A loop nest that belongs to no program: the kernel for it, and how it is stored.

use super::super::plan::machine::Knobs;
use super::call::Call;
use strided_copy::nest::{NestLoop, Stride, first_iteration};
use strided_copy::{Destination, PlainNest, StreamFence};

use super::super::plan::nest_loops::NestLoops;
use super::super::plan::program::Traffic;
use super::super::plan::select;

/// Copies with the kernel that a plan would choose.
#[inline(never)]
pub(crate) fn run(nest: &PlainNest<'_>, knobs: &Knobs, source: &[u8], destination: Destination<'_>) {
    let mut loops = NestLoops::new();
    let mut once = 1_u64;
    for step in nest.loops() {
        let stride = Stride { extent: step.extent, source: step.source.unsigned_abs(), destination: step.destination };
        loops.push(if step.source < 0 { NestLoop::Reversed(stride) } else { NestLoop::Strided(stride) });
        // What is repeated stays in the cache.
        if step.source != 0 {
            once = once.saturating_mul(u64::try_from(step.extent).unwrap_or(u64::MAX));
        }
    }
    let bytes = |runs: u64| runs.saturating_mul(u64::try_from(nest.bytes_of_run()).unwrap_or(u64::MAX));
    let runs = u64::try_from(nest.runs()).unwrap_or(u64::MAX);
    let (streaming, prefetch, knobs) = Traffic { read: bytes(once), written: bytes(runs) }.settings(knobs);
    let (kernel, start) = select::kernel(&mut loops, nest.bytes_of_run(), nest.start(), &knobs);
    let streaming = streaming || destination.is_write_only();
    StreamFence::scope(streaming, knobs.level, |streaming| {
        let mut call = Call { source, destination, streaming, prefetch, knobs: &knobs, as_planned: false };
        call.run_at(&kernel, &loops, first_iteration(&loops, start));
    });
}
