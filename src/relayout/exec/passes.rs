//! Running the passes of a copy.

use std::borrow::Cow;

use crate::checked;
use crate::error::Error;

use super::super::plan::passes::Passes;
use super::{fill, program};

/// Runs all passes. The buffers were measured, and the destination's padding holds `pattern` already, if
/// there is one.
///
/// # Errors
///
/// [`Error::Overflow`] if a buffer in between would have more bytes than memory has addresses.
pub(crate) fn run(
    passes: &Passes,
    source: &[u8],
    destination: &mut [u8],
    pattern: Option<u128>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let padding = pattern.map_or(OldPadding::Of(destination), OldPadding::Pattern);
    let from = all_but_last(passes, source, padding)?;
    program::run(&passes.last, &from, destination.into(), progress)
}

/// What the padding of the buffers in between is set to.
pub(crate) enum OldPadding<'a> {
    /// Each padding element to this.
    Pattern(u128),
    /// To what will be kept: the padding of this destination.
    Of(&'a [u8]),
}

/// Runs all passes but the last, and returns what the last one reads.
///
/// # Errors
///
/// [`Error::Overflow`] as for [`run`].
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
        program::run(&pass.program, from, buffer.as_mut_slice().into(), &mut |_| {})?;
        from = buffer;
    }
    Ok(buffers.pop().map_or(Cow::Borrowed(source), Cow::Owned))
}

/// Brings the old padding of the destination into the buffers that will be copied over it.
fn recover(passes: &Passes, buffers: &mut [Vec<u8>], destination: &[u8]) -> Result<(), Error> {
    let mut later: &[u8] = destination;
    for (pass, buffer) in passes.before.iter().zip(buffers).rev() {
        if let Some(recover) = &pass.recover {
            program::run(recover, later, buffer.as_mut_slice().into(), &mut |_| {})?;
        }
        later = buffer;
    }
    Ok(())
}
