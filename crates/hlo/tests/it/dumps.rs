//! The dumps of tests/data, which XLA's CPU compiler printed, and lines as a TPU prints them.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tensor_layout::Shape;
use tensor_layout_hlo::{BufferTable, Instruction, Module, Reader, Record};
use tensor_layout_literal::cases;

fn dumps() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "hlo"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn read(text: &str) -> (Vec<Instruction>, Vec<(u64, String)>) {
    let (mut instructions, mut unreadable) = (Vec::new(), Vec::new());
    for record in Reader::new(text.as_bytes()) {
        match record.unwrap() {
            Record::Instruction(instruction) => instructions.push(*instruction),
            Record::Unreadable(line) => unreadable.push((line.line, line.text)),
            other => panic!("{other:?}"),
        }
    }
    (instructions, unreadable)
}

#[test]
fn every_instruction_of_real_dumps_is_read() {
    let dumps = dumps();
    assert!(dumps.len() >= 8);
    for (path, text) in dumps {
        let (instructions, unreadable) = read(&text);
        assert!(unreadable.is_empty(), "{}: {unreadable:?}", path.display());
        // In these dumps every instruction, and nothing else, is a line with ` = ` after two blanks.
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  ") && line.contains(" = ")).collect();
        assert_eq!(instructions.len(), lines.len(), "{}", path.display());
        for (instruction, line) in instructions.iter().zip(lines) {
            let head = format!("{} = {} {}(", instruction.name, instruction.shape, instruction.opcode);
            assert!(line.contains(&head), "{head}\n{line}");
            for operand in &instruction.operands {
                assert!(
                    instructions.iter().any(|i| i.name == *operand && i.computation == instruction.computation),
                    "{}: no operand {operand} of {}",
                    path.display(),
                    instruction.name
                );
            }
            for called in &instruction.calls {
                assert!(instructions.iter().any(|i| *i.computation == **called), "{called}");
            }
        }
        let roots = instructions.iter().filter(|i| i.is_root && i.in_entry).count();
        assert_eq!(roots, 1, "{}", path.display());
    }
}

#[test]
fn the_dense_layer_has_five_buffers_of_its_own() {
    let (_, text) = dumps().into_iter().find(|(path, _)| path.ends_with("dense.hlo")).unwrap();
    let module = Module::read(text.as_bytes()).unwrap();
    let table = BufferTable::of(&module, 3);
    assert_eq!((module.instructions(), module.unreadable(), table.refused_buffers()), (15, 0, 0));
    let total = table.total(0).unwrap();
    let bytes = 4 * (64 * 128 + 128 * 256 + 256 + 2 * 64 * 256);
    assert_eq!((total.buffers, total.logical_bytes, total.padded_bytes), (5, bytes, bytes));
    // Nothing is wasted on a CPU, so the largest come first.
    let names: Vec<&str> = table.rows().iter().map(|row| row.instruction.as_str()).collect();
    assert_eq!(names, ["w.1", "ynn_fusion", "broadcast_maximum_fusion"]);
}

/// Lines as TPU compilers print them, with sizes computed by hand.
#[test]
fn padding_on_a_tpu_is_found_and_sorted() {
    let text = "\
HloModule jit_f, is_scheduled=true

%region_0.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[]{:T(128)} parameter(0)
  %b = f32[]{:T(128)} parameter(1)
  ROOT %add = f32[]{:T(128)} add(%a, %b)
}

