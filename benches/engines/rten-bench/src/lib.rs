//! The items of an unpublished crate that rten-tensor's ignored tests use.

/// Runs the code that an ignored test would time.
pub fn run_bench(trials: usize, _description: Option<&str>, mut run: impl FnMut()) {
    (0..trials).for_each(|_| run());
}
