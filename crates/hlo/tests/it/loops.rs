//! Programs with loops and branches: the peak from the text alone, against the compiler's own analysis.

use std::fs;
use std::path::Path;

use tensor_layout_hlo::Module;

/// tests/data/make_loops.py compiles the programs and records `compiled.memory_analysis()`.
#[test]
fn peaks_of_loops_and_branches_are_those_of_the_compiler() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let recorded = fs::read_to_string(data.join("loops.tsv")).unwrap();
    let mut programs = 0;
    for row in recorded.lines().filter(|row| !row.starts_with('#')) {
        let (name, bytes) = row.split_once('\t').unwrap();
        let text = fs::read_to_string(data.join(format!("loops/{name}.hlo"))).unwrap();
        let module = Module::read(text.as_bytes()).unwrap();
        let found = module.live_memory().unwrap().total().peak_bytes;
        // XLA aligns temporaries to 64 bytes, and a predicate or a counter takes as many.
        let bytes: u128 = bytes.parse().unwrap();
        assert!(found.abs_diff(bytes) * 400 <= bytes, "{name}: {found}, and {bytes} by the compiler");
        assert!(found <= bytes, "{name}: what may be said to be \"at least\" so much is no more");
        programs += 1;
    }
    assert_eq!(programs, 37);
}

/// The compiler copies a parameter that is a result, and a value that is returned twice. The text before its
/// passes does not say so (a program of PyTorch/XLA, whose results jaxlib 0.10.2 gives 12,312 bytes).
#[test]
fn results_of_a_text_before_optimisation_have_buffers_of_their_own() {
    let total = |text: &str| Module::read(text.as_bytes()).unwrap().live_memory().unwrap().total();
    let text = "HloModule SyncTensorsGraph.5, entry_computation_layout={(f32[1024]{0})->(f32[1024]{0}, f32[1024]{0}, f32[2,512]{1,0})}

ENTRY SyncTensorsGraph.5 {
  p0.1 = f32[1024]{0} parameter(0)
  slice.2 = f32[1024]{0} slice(p0.1), slice={[0:1024]}
  reshape.3 = f32[2,512]{1,0} reshape(slice.2)
  ROOT tuple.4 = (f32[1024]{0}, f32[1024]{0}, f32[2,512]{1,0}) tuple(p0.1, slice.2, reshape.3)
}
";
    let found = total(text);
    assert_eq!((found.argument_bytes, found.output_bytes, found.alias_bytes), (4096, 12_312, 0));
    assert_eq!(found.peak_bytes, 16_408);
    let twice = total(&text.replace("(p0.1, slice.2, reshape.3)", "(slice.2, slice.2, reshape.3)"));
    assert_eq!((twice.output_bytes, twice.peak_bytes), (12_312, 16_408));
    // A donated parameter is where its result is, and a scheduled text has the copies.
    let donated = text.replace(".5, entry", ".5, input_output_alias={ {0}: (0, {}, may-alias) }, entry");
    assert_eq!((total(&donated).alias_bytes, total(&donated).peak_bytes), (4096, 12_312));
    assert_eq!(total(&text.replace(".5, entry", ".5, is_scheduled=true, entry")).peak_bytes, 12_312);
}

/// Where a temporary takes the place of others of another size, only the compiler knows the gaps.
#[test]
fn gaps_are_possible_between_temporaries_of_several_sizes() {
    let text = |sizes: [u64; 3]| {
        let [a, b, c] = sizes;
        format!(
            "HloModule m, is_scheduled=true\n\nENTRY %e (p: f32[9]) -> f32[9] {{\n  %p = f32[9]{{0}} parameter(0)\n  \
             %a = f32[{a}]{{0}} custom-call(%p)\n  %b = f32[{b}]{{0}} custom-call(%a)\n  \
             %c = f32[{c}]{{0}} custom-call(%b)\n  ROOT %r = f32[9]{{0}} custom-call(%c)\n}}\n"
        )
    };
    let may_have_gaps = |sizes| {
        let module = Module::read(text(sizes).as_bytes()).unwrap();
        module.live_memory().unwrap().spaces()[0].may_have_gaps
    };
    assert!(may_have_gaps([100, 200, 300]) && may_have_gaps([100, 200, 100]));
    // Of one size, or all at once, or too small to matter.
    assert!(!may_have_gaps([200, 200, 200]) && !may_have_gaps([9, 200, 9]) && !may_have_gaps([1, 2000, 1]));
}
