//! `model`: every tensor of a model described, checked, converted, and converted back.

mod checkpoint;
mod layers;
mod plan;
mod report;
mod rules;
mod scratch;
mod several;
mod shards;
mod trial;
mod trip;

use std::path::PathBuf;

use crate::model_file::{Header, Index, Model};
use clap::Args;
use indicatif::ProgressBar;
use tensor_layout::upload::DeviceLimits;

use crate::check::limits;
use crate::input_file::is_standard;
use crate::new_file::WrittenFile;
use crate::output::{Object, Output, Stop, Verdict};
use crate::progress;
use crate::rule::Rule;
use crate::table::printable;
use crate::terminal::{Ink, painted_error};

use checkpoint::{Checkpoint, PartFile, Share};
use plan::Plan;
use report::{FileReport, Findings, Report, Written};
use rules::{Exception, Rules};
use shards::{NewShards, Progress};
use trial::Plans;
use trip::Answer;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model, or the index of a sharded one (model.safetensors.index.json), whose parts are in the same
    /// folder. If its metadata names layouts, the tensors are read in these.
    #[arg(value_name = "FILE.safetensors")]
    file: PathBuf,
    /// The layout every tensor gets: tpu:v5e (v2, v3, v4, v5e, v5p, v6e, v7x) as a TPU lays it out,
    /// tpu:v5e:row-major for the tiles alone, nhwc, packed, tiles such as 'T(8,128)(2,1)', an axis order or
    /// oneDNN tag such as OIhw16i16o, or the name of a layout such as tensorrt.kCHW32.
    #[arg(long, value_name = "RULE", default_value = "packed")]
    to: Rule,
    /// Another layout for tensors whose names match: 'conv*.weight=OIhw16i16o'. Patterns have *, ? and [a-z].
    /// May be given several times; of those that match, the last holds.
    #[arg(long, value_name = "PATTERN=RULE")]
    to_for: Vec<Exception>,
    /// Write a model to this file: the tensors in their new layout, which the metadata names. The new file is
    /// read back before it replaces another. For a sharded model, this is the new index, or a folder for the
    /// index and the parts.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only every OF-th part of a sharded model, from part NUMBER on: '2/8' is the second of eight jobs. The
    /// job that finds all parts writes the index.
    #[arg(long, value_name = "NUMBER/OF")]
    part: Option<Share>,
    /// Convert nothing: write the index of a sharded model if all its parts exist.
    #[arg(long, requires = "out", conflicts_with = "part")]
    index: bool,
    /// How many parts of a sharded model are converted at once [default: the processors, at most 4].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// The limits of the device: directml, directml:5.0 (a feature level), d3d12, webgpu, vulkan,
    /// metal-tensor, metal-tensor:ml, vulkan-tensor, cuda-tensor-map, webnn or none. With this
    /// option, a tensor that they refuse is a failure; without it, the table says what DirectML would refuse.
    #[arg(long, value_name = "NAME")]
    limits: Option<String>,
    /// Print the totals and what is wrong, without the table.
    #[arg(long)]
    summary: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if arguments.out.as_deref().is_some_and(is_standard) {
        let sentence = "a new model is read back before it has its name, so --out must be a file";
        return Err(Stop::Unusable(sentence.into()));
    }
    let limits = limits(arguments.limits.as_deref().unwrap_or("directml"))?;
    let rules = Rules::new(arguments.to.clone(), arguments.to_for.clone());
    let shards = shards(arguments)?;
    if let Some(shards) = &shards {
        if arguments.index {
            return write_index(arguments, shards, &rules, output);
        }
        if arguments.part.is_some() && shards.is_complete(&arguments.file, &rules)? {
            return say(arguments, &Written::All(shards.index().to_owned()), output);
        }
    }
    let way = match (&arguments.out, &shards) {
        (None, _) => Way::Nowhere,
        (Some(_), Some(shards)) => Way::Shards(shards),
        (Some(path), None) => Way::File(path.clone()),
    };
    let Some(laid_out) = lay_out(arguments, &rules, &limits, &way, output)? else { return Ok(Verdict::Failed) };
    let LaidOut { findings, files, index, parts, unwritten } = laid_out;
    // The new files get their names only if every tensor was read back identical.
    let written = match &way {
        _ if unwritten.is_some() => None,
        Way::Nowhere => None,
        Way::File(path) => {
            files.into_iter().try_for_each(WrittenFile::finish)?;
            Some(Written::All(path.clone()))
        }
        Way::Shards(shards) => match index {
            Some(index) => {
                shards.finish(files, &index)?;
                Some(Written::All(shards.index().to_owned()))
            }
            None => Some(finish_share(arguments, shards, &rules, parts)?),
        },
    };
    let verdict = findings.print(written.as_ref(), output)?;
    if let Some(name) = unwritten {
        output.complain(&format!("nothing was written: `{name}` was read back and differs"))?;
    }
    Ok(verdict)
}

