//! `model --recipe`: the outputs of a recipe, shown, checked, and written if that is wanted.

use std::path::Path;

use serde_json::json;
use tensor_layout_files::lay_out::{Failure, Written};
use tensor_layout_files::recipe::{Recipe, Settings, Target};
use tensor_layout_files::{open, printable, visible};

use crate::answer::Answer;
use crate::input::read_text;
use crate::limits;
use crate::output::{Output, Stop, Verdict, refused};
use crate::table::{Table, add, print, short_bytes};
use crate::terminal::progress_bar;

use super::arguments::Arguments;

pub(super) fn run(recipe: &Path, asked: &Arguments, align: Option<u64>, output: &mut Output) -> Result<Verdict, Stop> {
    let text = read_text(recipe)?;
    let mut settings = Settings::default();
    settings.to = asked.to.clone();
    if let Some(text) = &asked.rank {
        let numbers = text.split_once('/').and_then(|(rank, of)| Some((rank.parse().ok()?, of.parse().ok()?)));
        let fits = numbers.filter(|(rank, of)| rank < of);
        let sentence = || format!("--rank {text}: expected RANK/OF, such as 0/8: the ranks count from 0");
        settings.rank = Some(fits.ok_or_else(|| Stop::Unusable(sentence()))?);
    }
    let file = open(&asked.file)?;
    file.warnings().iter().for_each(|sentence| output.warn(sentence));
    let planned = Recipe::parse(&text).and_then(|recipe| recipe.plan(&file, &settings));
    let plan = match planned {
        Ok(plan) => plan,
        Err(error) if output.is_json() => {
            let (line, column, name) = (error.line(), error.column(), error.name());
            let error = json!({ "code": error.code(), "message": error.to_string(), "line": line, "column": column });
            output.line(json!({ "type": "error", "input": recipe.to_string_lossy(), "name": name, "error": error }))?;
            return Ok(Verdict::Failed);
        }
        Err(error) => return Err(Stop::Failed(format!("{}: {error}", recipe.display()))),
    };
    plan.warning().iter().for_each(|sentence| output.warn(sentence));
    if let Some(name) = &asked.limits {
        plan.check(&limits::named(name)?).map_err(|failure| stop(failure, output))?;
    }
    let mut table = Table::new("output|layout|>bytes|>sources|>copies");
    for one in plan.outputs().iter().filter(|_| !asked.summary) {
        if asked.explain && !output.is_json() {
            output.line(plan.explain(one))?;
            continue;
        }
        let [name, layout] = [one.name(), &one.layout().to_string()].map(printable);
        let [sources, copies] = [plan.sources(one).count(), one.copies().count()].map(|count| count.to_string());
        let bytes = short_bytes(one.size_in_bytes());
        add(&mut table, || plan.object(one), || [name, layout, bytes, sources, copies], output)?;
    }
    if !asked.summary && !asked.explain && !output.is_json() {
        print(&table, output)?;
        output.line("")?;
    }
    let [read, written] = plan.bytes();
    let bar = progress_bar(if asked.out.is_some() { written } else { 0 });
    let made = asked.out.as_deref().map(|out| {
        let mut target = Target::new(out);
        target.align = align;
        (target.share, target.threads) = (asked.part, asked.jobs.map_or(target.threads, usize::from));
        plan.write(&target, &|bytes| bar.inc(bytes))
    });
    bar.finish_and_clear();
    let made = made.transpose().map_err(|failure| stop(failure, output))?;
    let path = made.as_ref().and_then(|made| match made {
        Written::All(path) => Some(path.to_string_lossy()),
        _ => None,
    });
    let share = made.as_ref().and_then(|made| match made {
        Written::Share { there, why, .. } => Some((there, why)),
        _ => None,
    });
    let (count, forms, mut answer) = (plan.outputs().len(), plan.forms(), Answer::new(output.is_json(), "recipe"));
    answer.keys(|| {
        json!({
            "file": asked.file.to_string_lossy(), "recipe": recipe.to_string_lossy(), "outputs": count, "forms": forms,
            "bytes_read": read, "bytes_written": written, "written": path,
            "parts_there": share.map(|(there, _)| there), "missing": share.map(|(_, why)| why),
        })
    });
    let [read, written] = [read, written].map(short_bytes);
    answer.line(format_args!("{count} outputs of {forms} forms: {read} read, {written} written once"));
    answer.lines(path.map(|path| format!("written to {}", visible(&path))));
    answer.lines(share.map(|(there, why)| format!("{there} parts exist, so no index was written: {why}")));
    output.line(answer).map(|()| Verdict::Well)
}

/// Why a model was not laid out or made, as a reason to stop.
pub(super) fn stop(failure: Failure, output: &mut Output) -> Stop {
    match failure {
        Failure::Tensor(name, error) => match output.settle(Err(refused(&printable(&name))(error))) {
            Ok(_) => Stop::Failed("nothing was written, because not every tensor can be laid out".into()),
            Err(stop) => stop,
        },
        Failure::Limits(sentence) => Stop::Failed(sentence),
        failure => Stop::Unusable(failure.to_string()),
    }
}
