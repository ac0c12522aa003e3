use super::super::{Code, ComputeShader};
use super::*;

/// A shader with workgroups of 4 invocations, a buffer to read, a buffer to write, and an array of 4 words in
/// workgroup memory.
fn shader(body: impl FnOnce(&ComputeShader, &mut Code, [&Memory; 2], &Memory)) -> ComputeShader {
    let mut shader = ComputeShader::new("main", [4, 1, 1]);
    let (source, destination) =
        (shader.buffer("source", Access::Read), shader.buffer("destination", Access::ReadWrite));
    shader.uniform("first", 100);
    let tile = shader.shared("tile", 4);
    let mut code = shader.code();
    body(&shader, &mut code, [&source, &destination], &tile);
    shader.with_body(code)
}

/// Runs a shader over 2 workgroups.
fn run(shader: &ComputeShader) -> Result<Vec<u32>, Fault> {
    let mut buffers = [(10..18).collect(), vec![0; 8]];
    dispatch(shader, [2, 1, 1], &[3], &mut buffers)?;
    let [_, written] = buffers;
    Ok(written)
}

/// A shader in which each workgroup reverses its four words, through workgroup memory.
fn turn(with_barrier: bool) -> ComputeShader {
    shader(|shader, code, [source, destination], tile| {
        let local = shader.local_invocation_index();
        let word = code.bind("word", shader.workgroup_id(0) * 4 + &local);
        let value = source.at(&word);
        code.store(tile, &local, value);
        if with_barrier {
            code.barrier();
        }
        let other = tile.at(Expr::from(3) - local);
        code.store(destination, &word, other);
    })
}

#[test]
fn a_workgroup_exchanges_words_after_a_barrier() {
    assert_eq!(run(&turn(true)), Ok(vec![13, 12, 11, 10, 17, 16, 15, 14]));
    assert!(matches!(run(&turn(false)), Err(Fault::Race { .. })));
}

#[test]
fn the_text_is_the_same_code() {
    let text = turn(true).wgsl();
    let expected = "\
struct Uniforms {
    first: u32,
}

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<u32>;
@group(0) @binding(2) var<uniform> uniforms: Uniforms;
var<workgroup> tile: array<u32, 4>;

@compute @workgroup_size(4)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let word = (workgroup_id.x << 2u) + local_index;
    tile[local_index] = source[word];
    workgroupBarrier();
    destination[word] = tile[3u - local_index];
}
";
    assert_eq!(text, expected);
}

