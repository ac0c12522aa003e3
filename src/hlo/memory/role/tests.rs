use super::*;

#[test]
fn the_list_is_sorted() {
    assert!(ELEMENTWISE.is_sorted());
    assert_eq!(Role::of("tanh"), Role::Elementwise);
    assert_eq!((Role::of("all-gather-start"), Role::of("async-done")), (Role::Start(0), Role::Done(Some(1))));
}
