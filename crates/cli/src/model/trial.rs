//! Converts every tensor of a file and converts it back. The converted tensors are in the new file, or in
//! memory that is released at once.

use std::path::Path;

use crate::model_file::{Header, Model};
use indicatif::ProgressBar;
use tensor_layout::ToIndexMap;

use crate::input_file::Bytes;
use crate::new_file::{NewFile, WrittenFile};
use crate::output::Stop;
use crate::pieces::{Outcome, PIECE};
use crate::table::printable;

use super::plan::Plan;
use super::scratch::Scratch;
use super::trip::Answer;

/// For each tensor of a file, in its order, the plan, or the reason why the tensor has none.
pub(super) type Plans<'m> = Vec<Result<Plan<'m>, tensor_layout::Error>>;

/// Converts each tensor and back without keeping the result. The tensors follow one after the other, so only
/// one is in memory.
pub(super) fn without_a_file(plans: &Plans<'_>, bar: &ProgressBar) -> Result<Vec<Answer>, Stop> {
    let answer = |plan: &Result<Plan<'_>, _>| match plan {
        Ok(plan) => try_out(plan, bar),
        Err(_) => Ok(Answer::NotTried(String::new())),
    };
    plans.iter().map(answer).collect()
}

/// Writes the new file and reads it back. The file is returned only if every tensor came back identical. It
/// still has its temporary name.
pub(super) fn into_a_file(
    path: &Path,
    plans: &[&Plan<'_>],
    header: &Header,
    bar: &ProgressBar,
) -> Result<(Vec<Answer>, Option<WrittenFile>), Stop> {
    let mut file = NewFile::create(path)?;
    file.append(&header.bytes)?;
    for plan in header.order.iter().filter_map(|&place| plans.get(place)) {
        write(plan, &mut file, bar)?;
    }
    let file = file.close()?;
    let answers: Vec<Answer> = {
        let bytes = Bytes::open(file.path())?;
        // The new file is read as any model is read, with all checks.
        let written =
            Model::read(&bytes).map_err(|error| Stop::Unusable(format!("the new file is not a model: {error}")))?;
        plans.iter().map(|plan| compare(plan, &written, bar)).collect::<Result<_, _>>()?
    };
    let identical = answers.iter().all(|answer| answer.identical() == Some(true));
    Ok((answers, identical.then_some(file)))
}

fn try_out(plan: &Plan<'_>, bar: &ProgressBar) -> Result<Answer, Stop> {
    bar.set_message(printable(plan.tensor.name()));
    let trip = match plan.trip() {
        Ok(trip) => trip,
        Err(answer) => return Ok(answer),
    };
    let stored = plan.tensor.bytes();
    let mut scratch = Scratch::new(plan.bytes(), PIECE)?;
    match trip.lay_out(stored, bar, |bytes| scratch.append(bytes))? {
        Outcome::Done => trip.compare(&scratch.read_back()?, stored, bar),
        Outcome::Refused(error) => Ok(Answer::Refused(error)),
    }
}

fn write(plan: &Plan<'_>, file: &mut NewFile, bar: &ProgressBar) -> Result<(), Stop> {
    let name = printable(plan.tensor.name());
    bar.set_message(name.clone());
    let answer = match plan.trip() {
        Ok(trip) => match trip.lay_out(plan.tensor.bytes(), bar, |bytes| file.append(bytes))? {
            Outcome::Done => return Ok(()),
            Outcome::Refused(error) => Answer::Refused(error),
        },
        Err(answer) => answer,
    };
    let why = match answer {
        Answer::Refused(error) => format!(": {error}"),
        Answer::NotTried(needed) => format!(", which would take {needed}"),
        Answer::Tried { .. } => return Ok(()),
    };
    Err(Stop::Unusable(format!("nothing was written: `{name}` could not be laid out{why}")))
}

/// Compares a tensor with the tensor of this name in the new file. The metadata of the file must name the
/// planned layout.
fn compare(plan: &Plan<'_>, written: &Model<'_>, bar: &ProgressBar) -> Result<Answer, Stop> {
    bar.set_message(printable(plan.tensor.name()));
    let laid_out = written.tensor(plan.tensor.name()).filter(|tensor| {
        let map = tensor.layout().and_then(|layout| layout.to_index_map());
        map.is_ok_and(|map| map == plan.map)
    });
    match (plan.trip(), laid_out) {
        (Ok(trip), Some(laid_out)) => trip.compare(laid_out.bytes(), plan.tensor.bytes(), bar),
        (Ok(_), None) => Ok(Answer::Tried { identical: false }),
        (Err(answer), _) => Ok(answer),
    }
}
