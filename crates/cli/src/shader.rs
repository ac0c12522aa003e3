//! `shader`: the index functions of a layout as WGSL or CUDA; with `--from` and `--to`, the program that
//! copies one layout to another.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{Error, ErrorKind};
use tensor_layout_files::NewFile;
use tensor_layout_shader::{Access, Form, IndexFunctions, Profile, Program, ProgramOptions, Sizes, Target};
use tensor_layout_text::Layout;

use crate::convert::{Fill, refuse_pair};
use crate::output::{Output, Stop, Verdict, refused};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout whose offsets the functions compute.
    #[arg(required_unless_present = "from")]
    layout: Option<String>,
    /// A prefix for the names of all functions: x_offset instead of offset.
    #[arg(long)]
    name: Option<String>,
    /// Make the offset of index 0 the first argument, for a buffer that is bound in part.
    #[arg(long)]
    base_argument: bool,
    /// Add functions that walk along this axis by adding strides. May be given several times.
    #[arg(long, value_name = "AXIS")]
    walk: Vec<usize>,
    /// Add functions that load and store elements of the array<u32> of this name.
    #[arg(long, value_name = "NAME")]
    buffer: Option<String>,
    /// With --buffer: loads only.
    #[arg(long, requires = "buffer")]
    read_only: bool,
    #[command(flatten)]
    program: ProgramArguments,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    arguments.program.check_target()?;
    if let Some((from, to)) = arguments.program.from.as_deref().zip(arguments.program.to.as_deref()) {
        return arguments.program.run(from, to, output);
    }
    let layout = arguments.layout.as_deref().unwrap_or_default();
    let text = text(arguments, layout).map_err(refused(layout))?;
    let mut answer = output.new_answer("shader");
    answer.key("input", layout);
    answer.key(arguments.program.target.name(), &text);
    answer.line(text.trim_end());
    output.answer(&answer)
}

fn text(arguments: &Arguments, layout: &str) -> Result<String, Error> {
    let layout: Layout = layout.parse()?;
    // The functions of a tensor of blocks are those of its bytes. An axis that runs backwards is turned.
    let (map, reversed) = match layout.planes() {
        [plane] if plane.parts().len() == 1 && !layout.is_tuple() => (&plane.parts()[0].map, plane.reversed()),
        _ => (layout.whole()?, &[][..]),
    };
    let mut functions = match arguments.base_argument {
        false => IndexFunctions::new(map)?,
        true => IndexFunctions::with_base_argument(map)?,
    };
    if !reversed.is_empty() {
        functions = functions.with_reversed(reversed)?;
    }
    if let Some(name) = &arguments.name {
        functions = functions.named(name)?;
    }
    let mut note = String::new();
    functions = match functions.clone().with_inverse() {
        // Without an inverse, all other functions are still printed.
        Err(error) if error.kind() == ErrorKind::Undecided => {
            note = format!("// No function from offsets to indices: {error}.\n\n");
            functions
        }
        with_inverse => with_inverse?,
    };
    for &axis in &arguments.walk {
        functions = functions.with_walk(axis)?;
    }
    if let Some(buffer) = &arguments.buffer {
        let access = if arguments.read_only { Access::Read } else { Access::ReadWrite };
        functions = functions.with_access(buffer, access)?;
    }
    Ok(note + &if arguments.program.target == Target::Cuda { functions.cuda() } else { functions.wgsl() })
}

#[derive(Args)]
struct ProgramArguments {
    /// Write the program that copies this layout to that of --to, pass by pass, instead of index functions.
    #[arg(long, value_name = "LAYOUT", requires = "to", conflicts_with = "layout")]
    from: Option<String>,
    /// The layout that --from is copied to.
    #[arg(long, value_name = "LAYOUT", requires = "from")]
    to: Option<String>,
    /// The form: linear, rows, transpose, interleave or general. By default it is the form that should be
    /// fastest.
    #[arg(long, value_name = "NAME", requires = "from")]
    form: Option<Form>,
    /// The language: wgsl, cuda, hlsl, msl, spirv or glsl. All but the first two require a build with naga:
    /// cargo install --path crates/cli --features naga.
    #[arg(long, visible_alias = "language", value_name = "NAME", default_value = "wgsl")]
    target: Target,
    /// The value of padding: zero, or the bits of one element as 0x...; kept, if left out.
    #[arg(long, requires = "from", value_name = "PATTERN")]
    fill: Option<Fill>,
    /// Make sizes and strides uniforms, so that one text serves all sizes of the same form.
    #[arg(long, requires = "from")]
    uniforms: bool,
    /// Write a file for each pass into this folder, and dispatches.json: what each is dispatched with.
    #[arg(long, value_name = "DIR", requires = "from")]
    out: Option<PathBuf>,
}

impl ProgramArguments {
    /// Refuses a language in which index functions cannot be printed, or to which this build cannot
    /// translate.
    fn check_target(&self) -> Result<(), Stop> {
        let target = self.target;
        if !target.is_printed() && self.from.is_none() {
            return Err(Stop::Unusable(format!(
                "index functions are written in WGSL and CUDA alone; --target {target} requires --from and --to"
            )));
        }
        if !target.is_printed() && !cfg!(feature = "naga") {
            return Err(Stop::Unusable(format!(
                "this build cannot translate WGSL to {target}; install one that can: `cargo install --path crates/cli --features naga`"
            )));
        }
        Ok(())
    }

    fn run(&self, from: &str, to: &str, output: &mut Output) -> Result<Verdict, Stop> {
        let pair = format!("{from} to {to}");
        let program = match self.program(from, to) {
            Err(error) => return refuse_pair(&pair, &error, [from, to], output),
            Ok(program) => program,
        };
        let text = program.text_in(self.target).map_err(refused(&pair))?;
        let (form, target, mut answer) = (program.form().name(), self.target.name(), output.new_answer("program"));
        answer.keys(|| json!({ "from": from, "to": to, "form": form, "target": target, "text": text }));
        if let Some(folder) = &self.out {
            let written = program.files(self.target, [from, to]).map_err(refused(&pair))?;
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| Stop::Unusable(format!("{} cannot be made: {error}", folder.display())))?;
            for (name, text) in &written {
                NewFile::write(folder.join(name), text.as_bytes())?;
            }
            let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
            answer.line(format_args!("wrote {} to {}", names.join(", "), folder.display()));
        } else {
            answer.line(text.trim_end());
        }
        output.answer(&answer)
    }

    fn program(&self, from: &str, to: &str) -> Result<Program, Error> {
        let (from, to): (Layout, Layout) = (from.parse()?, to.parse()?);
        let padding = self.fill.map_or(Padding::Keep, |fill| fill.0);
        let relayout = Relayout::new(&from, &to)?.with_padding(padding)?;
        let options = ProgramOptions { form: self.form, ..Default::default() };
        let mut profile = if self.target == Target::Cuda { Profile::cuda() } else { Profile::webgpu() };
        profile.sizes = if self.uniforms { Sizes::Uniforms } else { Sizes::Constants };
        Program::with_options(&relayout, &profile, &options)
    }
}
