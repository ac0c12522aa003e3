//! A program as text for people and as files for a host that is not this crate.

use std::fmt::Write;

use serde_json::{Value, json};
use tensor_layout::Error;

use super::super::target::Target;
use super::pass::{BoundBuffer, Pass};
use super::plan::Program;

impl Program {
    /// Returns the program in a language, with what it does and how each pass is dispatched in comments.
    ///
    /// # Errors
    ///
    /// A translation's errors, and `not_expressible` for a language that a build without the feature `naga`
    /// does not have.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc};
    /// use tensor_layout_shader::{Profile, Program, Target};
    ///
    /// let (rows, columns): (BufferTensorDesc, BufferTensorDesc) = ("f32[8,8]:[8,1]".parse()?, "f32[8,8]:[1,8]".parse()?);
    /// let program = Program::new(&Relayout::new(&rows, &columns)?, &Profile::webgpu())?;
    /// let text = program.text_in(Target::Wgsl)?;
    /// assert!(text.starts_with("// form: ") && text.contains("\n// Pass 1: relayout, 1 x 1 x 1 workgroups; "));
    /// let files = program.files(Target::Wgsl, ["f32[8,8]:[8,1]", "f32[8,8]:[1,8]"])?;
    /// let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    /// assert_eq!(names, ["pass1.wgsl", "dispatches.json"]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn text_in(&self, target: Target) -> Result<String, Error> {
        let mut text: String = self.explain().lines().map(|line| format!("// {line}\n")).collect();
        let module = match target {
            Target::Wgsl => Some(self.wgsl()),
            Target::Cuda => Some(self.cuda()),
            _ => None,
        };
        if let Some(module) = module {
            for ((number, pass), entry) in (1_usize..).zip(self.passes()).zip(&module.entry_points) {
                let _ = writeln!(text, "\n// Pass {number}: {entry}, {}", dispatched(pass));
            }
            return Ok(text + &module.text);
        }
        let mut seen: Vec<&str> = Vec::new();
        for (number, pass) in (1_usize..).zip(self.passes()) {
            let _ = writeln!(text, "\n// Pass {number}: {}", dispatched(pass));
            if let Some(place) = seen.iter().position(|seen| *seen == pass.wgsl()) {
                let _ = writeln!(text, "// The shader is that of pass {}.", place.saturating_add(1));
            } else {
                let _ = writeln!(text, "{}", in_language(pass, target)?.trim_end());
            }
            seen.push(pass.wgsl());
        }
        Ok(text)
    }

    /// Returns the names and the contents of files: a shader for each pass, and `dispatches.json`, which says
    /// how each pass is dispatched (README.md). `texts` are the two layouts, for that file.
    ///
    /// # Errors
    ///
    /// The translation fails as [`text_in`](Self::text_in) says.
    pub fn files(&self, target: Target, [from, to]: [&str; 2]) -> Result<Vec<(String, String)>, Error> {
        let suffix = match target {
            Target::Cuda => "cu",
            Target::Spirv => "spv.inc",
            other => other.name(),
        };
        let (mut files, mut passes) = (Vec::new(), Vec::new());
        for (number, pass) in (1_usize..).zip(self.passes()) {
            let name = format!("pass{number}.{suffix}");
            let bindings = pass.bindings().into_iter().map(|window| {
                let bytes = [window.bytes.start, window.bytes.end];
                json!({ "binding": window.binding, "buffer": name_of(window.buffer), "bytes": bytes })
            });
            let bindings: Vec<Value> = bindings.collect();
            let uniforms = pass.named_uniforms().map(|(name, value)| json!({ "name": name, "value": value }));
            passes.push(json!({
                "file": name, "form": pass.form().name(), "entry_point": pass.entry_point(),
                "workgroups": pass.workgroups(), "workgroup_size": pass.workgroup_size(),
                "workgroup_memory": pass.workgroup_memory(), "bindings": bindings,
                "uniforms": uniforms.collect::<Vec<_>>(),
            }));
            files.push((name, in_language(pass, target)?));
        }
        let (target, form) = (target.name(), self.form().name());
        let all = json!({ "from": from, "to": to, "target": target, "form": form, "passes": passes });
        files.push(("dispatches.json".to_owned(), format!("{all}\n")));
        Ok(files)
    }
}

fn name_of(buffer: BoundBuffer) -> &'static str {
    match buffer {
        BoundBuffer::Source => "source",
        BoundBuffer::Destination => "destination",
        BoundBuffer::Uniforms => "uniforms",
    }
}

fn dispatched(pass: &Pass) -> String {
    let [x, y, z] = pass.workgroups();
    let mut text = format!("{x} x {y} x {z} workgroups; ");
    for window in pass.bindings() {
        let (binding, bytes) = (window.binding, window.bytes);
        let _ = match window.buffer {
            BoundBuffer::Uniforms => write!(text, "binding {binding}:"),
            buffer => {
                write!(text, "binding {binding}: the {}'s bytes {}..{}, ", name_of(buffer), bytes.start, bytes.end)
            }
        };
    }
    for (name, value) in pass.named_uniforms() {
        let _ = write!(text, " {name} = {value},");
    }
    text.trim_end_matches([',', ' ']).to_owned()
}

fn in_language(pass: &Pass, target: Target) -> Result<String, Error> {
    match target {
        Target::Wgsl => Ok(pass.wgsl().to_owned()),
        Target::Cuda => Ok(pass.cuda()),
        #[cfg(feature = "naga")]
        _ => pass.translated(target),
        #[cfg(not(feature = "naga"))]
        _ => Err(Error::not_expressible(target.name(), "this build cannot translate WGSL: it is without naga")),
    }
}
