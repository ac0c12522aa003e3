use super::*;

#[test]
fn every_rank_holds_what_was_put_in() {
    for rank in 0..12_u64 {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = (0..rank).map(|axis| (axis + 2, 100 - axis)).unzip();
        let list = AxisList::new(&sizes, &strides);
        let pushed: AxisList = sizes.iter().copied().zip(strides.iter().copied()).collect();
        for mut list in [list.clone(), pushed] {
            assert_eq!((list.sizes(), list.strides()), (&sizes[..], &strides[..]));
            assert_eq!(matches!(list, AxisList::Boxed(_)), rank > 8);
            let (own_sizes, own_strides) = list.both_mut();
            assert_eq!((&*own_sizes, &*own_strides), (&sizes[..], &strides[..]));
        }
    }
}
