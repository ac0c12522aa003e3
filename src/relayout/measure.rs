//! Measuring: several plans for a copy, the candidates, are timed, and the fastest is taken.
//!
//! The candidates are the plans of the [choices](super::choice) that answer one question otherwise than the
//! estimate does. Most questions do not matter to a given pair, so most of these plans are equal, and equal
//! plans count once. The candidates are timed in turns, so that a slow minute of the machine is slow for all
//! of them, and the fastest run of each counts. A last candidate has all answers that were faster by
//! themselves. Then the estimate, the fastest candidate and the last candidate are timed once more.

use std::time::{Duration, Instant};

use crate::error::Error;

use super::Destination;
use super::choice::{Choice, Effort};
use super::plan::cost::{LINE, PAGE};
use super::plan::machine::Knobs;
use super::plan::planned::PlannedBox;
use super::plan::program::{Passes, Program};
use super::relayout::{Relayout, is_one_box};
use super::settings::{DestinationMemory, Padding, Settings};

/// The most plans that are timed first. After them, one more plan is timed, which has the best answers of all
/// of them.
const CANDIDATES: usize = 7;

/// How often each candidate runs at least.
const LEAST_RUNS: usize = 2;
/// How often each candidate runs at most.
const MOST_RUNS: usize = 20;
/// The plans run in turns. After [`LEAST_RUNS`] turns, no turn begins once this time has passed for each plan
/// on average.
const MOST_TIME: Duration = Duration::from_millis(50);

/// A plan that takes less time is run again until its runs take this long together, because a clock cannot
/// measure less.
const SHORTEST_TIME: Duration = Duration::from_micros(20);

/// How many bytes of other memory are written between two runs, so that no cache holds anything of the copy.
const EVICTED: usize = 64 << 20;

/// A plan is faster than the estimated plan if it takes less than this part of that plan's time. Smaller
/// gains are noise.
const FASTER: f64 = 0.98;

/// Whether the standard library has a clock on the target of this program.
const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

impl Relayout {
    /// The choice that the plan was made with, as a short text: `v1` for the estimate, or for example `v1
    /// stores=cached prefetch=no`. Given back as [`Settings::choice`], it makes the same plan on the same
    /// machine. The text may also be given on other machines and for other layouts, where its plan may be
    /// slower than the estimate. No choice changes a byte of a copy.
    #[must_use]
    pub fn choice(&self) -> String {
        self.choice.to_string()
    }

