//! Bindings as WebGPU really checks them, pieces of a tensor that is too large for one binding, and outputs
//! that share bytes.

use crate::literal::cases;
use proptest::prelude::*;
use tensor_layout::upload::{
    Binding, DeviceLimits, Role, UploadBuffer, pack_buffer, pieces_along, validate, validate_bindings,
    validate_description,
};
use tensor_layout::{BufferTensorDesc, DataType, Error};

fn packed(data_type: DataType, sizes: &[u64]) -> BufferTensorDesc {
    BufferTensorDesc::packed(data_type, sizes).unwrap()
}

fn directml() -> DeviceLimits {
    DeviceLimits::directml()
}

fn bound(desc: &BufferTensorDesc, offset: u64, role: Role) -> Binding<'_> {
    Binding::new(desc, 0, UploadBuffer::new(1 << 20, offset, role))
}

/// The codes of each binding's errors.
fn codes(bindings: &[Binding<'_>], limits: &DeviceLimits) -> Vec<Vec<&'static str>> {
    let results = validate_bindings(bindings, limits).into_iter();
    results.map(|result| result.map_or_else(|errors| errors.codes(), |_| Vec::new())).collect()
}

#[test]
fn webgpu_writable_bindings_do_not_alias_by_range() {
    // The tensors are the left and the right half of one matrix. They share all rows, and no element.
    let whole = packed(DataType::F32, &[64, 64]);
    let (left, right) = (whole.slice_axis(1, ..32).unwrap(), whole.slice_axis(1, 32..).unwrap());
    let outputs = [bound(&left, 0, Role::Output), bound(&right, 0, Role::Output)];
    assert_eq!(codes(&outputs, &DeviceLimits::webgpu()), [vec![], vec!["bindings_overlap"]]);
    // A promise that the operator works in place does not change the API's check.
    assert_eq!(
        codes(&[outputs[0].in_place_with(1), outputs[1]], &DeviceLimits::webgpu()),
        [vec![], vec!["bindings_overlap"]]
    );
    assert_eq!(codes(&outputs, &DeviceLimits::vulkan()), [vec![""; 0], vec![]]);
    // Ranges that only touch do not overlap.
    let small = packed(DataType::F32, &[64]);
    let apart = [bound(&small, 0, Role::Output), bound(&small, 256, Role::Output)];
    assert_eq!(codes(&apart, &DeviceLimits::webgpu()), [vec![""; 0], vec![]]);
}

#[test]
fn webgpu_buffers_are_read_or_written_in_one_dispatch_not_both() {
    let desc = packed(DataType::F32, &[4]);
    let far = [bound(&desc, 0, Role::Input), bound(&desc, 65536, Role::Output)];
    assert_eq!(codes(&far, &DeviceLimits::webgpu()), [vec![], vec!["buffer_read_and_written"]]);
    let same = [bound(&desc, 0, Role::Output), bound(&desc, 0, Role::Input)];
    assert_eq!(
        codes(&[same[0], same[1].in_place_with(0)], &DeviceLimits::webgpu()),
        [vec![], vec!["buffer_read_and_written"]]
    );
    let results = validate_bindings(&far, &DeviceLimits::webgpu());
    assert_eq!(
        results[1].as_ref().unwrap_err().to_string(),
        "bindings 0 and 1 read and write one buffer in one dispatch, which the device refuses however far apart they are"
    );
    // Two inputs may share a range. Two buffers may be an input and an output.
    let inputs = [bound(&desc, 0, Role::Input), bound(&desc, 0, Role::Input)];
    assert_eq!(codes(&inputs, &DeviceLimits::webgpu()), [vec![""; 0], vec![]]);
    let two = [bound(&desc, 0, Role::Input), Binding::new(&desc, 1, UploadBuffer::new(1 << 20, 0, Role::Output))];
    assert_eq!(codes(&two, &DeviceLimits::webgpu()), [vec![""; 0], vec![]]);
    // DirectML binds everything as one kind of view.
    let desc = packed(DataType::F32, &[1, 1, 1, 4]);
    let far = [bound(&desc, 0, Role::Input), bound(&desc, 65536, Role::Output)];
    assert_eq!(codes(&far, &directml()), [vec![""; 0], vec![]]);
}

#[test]
fn outputs_that_share_a_byte_are_refused() {
    // Rows have three nibbles, so the second row begins in the middle of a byte.
    let whole = packed(DataType::U4, &[2, 3]);
    let (first, second) = (whole.slice_axis(0, 0..1).unwrap(), whole.slice_axis(0, 1..2).unwrap());
    let outputs = [bound(&first, 0, Role::Output), bound(&second, 0, Role::Output)];
    for limits in [DeviceLimits::none(), DeviceLimits::vulkan(), DeviceLimits::d3d12()] {
        assert_eq!(codes(&outputs, &limits), [vec![], vec!["bindings_overlap"]], "{}", limits.name);
        let results = validate_bindings(&outputs, &limits);
        let shared = results[1].as_ref().unwrap_err().iter().next();
        let byte = if limits.write_unit == 1 { 1 } else { 0 };
        let sentence =
            format!("bindings 0 and 1 share byte {byte} of their buffer, and at least one of them is written");
        assert_eq!(shared.map(Error::to_string), Some(sentence));
    }
    // Rows of four nibbles are whole bytes, but are still in one word.
    let whole = packed(DataType::U4, &[2, 4]);
    let (first, second) = (whole.slice_axis(0, 0..1).unwrap(), whole.slice_axis(0, 1..2).unwrap());
    let outputs = [bound(&first, 0, Role::Output), bound(&second, 0, Role::Output)];
    assert_eq!(codes(&outputs, &DeviceLimits::none()), [vec![""; 0], vec![]]);
    assert_eq!(codes(&outputs, &DeviceLimits::vulkan()), [vec![], vec!["bindings_overlap"]]);
    // A reader of the other nibble finds it unchanged.
    let mixed = [bound(&first, 0, Role::Output), bound(&second, 0, Role::Input)];
    assert_eq!(codes(&mixed, &DeviceLimits::vulkan()), [vec![""; 0], vec![]]);
    // Interleaved halves of a large matrix share no byte, and the check finds that at once.
    let whole = packed(DataType::U4, &[65536, 65536]);
    let (left, right) = (whole.slice_axis(1, ..32768).unwrap(), whole.slice_axis(1, 32768..).unwrap());
    let outputs = [(&left, 0), (&right, 0)]
        .map(|(desc, offset)| Binding::new(desc, 0, UploadBuffer::new(1 << 32, offset, Role::Output)));
    assert_eq!(codes(&outputs, &DeviceLimits::none()), [vec![""; 0], vec![]]);
}

#[test]
fn a_slice_as_output_says_how_large_its_gaps_are() {
    let whole = packed(DataType::F32, &[1, 1, 8, 64]);
    let left = whole.slice_axis(3, ..32).unwrap();
    let at = |desc: &BufferTensorDesc, role, limits: &DeviceLimits| {
        validate(desc, &UploadBuffer::new(2048, 0, role), limits).unwrap()
    };
    let errors = validate(&left, &UploadBuffer::new(2048, 0, Role::Output), &directml()).unwrap_err();
    assert_eq!(
        (errors.codes(), errors.report.gap_bits, errors.report.overwrites_gaps),
        (vec!["gaps_overwritten"], 7 * 32 * 32, true)
    );
    assert!(errors.report.to_string().contains(
        "gaps             896 bytes, which belong to others if this is a part of a larger buffer: the device may overwrite them\n"
    ));
    let report = at(&left, Role::Output, &DeviceLimits::webgpu());
    assert_eq!((report.gap_bits, report.overwrites_gaps), (7 * 32 * 32, false));
    // Bytes in front of the first element are no gap between elements.
    let right = whole.slice_axis(3, 32..).unwrap();
    assert_eq!(at(&right, Role::Output, &DeviceLimits::webgpu()).gap_bits, 7 * 32 * 32);
    assert_eq!(at(&right, Role::Output, &directml().keeping_gaps()).gap_bits, 7 * 32 * 32);
    // Whole tensors and inputs have no gaps to report.
    assert_eq!(at(&whole, Role::Output, &directml()).gap_bits, 0);
    assert_eq!(at(&left, Role::Input, &directml()).gap_bits, 0);
}

#[test]
fn totals_obey_the_size_multiple() {
    let mut limits = DeviceLimits::none();
    limits.size_multiple = 48;
    // A total that is set by hand below the device's requirement does not lower the requirement.
    let desc = packed(DataType::F32, &[4]).with_total_size_in_bytes(20).unwrap();
    let report = validate(&desc, &UploadBuffer::new(48, 0, Role::Input), &limits).unwrap();
    assert_eq!((report.rounded_bytes, report.total_bytes, report.bound), (48, 48, 0..48));
    // A device that requires no multiple of 4 gets no multiple of 4.
    let desc = packed(DataType::F16, &[3]);
    for limits in [DeviceLimits::none(), DeviceLimits::vulkan()] {
        let report = validate(&desc, &UploadBuffer::new(6, 0, Role::Input), &limits).unwrap();
        assert_eq!((report.rounded_bytes, report.total_bytes, report.padding), (6, 6, 6..6));
    }
    limits.size_multiple = 6;
    assert_eq!(validate(&desc, &UploadBuffer::new(6, 0, Role::Input), &limits).unwrap().total_bytes, 6);
}

#[test]
fn packed_buffers_know_the_largest_binding() {
    let limits = DeviceLimits::webgpu();
    let large = packed(DataType::F32, &[51865, 640]);
    let bias = packed(DataType::F32, &[640]);
    assert_eq!(
        pack_buffer([&bias, &large], &limits),
        Ok(pack_buffer([&bias, &large], &limits).unwrap()),
        "132774400 bytes fit one binding"
    );
    let larger = packed(DataType::F32, &[51865, 660]);
    assert_eq!(
        pack_buffer([&bias, &larger], &limits),
        Err(tensor_layout::plan::Code::BindingLimit.by(136_923_600, limits.max_binding))
    );
    // The pieces of the tensor fit.
    let pieces: Vec<BufferTensorDesc> = pieces_along(&larger, 0, &limits).unwrap().map(|piece| piece.desc).collect();
    let packed = pack_buffer(&pieces, &limits).unwrap();
    let bindings: Vec<Binding<'_>> = pieces
        .iter()
        .zip(&packed.offsets)
        .map(|(desc, &offset)| Binding::new(desc, 0, UploadBuffer::new(packed.len, offset, Role::Output)))
        .collect();
    assert!(codes(&bindings, &limits).iter().all(Vec::is_empty));
}

#[test]
fn a_large_binding_is_cut_into_whole_rows() {
    let limits = DeviceLimits::webgpu();
    // Rows of 5120 bytes begin at multiples of 256. Rows of 5132 bytes do not.
    for columns in [1280, 1283] {
        let desc = packed(DataType::F32, &[51865, columns]);
        let pieces: Vec<_> = pieces_along(&desc, 0, &limits).unwrap().collect();
        assert_eq!(pieces.len(), 2);
        let mut next = 0;
        for piece in &pieces {
            assert_eq!(piece.indices.start, next);
            next = piece.indices.end;
            assert_eq!(piece.desc.sizes(), [piece.indices.end - piece.indices.start, columns]);
            assert!(piece.bound.start.is_multiple_of(256));
            let whole = 4 * desc.offset(&[piece.indices.start, 0]).unwrap();
            assert_eq!(piece.bound.start + 4 * piece.desc.offset(&[0, 0]).unwrap(), whole);
            validate_description(&piece.desc, &limits).unwrap();
        }
        assert_eq!(next, 51865);
    }
    // A tensor that fits is one piece, although no other piece could begin after its last row.
    let whole = packed(DataType::F32, &[41, 9]);
    let mut pieces = pieces_along(&whole, 0, &directml()).unwrap();
    assert_eq!((pieces.clone().count(), pieces.next().unwrap().indices), (1, 0..41));
    // One row is too large. Then rows cannot begin where DirectML binds.
    let mut small = directml();
    small.max_binding = 64;
    let code = |desc: &BufferTensorDesc, axis| pieces_along(desc, axis, &small).unwrap_err().code();
    assert_eq!(code(&packed(DataType::F32, &[4, 17]), 0), "binding_limit");
    assert_eq!(code(&packed(DataType::F32, &[40, 9]), 0), "no_pieces");
    assert_eq!(code(&packed(DataType::F32, &[4, 17]), 2), "axis_out_of_range");
    assert_eq!(code(&packed(DataType::F32, &[40, 4]).with_base_offset(1).unwrap(), 0), "offset_unaligned");
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn pieces_along_an_axis_hold_every_element_once_and_keep_the_limits(
        axes in prop::collection::vec((0..7_u64, 0..30_u64), 1..4),
        base in 0..40_u64,
        data_type in prop::sample::select(vec![DataType::U1, DataType::U4, DataType::F16, DataType::F32, DataType::C128]),
        axis in 0..3_usize,
        max in 1..200_u64,
        alignment in prop::sample::select(vec![1, 4, 16, 256_u64]),
        multiple in prop::sample::select(vec![1, 4, 16_u64]),
        base_in_binding in any::<bool>(),
    ) {
        let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let desc = BufferTensorDesc::new(data_type, &sizes, Some(&strides)).unwrap().with_base_offset(base).unwrap();
        let mut limits = DeviceLimits::none();
        (limits.max_binding, limits.offset_alignment, limits.size_multiple) = (max, alignment, multiple);
        (limits.base_offset_in_binding, limits.takes_strides) = (base_in_binding, base_in_binding);
        let Ok(pieces) = pieces_along(&desc, axis, &limits) else { return Ok(()) };
        let bits = u64::from(data_type.bits());
        let (number, mut walked) = (pieces.clone().count(), 0);
        let mut found = Vec::new();
        for piece in pieces {
            prop_assert!(piece.bound.end - piece.bound.start <= max);
            prop_assert!(piece.bound.start.is_multiple_of(alignment));
            prop_assert!(!base_in_binding || piece.desc.base_offset() == 0);
            let buffer = UploadBuffer::new(1 << 20, piece.bound.start, Role::Input);
            let report = validate(&piece.desc, &buffer, &limits);
            prop_assert_eq!(report.as_ref().map(|report| report.bound.clone()), Ok(piece.bound.clone()));
            let part = desc.slice_axis(axis, piece.indices.clone()).unwrap();
            let places = piece.desc.offsets().map(|offset| 8 * piece.bound.start + bits * offset);
            prop_assert!(places.eq(part.offsets().map(|offset| bits * offset)));
            found.extend(piece.indices);
            walked += 1;
        }
        prop_assert_eq!(number, walked);
        if desc.element_count() > 0 {
            prop_assert_eq!(found, (0..sizes[axis]).collect::<Vec<_>>());
        } else {
            prop_assert!(found.is_empty());
        }
    }
}
