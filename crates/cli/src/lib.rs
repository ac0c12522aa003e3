//! The `tensor-layout` command line: a file for each command, and a few for input and output.
//!
//! The program is [`main`]. Other programs that offer the same commands (the module for Python does) call
//! [`run`], which prints nothing by itself, [`check_object`] for the answer of `check --json`, and
//! [`layout_by_rule`] for the rules of `model --to`.

mod answer;
mod check;
mod convert;
mod describe;
mod draw;
#[cfg(feature = "hlo")]
mod hlo;
mod input;
mod limits;
mod model;
mod names;
mod offset;
mod output;
mod parts;
mod same;
#[cfg(feature = "shader")]
mod shader;
mod table;
mod tensor_box;
mod terminal;
#[cfg(feature = "transfers")]
mod transfers;
mod view;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub use check::check_object;
pub use limits::limits_by_name;
use output::{Output, Stop, Verdict, with_type};
pub use tensor_layout_text::rule::layout_by_rule;
use terminal::Colours;

/// Tensor layouts in strides and tiles: described, converted and checked.
///
/// A LAYOUT is written f32[3,5]{1,0:T(2,2)} (XLA), f32[2,3]:[5,1] (sizes and strides in elements),
/// f16[8,64,56,56]:NHWC (an axis order; sizes stay N,C,H,W), f32[2,35,9,9]:nChw16c (a oneDNN tag),
/// f32((8,2),128):((1,1024),8) (CuTe), ndarray(shape=(2,3), dtype=float32, strides=(20,4)) (NumPy, strides in
/// bytes), {"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1]} (DirectML) or tensorrt.kCHW32:s8[2,33,3,2] (a
/// name; see the command names), f4e2m1fn[128,320] with f8e8m0fnu per 32 (values and scales), or as PyTorch,
/// JAX, MLIR, ndarray, candle, ggml and TVM print it (docs/NOTATIONS.md). Quote it for the shell.
///
/// Exit status: 0 success, 1 a check failed or an input was refused, 2 wrong usage or an unreadable file.
#[derive(Parser)]
#[command(name = "tensor-layout", version = env!("TENSOR_LAYOUT_VERSION"), max_term_width = 100)]
struct Cli {
    /// Print one JSON object on each line.
    #[arg(long, global = true, display_order = 100)]
    json: bool,
    /// When words are coloured: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(
        long,
        global = true,
        display_order = 101,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    color: Colours,
    /// The type of layouts that are printed without one: --type f32 '(8,2):(1,8)'. A Layout(..) of JAX also
    /// needs its sizes: --type 'bf16[16,256]'.
    #[arg(long = "type", global = true, display_order = 102, value_name = "TYPE")]
    data_type: Option<String>,
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
    /// Every tensor of a safetensors or GGUF model described, checked, converted, and converted back.
    Model(model::Arguments),
    /// The layout of a view: reshaped, permuted, sliced or broadcast without moving data. Several steps apply
    /// in their order.
    View(view::Arguments),
    /// Whether two layouts store every element at the same offset.
    Same(same::Arguments),
    /// The layouts that devices and libraries have names for, with their rules and sources.
    Names(names::Arguments),
    /// The peak memory of a compiled XLA program, the arrays that are alive there, and the padding.
    #[cfg(feature = "hlo")]
    Hlo(hlo::Arguments),
    #[cfg(not(feature = "hlo"))]
    Hlo(LeftOut),
    /// A picture of a layout in memory, as text or SVG.
    Draw(draw::Arguments),
    /// Index functions of a layout for a shader; with --from and --to, the shader that copies one layout to
    /// another.
    #[cfg(feature = "shader")]
    Shader(shader::Arguments),
    #[cfg(not(feature = "shader"))]
    Shader(LeftOut),
    /// The completions of a shell.
    Completions(Completions),
    /// The manual page of the program or of a command.
    Man(Man),
}

/// The arguments of a command that this build does not have.
#[cfg(not(all(feature = "hlo", feature = "shader")))]
#[derive(clap::Args)]
struct LeftOut {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

#[cfg(not(all(feature = "hlo", feature = "shader", feature = "transfers")))]
fn left_out(what: &str, feature: &str) -> Stop {
    Stop::Unusable(format!(
        "this build has no {what}; install one that has: `cargo install --path crates/cli --features {feature}`"
    ))
}

/// Reads the command line. If it is wrong, or asks for the help or the version, the exit status is returned
/// instead.
fn arguments(words: impl IntoIterator<Item = OsString>, output: &mut Output<'_>) -> Result<Cli, u8> {
    let words: Vec<OsString> = words.into_iter().collect();
    if let Some(layout) = expanded_braces(&words) {
        output.error(&format!("the shell expanded the braces of {layout}: quote the layout, '{layout}'"));
        return Err(2);
    }
    // The type goes in front of the layouts before clap reads them, because some options parse layouts.
    let mut texts = words.iter().filter_map(|word| word.to_str()).skip_while(|word| !word.starts_with("--type"));
    let data_type = match texts.next() {
        Some("--type") => texts.next(),
        Some(word) => word.strip_prefix("--type="),
        None => None,
    };
    let typed = words.iter().map(|word| match (word.to_str(), data_type) {
        (Some(text), Some(data_type)) => with_type(text, data_type).into_owned().into(),
        _ => word.clone(),
    });
    Cli::try_parse_from(typed).map_err(|error| {
        let text = error.to_string();
        // For clap the help and the version are errors too, but these go to standard output.
        if error.use_stderr() {
            output.error_line(text.trim_end());
            return 2;
        }
        output.line(text.trim_end()).and_then(|()| output.flush()).map_or(2, |()| 0)
    })
}

/// Returns the layout that the shell has expanded, if it has: `f32[2,3]{1,0}` without quotes arrives as
/// `f32[2,3]1 f32[2,3]0`.
fn expanded_braces(words: &[OsString]) -> Option<String> {
    let parts = |word: &OsString| -> Option<(String, String)> {
        let (before, after) = word.to_str()?.rsplit_once(']')?;
        let is_number = !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && before.contains('[')).then(|| (format!("{before}]"), after.to_owned()))
    };
    words.iter().enumerate().find_map(|(place, word)| {
        let (layout, _) = parts(word)?;
        let same = words.iter().skip(place).map_while(parts).take_while(|(other, _)| *other == layout);
        let numbers: Vec<String> = same.map(|(_, number)| number).collect();
        (numbers.len() > 1).then(|| format!("{layout}{{{}}}", numbers.join(",")))
    })
}

