//! `hlo`: one truth in every form, does it fit, and what is not a dump.

use std::fs;

use serde_json::json;

use crate::command_line::{folder, in_repository, run, run_with_input, text};

const EMBED: &str = "crates/hlo/tests/data/memory_tpu_embed.hlo";
const COND: &str = "crates/hlo/tests/data/memory_tpu_cond_big.hlo";

const REPORT: &[u8] =
    b"Memory Space: default (color=0)\nTotal bytes: 524420 (512.1KiB)\n  cumulative_size;       size;       offset\n";

/// The bytes of the objects whose key `key` is `value`.
fn sum(objects: &[serde_json::Value], key: &str, value: u64) -> u64 {
    objects.iter().filter(|object| object[key] == value).map(|object| object["bytes"].as_u64().unwrap()).sum()
}

/// Text, JSON, the total and the picture say one number, with a buffer assignment and without.
#[test]
fn every_form_has_the_same_peak() {
    for dump in [EMBED, COND, "crates/hlo/tests/data/memory_cpu_mlp_donated.hlo"] {
        let objects = run(&["hlo", dump, "--json", "--rows", "1000"]).objects();
        let total = &objects.last().unwrap()["total"];
        let peak = objects.iter().find(|object| object["peak_of"] == 0).unwrap();
        for key in ["argument_bytes", "output_bytes", "alias_bytes", "temp_bytes", "peak_bytes"] {
            assert_eq!(total[key], peak[key], "{dump}: {key}");
        }
        assert_eq!(peak["live_bytes"], sum(&objects, "live_in", 0), "{dump}");
        let bytes = total["peak_bytes"].as_u64().unwrap();
        let table = run(&["hlo", dump]).stdout;
        let (memory, rest) = table.split_once(": ").unwrap();
        assert_eq!(memory, if dump.contains("_cpu_") { "memory" } else { "HBM" });
        // Without a buffer assignment, the gaps between temporaries are not known.
        let rest = rest.strip_prefix("at least ").filter(|_| total["at_least"] == true).unwrap_or(rest);
        assert!(rest.starts_with(&format!("{bytes} bytes (")), "{table}");
        assert_eq!(total["at_least"] == true, table.contains("At least, because temporaries"), "{table}");
        let (_, size) = rest.split_once('(').unwrap();
        let svg = run(&["hlo", dump, "--svg", "-"]);
        let title = format!("<title>{memory}: {} at the peak</title>", size.split_once(')').unwrap().0);
        assert!(svg.stdout.starts_with("<svg ") && svg.stdout.contains(&title), "{title}");
        assert_eq!(svg.stdout.lines().count(), 1);
    }
    // 512 bytes of tables and gaps.
    let table = run(&["hlo", COND]).stdout;
    assert!(table.contains("  fragmentation") && table.contains("(fragmentation)"), "{table}");
}

/// Aliased memory has one share: those of a table add up to 100 %.
#[test]
fn shares_add_up() {
    for dump in [
        EMBED,
        COND,
        "crates/hlo/tests/data/memory_cpu_mlp_donated.hlo",
        "crates/hlo/tests/data/memory_tpu_kv_cache.hlo",
    ] {
        let table = run(&["hlo", dump, "--rows", "2"]).stdout;
        for part in table.split(" at the peak").skip(1) {
            let tables = part.split("\n\n").take(2).enumerate();
            for (number, rows) in tables {
                let shares = rows.split_whitespace().filter_map(|word| word.strip_suffix('%'));
                let shares: f64 = shares.map(|share| share.parse::<f64>().unwrap()).sum();
                assert!((shares - 100.0).abs() < 0.6, "{dump}, table {number}: {shares}\n{rows}");
            }
        }
    }
}

#[test]
fn a_device_has_room_and_levers_have_bytes() {
    let fits = run(&["hlo", EMBED, "--tpu", "v5e"]).stdout;
    assert!(fits.contains("\nA v5e has 16.0 GiB of HBM: 15.4 GiB are left.\n"), "{fits}");
    assert!(fits.contains("\n  259.3 MiB  donate table and 1 more: results of the same shape"), "{fits}");
    let big = "HloModule m, is_scheduled=true\n\nENTRY %e (x: f32[40000000,3]) -> f32[40000000,3] {\n  \
               %x = f32[40000000,3]{1,0:T(8,128)} parameter(0), metadata={op_name=\"points\"}\n  \
               ROOT %r = f32[40000000,3]{1,0:T(8,128)} negate(%x)\n}\n";
    let found = run_with_input(&["hlo", "-", "--tpu", "v5e"], big).stdout;
    assert!(found.contains("A v5e has 16.0 GiB of HBM: 22.1 GiB are missing."), "{found}");
    let unpad =
        "37.3 GiB  points and 1 more: dimension 1 is 3 and stored as 128; f32[40000000,3]{0,1:T(4,128)} is 610.4 MiB";
    assert!(found.contains(unpad), "{found}");
    let objects = run_with_input(&["hlo", "-", "--tpu", "v5e", "--json"], big).objects();
    let room = objects.iter().find(|object| object["tpu"] == "v5e").unwrap();
    assert_eq!((&room["fits"], &room["hbm_bytes"]), (&json!(false), &json!(1_u64 << 34)));
    let kinds: Vec<_> = objects.iter().filter_map(|object| object["lever"].as_str()).collect();
    assert_eq!(kinds, ["unpad", "donate"]);
}