    /// Why the plan is an estimate although the [settings](Settings) have a choice or ask for a measurement.
    /// `None` if the plan is what the settings ask for.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Relayout, Settings}, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
    /// let settings = Settings { choice: Some("v0 gather=yes".into()), ..Settings::default() };
    /// let plan = Relayout::with_settings(&from, &to, &settings)?;
    /// let reason = "the choice is ignored: its version is `v0`, and only `v1` can be read";
    /// assert_eq!(plan.estimate_reason().as_deref(), Some(reason));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn estimate_reason(&self) -> Option<String> {
        if let Err(reason) = self.settings.read_choice() {
            return Some(format!("the choice is ignored: {reason}"));
        }
        let Effort::Measure { most_bytes } = self.settings.effort else { return None };
        if self.settings.choice.is_some() {
            return None;
        }
        let needed = self.needed_memory();
        Some(match HAS_CLOCK {
            false => "nothing is measured: there is no clock".into(),
            true if needed > most_bytes => {
                format!("nothing is measured: the buffers take {needed} bytes, and {most_bytes} are allowed")
            }
            true => format!("nothing is measured: {needed} bytes of memory could not be had"),
        })
    }

    /// The choices that make different plans for this copy. The choice of this plan comes first. An engine
    /// can plan with each of these choices, and measure by its own clock.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("f32[640,960]{1,0}".parse()?, "f32[640,960]{0,1}".parse()?);
    /// let choices = Relayout::new(&from, &to)?.choices();
    /// assert_eq!(choices[0], "v1");
    /// assert!(choices.contains(&"v1 stores=streaming".into()));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn choices(&self) -> Vec<String> {
        self.candidates(usize::MAX).iter().map(Relayout::choice).collect()
    }

    /// Copies several times, with different plans, and returns the fastest plan. The destination is written
    /// as by [`run`](Self::run). Only the choice of the returned copy may differ from this copy.
    ///
    /// If nothing is known about the [destination's memory](DestinationMemory), a copy that a cache could
    /// hold is timed with cold caches: before each run, 64 MiB of other memory are written.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?);
    /// let mut turned = [0; 6];
    /// let plan = Relayout::new(&from, &to)?.measured(b"abcdef", &mut turned)?;
    /// assert_eq!(&turned, b"adbecf");
    /// println!("the fastest plan is {}", plan.choice());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn measured<'a>(self, source: &[u8], destination: impl Into<Destination<'a>>) -> Result<Relayout, Error> {
        let scratch = self.scratch();
        self.fastest(source, destination.into(), scratch)
    }

    fn fastest(self, source: &[u8], mut destination: Destination<'_>, mut scratch: Vec<u8>) -> Result<Relayout, Error> {
        // The first run takes the page faults of fresh memory, and is not timed.
        self.run(source, destination.reborrow())?;
        if !HAS_CLOCK {
            return Ok(self);
        }
        let own = self.choice;
        let mut plans = self.candidates(CANDIDATES);
        let times = times(&plans, source, &mut destination, &mut scratch);
        let estimate = times.first().copied().unwrap_or(0.0);
        let mut faster: Vec<(f64, Choice)> =
            times.iter().zip(&plans).map(|(&time, plan)| (time, plan.choice)).collect();
        faster.retain(|&(time, _)| time < FASTER * estimate);
        // The slowest choice comes first, and later answers to a question replace earlier ones, so that the
        // fastest answer is taken.
        faster.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let together = faster.iter().fold(own, |all, &(_, choice)| all.with(choice));
        let best = faster.last().map_or(own, |&(_, choice)| choice);
        // The best candidate is timed again beside the estimate: the fastest of many may only be lucky.
        plans.retain(|plan| [own, best].contains(&plan.choice));
        if together != best {
            plans.extend(self.with_choice(together));
        }
        let mut times = self::times(&plans, source, &mut destination, &mut scratch);
        times.iter_mut().take(1).for_each(|estimate| *estimate *= FASTER);
        let best = plans.into_iter().zip(times).min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(self, |(plan, _)| plan);
        let choice = Some(best.choice());
        Ok(Relayout { settings: Settings { choice, ..best.settings }, ..best })
    }

    /// The fastest plan, measured in new buffers of at most `most_bytes` bytes together. `None` if the
    /// buffers need more, or cannot be allocated.
    pub(super) fn measured_within(&self, most_bytes: u64) -> Option<Relayout> {
        if !HAS_CLOCK || self.needed_memory() > most_bytes {
            return None;
        }
        // Both buffers begin at a page, like those of an engine. They are written before the measurement,
        // because all pages that were never written are the same page of zeros.
        let page = |bytes: u64| usize::try_from(bytes).ok()?.checked_add(PAGE);
        let (source, mut destination) =
            (buffer(page(self.source_needs)?, 1)?, buffer(page(self.destination_needs)?, 0)?);
        let (from, to) = (source.as_ptr().align_offset(PAGE), destination.as_ptr().align_offset(PAGE));
        let has_room = u64::try_from(EVICTED).is_ok_and(|more| self.needed_memory().saturating_add(more) <= most_bytes);
        let scratch = if has_room { self.scratch() } else { Vec::new() };
        self.clone().fastest(source.get(from..)?, destination.get_mut(to..)?.into(), scratch).ok()
    }

    /// The lengths of both buffers in bytes, with so much more that each can begin at a page.
    fn needed_memory(&self) -> u64 {
        let pages = u64::try_from(PAGE).unwrap_or(u64::MAX).saturating_mul(2);
        self.source_needs.saturating_add(self.destination_needs).saturating_add(pages)
    }

    /// Other memory, which is written between two runs of a plan. It is empty if the copy stays in the L2
    /// cache, if no cache holds it anyway, or if the settings say that the destination is in the cache.
    fn scratch(&self) -> Vec<u8> {
        let moved = usize::try_from(self.passes.last.traffic.moved()).unwrap_or(usize::MAX);
        let in_l2 = usize::try_from(Knobs::of_this_cpu().prefetch_above).unwrap_or(usize::MAX);
        let evicts = self.settings.memory == DestinationMemory::Unknown && (in_l2..EVICTED).contains(&moved);
        if evicts { buffer(EVICTED, 1).unwrap_or_default() } else { Vec::new() }
    }

    /// Returns at most `most` different plans for this copy, this plan first.
    fn candidates(&self, most: usize) -> Vec<Relayout> {
        let mut plans = vec![self.clone()];
        let mut seen = vec![self.identity()];
        for single in Choice::singles() {
            if plans.len() >= most {
                break;
            }
            if let Some(plan) = self.with_choice(self.choice.with(single)) {
                let identity = plan.identity();
                if !seen.contains(&identity) {
                    seen.push(identity);
                    plans.push(plan);
                }
            }
        }
        plans
    }

    /// Returns this copy, planned with another choice. `None` if the settings exclude the choice, or if there
    /// is no plan with it.
    fn with_choice(&self, choice: Choice) -> Option<Relayout> {
        let settings = Settings { choice: Some(choice.to_string()), ..self.settings.clone() };
        settings.read_choice().ok()?;
        let knobs = choice.apply(settings.knobs());
        let widths = self.passes.last.widths;
        let passes = Passes::new(&self.source, &self.destination, &self.reversed, widths, &knobs).ok()?;
        let needs = [self.source_needs, self.destination_needs];
        let is_direct = settings.padding == Padding::Keep && is_one_box(&passes, needs);
        Some(Relayout { choice, settings, passes, is_direct, ..self.clone() })
    }

    /// Describes the code that the plan runs. Plans with equal texts run equal code.
    fn identity(&self) -> String {
        let Passes { before, last } = &self.passes;
        let of = |program: &Program| {
            let first = program.prepared.is_empty().then(|| program.first(1).unwrap_or_default());
            let boxes = first.as_ref().unwrap_or(&program.prepared);
            let access = (program.streaming, program.knobs.level);
            let access = (!matches!(boxes[..], [PlannedBox::Plain(_)])).then_some(access);
            format!("{access:?} {boxes:?}")
        };
        before.iter().map(|pass| of(&pass.program)).chain([of(last)]).collect()
    }
}

