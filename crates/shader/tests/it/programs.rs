//! Relayouts as GPU programs: each is run by the interpreter and compared with the literal copy, bit for bit,
//! with bytes before and after that must stay.

use crate::literal::cases;
use crate::literal::pairs::{Side, literal_copy, noise, padding, pair_of_any_widths, within};
use crate::planes::planes;
use proptest::prelude::*;
use tensor_layout::relayout::{Padding, Relayout, Settings};
use tensor_layout::{ArrayShape, BufferTensorDesc, Error, IndexMap, ToIndexMap};
use tensor_layout_shader::{BoundBuffer, Form, Profile, Program, ProgramOptions, Sizes};

/// The defaults, with as small a binding as allowed, or with few invocations and workgroups.
fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![
        2 => Just(Profile::webgpu()),
        1 => Just(Profile::cuda()),
        2 => prop::sample::select(vec![Profile::webgpu(), Profile::cuda()]).prop_map(|mut profile| {
            profile.sizes = Sizes::Uniforms;
            profile
        }),
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

/// Runs a program and compares with the literal copy. `shift` is where the tensors begin in their buffers, in
/// words.
fn check(
    from: &Side,
    to: &Side,
    padding: Padding,
    profile: &Profile,
    form: Option<Form>,
    shift: [u64; 2],
) -> Result<(), Error> {
    let padding = within(padding, to.map.element_bits());
    let relayout = Relayout::new(&from.map, &to.map)?.with_padding_of_whole_buffer(padding)?;
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
    #[cfg(feature = "naga")]
    crate::languages::translate(&program);
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
    #![proptest_config(cases(64))]

    #[test]
    fn every_pair_has_a_program_in_the_general_form(
        (from, to) in pair_of_any_widths(), padding in padding(), profile in profile(), a in 0..70_u64, b in 0..70_u64,
    ) {
        // A shader refuses elements that cross words, by name.
        let fits = !from.map.data_type().is_stream();
        if fits && Relayout::new(&from.map, &to.map).is_ok() {
            let profile = with_few_windows(profile, &from, &to);
            check(&from, &to, padding, &profile, Some(Form::General), [a, b]).unwrap();
        }
    }

}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn the_form_that_is_taken_copies_every_pair(
        (from, to) in pair_of_any_widths(), padding in padding(), profile in profile(), a in 0..70_u64, b in 0..70_u64,
    ) {
        // A shader refuses elements that cross words, by name.
        let fits = !from.map.data_type().is_stream();
        if fits && Relayout::new(&from.map, &to.map).is_ok() {
            let profile = with_few_windows(profile, &from, &to);
            check(&from, &to, padding, &profile, None, [a, b]).unwrap();
        }
    }

    #[test]
    fn every_form_copies_planes_or_says_why_not(
        (from, to) in planes(), padding in padding(), profile in profile(), a in 0..9_u64, b in 0..9_u64,
        form in prop::sample::select(Form::ALL.to_vec()),
    ) {
        let profile = with_few_windows(profile, &from, &to);
        match check(&from, &to, padding, &profile, Some(form), [a * 2, b * 2]) {
            Err(error) if error.code() == "not_expressible" => prop_assert!(!error.found().is_empty()),
            other => other.unwrap(),
        }
        check(&from, &to, padding, &profile, None, [a, b]).unwrap();
    }
}

/// Parts of a transpose that begin inside words, beside parts with the same loops that do not: each needs a
/// shader of its own.
#[test]
fn parts_of_a_transpose_that_begin_inside_words_have_their_own_shader() {
    let side = |text: &str| Side::tiled(&text.parse().unwrap());
    let (from, to) = (side("s4[16,64]{0,1:E(4)}"), side("s4[16,64]{1,0:E(4)}"));
    for max_binding in (44..=260).step_by(4) {
        for (from, to) in [(&from, &to), (&to, &from)] {
            let mut profile = Profile::webgpu();
            (profile.offset_alignment, profile.max_binding) = (4, max_binding);
            match check(from, to, Padding::Keep, &profile, Some(Form::Transpose), [0, 0]) {
                Err(error) if error.code() == "not_expressible" => assert!(!error.found().is_empty()),
                other => other.unwrap(),
            }
        }
    }
}

