//! The order of the run, what is in use at each time and what it is called, in programs small enough to
//! count.

use tensor_layout_hlo::{LiveMemory, Module};

use crate::for_a_tpu;

fn read(text: &str) -> Module {
    Module::read(text.as_bytes()).unwrap()
}

/// What is in use at a time: `name{index} bytes` of each, the largest first.
fn names(live: &LiveMemory, space: u64, time: u32) -> Vec<String> {
    let name = |index: &[usize]| index.iter().map(|i| format!("{{{i}}}")).collect::<String>();
    let buffers = live.live_at(space, time);
    buffers.iter().map(|b| format!("{}{} {}", b.place.instruction, name(&b.tuple_index), b.bytes)).collect()
}

#[test]
fn a_buffer_is_named_after_the_value_it_holds_or_will_hold() {
    // On a TPU a table of pointers takes 512 bytes. Element 0 of the
    // result shares the memory of %q.
    let module = read(&for_a_tpu(
        "HloModule m, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }
%f (a: f32[25]) -> f32[50] {
  %a = f32[25]{0} parameter(0)
  ROOT %r = f32[50]{0} pad(%a), padding=0_25, metadata={op_name=\"jit(f)/pad\" source_file=\"f.py\" source_line=7}
}
ENTRY %e (p: f32[25], q: f32[10], n: f32[0]) -> (f32[10], f32[5]) {
  %p = f32[25]{0:T(128)} parameter(0)
  %q = f32[10]{0} parameter(1)
  %n = f32[0]{0} parameter(2)
  %x = f32[25]{0} slice(%p), slice={[0:25]}
  %c = f32[50]{0} call(%x), to_apply=%f
  %s = (f32[50]{0:S(1)}, f32[50]{0}, u32[]{:S(2)}) copy-start(%c)
  %d = f32[50]{0:S(1)} copy-done(%s)
  %u = f32[10]{0} slice(%d), slice={[0:10]}
  %v = f32[5]{0} slice(%u), slice={[0:5]}
  ROOT %t = (f32[10]{0}, f32[5]{0}) tuple(%u, %v)
}
",
    ));
    let live = module.live_memory().unwrap();
    // Times 0 to 3 are %p, %q, %n and %x; %a and %r run in front of %c, at 4 and 5.
    let order: Vec<String> = (0..live.instructions()).map(|time| live.instruction(time).unwrap().instruction).collect();
    assert_eq!(order.concat(), "pqnxarcsduvt");
    for (space, time, expected) in [
        (0, 0, &["p 512", "t 512", "q 40", "v 20"][..]),
        (0, 3, &["p 512", "t 512", "x 100", "q 40", "v 20"]),
        // Inside, %a is %x; outside, %c and element 1 of %s are %r.
        (0, 5, &["p 512", "t 512", "r 200", "x 100", "q 40", "v 20"]),
        (0, 6, &["p 512", "t 512", "r 200", "q 40", "v 20"]),
        (0, 8, &["p 512", "s 512", "t 512", "r 200", "q 40", "v 20"]),
        (0, 11, &["p 512", "t 512", "q 40", "v 20"]),
        (1, 6, &[]),
        (1, 7, &["s{0} 200"]),
        (1, 9, &["s{0} 200"]),
        (2, 8, &["s{2} 4"]),
        (3, 8, &[]),
    ] {
        assert_eq!(names(&live, space, time), expected, "space {space}, time {time}");
    }
    let words: Vec<_> = live.live_at(0, 5).iter().map(|buffer| buffer.used_as.name()).collect();
    assert_eq!(words, ["argument", "result", "temporary", "temporary", "aliased", "result"]);
    // Seven in the main memory: %n has no bytes.
    let spaces: Vec<_> = live.spaces().iter().map(|space| (space.space, space.buffers, space.peak_time)).collect();
    assert_eq!(spaces, [(0, 7, Some(7)), (1, 1, Some(7)), (2, 1, Some(7))]);
    let place = live.instruction(5).unwrap();
    assert_eq!((&*place.computation, place.opcode.as_str(), place.line), ("f", "pad", 106));
    let source = place.source.unwrap();
    assert_eq!((place.op_name.as_deref(), &*source.file, source.line), (Some("jit(f)/pad"), "f.py", 7));
    let place = live.instruction(3).unwrap();
    assert_eq!((&*place.computation, place.op_name, place.source), ("e", None, None));
}

#[test]
fn a_result_that_is_updated_in_place_is_named_after_its_latest_value() {
    let module = read(
        "HloModule m, is_scheduled=true
ENTRY %e (p: f32[25]) -> f32[25] {
  %p = f32[25]{0} parameter(0)
  %o = token[] after-all()
  %x = f32[25]{0} custom-call(%p, %o), custom_call_target=\"f\"
  ROOT %d = f32[25]{0} dynamic-update-slice(%x, %p, %p)
}
",
    );
    let live = module.live_memory().unwrap();
    // A token takes no bytes, and is nowhere.
    for (time, name) in [(0, "x 100"), (1, "x 100"), (2, "x 100"), (3, "d 100")] {
        assert_eq!(names(&live, 0, time), ["p 100", name], "{time}");
    }
}

#[test]
fn the_peak_is_the_first_of_equal_ones() {
    let module = read(
        "HloModule m, is_scheduled=true
ENTRY %e (p: f32[25]) -> pred[] {
  %p = f32[25]{0} parameter(0)
  %k = f32[10]{0} constant({0})
  %x = f32[25]{0} reverse(%p), dimensions={0}
  %y = f32[25]{0} reverse(%x), dimensions={0}
  %v = f32[25]{0} dot(%y, %k)
  ROOT %z = pred[] custom-call(%v), custom_call_target=\"f\"
}
",
    );
    let live = module.live_memory().unwrap();
    assert_eq!((module.header().name.as_str(), live.is_scheduled()), ("m", true));
    // %x and %y at time 3, %y and %v at time 4, beside 101 bytes for %p and %z. The constant is part of the
    // program.
    let space = &live.spaces()[0];
    assert_eq!((space.total.temp_bytes, space.total.constant_bytes, space.total.peak_bytes), (200, 40, 301));
    assert_eq!((space.peak_time, space.buffers), (Some(3), 6));
    assert_eq!(live.profile(0), [(0, 101), (2, 201), (3, 301), (4, 301), (5, 201), (6, 101)]);
    assert_eq!(live.profile(1), []);
}

/// What runs beside the instructions after it keeps its memory to the end of the operation.
#[test]
fn an_asynchronous_computation_keeps_its_memory_until_it_is_done() {
    let module = read(
        "HloModule m, is_scheduled=true
%wrapped (a: f32[100]) -> f32[50] {
  %a = f32[100]{0} parameter(0)
  %m = f32[70]{0} slice(%a), slice={[0:70]}
  ROOT %r = f32[50]{0} slice(%m), slice={[0:50]}
}
ENTRY %e (p: f32[100]) -> pred[] {
  %p = f32[100]{0} parameter(0)
  %s = ((f32[100]{0}), f32[50]{0}, s64[]) async-start(%p), calls=%wrapped
  %b = f32[30]{0} slice(%p), slice={[0:30]}
  %u = ((f32[100]{0}), f32[50]{0}, s64[]) async-update(%s)
  %d = f32[50]{0} async-done(%u)
  ROOT %z = pred[] custom-call(%b, %d), custom_call_target=\"f\"
}
",
    );
    let live = module.live_memory().unwrap();
    // From %b on, at time 5: %m, %r (which is element 1 of the start), %b, two tables of 3 and 1 pointers and
    // a counter.
    let expected = ["p 400", "m 280", "s{1} 200", "b 120", "s 24", "s{0} 8", "s{2} 8", "z 1"];
    assert_eq!(names(&live, 0, 5), expected);
    // They are still live when %d ends the copy, at time 7. After that only %b and the result of %d are left.
    assert_eq!(names(&live, 0, 7), expected);
    assert_eq!(names(&live, 0, 8), ["p 400", "s{1} 200", "b 120", "z 1"]);
    assert_eq!(live.total().temp_bytes, 280 + 200 + 120 + 24 + 8 + 8);
}

/// XLA prints `condition=` in front of `body=`; neither that nor a shape with another layout decides which is
/// which.
#[test]
fn the_condition_of_a_loop_runs_before_its_body() {
    for (state, calls) in [
        ("(f32[25]{0}, s32[])", "condition=%more, body=%body"),
        ("(f32[25]{0}, s32[])", "body=%body, condition=%more"),
        ("(f32[25]{0:S(5)}, s32[])", "body=%body, condition=%more"),
    ] {
        let module = read(&format!(
            "HloModule m, is_scheduled=true
%more (s: (f32[25], s32[])) -> pred[] {{
  %s = (f32[25]{{0}}, s32[]) parameter(0)
  ROOT %q = pred[] custom-call(%s), custom_call_target=\"f\"
}}
%body (v: (f32[25], s32[])) -> (f32[25], s32[]) {{
  %v = (f32[25]{{0}}, s32[]) parameter(0)
  ROOT %n = (f32[25]{{0}}, s32[]) custom-call(%v), custom_call_target=\"f\"
}}
ENTRY %e (p: (f32[25], s32[])) -> (f32[25], s32[]) {{
  %p = (f32[25]{{0}}, s32[]) parameter(0)
  ROOT %l = {state} while(%p), {calls}
}}
"
        ));
        let live = module.live_memory().unwrap();
        let order: Vec<String> =
            (0..live.instructions()).map(|time| live.instruction(time).unwrap().instruction).collect();
        assert_eq!(order.concat(), "psqvnl", "{state} {calls}");
    }
}

/// XLA gives each computation a name of its own; of two with one name in another text, calls mean the first.
#[test]
fn a_second_computation_of_one_name_is_never_called() {
    let module = read(
        "HloModule m, is_scheduled=true
%f (a: f32[25]) -> f32[25] {
  %a = f32[25]{0} parameter(0)
  ROOT %r = f32[25]{0} reverse(%a), dimensions={0}
}
%f (b: f32[25]) -> f32[25] {
  %b = f32[25]{0} parameter(0)
  ROOT %s = f32[25]{0} sine(%b)
}
ENTRY %e (p: f32[25]) -> f32[25] {
  %p = f32[25]{0} parameter(0)
  ROOT %c = f32[25]{0} call(%p), to_apply=%f
}
",
    );
    let live = module.live_memory().unwrap();
    let order: Vec<String> = (0..live.instructions()).map(|time| live.instruction(time).unwrap().instruction).collect();
    assert_eq!((order.concat().as_str(), module.instructions()), ("parc", 6));
}

#[test]
fn names_in_a_picture_are_escaped() {
    let text = "HloModule m, is_scheduled=true
ENTRY %e (p: f32[100]) -> f32[100] {
  %p = f32[100]{0} parameter(0)
  %a = f32[100]{0} reverse(%p), dimensions={0}, metadata={op_name=\"jit(<lambda>)/a&b\"}
  ROOT %r = f32[100]{0} dot(%p, %a)
}
";
    let page = read(text).live_memory().unwrap().to_svg(0);
    assert!(page.contains("jit(&lt;lambda&gt;)/a&amp;b") && !page.contains("<lambda>"), "{page}");
}
