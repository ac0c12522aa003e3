use super::*;

#[test]
fn long_lines_keep_their_beginning() {
    let text = format!("a\r\n{}\n\nend", "x".repeat(MAX_LINE_BYTES + 5));
    let mut lines = Lines::new(io::BufReader::with_capacity(100, text.as_bytes()));
    assert_eq!(lines.next().unwrap().unwrap().text, "a\r");
    let long = lines.next().unwrap().unwrap();
    assert_eq!((long.number, long.text.len(), long.cut), (2, MAX_LINE_BYTES, true));
    assert_eq!(lines.next().unwrap().unwrap().text, "");
    let last = lines.next().unwrap().unwrap();
    assert_eq!((last.number, last.text.as_str(), last.cut), (4, "end", false));
    assert_eq!(lines.next().unwrap(), None);
    assert_eq!(lines.bytes(), u64::try_from(text.len()).unwrap());
}
