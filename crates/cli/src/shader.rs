//! `shader`: the index functions of a layout as WGSL or CUDA; with `--from` and `--to` see
//! `shader_program.rs`.

use clap::Args;
use tensor_layout::{Error, ErrorKind};
use tensor_layout_shader::{Access, IndexFunctions, Target};
use tensor_layout_text::Notated;

use crate::output::{Object, Output, Stop, Verdict};
use crate::shader_program::ProgramArguments;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout.
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
    if let Some((from, to)) = arguments.program.layouts() {
        return arguments.program.run(from, to, output);
    }
    let layout = arguments.layout.as_deref().unwrap_or_default();
    let text = match text(arguments, layout) {
        Ok(text) => text,
        Err(error) => return output.refuse(layout, &error),
    };
    if output.is_json() {
        output.line(Object::of("shader").with("input", layout).with(arguments.program.target().name(), text))?;
    } else {
        output.line(text.trim_end())?;
    }
    Ok(Verdict::Well)
}

fn text(arguments: &Arguments, layout: &str) -> Result<String, Error> {
    let layout: Notated = layout.parse()?;
    let mut functions = match arguments.base_argument {
        false => IndexFunctions::new(&layout)?,
        true => IndexFunctions::with_base_argument(&layout)?,
    };
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
    Ok(note + &if arguments.program.target() == Target::Cuda { functions.cuda() } else { functions.wgsl() })
}
