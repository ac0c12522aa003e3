use super::*;

fn read(text: &str) -> Result<Instruction, Error> {
    Instruction::read(text, false, 1, &"main".into(), true, &mut Sources::default())
}

#[test]
fn numbers_targets_and_aliases() {
    let found = read("%p = f32[3]{0} parameter(7), sharding={replicated}").unwrap();
    assert_eq!(found.number, Some(7));
    let text = "c = (f32[2]{0}, f32[2]{0}) custom-call(a, b), custom_call_target=\"f\", \
        output_to_operand_aliasing={{0}: (1, {}), {1}: (0, {2,3})}, metadata={source_file=\"x.py\" source_line=4}";
    let found = read(text).unwrap();
    assert_eq!(found.custom_call_target.as_deref(), Some("f"));
    let aliases: Vec<_> =
        found.operand_aliases.iter().map(|a| (&a.output[..], a.operand, &a.operand_index[..])).collect();
    assert_eq!(aliases, [(&[0][..], 1, &[][..]), (&[1], 0, &[2, 3])]);
    assert_eq!(found.source.map(|source| source.line), Some(4));
}

#[test]
fn lines_of_many_kinds() {
    for (text, name, opcode, operands) in [
        ("%p.1 = f32[3]{0} parameter(0), metadata={op_name=\"x\"}", "p.1", "parameter", &[][..]),
        ("ROOT %a = f32[3]{0:T(128)} add(f32[3]{0:T(128)} %b, %c)", "a", "add", &["b", "c"]),
        ("t = (f32[], /*index=1*/s8[2]) tuple(x, /*index=1*/y)", "t", "tuple", &["x", "y"]),
        ("c = s32[2]{0} constant({1, 2})", "c", "constant", &[]),
        ("c = s32[] constant(\")\")", "c", "constant", &[]),
        ("%after-all.1 = token[] after-all()", "after-all.1", "after-all", &[]),
        (
            "%copy-start = (bf16[8,128]{1,0:T(8,128)(2,1)S(1)}, bf16[8,128]{1,0:T(8,128)(2,1)}, u32[]{:S(2)}) copy-start(%p)",
            "copy-start",
            "copy-start",
            &["p"],
        ),
        ("%g = f32[2]{0} get-tuple-element((f32[2]{0}, f32[]) %t), index=0", "g", "get-tuple-element", &["t"]),
    ] {
        let found = read(text).unwrap();
        assert_eq!((found.name.as_str(), found.opcode.as_str()), (name, opcode), "{text}");
        assert_eq!(found.operands, operands, "{text}");
        assert_eq!(found.is_root, text.starts_with("ROOT"));
    }
}

#[test]
fn refused_lines_point_at_the_byte() {
    for (text, column) in [
        ("%a f32[3]", 4),
        ("%a = f33[3]{0} add(%b)", 6),
        ("%a = f32[3]{0} (%b)", 16),
        ("%a = f32[3]{0} add %b", 20),
        ("%a = f32[3]{0} add(%b", 22),
        ("= f32[]", 1),
    ] {
        assert_eq!(read(text).unwrap_err().column(), Some(column), "{text}");
    }
    assert!(
        Instruction::read("c = s8[9] constant({1, 2", true, 1, &"main".into(), true, &mut Sources::default()).is_ok()
    );
}

/// The expected answers are those of XLA's buffer assignment, which gives no memory to a result that is an
/// alias.
#[test]
fn names_for_memory_that_exists_already() {
    for (text, is_alias, element) in [
        ("a = f32[3]{0} add(b, c)", false, None),
        ("p = f32[3]{0} parameter(0)", false, None),
        ("a = f32[3]{0} bitcast(b)", true, None),
        ("a = f32[3]{0} all-gather-done(b)", true, None),
        ("a = ((f32[3]{0}), f32[6]{0}) all-gather-start(b)", false, Some(0)),
        ("a = (f32[3]{0:S(1)}, f32[3]{0}, u32[]) copy-start(b)", false, Some(1)),
        ("a = f32[3]{0} all-reduce-start(b)", false, None),
    ] {
        let found = read(text).unwrap();
        assert_eq!((found.is_alias(), found.aliased_element()), (is_alias, element), "{text}");
    }
}
