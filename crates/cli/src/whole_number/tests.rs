use super::*;

#[test]
fn what_is_not_a_number_is_refused_by_a_sentence() {
    assert_eq!(whole_number("18446744073709551615"), Ok(u64::MAX));
    for text in ["", "x", "-1", "+1", "4k", "1.5", " 1"] {
        assert_eq!(whole_number::<u64>(text), Err("expected a whole number, such as 4096".into()), "{text}");
    }
    assert_eq!(whole_number::<u64>("18446744073709551616"), Err("the number is too large".into()));
    assert_eq!(whole_number::<u16>("65536"), Err("the number is too large".into()));
}
