use super::*;

#[test]
fn two_may_read_a_word_and_one_may_write_it() {
    let mut uses = Uses::new(2);
    assert!(uses.read(0, 1) && uses.read(0, 2));
    assert!(!uses.write(0, 1), "2 has read it");
    assert!(uses.write(1, 7) && uses.read(1, 7) && uses.write(1, 7));
    assert!(!uses.read(1, 8), "7 has written it");
    uses.forget();
    assert!(uses.write(1, 8));
    assert!(!uses.write(1, 7));
}
