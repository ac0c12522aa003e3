//! Records which invocation touched which word, to find races: two accesses to a word without a barrier
//! between them.

/// The invocations that touched a word since the record was cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Touched {
    #[default]
    Untouched,
    /// One invocation touched the word. This is its number.
    By(u64),
    Several,
}

impl Touched {
    /// Whether an invocation other than `invocation` has touched the word.
    fn by_another(self, invocation: u64) -> bool {
        match self {
            Touched::Untouched => false,
            Touched::By(number) => number != invocation,
            Touched::Several => true,
        }
    }

    fn and(self, invocation: u64) -> Touched {
        if self.by_another(invocation) { Touched::Several } else { Touched::By(invocation) }
    }
}

/// The readers and the writers of each word of one memory.
#[derive(Debug, Clone)]
pub(super) struct Uses(Vec<(Touched, Touched)>);

impl Uses {
    pub(super) fn new(words: usize) -> Uses {
        Uses(vec![Default::default(); words])
    }

    /// Clears the record, at a barrier and at the end of a workgroup.
    pub(super) fn forget(&mut self) {
        self.0.fill(Default::default());
    }

    /// Records a read. Returns false if another invocation wrote the word, which is a race.
    pub(super) fn read(&mut self, word: usize, invocation: u64) -> bool {
        let Some((readers, writers)) = self.0.get_mut(word) else { return true };
        *readers = readers.and(invocation);
        !writers.by_another(invocation)
    }

    /// Records a write. Returns false if another invocation read or wrote the word, which is a race.
    pub(super) fn write(&mut self, word: usize, invocation: u64) -> bool {
        let Some((readers, writers)) = self.0.get_mut(word) else { return true };
        *writers = writers.and(invocation);
        !writers.by_another(invocation) && !readers.by_another(invocation)
    }
}
