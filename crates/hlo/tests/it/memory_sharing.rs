//! Which results are in the memory of an operand or of a result, in programs small enough to count.

use tensor_layout_hlo::Module;

use crate::for_a_tpu;

/// Arguments, results, aliased, temporaries of the main memory.
fn figures(text: &str) -> [u128; 4] {
    let module = Module::read(text.as_bytes()).unwrap();
    let total = module.live_memory().unwrap().total();
    [total.argument_bytes, total.output_bytes, total.alias_bytes, total.temp_bytes]
}

fn temporaries(text: &str) -> u128 {
    figures(text)[3]
}

/// What is written into is in place: %x, of 100 bytes, is element 1 of the fusion's second operand.
#[test]
fn a_fusion_writes_into_what_its_root_updates() {
    let program = |shape: &str, body: &str| {
        format!(
            "HloModule m, is_scheduled=true
%inner (k: f32[5], l: f32[25], j: s32[]) -> f32[25] {{
  %k = f32[5]{{0}} parameter(0)
  %l = f32[25]{{0}} parameter(1)
  %j = s32[] parameter(2)
  ROOT %m = f32[25]{{0}} dynamic-update-slice(%l, %k, %j)
}}
%fused (b: f32[5], u: (s32[], f32[25])) -> {shape} {{
  %b = f32[5]{{0}} parameter(0)
  %u = (s32[], f32[25]{{0}}) parameter(1)
  %i = s32[] get-tuple-element(%u), index=0
  %a = f32[25]{{0}} get-tuple-element(%u), index=1
  {body}
}}
ENTRY %e (p: f32[5], i: s32[]) -> pred[] {{
  %p = f32[5]{{0}} parameter(0)
  %i = s32[] parameter(1)
  %x = f32[25]{{0}} broadcast(%i), dimensions={{}}
  %t = (s32[], f32[25]{{0}}) tuple(%i, %x)
  %y = {shape} fusion(%p, %t), kind=kOutput, calls=%fused
  ROOT %z = pred[] custom-call(%y), custom_call_target=\"f\"
}}
"
        )
    };
    let (one, two, pair) = ("f32[25]{0}", "(f32[5]{0}, f32[25]{0})", "(f32[25]{0}, f32[25]{0})");
    for (shape, body, bytes) in [
        (one, "ROOT %d = f32[25]{0} dynamic-update-slice(%a, %b, %i)", 100),
        // Other names for it are followed.
        (
            one,
            "%c = f32[5,5]{1,0} bitcast(%a)
             %d = f32[5,5]{1,0} scatter(%c, %i, %b)
             ROOT %r = f32[25]{0} bitcast(%d)",
            100,
        ),
        (
            one,
            "%c = (f32[5]{0}, f32[25]{0}) tuple(%b, %a)
             %g = f32[25]{0} get-tuple-element(%c), index=1
             ROOT %d = f32[25]{0} dynamic-update-slice(%g, %b, %i)",
            100,
        ),
        // One of two results: the other has 20 bytes, the table 16.
        (
            two,
            "%n = f32[5]{0} negate(%b)
             %d = f32[25]{0} dynamic-update-slice(%a, %b, %i)
             ROOT %r = (f32[5]{0}, f32[25]{0}) tuple(%n, %d)",
            100 + 20 + 16,
        ),
        // Of two that a scatter writes into, one was computed here.
        (
            pair,
            "%n = f32[25]{0} negate(%a)
             ROOT %s = (f32[25]{0}, f32[25]{0}) scatter(%n, %a, %i, %b, %b)",
            100 + 100 + 16,
        ),
        (
            two,
            "ROOT %k = (f32[5]{0}, f32[25]{0}) custom-call(%b, %a), custom_call_target=\"f\", \
             output_to_operand_aliasing={{1}: (1, {})}",
            100 + 20 + 16,
        ),
        // A fusion inside is in place as well, as the root and in front of it.
        (one, "ROOT %f = f32[25]{0} fusion(%b, %a, %i), kind=kLoop, calls=%inner", 100),
        (
            one,
            "%f = f32[25]{0} fusion(%b, %a, %i), kind=kLoop, calls=%inner
             ROOT %d = f32[25]{0} dynamic-update-slice(%f, %b, %i)",
            100,
        ),
        // What was computed inside is not an operand.
        (
            one,
            "%n = f32[25]{0} negate(%a)
             ROOT %d = f32[25]{0} dynamic-update-slice(%n, %b, %i)",
            200,
        ),
    ] {
        // %t has a table of its own, of two pointers.
        assert_eq!(temporaries(&program(shape, body)), bytes + 16, "{body}");
    }
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

/// Each value has 100 bytes where its shape says nothing else. One tile makes it a program for a TPU, where
/// temporaries are not in the memory of results, and a table of pointers takes 512 bytes.
#[test]
fn values_share_memory_where_no_other_use_prevents_it() {
    let program = |body: &str| {
        format!(
            "HloModule m, is_scheduled=true
%wave (a: f32[25]) -> f32[25] {{
  %a = f32[25]{{0}} parameter(0)
  ROOT %r = f32[25]{{0}} tanh(%a)
}}
%wide (a: f32[25]) -> f32[25] {{
  %a = f32[25]{{0}} parameter(0)
  %t = f32[50]{{0}} pad(%a), padding=0_25
  ROOT %r = f32[25]{{0}} custom-call(%t, %a), custom_call_target=\"f\"
}}
%turn (a: f32[25]) -> f32[25] {{
  %a = f32[25]{{0}} parameter(0)
  ROOT %r = f32[25]{{0}} reverse(%a), dimensions={{0}}
}}
%large (b: f32[25]) -> f32[25] {{
  %b = f32[25]{{0}} parameter(0)
  %t = f32[50]{{0}} pad(%b), padding=0_25
  %u = f32[50]{{0}} reverse(%t), dimensions={{0}}
  ROOT %r = f32[25]{{0}} slice(%u), slice={{[0:25]}}
}}
%more (s: f32[25]) -> pred[] {{
  %s = f32[25]{{0}} parameter(0)
  %f = f32[5]{{0}} slice(%s), slice={{[0:5]}}
  ROOT %q = pred[] custom-call(%f), custom_call_target=\"f\"
}}
%body (v: f32[25]) -> f32[25] {{
  %v = f32[25]{{0}} parameter(0)
  ROOT %n = f32[25]{{0}} dynamic-update-slice(%v, %v, %v)
}}
ENTRY %e (p: f32[25], i: s32[]) -> pred[] {{
  %p = f32[25]{{0}} parameter(0)
  %i = s32[]{{:T(128)}} parameter(1)
  %x = f32[25]{{0}} reverse(%p), dimensions={{0}}
  {body}, custom_call_target=\"f\"
}}
"
        )
    };
    let w = "%w = f32[25]{0} reverse(%p), dimensions={0}\n  ";
    let pair = "(f32[25]{0}, f32[25]{0})";
    for (body, bytes) in [
        ("%y = f32[25]{0} sine(%x)\n  ROOT %z = pred[] custom-call(%y)".to_owned(), 100),
        // %x is needed later.
        ("%y = f32[25]{0} sine(%x)\n  ROOT %z = pred[] custom-call(%x, %y)".to_owned(), 200),
        (
            "%d = f32[25]{0} dynamic-update-slice(%x, %i, %i)
             ROOT %z = pred[] custom-call(%d)"
                .to_owned(),
            100,
        ),
        // A buffer that held two values is not written over, whatever its name; nor is another put in its
        // place.
        (
            "%d = f32[25]{0} dynamic-update-slice(%x, %i, %i)
             %y = f32[25]{0} sine(%d)
             ROOT %z = pred[] custom-call(%y)"
                .to_owned(),
            200,
        ),
        (
            "%d = f32[25]{0} dynamic-update-slice(%x, %i, %i)
             %b = f32[25]{0} bitcast(%d)
             %y = f32[25]{0} sine(%b)
             ROOT %z = pred[] custom-call(%y)"
                .to_owned(),
            200,
        ),
        (
            "%y = f32[25]{0} sine(%x)
             %d = f32[25]{0} dynamic-update-slice(%y, %i, %i)
             ROOT %z = pred[] custom-call(%d)"
                .to_owned(),
            200,
        ),
        // An operand that the text does not define is not a second value.
        (
            "%d = f32[25]{0} dynamic-update-slice(%unknown, %i, %i)
             %y = f32[25]{0} sine(%d)
             ROOT %z = pred[] custom-call(%y)"
                .to_owned(),
            100,
        ),
        // A sort writes over its operands, each result over its own: %w stays, as result 1 is updated later.
        ("%s = f32[25]{0} sort(%x), dimensions={0}\n  ROOT %z = pred[] custom-call(%s)".to_owned(), 100),
        (format!("{w}%s = {pair} sort(%x, %w)\n  ROOT %z = pred[] custom-call(%s)"), 200 + 512),
        (
            format!(
                "{w}%s = {pair} sort(%x, %w)
                 %g = f32[25]{{0}} get-tuple-element(%s), index=1
                 %d = f32[25]{{0}} dynamic-update-slice(%g, %i, %i)
                 ROOT %z = pred[] custom-call(%x, %d)"
            ),
            400 + 512,
        ),
        (format!("{w}%s = {pair} scatter(%x, %w, %i, %p, %p)\n  ROOT %z = pred[] custom-call(%s)"), 200 + 512),
        // Result 1 shares the memory of element 0 of operand 1; result 0 has 20 bytes. Two tables.
        (
            format!(
                "{w}%t = {pair} tuple(%x, %w)
                 %k = (f32[5]{{0}}, f32[25]{{0}}) custom-call(%p, %t), output_to_operand_aliasing={{{{1}}: (1, {{0}})}}
                 ROOT %z = pred[] custom-call(%k)"
            ),
            200 + 20 + 2 * 512,
        ),
        // An element that is taken later is there beside %b, of 200 bytes, whether it has its name yet or
        // not.
        (
            "%y = (f32[25]{0}, f32[5]{0}) custom-call(%p)
             %b = f32[50]{0} custom-call(%p)
             %g = f32[25]{0} get-tuple-element(%y), index=0
             ROOT %z = pred[] custom-call(%g)"
                .to_owned(),
            100 + 200 + 512,
        ),
        // Pieces become what they are joined to.
        (
            format!(
                "{w}%c = f32[50]{{0}} custom-call(%x, %w), custom_call_target=\"ConcatBitcast\"\n  ROOT %z = pred[] custom-call(%c)"
            ),
            200,
        ),
        (
            format!(
                "{w}%c = f32[50]{{0}} custom-call(%x, %w), custom_call_target=\"g\"\n  ROOT %z = pred[] custom-call(%c)"
            ),
            400,
        ),
        // In a called computation too.
        ("%c = f32[25]{0} call(%x), to_apply=%wave\n  ROOT %z = pred[] custom-call(%c)".to_owned(), 100),
        // Only one call of two is followed inside, where %x, %w, %t with 200 bytes and %r are needed.
        (
            format!(
                "{w}%c = f32[25]{{0}} call(%x), to_apply=%wide
                 %k = f32[25]{{0}} call(%w), to_apply=%wide
                 ROOT %z = pred[] custom-call(%c, %k)"
            ),
            500,
        ),
        // The result of a branch is not there in the other branch: %x, and twice 200 bytes.
        (
            "%y = f32[25]{0} conditional(%i, %x, %x), branch_computations={%turn, %large}
             ROOT %z = pred[] custom-call(%y)"
                .to_owned(),
            500,
        ),
        // The state of a loop is one buffer, what its condition returns is another: beside %f, of 20 bytes.
        ("%l = f32[25]{0} while(%x), condition=%more, body=%body\n  ROOT %z = pred[] custom-call(%l)".to_owned(), 121),
        // The data that arrive are those of the start: its table and a word, the table of the end.
        (
            "%o = token[] after-all()
             %r = (f32[25]{0}, u32[], token[]) recv(%o)
             %d = (f32[25]{0}, token[]) recv-done(%r)
             %g = f32[25]{0} get-tuple-element(%d), index=0
             ROOT %z = pred[] custom-call(%g)"
                .to_owned(),
            100 + 4 + 2 * 512,
        ),
    ] {
        assert_eq!(temporaries(&for_a_tpu(&program(&body))), bytes, "{body}");
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

/// On CPUs and GPUs. %p has 200 bytes.
#[test]
fn temporaries_lie_in_the_memory_of_results_that_are_not_there_yet() {
    for (body, expected) in [
        // %x and the result are there at the same time.
        ("%x = f32[50]{0} reverse(%p)\n  ROOT %z = f32[50]{0} reverse(%x)", [200, 200, 0, 200]),
        // %x fits exactly, and is not needed any more when the result is computed; %y is.
        (
            "%x = f32[50]{0} reverse(%p)
             %y = f32[1]{0} slice(%x)
             ROOT %z = f32[50]{0} pad(%y)",
            [200, 200, 0, 4],
        ),
        // The largest first: %x of 800 bytes, and after it %v of 600. %y of 400 bytes meets both, %u of 40
        // the result.
        (
            "%x = f32[200]{0} pad(%p)
             %y = f32[100]{0} slice(%x)
             %v = f32[150]{0} pad(%y)
             %u = f32[10]{0} slice(%v)
             ROOT %z = f32[200]{0} pad(%u)",
            [200, 800, 0, 400],
        ),
        // %y meets the end of %x, and nothing else.
        (
            "%x = f32[200]{0} pad(%p)
             %y = f32[100]{0} slice(%x)
             %u = f32[10]{0} slice(%y)
             ROOT %z = f32[200]{0} pad(%u)",
            [200, 800, 0, 400 + 40],
        ),
        // Of results with 40 and 800 bytes %x takes the one it fits into, %y the table of 16 bytes.
        (
            "%x = f32[100]{0} pad(%p)
             %y = f32[1]{0} slice(%x)
             %s = f32[10]{0} pad(%y)
             %l = f32[200]{0} pad(%y)
             ROOT %t = (f32[10]{0}, f32[200]{0}) tuple(%s, %l)",
            [200, 40 + 800 + 16, 0, 0],
        ),
        // The result is in another memory.
        (
            "%x = f32[50]{0} reverse(%p)
             %y = f32[1]{0} slice(%x)
             ROOT %z = f32[50]{0:S(5)} pad(%y)",
            [200, 0, 0, 200 + 4],
        ),
    ] {
        let text = format!(
            "HloModule m, is_scheduled=true\nENTRY %e (p: f32[50]) -> f32[] {{\n  %p = f32[50]{{0}} parameter(0)\n  {body}\n}}\n"
        );
        assert_eq!(figures(&text), expected, "{body}");
    }
}