fn map(text: &str) -> IndexMap {
    match text.parse::<BufferTensorDesc>() {
        Ok(desc) if text.contains("]:") => desc.to_index_map().unwrap(),
        _ => text.parse::<ArrayShape>().unwrap().to_index_map().unwrap(),
    }
}

#[test]
fn forms_are_taken_where_they_belong() {
    let of = |from: &str, to: &str| {
        let relayout = Relayout::new(&map(from), &map(to)).unwrap();
        Program::new(&relayout, &Profile::webgpu()).unwrap()
    };
    for (from, to, form) in [
        ("f32[64,65]{1,0}", "f32[64,65]{1,0}", Form::Linear),
        ("bf16[1001]{0}", "bf16[1001]{0}", Form::Linear),
        ("f32[33,64]:[64,1]", "f32[33,64]:[80,1]", Form::Rows),
        ("s4[32,64]:[64,1]", "s4[32,64]:[96,1]", Form::Rows),
        ("f32[30,300]{1,0}", "f32[30,300]{1,0:T(8,128)}", Form::Rows),
        ("f32[100,70]{1,0}", "f32[100,70]{0,1}", Form::Transpose),
        ("bf16[128,66]{1,0}", "bf16[128,66]{0,1}", Form::Transpose),
        ("u8[64,65]{1,0}", "u8[64,65]{0,1}", Form::Transpose),
        ("s4[64,64]:[64,1]", "s4[64,64]:[1,64]", Form::Transpose),
        ("s1[64,64]{1,0:E(1)}", "s1[64,64]{0,1:E(1)}", Form::Transpose),
        ("f64[40,40]{1,0}", "f64[40,40]{0,1}", Form::Transpose),
        ("c128[40,40]{1,0}", "c128[40,40]{0,1}", Form::Transpose),
        // Channels that stay together are one element of 8 bytes.
        ("f32[40,40,2]{2,1,0}", "f32[40,40,2]{2,0,1}", Form::Transpose),
        ("bf16[32,256]{1,0}", "bf16[32,256]{1,0:T(8,128)(2,1)}", Form::Interleave),
        ("u8[32,256]{1,0:T(8,128)(4,1)}", "u8[32,256]{1,0}", Form::Interleave),
        ("f32[3,64]{1,0}", "f32[3,64]{0,1}", Form::Transpose),
        ("f32[200]{0:T(48)}", "f32[200]{0:T(48)(5,1)}", Form::Rows),
        ("f32[200]{0:T(48)(5,1)}", "f32[200]{0:T(32)(3,1)}", Form::General),
        ("bf16[225,225]{1,0}", "bf16[225,225]{0,1}", Form::General),
    ] {
        let program = of(from, to);
        assert_eq!(program.form(), form, "{from} to {to}\n{}", program.explain());
        assert!(program.explain().starts_with(&format!("form: {form}, because ")), "{}", program.explain());
    }
    // Four words at once wherever all of it allows that, and not where a row begins inside four.
    let wide = |from: &str, to: &str| of(from, to).passes()[0].wgsl().contains("array<vec4<u32>>");
    assert!(wide("f32[64,64]{1,0}", "f32[64,64]{1,0}") && wide("bf16[33,64]:[64,1]", "bf16[33,64]:[80,1]"));
    assert!(!wide("f32[33,64]:[64,1]", "f32[33,64]:[81,1]"));
}

