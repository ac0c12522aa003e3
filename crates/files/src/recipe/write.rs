//! Writes the outputs of a recipe to a new model.

use std::path::{Path, PathBuf};

use serde_json::Map;
use tensor_layout::upload::DeviceLimits;

use super::plan::{Output, Plan};
use super::run::on_threads;
use crate::error::printable;
use crate::header::{Header, Listed};
use crate::index::Index;
use crate::lay_out::{self, Failure, Share, Written, limit_errors};
use crate::pieces::Progress;
use crate::{Error, NewFile, Part, replaces};

/// Where and how the outputs of a recipe are written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Target {
    /// The new file. With a share, the index of the new model, or a folder for it.
    pub path: PathBuf,
    /// Every tensor begins at a multiple of this number, in bytes.
    pub align: Option<u64>,
    /// Writes only this share of the files of a sharded model, if there is one.
    pub share: Option<Share>,
    /// The number of threads. Each has a buffer of some megabytes.
    pub threads: usize,
}

impl Target {
    /// A file that is written by two threads.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Target {
        Target { path: path.into(), align: None, share: None, threads: 2 }
    }
}

impl Plan<'_> {
    /// Checks the layouts of all outputs by the limits of a device.
    ///
    /// # Errors
    ///
    /// [`Failure::Limits`] for the first output that the limits refuse.
    pub fn check(&self, limits: &DeviceLimits) -> Result<(), Failure> {
        let mut checked = std::collections::HashSet::new();
        for output in self.outputs() {
            if !checked.insert(std::sync::Arc::as_ptr(&output.form)) {
                continue;
            }
            let (name, by) = (printable(output.name()), &limits.name);
            let errors = limit_errors(output.layout(), limits);
            let errors = errors.map_err(|error| Failure::Tensor(output.name().to_owned(), error))?;
            if let Some(error) = errors.first() {
                return Err(Failure::Limits(format!("nothing was written, because {by} refuses `{name}`: {error}")));
            }
        }
        Ok(())
    }

    /// Writes all outputs to a new safetensors file, which is complete or absent, or a share of them to the
    /// files of a sharded one. `progress` is told of the bytes that are written.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    ///
    /// ```
    /// use tensor_layout_files::recipe::{Recipe, Settings, Target};
    /// use tensor_layout_files::{Writer, open};
    ///
    /// let folder = std::env::temp_dir();
    /// let (path, out) = (folder.join("tensor-layout-cook.safetensors"), folder.join("tensor-layout-cooked.safetensors"));
    /// Writer::create(&path)?.tensor("w", &"u8[2,3]:[3,1]".parse()?, b"abcdef")?.finish()?;
    /// let model = open(&path)?;
    /// Recipe::parse("w.t = w | permute 1,0")?.plan(&model, &Settings::default())?.write(&Target::new(&out), &|_| ())?;
    /// let cooked = open(&out)?;
    /// cooked.made_from(&model)?;
    /// assert_eq!(cooked.tensor("w.t").ok_or("no such tensor")?.bytes(), b"adbecf");
    /// # std::fs::remove_file(&path)?;
    /// # std::fs::remove_file(&out)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, target: &Target, progress: Progress<'_>) -> Result<Written, Failure> {
        let sources = self.file.parts().iter().map(|part| part.input().path()).chain([self.file.path()]);
        let sources: Vec<&Path> = sources.collect();
        let Some(share) = target.share else {
            if sources.iter().any(|source| replaces(&target.path, source)) {
                return Err(Error::new(&target.path, "is the model that is read: choose another file").into());
            }
            let outputs: Vec<&Output> = self.outputs.iter().collect();
            let header = self.header(&outputs, target)?;
            self.write_file(&target.path, &outputs, &header, target.threads, progress)?;
            return Ok(Written::All(target.path.clone()));
        };
        let (number, of) = share.numbers();
        let [_, all] = self.bytes();
        let mut parts: Vec<Vec<&Output>> = vec![Vec::new(); of];
        let mut before = 0_u64;
        for output in &self.outputs {
            let place =
                u128::from(before).saturating_mul(u128::try_from(of).unwrap_or(1)).checked_div(all.max(1).into());
            let place = place.and_then(|place| usize::try_from(place).ok()).unwrap_or(0).min(of.saturating_sub(1));
            parts.get_mut(place).into_iter().for_each(|part| part.push(output));
            before = before.saturating_add(output.size_in_bytes());
        }
        let name = |place: usize| format!("model-{:05}-of-{of:05}.safetensors", place.saturating_add(1));
        let headers = parts.iter().map(|part| self.header(part, target)).collect::<Result<Vec<_>, _>>()?;
        let named = parts.iter().enumerate();
        let named =
            named.flat_map(|(place, part)| part.iter().map(move |output| (output.name().to_owned(), name(place))));
        let total = headers.iter().map(|header| header.data_bytes).fold(0, u64::saturating_add);
        let metadata = Some(Map::from_iter([("total_size".to_owned(), total.into())]));
        let text = Index { metadata, weight_map: named.collect() }.text();
        let model = lay_out::Target::sharded(&target.path, self.file.path(), "model.safetensors.index.json".as_ref())?;
        model.refuse_other(&text)?;
        let missing = |place: usize| model.missing(&name(place), &sources, headers.get(place)?);
        let place = number.saturating_sub(1);
        let mut written = 0_usize;
        if let (Some(part), Some(header), Some(_)) = (parts.get(place), headers.get(place), missing(place)) {
            self.write_file(&model.part(&name(place)), part, header, target.threads, progress)?;
            written = 1;
        }
        let mut why = (0..of).filter_map(missing);
        match why.next() {
            Some(first) => Ok(Written::Share {
                index: model.path.clone(),
                parts: written,
                there: of.saturating_sub(why.count()).saturating_sub(1),
                why: first.to_string(),
            }),
            None => {
                model.write_index(&text)?;
                Ok(Written::All(model.path.clone()))
            }
        }
    }

    fn header(&self, outputs: &[&Output], target: &Target) -> Result<Header, Failure> {
        let listed = outputs.iter().map(|output| {
            let refuse = |error| Failure::Tensor(output.name().to_owned(), error);
            Listed::new(output.name(), output.layout()).map_err(refuse)
        });
        let words = Map::from_iter([self.file.source_word()]);
        let header = Header::new(&listed.collect::<Result<Vec<_>, _>>()?, &words, target.align);
        header.map_err(|why| Failure::Unusable(format!("nothing was written: {why}")))
    }

    /// Writes a file, and gives it its name when it was read again.
    fn write_file(
        &self,
        path: &Path,
        outputs: &[&Output],
        header: &Header,
        threads: usize,
        progress: Progress<'_>,
    ) -> Result<(), Failure> {
        let mut file = NewFile::create(path)?;
        file.append(&header.bytes)?;
        let placed = header.order.iter().zip(&header.starts);
        let jobs =
            placed.filter_map(|(&place, &start)| Some((*outputs.get(place)?, start))).flat_map(|(output, start)| {
                let (jobs, error) = match self.jobs(output) {
                    Ok(jobs) => (jobs, None),
                    Err(error) => (Vec::new(), Some(error)),
                };
                jobs.into_iter().map(Ok).chain(error.map(Err)).map(move |job| (output, start, job))
            });
        let refuse = |output: &Output, error| Failure::Tensor(output.name().to_owned(), error);
        let to = file.flushed()?;
        on_threads(jobs, threads, |buffer: &mut Vec<u8>, (output, start, job)| {
            let job = job.map_err(|error| refuse(output, error))?;
            let length = job.range.len();
            if buffer.len() < length {
                let bytes = u64::try_from(length).unwrap_or(u64::MAX);
                *buffer = crate::zeroed(bytes).ok_or_else(|| Failure::memory(bytes))?;
            }
            let own = buffer.get_mut(..length).unwrap_or_default();
            self.run_job(&job, (&mut *own).into()).map_err(|error| refuse(output, error))?;
            let at = u64::try_from(job.range.start).unwrap_or(u64::MAX).saturating_add(start);
            to.write_at(at, own)?;
            progress(u64::try_from(length).unwrap_or(u64::MAX));
            Ok::<(), Failure>(())
        })?;
        let file = file.close()?;
        self.file.check_unchanged()?;
        let written = Part::read(path.to_string_lossy().into_owned(), file.read_back()?)
            .map_err(|error| Failure::Unusable(format!("the new file {error}")))?;
        if written.tensors().count() != outputs.len() {
            return Err(Failure::Unusable("nothing was written: the new file lists other tensors".into()));
        }
        drop(written);
        Ok(file.finish()?)
    }
}
