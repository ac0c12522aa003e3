//! What HLO writes over its operands, and what asynchronous computations hold: programs small enough to
//! count.

use tensor_layout_hlo::{BufferUse, Module};

fn read(text: &str) -> Module {
    Module::read(text.as_bytes()).unwrap()
}

fn temporaries(text: &str) -> u128 {
    read(text).live_memory().unwrap().total().temp_bytes
}

/// `%x` is read and `%r` written until `%done`; `%t` is the computation's own.
#[test]
fn what_an_asynchronous_computation_touches_is_in_use_until_it_is_done() {
    let text = "HloModule m, is_scheduled=true

%work (a: f32[100]) -> f32[200] {
  %a = f32[100]{0} parameter(0)
  %t = f32[300]{0} pad(%a), padding=0_200
  ROOT %r = f32[200]{0} slice(%t), slice={[0:200]}
}

ENTRY %e (p: f32[50]) -> f32[10] {
  %p = f32[50]{0} parameter(0)
  %x = f32[100]{0} pad(%p), padding=0_50
  %start = ((f32[100]{0}), f32[200]{0}, s32[]) async-start(%x), calls=%work
  %beside = f32[400]{0} pad(%p), padding=0_350
  %update = ((f32[100]{0}), f32[200]{0}, s32[]) async-update(%start)
  %later = f32[500]{0} pad(%p), padding=0_450
  %done = f32[200]{0} async-done(%update)
  %after = f32[600]{0} pad(%p), padding=0_550
  ROOT %z = f32[10]{0} custom-call(%beside, %later, %done, %after), custom_call_target=\"f\"
}
";
    let module = read(text);
    let live = module.live_memory().unwrap();
    let at = |name: &str| {
        let time = (0..live.instructions()).find(|&time| live.instruction(time).unwrap().instruction == name).unwrap();
        let buffers = live.live_at(0, time);
        // Without the parameter, the tables of pointers and the context.
        let bytes = buffers.iter().filter(|buffer| buffer.used_as == BufferUse::Temporary && buffer.bytes >= 400);
        bytes.map(|buffer| buffer.bytes / 4).collect::<Vec<_>>()
    };
    assert_eq!(at("beside"), [400, 300, 200, 100]);
    assert_eq!(at("later"), [500, 400, 300, 200, 100]);
    assert_eq!(at("after"), [600, 500, 400, 200]);
}

/// Compilers write each name once; of a text that does not, calls mean the first.
#[test]
fn a_second_computation_of_one_name_is_never_called() {
    let body = |name: &str, padding: u32| {
        let size = 100 + padding;
        format!(
            "%f (a: f32[100]) -> f32[100] {{\n  %a = f32[100]{{0}} parameter(0)\n  %{name} = f32[{size}]{{0}} pad(%a), \
             padding=0_{padding}\n  ROOT %r = f32[100]{{0}} slice(%{name}), slice={{[0:100]}}\n}}\n\n"
        )
    };
    let entry = "ENTRY %e (p: f32[100]) -> f32[1] {
  %p = f32[100]{0} parameter(0)
  %y = f32[100]{0} call(%p), to_apply=%f
  ROOT %z = f32[1]{0} slice(%y), slice={[0:1]}
}
";
    let once = format!("HloModule m, is_scheduled=true\n\n{}{entry}", body("t", 200));
    let between = "%g (a: f32[1]) -> f32[1] {\n  ROOT %a = f32[1]{0} parameter(0)\n}\n\n";
    let twice = format!("HloModule m, is_scheduled=true\n\n{}{between}{}{entry}", body("t", 200), body("u", 9000));
    assert_eq!(temporaries(&once), 1200 + 400);
    assert_eq!(temporaries(&twice), temporaries(&once));
    let module = read(&twice);
    assert!(module.header().is_scheduled);
    assert_eq!((module.header().name.as_str(), module.instructions()), ("m", 3 + 1 + 3 + 3));
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