#[test]
fn a_form_that_does_not_apply_is_refused_with_the_reason() {
    let relayout = Relayout::new(&map("f32[200]{0:T(48)(5,1)}"), &map("f32[200]{0:T(32)(3,1)}")).unwrap();
    for form in Form::ALL.into_iter().filter(|form| *form != Form::General) {
        let options = ProgramOptions { form: Some(form), ..Default::default() };
        let error = Program::with_options(&relayout, &Profile::webgpu(), &options).unwrap_err();
        assert_eq!(error.code(), "not_expressible");
        assert!(error.to_string().contains(form.name()), "{error}");
    }
    let sixth = ProgramOptions { source_offset: 6, ..Default::default() };
    assert_eq!(Program::with_options(&relayout, &Profile::webgpu(), &sixth).unwrap_err().code(), "offset_unaligned");
    for break_it in [
        |profile: &mut Profile| profile.max_invocations = 0,
        |profile: &mut Profile| profile.max_storage_buffers = 1,
        |profile: &mut Profile| profile.offset_alignment = 3,
        |profile: &mut Profile| profile.max_binding = 300,
        |profile: &mut Profile| profile.max_workgroups = 0,
    ] {
        let mut profile = Profile::webgpu();
        break_it(&mut profile);
        assert_eq!(Program::new(&relayout, &profile).unwrap_err().code(), "out_of_limits");
    }
}

/// What would wrap round in 32 bits.
#[test]
fn layouts_past_what_a_shader_can_count_are_refused_or_cut() {
    let program =
        |from: &str, to: &str| Program::new(&Relayout::new(&map(from), &map(to)).unwrap(), &Profile::webgpu());
    // 2^32 elements of 4 bits, in 2 GiB: as many words as ever, but no number for the last element.
    let error = program("s4[65536,65536]{1,0:T(3,5)E(4)}", "s4[65536,65536]{0,1:E(4)}").unwrap_err();
    assert_eq!(error.code(), "overflow", "{error}");
    // Special forms count from the start of a binding, so they have no such end.
    let passes = program("s4[65536,65536]{1,0:E(4)}", "s4[65536,65536]{0,1:E(4)}").unwrap();
    assert_eq!(passes.form(), Form::Transpose);
    // fp16 past 2^31 bytes: every binding is within its limit, and together they are all of both.
    let program = program("f16[40000,30000]{1,0}", "f16[40000,30000]{0,1}").unwrap();
    assert_eq!(program.form(), Form::Transpose);
    let mut written = 0;
    for pass in program.passes() {
        for window in pass.bindings() {
            assert!(window.bytes.end - window.bytes.start <= 128 << 20);
        }
        let groups: u64 = pass.workgroups().iter().map(|&count| u64::from(count)).product();
        written += groups * 64 * 64 * 2;
    }
    assert!((2_400_000_000..2_700_000_000_u64).contains(&written), "{written}");
}

#[test]
fn more_than_65535_workgroups_are_spread_over_the_axes() {
    let relayout = Relayout::new(&map("u32[5000,5000]{1,0:T(7,3)}"), &map("u32[5000,5000]{0,1:T(5,3)}")).unwrap();
    let program = Program::new(&relayout, &Profile::webgpu()).unwrap();
    let [x, y, z] = program.passes()[0].workgroups();
    assert!(x <= 65_535 && y == 2 && z == 1, "{x} {y} {z}");
    assert!(u64::from(x) * u64::from(y) * 256 >= 25_000_000 && u64::from(x - 1) * u64::from(y) * 256 < 25_100_000);
}

#[test]
fn equal_shaders_have_equal_keys() {
    let program = |text: [&str; 2]| {
        let [from, to] = text;
        Program::new(&Relayout::new(&map(from), &map(to)).unwrap(), &Profile::webgpu()).unwrap().passes()[0].key()
    };
    let one = program(["f32[64,65]{1,0}", "f32[64,65]{0,1}"]);
    assert_eq!(one, program(["f32[64,65]{1,0}", "f32[64,65]{0,1}"]));
    assert_ne!(one, program(["f32[64,66]{1,0}", "f32[64,66]{0,1}"]));
    // Copies of any length are one pipeline.
    assert_eq!(program(["f32[64]{0}", "f32[64]{0}"]), program(["f32[640]{0}", "f32[640]{0}"]));
}