ENTRY %main.4 (p: u32[12582912,1]) -> (f32[], s32[2048,1,128,128,4]) {
  %p = u32[12582912,1]{1,0:T(8,128)} parameter(0), metadata={op_name=\"indices\"}
  %copy = (bf16[16,128]{1,0:T(8,128)(2,1)S(1)}, bf16[16,128]{1,0:T(8,128)(2,1)}, u32[]{:S(2)}) copy-start(%p)
  %copy.1 = bf16[16,128]{1,0:T(8,128)(2,1)S(1)} copy-done(%copy)
  %gather = s32[2048,1,128,128,4]{4,3,2,0,1:T(8,128)} gather(%p, %p), slice_sizes={1,1}
  %host = f32[10,32,512]{2,1,0:T(8,128)S(5)} copy(%p)
  %sum = f32[]{:T(128)} reduce(%p, %p), dimensions={0,1}, to_apply=%region_0.1
  ROOT %tuple = (f32[]{:T(128)}, s32[2048,1,128,128,4]{4,3,2,0,1:T(8,128)}) tuple(%sum, %gather)
}
";
    let table = BufferTable::of(&Module::read(text.as_bytes()).unwrap(), 100);
    let rows: Vec<_> = table
        .rows()
        .iter()
        .map(|row| (row.instruction.clone(), row.tuple_index.clone(), row.logical_bytes, row.padded_bytes))
        .collect();
    let row = |name: &str, index: &[usize], logical, padded| (name.to_owned(), index.to_vec(), logical, padded);
    assert_eq!(
        rows,
        [
            row("gather", &[], 512 << 20, 16 << 30),
            row("p", &[], 48 << 20, 6 << 30),
            row("sum", &[], 4, 512),
            row("host", &[], 10 * 32 * 512 * 4, 10 * 32 * 512 * 4),
            row("copy", &[0], 16 * 128 * 2, 16 * 128 * 2),
            row("copy", &[2], 4, 4),
        ]
    );
    assert_eq!(table.rows()[1].op_name.as_deref(), Some("indices"));
    assert!((table.rows()[1].expansion() - 128.0).abs() < 1e-12);
    let spaces: Vec<u64> = table.totals().map(|(space, _)| space).collect();
    assert_eq!(spaces, [0, 1, 2, 5]);
    // The memory spaces of the rows, as `S(n)` gives them.
    let spaces: Vec<u64> = table.rows().iter().map(|row| row.memory_space()).collect();
    assert_eq!(spaces, [0, 0, 0, 5, 1, 2]);
}

/// The totals of the dumps from a TPU compiler, against sizes it reported itself.
#[test]
fn arguments_and_results_of_tpu_programs_have_the_size_the_compiler_allocates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let sizes = fs::read_to_string(folder.join("tpu_sizes.tsv")).unwrap();
    let mut programs = 0;
    for line in sizes.lines().filter(|line| !line.starts_with('#')) {
        let [name, arguments, results] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (instructions, _) = read(&fs::read_to_string(folder.join(format!("{name}.hlo"))).unwrap());
        let bytes = |wanted: &dyn Fn(&Instruction) -> bool| -> u64 {
            let found = instructions.iter().filter(|i| i.in_entry && wanted(i));
            found.flat_map(|i| i.shape.arrays()).map(|(_, array)| array.physical_size_in_bytes().unwrap()).sum()
        };
        assert_eq!(bytes(&|i| i.opcode == "parameter").to_string(), arguments, "{name}");
        // A tuple adds its table of pointers, for which this compiler takes 512 bytes.
        let tuple = instructions.iter().any(|i| i.in_entry && i.is_root && matches!(i.shape, Shape::Tuple(_)));
        assert_eq!((bytes(&|i| i.is_root) + if tuple { 512 } else { 0 }).to_string(), results, "{name}");
        programs += 1;
    }
    assert!(programs >= 5);
}

#[test]
fn an_asynchronous_operation_has_one_result() {
    let text = "\
%wrapped (p: f32[8]) -> f32[4] {
  %p = f32[8]{0} parameter(0)
  ROOT %s = f32[4]{0} slice(%p), slice={[0:4]}
}
%body (q: f32[2]) -> f32[2] {
  %q = f32[2]{0} parameter(0)
  ROOT %n = f32[2]{0} negate(%q)
}
ENTRY %main (x: f32[8]) -> f32[4] {
  %x = f32[8]{0} parameter(0)
  %start = ((f32[8]{0}), f32[4]{0}, s32[]) async-start(%x), calls=%wrapped
  %update = ((f32[8]{0}), f32[4]{0}, s32[]) async-update(%start)
  %loop = f32[2]{0} while(%x), condition=%c, body=%body
  ROOT %done = f32[4]{0} async-done(%update)
}
";
    let table = BufferTable::of(&Module::read(text.as_bytes()).unwrap(), 9);
    let mut names: Vec<_> =
        table.rows().iter().map(|row| (row.line, row.instruction.as_str(), row.padded_bytes)).collect();
    names.sort_unstable();
    assert_eq!(names, [(7, "n", 8), (10, "x", 32), (11, "start", 4), (11, "start", 16)]);
}

