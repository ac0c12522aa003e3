//! Values that have a name, found by it.

use tensor_layout::Error;

/// The one of `all` that is called `text`; `what` says what they are, with an article.
pub(crate) fn one_of<T: Copy>(text: &str, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Error> {
    let found = all.iter().copied().find(|&item| name(item) == text);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&item| name(item)).collect();
        let expected = format!("{what}: {}", names.join(", "));
        Error::Parse { text: text.to_owned(), column: 1, expected, found: format!("`{text}`") }
    })
}
