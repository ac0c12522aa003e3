//! Which invocation touched which word: what two of them may not do without a barrier between.

/// Who has touched a word since it began to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Touched {
    #[default]
    Untouched,
    /// One invocation, by its number.
    By(u64),
    Several,
}

impl Touched {
    /// Touched by an invocation other than `invocation`?
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

/// The words of one memory, and who read and wrote them.
#[derive(Debug, Clone)]
pub(super) struct Uses(Vec<(Touched, Touched)>);

impl Uses {
    pub(super) fn new(words: usize) -> Uses {
        Uses(vec![Default::default(); words])
    }

    /// From here on nothing that was done before is in the way.
    pub(super) fn forget(&mut self) {
        self.0.fill(Default::default());
    }

    /// False if another invocation wrote the word.
    pub(super) fn read(&mut self, word: usize, invocation: u64) -> bool {
        let Some((readers, writers)) = self.0.get_mut(word) else { return true };
        *readers = readers.and(invocation);
        !writers.by_another(invocation)
    }

    /// False if another invocation read or wrote the word.
    pub(super) fn write(&mut self, word: usize, invocation: u64) -> bool {
        let Some((readers, writers)) = self.0.get_mut(word) else { return true };
        *writers = writers.and(invocation);
        !writers.by_another(invocation) && !readers.by_another(invocation)
    }
}

#[cfg(test)]
mod tests;
