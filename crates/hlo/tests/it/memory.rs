//! Live memory of HLO modules, against the figures of the compiler itself and against programs small enough
//! to count.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tensor_layout_hlo::{BufferAssignment, BufferUse, MemoryTotal, Module};
use tensor_layout_literal::cases;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

pub(crate) fn read(text: &str) -> Module {
    Module::read(text.as_bytes()).unwrap()
}

fn total(text: &str) -> MemoryTotal {
    read(text).live_memory().unwrap().total()
}

/// Arguments, results, aliased, temporaries.
pub(crate) fn figures(text: &str) -> [u128; 4] {
    let total = total(text);
    let sum = total.argument_bytes + total.output_bytes - total.alias_bytes + total.temp_bytes;
    assert_eq!(total.peak_bytes, sum);
    [total.argument_bytes, total.output_bytes, total.alias_bytes, total.temp_bytes]
}

/// The rows of memory.tsv: a dump's name and the compiler's four figures.
fn recorded() -> Vec<(String, [u128; 4])> {
    let text = fs::read_to_string(data().join("memory.tsv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, figures @ ..] = &fields[..] else { panic!("{line}") };
            let figures: Vec<u128> = figures.iter().map(|field| field.parse().unwrap()).collect();
            ((*name).to_owned(), figures.try_into().unwrap())
        })
        .collect()
}

/// Arguments, results and aliased results are exact, the peak of the main memory is within 10 % of what the
/// compiler takes.
#[test]
fn totals_are_those_of_the_compilers_memory_analysis() {
    let recorded = recorded();
    assert!(recorded.len() >= 25);
    for (name, [arguments, results, aliased, temporaries]) in recorded {
        let text = fs::read_to_string(data().join(format!("{name}.hlo"))).unwrap();
        let total = total(&text);
        assert_eq!(
            [total.argument_bytes, total.output_bytes, total.alias_bytes],
            [arguments, results, aliased],
            "{name}"
        );
        let peak = arguments + results - aliased + temporaries;
        let off = total.peak_bytes.abs_diff(peak);
        // In the smallest programs the alignment of buffers (64 bytes on a CPU, 16 KiB on a TPU) is most of
        // it.
        let alignment = if name.contains("tpu") { 1 << 14 } else { 1 << 10 };
        assert!(
            off * 10 <= peak || (peak < 1 << 20 && off <= alignment),
            "{name}: {} instead of {peak}",
            total.peak_bytes
        );
    }
}

#[test]
fn buffer_assignments_hold_what_the_compiler_reports() {
    let recorded = recorded();
    for name in ["memory_tpu_cond_big", "memory_cpu_sort_big"] {
        let dump = fs::read(data().join(format!("{name}-buffer-assignment.txt"))).unwrap();
        let assignment = BufferAssignment::read(&dump[..]).unwrap();
        assert_eq!(assignment.unreadable(), 0);
        let (_, [arguments, results, aliased, temporaries]) = recorded.iter().find(|(found, _)| found == name).unwrap();
        let total = assignment.total(0);
        assert_eq!([&total.argument_bytes, &total.output_bytes, &total.alias_bytes], [arguments, results, aliased]);
        assert_eq!(&total.temp_bytes, temporaries, "{name}");
        // Values of the same offset are there one after the other.
        let largest = assignment.largest_temporaries(0);
        assert!(largest.is_sorted_by_key(|value| std::cmp::Reverse(value.bytes)) && !largest.is_empty());
        assert!(largest.iter().all(|value| u128::from(value.offset + value.bytes) <= total.temp_bytes));
    }
    assert_eq!(BufferAssignment::read("no\nallocation x\n value: <\n".as_bytes()).unwrap().unreadable(), 1);
}

#[test]
fn a_table_of_pointers_takes_blocks_of_512_bytes_on_a_tpu() {
    for (results, bytes) in [(2, 512), (128, 512), (129, 1024)] {
        let shapes = vec!["f32[8,128]{1,0:T(8,128)}"; results].join(", ");
        let copies: String = (0..results).map(|i| format!("  %c{i} = f32[8,128]{{1,0:T(8,128)}} copy(%p)\n")).collect();
        let names = (0..results).map(|i| format!("%c{i}")).collect::<Vec<_>>().join(", ");
        let text = format!(
            "HloModule m, is_scheduled=true\nENTRY %e (p: f32[8,128]) -> f32[] {{\n  \
             %p = f32[8,128]{{1,0:T(8,128)}} parameter(0)\n{copies}  ROOT %t = ({shapes}) tuple({names})\n}}\n"
        );
        assert_eq!(figures(&text), [4096, results as u128 * 4096 + bytes, 0, 0]);
    }
}

