//! Instructions over several lines, and where one that does not end gives way to the next.

use std::io::{self, BufReader, Read};

use tensor_layout_hlo::{MAX_LINE_BYTES, Module, Reader, Record};

/// The names of the instructions, each after that of its computation, and the numbers of the lines that could
/// not be read.
fn read(text: &str) -> (Vec<String>, Vec<u64>) {
    let (mut names, mut unreadable) = (Vec::new(), Vec::new());
    for record in Reader::new(text.as_bytes()) {
        match record.unwrap() {
            Record::Instruction(found) => names.push(format!("{}.{}", found.computation, found.name)),
            Record::Unreadable(line) => unreadable.push(line.line),
            other => panic!("{other:?}"),
        }
    }
    (names, unreadable)
}

/// The lines are in the computation `e`, the first of them is line 2.
#[test]
fn an_instruction_ends_where_it_is_whole_or_another_line_begins_anew() {
    for (lines, names, unreadable) in [
        // Whole with the third line; at the end of the second it might go on, though no bracket is open
        // there.
        ("a = (f32[2],\nf32[3])\ntuple(b, c)", &["e.a"][..], &[][..]),
        // The text is wrong before its end, be it at the last byte: what follows is a line of its own.
        ("a = f33[2] add(b)\nx", &[], &[2, 3]),
        ("a = f32[2] !\nx", &[], &[2, 3]),
        ("a = (f32[2],\nf33[3])\nx", &[], &[2, 4]),
        // An empty line, the end of the computation, a new instruction and the head of a computation end it.
        ("a = f32[2] add(b,\n\nc)", &[], &[2, 4]),
        ("a = f32[2] add(b,\n}\nf {\nb = f32[] iota()", &["f.b"], &[2]),
        ("a = f32[2] add(b,\nROOT c = f32[] iota()", &["e.c"], &[2]),
        ("a = f32[2] add(b,\n%f (x: f32[2]) -> f32[2] {\nc = f32[] iota()", &["e.c"], &[2, 3]),
        // A line that only ends like a head goes on with it, and so do attributes that are open.
        ("a = f32[2] add(b,\nc), backend_config={\nx=1}", &["e.a"], &[]),
        ("a = f32[2] add(b), backend_config={", &[], &[2]),
    ] {
        let (found, lost) = read(&format!("ENTRY e {{\n{lines}\n}}\n"));
        assert_eq!(
            (&found[..], &lost[..]),
            (&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()[..], unreadable),
            "{lines}"
        );
    }
}

/// Attributes that an editor has wrapped: the state of a loop is only found with its body.
#[test]
fn attributes_may_go_on_in_the_next_line() {
    let text = "HloModule m, is_scheduled=true,
  input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={(f32[256]{0},
  s32[])->f32[256]{0}}

body (s: (f32[256], s32[])) -> (f32[256], s32[]) {
  s = (f32[256]{0}, s32[]) parameter(0)
  x = f32[256]{0} get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  y = f32[256]{0} reverse(x), dimensions={0}
  ROOT r = (f32[256]{0}, s32[]) tuple(y, i)
}
condition (c: (f32[256], s32[])) -> pred[] {
  c = (f32[256]{0}, s32[]) parameter(0)
  ROOT t = pred[] constant(true)
}
ENTRY e (p: f32[256],
    n: s32[]) -> f32[256] {
  p = f32[256]{0} parameter(0)
  n = s32[] parameter(1)
  state = (f32[256]{0}, s32[]) tuple(p, n)
  loop = (f32[256]{0}, s32[]) while(state), condition=condition, body=body, metadata={op_name=\"while\" source_file=\"a.py\" source_line=3}
  ROOT q = f32[256]{0} get-tuple-element(loop), index=0
}
";
    let totals = |text: &str| {
        let module = Module::read(text.as_bytes()).unwrap();
        assert_eq!((module.unreadable(), module.instructions()), (0, 12), "{text}");
        assert!(module.header().is_scheduled && module.header().aliases.len() == 1);
        module.live_memory().unwrap().total()
    };
    let whole = totals(text);
    assert_eq!((whole.argument_bytes, whole.alias_bytes, whole.temp_bytes), (1028, 1024, 16));
    for (at, wrapped) in [
        (", condition=", ",\n    condition="),
        (", condition=", "\n    , condition="),
        (" source_file=", "\n      source_file="),
        (", body=body", ",\n    body=body"),
        (", body=body", "\n,\n body=body"),
        ("while(state), condition=condition, body=body, ", "while(state)\n, condition=condition\n, body=body\n, "),
    ] {
        assert_eq!(totals(&text.replacen(at, wrapped, 1)), whole, "{wrapped}");
    }
}

#[test]
fn the_lines_of_an_instruction_are_kept_up_to_their_limit() {
    let first = "a = f32[2] add(b,";
    for (over, whole) in [(0, true), (1, false)] {
        let rest = "c), metadata={op_name=\"\"}";
        let name = "x".repeat(MAX_LINE_BYTES - first.len() - rest.len() + over);
        let text = format!("ENTRY e {{\n{first}\n{}\n}}\n", rest.replace("\"\"", &format!("\"{name}\"")));
        let (names, unreadable) = read(&text);
        assert_eq!((names.len(), unreadable.len()), if whole { (1, 0) } else { (0, 2) });
    }
}

/// XLA prints the parameters of a computation in its head, which no limit holds for.
#[test]
fn a_head_needs_its_brace_unless_the_line_is_too_long_to_be_kept() {
    let body = "\n  b = f32[] iota()\n}\n";
    let (names, unreadable) = read(&format!("f (x: f32[2]) -> f32[2]\nENTRY e {{{body}"));
    assert_eq!((names, unreadable), (vec!["e.b".to_owned()], vec![1]));
    let parameters = "x: f32[2], ".repeat(MAX_LINE_BYTES / 8);
    let (names, unreadable) = read(&format!("ENTRY e ({parameters}) -> f32[2] {{{body}"));
    assert_eq!((names, unreadable), (vec!["e.b".to_owned()], vec![]));
}

#[test]
fn an_interrupted_read_is_tried_again() {
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(buffer) }
        }
    }
    let text = "ENTRY e {\n  a = f32[] iota()\n}\n";
    let stream = BufReader::with_capacity(7, Interrupted(text.as_bytes(), false));
    let records: Vec<Record> = Reader::new(stream).collect::<Result<_, _>>().unwrap();
    assert!(matches!(&records[..], [Record::Instruction(found)] if found.name == "a"));
}
