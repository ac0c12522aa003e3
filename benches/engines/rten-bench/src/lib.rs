//! What rten-tensor's ignored tests use of a crate that is not published.

/// Runs what an ignored test would time.
pub fn run_bench(trials: usize, _description: Option<&str>, mut run: impl FnMut()) {
    (0..trials).for_each(|_| run());
}
