//! The relayout suite: how long each case takes beside a plain copy of as many bytes.
//!
//! ```text
//! cargo bench --bench relayout -- [--csv] [--only GLOB] [--rounds N] [--family NAME] [--peers]
//! cargo bench --bench relayout -- --memory
//! cargo bench --bench relayout --features rayon -- --threads N [...]
//! ```
//!
//! The figure of a case is `time / best copy`: the faster of `copy_from_slice` and of this crate's own copy
//! (which uses non-temporal stores when the buffers are large), over half the bytes read and written, in the
//! same run. Rounds of the case and of the copies alternate; the minima of the same rounds are compared, and
//! the median of the per-round ratios is printed with them. Cases are those of relayout_suite.tsv and, apart
//! from the means, of relayout_reversed.tsv; `level` is the kernel level in use (see TENSOR_LAYOUT_LEVEL).
//! With `--threads`, `run_parallel` is compared with copies that use as many threads.
//!
//! `--family` makes every plan as another family of CPUs would (`Zen 3`: see `CpuFamily`).
//!
//! `--memory` compares ordinary and non-temporal stores, by size, into memory that no one has touched and
//! into memory that was just written: what `DestinationMemory` means.
//!
//! `--peers` adds lines for other crates, whose name is in the column `level`. They live in `benches/peers`,
//! a package of its own that this bench builds and runs (minutes the first time); each is checked for equal
//! bytes first, and runs on one thread whatever `--threads` says.

use std::path::Path;
use std::process::Command;

mod suite;

fn main() {
    // `cargo test --benches` runs this file as well: there is nothing to test then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let options = suite::Options::from_arguments();
    if !options.peers {
        return suite::run(&options, |_| Vec::new());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--bin", "relayout", "--manifest-path"])
        .arg(root.join("benches/peers/Cargo.toml"))
        .arg("--")
        .args(std::env::args_os().skip(1))
        .env("CARGO_TARGET_DIR", root.join("target/peers"))
        .status();
    let success = status.is_ok_and(|status| status.success());
    std::process::exit(if success { 0 } else { 1 });
}
