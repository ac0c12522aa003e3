//! Programs and their texts at the edges: refusals with their sentences, short buffers, odd widths, and what
//! a device is given.

use tensor_layout::relayout::Relayout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
use tensor_layout_shader::{Access, BoundBuffer, Form, IndexFunctions, Profile, Program, ProgramOptions};

fn shape(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

fn relayout(from: &str, to: &str) -> Relayout {
    Relayout::new(&shape(from), &shape(to)).unwrap()
}

#[test]
fn a_buffer_that_is_too_short_is_a_fault_of_the_first_pass() {
    let program = Program::new(&relayout("f32[8,8]{1,0}", "f32[8,8]{0,1}"), &Profile::webgpu()).unwrap();
    assert_eq!((program.source_size_in_bytes(), program.destination_size_in_bytes()), (256, 256));
    let fault = program.interpret(&[0; 4], &mut [0; 256]).unwrap_err();
    assert_eq!(fault.pass(), 0);
    assert_eq!(fault.to_string(), "pass 0: bytes 0..256 of Source are bound, and it has 1 words");
    let fault = program.interpret(&[0; 256], &mut [0; 250]).unwrap_err();
    assert_eq!(fault.to_string(), "pass 0: bytes 0..256 of Destination are bound, and it has 63 words");
}

/// The tensors begin 4 and 260 bytes into their buffers, and bindings begin at multiples of 256.
#[test]
fn a_device_gets_the_offsets_of_both_tensors() {
    let options = ProgramOptions { form: Some(Form::General), source_offset: 4, destination_offset: 260 };
    let copy = relayout("f32[8,8]{1,0}", "f32[8,8]{0,1}");
    let program = Program::with_options(&copy, &Profile::webgpu(), &options).unwrap();
    assert_eq!((program.source_size_in_bytes(), program.destination_size_in_bytes()), (260, 516));
    let [pass] = program.passes() else { panic!("{}", program.explain()) };
    assert_eq!((pass.form(), pass.workgroups()), (Form::General, [1, 1, 1]));
    let windows: Vec<_> = pass.bindings().into_iter().map(|window| (window.buffer, window.bytes)).collect();
    assert_eq!(windows[..2], [(BoundBuffer::Source, 0..260), (BoundBuffer::Destination, 256..516)]);
    let uniforms: Vec<_> = pass.named_uniforms().map(|(name, value)| (name.to_owned(), value)).collect();
    let of = |wanted: &str| uniforms.iter().find(|(name, _)| name == wanted).map(|&(_, value)| value);
    assert_eq!((of("words"), of("first_word"), of("destination_base")), (Some(64), Some(0), Some(1)));
    let bytes: Vec<u8> = uniforms.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
    assert_eq!(pass.uniforms(), bytes);
}

#[test]
fn a_copy_of_more_workgroups_than_the_device_has_is_refused_with_their_number() {
    let mut profile = Profile::webgpu();
    (profile.max_workgroups, profile.max_invocations) = (2, 64);
    // 16 * 64 words for 2 * 2 * 2 workgroups of 64; one more needs more.
    let words = |count: u32| {
        let text = format!("f32[{count}]{{0}}");
        let options = ProgramOptions { form: Some(Form::General), ..Default::default() };
        Program::with_options(&relayout(&text, &text), &profile, &options)
            .map(|program| program.passes()[0].workgroups())
    };
    assert_eq!(words(8 * 64), Ok([2, 2, 2]));
    let error = words(8 * 64 + 1).unwrap_err();
    assert_eq!(error.code(), "out_of_limits");
    assert_eq!(error.to_string(), "the number of workgroups along an axis is 3, but must be between 1 and 2");
}

/// The conversions that WGSL has words for; for floats of 8 bits there are the bits alone.
#[test]
fn elements_are_loaded_as_the_number_that_wgsl_has_for_them() {
    for (data_type, load, store) in [
        (DataType::F32, "-> f32 {|return bitcast<f32>(bits);", "store_bits(offset, bitcast<u32>(value));"),
        (DataType::F16, "-> f32 {|return unpack2x16float(bits).x;", "pack2x16float(vec2<f32>(value, 0.0))"),
        (
            DataType::BF16,
            "-> f32 {|return bitcast<f32>(bits << 16u);",
            "select(rounded, (bits >> 16u) | 0x40u, is_nan)",
        ),
        (DataType::U8, "-> u32 {|return bits;", "store_bits(offset, value);"),
        (DataType::Pred, "-> u32 {|return bits;", "store_bits(offset, value);"),
        (DataType::S32, "-> i32 {|return bitcast<i32>(bits);", "store_bits(offset, bitcast<u32>(value));"),
        (
            DataType::S4,
            "-> i32 {|return extractBits(bitcast<i32>(bits), 0u, 4u);",
            "store_bits(offset, bitcast<u32>(value));",
        ),
    ] {
        let desc = BufferTensorDesc::packed(data_type, &[64]).unwrap();
        let functions = IndexFunctions::new(&desc).unwrap();
        let text = functions.clone().with_access("words", Access::ReadWrite).unwrap().wgsl();
        for line in load.split('|').chain([store]) {
            assert!(text.contains(line), "{data_type}: {line} in\n{text}");
        }
        let only_read = functions.with_access("words", Access::Read).unwrap().wgsl();
        assert!(only_read.contains("fn load(") && !only_read.contains("fn store"));
    }
    let floats = BufferTensorDesc::packed(DataType::F8E4M3FN, &[64]).unwrap();
    let text = IndexFunctions::new(&floats).unwrap().with_access("words", Access::ReadWrite).unwrap().wgsl();
    assert!(text.contains("fn load_bits(") && text.contains("fn store_bits("), "{text}");
    assert!(!text.contains("fn load(") && !text.contains("fn store("), "{text}");
}

/// On the CPU every function can be called, whether its text was requested or not.
#[test]
fn functions_that_are_not_in_the_text_have_the_same_answers() {
    let bare = IndexFunctions::new(&shape("u8[4,7]{1,0:T(2,4)}")).unwrap();
    let full = bare.clone().with_inverse().unwrap().with_walk(1).unwrap();
    let full = full.with_access("words", Access::ReadWrite).unwrap();
    for offset in 0..32 {
        assert_eq!(bare.index(offset), full.index(offset));
    }
    // The second row of the first tile, and of the one after it.
    let walked = Ok(vec![4, 5, 6, 7, 12, 13, 14]);
    assert_eq!((bare.walk(1, &[1, 0]), full.walk(1, &[1, 0])), (walked.clone(), walked));
    let mut words = [[0x0403_0201, 0x0807_0605]; 2];
    for (functions, words) in [&bare, &full].into_iter().zip(&mut words) {
        assert_eq!(functions.load_bits(words, 6), Ok(7));
        functions.store_bits(words, 6, 0xff).unwrap();
        assert_eq!(*words, [0x0403_0201, 0x08ff_0605]);
    }
}
