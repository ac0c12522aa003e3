use super::*;

#[test]
fn both_kinds_give_back_what_was_written() {
    for (most, mapped) in [(6, false), (5, true)] {
        let mut scratch = Scratch::new(6, most).unwrap();
        scratch.append(b"abc").unwrap();
        scratch.append(b"def").unwrap();
        let bytes = scratch.read_back().unwrap();
        assert_eq!((&*bytes, matches!(bytes, Bytes::Mapped(_))), (&b"abcdef"[..], mapped));
    }
}
