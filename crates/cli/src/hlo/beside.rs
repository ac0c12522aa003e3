//! The buffer assignment that XLA wrote beside the text of a module.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use tensor_layout_hlo::BufferAssignment;

use crate::input_file::{is_standard, open};
use crate::output::Stop;

/// Reads XLA's buffer assignment from the file `named`, or else from the file beside the dump, if there is
/// one. Returns it with the path of the file.
pub(super) fn assignment(dump: &Path, named: Option<&Path>) -> Result<Option<(PathBuf, BufferAssignment)>, Stop> {
    let Some(path) = named.map(Path::to_owned).or_else(|| beside(dump)) else { return Ok(None) };
    let read = if is_standard(&path) {
        BufferAssignment::read(std::io::stdin().lock())
    } else {
        BufferAssignment::read(BufReader::with_capacity(1 << 18, open(&path)?.0))
    };
    match read {
        Ok(assignment) if assignment.allocations() == 0 => {
            Err(Stop::Unusable(format!("{} holds no buffer assignment", path.display())))
        }
        Ok(assignment) => Ok(Some((path, assignment))),
        Err(error) => Err(Stop::Unusable(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Returns the path of the buffer assignment that XLA wrote beside a dump, if it exists:
/// `module_0001.jit_f.after_optimizations-buffer-assignment.txt` beside
/// `module_0001.jit_f.after_optimizations.txt`.
fn beside(dump: &Path) -> Option<PathBuf> {
    let name = dump.file_name()?.to_str()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.trim_end_matches("_after_buffer_assignment").trim_end_matches("_before_buffer_assignment");
    [format!("{stem}-buffer-assignment.txt"), format!("{stem}.buffer-assignment.txt")]
        .into_iter()
        .map(|name| dump.with_file_name(name))
        .find(|path| path.is_file())
}
