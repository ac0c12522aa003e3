//! Every view operation against the same operation on an ndarray of offsets, and every refusal of a
//! reshape or a fold against brute force.

use crate::literal::cases;
use ndarray::{ArrayD, Axis, IxDyn, SliceInfoElem};
use proptest::prelude::*;
use tensor_layout::map::same_layout;
use tensor_layout::strided::{NewAxes, Slice};
use tensor_layout::{BufferTensorDesc, DataType};

/// The offset of every index, straight from the definition.
fn offsets(desc: &BufferTensorDesc) -> ArrayD<u64> {
    let shape: Vec<usize> = desc.sizes().iter().map(|&n| n as usize).collect();
    ArrayD::from_shape_fn(IxDyn(&shape), |index| {
        let dot: u64 = (0..desc.rank()).map(|axis| index[axis] as u64 * desc.strides()[axis]).sum();
        desc.base_offset() + dot
    })
}

fn sizes_of(array: &ArrayD<u64>) -> Vec<u64> {
    array.shape().iter().map(|&n| n as u64).collect()
}

fn assert_same(view: &BufferTensorDesc, expected: &ArrayD<u64>) {
    assert_eq!(view.sizes(), sizes_of(expected), "{view}");
    assert_eq!(&offsets(view), expected, "{view}");
}

/// Whether some strides give these offsets, in row-major order, for these sizes. The strides are forced: each
/// stride is the distance of one step along its axis.
fn view_exists(offsets: &[u64], sizes: &[u64]) -> bool {
    let at = |u: u64| offsets[usize::try_from(u).unwrap()] as i64;
    (0..offsets.len() as u64).all(|u| {
        let mut below = 1;
        let mut sum = at(0);
        for &size in sizes.iter().rev() {
            if size > 1 {
                sum += (at(below) - at(0)) * ((u / below % size) as i64);
            }
            below *= size;
        }
        sum == at(u)
    })
}