/// A descriptor's size is rounded up, or stated: padding that is set ends where the CPU's does.
#[test]
fn bytes_after_a_descriptors_elements_are_set_as_on_the_cpu() {
    let desc = |text: &str| text.parse::<BufferTensorDesc>().unwrap();
    for (from, to, more) in [
        ("u8[25]:[1]", "u8[25]:[1]", 0),
        ("u8[25]:[1]", "u8[25]:[2]+3", 0),
        ("u8[33,65]:[65,1]", "u8[33,65]:[1,33]", 0),
        ("u8[33,65]:[65,1]", "u8[33,65]:[1,40]", 300),
        ("f16[64,65]:[65,1]", "f16[64,65]:[1,64]", 4),
        ("f16[7,9]:[9,1]", "f16[7,9]:[1,7]", 100),
        ("s4[31,33]:[33,1]", "s4[31,33]:[1,31]", 8),
        ("f6e2m3fn[7,9]:[9,1]", "f6e2m3fn[7,9]:[1,8]", 12),
        ("u1[100]:[1]", "u1[100]:[3]", 64),
        ("f32[64,64]:[64,1]", "f32[64,64]:[1,64]", 4096),
    ] {
        let (from, to) = (desc(from), desc(to));
        let to = to.clone().with_total_size_in_bytes(to.total_tensor_size_in_bytes() + more).unwrap();
        for padding in [Padding::Keep, Padding::Zero, Padding::Fill(1)] {
            let relayout = Relayout::new(&from, &to).unwrap().with_padding_of_whole_buffer(padding).unwrap();
            for sizes in [Sizes::Constants, Sizes::Uniforms] {
                let mut profile = Profile::webgpu();
                profile.sizes = sizes;
                let program = Program::new(&relayout, &profile).unwrap();
                let source = noise(relayout.source_size_in_bytes() as usize, 5);
                let mut expected = noise(relayout.destination_size_in_bytes() as usize + 8, 6);
                let mut found = expected.clone();
                relayout.run(&source, &mut expected).unwrap();
                program.interpret(&source, &mut found).unwrap();
                assert!(found == expected, "{to} {padding:?}\n{}", program.explain());
            }
        }
    }
}

/// With many loops the groups of an invocation are copied in a loop, which ends before the next workgroup's.
#[test]
fn copies_of_many_loops_write_every_word_once() {
    let side = |text: &str| Side::tiled(&text.parse().unwrap());
    let (from, to) = (side("f32[2,3,2,3,2,3,2,32]"), side("f32[2,3,2,3,2,3,2,32]{7,0,1,2,3,4,5,6}"));
    check(&from, &to, Padding::Keep, &Profile::webgpu(), Some(Form::Rows), [0, 0]).unwrap();
}

/// 25 bytes: a copy that ends inside a word, between neighbours.
#[test]
fn bytes_after_an_odd_copy_stay() {
    let side = |text: &str| Side::strided(&text.parse().unwrap());
    for (from, to) in [("u8[25]:[1]", "u8[25]:[1]"), ("u8[25]:[1]", "u8[25]:[1]+3"), ("u8[25]:[2]+1", "u8[25]:[3]")] {
        for padding in [Padding::Keep, Padding::Zero, Padding::Fill(0x5a)] {
            check(&side(from), &side(to), padding, &Profile::webgpu(), None, [0, 1]).unwrap();
        }
    }
}

