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
        programs += 1;
    }
    assert_eq!(programs, 37);
}
