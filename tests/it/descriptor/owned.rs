//! What slices own of a buffer, against the elements that they leave out.

use crate::literal::cases;
use proptest::prelude::*;
use std::collections::HashSet;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::{GapOwner, Slice};
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, DataType};

/// A tensor that has its buffer to itself. If `nests`, its strides nest in some order of the axes, with gaps.
fn whole(nests: bool) -> impl Strategy<Value = BufferTensorDesc> {
    let axes = proptest::collection::vec((1..5_u64, 0..4_u64, 0..9_u64), 1..4);
    let types = prop_oneof![Just(DataType::U8), Just(DataType::F16), Just(DataType::F32), Just(DataType::U4)];
    (axes, any::<usize>(), types).prop_map(move |(axes, turn, data_type)| {
        let rank = axes.len();
        let (mut sizes, mut strides, mut next) = (vec![0; rank], vec![0; rank], 1);
        for place in 0..rank {
            let axis = (place + turn % rank) % rank;
            let (size, gap, any) = axes[axis];
            (sizes[axis], strides[axis]) = (size, if nests { next } else { any });
            next = next * size + gap;
        }
        BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap()
    })
}

fn slices() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    proptest::collection::vec((0..9_u64, 0..9_u64, prop_oneof![Just(1_u64), 1..3_u64]), 3)
}

/// The slice that random numbers choose. It has elements.
fn sliced(desc: &BufferTensorDesc, raw: &[(u64, u64, u64)]) -> BufferTensorDesc {
    let keep = |(&size, &(a, b, step)): (&u64, &(u64, u64, u64))| {
        let (a, b) = (a % size, b % size);
        Slice::from(a.min(b)..a.max(b) + 1).step_by(step)
    };
    desc.slice(&desc.sizes().iter().zip(raw).map(keep).collect::<Vec<_>>()).unwrap()
}

/// The elements of `desc` that `part` leaves out.
fn left_out(desc: &BufferTensorDesc, part: &BufferTensorDesc) -> Vec<u64> {
    let kept: HashSet<u64> = part.offsets().collect();
    let mut rest: Vec<u64> = desc.offsets().filter(|offset| !kept.contains(offset)).collect();
    rest.sort_unstable();
    rest
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_slice_owns_its_gaps_exactly_if_nothing_left_out_is_in_them(desc in whole(true), raw in slices()) {
        let (part, bits) = (sliced(&desc, &raw), u64::from(desc.data_type().bits()));
        let begin = part.base_offset() * bits;
        let end = part.span_elements() * bits;
        // DirectML binds whole words of 4 bytes.
        let end = end.next_multiple_of(32).max(begin + (end - begin).next_multiple_of(32));
        let rest = left_out(&desc, &part);
        let alone = !rest.iter().any(|&offset| offset * bits < end && (offset + 1) * bits > begin);
        let expected = match alone {
            _ if part.sizes() == desc.sizes() => GapOwner::All,
            true => GapOwner::Inside,
            false => GapOwner::Others,
        };
        prop_assert_eq!(part.gap_owner(), expected, "{} of {}", part, desc);
        // Views of the part own the same, and a slice of it never more.
        prop_assert_eq!(part.coalesce().gap_owner(), expected);
        prop_assert!(sliced(&part, &raw).gap_owner() <= expected);
    }

    #[test]
    fn nothing_left_out_is_in_owned_gaps(desc in whole(false), raw in slices()) {
        let part = sliced(&desc, &raw);
        if part.gap_owner() == GapOwner::Inside {
            let range = part.base_offset()..part.span_elements();
            prop_assert!(left_out(&desc, &part).iter().all(|offset| !range.contains(offset)), "{} of {}", part, desc);
        }
    }

    #[test]
    fn padding_of_a_part_touches_no_byte_of_another(desc in whole(true), raw in slices(), again in slices()) {
        let part = sliced(&sliced(&desc, &raw), &again);
        let from = BufferTensorDesc::packed(part.data_type(), part.sizes()).unwrap();
        let Ok(copy) = Relayout::new(&from, &part).unwrap().with_padding(Padding::Zero) else {
            prop_assert!(part.gap_owner() == GapOwner::Others || part.data_type().bits() < 8);
            return Ok(());
        };
        let bits = u64::from(part.data_type().bits());
        let mut memory = vec![0xaa_u8; desc.min_size_in_bytes() as usize + 8];
        copy.run(&vec![0xbb; from.min_size_in_bytes() as usize], &mut memory).unwrap();
        let elements: HashSet<u64> = part.offsets().flat_map(|at| at * bits..(at + 1) * bits).collect();
        let range = match part.gap_owner() {
            GapOwner::All => 0..part.min_size_in_bytes() * 8,
            _ => part.base_offset() * bits..part.span_elements() * bits,
        };
        for at in 0..memory.len() as u64 * 8 {
            let bit = |byte: u8| byte >> (at % 8) & 1;
            let expected = match at {
                _ if elements.contains(&at) => bit(0xbb),
                _ if range.contains(&at) => 0,
                _ => bit(0xaa),
            };
            // Elements below a byte begin anywhere in the source, so only whole bytes are compared.
            if bits >= 8 || !elements.contains(&at) {
                prop_assert_eq!(bit(memory[(at / 8) as usize]), expected, "bit {} of {} in {}", at, part, desc);
            }
        }
    }
}

/// DirectML may overwrite the gaps of an output. Pieces are outputs like the tensor that they were cut from.
#[test]
fn directml_accepts_pieces_whose_gaps_are_theirs() {
    let directml = DeviceLimits::directml();
    let output = |desc: &BufferTensorDesc| validate(desc, &UploadBuffer::new(1 << 20, 0, Role::Output), &directml);
    let whole = BufferTensorDesc::padded_rows(DataType::F16, &[64, 100], 256).unwrap();
    assert!(output(&whole).is_ok());
    for piece in [0..32, 32..64].map(|rows| whole.slice_axis(0, rows).unwrap()) {
        assert!(output(&piece).is_ok(), "{piece}");
        let copy = Relayout::new(&BufferTensorDesc::packed(DataType::F16, &[32, 100]).unwrap(), &piece).unwrap();
        assert!(copy.with_padding(Padding::Zero).is_ok());
    }
    let cache = BufferTensorDesc::padded_rows(DataType::F16, &[2, 64, 100], 256).unwrap();
    assert!(output(&cache.select(0, 1).unwrap()).is_ok());
    let columns = cache.slice_axis(2, 0..50).unwrap();
    assert_eq!(output(&columns).unwrap_err().codes(), ["gaps_overwritten"]);
    // An engine that knows better says so.
    assert!(output(&columns.with_gap_owner(GapOwner::Inside)).is_ok());
}
