//! The text of a file's header.

/// A copy of a header, if it is text. Not the bytes themselves: those of a mapped file may change, and a
/// `str` must not.
pub(crate) fn copied_text(header: &[u8]) -> Option<String> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(header.len()).ok()?;
    copy.extend_from_slice(header);
    String::from_utf8(copy).ok()
}
