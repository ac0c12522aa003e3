//! The number of transfers against the least number, found by brute force.
//!
//! All pairs of axis orders, rows padded by 0 or 1, or one tile of 2, with at most 24 elements. For each pair
//! and each number of loops, all sets of elements that one transfer can move are listed, and the fewest sets
//! that cover all elements are searched for. Sets may overlap here, so the least number is not above that of
//! any list.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use tensor_layout_transfers::{TransferLimits, transfers};

use super::literal::{copied, map, moved};

/// What one transfer moves, without its start: the length of its run, and its loops.
type Shape = (usize, Vec<(usize, i64, i64)>);

/// The places of a shape: its first element, and all its elements as bits.
type Places = BTreeMap<usize, u32>;

#[test]
fn of_small_cases() {
    let sizes: [&[usize]; 8] = [&[2, 3], &[3, 5], &[4, 6], &[5, 4], &[3, 7], &[2, 3, 4], &[3, 2, 3], &[2, 2, 5]];
    let (mut sum, mut cases, mut worst) = ([0.0; 3], 0, (0.0, String::new()));
    for sizes in sizes {
        let layouts = layouts(sizes);
        for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (from, to))) {
            let (source, destination) = (map(from), map(to));
            let elements = copied(&source, &destination);
            let points: Vec<(i64, i64)> = elements.iter().map(|(&to, &from)| (from as i64, to as i64)).collect();
            for (loops, sum) in sum.iter_mut().enumerate() {
                let list = transfers(&source, &destination, &TransferLimits::with_loops(loops)).unwrap();
                assert_eq!(moved(&list), elements, "{from} -> {to}");
                assert_eq!(list.iter().count() as u64, list.count(), "{from} -> {to}");
                assert!(list.iter().all(|transfer| transfer.loops.len() <= loops));
                let least = least(&points, loops);
                let ratio = list.count() as f64 / least as f64;
                *sum += ratio;
                if loops == 0 {
                    assert_eq!(list.count(), least as u64, "{from} -> {to}");
                }
                if ratio > worst.0 {
                    worst = (ratio, format!("{from} -> {to}, {loops} loops: {} of {least}", list.count()));
                }
                if std::env::var("PRINT_RATIOS").is_ok() && ratio > 1.0 {
                    println!("{ratio:.2} {from} -> {to}, {loops} loops: {} of {least}", list.count());
                }
            }
            cases += 1;
        }
    }
    let means = sum.map(|sum| sum / f64::from(cases));
    println!("{cases} pairs; mean over the least for 0, 1 and 2 loops: {means:.3?}; worst {:.2}: {}", worst.0, worst.1);
    assert!(means.iter().sum::<f64>() / 3.0 <= 1.05 && worst.0 <= 2.0);
}

/// All axis orders of these sizes: packed, with rows padded by one element, and in tiles of 2.
fn layouts(sizes: &[usize]) -> Vec<String> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in 0..sizes.len() {
        let insert = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).map(move |place| [&order[..place], &[axis], &order[place..]].concat())
        };
        orders = orders.iter().flat_map(insert).collect();
    }
    let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    orders
        .iter()
        .flat_map(|order| {
            let strided = [0, 1].map(|padding| {
                let (mut strides, mut next) = (vec![0; sizes.len()], 1);
                for (depth, &axis) in order.iter().enumerate() {
                    strides[axis] = next;
                    next = next * sizes[axis] + if depth == 0 { padding } else { 0 };
                }
                format!("u8[{}]:[{}]", list(sizes), list(&strides))
            });
            // The first tile pads rows, the second interleaves two of them.
            let tiled = ["T(2)", "T(2,1)"].map(|tile| format!("u8[{}]{{{}:{tile}}}", list(sizes), list(order)));
            strided.into_iter().chain(tiled)
        })
        .collect()
}

fn least(points: &[(i64, i64)], loops: usize) -> usize {
    let place = |point: (i64, i64)| points.binary_search_by_key(&(point.1, point.0), |&(a, b)| (b, a)).ok();
    let mut shapes: BTreeMap<Shape, Places> = BTreeMap::new();
    for (start, &(from, to)) in points.iter().enumerate() {
        let mut mask = 0;
        for (length, place) in (0..).map_while(|step| place((from + step, to + step))).enumerate() {
            mask |= 1_u32 << place;
            shapes.entry((length + 1, Vec::new())).or_default().insert(start, mask);
        }
    }
    let mut sets: HashSet<u32> = shapes.values().flat_map(|places| places.values().copied()).collect();
    for depth in 0..loops {
        let mut longer: BTreeMap<Shape, Places> = BTreeMap::new();
        for (shape, places) in &shapes {
            for (&first, &second) in places.keys().flat_map(|a| places.keys().map(move |b| (a, b))) {
                let (a, b) = (points[first], points[second]);
                let stride = (b.0 - a.0, b.1 - a.1);
                let (mut mask, mut at, mut count) = (0, a, 0);
                while let Some(more) = (stride.1 > 0).then(|| place(at)).flatten().and_then(|start| places.get(&start))
                {
                    if mask & more != 0 {
                        break;
                    }
                    (mask, at, count) = (mask | more, (at.0 + stride.0, at.1 + stride.1), count + 1);
                    if depth + 1 < loops && count > 1 {
                        let mut all = shape.1.clone();
                        all.push((count, stride.0, stride.1));
                        longer.entry((shape.0, all)).or_default().insert(first, mask);
                    }
                }
                sets.insert(mask);
            }
        }
        shapes = longer;
    }
    fewest(&sets, points.len())
}

/// The fewest sets that cover all elements.
fn fewest(sets: &HashSet<u32>, elements: usize) -> usize {
    let mut sorted: Vec<u32> = sets.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    sorted.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
    let mut largest: Vec<u32> = Vec::new();
    for set in sorted {
        if !largest.iter().any(|&other| set & other == set) {
            largest.push(set);
        }
    }
    let all = u32::MAX >> (32 - elements);
    (1..).find(|&most| covers(&largest, all, most)).unwrap()
}

fn covers(sets: &[u32], open: u32, most: usize) -> bool {
    if open == 0 {
        return true;
    }
    let largest = sets.iter().map(|set| (set & open).count_ones()).max().unwrap_or(0);
    if largest as usize * most < open.count_ones() as usize {
        return false;
    }
    // The element that the fewest sets hold.
    let bits = (0..32).map(|place| 1_u32 << place).filter(|bit| open & bit != 0);
    let bit = bits.min_by_key(|bit| sets.iter().filter(|&set| set & bit != 0).count()).unwrap();
    sets.iter().filter(|&set| set & bit != 0).any(|set| covers(sets, open & !set, most - 1))
}
