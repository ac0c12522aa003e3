//! Copies on all threads of a pool.

use rayon::prelude::*;

use crate::error::Error;

use super::plan::cost::{LEAST_PIECE, PARTS_PER_THREAD};
use super::relayout::{Relayout, require};

impl Relayout {
    /// Copies like [`run`](Self::run), on the threads of rayon's current pool. A small copy runs on the
    /// calling thread only.
    ///
    /// The method needs the feature `rayon`.
    ///
    /// Every call cuts the copy into pieces, which takes some microseconds. To cut a copy once and run it
    /// often, or to use threads of another kind, use [`partition`](Self::partition).
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[1024,512]{1,0}".parse()?, "f32[1024,512]{0,1}".parse()?);
    /// let source = vec![7; 1 << 21];
    /// let mut destination = vec![0; 1 << 21];
    /// Relayout::new(&rows, &columns)?.run_parallel(&source, &mut destination)?;
    /// assert!(source == destination);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_parallel(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        let worthwhile = self.destination_size_in_bytes().div_euclid(LEAST_PIECE);
        let most = rayon::current_num_threads().saturating_mul(PARTS_PER_THREAD);
        let pieces = usize::try_from(worthwhile).unwrap_or(most).min(most);
        if pieces < 2 || rayon::current_num_threads() < 2 {
            return self.run(source, destination);
        }
        self.run_in_pieces(pieces, source, destination)
    }

    /// Runs the copy in the pieces that [`partition`](Self::partition) makes of `pieces`.
    fn run_in_pieces(&self, pieces: usize, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        // The source is checked here for all pieces, so that either all pieces run or none.
        require("source", source.len(), self.source_needs)?;
        let work = self.partition_of(pieces, destination)?;
        work.into_par_iter().try_for_each(|(piece, own)| piece.run(source, own))
    }
}
