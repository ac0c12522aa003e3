//! `model`: every tensor of a model described, checked, converted, and converted back.

mod file;
mod gguf;
mod plan;
mod report;
mod shards;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use clap::Args;
use indicatif::ProgressBar;
use tensor_layout::{Error, IndexMap, ToIndexMap};

use crate::check::limits;
use crate::input::{Bytes, is_standard};
use crate::new_file::{NewFile, WrittenFile, folder_of, sync_folder};
use crate::output::{Output, Stop, Verdict};
use crate::pieces::{PIECE, progress_bar};
use crate::rule::Rule;
use crate::table::{printable, short_bytes};

use file::{Header, Model, Tensor};
use plan::{Answer, Exception, Plan, Rules};
use report::{Findings, Report, Row, Written};
use shards::{Checkpoint, NewModel, Share, is_index};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model, a safetensors or a GGUF file, or the index of a sharded one (model.safetensors.index.json),
    /// whose parts are in the same folder. If its metadata names layouts, the tensors are read in these.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The layout every tensor gets: tpu:v5e (v2, v3, v4, v5e, v5p, v6e, v7x) as a TPU lays it out,
    /// tpu:v5e:row-major for the tiles alone, nhwc, packed, tiles such as 'T(8,128)(2,1)', an axis order or
    /// oneDNN tag such as OIhw16i16o, or the name of a layout such as tensorrt.kCHW32. Tensors of blocks
    /// (q4_0) stay packed, unless the name is one of their repacks, such as ggml.q4_0x8.
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
    /// Only every OF-th part of a sharded model, from part NUMBER on: '2/8' is the second of eight jobs.
    /// Parts that are there stay. The job that finds all parts writes the index.
    #[arg(long, value_name = "NUMBER/OF")]
    part: Option<Share>,
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

/// What is done after the files of the model are closed, because some systems refuse to replace a mapped
/// file: the new files, the text of the index that is written after them, and what is printed.
struct LaidOut {
    files: Vec<WrittenFile>,
    index: Option<String>,
    findings: Findings,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let Arguments { file, out, part, .. } = arguments;
    let refuse = |sentence: String| Err(Stop::Unusable(sentence));
    if out.as_deref().and_then(Path::extension).is_some_and(|name| name.eq_ignore_ascii_case("gguf")) {
        return refuse("a model is written as safetensors: choose a name that does not end in .gguf".into());
    }
    if out.as_deref().is_some_and(is_standard) {
        return refuse("a new model is read back before it has its name, so --out must be a file".into());
    }
    if part.is_some() && !is_index(file) {
        return refuse(format!("{} has no parts: --part is for the index of a sharded model", file.display()));
    }
    let new = out.as_ref().map(|out| NewModel::create(out, file)).transpose()?;
    let LaidOut { files, index, findings } = lay_out(arguments, new.as_ref(), output)?;
    if let Some(new) = new {
        new.finish(files, index.as_deref())?;
    }
    findings.print(output)
}

