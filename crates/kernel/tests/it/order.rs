//! The scattered order of lines and blocks. The crate does not export it, so its file is compiled into the
//! tests.

#[path = "../../src/simd/order.rs"]
#[allow(dead_code, reason = "`opaque` is for kernels")]
mod scattered;

use scattered::Scattered;

#[test]
fn each_number_comes_once() {
    for count in (0..70).chain([255, 256, 257, 1000]) {
        let mut scattered: Vec<usize> = Scattered::new(count).collect();
        assert!(count < 5 || !scattered.is_sorted(), "{count}: {scattered:?}");
        scattered.sort_unstable();
        assert!(scattered.iter().copied().eq(0..count), "{count}: {scattered:?}");
    }
}

/// A prefetcher follows a stride that comes twice in succession.
#[test]
fn no_step_is_repeated() {
    let steps = |order: &[usize]| order.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect::<Vec<_>>();
    for count in [16, 64, 100, 256] {
        let scattered: Vec<usize> = Scattered::new(count).collect();
        assert!(steps(&scattered).windows(2).all(|pair| pair[0] != pair[1]), "{scattered:?}");
    }
}