/// Runs the program with the arguments, the standard output and the standard error of this process.
#[must_use]
pub fn main() -> ExitCode {
    let (mut out, mut err) = (BufWriter::new(io::stdout()), io::stderr());
    terminal::attach(Colours::Auto);
    ExitCode::from(run_as(Host::Program, std::env::args_os(), &mut out, &mut err))
}

/// Who owns the process. The terminal is set up only if the process is the program itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    Program,
    Other,
}

/// Runs one command. `words` is the command line, with the name of the program first. Answers are written to
/// `out`, and refusals are written to `err` as sentences. Returns the exit status: 0 for success, 1 if a
/// check failed or an input was refused, 2 for wrong usage or an unreadable file.
///
/// ```
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let words = ["tensor-layout", "same", "f32[3,100]:[128,1]", "f32[3,100]{1,0:T(8,128)}"];
/// let status = tensor_layout_cli::run(words.map(Into::into), &mut out, &mut err);
/// assert_eq!((status, err.len()), (0, 0));
/// assert!(out.starts_with(b"yes: every element is stored at the same offset"));
/// ```
#[must_use]
pub fn run(words: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    run_as(Host::Other, words, out, err)
}

fn run_as(host: Host, words: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let mut output = Output::new(out, err);
    let cli = match arguments(words, &mut output) {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    if host == Host::Program {
        terminal::attach(cli.color);
    }
    if let Err(error) = tensor_layout::relayout::requested_level() {
        output.warn(&format!("TENSOR_LAYOUT_LEVEL is ignored: {error}"));
    }
    output.set(cli.json, cli.data_type.clone());
    let verdict = match &cli.command {
        Command::Describe(arguments) => describe::run(arguments, &mut output),
        Command::Offset(arguments) => offset::run(arguments, &mut output),
        #[cfg(not(feature = "transfers"))]
        Command::Convert(arguments) if arguments.transfers => Err(left_out("`convert --transfers`", "transfers")),
        Command::Convert(arguments) => convert::run(arguments, &mut output),
        Command::Check(arguments) => check::run(arguments, &mut output),
        Command::Model(arguments) => model::run(arguments, &mut output),
        Command::View(arguments) => view::run(arguments, &mut output),
        Command::Same(arguments) => same::run(arguments, &mut output),
        Command::Names(arguments) => names::run(arguments, &mut output),
        #[cfg(feature = "hlo")]
        Command::Hlo(arguments) => hlo::run(arguments, &mut output),
        #[cfg(not(feature = "hlo"))]
        Command::Hlo(_) => Err(left_out("command `hlo`", "hlo")),
        Command::Draw(arguments) => draw::run(arguments, &mut output),
        #[cfg(feature = "shader")]
        Command::Shader(arguments) => shader::run(arguments, &mut output),
        #[cfg(not(feature = "shader"))]
        Command::Shader(_) => Err(left_out("command `shader`", "shader")),
        Command::Completions(arguments) => completions(arguments, Cli::command(), &mut output),
        Command::Man(arguments) => man(arguments, Cli::command(), &mut output),
    };
    match output.settle(verdict).and_then(|verdict| output.flush().map(|()| verdict)) {
        Ok(Verdict::Well) => 0,
        Ok(Verdict::Failed) => 1,
        // The reader of a pipe has closed it, as `head` does.
        Err(Stop::ClosedPipe) => 0,
        // `settle` has printed every refusal and every failure.
        Err(Stop::Refused(..) | Stop::Failed(_)) => 1,
        Err(Stop::Unusable(sentence)) => {
            output.error(&sentence);
            2
        }
    }
}

#[derive(clap::Args)]
struct Completions {
    /// bash, elvish, fish, powershell or zsh. For bash: source <(tensor-layout completions bash)
    #[arg(value_name = "SHELL", ignore_case = true, hide_possible_values = true)]
    shell: clap_complete::Shell,
}

#[derive(clap::Args)]
struct Man {
    /// The command; without it, the page of the program. To read it: tensor-layout man describe | man -l -
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

fn completions(arguments: &Completions, mut program: clap::Command, output: &mut Output) -> Result<Verdict, Stop> {
    let mut text = Vec::new();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name, &mut text);
    output.bytes(&text).map(|()| Verdict::Well)
}

fn man(arguments: &Man, mut program: clap::Command, output: &mut Output) -> Result<Verdict, Stop> {
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return Err(Stop::Unusable(format!("there is no command `{name}`"))),
        },
    };
    let mut text = Vec::new();
    // Writing to a `Vec` never fails.
    let _ = clap_mangen::Man::new(page).render(&mut text);
    output.bytes(&text).map(|()| Verdict::Well)
}
