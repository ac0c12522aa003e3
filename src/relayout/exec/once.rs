//! Runs a loop nest that belongs to no plan. Its kernel is chosen and run at once.

use strided_copy::kernel::Loop;
use strided_copy::{Destination, PlainNest};

use super::super::plan::machine::Knobs;
use super::super::plan::nest_loops::{NestLoops, front_to_back};
use super::super::plan::program::Traffic;
use super::super::plan::resolve::resolve;
use super::super::plan::select;
use super::super::plan::site::Site;
use crate::checked;
use crate::error::Error;

/// Copies with the kernel that a plan would choose.
///
/// # Errors
///
/// [`Error::Overflow`] if an iteration ends after the last address.
#[inline(never)]
pub(crate) fn run(
    nest: &PlainNest<'_>,
    knobs: &Knobs,
    source: &[u8],
    destination: Destination<'_>,
) -> Result<(), Error> {
    let mut loops: NestLoops = nest.loops().iter().copied().map(Loop::Strided).collect();
    // Source runs that are repeated stay in the cache, so they count once.
    let read = nest.loops().iter().filter(|step| step.source != 0).map(|step| step.extent);
    let row = nest.bytes_of_run();
    let bytes = |runs: usize| checked::count(runs).saturating_mul(checked::count(row));
    let traffic = Traffic { read: bytes(read.fold(1, usize::saturating_mul)), written: bytes(nest.runs()) };
    let (streaming, prefetch, knobs) = traffic.settings(row, knobs);
    let site = Site { streaming: streaming || destination.is_write_only(), prefetch, permutes: true, knobs: &knobs };
    let (shape, start) = select::shape(&mut loops, row, nest.start(), &knobs);
    let start = front_to_back(&mut loops, start).ok_or_else(|| checked::overflow(checked::BYTES, 64))?;
    let (kernel, access) = resolve(shape, &loops, site);
    select::checked(kernel, loops, start, access, site)?.run(source, destination);
    Ok(())
}