#[test]
fn loops_and_branches_run_for_each_invocation() {
    let shader = shader(|shader, code, [source, destination], _| {
        let word = code.bind("word", shader.workgroup_id(0) * 4 + shader.local_invocation_index());
        let sum = code.variable("sum", 0, 1000);
        code.repeat("i", 0, &word, 2, |code, i| {
            let value = source.at(i);
            code.assign(&sum, Expr::from(&sum) + value.at_most(17));
        });
        code.when_else(
            word.less(5).and(word.not_equal(2)),
            |code| code.store(destination, &word, &sum),
            |code| code.store(destination, &word, Expr::from(&sum) + 100),
        );
    });
    let expected: Vec<u32> = (0..8_u32)
        .map(|word| (0..word).step_by(2).map(|i| i + 10).sum::<u32>() + if word < 5 && word != 2 { 0 } else { 100 })
        .collect();
    assert_eq!(run(&shader), Ok(expected));
    let text = shader.wgsl();
    for line in
        ["for (var i = 0u; i < word; i += 2u) {", "sum += source[i];", "if (word < 5u && word != 2u) {", "} else {"]
    {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn what_a_device_does_silently_is_reported() {
    let past = shader(|shader, code, [source, destination], _| {
        let value = source.at(shader.local_invocation_index() + 5);
        code.store(destination, shader.local_invocation_index(), value);
    });
    assert_eq!(run(&past), Err(Fault::OutOfRange { memory: "source".into(), index: 8, words: 8 }));

    let twice = shader(|shader, code, [_, destination], _| {
        code.store(destination, shader.local_invocation_index() / 2, 1);
    });
    assert!(matches!(run(&twice), Err(Fault::Race { .. })));
    let in_two_groups = shader(|shader, code, [_, destination], _| {
        code.store(destination, shader.local_invocation_index(), 1);
    });
    assert_eq!(run(&in_two_groups), Err(Fault::Race { memory: "destination".into(), index: 0, invocation: 4 }));

    let read_back = shader(|shader, code, [_, destination], _| {
        code.store(destination, shader.local_invocation_index(), 1);
        let next = destination.at(shader.local_invocation_index() + 1);
        code.variable("x", next, 1);
    });
    assert_eq!(run(&read_back), Err(Fault::Race { memory: "destination".into(), index: 1, invocation: 0 }));

    let wraps = shader(|shader, code, [_, destination], _| {
        let x = code.bind("x", shader.local_invocation_index() + u32::MAX);
        code.store(destination, x, 1);
    });
    assert!(matches!(run(&wraps), Err(Fault::Arithmetic { a: 1, b: u32::MAX, .. })), "0 + MAX fits");
    let below_zero = shader(|shader, code, [_, destination], _| {
        code.store(destination, shader.local_invocation_index() - 1, 1);
    });
    let fault = run(&below_zero).unwrap_err();
    assert_eq!(fault.to_string(), "`local_index - 1u` with 0 and 1 does not fit 32 bits");
    let wanted = shader(|shader, code, [_, destination], _| {
        let x = shader.local_invocation_index().wrapping_sub(1).wrapping_add(1);
        code.store(destination, shader.workgroup_id(0) * 4 + x, 1);
    });
    assert_eq!(run(&wanted), Ok(vec![1; 8]));

    let far_steps = shader(|_, code, _, _| code.repeat("i", 0, u32::MAX, 1 << 31, |_, _| {}));
    let fault = run(&far_steps).unwrap_err();
    assert_eq!(fault.to_string(), "`i += step` with 2147483648 and 2147483648 does not fit 32 bits");

    let in_a_branch = shader(|shader, code, _, _| {
        code.when(shader.local_invocation_index().less(2), Code::barrier);
    });
    assert_eq!(run(&in_a_branch), Err(Fault::BarrierInBranch { reached: 2, invocations: 4 }));
    let unwritten = shader(|_, code, [_, destination], tile| {
        let value = tile.at(1);
        code.store(destination, 0, value);
    });
    assert_eq!(run(&unwritten), Err(Fault::NotWritten { array: "tile".into(), index: 1 }));
    let read_only = shader(|_, code, [source, _], _| code.store(source, 0, 1));
    assert_eq!(run(&read_only), Err(Fault::ReadOnly { buffer: "source".into() }));
    let bound = shader(|shader, code, _, _| {
        code.variable("x", shader.local_invocation_index(), 2);
    });
    assert_eq!(run(&bound), Err(Fault::AboveBound { name: "x".into(), value: 3, most: 2 }));
}

#[test]
fn a_dispatch_must_fit_its_shader() {
    let shader = turn(true);
    let mut buffers = [vec![0; 8], vec![0; 8]];
    assert!(matches!(dispatch(&shader, [1, 1, 1], &[], &mut buffers), Err(Fault::Dispatch(_))));
    assert!(matches!(dispatch(&shader, [65_536, 1, 1], &[0], &mut buffers), Err(Fault::Dispatch(_))));
    assert!(matches!(dispatch(&shader, [1, 1, 1], &[101], &mut buffers), Err(Fault::AboveBound { .. })));
    assert_eq!(dispatch(&shader, [1, 1, 1], &[0], &mut buffers), Ok(()));
}

/// A shader whose 3 invocations copy a group of four words each, in reverse order of the groups. Each then
/// writes a group of four sevens after the copied groups.
fn in_fours() -> ComputeShader {
    let mut shader = ComputeShader::new("main", [3, 1, 1]);
    let source = shader.buffer_of("source", Access::Read, 4);
    let destination = shader.buffer_of("destination", Access::ReadWrite, 4);
    let mut code = shader.code();
    let own = shader.local_invocation_index();
    let four = code.load_group("four", &source, &own);
    code.store_group(&destination, Expr::from(2) - &own, &four);
    code.store_group(&destination, own + 3, &[7, 7, 7, 7].map(Expr::from));
    shader.with_body(code)
}

#[test]
fn groups_of_four_words_are_copied_and_filled() {
    let mut buffers = [(0..12).collect(), vec![99; 24]];
    assert_eq!(dispatch(&in_fours(), [1, 1, 1], &[], &mut buffers), Ok(()));
    let copied = [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3];
    assert_eq!(buffers[1], [&copied[..], &[7; 12]].concat());
    let text = in_fours().wgsl();
    for line in [
        "var<storage, read_write> destination: array<vec4<u32>>;",
        "let four = source[local_index];",
        "destination[2u - local_index] = four;",
        "destination[local_index + 3u] = vec4<u32>(7u, 7u, 7u, 7u);",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn a_group_past_the_end_is_a_fault() {
    let mut buffers = [(0..12).collect(), vec![99; 23]];
    let fault = dispatch(&in_fours(), [1, 1, 1], &[], &mut buffers).unwrap_err();
    assert_eq!(fault, Fault::OutOfRange { memory: "destination".into(), index: 23, words: 23 });
}
