//! The pieces of a copy write together what the whole copy writes: every byte of their own tensor that a
//! whole run writes, and no bit of another tensor in the same buffer.

use proptest::prelude::*;
use tensor_layout::relayout::{Destination, Padding, Piece, Relayout, Settings};
use tensor_layout::strided::GapOwner;
use tensor_layout::upload::{Arena, DeviceLimits, Role};
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};

use crate::literal::strided_offsets;

/// A tensor in a buffer: packed or with gaps, in any order of the axes, perhaps with a larger total size. The
/// second tensor is all of it, or a slice of it.
fn tensors() -> impl Strategy<Value = (BufferTensorDesc, BufferTensorDesc)> {
    use DataType::{BF16, F32, S1, S4, U2, U8};
    let axis = (1..7_u64, prop_oneof![2 => Just(0_u64), 1 => 0..4_u64]);
    let cut = (any::<prop::sample::Index>(), 0..7_u64, 1..7_u64, 1..3_u64);
    let data_type = prop::sample::select(vec![U8, U8, BF16, F32, S4, U2, S1]);
    let total = prop_oneof![Just(0_u64), 0..3_u64];
    let cuts = prop::collection::vec(cut, 0..3);
    (
        prop::collection::vec(axis, 1..5),
        Just(()).prop_perturb(|(), mut random| random.next_u64()),
        data_type,
        total,
        cuts,
    )
        .prop_map(|(axes, order, data_type, more, cuts)| {
            let sizes: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let mut places: Vec<usize> = (0..sizes.len()).collect();
            places.sort_by_key(|&place| (order >> (8 * place)) & 0xff);
            let (mut strides, mut next) = (vec![0; sizes.len()], 1);
            for place in places {
                strides[place] = next;
                next *= sizes[place];
                next += axes[place].1;
            }
            let whole = BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap();
            let bytes = whole.min_size_in_bytes() + 4 * more;
            let whole = whole.with_total_size_in_bytes(bytes).unwrap();
            let slice = cuts.iter().fold(whole.clone(), |slice, &(axis, start, length, step)| {
                let axis = axis.index(sizes.len());
                let size = slice.sizes()[axis];
                let start = start.min(size - 1);
                let end = (start + length).min(size);
                let range = tensor_layout::strided::Slice::from(start..end).step_by(step);
                slice.slice_axis(axis, range).unwrap()
            });
            (whole, slice)
        })
}

/// The bits that a copy writes. The copy runs over zeros and over ones: bits that it leaves alone differ.
fn written(bytes: usize, run: impl Fn(&mut [u8])) -> Vec<u8> {
    let [mut zeros, mut ones] = [vec![0; bytes], vec![0xff; bytes]];
    run(&mut zeros);
    run(&mut ones);
    zeros.iter().zip(&ones).map(|(zero, one)| !(zero ^ one)).collect()
}

/// The bits of all elements.
fn elements(desc: &BufferTensorDesc, bytes: usize) -> Vec<u8> {
    let bits = desc.data_type().bits() as usize;
    let mut mask = vec![0; bytes];
    let all = strided_offsets(desc).into_iter().flat_map(|offset| offset * bits..(offset + 1) * bits);
    all.for_each(|bit| mask[bit / 8] |= 1 << (bit % 8));
    mask
}

/// Runs pieces, each in its own part of the destination.
fn run_pieces(pieces: &[Piece], source: &[u8], destination: &mut [u8]) {
    let mut rest = Destination::from(destination);
    for piece in pieces {
        let (own, after) = rest.split_at(piece.destination_range().len());
        piece.run(source, own).unwrap();
        rest = after;
    }
}

