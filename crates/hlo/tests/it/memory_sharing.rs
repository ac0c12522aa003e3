//! Which results are in the memory of an operand or of a result, in programs small enough to count.

use tensor_layout_hlo::Module;

use crate::for_a_tpu;

const SHARING: &str = include_str!("../data/sharing.txt");

/// Arguments, results, aliased, temporaries of the main memory.
fn figures(text: &str) -> [u128; 4] {
    let module = Module::read(text.as_bytes()).unwrap();
    let total = module.live_memory().unwrap().total();
    [total.argument_bytes, total.output_bytes, total.alias_bytes, total.temp_bytes]
}

fn temporaries(text: &str) -> u128 {
    figures(text)[3]
}

/// The programs of tests/data/sharing.txt, whose first lines describe its form.
#[test]
fn memory_is_shared_where_the_cases_say() {
    let (mut checked, mut name, mut form) = (0, "", String::new());
    let text: String = SHARING.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    for group in text.split("\n== ").skip(1) {
        for (number, part) in group.split("\n-- ").enumerate() {
            let (head, body) = part.split_once('\n').unwrap();
            if number == 0 {
                (name, form) = (head, format!("{}\n", body.trim_end()));
                continue;
            }
            let (bytes, shape) = head.split_once(" of ").unwrap_or((head, ""));
            let program = form.replace("{shape}", shape).replace("{body}", body.trim());
            let program = if name.ends_with(" on a TPU") { for_a_tpu(&program) } else { program };
            let expected: Vec<u128> = bytes.split(' ').map(|bytes| bytes.parse().unwrap()).collect();
            assert!(
                figures(&program).ends_with(&expected),
                "{name}: {:?}, not {expected:?}\n{program}",
                figures(&program)
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 35);
}

/// A loop fusion may write over an operand of which each element is needed at its own place only.
#[test]
fn a_fusion_writes_over_operands_it_uses_element_by_element() {
    let program = |body: &str, operands: &str, kind: &str| {
        format!(
            "HloModule m, is_scheduled=true
%sine (q: f32[25]) -> f32[25] {{
  %q = f32[25]{{0}} parameter(0)
  ROOT %s = f32[25]{{0}} sine(%q)
}}
%turned (q: f32[25]) -> f32[25] {{
  %q = f32[25]{{0}} parameter(0)
  ROOT %s = f32[25]{{0}} reverse(%q), dimensions={{0}}
}}
%half (q: f32[25], w: f32[25]) -> f32[25] {{
  %q = f32[25]{{0}} parameter(0)
  %w = f32[25]{{0}} parameter(1)
  %v = f32[25]{{0}} reverse(%w), dimensions={{0}}
  ROOT %s = f32[25]{{0}} add(%q, %v)
}}
%fused (a: f32[25], b: f32[25]) -> f32[25] {{
  %a = f32[25]{{0}} parameter(0)
  %b = f32[25]{{0}} parameter(1)
  {body}
}}
ENTRY %e (p: f32[25]) -> pred[] {{
  %p = f32[25]{{0}} parameter(0)
  %x = f32[25]{{0}} reverse(%p), dimensions={{0}}
  %y = f32[25]{{0}} fusion({operands}), kind={kind}, calls=%fused
  ROOT %z = pred[] custom-call(%y), custom_call_target=\"f\"
}}
"
        )
    };
    let inner = |call: &str| format!("%c = f32[25]{{0}} fusion{call}\n  ROOT %r = f32[25]{{0}} add(%c, %b)");
    let plain = "ROOT %r = f32[25]{0} add(%a, %b)";
    for (body, first, second) in [
        (plain, true, true),
        ("%c = f32[25]{0} reverse(%b), dimensions={0}\n  ROOT %r = f32[25]{0} add(%a, %c)", true, false),
        ("%c = f32[25]{0} reverse(%a), dimensions={0}\n  ROOT %r = f32[25]{0} sine(%c)", false, true),
        ("%c = f32[25]{0} add(%a, %b)\n  ROOT %r = f32[25]{0} reverse(%c), dimensions={0}", false, false),
        ("%c = f32[25]{0} copy(%a)\n  ROOT %r = f32[25]{0} add(%c, %b)", true, true),
        (&inner("(%a), kind=kLoop, calls=%sine"), true, true),
        (&inner("(%a), kind=kOutput, calls=%sine"), false, true),
        (&inner("(%a), kind=kLoop, calls=%turned"), false, true),
        (&inner("(%a, %b), kind=kLoop, calls=%half"), false, false),
    ] {
        // %x is the operand that can be written over; %p is a parameter of the program.
        for (operands, shares) in [("%x, %p", first), ("%p, %x", second)] {
            let bytes = if shares { 100 } else { 200 };
            assert_eq!(temporaries(&program(body, operands, "kLoop")), bytes, "{operands}\n{body}");
        }
    }
    for (kind, bytes) in [("kInput", 100), ("kOutput", 200), ("kCustom", 200)] {
        assert_eq!(temporaries(&program(plain, "%x, %p", kind)), bytes, "{kind}");
    }
}

#[test]
fn a_result_takes_the_operand_it_is_computed_from_except_on_a_tpu() {
    for (on_tpu, temporaries) in [(false, 0), (true, 100)] {
        let text = "HloModule m, is_scheduled=true
ENTRY %e (p: f32[128]) -> f32[25] {
  %p = f32[128]{0} parameter(0)
  %x = f32[25]{0} slice(%p), slice={[0:25]}
  ROOT %z = f32[25]{0} tanh(%x)
}
";
        let text = if on_tpu { for_a_tpu(text) } else { text.to_owned() };
        assert_eq!(figures(&text), [512, 100, 0, temporaries]);
        // Without the word ROOT the last instruction is the result.
        assert_eq!(figures(&text.replace("ROOT ", "")), [512, 100, 0, temporaries]);
    }
}
