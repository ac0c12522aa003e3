use super::super::{Access, ComputeShader, Fault, dispatch};

/// Each of 3 invocations copies a group of four words, the first to the last place, and sets one after them.
fn shader() -> ComputeShader {
    let mut shader = ComputeShader::new("main", [3, 1, 1]);
    let source = shader.wide_buffer("source", Access::Read);
    let destination = shader.wide_buffer("destination", Access::ReadWrite);
    let mut code = shader.code();
    let own = shader.local_invocation_index();
    code.copy_wide(&destination, super::Expr::from(2) - &own, &source, &own);
    code.fill_wide(&destination, own + 3, 7);
    shader.with_body(code)
}

#[test]
fn groups_of_four_words_are_copied_and_filled() {
    let mut buffers = [(0..12).collect(), vec![99; 24]];
    assert_eq!(dispatch(&shader(), [1, 1, 1], &[], &mut buffers), Ok(()));
    let copied = [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3];
    assert_eq!(buffers[1], [&copied[..], &[7; 12]].concat());
    let text = shader().wgsl();
    for line in [
        "var<storage, read_write> destination: array<vec4<u32>>;",
        "destination[2u - local_index] = source[local_index];",
        "destination[local_index + 3u] = vec4<u32>(7u);",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn a_group_past_the_end_is_a_fault() {
    let mut buffers = [(0..12).collect(), vec![99; 23]];
    let fault = dispatch(&shader(), [1, 1, 1], &[], &mut buffers).unwrap_err();
    assert_eq!(fault, Fault::OutOfRange { memory: "destination".into(), index: 23, words: 23 });
}
