//! Running the passes of a copy.

use crate::checked;
use crate::error::Error;

use super::super::kernel::Available;
use super::super::plan::passes::{Passes, StagedPasses};
use super::{fill, program};

/// Runs all passes. The buffers were measured, and the destination's padding holds `pattern` already, if there is one.
///
/// # Errors
///
/// [`Error::Overflow`] if a buffer in between would have more bytes than memory has addresses.
pub(crate) fn run(
    passes: &Passes,
    source: &[u8],
    destination: &mut [u8],
    level: Available,
    pattern: Option<u128>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    match passes {
        Passes::Direct(program) => program::run(program, level, source, destination, progress),
        Passes::Staged(stages) => staged(stages, source, destination, level, pattern, progress),
    }
}

fn staged(
    stages: &StagedPasses,
    source: &[u8],
    destination: &mut [u8],
    level: Available,
    pattern: Option<u128>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let Some((last, before)) = stages.passes.split_last() else { return Ok(()) };
    let mut buffers = Vec::with_capacity(before.len());
    for pass in before {
        let length: usize = checked::narrow(checked::bytes_for(pass.elements, pass.bits)?, checked::BYTES)?;
        let mut buffer = vec![0; length];
        if let Some(pattern) = pattern {
            fill::whole(&mut buffer, pass.elements, pass.bits, pattern);
        }
        buffers.push(buffer);
    }
    if pattern.is_none() {
        recover(stages, &mut buffers, destination, level)?;
    }
    let mut from: &[u8] = source;
    for (pass, buffer) in before.iter().zip(&mut buffers) {
        program::run(&pass.program, level, from, buffer, &mut |_| {})?;
        from = buffer;
    }
    program::run(&last.program, level, from, destination, progress)
}

/// Brings the old padding of the destination into the buffers that will be copied over it.
fn recover(stages: &StagedPasses, buffers: &mut [Vec<u8>], destination: &[u8], level: Available) -> Result<(), Error> {
    let mut later: &[u8] = destination;
    for (pass, buffer) in stages.passes.iter().zip(buffers).rev() {
        if let Some(recover) = &pass.recover {
            program::run(recover, level, later, buffer, &mut |_| {})?;
        }
        later = buffer;
    }
    Ok(())
}
