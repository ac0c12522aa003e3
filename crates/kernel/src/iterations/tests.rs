use super::*;

#[test]
fn iterations_come_in_the_order_of_the_loops() {
    let strided = |extent, source, destination| NestLoop::Strided(Stride { extent, source, destination });
    let loops = [strided(2, 100, 1000), NestLoop::Table(vec![(7, 70), (0, 20), (9, 0)]), strided(2, 1, 2)];
    let mut expected = Vec::new();
    for a in 0..2 {
        for (from, to) in [(7, 70), (0, 20), (9, 0)] {
            for c in 0..2 {
                expected.push((5 + 100 * a + from + c, 3 + 1000 * a + to + 2 * c));
            }
        }
    }
    let mut iterations = Iterations::new(&loops, (5, 3));
    assert_eq!(iterations.by_ref().collect::<Vec<_>>(), expected);
    assert_eq!(iterations.next(), None);
    assert_eq!(Iterations::new(&[], (5, 3)).collect::<Vec<_>>(), [(5, 3)]);
    assert_eq!(Iterations::new(&loops[..2], (0, 0)).count(), 6);
}
