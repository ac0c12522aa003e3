//! Runs the copies of outputs, on threads.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;

use tensor_layout::Error;
use tensor_layout::plan::Code;
use tensor_layout::relayout::{Destination, Piece};

use super::form::{Copy, WINDOW};
use super::plan::{Output, Plan};

/// A range of an output, and the copies that write it.
#[derive(Debug)]
pub(super) struct Job<'p> {
    output: &'p Output,
    copies: &'p [Copy],
    /// The part of the only copy that writes this range, if the copy was divided.
    piece: Option<Piece>,
    /// The range of the output that is written, in bytes.
    pub(super) range: Range<usize>,
    has_gaps: bool,
}

impl Plan<'_> {
    /// Copies an output into memory, on this many threads. Bytes of the layout that hold no element are set
    /// to zero. Memory after the output is not touched.
    ///
    /// # Errors
    ///
    /// `buffer_too_short`, and `destination_read` if the memory can only be written and elements share bytes.
    pub fn run<'a>(
        &self,
        output: &Output,
        destination: impl Into<Destination<'a>>,
        threads: usize,
    ) -> Result<(), Error> {
        let mut rest: Destination<'a> = destination.into();
        let (needed, found) = (output.size_in_bytes(), u64::try_from(rest.len()).unwrap_or(u64::MAX));
        if found < needed {
            return Err(Error::buffer_too_short("destination", needed, found));
        }
        let mut parts = Vec::new();
        for job in self.jobs(output)? {
            let (own, after) = rest.split_at(job.range.len());
            parts.push((job, own));
            rest = after;
        }
        on_threads(parts.into_iter(), threads, |(), (job, own)| self.run_job(&job, own))
    }

    /// The jobs of an output. Their ranges follow each other, and are all of it.
    pub(super) fn jobs<'p>(&self, output: &'p Output) -> Result<Vec<Job<'p>>, Error> {
        let place =
            |bytes: u64| usize::try_from(bytes).map_err(|_| Error::overflow("the size of an output", usize::BITS));
        let mut jobs = Vec::new();
        for window in &output.form.windows {
            let range = place(window.range.start)?..place(window.range.end)?;
            let (copies, has_gaps) = (window.copies.as_slice(), window.has_gaps);
            let mut pieces = match copies {
                [Copy { plan, flip: 0, .. }] if !has_gaps => {
                    plan.partition(range.len().div_ceil(place(WINDOW / 4)?), 1)?
                }
                _ => Vec::new(),
            };
            if pieces.len() < 2 {
                jobs.push(Job { output, copies, piece: None, range, has_gaps });
                continue;
            }
            let at = copies.first().map_or(Ok(0), |copy| place(copy.at[1]))?;
            let starts: Vec<usize> =
                pieces.iter().skip(1).map(|piece| piece.destination_range().start.saturating_add(at)).collect();
            let bounds: Vec<usize> = [range.start].into_iter().chain(starts).chain([range.end]).collect();
            for (piece, bounds) in pieces.drain(..).zip(bounds.windows(2)) {
                let [start, end] = bounds else { continue };
                jobs.push(Job { output, copies, piece: Some(piece), range: *start..*end, has_gaps });
            }
        }
        Ok(jobs)
    }

    pub(super) fn run_job(&self, job: &Job<'_>, mut own: Destination<'_>) -> Result<(), Error> {
        let length = own.len();
        if job.has_gaps {
            own.fill(0..length, 1, 0);
        }
        for Copy { source, plan, at, flip } in job.copies {
            let [from, to] = at.map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            let tensor = job.output.sources.get(*source).and_then(|&source| self.tensors.get(source));
            let bytes = tensor.map(|tensor| tensor.bytes()).unwrap_or_default().get(from..).unwrap_or_default();
            if let Some(piece) = &job.piece {
                piece.run(bytes, own.reborrow())?;
                continue;
            }
            let start = to.saturating_sub(job.range.start).min(length);
            let size = usize::try_from(plan.destination_size_in_bytes()).unwrap_or(usize::MAX);
            let end = start.saturating_add(size).min(length);
            let Some(mut part) = own.part(start..end) else { continue };
            if *flip == 0 {
                plan.run(bytes, part)?;
                continue;
            }
            if !part.is_readable() {
                return Err(Code::DestinationRead.for_value(0, 0));
            }
            // All bytes are flipped before the copy and again after it. Bytes that the copy writes are
            // therefore flipped once, and all others keep their values.
            part.bytes_to_change().iter_mut().for_each(|byte| *byte ^= flip);
            plan.run(bytes, part.reborrow())?;
            part.bytes_to_change().iter_mut().for_each(|byte| *byte ^= flip);
        }
        Ok(())
    }
}

/// Runs `work` on every item, on this many threads, each with a value of its own. After a failure no new work
/// begins.
pub(super) fn on_threads<T, S: Default, E: Send>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let items = Mutex::new(items.fuse());
    let next = || items.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let worker = || {
        let mut own = S::default();
        while let Some(item) = next() {
            if let Err(error) = work(&mut own, item) {
                while next().is_some() {}
                return Err(error);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        others.fold(own, |all, other| all.and(other))
    })
}
