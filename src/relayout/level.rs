//! The level that plans use: that of this CPU, or a lower one that the environment names.

use std::sync::OnceLock;

use strided_copy::{Available, Level, UnknownLevel};

const VARIABLE: &str = "TENSOR_LAYOUT_LEVEL";

/// The level that plans use: the highest level of this CPU, or the level that the environment variable
/// `TENSOR_LAYOUT_LEVEL` names if that is lower. It is determined once per process.
///
/// ```
/// use tensor_layout::relayout::{Level, level_in_use};
///
/// let level = level_in_use();
/// assert!(level.is_available() && Level::Portable.is_available());
/// println!("copies run at {level}");
/// ```
#[must_use]
pub fn level_in_use() -> Level {
    available_in_use().get()
}

/// The level that the environment variable `TENSOR_LAYOUT_LEVEL` names. `None` if the variable is empty or
/// not set. The variable is read once per process.
///
/// # Errors
///
/// [`UnknownLevel`] if the variable names no level (`Portable`, `avx`). In that case [`level_in_use`] is the
/// highest level, and the program should tell its user.
///
/// ```
/// if let Err(error) = tensor_layout::relayout::requested_level() {
///     eprintln!("TENSOR_LAYOUT_LEVEL is ignored: {error}");
/// }
/// ```
pub fn requested_level() -> Result<Option<Level>, UnknownLevel> {
    static REQUESTED: OnceLock<Result<Option<Level>, UnknownLevel>> = OnceLock::new();
    let read = || match std::env::var_os(VARIABLE).unwrap_or_default() {
        name if name.is_empty() => Ok(None),
        name => name.to_string_lossy().parse().map(Some),
    };
    REQUESTED.get_or_init(read).clone()
}

pub(super) fn available_in_use() -> Available {
    static LEVEL: OnceLock<Available> = OnceLock::new();
    // `requested_level` is not called here, so that only programs that call it have the code for its error.
    *LEVEL.get_or_init(|| {
        let name = std::env::var_os(VARIABLE).unwrap_or_default();
        let named = Level::ALL.iter().copied().find(|level| *level.name() == *name);
        Available::up_to(named.unwrap_or(Level::Avx512))
    })
}
