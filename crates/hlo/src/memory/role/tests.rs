use super::*;

#[test]
fn elementwise_operations_are_known() {
    assert_eq!(ELEMENTWISE.len(), 48);
    assert_eq!((Role::of("bitcast-convert"), Role::of("copy")), (Role::Elementwise, Role::Copy));
    assert_eq!(Role::of("tanh"), Role::Elementwise);
    assert_eq!((Role::of("all-gather-start"), Role::of("async-done")), (Role::Start(0), Role::Done(Some(1))));
}

/// XLA's shapes say which element of the result holds the operands, and which holds the results.
#[test]
fn the_halves_of_asynchronous_operations() {
    for (opcode, role) in [
        // An `all-reduce-start` has the shape of the result, and `all-reduce-done` returns all of it.
        ("all-reduce-start", Role::Other),
        ("all-reduce-done", Role::Done(None)),
        // An `all-gather-start` returns (operands, results, ..).
        ("all-gather-start", Role::Start(0)),
        ("all-gather-done", Role::Done(Some(1))),
        ("async-start", Role::Start(0)),
        ("async-update", Role::Update),
        // A `copy-start` returns (destination, source, ..).
        ("copy-start", Role::Start(1)),
        ("copy-done", Role::Done(Some(0))),
        // A `send` returns (operand, .., token) and its end a token. A `recv` returns (result, .., token) and
        // its end the result with a token.
        ("send", Role::Start(0)),
        ("send-done", Role::Other),
        ("recv", Role::Other),
        ("recv-done", Role::Done(Some(0))),
    ] {
        assert_eq!(Role::of(opcode), role, "{opcode}");
    }
}
