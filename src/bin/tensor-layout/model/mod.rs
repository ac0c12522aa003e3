//! `model`: every tensor of a model described, checked, laid out, and brought back.

mod plan;
mod report;
mod rule;
mod source;
mod target;

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::Args;
use tensor_layout::Error;

use crate::check::limits;
use crate::output::{Output, Stop, Verdict};
use crate::progress;

use plan::Plan;
use report::{Answer, Report};
use rule::Rule;
use source::Source;
use target::Target;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model.
    #[arg(value_name = "FILE.safetensors")]
    file: PathBuf,
    /// The layout every tensor gets: tpu:v5e (v2, v3, v4, v5e, v5p, v6e, v7x), nhwc, packed, or tiles such as
    /// 'T(8,128)(2,1)'.
    #[arg(long, value_name = "RULE", default_value = "packed")]
    to: Rule,
    /// Write a model here that holds the tensors in their new layout, which its metadata names.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What the device accepts: directml, directml:5.0 (a feature level), d3d12, webgpu, vulkan or none.
    #[arg(long, value_name = "NAME", default_value = "directml")]
    limits: String,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let limits = limits(&arguments.limits)?;
    let mut source = Source::open(&arguments.file)?;
    let plans: Vec<Result<Plan, Error>> =
        source.tensors.iter().map(|tensor| Plan::new(tensor, &arguments.to, &limits)).collect();
    // The widest elements first, so that every tensor of the new file begins at a multiple of its element.
    let mut order: Vec<(usize, &Plan)> =
        plans.iter().enumerate().filter_map(|(place, plan)| plan.as_ref().ok().map(|plan| (place, plan))).collect();
    order.sort_by_key(|(_, plan)| Reverse(plan.data_type.bits()));

    let mut target = match &arguments.out {
        Some(path) => {
            if let Some((tensor, error)) = first_refusal(&source, &plans) {
                output.refuse(tensor, error)?;
                output.complain("nothing was written, because not every tensor can be laid out")?;
                return Ok(Verdict::Failed);
            }
            let written: Vec<&Plan> = order.iter().map(|&(_, plan)| plan).collect();
            Some(Target::create(path, &written, &source.metadata)?)
        }
        None => None,
    };

    let bar = progress::bar(source.tensors.iter().map(|tensor| tensor.bytes).fold(0, u64::saturating_add));
    let mut answers: Vec<Answer> = plans.iter().map(|_| Answer::NotTried).collect();
    for (place, plan) in order {
        bar.set_message(plan.tensor.name.clone());
        let outcome = match plan.fits_memory() {
            true => Some(plan.try_out(&source.read(&plan.tensor)?)?),
            false => None,
        };
        bar.inc(plan.tensor.bytes);
        if let Some(target) = &mut target {
            match &outcome {
                Some(outcome) if outcome.identical.is_ok() => target.append(&outcome.laid_out)?,
                _ => {
                    let name = &plan.tensor.name;
                    return Err(Stop::Unusable(format!("nothing was written: `{name}` could not be laid out")));
                }
            }
        }
        if let (Some(answer), Some(outcome)) = (answers.get_mut(place), outcome) {
            *answer = match outcome.identical {
                Ok(identical) => Answer::Tried { identical },
                Err(error) => Answer::Refused(error),
            };
        }
    }
    bar.finish_and_clear();
    if let Some(target) = target {
        target.finish()?;
    }
    let report = Report { file: &arguments.file, rule: &arguments.to, limits: limits.name, source: &source };
    let rows: Vec<_> = plans.iter().zip(answers).collect();
    if output.is_json() { report.objects(&rows, output) } else { report.table(&rows, arguments.out.as_deref(), output) }
}

fn first_refusal<'a>(source: &'a Source, plans: &'a [Result<Plan, Error>]) -> Option<(&'a str, &'a Error)> {
    let mut pairs = source.tensors.iter().zip(plans);
    pairs.find_map(|(tensor, plan)| plan.as_ref().err().map(|error| (tensor.name.as_str(), error)))
}