/// Axes walked backwards, and elements that change their width: as the CPU copies them, which is held to the
/// literal copy elsewhere.
#[test]
fn reversed_axes_and_other_widths_are_copied_as_on_the_cpu() {
    let compare = |relayout: &Relayout, form: Form| {
        let source = noise(relayout.source_size_in_bytes() as usize, 5);
        let mut expected = noise(relayout.destination_size_in_bytes() as usize, 6);
        let mut destination = expected.clone();
        relayout.run(&source, &mut expected).unwrap();
        let program = Program::new(relayout, &Profile::webgpu()).unwrap();
        assert_eq!(program.form(), form, "{}", program.explain());
        program.interpret(&source, &mut destination).unwrap();
        assert!(destination == expected, "{}\n{}", relayout.explain(), program.passes()[0].wgsl());
    };
    for (from, to, axes, form) in [
        ("f32[30,20]{1,0}", "f32[30,20]{0,1}", &[0][..], Form::Transpose),
        ("f32[300,200]{1,0}", "f32[300,200]{0,1}", &[0, 1], Form::Transpose),
        ("f32[3,30,50]{2,1,0}", "f32[3,30,50]{0,2,1}", &[0, 2], Form::Transpose),
        ("f32[300,200]{1,0}", "f32[300,200]{1,0}", &[0, 1], Form::Rows),
        ("f64[30,200]:[400,2]", "f64[30,200]{1,0}", &[1], Form::Rows),
        ("bf16[30,20]{1,0:T(8,128)(2,1)}", "bf16[30,20]{0,1}", &[0, 1], Form::General),
        ("u8[7,9,5]{2,1,0}", "u8[7,9,5]{2,1,0:T(4,4)}", &[1], Form::General),
        ("s4[7,9]{1,0:E(4)}", "s4[7,9]{0,1}", &[1], Form::General),
    ] {
        for padding in [Padding::Keep, Padding::Zero] {
            let relayout = Relayout::with_settings(
                &map(from),
                &map(to),
                &Settings { reversed: axes.to_vec(), ..Settings::default() },
            )
            .unwrap()
            .with_padding(padding)
            .unwrap();
            compare(&relayout, form);
        }
    }
    for (from, to) in [
        ("s4[33,17]{1,0:E(4)}", "s4[33,17]{0,1}"),
        ("u4[33,17]{1,0:E(4)}", "u4[33,17]{1,0:T(8,128)}"),
        ("s2[33,17]{1,0}", "s2[33,17]{0,1:E(2)}"),
        ("s1[100]{0:E(1)}", "s1[100]{0}"),
        ("u1[100]{0}", "u1[100]{0:E(1)}"),
    ] {
        for padding in [Padding::Keep, Padding::Zero] {
            compare(&Relayout::new(&map(from), &map(to)).unwrap().with_padding(padding).unwrap(), Form::General);
        }
    }
}

/// Sizes that change with every call: one text for all of them.
#[test]
fn with_sizes_as_uniforms_one_text_serves_every_length() {
    let mut profile = Profile::webgpu();
    profile.sizes = Sizes::Uniforms;
    for (kind, from, to, form) in [
        ("bf16[N,128]", "{1,0}", "{1,0}", Form::Linear),
        ("f16[N,32,128]", "{2,1,0}", "{2,0,1}", Form::Rows),
        ("f32[N,768]", "{1,0}", "{0,1}", Form::Transpose),
        ("f32[4,N,768]", "{2,1,0}", "{1,2,0}", Form::Transpose),
        ("bf16[8,N,4096]", "{2,1,0}", "{2,1,0:T(8,128)(2,1)}", Form::Interleave),
    ] {
        let mut keys = std::collections::HashSet::new();
        for length in 0..200 {
            // Whole tiles of 8 rows, where there are tiles.
            let length = if form == Form::Interleave { 64 + 8 * length } else { 100 + length };
            let sizes = kind.replace('N', &length.to_string());
            let relayout = Relayout::new(&map(&format!("{sizes}{from}")), &map(&format!("{sizes}{to}"))).unwrap();
            let program = Program::new(&relayout, &profile).unwrap();
            assert_eq!(program.form(), form, "{}", program.explain());
            keys.extend(program.passes().iter().map(|pass| pass.key()));
        }
        assert_eq!(keys.len(), 1, "{kind}{from} to {to}");
    }
}
