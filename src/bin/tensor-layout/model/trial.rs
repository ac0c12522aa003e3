//! Every tensor laid out and brought back: by way of the new file, or of a place that nobody keeps.

use std::path::Path;

use indicatif::ProgressBar;

use crate::output::Stop;
use crate::pieces::PIECE;

use super::plan::Plan;
use super::report::printable;
use super::scratch::Scratch;
use super::source::Source;
use super::target::{Target, Written};
use super::trip::Answer;

/// What comes of each plan if nothing is kept. Every tensor has a place of its own, so that no more is needed than the
/// largest takes.
pub(super) fn without_a_file(
    plans: &[(usize, &Plan)],
    source: &Source,
    bar: &ProgressBar,
) -> Result<Vec<Answer>, Stop> {
    plans.iter().map(|(_, plan)| try_out(plan, source, bar)).collect()
}

/// Writes a model and reads it back. It gets its name if every tensor is the same.
pub(super) fn into_a_file(
    path: &Path,
    plans: &[(usize, &Plan)],
    source: &Source,
    bar: &ProgressBar,
) -> Result<Vec<Answer>, Stop> {
    let mut target = Target::create(path, plans.iter().map(|(_, plan)| *plan), &source.metadata)?;
    for (_, plan) in plans {
        write(plan, source, &mut target, bar)?;
    }
    let written = target.read_back()?;
    let answers: Vec<Answer> =
        plans.iter().map(|(_, plan)| compare(plan, source, &written, bar)).collect::<Result<_, _>>()?;
    if answers.iter().all(|answer| answer.identical() == Some(true)) {
        written.finish()?;
    }
    Ok(answers)
}

fn try_out(plan: &Plan, source: &Source, bar: &ProgressBar) -> Result<Answer, Stop> {
    bar.set_message(plan.tensor.name.clone());
    let trip = match plan.trip() {
        Ok(trip) => trip,
        Err(answer) => return Ok(answer),
    };
    let packed = source.bytes_of(&plan.tensor);
    let mut scratch = Scratch::new(plan.bytes(), PIECE)?;
    match trip.lay_out(packed, bar, |bytes| scratch.append(bytes))? {
        Ok(()) => trip.compare(&scratch.read_back()?, packed, bar),
        Err(error) => Ok(Answer::Refused(error)),
    }
}

fn write(plan: &Plan, source: &Source, target: &mut Target, bar: &ProgressBar) -> Result<(), Stop> {
    bar.set_message(plan.tensor.name.clone());
    let packed = source.bytes_of(&plan.tensor);
    let done = match plan.trip() {
        Ok(trip) => trip.lay_out(packed, bar, |bytes| target.append(bytes))?.map_err(Answer::Refused),
        Err(answer) => Err(answer),
    };
    let why = match done {
        Err(Answer::Refused(error)) => format!(": {error}"),
        Err(Answer::NotTried(needed)) => format!(", which would take {needed}"),
        Ok(()) | Err(Answer::Tried { .. }) => return Ok(()),
    };
    let name = printable(&plan.tensor.name);
    Err(Stop::Unusable(format!("nothing was written: `{name}` could not be laid out{why}")))
}

fn compare(plan: &Plan, source: &Source, written: &Written, bar: &ProgressBar) -> Result<Answer, Stop> {
    bar.set_message(plan.tensor.name.clone());
    match (plan.trip(), written.laid_out(plan)) {
        (Ok(trip), Some(laid_out)) => trip.compare(laid_out, source.bytes_of(&plan.tensor), bar),
        (Ok(_), None) => Ok(Answer::Tried { identical: false }),
        (Err(answer), _) => Ok(answer),
    }
}