proptest! {
    #![proptest_config(crate::literal::cases(2000))]

    #[test]
    fn pieces_write_what_the_whole_writes_and_nothing_of_others(
        (whole, slice) in tensors(), padding in 0..3_usize, count in 1..9_usize, alignment in 0..9_usize,
    ) {
        let from = BufferTensorDesc::packed(slice.data_type(), slice.sizes()).unwrap();
        let source = vec![0x5a; usize::try_from(from.total_tensor_size_in_bytes()).unwrap()];
        let settings = Settings { least_piece: Some(1), ..Settings::default() };
        let plan = Relayout::with_settings(&from, &slice, &settings).unwrap();
        let padded = plan.clone().with_padding([Padding::Keep, Padding::Zero, Padding::Fill(1)][padding]);
        prop_assert!(padded.is_ok() || slice.gap_owner() != GapOwner::All, "{}", slice);
        let plan = padded.unwrap_or(plan);

        // The buffer is that of the whole tensor, and a few bytes more.
        let size = usize::try_from(whole.total_tensor_size_in_bytes()).unwrap();
        let guarded = size + 8;
        let by_run = written(guarded, |bytes| plan.run(&source, bytes).unwrap());
        let pieces = plan.partition(count, alignment).unwrap();
        let by_pieces = written(guarded, |bytes| run_pieces(&pieces, &source, bytes));
        prop_assert!(by_run == by_pieces, "{slice} in {} pieces: {by_run:02x?} is not {by_pieces:02x?}", pieces.len());

        let mut next = 0;
        for piece in &pieces {
            prop_assert!(piece.destination_range().start == next && next.is_multiple_of(alignment.max(1)));
            next = piece.destination_range().end;
        }
        prop_assert!(next <= guarded - 8 && by_run[next..].iter().all(|&bits| bits == 0), "{}", slice);

        let (own, all) = (elements(&slice, guarded), elements(&whole, guarded));
        for (byte, (&written, (&own, &all))) in by_run.iter().zip(own.iter().zip(&all)).enumerate() {
            prop_assert!(written & own == own, "byte {byte} of {slice} is not written");
            prop_assert!(written & all & !own == 0, "byte {byte} beside {slice} is of another tensor: {written:02x}");
        }
        if plan.settings().padding == Padding::Keep {
            prop_assert!(by_run == own, "padding of {slice} was written");
        } else if slice.gap_owner() == GapOwner::All {
            prop_assert!(by_run[..size].iter().all(|&bits| bits == 0xff), "{slice} is not all written: {by_run:02x?}");
        }
    }

    /// Tensors share the buffers of an arena. Each is written from its binding's offset on, whole and in
    /// pieces.
    #[test]
    fn tensors_of_an_arena_are_written_side_by_side(
        tensors in prop::collection::vec(tensors(), 1..5), sliced: u8, webgpu: bool, zero: bool, count in 1..6_usize,
    ) {
        let limits = if webgpu { DeviceLimits::webgpu() } else { DeviceLimits::directml() };
        let limits = limits.with("max_binding", "512").unwrap();
        let tensors: Vec<&BufferTensorDesc> =
            tensors.iter().zip(0..).map(|((whole, slice), i)| if sliced >> i & 1 == 1 { slice } else { whole }).collect();
        let given: Vec<(&dyn ToIndexMap, Role)> =
            tensors.iter().map(|&desc| (desc as &dyn ToIndexMap, Role::Input)).collect();
        let Ok(arena) = Arena::new(&given, &limits) else { return Ok(()) };
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let mut taken: Vec<Vec<u8>> = arena.buffers.iter().map(|&bytes| vec![0; size(bytes)]).collect();
        for (desc, binding) in tensors.iter().zip(&arena.tensors).flat_map(|(desc, all)| all.iter().map(move |one| (desc, one))) {
            let map = binding.layout.to_index_map().unwrap();
            let from = BufferTensorDesc::packed(desc.data_type(), map.sizes()).unwrap();
            let source = vec![0x5a; size(from.total_tensor_size_in_bytes())];
            let settings = Settings { least_piece: Some(1), ..Settings::default() };
            let plan = Relayout::with_settings(&from, &binding.layout, &settings).unwrap();
            let plan = if zero { plan.clone().with_padding(Padding::Zero).unwrap_or(plan) } else { plan };
            let taken = &mut taken[binding.buffer];
            let offset = size(binding.offset);
            let by_run = written(taken.len(), |bytes| plan.run(&source, &mut bytes[offset..]).unwrap());
            let pieces = plan.partition(count, 1).unwrap();
            let by_pieces = written(taken.len(), |bytes| run_pieces(&pieces, &source, &mut bytes[offset..]));
            prop_assert!(by_run == by_pieces, "{desc} at {offset} in {} pieces", pieces.len());

            let bound = size(binding.bound.start)..size(binding.bound.end);
            let bits: u64 = by_run.iter().map(|byte| u64::from(byte.count_ones())).sum();
            prop_assert!(bits >= map.element_count() * u64::from(map.element_bits()), "{}", desc);
            for (at, (&written, taken)) in by_run.iter().zip(taken.iter_mut()).enumerate() {
                prop_assert!(written == 0 || bound.contains(&at), "byte {at} is outside {bound:?} of {desc}");
                prop_assert!(written & *taken == 0, "byte {at} of another tensor was written with {desc}");
                *taken |= written;
            }
        }
    }
}