/// The result of converting a model. It borrows nothing from the files of the model, which are closed by now,
/// because some systems refuse to replace a mapped file.
struct LaidOut {
    findings: Findings,
    /// The new files, still under temporary names.
    files: Vec<WrittenFile>,
    /// The index of the new model, if all parts of a sharded model were converted.
    index: Option<Index>,
    parts: usize,
    /// The name of a tensor that was read back and differs.
    unwritten: Option<String>,
}

/// Reads the model, converts every tensor and reads it back. `None` means that the model was refused before
/// anything was written.
fn lay_out(
    arguments: &Arguments,
    rules: &Rules,
    limits: &DeviceLimits,
    way: &Way<'_>,
    output: &mut Output,
) -> Result<Option<LaidOut>, Stop> {
    let source = Checkpoint::open(&arguments.file, arguments.part)?;
    let models = source.models()?;
    refuse_unused(rules, &source, &models)?;
    for sentence in source.remarks(&models) {
        output.warn(&format!("{} {sentence}", painted_error("warning:", Ink::Yellow)));
    }
    let plans: Vec<Plans<'_>> = models.iter().map(|model| plans(model, rules, limits)).collect();
    if arguments.out.is_some() && refuse(&plans, &models, output)? == Verdict::Failed {
        output.complain("nothing was written, because not every tensor can be laid out")?;
        return Ok(None);
    }

    let all = || plans.iter().flatten().filter_map(|plan| plan.as_ref().ok());
    let work = all().map(|plan| (plan.tensor.bytes().len() as u64).saturating_add(plan.bytes()));
    let bar = progress::bar(work.fold(0, u64::saturating_add));
    let pairs: Vec<_> = source.files.iter().zip(&models).zip(&plans).collect();
    let threads = arguments.jobs.map_or_else(several::usual, usize::from);
    let done = several::at_once(&pairs, threads, |((file, model), plans)| {
        convert(way, &file.name, model, plans, arguments.part.is_some(), &bar)
    })?;
    bar.finish_and_clear();
    source.files.iter().try_for_each(PartFile::check_unchanged)?;

    let unwritten = unwritten(&plans, &done).filter(|_| arguments.out.is_some());
    let (mut parts, mut files, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    for (((file, model), plans), done) in pairs.iter().zip(done) {
        parts.push(FileReport { file: &file.name, model, plans, answers: done.answers });
        files.extend(done.file);
        headers.extend(done.header.map(|header| (file.name.as_str(), header)));
    }
    let index = match way {
        Way::Shards(_) if unwritten.is_none() && arguments.part.is_none() => {
            let index = Index::new(headers.iter().map(|(name, header)| (*name, header)), source.index.as_ref());
            Some(index.map_err(|error| Stop::Unusable(error.to_string()))?)
        }
        _ => None,
    };
    let report = Report {
        file: &arguments.file,
        rules,
        limits: &limits.name,
        are_limits_asked: arguments.limits.is_some(),
        is_summary: arguments.summary,
        is_sharded: source.index.is_some(),
    };
    let findings = if output.is_json() { report.objects(&parts) } else { report.table(&parts) };
    Ok(Some(LaidOut { findings, files, index, parts: parts.len(), unwritten }))
}

/// Prepares the folder that the parts of a sharded model are written to. `None` if the model is one file, or
/// nothing is written.
fn shards(arguments: &Arguments) -> Result<Option<NewShards>, Stop> {
    let is_index = arguments.file.extension().is_some_and(|ending| ending == "json");
    match &arguments.out {
        Some(out) if is_index => NewShards::create(out, &arguments.file).map(Some),
        _ if arguments.index => {
            let file = arguments.file.display();
            Err(Stop::Unusable(format!("{file} has no parts: --index is for the index of a sharded model")))
        }
        _ => Ok(None),
    }
}

fn plans<'m>(model: &'m Model<'m>, rules: &Rules, limits: &DeviceLimits) -> Plans<'m> {
    model.tensors().iter().map(|tensor| Plan::new(tensor, rules, limits)).collect()
}

/// Refuses a pattern that matches no tensor of the whole model, even if only a share of the parts is
/// converted.
fn refuse_unused(rules: &Rules, source: &Checkpoint, models: &[Model<'_>]) -> Result<(), Stop> {
    let held = models.iter().flat_map(|model| model.tensors()).map(|tensor| tensor.name());
    let indexed = source.index.iter().flat_map(|index| index.tensors()).map(|(name, _)| name);
    let names: Vec<&str> = held.chain(indexed).collect();
    match rules.unused(names.iter().copied()) {
        None => Ok(()),
        Some(pattern) => Err(Stop::Unusable(format!("no tensor matches the pattern `{pattern}` of --to-for"))),
    }
}

/// Refuses the first tensor that cannot be laid out by its rule.
fn refuse(plans: &[Plans<'_>], models: &[Model<'_>], output: &mut Output) -> Result<Verdict, Stop> {
    let tensors = models.iter().flat_map(|model| model.tensors());
    let refusal = tensors.zip(plans.iter().flatten()).find_map(|(tensor, plan)| Some((tensor, plan.as_ref().err()?)));
    match refusal {
        Some((tensor, error)) => output.refuse(&printable(tensor.name()), error),
        None => Ok(Verdict::Well),
    }
}

/// Where the converted tensors are written.
enum Way<'s> {
    /// The result is not kept: every tensor is converted, converted back and compared, and then dropped.
    Nowhere,
    File(PathBuf),
    Shards(&'s NewShards),
}

/// The result of converting one file of the model.
struct Done {
    answers: Vec<Answer>,
    /// The new file, if it does not have its name yet.
    file: Option<WrittenFile>,
    header: Option<Header>,
}

/// Converts one file of the model. With `at_once` the new file gets its name as soon as it was read back.
fn convert(
    way: &Way<'_>,
    name: &str,
    model: &Model<'_>,
    plans: &Plans<'_>,
    at_once: bool,
    bar: &ProgressBar,
) -> Result<Done, Stop> {
    let path = match way {
        Way::Nowhere => return Ok(Done { answers: trial::without_a_file(plans, bar)?, file: None, header: None }),
        Way::File(path) => path.clone(),
        Way::Shards(shards) => shards.part(name),
    };
    // Every tensor has a plan here, because `lay_out` refuses a model with a tensor that has none.
    let plans: Vec<&Plan<'_>> = plans.iter().filter_map(|plan| plan.as_ref().ok()).collect();
    let header = Header::new(plans.iter().map(|plan| (plan.tensor.name(), &plan.layout)), model.metadata());
    let header = header.map_err(|error| Stop::Unusable(format!("nothing was written: {error}")))?;
    let (answers, mut file) = trial::into_a_file(&path, &plans, &header, bar)?;
    if let Some(file) = file.take_if(|_| at_once) {
        file.finish()?;
    }
    Ok(Done { answers, file, header: Some(header) })
}

/// Returns the name of the first tensor that was read back and differs.
fn unwritten(plans: &[Plans<'_>], done: &[Done]) -> Option<String> {
    let answers = done.iter().flat_map(|done| &done.answers);
    let mut rows = plans.iter().flatten().filter_map(|plan| plan.as_ref().ok()).zip(answers);
    rows.find(|(_, answer)| answer.identical() != Some(true)).map(|(plan, _)| printable(plan.tensor.name()))
}

/// Writes the index if all parts of the new model exist, now that this job has written its own.
fn finish_share(arguments: &Arguments, shards: &NewShards, rules: &Rules, parts: usize) -> Result<Written, Stop> {
    let index = shards.index().to_owned();
    match shards.progress(&arguments.file, rules)? {
        Progress::AllParts(text) => shards.write_index(&text).map(|()| Written::All(index)),
        Progress::Missing { there, of, why } => Ok(Written::Share { index, parts, there, of, why }),
    }
}

fn write_index(arguments: &Arguments, shards: &NewShards, rules: &Rules, output: &mut Output) -> Result<Verdict, Stop> {
    match finish_share(arguments, shards, rules, 0)? {
        Written::Share { there, of, why, .. } => {
            output.complain(&format!("no index was written: {there} of {of} parts are there, and {why}"))?;
            Ok(Verdict::Failed)
        }
        written => say(arguments, &written, output),
    }
}

/// Prints the result of a run that converted nothing.
fn say(arguments: &Arguments, written: &Written, output: &mut Output) -> Result<Verdict, Stop> {
    if output.is_json() {
        let file = arguments.file.to_string_lossy();
        output.line(written.keys(Object::of("model").with("file", file.as_ref())))?;
    } else {
        output.line(written)?;
    }
    Ok(Verdict::Well)
}