fn desc(max_rank: usize, min_size: u64) -> impl Strategy<Value = BufferTensorDesc> {
    let axis = (min_size..5, prop_oneof![0..4_u64, 0..30_u64, Just(1)]);
    let axes = proptest::collection::vec(axis, 0..=max_rank);
    (axes, 0..20_u64, 0..4_u32, any::<u64>()).prop_map(|(axes, base, kind, order)| {
        let (sizes, mut strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        if kind > 0 && !sizes.is_empty() {
            // The tensor is packed in a shuffled memory order, so that many axes can be joined. Kind 2 pads
            // the rows.
            let mut order_of: Vec<usize> = (0..sizes.len()).collect();
            if kind == 3 {
                let turn = (order % sizes.len() as u64) as usize;
                order_of.rotate_left(turn);
            }
            let mut next = if kind == 2 { 1 + order % 3 } else { 1 };
            for &axis in order_of.iter().rev() {
                strides[axis] = next;
                next *= sizes[axis].max(1);
            }
        }
        let desc = BufferTensorDesc::new(DataType::F32, &sizes, Some(&strides)).unwrap();
        desc.with_base_offset(base).unwrap()
    })
}

/// All ways to write `n` as a product of up to `left` factors, ones included.
fn factorings(n: u64, left: usize) -> Vec<Vec<u64>> {
    let mut all = if n == 1 { vec![vec![]] } else { vec![] };
    if left > 0 {
        for first in (1..=n).filter(|f| n.is_multiple_of(*f)) {
            for mut rest in factorings(n / first, left - 1) {
                rest.insert(0, first);
                all.push(rest);
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn permute_moves_axes(desc in desc(4, 0), seed in any::<u64>()) {
        let rank = desc.rank();
        let mut axes: Vec<usize> = (0..rank).collect();
        for i in 0..rank {
            axes.swap(i, i + (seed >> (8 * i)) as usize % (rank - i));
        }
        let expected = offsets(&desc).permuted_axes(IxDyn(&axes)).as_standard_layout().into_owned();
        assert_same(&desc.permute(&axes).unwrap(), &expected);
    }

    #[test]
    fn transpose_exchanges_two_axes(desc in desc(4, 0), first in 0..4_usize, second in 0..4_usize) {
        let (rank, mut order) = (desc.rank(), (0..desc.rank()).collect::<Vec<_>>());
        if first.max(second) >= rank {
            prop_assert_eq!(desc.transpose(first, second).unwrap_err().code(), "axis_out_of_range");
            return Ok(());
        }
        order.swap(first, second);
        let view = desc.transpose(first, second).unwrap();
        prop_assert_eq!(&view, &desc.permute(&order).unwrap());
        let mut swapped = offsets(&desc);
        swapped.swap_axes(first, second);
        assert_same(&view, &swapped.as_standard_layout().into_owned());
    }

    #[test]
    fn slice_keeps_the_offsets_of_its_indices(desc in desc(3, 0), raw in proptest::collection::vec((0..5_u64, 0..5_u64, 1..4_u64), 3)) {
        let slices: Vec<Slice> = desc.sizes().iter().zip(&raw).map(|(&size, &(a, b, step))| {
            let (a, b) = (a.min(size), b.min(size));
            Slice::from(a.min(b)..a.max(b)).step_by(step)
        }).collect();
        let info: Vec<SliceInfoElem> = slices.iter().map(|s| SliceInfoElem::Slice {
            start: s.start as isize, end: s.end.map(|e| e as isize), step: s.step as isize,
        }).collect();
        let expected = offsets(&desc).slice(info.as_slice()).to_owned();
        let view = desc.slice(&slices).unwrap();
        assert_eq!(view.sizes(), sizes_of(&expected));
        if !expected.is_empty() {
            assert_same(&view, &expected);
            assert_eq!(view.span_elements(), expected.iter().max().unwrap() + 1);
        }
    }

    #[test]
    fn select_keeps_one_index(desc in desc(3, 0)) {
        for axis in 0..desc.rank() {
            let size = desc.sizes()[axis];
            for index in 0..size {
                let one = offsets(&desc).index_axis(Axis(axis), index as usize).to_owned();
                assert_eq!(desc.select(axis, index).unwrap().sizes(), sizes_of(&one));
                if !one.is_empty() {
                    assert_same(&desc.select(axis, index).unwrap(), &one);
                }
            }
            assert_eq!(desc.select(axis, size).unwrap_err().code(), "index_out_of_range");
        }
    }

    #[test]
    fn broadcast_to_repeats_elements(desc in desc(3, 1), front in proptest::collection::vec(1..4_u64, 0..2), times in 1..4_u64) {
        let mut sizes = front;
        sizes.extend(desc.sizes().iter().map(|&n| if n == 1 { times } else { n }));
        let shape: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
        let expected = offsets(&desc).broadcast(IxDyn(&shape)).unwrap().to_owned();
        assert_same(&desc.broadcast_to(&sizes).unwrap(), &expected);
        if let Some(axis) = desc.sizes().iter().position(|&n| n > 1) {
            let axis_in_wide = axis + sizes.len() - desc.rank();
            sizes[axis_in_wide] += 1;
            assert_eq!(desc.broadcast_to(&sizes).unwrap_err().code(), "size_mismatch");
        }
    }

    #[test]
    fn reshape_is_a_view_exactly_when_one_exists(desc in desc(4, 1)) {
        let all = offsets(&desc);
        let flat: Vec<u64> = all.iter().copied().collect();
        for sizes in factorings(desc.element_count(), 4).into_iter().take(150) {
            match desc.reshape(&sizes) {
                Ok(view) => {
                    assert_eq!(view.sizes(), sizes);
                    assert_eq!(offsets(&view).iter().copied().collect::<Vec<_>>(), flat, "{desc} -> {view}");
                }
                Err(error) => {
                    assert_eq!(error.code(), "not_a_view");
                    assert!(!view_exists(&flat, &sizes), "{desc} -> {sizes:?}: {error}");
                }
            }
        }
    }

    #[test]
    fn coalesce_keeps_the_order_of_offsets(desc in desc(4, 1)) {
        let flat: Vec<u64> = offsets(&desc).iter().copied().collect();
        let few = desc.coalesce();
        assert_eq!(offsets(&few).iter().copied().collect::<Vec<_>>(), flat);
        assert!(!few.sizes().contains(&1));
        for axis in 1..few.rank() {
            let mut joined = few.sizes().to_vec();
            let size = joined.remove(axis);
            joined[axis - 1] *= size;
            assert!(!view_exists(&flat, &joined), "{desc} -> {few} could be {joined:?}");
        }
    }

    #[test]
    fn rank_at_least_adds_axes_of_size_1(desc in desc(3, 0), rank in 0..6_usize, back in any::<bool>()) {
        let view = desc.rank_at_least(rank, if back { NewAxes::Back } else { NewAxes::Front });
        let mut sizes = desc.sizes().to_vec();
        while sizes.len() < rank {
            sizes.insert(if back { sizes.len() } else { 0 }, 1);
        }
        prop_assert_eq!(view.sizes(), &sizes[..]);
        prop_assert!(offsets(&view).iter().eq(offsets(&desc).iter()));
    }

    #[test]
    fn reinterpreted_bytes_are_the_same_bytes(desc in desc(3, 1)) {
        match desc.reinterpret(DataType::F16) {
            Ok(halves) => {
                let expected: Vec<u64> = offsets(&desc).iter().flat_map(|&o| [2 * o, 2 * o + 1]).collect();
                assert_eq!(offsets(&halves).iter().copied().collect::<Vec<_>>(), expected);
                assert!(same_layout(&halves.reinterpret(DataType::F32).unwrap(), &desc).unwrap());
                assert_eq!(halves.min_size_in_bytes(), desc.min_size_in_bytes());
            }
            Err(_) => assert!(desc.rank() == 0 || desc.sizes().last() > Some(&1) && desc.strides().last() != Some(&1)),
        }
    }
}

#[test]
fn refusals_name_the_axis_and_the_reason() {
    let desc = BufferTensorDesc::new(DataType::F32, &[2, 3, 4], Some(&[1, 2, 6])).unwrap();
    let sentence = |result: Result<BufferTensorDesc, tensor_layout::Error>| result.unwrap_err().to_string();
    assert_eq!(
        sentence(desc.reshape(&[6, 4])),
        "a reshape is not possible without moving data: axis 0 has stride 1, but joined to the axes after it, it \
         would need 6"
    );
    assert_eq!(sentence(desc.reshape(&[5, 4])), "the new sizes hold 20 elements, but there are 24");
    assert_eq!(sentence(desc.reshape(&[1_u64 << 40, 1 << 40])), "the number of elements does not fit into 64 bits");
    assert_eq!(sentence(desc.permute(&[0, 1, 0])), "the order of axes names axis 0 a second time, at position 2");
    assert_eq!(sentence(desc.slice_axis(1, 2..4)), "index 3 on axis 1 is out of range: its size is 3");
    assert_eq!(
        sentence(desc.reinterpret(DataType::F16)),
        "reading the bytes as another type is not possible without moving data: axis 2 has stride 12, but joined to \
         the axes after it, it would need 2"
    );
    assert_eq!(sentence(desc.reinterpret(DataType::F64)).matches("axis 2").count(), 1);
    let odd = BufferTensorDesc::packed(DataType::F16, &[3, 3]).unwrap();
    assert!(sentence(odd.reinterpret(DataType::F32)).contains("axis 1 has size 3"));
    let shifted = BufferTensorDesc::packed(DataType::F16, &[4]).unwrap().with_base_offset(1).unwrap();
    assert!(sentence(shifted.reinterpret(DataType::F32)).contains("begins at element 1"));
    let pitched = BufferTensorDesc::new(DataType::F16, &[2, 2], Some(&[3, 1])).unwrap();
    assert!(sentence(pitched.reinterpret(DataType::F32)).contains("axis 0 has stride 3"));
}

#[test]
fn what_views_leave_of_strides_and_bases_that_are_not_used() {
    // An empty slice has no first element, and keeps base offset 0.
    let rows = BufferTensorDesc::packed(DataType::F32, &[4, 3]).unwrap();
    assert_eq!(rows.slice_axis(0, 2..2).unwrap().base_offset(), 0);
    // A base that is set by hand leaves a total that was set by hand. A total that is the minimum becomes the
    // new minimum.
    let moved = rows.clone().with_total_size_in_bytes(256).unwrap().with_base_offset(2).unwrap();
    assert_eq!(moved.total_tensor_size_in_bytes(), 256);
    assert_eq!(rows.with_base_offset(2).unwrap().total_tensor_size_in_bytes(), 4 * (2 + 12));
}

#[test]
fn a_total_set_by_hand_survives_views_and_flags_do_too() {
    let desc = BufferTensorDesc::packed(DataType::F32, &[4, 4])
        .unwrap()
        .with_total_size_in_bytes(256)
        .unwrap()
        .with_base_offset_alignment(64)
        .unwrap();
    let view = desc.slice_axis(0, 1..3).unwrap().transpose(0, 1).unwrap();
    assert_eq!((view.total_tensor_size_in_bytes(), view.base_offset_alignment()), (256, 64));
    // A total that is the minimum stays the minimum.
    let view = BufferTensorDesc::packed(DataType::F32, &[4, 4]).unwrap().slice_axis(0, 0..2).unwrap();
    assert_eq!(view.total_tensor_size_in_bytes(), 32);
}

#[test]
fn views_of_huge_tensors_are_exact_or_refused() {
    let desc = BufferTensorDesc::new(DataType::U8, &[2, 1], Some(&[1 << 62, u64::MAX])).unwrap();
    assert_eq!(desc.reshape(&[1, 2]).unwrap().strides()[1], 1 << 62);
    assert_eq!(desc.reinterpret(DataType::U4).unwrap().strides(), [1 << 63, 1]);
    let wide = BufferTensorDesc::new(DataType::U64, &[2, 1], Some(&[1_u64 << 60, 1])).unwrap();
    assert_eq!(wide.reinterpret(DataType::U1).unwrap_err().code(), "overflow");
}

#[test]
fn slices_are_read_as_python_writes_them() {
    for (text, slice) in [
        (":", Slice::ALL),
        ("::", Slice::ALL),
        ("3:", Slice::from(3..)),
        (":7", Slice::from(..7)),
        ("1:7:2", Slice::from(1..7).step_by(2)),
        ("0", Slice::from(0..1)),
    ] {
        assert_eq!(text.parse(), Ok(slice), "{text}");
    }
    let too_large = ["18446744073709551615", "18446744073709551616"].map(|text| (text, 1));
    for (text, column) in [("", 1), ("a", 1), ("1:2:3:4", 6), ("1:+2", 3), ("1 2", 3)].into_iter().chain(too_large) {
        assert_eq!(text.parse::<Slice>().unwrap_err().column(), Some(column), "{text}");
    }
}
