//! What a kernel over registers is given: where its calls go, and what it should ask for ahead of time.

use super::super::calls::Calls;
use super::super::schedule::Step;

/// A kernel asks for what it will read so many bytes later: more than memory delivers while one answer is on its way.
pub(super) const AHEAD: usize = 1 << 13;

/// Rows of at least this many bytes are streams that the hardware sees; they are asked for a little ahead of the place at hand.
pub(super) const LONG_ROW: usize = 1 << 12;

/// How far ahead in a long row.
const NEAR: usize = 1 << 11;

/// The calls of a kernel, and how it reads and stores.
pub(super) struct Task<'a> {
    /// The first bytes of the source and of the destination.
    pub(super) ends: (*const u8, *mut u8),
    pub(super) loops: &'a [Step],
    /// The offsets of the first call.
    pub(super) start: (usize, usize),
    /// Store round the cache.
    pub(super) stream: bool,
    /// Ask for what will be read.
    pub(super) fetch: bool,
}

impl<'a> Task<'a> {
    /// All calls, each of which reads so many bytes.
    #[inline(always)]
    pub(super) fn visits(&self, bytes: usize) -> Visits<'a> {
        let calls = Calls::new(self.loops, self.start);
        let ahead = (self.fetch && !self.loops.is_empty()).then(|| {
            let mut ahead = calls;
            ahead.by_ref().take((AHEAD / bytes.max(1)).clamp(1, 64)).for_each(drop);
            ahead
        });
        Visits { calls, ahead, ends: self.ends, fetch: self.fetch }
    }
}

pub(super) struct Visits<'a> {
    calls: Calls<'a>,
    ahead: Option<Calls<'a>>,
    ends: (*const u8, *mut u8),
    fetch: bool,
}

/// One call.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// Where a call that comes [`AHEAD`] bytes later, or the next one, will read.
    pub(super) ahead: Option<*const u8>,
    pub(super) fetch: bool,
}

impl Iterator for Visits<'_> {
    type Item = Visit;

    #[inline(always)]
    fn next(&mut self) -> Option<Visit> {
        let (from, to) = self.calls.next()?;
        let ahead = match &mut self.ahead {
            Some(ahead) => ahead.next().map(|(from, _)| self.ends.0.wrapping_add(from)),
            None => None,
        };
        let (from, to) = (self.ends.0.wrapping_add(from), self.ends.1.wrapping_add(to));
        Some(Visit { from, to, ahead, fetch: self.fetch })
    }
}

impl Visit {
    /// What to ask for while the first bytes of rows of this length are read: as far into the row as `from` is.
    #[inline(always)]
    pub(super) fn ahead_of_row(&self, row: usize) -> Option<*const u8> {
        if row >= LONG_ROW { self.fetch.then(|| self.from.wrapping_add(NEAR)) } else { self.ahead }
    }
}
