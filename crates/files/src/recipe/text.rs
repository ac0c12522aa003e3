//! Reads the text of a recipe as lines of an output and an expression.

use tensor_layout_text::layout::Layout;
use tensor_layout_text::rule::Rule;

use super::error::{PARSE, RECIPE_LIMIT, RecipeError};
use super::expression::{Kind, Line, Shares, Step, Value, chosen, first_name, names, weight};
use super::pattern::{Name, Part};

/// The longest text of a recipe that is read, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// The deepest nesting of parentheses. Deeper texts are refused, because the reader calls itself for each
/// level.
const MOST_DEPTH: usize = 32;
/// The most bytes of names after words were put in.
const MOST_EXPANDED: usize = 16 << 20;

const VIEWS: [&str; 4] = ["reshape", "permute", "slice", "broadcast"];

pub(super) fn parse(text: &str) -> Result<Vec<Line>, RecipeError> {
    if text.len() > MOST_BYTES {
        let sentence = format!("a recipe has at most {MOST_BYTES} bytes, and this one has {}", text.len());
        return Err(RecipeError::new(text, 0, None, (RECIPE_LIMIT, sentence)));
    }
    let mut parser = Parser { text, at: 0, depth: 0, room: MOST_EXPANDED, to: None };
    let mut lines: Vec<Line> = Vec::new();
    loop {
        parser.skip();
        match parser.peek() {
            None => return Ok(lines),
            Some('\n') => parser.at = parser.at.saturating_add(1),
            Some(_) => {
                if let Some(last) = lines.last().filter(|last| last.output.is_none()) {
                    let sentence = "`* = *` is the last line, and another one follows it".to_owned();
                    return Err(RecipeError::new(text, last.at, None, (PARSE, sentence)));
                }
                lines.push(parser.line()?);
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    room: usize,
    to: Option<(usize, String)>,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn wrong(&self, expected: impl std::fmt::Display) -> RecipeError {
        RecipeError::parse(self.text, self.at, expected)
    }

    /// Passes blanks and comments, and the ends of lines inside parentheses.
    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            let length = match c {
                ' ' | '\t' | '\r' => 1,
                '\n' if self.depth > 0 => 1,
                '#' => self.rest().find('\n').unwrap_or(self.rest().len()),
                _ => break,
            };
            self.at = self.at.saturating_add(length);
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.skip();
        let is_here = self.rest().starts_with(sign);
        self.at = self.at.saturating_add(if is_here { sign.len() } else { 0 });
        is_here
    }

    /// Takes letters while they are `inside`.
    fn take(&mut self, inside: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let (taken, _) = rest.split_at(rest.find(|c| !inside(c)).unwrap_or(rest.len()));
        self.at = self.at.saturating_add(taken.len());
        taken
    }

    /// Takes a word, if it is the next one.
    fn word(&mut self, word: &str) -> bool {
        self.skip();
        let ends = |after: &str| after.chars().next().is_none_or(|c| !is_letter(c) && c != '{');
        self.rest().strip_prefix(word).is_some_and(ends) && self.eat(word)
    }

    fn line(&mut self) -> Result<Line, RecipeError> {
        let at = self.at;
        let output = self.name("the name of an output")?;
        let is_all = output.parts == [Part::Text("*".into())];
        self.skip();
        let is_optional = self.eat("?=");
        if !is_optional && !self.eat("=") {
            return Err(self.wrong("`=` or `?=`"));
        }
        let value = self.value()?;
        if matches!(&value.kind, Kind::Any) != is_all || is_all && is_optional {
            let sentence = "`*` stands for every source that no line uses, in the line `* = *` alone";
            return Err(RecipeError::new(self.text, at, None, (PARSE, sentence.into())));
        }
        self.skip();
        match self.peek() {
            None | Some('\n') => {}
            Some(_) => return Err(self.wrong("`|` or the end of the line")),
        }
        if let Some(outside) = names(&value).chain([&output]).find(|name| name.choices() != Some(1)) {
            let sentence = "words in braces stand inside the parentheses of `cat` or `stack`".to_owned();
            return Err(RecipeError::new(self.text, outside.at, None, (PARSE, sentence)));
        }
        self.check_letters(&output, &value)?;
        let output = (!is_all).then_some(output);
        Ok(Line { output, at, is_optional, value, to: self.to.take() })
    }

    /// Checks that the numbers of the output are those of the first source, and of all sources.
    fn check_letters(&self, output: &Name, value: &Value) -> Result<(), RecipeError> {
        let refuse = |at, letter, what: &str| {
            Err(RecipeError::new(self.text, at, None, (PARSE, format!("`{{{letter}}}` {what}"))))
        };
        let outer: Vec<char> = output.letters().collect();
        if let (Some(first), true) = (names(value).next().or_else(|| first_name(value)), !outer.is_empty())
            && let Some(letter) = outer.iter().find(|letter| !first.letters().any(|other| other == **letter))
        {
            return refuse(output.at, *letter, "is in the output and not in its first source");
        }
        let mut stack = vec![(value, outer)];
        while let Some((value, known)) = stack.pop() {
            match &value.kind {
                Kind::Any => {}
                Kind::Name(name) => {
                    if let Some(letter) = name.letters().find(|letter| !known.contains(letter)) {
                        return refuse(name.at, letter, "is neither in the output nor after `over`");
                    }
                }
                Kind::With { both, .. } => stack.extend(both.iter().map(|value| (value, known.clone()))),
                Kind::Join { over, values, .. } => {
                    let first = values.first().and_then(first_name);
                    if let Some(letter) = over.filter(|letter| known.contains(letter)) {
                        return refuse(value.at, letter, "has a number already");
                    }
                    if let Some(letter) =
                        over.filter(|letter| !first.is_some_and(|name| name.letters().any(|other| other == *letter)))
                    {
                        return refuse(value.at, letter, "is not in the first source of the stack");
                    }
                    let known: Vec<char> = known.iter().copied().chain(*over).collect();
                    stack.extend(values.iter().map(|value| (value, known.clone())));
                }
            }
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value, RecipeError> {
        let values = self.chain()?;
        if !self.word("with") {
            return Ok(values);
        }
        let (at, scales) = (values.at, self.chain()?);
        if !self.word("per") {
            return Err(self.wrong("`per` and the number of values that have one scale"));
        }
        self.skip();
        let start = self.at;
        let per = if self.eat("[") {
            let list = format!("[{}]", self.take(|c| c != ']' && c != '\n'));
            if !self.eat("]") {
                return Err(self.wrong("`]`"));
            }
            list
        } else {
            self.take(|c| c.is_ascii_alphanumeric()).to_owned()
        };
        if per.is_empty() {
            return Err(RecipeError::parse(self.text, start, "a number such as 32, [1,32] or `tensor`"));
        }
        let kind = Kind::With { both: Box::new([values, scales]), per };
        Ok(Value { at, kind, steps: self.steps()? })
    }

    fn chain(&mut self) -> Result<Value, RecipeError> {
        self.skip();
        let at = self.at;
        let joins = |word: &str| {
            let axis = self.rest().strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t']))?;
            axis.trim_start().starts_with(|c: char| c.is_ascii_digit()).then_some(word == "stack")
        };
        let kind = match joins("cat").or_else(|| joins("stack")) {
            Some(is_stack) => self.join(is_stack)?,
            None => {
                let name = self.name("a source, `cat AXIS (..)` or `stack AXIS (..)`")?;
                if name.parts == [Part::Text("*".into())] { Kind::Any } else { Kind::Name(name) }
            }
        };
        Ok(Value { at, kind, steps: self.steps()? })
    }

    fn join(&mut self, is_stack: bool) -> Result<Kind, RecipeError> {
        self.take(|c| c.is_ascii_alphabetic());
        let axis = self.number("an axis")?;
        let over = if is_stack && self.word("over") {
            self.skip();
            let rest = self.rest();
            let letter = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(letter, _)| letter);
            let letter = letter.and_then(|letter| letter.parse().ok()).filter(char::is_ascii_lowercase);
            let letter: char = letter.ok_or_else(|| self.wrong("a small letter in braces, such as `{e}`"))?;
            self.at = self.at.saturating_add(3);
            Some(letter)
        } else {
            None
        };
        if !self.eat("(") {
            return Err(self.wrong(if is_stack && over.is_none() { "`over {e}` or `(`" } else { "`(`" }));
        }
        self.depth = self.depth.saturating_add(1);
        if self.depth > MOST_DEPTH {
            return Err(self.wrong(format!("at most {MOST_DEPTH} parentheses inside each other")));
        }
        let mut values = Vec::new();
        loop {
            let value = self.value()?;
            self.expand(value, &mut values)?;
            if self.eat(")") {
                break;
            }
            if !self.eat(",") {
                return Err(self.wrong("`,` or `)`"));
            }
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(Kind::Join { axis, is_stack, over, values })
    }

    /// Adds a value for each choice of the words in its names.
    fn expand(&mut self, value: Value, into: &mut Vec<Value>) -> Result<(), RecipeError> {
        let with_words = || names(&value).filter(|name| name.choices() != Some(1));
        let Some(first) = with_words().next() else {
            into.push(value);
            return Ok(());
        };
        let choices = first.choices();
        if let Some(other) = with_words().find(|name| name.choices() != choices) {
            let sentence = "the two names stand for different numbers of words".to_owned();
            return Err(RecipeError::new(self.text, other.at, None, (PARSE, sentence)));
        }
        let room = choices.and_then(|choices| self.room.checked_sub(choices.checked_mul(weight(&value))?));
        let Some(room) = room else {
            let sentence = format!("the words stand for more than {MOST_EXPANDED} bytes of names");
            return Err(RecipeError::new(self.text, first.at, None, (RECIPE_LIMIT, sentence)));
        };
        self.room = room;
        into.extend((0..choices.unwrap_or(0)).map(|choice| chosen(&value, choice)));
        Ok(())
    }

    fn steps(&mut self) -> Result<Vec<(usize, Step)>, RecipeError> {
        let mut steps = Vec::new();
        while self.to.is_none() && self.eat("|") {
            self.skip();
            let at = self.at;
            let view = VIEWS.into_iter().find(|view| self.word(view));
            if let Some(view) = view {
                self.skip();
                let argument = self.list();
                if argument.is_empty() {
                    return Err(self.wrong(format!("the numbers of `{view}`")));
                }
                steps.push((at, Step::View(view, argument)));
            } else if self.word("shard") {
                let axis = self.number("an axis")?;
                let shares = match () {
                    () if self.word("even") => Shares::Even,
                    () if self.eat("/") => {
                        let shares = self.number("a number of shares")?;
                        Shares::Of(u64::try_from(shares).unwrap_or(u64::MAX))
                    }
                    () => Shares::Chunks,
                };
                steps.push((at, Step::Shard(axis, shares)));
            } else if self.word("as") {
                self.skip();
                let name = self.take(|c| !c.is_whitespace() && !"|,()".contains(c)).to_owned();
                if name.is_empty() {
                    return Err(self.wrong("the name of a type or of blocks"));
                }
                steps.push((at, Step::As(name)));
            } else {
                self.rule()?;
            }
        }
        Ok(steps)
    }

    /// Reads the rule or the layout at the end of a line.
    fn rule(&mut self) -> Result<(), RecipeError> {
        let at = self.at;
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        let line = line.find(" #").map_or(line, |comment| line.split_at(comment).0);
        let words = "reshape, permute, slice, broadcast, shard or as";
        if self.depth > 0 {
            return Err(self.wrong(format!("{words}: a rule or a layout stands at the end of the line")));
        }
        let text = line.trim();
        if let Err(why) = text.parse::<Rule>()
            && text.parse::<Layout>().is_err()
        {
            return Err(match text.find('|') {
                Some(bar) => RecipeError::parse(self.text, at.saturating_add(bar), "the end of the line after a rule"),
                None => self.wrong(format!("{words}, or a rule or a layout at the end")).because(&why),
            });
        }
        self.at = at.saturating_add(line.len());
        self.to = Some((at, text.to_owned()));
        Ok(())
    }

    fn number(&mut self, what: &str) -> Result<usize, RecipeError> {
        self.skip();
        let at = self.at;
        let digits = self.take(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| RecipeError::parse(self.text, at, what))
    }

    /// Takes the numbers of a view. Inside parentheses a comma ends them, unless a number follows it.
    fn list(&mut self) -> String {
        let mut list = String::new();
        loop {
            let (before, word) = (self.at, self.take(|c| !c.is_whitespace() && !"|,()=#\"".contains(c)));
            if word.is_empty() || !word.chars().all(|c| c.is_ascii_digit() || "-:.[]".contains(c)) {
                self.at = before;
                if list.ends_with(',') {
                    list.pop();
                    // No number follows the comma, so the comma belongs to the list of values around the
                    // view.
                    self.at = self.text.get(..before).and_then(|text| text.rfind(',')).unwrap_or(before);
                }
                return list;
            }
            list.push_str(word);
            let end = self.at;
            if !self.eat(",") {
                self.at = end;
                return list;
            }
            list.push(',');
            self.skip();
        }
    }

    fn name(&mut self, what: &str) -> Result<Name, RecipeError> {
        self.skip();
        let at = self.at;
        if self.peek() == Some('"') {
            let mut strings = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
            let text = strings.next().and_then(Result::ok).ok_or_else(|| self.wrong("a JSON string"))?;
            self.at = self.at.saturating_add(strings.byte_offset());
            return Ok(Name { at, parts: vec![Part::Text(text)] });
        }
        let mut parts = Vec::new();
        loop {
            let start = self.at;
            let mut text = self.take(is_letter);
            // Letters of a name may include `?`, but `a?=b` means `a ?= b`.
            if self.peek() == Some('=') && text.ends_with('?') {
                text = text.strip_suffix('?').unwrap_or(text);
                self.at = start.saturating_add(text.len());
            }
            if text.contains('*') && text != "*" {
                return Err(RecipeError::parse(self.text, start, "a name, of which `*` is no part"));
            }
            if !text.is_empty() {
                if text.starts_with(|c: char| c.is_ascii_digit()) && matches!(parts.last(), Some(Part::Number(_))) {
                    return Err(RecipeError::parse(self.text, start, "no digit after a number in braces"));
                }
                parts.push(Part::Text(text.to_owned()));
            }
            if !self.rest().starts_with('{') {
                break;
            }
            parts.push(self.braces(matches!(parts.last(), Some(Part::Number(_))))?);
        }
        if parts.is_empty() { Err(RecipeError::parse(self.text, at, what)) } else { Ok(Name { at, parts }) }
    }

    fn braces(&mut self, after_number: bool) -> Result<Part, RecipeError> {
        let expected = "a small letter or several words in braces, such as `{i}` or `{q,k,v}`";
        let inner = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (inner, _) = inner.ok_or_else(|| self.wrong(expected))?;
        let words: Vec<String> = inner.split(',').map(str::to_owned).collect();
        let part = match (words.as_slice(), inner.chars().next()) {
            ([_], Some(letter)) if inner.len() == 1 && letter.is_ascii_lowercase() => {
                if after_number {
                    return Err(self.wrong("no number right after another one"));
                }
                Part::Number(letter)
            }
            ([_, _, ..], _) if words.iter().all(|word| !word.is_empty() && word.chars().all(is_letter)) => {
                Part::Words(words)
            }
            _ => return Err(self.wrong(expected)),
        };
        self.at = self.at.saturating_add(inner.len()).saturating_add(2);
        Ok(part)
    }
}

fn is_letter(c: char) -> bool {
    !c.is_whitespace() && !"|,(){}=#\"".contains(c)
}