#[test]
fn what_is_no_dump_is_named() {
    let folder = folder("hlo-inputs");
    let (small, large) = ("m.1.after_optimizations.txt", "m.2.after_optimizations.txt");
    fs::write(folder.join(small), "x").unwrap();
    fs::write(folder.join(large), "xy").unwrap();
    let file = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).unwrap();
        folder.join(name)
    };
    for (path, words) in [
        (folder.clone(), "is a folder with 2 programs"),
        (folder.clone(), large),
        (file("a.xz", b"\xfd7zXZ\0\0\x04"), "a.xz | tensor-layout hlo -` reads it"),
        (file("a.gz", b"\x1f\x8b\x08"), "is compressed with gzip"),
        (
            file("m.1.after_optimizations-memory-usage-report.txt", REPORT),
            "is XLA's list of allocations (524420 (512.1KiB))",
        ),
        (folder.join("m.1.after_optimizations-memory-usage-report.txt"), "m.1.after_optimizations.txt"),
        (file("a.pb", b"\x0a\x03m\0\0"), "is binary, not the text of a module"),
        (
            in_repository("crates/hlo/tests/data/memory_tpu_cond_big-buffer-assignment.txt"),
            "is a buffer assignment, not a dump",
        ),
    ] {
        let run = run(&["hlo", text(&path)]);
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 1), "{run:?}");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    let png = run(&["hlo", EMBED, "--svg", "x.png"]);
    assert!(png.status == 2 && png.stderr.contains("x.png: a picture is drawn as SVG"), "{png:?}");
    let space = run(&["hlo", EMBED, "--svg", "-", "--space", "99"]);
    assert!(
        space.status == 2
            && space.stderr.contains("--space 99: the program has no array there, only in 0 (HBM), 1 (VMEM)"),
        "{space:?}"
    );
}

#[test]
fn a_report_of_too_little_memory_names_its_padding() {
    let report =
        "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 41.74G of 15.75G hbm.
  Largest program allocations in hbm:
  1. Size: 32.00G
     Operator: op_name=\"jit(paint)/mod\"
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     XLA label: %copy.404 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(%x)
     Allocation type: HLO temp
";
    let found = run_with_input(&["hlo", "-"], report);
    assert_eq!(found.status, 0, "{found:?}");
    for words in [
        "The program needs 41.74G of 15.75G of hbm: 25.99G are missing.",
        "Largest allocations: 1 with 32.0 GiB, of which 31.0 GiB (96.9%) are padding.",
        "32.00G  31.0 GiB  HLO temp  copy.404     s32[8388608,8,4]{2,1,0:T(8,128)}  jit(paint)/mod",
        "dimension 2 is 4 and stored as 128; s32[8388608,8,4]{0,2,1:T(4,128)} is 1.0 GiB.",
    ] {
        assert!(found.stdout.contains(words), "{words}\n{}", found.stdout);
    }
    let objects = run_with_input(&["hlo", "-", "--json"], report).objects();
    assert_eq!((&objects[0]["wasted_bytes"], objects.len()), (&json!(31_u64 << 30), 2));
    let new = run_with_input(&["hlo", "-"], "RESOURCE_EXHAUSTED: Ran out of memory on HBM.\n");
    assert!(new.status == 0 && new.stdout.contains("names neither sizes nor arrays"), "{new:?}");
}

/// Where a line is missing, or a size, no figure is said to be the whole.
#[test]
fn figures_of_a_part_are_not_said_to_be_the_whole() {
    let text = "HloModule m, is_scheduled=true\n\nENTRY %e (x: f32[256]) -> f32[256] {\n  %x = f32[256]{0} parameter(0)\n  \
                this is nothing\n  ROOT %r = f32[256]{0} negate(%x)\n}\n";
    for broken in [text.to_owned(), text.replace("this is nothing", "%d = f64[?]{0} custom-call(%x)")] {
        let found = run_with_input(&["hlo", "-"], &broken);
        assert_eq!(found.status, 1);
        assert!(found.stdout.starts_with("Not all of the text could be read (see below)"), "{}", found.stdout);
        assert!(!found.stdout.contains("peak_memory_in_bytes"), "{}", found.stdout);
        assert!(found.stdout.contains("memory: about 2048 bytes"), "{}", found.stdout);
        let objects = run_with_input(&["hlo", "-", "--json"], &broken).objects();
        assert_eq!(objects.last().unwrap()["total"]["complete"], false);
    }
}
