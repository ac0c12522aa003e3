use super::*;

#[test]
fn commas_in_brackets_and_strings_separate_nothing() {
    let parts: Vec<_> = split_at_commas("a={1,2}, b=\"x,\\\",y\", c=[2,4]<=[8]T(1,0)").collect();
    assert_eq!(parts, ["a={1,2}", "b=\"x,\\\",y\"", "c=[2,4]<=[8]T(1,0)"]);
    assert_eq!(closing_bracket("%a, (f32[2], %b), %c), x=(1)"), Some(20));
    assert_eq!(closing_bracket("\")\", 1"), None);
}

#[test]
fn computations_and_the_source_operation() {
    let text = "condition=%c.1, body=b, branch_computations={%x, %y}, select=%s, index=3, \
        custom_call_target=\"AllocateBuffer\", output_to_operand_aliasing={{}: (0, {})}, \
        metadata={op_type=\"calls=%no\" op_name=\"jit(f)/\\\"add\\\"\" source_file=\"a b.py\" \
        profile_type={1 2} source_line=7 stack_frame_id=5}, calls=%f";
    let found = Attributes::read(text);
    assert_eq!(found.calls, ["c.1", "b", "x", "y", "s", "f"]);
    assert_eq!(found.op_name, Some("jit(f)/\\\"add\\\""));
    assert_eq!((found.source_file, found.source_line, found.stack_frame), (Some("a b.py"), Some(7), Some(5)));
    assert_eq!((found.index, found.target), (Some(3), Some("AllocateBuffer")));
    assert_eq!(found.aliasing, Some("{{}: (0, {})}"));
    let open = Attributes { is_open: true, ..Attributes::default() };
    assert_eq!(Attributes::read("metadata={op_name=\"no end"), open);
    assert_eq!(
        (Attributes::read(", "), Attributes::read(", a={")),
        (open, Attributes { is_open: true, ..Default::default() })
    );
    assert_eq!(Attributes::read(""), Attributes::default());
}

#[test]
fn brackets_that_are_open_across_pieces() {
    let mut open = Open::default();
    assert!(open.add("%a = f32[2]{0} add("));
    assert!(!open.add("%b, \")\", f32[2]{0}"));
    assert!(!open.add(" \""));
    assert!(!open.add(")"));
    assert!(open.add("\"), to_apply={"));
}