/// Allocates memory and writes all of it, so that its pages exist. `None` if there is not enough memory.
fn buffer(length: usize, value: u8) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).ok()?;
    buffer.resize(length, value);
    Some(buffer)
}

/// The shortest time of a run of each plan, in seconds. The plans run in turns. Before each run, every line
/// of `scratch` is written.
fn times(plans: &[Relayout], source: &[u8], destination: &mut Destination<'_>, scratch: &mut [u8]) -> Vec<f64> {
    let mut run = |plan: &Relayout, repeats: u32| {
        scratch.iter_mut().step_by(LINE).for_each(|byte| *byte = byte.wrapping_add(1));
        let start = Instant::now();
        for _ in 0..repeats {
            // A plan that cannot run in this memory is never the fastest.
            if plan.run(source, destination.reborrow()).is_err() {
                return Duration::MAX;
            }
        }
        start.elapsed()
    };
    let once = plans.first().map_or(Duration::ZERO, |plan| run(plan, 1));
    let repeats = SHORTEST_TIME.as_nanos().div_ceil(once.as_nanos().max(1));
    let repeats = u32::try_from(repeats).unwrap_or(1).max(1);
    let most = MOST_TIME.saturating_mul(u32::try_from(plans.len()).unwrap_or(1));
    let (start, mut best) = (Instant::now(), vec![Duration::MAX; plans.len()]);
    for round in 0..MOST_RUNS {
        if plans.len() < 2 || round >= LEAST_RUNS && start.elapsed() >= most {
            break;
        }
        for (plan, best) in plans.iter().zip(&mut best) {
            *best = run(plan, repeats).min(*best);
        }
    }
    best.iter().map(Duration::as_secs_f64).collect()
}
