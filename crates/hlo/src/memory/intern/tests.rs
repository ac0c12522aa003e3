use super::*;

#[test]
fn equal_values_have_one_number() {
    let mut names = Interner::<Box<str>>::default();
    assert_eq!((names.number("a").unwrap(), names.number("b").unwrap(), names.number("a").unwrap()), (0, 1, 0));
    assert_eq!((names.get(1).map(|name| &**name), names.get(2)), (Some("b"), None));
    assert_eq!(names.len(), 2);
}
