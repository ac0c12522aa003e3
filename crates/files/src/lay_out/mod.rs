//! Lays out a whole model: every tensor in the layout that a rule gives it, converted back and compared, and
//! written to a new model if that is wanted.
//!
//! A tensor is planned when its turn comes, and what stays of it is a short [`Row`], so the memory is that of
//! the headers and of a piece of a tensor on each thread.

mod failure;
mod plan;
mod report;
mod row;
mod rules;
mod target;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use serde_json::Value;
use tensor_layout::upload::DeviceLimits;
use tensor_layout::{IndexMap, ToIndexMap};

use crate::error::printable;
use crate::file::add_source;
use crate::header::{Header, Listed};
use crate::index::Index;
use crate::new_file::WrittenFile;
use crate::pieces::{PieceError, Progress};
use crate::{File, NewFile, Part, Tensor};

pub use failure::Failure;
use plan::Plan;
pub(crate) use plan::limit_errors;
pub use report::{Report, Totals, error_object};
pub use row::{Answer, LaidOut, Refusal, Row};
pub use rules::{Exception, Rules, Words};
pub use target::Share;
pub(crate) use target::Target;

/// What is asked of [`lay_out`].
#[derive(Debug, Clone)]
pub struct Settings {
    /// The rule of each tensor.
    pub rules: Rules,
    /// The limits of a device that each new layout is checked by.
    pub limits: DeviceLimits,
    /// Whether nothing is written if the limits refuse a tensor.
    pub must_fit: bool,
    /// Only a share of the parts of a sharded model.
    pub share: Option<Share>,
    /// How many parts of a sharded model are converted at once. `None` for the processors, at most 4: each
    /// thread has buffers of its own.
    pub threads: Option<usize>,
    /// Whether the new model may replace the one that is read.
    pub overwrite: bool,
    /// Every tensor of the new model begins at a multiple of this number, in bytes. `None` for 64 bytes for
    /// the first tensor, and multiples of their elements for the others.
    pub align: Option<u64>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Written {
    /// Nothing was to be written.
    Nothing,
    /// The whole model, by the path of its file or of its index.
    All(PathBuf),
    /// Nothing, because this tensor was read back and differs.
    Differs(String),
    /// Some parts, and the model is not complete.
    Share {
        /// The index that was not written.
        index: PathBuf,
        /// How many parts this call wrote.
        parts: usize,
        /// How many of the parts of the model exist.
        there: usize,
        /// Why the index was not written.
        why: String,
    },
}

/// Lays out every tensor of a model, converts it back and compares it. With `out`, the laid-out tensors are
/// written to a new model, as safetensors whose metadata names the layouts; the new files are read back
/// before they get their names. `progress` is told of the bytes of tensors that are done: all of them
/// together are those of [`File::tensors`].
///
/// The model is closed before a file is replaced, because some systems refuse to replace a mapped file.
///
/// ```
/// use tensor_layout::upload::DeviceLimits;
/// use tensor_layout_files::{Writer, lay_out, open};
///
/// let folder = std::env::temp_dir();
/// let (path, out) = (folder.join("tensor-layout-lay.safetensors"), folder.join("tensor-layout-laid.safetensors"));
/// Writer::create(&path)?.tensor("a", &"u8[3,5]:[5,1]".parse()?, b"abcdefghijklmno")?.finish()?;
/// let settings = lay_out::Settings {
///     rules: lay_out::Rules { all: "T(2,2)".parse()?, exceptions: Vec::new(), words: Vec::new() },
///     limits: DeviceLimits::none(),
///     must_fit: false,
///     share: None,
///     threads: None,
///     overwrite: false,
///     align: None,
/// };
/// lay_out::lay_out(open(&path)?, Some(&out), &settings, &|_| ())?;
/// let file = open(&out)?;
/// assert_eq!(file.tensor("a").ok_or("no such tensor")?.layout()?.to_string(), "u8[3,5]{1,0:T(2,2)}");
/// # std::fs::remove_file(&path)?;
/// # std::fs::remove_file(&out)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// See [`Failure`]. A tensor that cannot be laid out is an error only if a model is to be written.
pub fn lay_out(
    source: File,
    out: Option<&Path>,
    settings: &Settings,
    progress: Progress<'_>,
) -> Result<Report, Failure> {
    if let Some(pattern) = settings.rules.unused(&source) {
        return Err(Failure::Unusable(format!("no tensor matches the pattern `{pattern}`")));
    }
    let target = out.map(|out| Target::create(out, &source, settings.overwrite)).transpose()?;
    let parts = source.parts();
    let headers: Vec<Header> = match &target {
        Some(_) => {
            let word = source.source_word();
            parts.iter().map(|part| header(part, &word, settings)).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    let mut index = target.as_ref().filter(|target| target.is_sharded).map(|_| new_index(&source, &headers));
    let share = settings.share;
    let mut chosen: Vec<usize> =
        (0..parts.len()).filter(|&place| share.is_none_or(|share| share.holds(place))).collect();
    let missing = |target: &Target, place: usize| {
        let part = parts.get(place)?;
        target.missing(part.name(), &[part.input().path()], headers.get(place)?)
    };
    if let (Some(target), Some(_), Some(index)) = (&target, share, &index) {
        target.refuse_other(index)?;
        chosen.retain(|&place| missing(target, place).is_some());
    }

    let usual_threads = || thread::available_parallelism().map_or(1, NonZeroUsize::get).min(4);
    let threads = settings.threads.unwrap_or_else(usual_threads);
    let done = at_once(&chosen, threads, |&place| {
        let Some(part) = parts.get(place) else { return Ok((Vec::new(), None)) };
        let (Some(target), Some(header)) = (&target, headers.get(place)) else {
            return Ok((rows(part, place, settings, progress)?, None));
        };
        let (rows, file) = write_part(&target.part(part.name()), (part, place), header, settings, progress)?;
        // A job that converts a share names each part as soon as it was read back.
        match file {
            Some(file) if share.is_some() => Ok(file.finish().map(|()| (rows, None))?),
            file => Ok((rows, file)),
        }
    })?;
    source.check_unchanged()?;

    let (mut rows, mut files) = (Vec::new(), Vec::new());
    for (of_part, file) in done {
        rows.extend(of_part);
        files.extend(file);
    }
    let differing = rows.iter().find(|row| row.identical() != Some(true)).map(|row| row.name.to_string());
    let written = match (&target, differing) {
        (None, _) => Written::Nothing,
        // The new files get their names only if every tensor was read back identical.
        (Some(_), Some(name)) => {
            (files, index) = (Vec::new(), None);
            Written::Differs(name)
        }
        (Some(target), None) => match (share, index.take_if(|_| share.is_some())) {
            (Some(_), Some(text)) => {
                let mut why = (0..parts.len()).filter_map(|place| missing(target, place));
                match why.next() {
                    Some(first) => Written::Share {
                        index: target.path.clone(),
                        parts: chosen.len(),
                        there: parts.len().saturating_sub(why.count()).saturating_sub(1),
                        why: first.to_string(),
                    },
                    None => {
                        target.write_index(&text)?;
                        Written::All(target.path.clone())
                    }
                }
            }
            _ => Written::All(target.path.clone()),
        },
    };
    let readers = parts.iter().find_map(|part| part.readers().cloned());
    let names = parts.iter().map(|part| part.name().to_owned()).collect();
    let is_sharded = source.is_sharded();
    drop(source);
    if let (Some(target), Written::All(_)) = (target, &written) {
        target.finish(files, index.as_deref())?;
    }
    Ok(Report { rows, parts: names, is_sharded, readers, written })
}

/// The header of a new file. Every tensor must have a plan, in one part.
fn header(part: &Part, source: &(String, Value), settings: &Settings) -> Result<Header, Failure> {
    let unwritten = |why: String| Failure::Unusable(format!("nothing was written: {why}"));
    let listed = part.tensors().map(|tensor| {
        let plan = plan_of(tensor, settings)?;
        if plan.repacked.is_some() {
            let (name, layout) = (printable(tensor.name()), plan.text());
            return Err(unwritten(format!(
                "`{name}` would be {layout}, and a model file names layouts in which each element has one place, as \
                 groups of rows have not (`convert` writes one tensor)"
            )));
        }
        if let (true, Some(error)) = (settings.must_fit, plan.limit_errors.first()) {
            let (name, limits) = (printable(tensor.name()), &settings.limits.name);
            return Err(Failure::Limits(format!("nothing was written, because {limits} refuses `{name}`: {error}")));
        }
        Listed::new(tensor.name(), &plan.layout).map_err(|error| Failure::Tensor(tensor.name().to_owned(), error))
    });
    let listed = listed.collect::<Result<Vec<_>, _>>()?;
    // Packed tensors make an ordinary file, which names no source.
    let mut words = part.metadata_without_source();
    if !listed.iter().all(Listed::is_plain) || settings.align.is_some() {
        add_source(&mut words, source);
    }
    Header::new(&listed, &words, settings.align).map_err(unwritten)
}

fn plan_of<'f>(tensor: Tensor<'f>, settings: &Settings) -> Result<Plan<'f>, Failure> {
    let refuse = |error| Failure::Tensor(tensor.name().to_owned(), error);
    Plan::new(tensor, &settings.rules, &settings.limits).map_err(refuse)
}

/// The text of the index of a new model whose parts have these headers.
fn new_index(source: &File, headers: &[Header]) -> String {
    let names = source
        .parts()
        .iter()
        .flat_map(|part| part.tensors().map(|tensor| (tensor.name().to_owned(), part.name().to_owned())));
    let mut metadata = source.index().and_then(|index| index.metadata.clone());
    if let Some(metadata) = &mut metadata {
        let total: u64 = headers.iter().map(|header| header.data_bytes).fold(0, u64::saturating_add);
        metadata.insert("total_size".into(), total.into());
    }
    Index { metadata, weight_map: names.collect::<BTreeMap<_, _>>() }.text()
}

/// Tries out every tensor of a part without writing a file.
fn rows(part: &Part, place: usize, settings: &Settings, progress: Progress<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = Rows::new(part, place);
    for tensor in part.tensors() {
        let row = match Plan::new(tensor, &settings.rules, &settings.limits) {
            Ok(plan) => {
                let answer = plan.try_out(progress)?;
                rows.of(&plan, answer)
            }
            Err(error) => Row::new(tensor, place, Err(error)),
        };
        rows.all.push(row);
    }
    Ok(rows.all)
}

/// Writes the new file and reads it back. The file is returned only if every tensor came back identical. It
/// does not have its name yet.
fn write_part(
    path: &Path,
    (part, place): (&Part, usize),
    header: &Header,
    settings: &Settings,
    progress: Progress<'_>,
) -> Result<(Vec<Row>, Option<WrittenFile>), Failure> {
    let tensors: Vec<Tensor<'_>> = part.tensors().collect();
    let mut file = NewFile::create(path)?;
    file.append(&header.bytes)?;
    for (&place, &start) in header.order.iter().zip(&header.starts) {
        let Some(tensor) = tensors.get(place) else { continue };
        file.pad_to(start)?;
        let why = match plan_of(*tensor, settings)?.trip() {
            Ok(trip) => match trip.lay_out(tensor.bytes(), |bytes| file.append(bytes)) {
                Ok(()) => continue,
                Err(PieceError::Copy(error)) => format!(": {error}"),
                Err(PieceError::Taken(error)) => return Err(error.into()),
                Err(PieceError::Memory(bytes)) => return Err(Failure::memory(bytes)),
            },
            Err(answer) => answer.why().unwrap_or_default(),
        };
        let name = printable(tensor.name());
        return Err(Failure::Unusable(format!("nothing was written: `{name}` could not be laid out{why}")));
    }
    let file = file.close()?;
    // The new file is read as any model is read, with all checks.
    let written = Part::read(part.name().to_owned(), file.read_back()?)
        .map_err(|error| Failure::Unusable(format!("the new file {error}")))?;
    let mut laid_out: Vec<Tensor<'_>> = written.tensors().collect();
    laid_out.sort_unstable_by_key(Tensor::name);
    let mut rows = Rows::new(part, place);
    for tensor in tensors {
        let plan = plan_of(tensor, settings)?;
        let layout_is = |map: &IndexMap| *map == plan.map;
        let found = laid_out.binary_search_by_key(&tensor.name(), Tensor::name).ok();
        let found = found
            .and_then(|place| laid_out.get(place))
            .filter(|tensor| tensor.layout().and_then(|layout| layout.to_index_map()).is_ok_and(|map| layout_is(&map)));
        let answer = match (plan.trip(), found) {
            (Ok(trip), Some(found)) => trip.compare(found.bytes(), tensor.bytes(), progress)?,
            (Ok(_), None) => Answer::Tried { identical: false },
            (Err(answer), _) => answer,
        };
        let row = rows.of(&plan, answer);
        rows.all.push(row);
    }
    drop(laid_out);
    drop(written);
    let identical = rows.all.iter().all(|row| row.identical() == Some(true));
    Ok((rows.all, identical.then_some(file)))
}

/// The rows of a part, and the codes of limits that one of them explains already.
struct Rows {
    part: usize,
    all: Vec<Row>,
    explained: Vec<&'static str>,
}

impl Rows {
    fn new(part: &Part, place: usize) -> Rows {
        Rows { part: place, all: Vec::with_capacity(part.tensors().count()), explained: Vec::new() }
    }

    fn of(&mut self, plan: &Plan<'_>, answer: Answer) -> Row {
        plan.row(self.part, answer, &mut self.explained)
    }
}

/// Runs `work` on every item with this many threads. Returns the results in the order of the items. After a
/// failure no new work begins.
fn at_once<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
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
