//! A progress bar on standard error for long work. There is none if standard error is not a terminal.

use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The least work that gets a progress bar, in bytes. Less work is done before anyone could read a bar.
const WORTH_A_BAR: u64 = 64 << 20;

/// The bar that is on the terminal. `None` if there is none.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Removes the bar from the terminal, so that a sentence can be printed.
pub(crate) fn clear() {
    if let Some(bar) = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
}

/// Returns a bar for work of this many bytes. It is hidden if the work is short.
pub(crate) fn bar(bytes: u64) -> ProgressBar {
    if bytes < WORTH_A_BAR {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{bar:40} {binary_bytes} of {binary_total_bytes}, {eta} left  {wide_msg}");
    let bar = match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}
