use super::*;

#[test]
fn the_list_is_in_order() {
    assert!(RESERVED.is_sorted());
    assert!(is_reserved("from") && is_reserved("NULL") && is_reserved("yield") && !is_reserved("word"));
}
