use super::*;
use crate::kernel::Offsets;

#[test]
fn iterations_come_in_the_order_of_the_loops() {
    let strided = |extent, source, destination| Loop::Strided(Stride { extent, source, destination });
    let loops = [strided(2, 100, 1000), Loop::Table(Offsets(vec![(7, 70), (0, 20), (9, 0)])), strided(2, 1, 2)];
    let mut expected = Vec::new();
    for a in 0..2 {
        for (from, to) in [(7, 70), (0, 20), (9, 0)] {
            for c in 0..2 {
                expected.push((5 + 100 * a + from + c, 3 + 1000 * a + to + 2 * c));
            }
        }
    }
    let mut odometer = Odometer::new(&loops, (5, 3));
    assert_eq!(odometer.by_ref().collect::<Vec<_>>(), expected);
    assert_eq!(odometer.next(), None);
    // The strides of either side may be negative.
    let down = [strided(3, 1, -2), strided(2, -10, 20)];
    let offsets: Vec<_> = Odometer::new(&down, (10, 4)).collect();
    assert_eq!(offsets, [(10, 4), (0, 24), (11, 2), (1, 22), (12, 0), (2, 20)]);
    assert_eq!(Odometer::new(&[], (5, 3)).collect::<Vec<_>>(), [(5, 3)]);
    assert_eq!(Odometer::new(&loops[..2], (0, 0)).count(), 6);
}
