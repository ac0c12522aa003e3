//! The innermost loops. The folder is the dispatch tree: [`portable`] is safe Rust and runs anywhere.

mod portable;

use super::schedule::Kernel;

/// Runs a kernel whose first chunk lies at `from` and goes to `to`.
pub(super) fn run(kernel: Kernel, source: &[u8], from: usize, destination: &mut [u8], to: usize) {
    let (source, destination) = (source.get(from..).unwrap_or_default(), destination.get_mut(to..).unwrap_or_default());
    match kernel {
        Kernel::Rows { chunk, count } => portable::rows(source, destination, chunk, count),
        Kernel::Transpose { chunk, across, along } => portable::transpose(source, destination, chunk, across, along),
    }
}
