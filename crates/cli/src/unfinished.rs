//! Removes the files of an interrupted program that do not have their names yet.
//!
//! Ctrl-C (SIGINT), `kill` (SIGTERM) and a terminal that closes (SIGHUP) end the program at any point. A
//! thread waits for these signals (`signals.rs`). It removes every file of the list here, says what was
//! written before, and ends the program. The thread never releases the lock of the list, so no file is made
//! or renamed after that.
//!
//! A sharded model changes many names, and nobody may see only some of the changes. [`all_or_nothing`] makes
//! the signal wait until all names are changed.
//!
//! SIGKILL leaves no time to remove anything. So a new file is locked as long as its program lives.
//! [`name_leftovers`] sees by the lock whether a file is being written or was left.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::table::short_bytes;
use crate::terminal::{Ink, painted_error};
use crate::{progress, signals};

/// The ending of the temporary name of a file.
pub(crate) const ENDING: &str = ".part";

/// How long a file of a live program may be without its lock.
const MOMENT: Duration = Duration::from_millis(100);

static UNFINISHED: Mutex<Unfinished> =
    Mutex::new(Unfinished { writes: false, files: Vec::new(), folders: Vec::new(), written: Vec::new() });

/// The lock that is held while several names change together.
static SEVERAL_NAMES: Mutex<()> = Mutex::new(());

/// The files and folders of this run that an interruption removes or reports.
pub(crate) struct Unfinished {
    /// Whether the command was asked to write a file at all.
    writes: bool,
    /// The files under temporary names. A file that no longer exists does no harm.
    pub(crate) files: Vec<PathBuf>,
    /// The folders that this run made, the innermost last. Only empty folders are removed.
    pub(crate) folders: Vec<PathBuf>,
    /// The files that were written and have their names.
    pub(crate) written: Vec<PathBuf>,
}

/// Locks the list and returns it. A function that makes or renames a file must hold this lock.
pub(crate) fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes signals wait while the returned guard lives.
pub(crate) fn all_or_nothing() -> MutexGuard<'static, ()> {
    SEVERAL_NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes signals remove unfinished files from now on. `writes` says whether the command was asked to write a
/// file.
pub(crate) fn remove_when_interrupted(writes: bool) {
    unfinished().writes = writes;
    signals::on_termination(end);
}

/// Removes unfinished files, and ends the program with 128 plus the number of the signal, as a shell expects.
fn end(signal: i32) -> ! {
    let _names = all_or_nothing();
    let list = unfinished();
    for file in &list.files {
        let _ = fs::remove_file(file);
    }
    for folder in list.folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
    progress::clear();
    let what = match list.written.as_slice() {
        [] if list.writes => "; nothing was written".into(),
        [] => String::new(),
        [file] => format!("; {} was written before that", file.display()),
        [.., last] => {
            format!("; {} files were written before that, the last is {}", list.written.len(), last.display())
        }
    };
    let _ = writeln!(std::io::stderr(), "interrupted{what}");
    std::process::exit(128_i32.saturating_add(signal))
}

/// Creates the missing folders of this path, and notes them in the list.
pub(crate) fn create_folders(folder: &Path) -> std::io::Result<()> {
    let mut list = unfinished();
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    list.folders.extend(missing.iter().rev().map(|&folder| folder.to_owned()));
    fs::create_dir_all(folder)
}

/// Warns of files that a killed run left when it was writing `target`.
pub(crate) fn name_leftovers(target: &Path) {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    for entry in fs::read_dir(folder_of(target)).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let file = file.to_string_lossy();
        let letters = file.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(ENDING));
        if letters.is_none_or(|letters| letters.len() != 6 || !letters.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        {
            continue;
        }
        let path = entry.path();
        // A live program holds the lock of its file, except for a moment when it creates or closes the file.
        let is_free = || File::open(&path).is_ok_and(|file| !matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
        let is_left = is_free() && {
            std::thread::sleep(MOMENT);
            is_free()
        };
        if is_left {
            let size = short_bytes(entry.metadata().map_or(0, |metadata| metadata.len()));
            let path = path.display();
            let warning = painted_error("warning:", Ink::Yellow);
            let _ = writeln!(
                std::io::stderr(),
                "{warning} {path} ({size}) was left by a run that was killed; it may be removed"
            );
        }
    }
}

/// Returns the folder of a file; `.` if the path has none.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
