use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn literal((desc, at): (&BufferTensorDesc, u64), unit: u64) -> BTreeSet<u64> {
    let bits = u64::from(desc.data_type().bits());
    let of_element = |offset| (0..bits).map(move |bit| (8 * at + offset * bits + bit) / (8 * unit));
    desc.offsets().flat_map(of_element).collect()
}

fn any_desc() -> impl Strategy<Value = BufferTensorDesc> {
    let axes = proptest::collection::vec((0..6_u64, 0..30_u64), 0..4);
    let types = vec![DataType::U1, DataType::S2, DataType::U4, DataType::F16, DataType::F32];
    (axes, 0..40_u64, proptest::sample::select(types)).prop_map(|(axes, base, data_type)| {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_unit_is_shared_exactly_if_some_bits_of_both_lie_in_it(
        a in any_desc(),
        b in any_desc(),
        at in (0..20_u64, 0..20_u64),
        unit in proptest::sample::select(vec![1, 2, 4, 16_u64]),
    ) {
        let (a, b) = ((&a, at.0), (&b, at.1));
        let (first, second) = (literal(a, unit), literal(b, unit));
        let common: BTreeSet<u64> = first.intersection(&second).map(|number| number * unit).collect();
        match shared_unit(a, b, unit) {
            Shared::No => prop_assert!(common.is_empty()),
            Shared::Byte(byte) => prop_assert!(common.contains(&byte), "{byte} not in {common:?}"),
            // Few tensors have axes that repeat offsets. Most tensors of this test must be decided.
            Shared::Undecided => prop_assume!(false, "too hard"),
        }
    }
}
