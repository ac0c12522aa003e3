//! How a plan differs from what the traits of the machine suggest.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::cursor::Cursor;
use crate::error::Error;

use super::plan::cost::{LARGEST_STAGED_RUN, LEAST_STAGED_RUN, LONGEST_JOINED};
use super::plan::machine::Knobs;

/// Settings of a plan that replace what the traits of the machine suggest: what
/// [`Relayout::measured`](super::Relayout::measured) finds, to be kept and given to another plan of the same
/// pair of layouts ([`Relayout::with_tuning`](super::Relayout::with_tuning)). They change how fast a copy is,
/// never what it writes.
///
/// Its text is `default` or a list of settings (with the feature `serde`, a string):
///
/// | setting | means |
/// |---|---|
/// | `stores=ordinary`, `stores=non-temporal` | through the cache or past it, whatever the size |
/// | `prefetch=off`, `prefetch=2048` | no software prefetch of what is read, or this many bytes ahead |
/// | `joined=off`, `joined=128` | past the cache, destination runs of at most this many bytes, up to 128, are joined with those of the neighbouring tiles |
/// | `panels=l1`, `panels=l2` | transposes prefetch the next panel into the first or the second cache |
/// | `staged=off`, `staged=256`, `staged=512`, `staged=1024` | transposes past the cache stage panels and drain them in runs of this many bytes, or in whole rows of 128 bytes to 1 KiB that follow each other |
/// | `order=permuted`, `order=ascending` | in the L2 cache, an order that hardware prefetchers do not follow, or that of the memory |
///
/// ```
/// use tensor_layout::{relayout::{Relayout, Tuning}, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
/// let kept: Tuning = "stores=ordinary,prefetch=2048".parse()?;
/// let relayout = Relayout::new(&rows, &columns)?.with_tuning(kept)?;
/// assert_eq!(relayout.tuning().to_string(), "stores=ordinary,prefetch=2048");
/// assert_eq!(Tuning::default().to_string(), "default");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Non-temporal stores.
    streaming: Option<bool>,
    /// How many bytes ahead; 0 is off.
    prefetch: Option<usize>,
    /// The cache that panels are prefetched into: 1 or 2.
    panels: Option<usize>,
    /// Bytes of a run; 0 is off.
    staged: Option<usize>,
    joined: Option<usize>,
    permuted: Option<bool>,
}

/// A tuning that was tried, and the fastest time of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    pub(super) tuning: Tuning,
    pub(super) time: Duration,
}

impl Tuning {
    /// With non-temporal stores, or ordinary ones, whatever the size.
    ///
    /// ```
    /// use tensor_layout::relayout::Tuning;
    ///
    /// let tuning = Tuning::default().with_streaming(false).with_prefetch(2048).with_staged_runs(0)?;
    /// assert_eq!(tuning.to_string(), "stores=ordinary,prefetch=2048,staged=off");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn with_streaming(self, streaming: bool) -> Tuning {
        Tuning { streaming: Some(streaming), ..self }
    }

    /// With software prefetch this many bytes ahead, 0 for none.
    #[must_use]
    pub fn with_prefetch(self, bytes: usize) -> Tuning {
        Tuning { prefetch: Some(bytes), ..self }
    }

    /// With the next panel of a transpose prefetched into the L1 cache, or into the L2 cache. It matters for
    /// elements of four bytes and more.
    ///
    /// ```
    /// use tensor_layout::relayout::Tuning;
    ///
    /// assert_eq!(Tuning::default().with_panels_in_l1(true).to_string(), "panels=l1");
    /// ```
    #[must_use]
    pub fn with_panels_in_l1(self, l1: bool) -> Tuning {
        Tuning { panels: Some(if l1 { 1 } else { 2 }), ..self }
    }

    /// With panels of transposes staged and drained in runs of this many bytes, 0 for none, where stores are
    /// non-temporal.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfLimits`] if it is more than 1024. There are kernels for 256, 512 and 1024; others are
    /// rounded down.
    pub fn with_staged_runs(self, bytes: usize) -> Result<Tuning, Error> {
        let number = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let (value, max) = (number(bytes), number(LARGEST_STAGED_RUN));
        let kernels = [0, LEAST_STAGED_RUN, LEAST_STAGED_RUN * 2, LARGEST_STAGED_RUN];
        if value > max {
            return Err(Error::OutOfLimits { what: "the bytes of a staged run", value, min: 0, max });
        }
        Ok(Tuning { staged: kernels.into_iter().rfind(|&run| run <= bytes), ..self })
    }

    /// With destination runs of at most this many bytes joined with those of neighbouring tiles, 0 for none,
    /// where stores are non-temporal and rows are whole pages apart. Runs of more than 128 bytes never are.
    ///
    /// ```
    /// use tensor_layout::relayout::Tuning;
    ///
    /// let tuning = Tuning::default().with_joined_runs(128);
    /// assert_eq!(tuning.to_string().parse::<Tuning>()?, tuning);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn with_joined_runs(self, bytes: usize) -> Tuning {
        Tuning { joined: Some(bytes.min(LONGEST_JOINED)), ..self }
    }

    /// With an order that hardware prefetchers do not follow, or that of the memory; in the L2 cache.
    ///
    /// ```
    /// use tensor_layout::relayout::Tuning;
    ///
    /// assert_eq!(Tuning::default().with_permuted_order(true).to_string(), "order=permuted");
    /// ```
    #[must_use]
    pub fn with_permuted_order(self, permuted: bool) -> Tuning {
        Tuning { permuted: Some(permuted), ..self }
    }

    pub(super) fn streaming(self) -> Option<bool> {
        self.streaming
    }

    /// The knobs with these settings.
    pub(super) fn applied_to(self, knobs: &Knobs) -> Knobs {
        let mut tuned = *knobs;
        if let Some(streaming) = self.streaming {
            tuned.streaming_from = if streaming { 0 } else { u64::MAX };
        }
        match self.prefetch {
            Some(0) => tuned.prefetch_from = u64::MAX,
            Some(bytes) => {
                (tuned.prefetch_from, tuned.prefetch_distance, tuned.prefetch_in_row) = (0, bytes, bytes);
            }
            None => {}
        }
        tuned.panel_cache = self.panels.unwrap_or(knobs.panel_cache);
        tuned.staged_run = self.staged.unwrap_or(knobs.staged_run);
        tuned.staged_units = self.staged.map_or(knobs.staged_units, |_| 1);
        tuned.staged_table_run = self.staged.unwrap_or(knobs.staged_table_run);
        tuned.permuted = self.permuted.unwrap_or(knobs.permuted);
        tuned.joined_up_to = self.joined.unwrap_or(knobs.joined_up_to);
        tuned
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tuning { streaming, prefetch, panels, staged, joined, permuted } = *self;
        let bytes = |bytes: usize| if bytes == 0 { "off".to_owned() } else { bytes.to_string() };
        let stores = streaming.map(|past| if past { "stores=non-temporal" } else { "stores=ordinary" }.to_owned());
        let prefetch = prefetch.map(|ahead| format!("prefetch={}", bytes(ahead)));
        let panels = panels.map(|cache| format!("panels=l{cache}"));
        let staged = staged.map(|run| format!("staged={}", bytes(run)));
        let joined = joined.map(|run| format!("joined={}", bytes(run)));
        let order = permuted.map(|permuted| if permuted { "order=permuted" } else { "order=ascending" }.to_owned());
        let settings: Vec<String> = [stores, prefetch, panels, staged, joined, order].into_iter().flatten().collect();
        f.pad(&if settings.is_empty() { "default".to_owned() } else { settings.join(",") })
    }
}

