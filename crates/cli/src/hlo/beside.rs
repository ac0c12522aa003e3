//! The buffer assignment that XLA wrote beside the text of a module.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use tensor_layout_hlo::BufferAssignment;

use crate::input_file::{is_standard, open};
use crate::output::Stop;

/// The assignment in the file `named`, with its path. Without that name, the assignment beside the dump, if
/// there is one.
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

/// `module_0001.jit_f.after_optimizations.txt` has
/// `module_0001.jit_f.after_optimizations-buffer-assignment.txt` beside it.
fn beside(dump: &Path) -> Option<PathBuf> {
    let name = dump.file_name()?.to_str()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.trim_end_matches("_after_buffer_assignment").trim_end_matches("_before_buffer_assignment");
    [format!("{stem}-buffer-assignment.txt"), format!("{stem}.buffer-assignment.txt")]
        .into_iter()
        .map(|name| dump.with_file_name(name))
        .find(|path| path.is_file())
}
