//! The device tier: everything here runs on an adapter, a software one if there is no other.
//!
//! Without an adapter there is one line, "no adapter: N tests skipped", and with TENSOR_LAYOUT_REQUIRE_GPU=1
//! that is a failure. WGPU_BACKEND and WGPU_ADAPTER_NAME choose the adapter; TENSOR_LAYOUT_CASES says how
//! many random pairs there are.

mod buffers;
mod gpu;
mod index_functions;
#[path = "../../../../tests/literal/mod.rs"]
mod literal;
mod random;
mod readback;
mod relayouts;
mod traps;
mod uploads;

use std::process::ExitCode;
use std::sync::Arc;

use gpu::Gpu;
use libtest_mimic::{Arguments, Trial};

/// A test and its name.
type Test = (&'static str, fn(&Gpu));

fn main() -> ExitCode {
    let tests: Vec<Test> =
        [buffers::TESTS, index_functions::TESTS, uploads::TESTS, readback::TESTS, relayouts::TESTS, traps::TESTS]
            .concat();
    let arguments = Arguments::from_args();
    let Some(gpu) = pollster::block_on(Gpu::new()) else {
        eprintln!("no adapter: {} tests skipped", tests.len());
        let required = std::env::var("TENSOR_LAYOUT_REQUIRE_GPU").is_ok_and(|value| value == "1");
        return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    };
    let gpu = Arc::new(gpu);
    if !arguments.list {
        eprintln!("adapter: {}", gpu.name);
    }
    let trial = |(name, test): Test| {
        let gpu = Arc::clone(&gpu);
        Trial::test(name, move || {
            test(&gpu);
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.into_iter().map(trial).collect()).exit_code()
}
