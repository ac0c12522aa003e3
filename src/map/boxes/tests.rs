use super::*;

/// Returns all sets of ordered lists that together hold each of these dimensions once.
fn lists(dims: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let Some((&last, rest)) = dims.split_last() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for lists in lists(rest) {
        all.push([lists.clone(), vec![vec![last]]].concat());
        for (list, place) in (0..lists.len()).flat_map(|list| (0..=lists[list].len()).map(move |place| (list, place))) {
            let mut longer = lists.clone();
            longer[list].insert(place, last);
            all.push(longer);
        }
    }
    all
}

fn components(lists: &[Vec<usize>]) -> Vec<Component> {
    let of = |dims: &Vec<usize>| Component { dims: dims.iter().copied().collect(), extent: 1, chain: Chain::default() };
    lists.iter().map(of).collect()
}

/// Tests all 73 x 73 pairs of sets of lists of four dimensions. Dimensions must be linked to groups exactly
/// if one of the 24 orders has every list as a contiguous part.
#[test]
fn dimensions_are_linked_exactly_where_an_order_has_every_component_as_a_run() {
    let all = lists(&[0, 1, 2, 3]);
    assert_eq!(all.len(), 73);
    let orders: Vec<Vec<usize>> = all.iter().filter(|lists| lists.len() == 1).map(|lists| lists[0].clone()).collect();
    let has_runs = |order: &[usize], lists: &[Vec<usize>]| {
        lists.iter().all(|list| order.windows(list.len()).any(|run| run == list))
    };
    for (first, second) in all.iter().flat_map(|first| all.iter().map(move |second| (first, second))) {
        let found = linked_dims(4, &components(first), &components(second));
        let exists = orders.iter().any(|order| has_runs(order, first) && has_runs(order, second));
        assert_eq!(found.is_some(), exists, "{first:?} {second:?}");
        if let Some(groups) = found {
            let order: Vec<usize> = groups.concat();
            assert!(
                order.len() == 4 && has_runs(&order, first) && has_runs(&order, second),
                "{first:?} {second:?}: {groups:?}"
            );
        }
    }
}

/// Tests boxes with three loops of every kind, also loops of one step and loops with stride 0.
#[test]
fn the_span_of_a_box_is_that_of_its_elements() {
    let mut steps = vec![Loop::Table(vec![(5, 0), (2, 1), (9, 2)])];
    for (extent, source) in [(1, 3), (4, 3), (4, 1), (3, 0), (2, 7)] {
        steps.push(Loop::Strided { extent, source, destination: 1 });
        steps.push(Loop::Reversed { extent, source, destination: 1 });
    }
    let moves = |step: &Loop| -> Vec<i64> {
        let moved = |extent: u64, source: u64| (0..extent).map(move |i| i64::try_from(i * source).unwrap());
        match step {
            Loop::Strided { extent, source, .. } => moved(*extent, *source).collect(),
            Loop::Reversed { extent, source, .. } => moved(*extent, *source).map(|back| -back).collect(),
            Loop::Table(entries) => entries.iter().map(|&(source, _)| i64::try_from(source).unwrap()).collect(),
        }
    };
    for number in 0..steps.len().pow(3) {
        let loops: Loops =
            [number / 121, number / 11 % 11, number % 11].map(|place| steps[place].clone()).into_iter().collect();
        let mut read = vec![100_i64];
        for step in &loops {
            read = read.iter().flat_map(|at| moves(step).into_iter().map(move |moved| at + moved)).collect();
        }
        let (first, last) = (*read.iter().min().unwrap(), *read.iter().max().unwrap());
        let span = CopyBox { source: 100, destination: 0, loops }.source_span();
        assert_eq!(i64::try_from(span.start).unwrap()..i64::try_from(span.end).unwrap(), first..last + 1, "{number}");
    }
    let none =
        CopyBox { source: 7, destination: 0, loops: smallvec![Loop::Strided { extent: 0, source: 3, destination: 1 }] };
    assert!(none.source_span().is_empty());
}

#[test]
fn loops_in_order_are_tables_and_then_falling_strides_with_neighbours_merged() {
    let strided = |extent, source, destination| Loop::Strided { extent, source, destination };
    let table = Loop::Table(vec![(0, 0), (3, 1)]);
    let loops = smallvec![strided(5, 1, 2), strided(2, 40, 100), table.clone(), strided(4, 5, 10)];
    let ordered = CopyBox { source: 1, destination: 2, loops }.in_order();
    assert_eq!((ordered.source, ordered.destination), (1, 2));
    assert_eq!(ordered.loops.as_slice(), [table, strided(2, 40, 100), strided(20, 1, 2)]);
}

#[test]
fn every_dimension_has_a_segment_for_its_whole_blocks_and_one_for_its_rest() {
    for (sizes, tile, segments, boxes) in [([4, 6], "2,3", 2, 1), ([5, 6], "2,3", 3, 2), ([5, 7], "2,3", 4, 4)] {
        let sizes = format!("u8[{},{}]", sizes[0], sizes[1]);
        let tiled = super::super::tests::map(&format!("{sizes}{{1,0:T({tile})}}"));
        let found = BoxGroups::new(&super::super::tests::map(&sizes), &tiled, &[]).unwrap();
        assert_eq!((found.segments.list.len(), found.count()), (segments, boxes), "{sizes}");
        assert_eq!(found.iter().count(), usize::try_from(boxes).unwrap());
    }
}
