//! `Glob`: patterns of names, as a shell has them.

use std::fmt;
use std::str::FromStr;

/// `*` for any characters, also none, `?` for one, `[a-z]` for one of these and `[!a-z]` for one of the
/// others. Every other character stands for itself, dots and slashes too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    text: String,
    units: Vec<Unit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Unit {
    Any,
    One,
    Literal(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl FromStr for Glob {
    type Err = String;

    fn from_str(text: &str) -> Result<Glob, String> {
        let (mut units, mut rest) = (Vec::new(), text.chars());
        while let Some(character) = rest.next() {
            units.push(match character {
                '*' => Unit::Any,
                '?' => Unit::One,
                '[' => class(&mut rest).ok_or_else(|| format!("`{text}` opens a [ that it does not close"))?,
                literal => Unit::Literal(literal),
            });
        }
        if units.is_empty() {
            Err("an empty pattern matches nothing".into())
        } else {
            Ok(Glob { text: text.into(), units })
        }
    }
}

/// What is between the brackets. A bracket that is the first character in them is one of these.
fn class(rest: &mut std::str::Chars<'_>) -> Option<Unit> {
    let mut next = rest.next()?;
    let negated = next == '!';
    if negated {
        next = rest.next()?;
    }
    let mut ranges = Vec::new();
    loop {
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(end)) if end != ']' => {
                ranges.push((next, end));
                *rest = ahead;
            }
            _ => ranges.push((next, next)),
        }
        next = rest.next()?;
        if next == ']' {
            return Some(Unit::Class { negated, ranges });
        }
    }
}

impl Unit {
    fn matches(&self, character: char) -> bool {
        match self {
            Unit::Any => false,
            Unit::One => true,
            Unit::Literal(literal) => *literal == character,
            Unit::Class { negated, ranges } => {
                ranges.iter().any(|&(first, last)| (first..=last).contains(&character)) != *negated
            }
        }
    }
}

impl Glob {
    /// Does the pattern match the whole name? In steps of at most the product of both lengths: only the last
    /// `*` is ever tried again.
    pub(super) fn matches(&self, name: &str) -> bool {
        let (mut units, mut rest) = (self.units.as_slice(), name.chars());
        // After the last `*`, and where in the name what follows it was tried last.
        let mut retry: Option<(&[Unit], std::str::Chars<'_>)> = None;
        loop {
            if let [Unit::Any, behind @ ..] = units {
                units = behind;
                retry = Some((behind, rest.clone()));
                continue;
            }
            let mut ahead = rest.clone();
            match (units, ahead.next()) {
                ([], None) => return true,
                ([unit, behind @ ..], Some(character)) if unit.matches(character) => (units, rest) = (behind, ahead),
                _ => {
                    let Some((behind, from)) = &mut retry else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    (units, rest) = (behind, from.clone());
                }
            }
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_a_shell_matches() {
        let matching = [
            ("*", ""),
            ("*", "a.b/c"),
            ("conv*.weight", "conv2.weight"),
            ("conv*.weight", "conv.weight.weight"),
            ("layers.?.w", "layers.7.w"),
            ("layers.[0-4].w", "layers.4.w"),
            ("[!0-4]", "5"),
            ("[]x]", "]"),
            ("[a-]", "-"),
            ("*a*b*c", "xxaxxbbxc"),
            ("\u{e9}?", "\u{e9}\u{1f600}"),
            ("a", "a"),
        ];
        let others = [
            ("conv*.weight", "conv2.weight2"),
            ("layers.?.w", "layers.17.w"),
            ("layers.?.w", "layers..w"),
            ("a", "ab"),
            ("a", ""),
            ("?", ""),
            ("[!0-4]", "4"),
            ("*a*b*c", "xxaxxcbb"),
            ("[0-4]", "-"),
            ("conv", "conv2"),
        ];
        let matches = |(pattern, name): (&str, &str)| pattern.parse::<Glob>().unwrap().matches(name);
        for case in matching {
            assert!(matches(case), "{case:?}");
        }
        for case in others {
            assert!(!matches(case), "{case:?}");
        }
        for pattern in ["", "[", "a[bc", "[]", "[!]", "[a-"] {
            assert!(pattern.parse::<Glob>().is_err(), "{pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!format!("{}b", "*a".repeat(200)).parse::<Glob>().unwrap().matches(&"a".repeat(20_000)));
    }
}
