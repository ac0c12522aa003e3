//! The relayout suite: the time of each case beside a plain copy of the same number of bytes.
//!
//! ```text
//! cargo bench --bench relayout -- [--csv] [--only GLOB] [--rounds N] [--effort EFFORT] [--peers [--cpp]]
//! cargo bench --bench relayout -- --choices [--only GLOB] [--rounds N]
//! cargo bench --bench relayout -- --memory
//! cargo bench --bench relayout --features rayon -- --threads N [...]
//! ```
//!
//! The figure of a case is `time / best copy`. The best copy is the faster of `copy_from_slice` and this
//! crate's own copy (which uses non-temporal stores when the buffers are large). It copies half the bytes
//! that the case reads and writes, in the same run. Rounds of the case and of the copies alternate. The
//! minima of the same rounds are compared, and the median of the ratios of all rounds is printed with them.
//! The cases are in relayout_suite.tsv, relayout_frames.tsv and relayout_reversed.tsv; the means leave out
//! the last. `level` is the kernel level in use (see TENSOR_LAYOUT_LEVEL). With `--threads`,
//! `run_parallel` is compared with copies that use the same number of threads.
//!
//! `--effort measure` measures a plan for each case, and adds a line for it (see `Effort`). The column
//! `level` then has its choice, such as `v1 stores=cached`. The default is `estimate`.
//!
//! `--choices` prints what a measurement could know: the time of every plan that answers one question
//! otherwise than the estimate, in the same buffers, in turns.
//!
//! `--memory` compares ordinary and non-temporal stores, by size, into memory that was never touched and into
//! memory that was just written. `DestinationMemory` chooses between these cases.
//!
//! `--peers` adds lines for other crates, whose names are in the column `level`. The crates are in
//! `benches/peers`, a package of its own that this bench builds and runs (minutes the first time). Each crate
//! is first checked for equal bytes. It runs on one thread for every value of `--threads`. `--cpp` adds HPTT
//! and oneDNN: it needs CMake, a C++ compiler and an installed oneDNN (Debian: cmake, g++, libdnnl-dev).

use std::path::Path;
use std::process::Command;

mod suite;

fn main() {
    // `cargo test --benches` runs this file as well, and there is nothing to test.
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
        .args(options.cpp.then_some("--features=hptt,onednn"))
        .arg("--")
        .args(std::env::args_os().skip(1))
        .env("OMP_NUM_THREADS", "1")
        .env("CARGO_TARGET_DIR", root.join("target/peers"))
        .status();
    let success = status.is_ok_and(|status| status.success());
    std::process::exit(if success { 0 } else { 1 });
}
