use super::*;

#[test]
fn permutations_are_permutations() {
    for number in 0..=u8::MAX {
        let mut order = permutation(number, 5);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
}