#[test]
fn what_cannot_be_read_is_counted_and_shown() {
    let text = "\
HloModule m
I0000 00:00:00.000000 a line of a log
ENTRY main {
  a = f32[2]{0} parameter(0)
  this is nothing
  b = f32[2]{0:T(0)} negate(a)
  c = f32[2]{0} add(a,
    a), metadata={op_name=\"two
    lines\"}
  d = f32[2]{0} add(a,
  ROOT e = f32[2]{0} negate(d)
}
stray }
other {
  f = f32[]{} parameter(0)";
    let (instructions, unreadable) = read(text);
    let names: Vec<&str> = instructions.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["a", "c", "e", "f"]);
    assert_eq!(instructions[1].operands, ["a", "a"]);
    let lines: Vec<u64> = unreadable.iter().map(|&(line, _)| line).collect();
    // The metadata of c go over two lines; the file ends inside `other`.
    assert_eq!(lines, [2, 5, 6, 10, 13, 15]);
}

#[test]
fn a_size_beyond_64_bits_is_shown_and_left_out_of_the_totals() {
    let text = "ENTRY e {\n a = f32[2000000000,2000000000]{1,0:T(1,99999999999999)} iota()\n}\n";
    let table = BufferTable::of(&Module::read(text.as_bytes()).unwrap(), 9);
    assert_eq!((table.refused_buffers(), table.rows().len(), table.totals().count()), (1, 0, 0));
    assert_eq!(table.refused()[0].1.code(), "overflow");
}

/// All are counted, the first twenty can be shown.
#[test]
fn unreadable_lines_and_sizes_are_shown_up_to_a_limit() {
    let lines = "  what is this?\n  a = f32[2000000000,2000000000]{1,0:T(1,99999999999999)} iota()\n".repeat(30);
    let text = format!("ENTRY e {{\n{lines}}}\n");
    let module = Module::read(text.as_bytes()).unwrap();
    assert_eq!((module.instructions(), module.unreadable(), module.unreadable_lines().len()), (30, 30, 20));
    let table = BufferTable::of(&module, 9);
    assert_eq!((table.refused_buffers(), table.refused().len()), (30, 20));
    // The line of the head is the first.
    assert_eq!(module.unreadable_lines()[19].line, 40);
}

/// A stream that makes up a dump as it is read, so that only the reader's own memory counts.
struct Endless {
    line: Vec<u8>,
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        self.left -= 1;
        let length = self.line.len();
        buffer[..length].copy_from_slice(&self.line);
        Ok(length)
    }
}

#[test]
fn a_long_dump_keeps_the_worst_rows_only() {
    let line = b"  %x = f32[1000,1]{1,0:T(8,128)} negate(%x), metadata={op_name=\"jit(f)/neg\"}\n".to_vec();
    let count = 20_000;
    let head = "ENTRY %e (x: f32[1]) -> f32[1] {\n".as_bytes();
    let stream = head.chain(BufReader::with_capacity(1 << 16, Endless { line, left: count })).chain("}\n".as_bytes());
    let module = Module::read(BufReader::new(stream)).unwrap();
    let table = BufferTable::of(&module, 5);
    assert_eq!((module.instructions(), module.unreadable(), table.rows().len()), (count, 0, 5));
    // Equal waste: the earlier line is first.
    assert_eq!(table.rows()[0].line, 2);
    assert_eq!(table.total(0).unwrap().padded_bytes, u128::from(count) * 512_000);
}

