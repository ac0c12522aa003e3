//! `shader --from --to`: the program that copies one layout to another.

use std::fmt::Write;

use clap::Args;
use tensor_layout::Error;
use tensor_layout::notation::Notated;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout_shader::{BoundBuffer, Form, Pass, Profile, Program, ProgramOptions, Target};

use crate::convert::Fill;
use crate::output::{Object, Output, Stop, Verdict};

#[derive(Args)]
pub(crate) struct ProgramArguments {
    /// Instead of index functions: the program that copies this layout to that of --to, pass by pass.
    #[arg(long, value_name = "LAYOUT", requires = "to", conflicts_with = "layout")]
    from: Option<String>,
    /// What --from is copied to.
    #[arg(long, value_name = "LAYOUT", requires = "from")]
    to: Option<String>,
    /// The form: linear, rows, transpose, interleave or general. The one that should be fastest, if left out.
    #[arg(long, value_name = "NAME", requires = "from")]
    form: Option<Form>,
    /// The language: wgsl, hlsl, msl, spirv or glsl. All but the first require a build with naga:
    /// cargo install --path crates/cli --features naga.
    #[arg(long, visible_alias = "language", value_name = "NAME", default_value = "wgsl")]
    target: Target,
    /// The value of padding: zero, or the bits of one element as 0x...; kept, if left out.
    #[arg(long, requires = "from", value_name = "PATTERN")]
    fill: Option<Fill>,
}

impl ProgramArguments {
    /// The two layouts, if both are given.
    pub(crate) fn layouts(&self) -> Option<(&str, &str)> {
        self.from.as_deref().zip(self.to.as_deref())
    }

    /// Index functions are in WGSL, and so is all that a build without naga writes.
    pub(crate) fn check_target(&self) -> Result<(), Stop> {
        let target = self.target;
        if target != Target::Wgsl && self.from.is_none() {
            return Err(Stop::Unusable(format!(
                "index functions are written in WGSL alone; --target {target} requires --from and --to"
            )));
        }
        if target != Target::Wgsl && !cfg!(feature = "naga") {
            return Err(Stop::Unusable(format!(
                "this build cannot translate WGSL to {target}; install one that can: `cargo install --path crates/cli --features naga`"
            )));
        }
        Ok(())
    }

    pub(crate) fn run(&self, from: &str, to: &str, output: &mut Output) -> Result<Verdict, Stop> {
        let program = match self.program(from, to) {
            Ok(program) => program,
            Err(error) => return output.refuse(&format!("{from} to {to}"), &error),
        };
        let mut text = String::new();
        for line in program.explain().lines() {
            let _ = writeln!(text, "// {line}");
        }
        let mut seen: Vec<&str> = Vec::new();
        for (number, pass) in (1_usize..).zip(program.passes()) {
            let _ = writeln!(text, "\n// Pass {number}: {}", dispatched(pass));
            if let Some(place) = seen.iter().position(|seen| *seen == pass.wgsl()) {
                let _ = writeln!(text, "// The shader is that of pass {}.", place.saturating_add(1));
            } else {
                match translated(pass, self.target) {
                    Ok(shader) => text.push_str(shader.trim_end()),
                    Err(error) => return output.refuse(&format!("{from} to {to}"), &error),
                }
                text.push('\n');
            }
            seen.push(pass.wgsl());
        }
        if output.is_json() {
            let object = Object::default().with("from", from).with("to", to).with("form", program.form().name());
            output.line(object.with("target", self.target.name()).with("text", text))?;
        } else {
            output.line(text.trim_end())?;
        }
        Ok(Verdict::Well)
    }

    fn program(&self, from: &str, to: &str) -> Result<Program, Error> {
        let (from, to): (Notated, Notated) = (from.parse()?, to.parse()?);
        let padding = self.fill.map_or(Padding::Keep, |fill| fill.0);
        let relayout = Relayout::new(&from, &to)?.with_padding(padding)?;
        let options = ProgramOptions { form: self.form, ..Default::default() };
        Program::with_options(&relayout, &Profile::webgpu(), &options)
    }
}

/// What a pass is dispatched with.
fn dispatched(pass: &Pass) -> String {
    let [x, y, z] = pass.workgroups();
    let mut text = format!("{x} x {y} x {z} workgroups; ");
    for window in pass.bindings() {
        let (binding, bytes) = (window.binding, window.bytes);
        let _ = match window.buffer {
            BoundBuffer::Source => {
                write!(text, "binding {binding}: the source's bytes {}..{}, ", bytes.start, bytes.end)
            }
            BoundBuffer::Uniforms => write!(text, "binding {binding}:"),
            _ => write!(text, "binding {binding}: the destination's bytes {}..{}, ", bytes.start, bytes.end),
        };
    }
    for (name, value) in pass.named_uniforms() {
        let _ = write!(text, " {name} = {value},");
    }
    text.trim_end_matches([',', ' ']).to_owned()
}

#[cfg(feature = "naga")]
fn translated(pass: &Pass, target: Target) -> Result<String, Error> {
    if target == Target::Wgsl { Ok(pass.wgsl().to_owned()) } else { pass.translated(target) }
}

/// [`ProgramArguments::check_target`] refuses the other languages.
#[cfg(not(feature = "naga"))]
fn translated(pass: &Pass, _: Target) -> Result<String, Error> {
    Ok(pass.wgsl().to_owned())
}
