//! `model`: every tensor of a model laid out by a rule, compared, and written if that is wanted.

mod arguments;
mod recipe;
mod report;

use std::path::Path;

use tensor_layout_files::lay_out::{Rules, Settings, lay_out};
use tensor_layout_files::{is_index, open};

use crate::input::is_standard;
use crate::limits;
use crate::output::{Output, Stop, Verdict};
use crate::terminal::progress_bar;

pub(crate) use arguments::Arguments;
use recipe::stop;
use report::Findings;

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let Arguments { file, out, part, .. } = arguments;
    let refuse = |sentence: String| Err(Stop::Unusable(sentence));
    if out.as_deref().and_then(Path::extension).is_some_and(|name| name.eq_ignore_ascii_case("gguf")) {
        return refuse("a model is written as safetensors: choose a name that does not end in .gguf".into());
    }
    if out.as_deref().is_some_and(is_standard) {
        return refuse("a new model is read back before it has its name, so --out must be a file".into());
    }
    let align = arguments.align.as_deref().and_then(|bytes| bytes.parse().ok());
    if let Some(recipe) = &arguments.recipe {
        return recipe::run(recipe, arguments, align, output);
    }
    if part.is_some() && !is_index(file) {
        return refuse(format!("{} has no parts: --part is for the index of a sharded model", file.display()));
    }
    let settings = Settings {
        rules: Rules {
            all: arguments.to.clone(),
            exceptions: arguments.to_for.clone(),
            words: arguments.from_for.clone(),
        },
        limits: limits::named(arguments.limits.as_deref().unwrap_or("directml"))?,
        must_fit: arguments.limits.is_some(),
        share: *part,
        threads: arguments.jobs.map(usize::from),
        overwrite: arguments.overwrite,
        align,
    };
    let source = open(file)?;
    if let Some(pattern) = settings.rules.unused(&source) {
        return refuse(format!("no tensor matches the pattern `{pattern}` of --to-for or --from-for"));
    }
    source.warnings().iter().for_each(|sentence| output.warn(sentence));
    let bytes = source.tensors().map(|tensor| u64::try_from(tensor.bytes().len()).unwrap_or(u64::MAX));
    let bar = progress_bar(bytes.fold(0, u64::saturating_add));
    let report = lay_out(source, out.as_deref(), &settings, &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let report = report.map_err(|failure| stop(failure, output))?;
    Findings { file, settings: &settings, is_summary: arguments.summary, report: &report }.print(output)
}
