#![allow(clippy::disallowed_methods, reason = "tests know what they do to their own files")]

use std::fs;

use super::*;

#[test]
fn a_file_that_is_locked_for_writing_is_not_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locked");
    fs::write(&path, b"abc").unwrap();
    let file = InputFile::open(&path).unwrap();
    let open = || File::options().write(true).open(&path).unwrap();
    let writer = open();
    writer.lock().unwrap();
    assert!(file.map().unwrap_err().to_string().contains("locked it for writing"));
    drop(writer);
    let writer = open();
    assert_eq!(&*file.map().unwrap(), b"abc");
    // The map keeps the lock of the file after the file's own handle is closed.
    let map = file.map().unwrap();
    drop(file);
    assert!(writer.try_lock().is_err());
    drop(map);
    writer.try_lock().unwrap();
}

/// Not on Windows, which does not let a mapped file be shortened.
#[cfg(unix)]
#[test]
fn a_file_that_is_shortened_is_an_error_and_no_crash() {
    crate::signals::prepare();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shortened");
    fs::write(&path, [7; 1 << 17]).unwrap();
    let (file, other) = (InputFile::open(&path).unwrap(), InputFile::open(&path).unwrap());
    let (map, whole) = (file.map().unwrap(), other.map().unwrap());
    assert!(map.iter().all(|&byte| byte == 7) && map.check_unchanged().is_ok());
    File::options().write(true).open(&path).unwrap().set_len(5).unwrap();
    // Bytes below 64 KiB are not checked: on file systems with large pages they may still be in the cache.
    assert!(map[..5] == [7; 5] && map[1 << 16..].iter().all(|&byte| byte == 0));
    assert!(map.check_unchanged().unwrap_err().contains("shorter"));
    // The file has its former length again, but its bytes are lost.
    File::options().write(true).open(&path).unwrap().set_len(1 << 17).unwrap();
    assert_eq!(map.check_unchanged(), Err("could not be read: a page of it is lost"));
    drop(map);
    assert!(whole.check_unchanged().unwrap_err().contains("was written by another program"));
}

#[test]
fn an_unnamed_file_gives_back_what_was_written() {
    let mut file = UnnamedFile::create().unwrap();
    file.append(b"abc").unwrap();
    file.append(b"def").unwrap();
    assert_eq!(&*file.map().unwrap(), b"abcdef");
}