fn lay_out(arguments: &Arguments, new: Option<&NewModel>, output: &mut Output) -> Result<LaidOut, Stop> {
    let limits = limits(arguments.limits.as_deref().unwrap_or("directml"))?;
    let rules = Rules { all: arguments.to.clone(), exceptions: arguments.to_for.clone() };
    let source = Checkpoint::open(&arguments.file)?;
    let models = source.models()?;
    if let Some(pattern) = rules.unused(&models) {
        return Err(Stop::Unusable(format!("no tensor matches the pattern `{pattern}` of --to-for")));
    }
    for sentence in source.remarks(&models) {
        output.warn(&sentence);
    }
    let plan = |tensor| Plan::new(tensor, &rules, &limits);
    let plans: Vec<Vec<_>> = models.iter().map(|model| model.tensors.iter().map(plan).collect()).collect();
    let headers: Vec<Header> = match new {
        Some(_) => {
            models.iter().zip(&plans).map(|(model, plans)| header(model, plans, output)).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    let mut index = new.filter(|new| new.is_sharded).map(|_| source.new_index(&headers, &models));
    let share = arguments.part;
    let mut chosen: Vec<usize> =
        (0..models.len()).filter(|&place| share.is_none_or(|share| share.holds(place))).collect();
    let missing = |new: &NewModel, place: usize| new.missing(&source.files[place], &headers[place]);
    if let (Some(new), Some(_), Some(index)) = (new, share, &index) {
        new.refuse_other(index)?;
        chosen.retain(|&place| missing(new, place).is_some());
    }

    let all = || chosen.iter().flat_map(|&place| &plans[place]).filter_map(|plan| plan.as_ref().ok());
    let work = all().map(|plan| (plan.tensor.bytes.len() as u64).saturating_add(plan.bytes()));
    let bar = progress_bar(work.fold(0, u64::saturating_add));
    let threads = arguments.jobs.map_or_else(usual_jobs, usize::from);
    let done = at_once(&chosen, threads, |&place| {
        let Some(new) = new else { return Ok((without_a_file(&plans[place], &bar)?, None)) };
        let (answers, file) = into_a_file(&new.part(&source.files[place].0), &plans[place], &headers[place], &bar)?;
        // A job that converts a share names each part as soon as it was read back.
        match file {
            Some(file) if share.is_some() => file.finish().map(|()| (answers, None)),
            file => Ok((answers, file)),
        }
    })?;
    bar.finish_and_clear();
    source.files.iter().try_for_each(|(_, file)| file.check_unchanged())?;

    let (mut rows, mut files) = (Vec::new(), Vec::new());
    for (&place, (answers, file)) in chosen.iter().zip(done) {
        files.extend(file);
        let tensors = models[place].tensors.iter().zip(&plans[place]).zip(answers);
        let file = source.files[place].0.as_str();
        rows.extend(tensors.map(|((tensor, plan), answer)| Row { file, tensor, plan, answer }));
    }
    let differing = rows.iter().find(|row| row.answer.identical() != Some(true));
    let unwritten = differing.filter(|_| new.is_some()).map(|row| printable(&row.tensor.name));
    let mut written = new.map(|new| Written::all(&new.path));
    if unwritten.is_some() {
        // The new files get their names only if every tensor was read back identical.
        (written, index, files) = (None, None, Vec::new());
    }
    if let (Some(new), Some(_), Some(text)) = (new, share, index.take_if(|_| share.is_some())) {
        let mut why = (0..models.len()).filter_map(|place| missing(new, place));
        match why.next() {
            Some(first) => {
                let there = models.len().saturating_sub(why.count()).saturating_sub(1);
                written = Some(Written::share(&new.path, chosen.len(), (there, models.len()), &first));
            }
            None => {
                sync_folder(folder_of(&new.path))?;
                NewFile::write(&new.path, text.as_bytes())?;
            }
        }
    }
    let report = Report {
        file: &arguments.file,
        rules: &rules,
        limits: &limits.name,
        are_limits_asked: arguments.limits.is_some(),
        is_summary: arguments.summary,
        is_sharded: source.is_sharded(),
        readers: models.iter().find_map(|model| model.readers.as_ref()),
        written,
        rows,
    };
    let mut findings = if output.is_json() { report.objects() } else { report.table() };
    findings
        .complaints
        .extend(unwritten.map(|name| format!("nothing was written: `{name}` was read back and differs")));
    Ok(LaidOut { files, index, findings })
}

/// The header of a new file. Every tensor must have a plan, in one part.
fn header(model: &Model<'_>, plans: &[Result<Plan<'_>, Error>], output: &mut Output) -> Result<Header, Stop> {
    let mut listed = Vec::with_capacity(plans.len());
    for (tensor, plan) in model.tensors.iter().zip(plans) {
        match plan {
            Ok(plan) if plan.repacked.is_some() => {
                let (name, layout) = (printable(&tensor.name), plan.text());
                return Err(Stop::Unusable(format!(
                    "nothing was written: `{name}` would be {layout}, and a model file names layouts in which each \
                     element has one place, as groups of rows have not (`convert` writes one tensor)"
                )));
            }
            Ok(plan) => listed.push((tensor.name.as_str(), &plan.layout, &plan.map)),
            Err(error) => {
                output.refuse(&printable(&tensor.name), error)?;
                let sentence = "nothing was written, because not every tensor can be laid out";
                return Err(Stop::Failed(sentence.into()));
            }
        }
    }
    Header::new(listed, &model.metadata).map_err(|error| Stop::Unusable(format!("nothing was written: {error}")))
}

fn without_a_file(plans: &[Result<Plan<'_>, Error>], bar: &ProgressBar) -> Result<Vec<Answer>, Stop> {
    let try_out = |plan: &Plan<'_>| {
        if let Some(answer) = plan.without_trip() {
            return Ok(answer);
        }
        let unusable = |error: io::Error| {
            let (length, folder) = (short_bytes(plan.bytes()), std::env::temp_dir());
            Stop::Unusable(format!("a temporary file of {length} in {} cannot be used: {error}", folder.display()))
        };
        let trip = match plan.trip(bar) {
            Ok(trip) => trip,
            Err(answer) => return Ok(answer),
        };
        let mut aside = tempfile::spooled_tempfile(usize::try_from(PIECE).unwrap_or(usize::MAX));
        match trip.lay_out(plan.tensor.bytes, bar, |bytes| aside.write_all(bytes).map_err(unusable))? {
            Ok(()) => trip.compare(&Bytes::of_spooled(aside).map_err(unusable)?, plan.tensor.bytes, bar),
            Err(error) => Ok(Answer::Refused(error)),
        }
    };
    plans.iter().map(|plan| plan.as_ref().map_or_else(|_| Ok(Answer::NotTried(String::new())), try_out)).collect()
}

/// Writes the new file and reads it back. The file is returned only if every tensor came back identical. It
/// does not have its name yet.
fn into_a_file(
    path: &Path,
    plans: &[Result<Plan<'_>, Error>],
    header: &Header,
    bar: &ProgressBar,
) -> Result<(Vec<Answer>, Option<WrittenFile>), Stop> {
    // Every tensor has a plan here, because `lay_out` refuses a model with a tensor that has none.
    let plans: Vec<&Plan<'_>> = plans.iter().filter_map(|plan| plan.as_ref().ok()).collect();
    let mut file = NewFile::create(path)?;
    file.append(&header.bytes)?;
    for plan in header.order.iter().filter_map(|&place| plans.get(place)) {
        let why = match plan.trip(bar) {
            Ok(trip) => match trip.lay_out(plan.tensor.bytes, bar, |bytes| file.append(bytes))? {
                Ok(()) => continue,
                Err(error) => format!(": {error}"),
            },
            Err(Answer::NotTried(needed)) => format!(", which would take {needed}"),
            Err(Answer::Refused(error)) => format!(": {error}"),
            Err(Answer::Tried { .. }) => String::new(),
        };
        let name = printable(&plan.tensor.name);
        return Err(Stop::Unusable(format!("nothing was written: `{name}` could not be laid out{why}")));
    }
    let file = file.close()?;
    let bytes = file.read_back()?;
    // The new file is read as any model is read, with all checks.
    let written = Model::read(&bytes).map_err(|why| Stop::Unusable(format!("the new file {}", printable(&why))))?;
    let compare = |plan: &&Plan<'_>| {
        let layout_is = |map: &IndexMap| *map == plan.map;
        let map = |tensor: &&Tensor<'_>| tensor.layout.as_ref().ok().and_then(|layout| layout.to_index_map().ok());
        let laid_out = written.tensor(&plan.tensor.name).filter(|tensor| map(tensor).as_ref().is_some_and(layout_is));
        match (plan.trip(bar), laid_out) {
            (Ok(trip), Some(laid_out)) => trip.compare(laid_out.bytes, plan.tensor.bytes, bar),
            (Ok(_), None) => Ok(Answer::Tried { identical: false }),
            (Err(answer), _) => Ok(answer),
        }
    };
    let answers: Vec<Answer> = plans.iter().map(compare).collect::<Result<_, _>>()?;
    let identical = answers.iter().all(|answer| answer.identical() == Some(true));
    drop(written);
    drop(bytes);
    Ok((answers, identical.then_some(file)))
}

/// How many parts of a model are converted at once on this machine by default. Each thread has buffers of its
/// own, so more threads take more memory.
fn usual_jobs() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(4)
}

/// Runs `work` on every item with this many threads. Returns the results in the order of the items. After a
/// failure no new work begins.
fn at_once<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, Stop> + Sync,
) -> Result<Vec<R>, Stop> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((place, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Relaxed);
            }
            done.push((place, result));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        others.into_iter().for_each(|other| done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))));
        done
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
