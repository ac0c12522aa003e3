//! Runs work on several parts of a model at once.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::output::Stop;

/// The most parts that are converted at once by default. Each thread has buffers of its own, so more threads
/// take more memory.
const MOST: usize = 4;

/// How many parts of a model are converted at once on this machine by default.
pub(super) fn usual() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST)
}

/// Runs `work` on every item with this many threads. Returns the results in the order of the items. After a
/// failure no new work begins. If several fail, the error of the first item is returned.
pub(super) fn at_once<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, Stop> + Sync,
) -> Result<Vec<R>, Stop> {
    if threads < 2 || items.len() < 2 {
        return items.iter().map(work).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Mutex<Vec<(usize, Result<R, Stop>)>> = Mutex::new(Vec::with_capacity(items.len()));
    let one_thread = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place).filter(|_| !failed.load(Ordering::Relaxed)) else { return };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            // A poisoned lock is used like any other, because the panic that poisoned it ends the scope.
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(one_thread);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
