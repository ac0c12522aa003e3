use super::*;

impl Chain {
    /// Makes a chain of these digits without normalising it.
    pub(in crate::map) fn as_it_is(digits: impl IntoIterator<Item = Digit>) -> Chain {
        Chain(digits.into_iter().collect())
    }
}

fn chain(digits: &[(u64, u64)], extent: u64) -> Chain {
    let digits = digits.iter().map(|&(divisor, stride)| Digit::new(NonZeroU64::new(divisor).unwrap(), stride));
    Chain::normalised(digits.collect::<Vec<_>>().into_iter(), extent)
}

#[test]
fn the_largest_value_is_that_of_a_search() {
    for digits in [&[(4, 1), (1, 3)][..], &[(6, 32), (4, 8), (1, 1)], &[(6, 12), (4, 100), (1, 1)], &[(5, 0), (1, 7)]] {
        for extent in 1..40 {
            let chain = chain(digits, extent);
            let searched = (0..extent).map(|u| chain.at(u)).max().unwrap();
            assert_eq!(chain.largest(extent), searched, "{digits:?} on 0..{extent}");
        }
    }
}

#[test]
fn a_cut_exists_exactly_when_the_values_separate() {
    for digits in [&[(12, 64), (4, 16), (1, 1)][..], &[(1, 5)], &[(6, 32), (4, 8), (1, 1)], &[(3, 6), (1, 1)]] {
        let extent = 36;
        let chain = chain(digits, extent);
        for width in (1..=extent).filter(|w| extent % w == 0) {
            let separates = (0..extent).all(|u| chain.at(u) == chain.at(u - u % width) + chain.at(u % width));
            let cut = chain.cut(NonZeroU64::new(width).unwrap());
            // `cut` may return `None` for a chain that separates only because the extent is too small for a
            // carry into the top digit.
            assert!(cut.is_none() || separates, "{digits:?} at {width}");
            if let Some((high, low)) = cut {
                let high = Chain::normalised(high.into_iter(), extent / width);
                let low = Chain::normalised(low.into_iter(), width);
                for u in 0..extent {
                    assert_eq!(chain.at(u), high.at(u / width) + low.at(u % width));
                }
            }
        }
    }
}
