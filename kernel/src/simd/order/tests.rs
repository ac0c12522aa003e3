use super::*;

#[test]
fn each_number_comes_once() {
    for count in (0..70).chain([255, 256, 257, 1000]) {
        let mut permuted: Vec<usize> = Permuted::new(count).collect();
        let mut fours: Vec<usize> = (0..count).map(|i| in_fours(i, count, true)).collect();
        assert!(count < 5 || !permuted.is_sorted(), "{count}: {permuted:?}");
        for order in [&mut permuted, &mut fours] {
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..count), "{count}: {order:?}");
        }
    }
}

#[test]
fn four_at_a_time() {
    let order = |count, permuted| (0..count).map(|i| in_fours(i, count, permuted)).collect::<Vec<_>>();
    assert_eq!(order(10, true), [2, 3, 0, 1, 6, 7, 4, 5, 8, 9]);
    assert_eq!(order(5, false), [0, 1, 2, 3, 4]);
}

/// What prefetchers follow is a step that comes twice in a row.
#[test]
fn no_step_is_repeated() {
    let steps = |order: &[usize]| order.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect::<Vec<_>>();
    for count in [16, 64, 100, 256] {
        let permuted: Vec<usize> = Permuted::new(count).collect();
        let fours: Vec<usize> = (0..count / 4 * 4).map(|i| in_fours(i, count, true)).collect();
        for order in [permuted, fours] {
            assert!(steps(&order).windows(2).all(|pair| pair[0] != pair[1]), "{order:?}");
        }
    }
}
