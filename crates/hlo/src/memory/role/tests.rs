use super::*;

#[test]
fn elementwise_operations_are_known() {
    assert_eq!(ELEMENTWISE.len(), 48);
    assert_eq!((Role::of("bitcast-convert"), Role::of("copy")), (Role::Elementwise, Role::Copy));
    assert_eq!(Role::of("tanh"), Role::Elementwise);
    assert_eq!((Role::of("all-gather-start"), Role::of("async-done")), (Role::Start(0), Role::Done(Some(1))));
}

/// Operations of one family whose results differ: XLA's shapes say which element holds what.
#[test]
fn the_halves_of_asynchronous_operations() {
    for (opcode, role) in [
        // The shape of an `all-reduce-start` is the shape of its result, and the `-done` returns all of it.
        ("all-reduce-start", Role::Other),
        ("all-reduce-done", Role::Done(None)),
        // (operands, results, ..)
        ("all-gather-start", Role::Start(0)),
        ("all-gather-done", Role::Done(Some(1))),
        ("async-start", Role::Start(0)),
        ("async-update", Role::Update),
        // (destination, source, ..)
        ("copy-start", Role::Start(1)),
        ("copy-done", Role::Done(Some(0))),
        // (operand, .., token), and a token only; (result, .., token), and the result with a token.
        ("send", Role::Start(0)),
        ("send-done", Role::Other),
        ("recv", Role::Other),
        ("recv-done", Role::Done(Some(0))),
    ] {
        assert_eq!(Role::of(opcode), role, "{opcode}");
    }
}
