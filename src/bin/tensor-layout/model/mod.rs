//! `model`: every tensor of a model described, checked, laid out, and brought back.

mod plan;
mod report;
mod rule;
mod scratch;
mod source;
mod target;
mod trial;
mod trip;

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::Args;
use tensor_layout::Error;

use crate::check::limits;
use crate::output::{Output, Stop, Verdict};
use crate::progress;

use plan::Plan;
use report::{Report, printable};
use rule::Rule;
use source::Source;
use trip::Answer;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model.
    #[arg(value_name = "FILE.safetensors")]
    file: PathBuf,
    /// The layout every tensor gets: tpu:v5e (v2, v3, v4, v5e, v5p, v6e, v7x), nhwc, packed, or tiles such as
    /// 'T(8,128)(2,1)'.
    #[arg(long, value_name = "RULE", default_value = "packed")]
    to: Rule,
    /// Write a model here that holds the tensors in their new layout, which its metadata names. It is read back before it
    /// replaces what was there.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What the device accepts: directml, directml:5.0 (a feature level), d3d12, webgpu, vulkan or none.
    #[arg(long, value_name = "NAME", default_value = "directml")]
    limits: String,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let limits = limits(&arguments.limits)?;
    let source = Source::open(&arguments.file)?;
    let plans: Vec<Result<Plan, Error>> =
        source.tensors.iter().map(|tensor| Plan::new(tensor, &arguments.to, &limits)).collect();
    // The widest elements first, so that every tensor of the new file begins at a multiple of its element.
    let mut order: Vec<(usize, &Plan)> =
        plans.iter().enumerate().filter_map(|(place, plan)| plan.as_ref().ok().map(|plan| (place, plan))).collect();
    order.sort_by_key(|(_, plan)| Reverse(plan.data_type.bits()));

    if let (Some(_), Some((tensor, error))) = (&arguments.out, first_refusal(&source, &plans)) {
        output.refuse(tensor, error)?;
        output.complain("nothing was written, because not every tensor can be laid out")?;
        return Ok(Verdict::Failed);
    }

    let work = order.iter().map(|(_, plan)| plan.tensor.bytes.saturating_add(plan.bytes()));
    let bar = progress::bar(work.fold(0, u64::saturating_add));
    let found = match &arguments.out {
        None => trial::without_a_file(&order, &source, &bar)?,
        Some(path) => trial::into_a_file(path, &order, &source, &bar)?,
    };
    bar.finish_and_clear();
    // A file is kept if all of it was read back as it should be.
    let unwritten = found.iter().zip(&order).find(|(answer, _)| answer.identical() != Some(true));
    let unwritten = unwritten.filter(|_| arguments.out.is_some()).map(|(_, (_, plan))| printable(&plan.tensor.name));
    let mut answers: Vec<Answer> = plans.iter().map(|_| Answer::NotTried(String::new())).collect();
    for (found, (place, _)) in found.into_iter().zip(&order) {
        if let Some(answer) = answers.get_mut(*place) {
            *answer = found;
        }
    }
    let report = Report { file: &arguments.file, rule: &arguments.to, limits: limits.name, source: &source };
    let rows: Vec<_> = plans.iter().zip(answers).collect();
    let out = arguments.out.as_deref().filter(|_| unwritten.is_none());
    let verdict = if output.is_json() { report.objects(&rows, output)? } else { report.table(&rows, out, output)? };
    if let Some(name) = unwritten {
        output.complain(&format!("nothing was written: `{name}` was read back and is not the same"))?;
    }
    Ok(verdict)
}

fn first_refusal<'a>(source: &'a Source, plans: &'a [Result<Plan, Error>]) -> Option<(&'a str, &'a Error)> {
    let mut pairs = source.tensors.iter().zip(plans);
    pairs.find_map(|(tensor, plan)| plan.as_ref().err().map(|error| (tensor.name.as_str(), error)))
}
