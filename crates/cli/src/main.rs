//! The program `tensor-layout`: see the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tensor_layout_cli::main()
}
