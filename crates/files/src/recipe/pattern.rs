//! `Name`: the name of an output or a source in a recipe, which may stand for several.

/// The name of an output or of a source, in parts: texts, numbers such as `{i}`, and lists of words such as
/// `{q,k,v}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The place in the text of the recipe, in bytes.
    pub(super) at: usize,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// `{i}`: a decimal number without zeros in front.
    Number(char),
    /// `{q,k,v}`: each of these words.
    Words(Vec<String>),
}

/// The number that each letter of a name stands for.
pub(super) type Numbers = Vec<(char, u64)>;

pub(super) fn number_of(numbers: &[(char, u64)], letter: char) -> Option<u64> {
    numbers.iter().find(|(other, _)| *other == letter).map(|(_, number)| *number)
}

impl Name {
    pub(super) fn letters(&self) -> impl Iterator<Item = char> + '_ {
        self.parts.iter().filter_map(|part| if let Part::Number(letter) = part { Some(*letter) } else { None })
    }

    /// How many names the words stand for. `None` if that passes 64 bits.
    pub(super) fn choices(&self) -> Option<usize> {
        let words = self.parts.iter().map(|part| if let Part::Words(words) = part { words.len() } else { 1 });
        words.into_iter().try_fold(1, usize::checked_mul)
    }

    /// The name with one choice of its words. The leftmost words turn slowest.
    pub(super) fn chosen(&self, mut choice: usize) -> Name {
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in self.parts.iter().rev() {
            let Part::Words(words) = part else {
                parts.push(part.clone());
                continue;
            };
            let (place, left) = (choice.checked_rem(words.len()), choice.checked_div(words.len()));
            parts.push(Part::Text(place.and_then(|place| words.get(place)).cloned().unwrap_or_default()));
            choice = left.unwrap_or(0);
        }
        parts.reverse();
        Name { at: self.at, parts }
    }

    /// About how many bytes the name takes with its longest words.
    pub(super) fn longest(&self) -> usize {
        let bytes = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Number(_) => 1,
            Part::Words(words) => words.iter().map(String::len).max().unwrap_or(0),
        };
        self.parts.iter().map(|part| bytes(part).saturating_add(32)).fold(0, usize::saturating_add)
    }

    /// The text in front of the first number or list of words.
    pub(super) fn prefix(&self) -> String {
        let texts = self.parts.iter().map_while(|part| if let Part::Text(text) = part { Some(&**text) } else { None });
        texts.collect()
    }

    /// Returns the name with these numbers in place of their letters. A missing number is 0.
    pub(super) fn with(&self, numbers: &[(char, u64)]) -> String {
        let mut name = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => name.push_str(text),
                Part::Number(letter) => name.push_str(&number_of(numbers, *letter).unwrap_or(0).to_string()),
                Part::Words(words) => name.push_str(words.first().map_or("", String::as_str)),
            }
        }
        name
    }

    pub(super) fn numbers_in(&self, name: &str) -> Option<Numbers> {
        let (mut rest, mut numbers) = (name, Numbers::new());
        for part in &self.parts {
            let Part::Number(letter) = part else {
                let Part::Text(text) = part else { return None };
                rest = rest.strip_prefix(text.as_str())?;
                continue;
            };
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, after) = rest.split_at(end);
            let number = digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'))?;
            match number_of(&numbers, *letter) {
                None => numbers.push((*letter, number)),
                Some(other) if other != number => return None,
                Some(_) => {}
            }
            rest = after;
        }
        rest.is_empty().then_some(numbers)
    }
}
