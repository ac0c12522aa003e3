//! rten-tensor's tests go through lists of cases with an unpublished crate. This crate replaces it.

/// A list of cases.
pub trait TestCases {
    type Case;

    fn test_each(self, test: impl Fn(&Self::Case));

    fn test_each_clone(self, test: impl Fn(Self::Case))
    where
        Self::Case: Clone;
}

impl<List: IntoIterator> TestCases for List {
    type Case = List::Item;

    fn test_each(self, test: impl Fn(&List::Item)) {
        self.into_iter().for_each(|case| test(&case));
    }

    fn test_each_clone(self, test: impl Fn(List::Item)) {
        self.into_iter().for_each(test);
    }
}
