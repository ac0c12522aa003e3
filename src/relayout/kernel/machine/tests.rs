use super::*;

#[test]
fn a_machine_is_one_that_can_be() {
    let Machine { traits, .. } = Machine::this();
    assert!((8 << 10..=1 << 20).contains(&traits.l1) && (2..=64).contains(&traits.l1_ways), "{traits:?}");
    assert!(traits.l2 >= traits.l1 && traits.line.is_power_of_two(), "{traits:?}");
}
