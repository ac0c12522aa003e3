//! Runs the passes of a copy.

use std::borrow::Cow;

use crate::checked;
use crate::error::Error;

use super::super::plan::passes::Passes;
use super::{fill, program};

/// Runs all passes. The caller has checked the lengths of both buffers. If there is a `pattern`, the
/// destination's padding is already set to it.
///
/// # Errors
///
/// [`Error::Overflow`] if an intermediate buffer would have more bytes than memory has addresses.
pub(crate) fn run(passes: &Passes, source: &[u8], destination: &mut [u8], pattern: Option<u128>) -> Result<(), Error> {
    let padding = pattern.map_or(OldPadding::Of(destination), OldPadding::Pattern);
    let from = all_but_last(passes, source, padding)?;
    program::run(&passes.last, &from, destination.into())
}

/// The old contents of the padding of intermediate buffers.
pub(crate) enum OldPadding<'a> {
    /// Each padding element is set to this pattern.
    Pattern(u128),
    /// The padding comes from this destination, whose padding is kept.
    Of(&'a [u8]),
}

/// Runs all passes except the last pass, and returns the buffer that the last pass reads.
///
/// # Errors
///
/// [`Error::Overflow`] under the conditions of [`run`].
pub(crate) fn all_but_last<'a>(
    passes: &Passes,
    source: &'a [u8],
    padding: OldPadding<'_>,
) -> Result<Cow<'a, [u8]>, Error> {
    let mut buffers = Vec::with_capacity(passes.before.len());
    for pass in &passes.before {
        let length: usize = checked::narrow(checked::bytes_for(pass.elements, pass.bits)?, checked::BYTES)?;
        let mut buffer = vec![0; length];
        if let OldPadding::Pattern(pattern) = padding {
            fill::whole(&mut buffer, pass.elements, pass.bits, pattern);
        }
        buffers.push(buffer);
    }
    if let OldPadding::Of(destination) = padding {
        recover(passes, &mut buffers, destination)?;
    }
    let mut from: &[u8] = source;
    for (pass, buffer) in passes.before.iter().zip(&mut buffers) {
        program::run(&pass.program, from, buffer.as_mut_slice().into())?;
        from = buffer;
    }
    Ok(buffers.pop().map_or(Cow::Borrowed(source), Cow::Owned))
}

/// Copies the old padding of the destination back into the intermediate buffers, so that the last pass writes
/// it unchanged.
fn recover(passes: &Passes, buffers: &mut [Vec<u8>], destination: &[u8]) -> Result<(), Error> {
    let mut later: &[u8] = destination;
    for (pass, buffer) in passes.before.iter().zip(buffers).rev() {
        if let Some(recover) = &pass.recover {
            program::run(recover, later, buffer.as_mut_slice().into())?;
        }
        later = buffer;
    }
    Ok(())
}
