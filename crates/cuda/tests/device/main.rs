//! What runs on a GPU. Without one there is one line, "no device: N tests skipped", and with
//! TENSOR_LAYOUT_REQUIRE_GPU=cuda that is a failure. TENSOR_LAYOUT_CASES says how many random pairs there
//! are.

#[path = "../../../../tests/literal/mod.rs"]
mod literal;
#[path = "../../../shader/tests/it/planes.rs"]
mod planes;
mod relayouts;

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use libtest_mimic::{Arguments, Trial};

/// A test and its name.
type Test = (&'static str, fn(&Gpu));

struct Gpu {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
}

fn main() -> ExitCode {
    let tests = relayouts::TESTS;
    let arguments = Arguments::from_args();
    let Some(context) = tensor_layout_cuda::device(0) else {
        eprintln!("no device: {} tests skipped", tests.len());
        let required = std::env::var("TENSOR_LAYOUT_REQUIRE_GPU").is_ok_and(|value| value == "cuda");
        return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    };
    if !arguments.list {
        eprintln!("device: {}", context.name().unwrap_or_default());
    }
    let gpu = Arc::new(Gpu { stream: context.default_stream(), context });
    let trial = |&(name, test): &Test| {
        let gpu = Arc::clone(&gpu);
        Trial::test(name, move || {
            test(&gpu);
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.iter().map(trial).collect()).exit_code()
}
