//! Operations without a module, as people paste them.

use tensor_layout_hlo::{Module, Operation, Reader, Record};

/// The operations of XLA's page on shapes, as the page breaks their lines.
const OF_THE_PAGE: &str = "add.936 = bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}
add(exponential.183, broadcast.3115)
%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}
fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} %fusion.32),
kind=kCustom, calls=%all-reduce-scatter.3
";

/// The operations of a text, each with its lines.
fn split(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        match found.last_mut().filter(|last| Operation::begins(last) && Operation::goes_on(last, line)) {
            Some(last) => *last += &format!("\n{line}"),
            None => found.push(line.to_owned()),
        }
    }
    found
}

#[test]
fn operations_are_split_from_the_lines_of_a_page() {
    let found = split(OF_THE_PAGE);
    let [add, fusion] = [0, 1].map(|at: usize| Operation::read(&found[at]).unwrap());
    assert_eq!(found.len(), 2);
    assert_eq!((add.name, add.opcode), ("add.936", "add"));
    assert_eq!(add.shape, "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}");
    let operands: Vec<_> = add.operands.iter().map(|operand| (operand.name, operand.shape)).collect();
    assert_eq!(operands, [("exponential.183", None), ("broadcast.3115", None)]);
    assert_eq!((fusion.name, fusion.opcode), ("fusion.3", "fusion"));
    assert_eq!(fusion.operands[0].shape, Some("bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)}"));
    assert_eq!(fusion.attributes, ["kind=kCustom", "calls=%all-reduce-scatter.3"]);
}

/// A line goes on while a bracket is open, while the operation is not whole, or with an indented line that
/// begins no other.
#[test]
fn where_an_operation_ends() {
    for (text, lines) in [
        ("a = f32[2] neg(b)\nc = f32[2] neg(a)", &[1, 1][..]),
        ("  a = f32[2] neg(b)\n  c = f32[2] neg(a)", &[1, 1]),
        ("a = f32[2] add(b,\nc)\nd = f32[] iota()", &[2, 1]),
        ("a = (f32[2],\n/*index=1*/s32[]) tuple(b,\n%c)", &[3]),
        ("a = f32[2] neg(b)\n    , metadata={op_name=\"x\"}", &[2]),
        ("a = f32[2] fusion(b), kind=kLoop,\ncalls=%c", &[2]),
        ("ROOT a =\n f32[2] neg(b)", &[1, 1]),
        ("a = f32[2] neg(b)\n\n  c", &[1, 1, 1]),
        ("f32[2]\n  f32[3]", &[1, 1]),
        ("%p = f32[2]{0} parameter(0), sharding={\nreplicated}\nf32[4]", &[2, 1]),
    ] {
        let found: Vec<usize> = split(text).iter().map(|part| part.lines().count().max(1)).collect();
        assert_eq!(found, lines, "{text}");
    }
    // A text that never ends is not read again for each of its lines.
    let text = "a = f32[2] add(b,\n".to_owned() + &"c,\n".repeat(1000);
    assert_eq!(split(&text)[0].lines().count(), 65);
}

#[test]
fn texts_that_are_no_operation_are_left_alone_and_broken_ones_say_where() {
    for text in
        ["", "f32[2,3]{1,0}", "shape=(2, 3), strides=(12, 4)", "ne = {4, 2}, nb = {4, 16}", "(f32[2], s32[])", "a = b"]
    {
        assert!(!Operation::begins(text), "{text}");
    }
    for (text, column, expected) in [
        ("a = f32[2]", 11, "the name of an operation"),
        ("a = f32[2]{1} neg(b)", 12, "a dimension below the rank 1"),
        ("a = f32[2] neg", 15, "`(` and the operands"),
        ("a = f32[2] neg(b", 17, "`,` or `)`"),
        ("a = f32[2] neg(f32[2]{0 b)", 25, "`,`, `:` or `}`"),
        ("a = f32[2] neg(b) kind=kLoop", 19, "`,` and attributes"),
        ("a = f32[2] neg(b), kind={", 26, "the rest of the attributes"),
        ("a = f32[2] neg(b),", 19, "the rest of the attributes"),
        ("a = f32[2] parameter(0", 23, "`)` after the operands"),
        ("a = f32[2] neg(b, )", 19, "a name"),
    ] {
        let error = Operation::read(text).unwrap_err();
        assert_eq!((error.column(), error.expected()), (Some(column), expected), "{text}");
    }
    // Only a shape, and tuples in tuples.
    let text = "t = (f32[2], (s32[], token[])) tuple(f32[2], (s32[], token[]) %u)";
    let operation = Operation::read(text).unwrap();
    let operands: Vec<_> = operation.operands.iter().map(|operand| (operand.name, operand.shape)).collect();
    assert_eq!(operands, [("", Some("f32[2]")), ("u", Some("(s32[], token[])"))]);
}

#[test]
fn a_reader_takes_operations_without_a_computation() {
    for head in ["", "HloModule m\n\n"] {
        let dump = format!("{head}{OF_THE_PAGE}");
        let records: Vec<Record> = Reader::new(dump.as_bytes()).collect::<Result<_, _>>().unwrap();
        let names = records.iter().map(|record| match record {
            Record::Instruction(found) => {
                (found.name.as_str(), found.operands.len(), &*found.computation, found.in_entry)
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(names.collect::<Vec<_>>(), [("add.936", 2, "", false), ("fusion.3", 1, "", false)]);
    }
    // The end of a computation without its head, and the next one.
    let module =
        Module::read(&b"  ROOT a = f32[2] neg(b)\n}\n\nENTRY e {\n  p = f32[2] parameter(0)\n}\n"[..]).unwrap();
    assert_eq!((module.instructions(), module.unreadable()), (2, 0));
    // Behind a computation, operations without a head are lost lines.
    let module = Module::read(&b"ENTRY e {\n  p = f32[2] parameter(0)\n}\na = f32[2] neg(p)\n"[..]).unwrap();
    assert_eq!((module.instructions(), module.unreadable()), (1, 1));
}
