#![allow(clippy::disallowed_methods, reason = "tests know what they do to their own files")]

use std::fs;

use crate::mapped_file::InputFile;

use super::*;

/// Tests a claim of the SAFETY arguments in mapped_file.rs.
#[test]
fn a_new_file_changes_no_byte_of_a_mapped_one() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("model");
    fs::write(&target, b"old").unwrap();
    // Another program also writes a new file for the same target.
    let mut other = NewFile::create(&target).unwrap();
    other.append(b"other").unwrap();
    let other = other.close().unwrap();
    let maps = [target.as_path(), other.path()].map(|path| InputFile::open(path).unwrap().map().unwrap());
    let mut new = NewFile::create(&target).unwrap();
    new.reserve(1 << 20).unwrap();
    new.append(&[7; 1 << 20]).unwrap();
    let written = new.close().unwrap();
    assert_eq!(fs::metadata(written.path()).unwrap().len(), 1 << 20);
    assert_eq!((&*maps[0], &*maps[1]), (&b"old"[..], &b"other"[..]));
    // Windows does not let a mapped file be replaced, so the maps are dropped there.
    let maps = (!cfg!(windows)).then_some(maps);
    written.finish().unwrap();
    if let Some(maps) = maps {
        assert_eq!((&*maps[0], &*maps[1]), (&b"old"[..], &b"other"[..]));
    }
    assert_eq!(fs::read(&target).unwrap(), [7; 1 << 20]);
}

#[test]
fn a_file_that_is_not_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("model");
    drop(NewFile::create(&target).unwrap());
    drop(NewFile::create(&target).unwrap().close().unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
