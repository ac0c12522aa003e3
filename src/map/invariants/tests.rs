use super::*;
use crate::element::DataType;

/// Returns a map of two dimensions: 4 rows, 6 elements apart, and columns in 2 blocks of 3, 24 elements
/// apart.
fn map() -> IndexMap {
    IndexMap::from_pairs(DataType::U8, 8, &[vec![(4, 6)], vec![(2, 24), (3, 1)]]).unwrap()
}

/// Returns the message about the broken invariant of a map after a change.
fn after(change: impl FnOnce(&mut IndexMap)) -> String {
    let mut map = map();
    change(&mut map);
    map.broken_invariant().unwrap_or_default()
}

fn chain(digits: &[(u64, u64)]) -> Chain {
    let digits =
        digits.iter().map(|&(divisor, stride)| crate::map::Digit::new(NonZeroU64::new(divisor).unwrap(), stride));
    Chain::as_it_is(digits)
}

#[test]
#[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
fn every_broken_invariant_is_found() {
    assert_eq!(map().broken_invariant(), None);
    assert!(after(|map| map.physical_elements = 44).starts_with("1: an element is at offset 44"));
    assert!(after(|map| map.physical_elements = u64::MAX).is_empty());
    assert!(after(|map| (map.physical_elements, map.element_bits) = (u64::MAX, 32)).starts_with("1: the physical"));
    assert!(after(|map| map.base = 1).starts_with("1:"));
    assert!(after(|map| map.sizes[0] = 0).starts_with("3: an empty"));
    assert!(after(|map| map.sizes[0] = 1).starts_with("3: dimension 0"));
    assert!(after(|map| map.sizes[0] = 5).starts_with("3: the extent"), "an extent is the product of the sizes");
    assert!(after(|map| map.components[1].extent = 7).starts_with("3: the extent"));
    assert!(after(|map| map.components[1].dims[0] = 0).starts_with("3: dimension 0"));
    assert!(after(|map| map.components[1].dims[0] = 2).starts_with("3: dimension 2"));
    assert!(after(|map| map.components.swap(0, 1)).starts_with("3: the components are not sorted"));
    assert!(after(|map| drop(map.components.pop())).starts_with("3: dimension 1 is in no component"));
    let with = |digits: &[(u64, u64)]| after(|map| map.components[1].chain = chain(digits));
    assert!(with(&[(6, 1), (1, 1)]).starts_with("2: the divisors"));
    assert!(with(&[(2, 1), (3, 2), (1, 1)]).starts_with("2: the divisors"));
    assert!(with(&[(3, 3), (1, 1)]).starts_with("2: a boundary"));
    assert!(with(&[(3, 24)]).starts_with("2:") && with(&[]).starts_with("2:"));
    assert!(with(&[(4, 24), (3, 5), (1, 1)]).is_empty(), "a ragged chain is a chain");
    assert_eq!(broken_chain(&Chain::default(), 1), None, "one number has no digits");
    // One component holds both dimensions, 4 x 6 indices. In blocks of 5 the dimensions cannot be separated.
    // In blocks of 6 they can, so two components would be required.
    let join = |digits: &[(u64, u64)]| {
        after(|map| {
            let joined = Component { dims: [0, 1].into_iter().collect(), extent: 24, chain: chain(digits) };
            map.components = vec![joined];
        })
    };
    assert!(join(&[(5, 6), (1, 1)]).is_empty());
    assert!(join(&[(6, 7), (1, 1)]).starts_with("3: the dimensions [0, 1] separate at 1"));
}

#[test]
fn every_broken_invariant_of_tile_levels_is_found() {
    let after = |change: &dyn Fn(&mut IndexMap)| {
        let mut map = super::super::tests::map("u8[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}");
        change(&mut map);
        map.broken_invariant().unwrap_or_default()
    };
    assert_eq!(after(&|_| {}), "");
    assert_eq!(after(&|map| map.physical_elements += 1), "", "there may be more after the tiles");
    assert!(after(&|map| map.physical_elements -= 1).starts_with("1: the tiles"));
    assert!(after(&|map| map.base = 1).starts_with("1: the tiles"));
    let order = |order: &[usize]| after(&|map| map.levels.as_mut().unwrap().order = order.iter().copied().collect());
    assert_eq!(order(&[2, 0, 1]), "");
    for other in [&[0, 1][..], &[0, 1, 2, 3], &[0, 1, 1], &[0, 1, 3]] {
        assert!(order(other).starts_with("3: the tile levels name"), "{other:?}");
    }
}

#[test]
#[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
fn every_broken_invariant_of_boxes_is_found() {
    let packed = IndexMap::from_pairs(DataType::U8, 8, &[vec![(4, 6)], vec![(6, 1)]]).unwrap();
    let after = |change: &dyn Fn(&mut BoxGroups)| {
        let mut boxes = BoxGroups::new(&packed, &map(), &[0]).unwrap();
        change(&mut boxes);
        boxes.broken_invariant(&packed, &map()).unwrap_or_default()
    };
    let set = |at: usize, step: Loop| after(&move |boxes| boxes.segments.list[at].loops[0] = step.clone());
    assert_eq!(after(&|_| {}), "");
    assert_eq!(set(0, Loop::Reversed { extent: 4, source: 6, destination: 6 }), "");
    assert!(set(0, Loop::Reversed { extent: 3, source: 6, destination: 6 }).starts_with("1: the boxes have 18"));
    assert!(
        set(0, Loop::Reversed { extent: 4, source: 7, destination: 6 }).starts_with("2:"),
        "in front of the source"
    );
    assert!(set(0, Loop::Strided { extent: 4, source: 6, destination: 6 }).starts_with("2:"), "after the source");
    assert!(set(0, Loop::Reversed { extent: 4, source: 6, destination: 7 }).starts_with("2:"));
    assert!(set(0, Loop::Reversed { extent: 4, source: 0, destination: 6 }).starts_with("3:"));
    assert!(set(0, Loop::Table(Vec::new())).starts_with("3:"));
    // The box begins at the last row of the source, so a table with larger source offsets reads past the end.
    let table = |source: u64, destination| Loop::Table(vec![(0, 0), (source, 0), (0, destination), (0, 0)]);
    assert!(set(0, table(1, 0)).starts_with("2:") && set(0, table(0, 19)).starts_with("2:"));
    assert_eq!(set(0, table(0, 18)), "");
    assert!(
        after(&|boxes| boxes.source += 1).starts_with("2:") && after(&|boxes| boxes.destination += 1).starts_with("2:")
    );
}
