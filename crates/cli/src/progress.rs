//! The progress bar of long work.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tensor_layout_files::PIECE;

/// Returns a progress bar on standard error for work of this many bytes. Short work, and work whose standard
/// error is no terminal, has none.
pub(crate) fn progress_bar(bytes: u64) -> ProgressBar {
    if bytes < PIECE {
        return ProgressBar::hidden();
    }
    let template = "{bar:40} {binary_bytes} of {binary_total_bytes}, {eta} left  {wide_msg}";
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
