//! Relayouts as GPU programs: each is run by the interpreter and compared with the literal copy, bit for bit, with bytes before and
//! behind that must stay.

mod literal;

use literal::cases;
use literal::pairs::{Side, literal_copy, noise, padding, pair, within};
use proptest::prelude::*;
use tensor_layout::Error;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::shader::{BoundBuffer, Form, Profile, Program, ProgramOptions};

/// The defaults, with as small a binding as allowed, or with few invocations and workgroups.
fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![
        2 => Just(Profile::webgpu()),
        1 => (prop::sample::select(vec![4_u64, 16, 32, 256]), 0..9_u64).prop_map(|(alignment, more)| {
            let mut profile = Profile::webgpu();
            profile.offset_alignment = alignment;
            profile.max_binding = alignment * (3 + more) + 8;
            profile
        }),
        1 => (1..=64_u32, 2..=9_u32).prop_map(|(invocations, workgroups)| {
            let mut profile = Profile::webgpu();
            profile.max_invocations = invocations;
            profile.max_workgroups = 400 / workgroups;
            profile
        }),
    ]
}

/// The profile with bindings of which a few make a buffer.
fn with_few_windows(mut profile: Profile, from: &Side, to: &Side) -> Profile {
    if profile.max_binding < 1 << 20 {
        let bytes = from.bytes().max(to.bytes()) as u64;
        profile.max_binding = profile.max_binding.max(bytes.div_ceil(12) * 4 + 2 * profile.offset_alignment);
    }
    profile
}

/// Runs a program and compares with the literal copy. `shift` is where the tensors begin in their buffers, in words.
fn check(
    from: &Side,
    to: &Side,
    padding: Padding,
    profile: &Profile,
    form: Option<Form>,
    shift: [u64; 2],
) -> Result<(), Error> {
    let padding = within(padding, from.map.element_bits());
    let relayout = Relayout::new(&from.map, &to.map)?.with_padding(padding)?;
    let options = ProgramOptions { form, source_offset: shift[0] * 4, destination_offset: shift[1] * 4 };
    let program = Program::with_options(&relayout, profile, &options)?;
    let (before, first) = (options.source_offset as usize, options.destination_offset as usize);
    let source = noise(before + from.bytes(), 1);
    // The end of a source that holds padding only may be missing.
    let length = (before + from.bytes()).next_multiple_of(4);
    let source: Vec<u8> = source.into_iter().chain(std::iter::repeat(0x77)).take(length).collect();
    let mut expected = noise((first + to.bytes()).next_multiple_of(4) + 8, 2);
    let mut destination = expected.clone();
    literal_copy(from, to, &source[before..], &mut expected[first..], padding);
    let explained = program.explain();
    if let Err(fault) = program.interpret(&source, &mut destination) {
        let texts: Vec<&str> = program.passes().iter().map(|pass| pass.wgsl()).collect();
        panic!("{fault}\n{explained}\n{}", texts.join("\n"));
    }
    if destination != expected {
        let at = destination.iter().zip(&expected).position(|(a, b)| a != b).unwrap();
        panic!(
            "byte {at}: {} instead of {}\n{explained}\n{}",
            destination[at],
            expected[at],
            program.passes()[0].wgsl()
        );
    }
    for pass in program.passes() {
        assert!(pass.workgroups().iter().all(|&count| count >= 1 && count <= profile.max_workgroups));
        assert!(
            pass.workgroup_size()[0] <= profile.max_invocations
                && pass.workgroup_memory() <= profile.max_workgroup_memory
        );
        for window in pass.bindings().into_iter().filter(|window| window.buffer != BoundBuffer::Uniforms) {
            let length = window.bytes.end - window.bytes.start;
            assert!(window.bytes.start % profile.offset_alignment == 0 && length % 4 == 0 && length > 0);
            assert!(length <= profile.max_binding, "{length}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn every_pair_has_a_program_in_the_general_form(
        (from, to) in pair(), padding in padding(), profile in profile(), a in 0..70_u64, b in 0..70_u64,
    ) {
        if Relayout::new(&from.map, &to.map).is_ok() {
            let profile = with_few_windows(profile, &from, &to);
            check(&from, &to, padding, &profile, Some(Form::General), [a, b]).unwrap();
        }
    }
}
