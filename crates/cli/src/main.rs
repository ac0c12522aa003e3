//! The `tensor-layout` command line: a file for each command, and a few for input and output.

mod binding;
mod check;
mod convert;
mod describe;
mod draw;
mod hlo;
mod index_text;
mod input_file;
mod mapped_file;
mod model;
mod names;
mod new_file;
mod npy;
mod offset;
mod output;
mod pieces;
mod progress;
mod same;
mod shader;
mod shader_program;
mod signals;
mod table;
mod view;
mod whole_number;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

use output::{Output, Stop, Verdict};
use tensor_layout::relayout::KernelLevel;

/// Tensor layouts in strides and tiles: described, converted and checked.
///
/// A LAYOUT is written f32[3,5]{1,0:T(2,2)} (XLA), f32[2,3]:[5,1] (sizes and strides in elements),
/// f16[8,64,56,56]:NHWC (an axis order; sizes stay N,C,H,W), f32[2,35,9,9]:nChw16c (a oneDNN tag),
/// f32((8,2),128):((1,1024),8) (CuTe), ndarray(shape=(2,3), dtype=float32, strides=(20,4)) (NumPy, strides in
/// bytes), {"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1]} (DirectML) or tensorrt.kCHW32:s8[2,33,3,2] (a
/// name; see the command names). Quote it for the shell.
///
/// Exit status: 0 success, 1 a check failed or an input was refused, 2 wrong usage or an unreadable file.
#[derive(Parser)]
#[command(name = "tensor-layout", version, max_term_width = 100)]
struct Cli {
    /// Print one JSON object on each line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sizes by each rule, class, and the strides a layout lowers to.
    Describe(describe::Arguments),
    /// The offset of an index, or the index at an offset.
    Offset(offset::Arguments),
    /// Convert a file from one layout to another.
    Convert(convert::Arguments),
    /// Whether a device accepts this tensor, and how large its buffer must be.
    Check(check::Arguments),
    /// Every tensor of a safetensors model described, checked, converted, and converted back.
    Model(model::Arguments),
    /// The layout of a view: reshaped, permuted, sliced or broadcast without moving data. Several steps apply
    /// in their order.
    View(view::Arguments),
    /// Whether two layouts store every element at the same offset.
    Same(same::Arguments),
    /// The layouts that devices and libraries have names for, with their rules and sources.
    Names(names::Arguments),
    /// The peak memory of a compiled XLA program, the arrays that are alive there, and the padding.
    Hlo(hlo::Arguments),
    /// A picture of a layout in memory, as text or SVG.
    Draw(draw::Arguments),
    /// Index functions of a layout for a shader; with --from and --to, the shader that copies one layout to
    /// another.
    Shader(shader::Arguments),
}

/// The arguments, or the exit status. A word too many is explained in a sentence before the usage.
fn arguments() -> Result<Cli, ExitCode> {
    let error = match Cli::try_parse() {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') => {
            let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
            eprintln!(
                "error: `{word}` is one argument too many. A layout with blanks or brackets needs quotes.\n\n{usage}"
            );
            Err(ExitCode::from(2))
        }
        _ => error.exit(),
    }
}

fn main() -> ExitCode {
    let cli = match arguments() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    signals::prepare();
    if let Err(error) = KernelLevel::requested() {
        eprintln!("warning: TENSOR_LAYOUT_LEVEL is ignored: {error}");
    }
    let mut output = Output::new(cli.json);
    let verdict = match &cli.command {
        Command::Describe(arguments) => describe::run(arguments, &mut output),
        Command::Offset(arguments) => offset::run(arguments, &mut output),
        Command::Convert(arguments) => convert::run(arguments, &mut output),
        Command::Check(arguments) => check::run(arguments, &mut output),
        Command::Model(arguments) => model::run(arguments, &mut output),
        Command::View(arguments) => view::run(arguments, &mut output),
        Command::Same(arguments) => same::run(arguments, &mut output),
        Command::Names(arguments) => names::run(arguments, &mut output),
        Command::Hlo(arguments) => hlo::run(arguments, &mut output),
        Command::Draw(arguments) => draw::run(arguments, &mut output),
        Command::Shader(arguments) => shader::run(arguments, &mut output),
    };
    match verdict.and_then(|verdict| output.flush().map(|()| verdict)) {
        Ok(Verdict::Well) => ExitCode::SUCCESS,
        Ok(Verdict::Failed) => ExitCode::from(1),
        // The reader closed the pipe, as `head` does.
        Err(Stop::ClosedPipe) => ExitCode::SUCCESS,
        Err(Stop::Unusable(sentence)) => {
            eprintln!("error: {sentence}");
            ExitCode::from(2)
        }
    }
}