impl FromStr for Tuning {
    type Err = Error;

    /// Reads the text that it is written as.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`] for any other text, and as for [`with_staged_runs`](Tuning::with_staged_runs).
    fn from_str(text: &str) -> Result<Tuning, Error> {
        const SETTINGS: &str =
            "`default`, or `stores=`, `prefetch=`, `panels=`, `staged=`, `joined=` and `order=`, each once";
        let mut cursor = Cursor::new(text);
        let mut tuning = Tuning::default();
        if cursor.eat("default") {
            cursor.end("the end of the text")?;
            return Ok(tuning);
        }
        loop {
            let start = cursor.position();
            if tuning.streaming.is_none() && cursor.eat("stores=") {
                let past = cursor.eat("non-temporal");
                if !past {
                    cursor.expect("ordinary", "`ordinary` or `non-temporal`")?;
                }
                tuning = tuning.with_streaming(past);
            } else if tuning.prefetch.is_none() && cursor.eat("prefetch=") {
                tuning = tuning.with_prefetch(off_or_bytes(&mut cursor)?);
            } else if tuning.panels.is_none() && cursor.eat("panels=") {
                let l1 = cursor.eat("l1");
                if !l1 {
                    cursor.expect("l2", "`l1` or `l2`")?;
                }
                tuning = tuning.with_panels_in_l1(l1);
            } else if tuning.staged.is_none() && cursor.eat("staged=") {
                tuning = tuning.with_staged_runs(off_or_bytes(&mut cursor)?)?;
            } else if tuning.joined.is_none() && cursor.eat("joined=") {
                tuning = tuning.with_joined_runs(off_or_bytes(&mut cursor)?);
            } else if tuning.permuted.is_none() && cursor.eat("order=") {
                let permuted = cursor.eat("permuted");
                if !permuted {
                    cursor.expect("ascending", "`permuted` or `ascending`")?;
                }
                tuning = tuning.with_permuted_order(permuted);
            } else {
                return Err(cursor.error_at(start, SETTINGS));
            }
            if !cursor.eat(",") {
                cursor.end("`,` or the end of the text")?;
                return Ok(tuning);
            }
        }
    }
}

fn off_or_bytes(cursor: &mut Cursor<'_>) -> Result<usize, Error> {
    const EXPECTED: &str = "`off` or a number of bytes";
    if cursor.eat("off") {
        return Ok(0);
    }
    let start = cursor.position();
    usize::try_from(cursor.number(EXPECTED)?).map_err(|_| cursor.error_at(start, EXPECTED))
}

#[cfg(test)]
mod tests;
