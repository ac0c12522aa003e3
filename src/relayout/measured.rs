//! Finding the fastest of a few plans by running them, as FFTW and HPTT do.

use std::time::{Duration, Instant};

use crate::error::Error;

use super::plan::cost::LONGEST_JOINED;
use super::plan::machine::Knobs;
use super::plan::passes::Passes;
use super::plan::program::Program;
use super::relayout::Relayout;
use super::tuning::{Trial, Tuning};

/// How often each candidate is timed, after a first round that brings pages and caches into their usual
/// state.
const ROUNDS: u32 = 7;

/// A sample takes at least so long: short copies are run several times in it, because a clock is read in tens
/// of nanoseconds.
const SAMPLE: Duration = Duration::from_micros(50);

impl Relayout {
    /// The same copy with the [`Tuning`] that is fastest for these buffers on this machine: the few that can
    /// matter for this plan are each run eight times, on this thread (a copy of 100 MiB each way takes about
    /// a second in all). The destination holds the copy afterwards. [`explain`](Self::explain) says what was
    /// tried and what each took, [`tuning`](Self::tuning) which was kept.
    ///
    /// The plan that is made without measuring is one of the candidates, so the one that is kept is never
    /// slower in these runs.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[1024,512]{1,0}".parse()?, "f32[1024,512]{0,1}".parse()?);
    /// let (source, mut destination) = (vec![1; 1 << 21], vec![0; 1 << 21]);
    /// let fastest = Relayout::new(&rows, &columns)?.measured(&source, &mut destination)?;
    /// // To be kept, as a text, for the next time.
    /// let kept = fastest.tuning().to_string();
    /// let again = Relayout::new(&rows, &columns)?.with_tuning(kept.parse()?)?;
    /// assert_eq!(again.tuning(), fastest.tuning());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn measured(self, source: &[u8], destination: &mut [u8]) -> Result<Relayout, Error> {
        let mut plans = Vec::new();
        for tuning in self.candidates() {
            plans.push(self.clone().with_tuning(tuning)?);
        }
        let start = Instant::now();
        self.run(source, destination)?;
        let once = start.elapsed().max(Duration::from_nanos(1));
        let repeats = u32::try_from(SAMPLE.as_nanos().div_ceil(once.as_nanos())).unwrap_or(1);
        let mut times = vec![Duration::MAX; plans.len()];
        // In turns, so that what disturbs the machine for a while disturbs all; and each round begins with
        // another one, because what a copy leaves in the cache slows down the one after it.
        for round in 0..=ROUNDS {
            plans.rotate_left(1);
            times.rotate_left(1);
            for (plan, time) in plans.iter().zip(&mut times) {
                let start = Instant::now();
                for _ in 0..repeats {
                    plan.run(source, destination)?;
                }
                let sample = start.elapsed().checked_div(repeats).unwrap_or_default();
                if round > 0 {
                    *time = sample.min(*time);
                }
            }
        }
        let first = plans.iter().position(|plan| plan.tuning == self.tuning).unwrap_or(0);
        plans.rotate_left(first);
        times.rotate_left(first);
        let trials: Vec<Trial> =
            plans.iter().zip(times).map(|(plan, time)| Trial { tuning: plan.tuning, time }).collect();
        let fastest = plans.into_iter().zip(&trials).min_by_key(|(_, trial)| trial.time).map(|(plan, _)| plan);
        // There is always one: the plan as it is.
        Ok(Relayout { trials, ..fastest.unwrap_or(self) })
    }

    /// The settings of this plan that differ from what the traits of the machine suggest.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// What was measured to find the tuning, the plan as it was first: each setting with its fastest time.
    /// Empty if nothing was.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[4])?;
    /// assert!(Relayout::new(&desc, &desc)?.trials().is_empty(), "nothing was measured");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn trials(&self) -> Vec<(Tuning, Duration)> {
        self.trials.iter().map(|trial| (trial.tuning, trial.time)).collect()
    }

    /// The same copy with other settings: those that [`measured`](Self::measured) found for the same pair of
    /// layouts, say.
    ///
    /// # Errors
    ///
    /// None that [`new`](Self::new) did not return.
    pub fn with_tuning(self, tuning: Tuning) -> Result<Relayout, Error> {
        let knobs = Knobs { level: self.level, ..tuning.applied_to(&self.machine.knobs) };
        let passes = Passes::new(&self.source, &self.destination, &self.reversed, &knobs)?;
        Ok(Relayout { passes, tuning, trials: Vec::new(), ..self })
    }

    /// The plan as it is, and with each setting that can matter for it replaced.
    fn candidates(&self) -> Vec<Tuning> {
        let any = |test: fn(&Program) -> bool| self.passes.programs().any(test);
        let as_is = self.tuning;
        let mut candidates = vec![as_is];
        if any(|program| program.prefetch) {
            candidates.extend([0, 1 << 11].map(|ahead| as_is.with_prefetch(ahead)));
        }
        if any(|program| program.prefetch && program.has_panels()) {
            let l1 = any(|program| program.knobs.panel_cache == 1);
            candidates.push(as_is.with_panels_in_l1(!l1));
        }
        if any(|program| program.streaming && program.has_panels()) {
            let other = if any(Program::stages_panels) { 0 } else { 1 << 8 };
            let runs = [other, 1 << 9, 1 << 10];
            candidates.extend(runs.into_iter().filter_map(|run| as_is.with_staged_runs(run).ok()));
        }
        if any(|program| program.streaming && program.has_short_runs()) {
            let joined = any(|program| program.knobs.joined_up_to > 0);
            candidates.push(as_is.with_joined_runs(if joined { 0 } else { LONGEST_JOINED }));
        }
        // Whatever fits the caches nearest to the core is never streamed.
        if any(|program| program.prefetch || program.streaming) {
            candidates.push(as_is.with_streaming(!any(|program| program.streaming)));
        }
        if any(Program::stays_in_l2) {
            candidates.push(as_is.with_permuted_order(!any(|program| program.knobs.permuted)));
        }
        candidates.retain(|candidate| *candidate != as_is);
        candidates.insert(0, as_is);
        candidates
    }
}

#[cfg(test)]
mod tests;
