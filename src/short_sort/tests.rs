use super::*;

/// Sorts short lists and long lists with many equal keys.
#[test]
fn as_the_sort_of_slices() {
    let mut state = 1_u32;
    for length in (0..30).chain([63, 64, 65, 200, 1000]) {
        for keys in [1, 2, 7, 1 << 20] {
            let mut random = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 8
            };
            let list: Vec<(u32, usize)> = (0..length).map(|place| (random() % keys, place)).collect();
            let mut expected = list.clone();
            expected.sort_by_key(|&(key, _)| key);
            let mut sorted = list;
            sort_by_key(&mut sorted, |&(key, _)| key);
            assert_eq!(sorted, expected);
        }
    }
}
