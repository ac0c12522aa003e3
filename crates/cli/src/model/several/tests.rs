use super::*;

#[test]
fn results_come_in_order_and_the_first_failure_stops_the_rest() {
    let items: Vec<usize> = (0..100).collect();
    for threads in [1, 2, 7, 200] {
        let doubled = at_once(&items, threads, |&item| Ok(2 * item)).unwrap();
        assert!(doubled.iter().enumerate().all(|(place, &result)| result == 2 * place));
        let begun = AtomicUsize::new(0);
        let failing = |&item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if item < 3 { Err(Stop::Unusable(item.to_string())) } else { Ok(()) }
        };
        assert!(matches!(at_once(&items, threads, failing), Err(Stop::Unusable(_))));
        assert!(threads > 50 || begun.into_inner() < 50, "{threads} threads went on");
    }
}