/// What is updated in place, step after step of a loop, is one buffer.
#[test]
fn a_loop_that_updates_in_place_holds_one_buffer() {
    let text = "HloModule m, is_scheduled=true

%body (s: (s32[], f32[1000])) -> (s32[], f32[1000]) {
  %s = (s32[], f32[1000]{0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[1000]{0} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %row = f32[10]{0} broadcast(%one), dimensions={}
  %new = f32[1000]{0} dynamic-update-slice(%x, %row, %next)
  ROOT %r = (s32[], f32[1000]{0}) tuple(%next, %new)
}

%more (s: (s32[], f32[1000])) -> pred[] {
  %s2 = (s32[], f32[1000]{0}) parameter(0)
  %i2 = s32[] get-tuple-element(%s2), index=0
  %n = s32[] constant(10)
  ROOT %lt = pred[] compare(%i2, %n), direction=LT
}

ENTRY %e (p: f32[100]) -> f32[1] {
  %p = f32[100]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %buffer = f32[1000]{0} custom-call(), custom_call_target=\"AllocateBuffer\"
  %state = (s32[], f32[1000]{0}) tuple(%start, %buffer)
  %loop = (s32[], f32[1000]{0}) while(%state), condition=%more, body=%body
  %filled = f32[1000]{0} get-tuple-element(%loop), index=1
  ROOT %out = f32[1]{0} slice(%filled), slice={[0:1]}
}
";
    // The state, and in the body the row. The counter is in the memory of the result; the table of the state
    // is not needed any more once its elements are taken.
    assert_eq!(figures(text), [400, 4, 0, 4000 + 40]);
    let module = read(text);
    let live = module.live_memory().unwrap();
    let peak = live.spaces()[0].peak_time.unwrap();
    assert_eq!(live.instruction(peak).unwrap().instruction, "row");
    let names: Vec<_> = live.live_at(0, peak).iter().map(|b| (b.place.instruction.clone(), b.bytes)).collect();
    // At this time the buffer still holds what it was made with.
    let expected = [("buffer", 4000), ("p", 400), ("row", 40), ("next", 4)];
    assert_eq!(names, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
    // The order in which the text names body and condition does not matter.
    let swapped = text.replace("condition=%more, body=%body", "body=%body, condition=%more");
    assert_eq!(figures(&swapped), figures(text));
}

#[test]
fn what_an_asynchronous_copy_reads_and_writes_lives_to_its_end() {
    let text = "HloModule m, is_scheduled=true

ENTRY %e (p: f32[8,128]) -> f32[8,128] {
  %p = f32[8,128]{1,0:T(8,128)} parameter(0)
  %a = f32[8,128]{1,0:T(8,128)} reverse(%p), dimensions={0}
  %start = (f32[8,128]{1,0:T(8,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%a)
  %b = f32[16,128]{1,0:T(8,128)} pad(%p), padding=0_8x0_0
  %done = f32[8,128]{1,0:T(8,128)S(1)} copy-done(%start)
  ROOT %z = f32[8,128]{1,0:T(8,128)} dot(%b, %done)
}
";
    let module = read(text);
    let live = module.live_memory().unwrap();
    // %a until %done, which is beside %b and the table of the start (512 bytes); VMEM and flags apart.
    assert_eq!(live.total().temp_bytes, 4096 + 8192 + 512);
    let spaces: Vec<_> = live.spaces().iter().map(|space| (space.space, space.total.peak_bytes)).collect();
    assert_eq!(spaces, [(0, 4096 + 4096 + 12_800), (1, 4096), (2, 4)]);
    assert_eq!(live.profile(2), [(0, 0), (2, 4), (5, 0)]);
}

#[test]
fn what_ends_too_early_or_is_unscheduled_is_said() {
    let text = fs::read_to_string(data().join("memory_tpu_cond_big.hlo")).unwrap();
    let module = read(&text);
    let live = module.live_memory().unwrap();
    assert!(live.is_scheduled());
    assert_eq!(live.unknown_operands(), 0);
    let entry = text.find("ENTRY ").unwrap();
    assert!(read(&text[..entry]).live_memory().is_none());
    let module = read(&text[text.find('\n').unwrap()..]);
    assert!(!module.live_memory().unwrap().is_scheduled());
    let module = read("ENTRY e {\n  ROOT a = f32[2]{0} sine(b)\n}\n");
    assert_eq!(module.live_memory().unwrap().unknown_operands(), 1);
    assert!(read("").live_memory().is_none());
    assert!(read("ENTRY e {\n}\n").live_memory().is_none());
}

/// Texts that no one's compiler writes: each would take hours if some step took the product of two lengths.
#[test]
fn hostile_modules_take_no_longer_than_their_length() {
    let count = 60_000;
    let wide = vec!["f32[]"; 30_000].join(", ");
    let uses = |what: &dyn Fn(usize) -> String| (0..count).map(what).collect::<String>();
    let nested: String = (0..count)
        .map(|i| format!("%c{i} (a: f32[9]) -> f32[9] {{\n  %a = f32[9]{{0}} parameter(0)\n  ROOT %r = f32[9]{{0}} call(%a), to_apply=%c{}\n}}\n", i + 1))
        .collect();
    let many_names = vec!["%c"; 100_000].join(", ");
    let programs = [
        // Every element of a wide tuple, the last one again and again.
        format!(
            "  %p = ({wide}) parameter(0)\n{}",
            uses(&|i| format!("  %g{i} = f32[] get-tuple-element(%p), index={}\n", 29_999 - i % 2))
        ),
        // All of a wide tuple, often.
        format!("  %p = ({wide}) parameter(0)\n{}", uses(&|i| format!("  %g{i} = f32[] custom-call(%p, %p, %p)\n"))),
        // A tuple over a tuple over a tuple, and bitcasts of bitcasts.
        format!(
            "  %g0 = f32[9]{{0}} parameter(0)\n{}",
            (1..count).map(|i| format!("  %g{i} = f32[9]{{0}} bitcast(%g{})\n", i - 1)).collect::<String>()
        ),
        // Each in a space of its own.
        uses(&|i| format!("  %g{i} = f32[9]{{0:S({i})}} iota()\n")),
        // One name called a hundred thousand times.
        format!(
            "  %p = f32[9]{{0}} parameter(0)\n  %g = f32[9]{{0}} conditional(%p, %p), branch_computations={{{many_names}}}\n"
        ),
    ];
    for body in programs {
        let head =
            "HloModule m, is_scheduled=true\n%c (a: f32[9]) -> f32[9] {\n  ROOT %a = f32[9]{0} parameter(0)\n}\n";
        let module = read(&format!("{head}ENTRY %e (p: f32[]) -> f32[] {{\n{body}}}\n"));
        let live = module.live_memory().unwrap();
        assert!(live.instructions() > 0);
        assert!(live.to_svg(0).len() < 1 << 20);
    }
    // Calls nested deeper than any stack, and a circle.
    let entry = "ENTRY %e (p: f32[9]) -> f32[9] {\n  %p = f32[9]{0} parameter(0)\n  ROOT %r = f32[9]{0} call(%p), to_apply=%c0\n}\n";
    for last in [
        "",
        &format!(
            "%c{count} (a: f32[9]) -> f32[9] {{\n  %a = f32[9]{{0}} parameter(0)\n  ROOT %r = f32[9]{{0}} call(%a), to_apply=%c0\n}}\n"
        ),
    ] {
        let module = read(&format!("{nested}{last}{entry}"));
        let instructions = 2 * count + 2 + if last.is_empty() { 0 } else { 2 };
        assert_eq!(module.live_memory().unwrap().instructions() as usize, instructions);
    }
}

#[test]
fn sizes_beyond_64_bits_are_added_up() {
    let text = "ENTRY e {
  a = f32[1000000000,1000000000]{1,0} parameter(0)
  b = f32[1000000000,1000000000]{1,0} parameter(1)
  c = f32[2000000000,2000000000,9]{2,1,0:T(1,99999999999999)} iota()
  ROOT d = f32[1000000000,1000000000]{1,0} dot(a, b)
}
";
    let total = total(text);
    assert_eq!((total.argument_bytes, total.output_bytes), (8_000_000_000_000_000_000, 4_000_000_000_000_000_000));
    // %c has no size that fits; it counts nothing.
    assert_eq!(total.temp_bytes, 0);
}

#[test]
fn every_buffer_in_use_has_a_name() {
    for (name, _) in recorded() {
        let module = read(&fs::read_to_string(data().join(format!("{name}.hlo"))).unwrap());
        let live = module.live_memory().unwrap();
        for space in live.spaces() {
            let buffers = live.live_at(space.space, space.peak_time.unwrap_or(0));
            // What is in use at the peak adds up to the peak.
            let sum: u128 = buffers.iter().map(|buffer| u128::from(buffer.bytes)).sum();
            assert_eq!(sum, space.total.peak_bytes, "{name}");
            assert!(buffers.is_sorted_by_key(|buffer| std::cmp::Reverse(buffer.bytes)));
            assert!(buffers.iter().all(|buffer| !buffer.place.instruction.is_empty() && !buffer.shape.is_empty()));
            let arguments = buffers.iter().filter(|buffer| buffer.used_as == BufferUse::Argument);
            assert!(arguments.clone().all(|buffer| buffer.place.opcode == "parameter"), "{name}");
            // The picture's highest point is the peak.
            let highest = live.profile(space.space).into_iter().map(|(_, bytes)| bytes).max();
            assert_eq!(highest, Some(space.total.peak_bytes));
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn damaged_modules_have_some_answer(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..20),
    ) {
        let names = recorded();
        let mut bytes = fs::read(data().join(format!("{}.hlo", names[which.index(names.len())].0))).unwrap();
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match kind {
                _ if bytes.is_empty() => {}
                0 => bytes[at] = byte,
                1 => drop(bytes.drain(at..(at + 30).min(bytes.len()))),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(bytes.len() - at / 4),
            }
        }
        let module = Module::read(&bytes[..]).unwrap();
        if let Some(live) = module.live_memory() {
            let total = live.total();
            prop_assert!(total.alias_bytes <= total.argument_bytes.min(total.output_bytes));
            for space in live.spaces() {
                let time = space.peak_time.unwrap_or(0);
                let sum: u128 = live.live_at(space.space, time).iter().map(|buffer| u128::from(buffer.bytes)).sum();
                prop_assert_eq!(sum, space.total.peak_bytes);
            }
            prop_assert!(live.to_svg(0).ends_with("</svg>\n"));
        }
        let _ = BufferAssignment::read(&bytes[..]).unwrap();
    }
}
