use super::*;
use crate::element::DataType;
use crate::strided::axis_list::AxisList;

/// Returns the broken invariant of 2 x 3 elements of 4 bytes in rows of 5 elements, after a change.
fn after(change: impl FnOnce(&mut BufferTensorDesc)) -> String {
    let mut desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1])).unwrap();
    change(&mut desc);
    desc.broken_invariant().unwrap_or_default()
}

#[test]
#[allow(clippy::indexing_slicing, reason = "a test that panics has failed")]
fn every_broken_invariant_is_found() {
    assert_eq!(after(|_| {}), "");
    let uneven = AxisList::Boxed(Box::new((vec![1; 10], vec![0; 9])));
    assert_eq!(after(|desc| desc.axes = uneven), "1: 9 strides for 10 sizes");
    assert!(after(|desc| desc.axes.both_mut().0.fill(u64::MAX)).starts_with("2: the product"));
    assert!(after(|desc| desc.axes.both_mut().0[0] = 3).starts_with("2: 6 elements are 9"));
    assert!(after(|desc| desc.elements = 0).starts_with("2: 0 elements"));
    assert!(after(|desc| desc.axes.both_mut().1[0] = 6).starts_with("3: the last element ends at 9, not at 8"));
    assert!(after(|desc| desc.axes.both_mut().1[0] = u64::MAX).starts_with("3:"));
    assert!(
        after(|desc| desc.base_offset = 1).starts_with("3:") && after(|desc| desc.span_elements = 9).starts_with("3:")
    );
    let far = |desc: &mut BufferTensorDesc| (desc.base_offset, desc.span_elements) = (1 << 62, (1 << 62) + 8);
    assert!(after(far).starts_with("3: the size in bytes"));
    assert!(
        after(|desc| desc.larger_total = 28).starts_with("4:")
            && after(|desc| desc.larger_total = 34).starts_with("4:")
    );
    assert!(after(|desc| desc.larger_total = 32).starts_with("4:"), "the least total is not a larger one");
    assert!(after(|desc| desc.larger_total = 36).is_empty());
    assert!(after(|desc| desc.base_offset_alignment = 2).starts_with("5:"));
    assert!(after(|desc| desc.base_offset_alignment = 24).starts_with("5:"));
    assert!(after(|desc| desc.base_offset_alignment = 16).is_empty());
}