/// Joining lines was quadratic (320 KB took 20 s, these 3 MB would take half an hour), and the error held
/// them all.
#[test]
fn lines_that_are_joined_in_vain_are_read_a_few_times_only() {
    for piece in ["  %x,\n", "  )(\n", "  \"\n"] {
        let text =
            format!("ENTRY e {{\n  a = f32[2]{{0}} add(\n{}  b = f32[] parameter(0)\n}}\n", piece.repeat(500_000));
        let (mut instructions, mut lines) = (0, Vec::new());
        for record in Reader::new(text.as_bytes()) {
            match record.unwrap() {
                Record::Instruction(_) => instructions += 1,
                Record::Unreadable(line) => lines.push(line),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(instructions, 1, "{piece:?}");
        assert!(!lines.is_empty());
        for line in &lines {
            assert!(line.error.to_string().len() < 300, "{}", line.error);
            assert!(line.text.len() <= 200);
        }
    }
}

#[test]
fn an_error_shows_an_excerpt_around_the_byte() {
    let text = format!("ENTRY e {{\n  a = f32[{}x]{{0}} add(b)\n}}\n", "1,".repeat(200));
    let mut reader = Reader::new(text.as_bytes());
    let Some(Ok(Record::Unreadable(line))) = reader.next() else { panic!() };
    assert_eq!((line.line, line.column), (2, 411));
    let (text, column) = (line.error.what(), line.error.column().unwrap());
    assert_eq!((text.len(), column, line.error.found()), (72, 61, "`x`"));
    assert_eq!(&text[column - 1..], "x]{0} add(b)");
}

#[test]
fn the_header_and_the_source_lines() {
    let read_header = |name: &str| {
        let (_, text) = dumps().into_iter().find(|(path, _)| path.ends_with(name)).unwrap();
        let mut reader = Reader::new(text.as_bytes());
        assert!(reader.header().is_none());
        let lines: Vec<_> = reader
            .by_ref()
            .filter_map(|record| match record.unwrap() {
                Record::Instruction(instruction) => instruction.source,
                _ => None,
            })
            .map(|source| format!("{}:{}", source.file, source.line))
            .collect();
        (reader.header().cloned().unwrap(), lines)
    };
    let (header, lines) = read_header("tpu_column.hlo");
    assert_eq!((header.name.as_str(), header.is_scheduled, header.aliases.len()), ("jit__lambda", true, 0));
    assert_eq!(lines, ["./make_dumps.py:112"]);
    let (header, lines) = read_header("dense.hlo");
    assert!(header.is_scheduled);
    assert!(lines.iter().all(|line| line.starts_with("./make_dumps.py:")) && !lines.is_empty());
}

#[test]
fn errors_of_the_stream_are_passed_on_once() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
    let mut reader = Reader::new(BufReader::new(Broken));
    assert_eq!(reader.next().unwrap().unwrap_err().to_string(), "unplugged");
    assert!(reader.next().is_none());
}

#[test]
fn hostile_lines_end_in_a_count() {
    for line in ["(".repeat(3_000_000), "x = ".to_owned() + &"(".repeat(2_000_000), "{[(\"\\".repeat(500_000)] {
        let text = format!("ENTRY e {{\n{line}\n  a = f32[] parameter(0)\n}}\n");
        let (instructions, unreadable) = read(&text);
        assert_eq!((instructions.len(), unreadable.len()), (1, 1));
        assert!(unreadable[0].1.len() <= 200);
    }
    // A constant keeps its shape whatever its length; half a line of anything else does not count.
    let digits = "1, ".repeat(1_000_000);
    let text = format!("ENTRY e {{\n c = s32[9] constant({{{digits}}})\n t = s32[9] custom({digits})\n}}\n");
    let (instructions, unreadable) = read(&text);
    assert_eq!((instructions.len(), unreadable.len()), (1, 1));
    assert!(matches!(instructions[0].shape, Shape::Array(_)));
    assert!(BufReader::new(text.as_bytes()).lines().count() == 4);
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn damaged_dumps_are_read_to_their_end(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..20),
    ) {
        let dumps = dumps();
        let mut bytes = dumps[which.index(dumps.len())].1.clone().into_bytes();
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.drain(at..(at + 30).min(bytes.len()))),
                _ => bytes.insert(at, byte),
            }
        }
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let mut reader = Reader::new(&bytes[..]);
        for record in reader.by_ref() {
            match record.unwrap() {
                Record::Instruction(instruction) => prop_assert!(instruction.line <= lines),
                Record::Unreadable(line) => prop_assert!(line.line <= lines),
                other => panic!("{other:?}"),
            }
        }
        prop_assert_eq!(reader.bytes_read(), bytes.len() as u64);
    }
}
