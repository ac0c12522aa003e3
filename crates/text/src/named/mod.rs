//! Layouts for which devices and libraries have names, in one exact table.
//!
//! A name, a type and logical sizes determine a layout: `tensorrt.kCHW32:s8[2,33,3,2]`. [`NamedLayout`] reads
//! such a text, and [`Layout`](crate::Layout) reads it among other notations. [`names_of`]
//! returns the names of a layout. [`rows`] returns the table itself, which is the file
//! `crates/text/src/named/layouts.txt`.
//!
//! The rules come from the sources that each row names. Most were compared with the libraries themselves,
//! run or compiled, and tests read what the libraries answered: docs/DEVICE_LAYOUTS.md says for each name
//! how its rule is known.
//!
//! ```
//! use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc, DataType};
//! use tensor_layout_text::named::NamedLayout;
//!
//! // Block scales of 200 rows: the padding up to 256 x 12 must be zero.
//! let scales = BufferTensorDesc::packed(DataType::F8E4M3FN, &[200, 10])?;
//! let swizzled: NamedLayout = "nvidia.sf_128x4:f8e4m3fn[200,10]".parse()?;
//! let copy = Relayout::new(&scales, &swizzled)?.with_padding(Padding::Zero)?;
//! let mut buffer = vec![0xff; 3072];
//! copy.run(&[1; 2000], &mut buffer)?;
//! assert_eq!(buffer.iter().filter(|&&byte| byte == 0).count(), 1072);
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

mod layout;
mod repack;
mod rule;
use core::fmt;
pub(crate) use layout::is_for;
pub use layout::{NameMatch, NamedLayout, full_name, names_of};
use std::sync::OnceLock;
use tensor_layout::Error;
use tensor_layout::checked::{self, ELEMENTS};
use tensor_layout::element::{BlockType, DataType};

/// A row of the table: the rule for the layouts of a name, and the source of the rule.
///
/// ```
/// use tensor_layout_text::named;
///
/// let row = named::rows().iter().find(|row| row.name == "nvidia.sf_128x4").unwrap();
/// assert_eq!(row.memory, "[..][R/128][C/4][r%32][(r%128)/32][c%4]");
/// assert_eq!((row.padding, row.align), ("must be zero", 16));
/// assert!(row.source.contains("to_blocked"));
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Row {
    /// The system and the name, `tensorrt.kCHW32`, without the numbers that some names take. Several rows may
    /// have the same name: for other ranks or numbers, or for sizes that the row before does not accept.
    pub name: String,
    /// A description of this system's layouts.
    pub about: &'static str,
    /// The numbers after the name: the word for each number (empty if the number is fixed), and the values
    /// that it may have.
    pub numbers: Vec<(&'static str, Vec<u64>)>,
    /// The logical axes in the order of the sizes: `..,N,K`, with `..` for any axes in front.
    pub axes: &'static str,
    /// The types that the row accepts: `any`, names, or widths as in `16-bit`.
    pub types: &'static str,
    /// The digits of an offset in memory order, the slowest first. The head of the table explains the
    /// notation.
    pub memory: &'static str,
    /// The conditions for the sizes, separated by `;`.
    pub needs: &'static str,
    /// Other names of the same system, separated by commas.
    pub other: &'static str,
    /// The padding that the system demands or writes: `must be zero`, `zero`, `undefined`, `not stated` or
    /// `none`.
    pub padding: &'static str,
    /// The start of the buffer must be a multiple of this number, in bytes. 0 stands for the bytes of an
    /// element.
    pub align: u64,
    /// The source of the rule.
    pub source: &'static str,
    /// How the rule is known: `run, ` and the package with its version, `compiled, ` and what, or `read`.
    pub known: &'static str,
    /// The bits that differ from those of the plain tensor, in every byte of the last part. The layout moves
    /// bytes, and 0 flips none.
    pub flip: u8,
    /// The facts about the layout that were not checked, or that the source leaves open.
    pub open: &'static str,
}

/// Returns the rows of the table.
#[must_use]
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| parse(include_str!("layouts.txt")))
}

fn parse(table: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for ([system, about], said, cells) in sections(table, &["padding", "align", "source", "known", "open", "flip"]) {
        let [padding, align, source, known, open, flip] = said;
        let [name, axes, types, memory, needs, other] = cells;
        let (name, numbers) = name.split_once('<').unwrap_or((name, ""));
        let number = |text: &'static str| {
            let (word, values) = text.split_once('=').unwrap_or(("", text));
            (word, values.split(',').filter_map(|value| value.parse().ok()).collect())
        };
        let numbers = numbers.trim_end_matches('>').split(';').filter(|text| !text.is_empty()).map(number).collect();
        let (name, align) =
            (format!("{system}.{name}"), if align == "element" { 0 } else { align.parse().unwrap_or(1) });
        let flip = u8::from_str_radix(flip.trim_start_matches("0x"), 16).unwrap_or(0);
        #[rustfmt::skip]
        rows.push(Row { name, about, numbers, axes, types, memory, needs, other, padding, align, source, known, open, flip });
    }
    rows
}

/// A row of a table: the system and its description, what the keys say, and the cells.
pub(crate) type TableRow<const KEYS: usize> = ([&'static str; 2], [&'static str; KEYS], [&'static str; 6]);

/// Returns the rows of a table. A line `key: value` says what holds for the rows below it, and any other line
/// without `|` begins a system, of which nothing has been said.
pub(crate) fn sections<const KEYS: usize>(table: &'static str, keys: &[&str; KEYS]) -> Vec<TableRow<KEYS>> {
    let (mut system, mut said, mut rows) = ([""; 2], [""; KEYS], Vec::new());
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        if line.contains('|') {
            let mut cells = line.split('|').map(str::trim);
            rows.push((system, said, [(); 6].map(|()| cells.next().unwrap_or_default())));
        } else if let Some((_, place)) = keys.iter().zip(&mut said).find(|(known, _)| **known == key) {
            *place = value.trim();
        } else {
            (system, said) = ([key, value.trim()], [""; KEYS]);
        }
    }
    rows
}

/// Says which name a word may be meant for, `the nearest is NAME` after `before`. Empty if more than half of
/// the word would change.
pub(crate) fn nearest<'n>(before: &str, word: &str, spellings: impl Iterator<Item = (&'n str, &'n str)>) -> String {
    let distance = |spelling: &str| strsim::osa_distance(&spelling.to_ascii_lowercase(), &word.to_ascii_lowercase());
    let near = spellings.map(|(spelling, name)| (distance(spelling), name)).min_by_key(|(distance, _)| *distance);
    let near = near.filter(|(distance, _)| distance.saturating_mul(2) <= word.len());
    near.map(|(_, name)| format!("{before}the nearest is {name}")).unwrap_or_default()
}

impl fmt::Display for Row {
    /// Writes the name with the numbers that it takes: `ggml.q8_0x4.qs<bl=4,8>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |(word, values): &(&str, Vec<u64>)| {
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            if word.is_empty() { values.join(",") } else { format!("{word}={}", values.join(",")) }
        };
        let numbers: Vec<String> = self.numbers.iter().map(number).collect();
        match numbers.is_empty() {
            true => f.pad(&self.name),
            false => f.pad(&format!("{}<{}>", self.name, numbers.join(";"))),
        }
    }
}

impl Row {
    /// The axes of the row that have a name, without `..`.
    fn axes(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        self.axes.split(',').filter(|axis| *axis != "..")
    }

    /// The number of axes that `..` stands for, out of `rank` axes.
    fn leading(&self, rank: usize) -> usize {
        rank.saturating_sub(self.axes().count())
    }

    fn has_rank(&self, rank: usize) -> bool {
        let named = self.axes().count();
        if self.axes.starts_with("..") { rank >= named } else { rank == named }
    }

    fn is_for(&self, data_type: DataType, blocks: Option<BlockType>) -> bool {
        if let Some(block_type) = blocks {
            return self.types == block_type.to_string();
        }
        let matches = |word: &str| match word.strip_suffix("-bit") {
            Some(bits) => bits.parse() == Ok(data_type.bits()),
            None => word == "any" || word == data_type.to_string(),
        };
        self.types.split(' ').any(matches)
    }

    fn takes(&self, numbers: &[u64]) -> bool {
        let mut pairs = self.numbers.iter().zip(numbers);
        numbers.len() == self.numbers.len() && pairs.all(|((_, values), number)| values.contains(number))
    }

    /// Returns the values of the words in the rule. The sizes have the rank of the row, and the row accepts
    /// the numbers.
    fn values(&self, data_type: DataType, sizes: &[u64], numbers: &[u64]) -> Values<'_> {
        let mut values = Values::default();
        self.axes().rev().zip(sizes.iter().rev()).for_each(|(axis, &size)| values.set(axis, size));
        self.numbers.iter().zip(numbers).for_each(|((word, _), &number)| values.set(word, number));
        if data_type.bits().is_multiple_of(8) {
            values.set("es", u64::from(data_type.bits().div_ceil(8)));
        } else {
            values.set("e", 8_u64.checked_div(data_type.bits().into()).unwrap_or(1));
        }
        values
    }

    /// Returns the first condition that is not met, with its numbers, as half a sentence.
    fn unmet(&self, values: &Values<'_>) -> Result<Option<String>, Error> {
        for need in self.needs.split(';').map(str::trim).filter(|need| !need.is_empty()) {
            let (sum, wanted) = need.split_once('=').unwrap_or((need, ""));
            let value = values.evaluate(sum)?;
            if !wanted.split(',').any(|wanted| wanted.trim().parse() == Ok(value)) {
                let spoken: Vec<String> =
                    values.spoken(sum).map(|(word, value)| format!("{word} is {value}")).collect();
                return Ok(Some(format!("needs {}, and {}", need.replace(',', " or "), spoken.join(" and "))));
            }
        }
        Ok(None)
    }
}

fn find(name: &str) -> Result<Vec<&'static Row>, String> {
    let short = |row: &'static Row| row.name.split_once('.').map_or("", |(_, short)| short);
    let others = |row: &'static Row| row.other.split(", ").filter(|other| !other.is_empty());
    let exact: Vec<_> = rows().iter().filter(|row| row.name == name).collect();
    if !exact.is_empty() {
        return Ok(exact);
    }
    let found: Vec<_> =
        rows().iter().filter(|row| short(row) == name || others(row).any(|other| other == name)).collect();
    let mut names: Vec<&str> = found.iter().map(|row| row.name.as_str()).collect();
    names.dedup();
    match names.as_slice() {
        [_] => Ok(found),
        [_, _, ..] => Err(format!("one of the layouts of this name: {}", names.join(" or "))),
        [] => {
            let spellings = |row| others(row).chain([&*row.name, short(row)]).map(|word| (word, &*row.name));
            Err(format!("the name of a layout{}", nearest(": ", name, rows().iter().flat_map(spellings))))
        }
    }
}

/// The values of the words in a rule: the sizes of the axes, the bytes of an element, and the numbers after
/// the name.
#[derive(Debug, Clone, Default)]
struct Values<'t>(Vec<(&'t str, u64)>);

impl<'t> Values<'t> {
    fn set(&mut self, word: &'t str, value: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == word) {
            Some((_, old)) => *old = value,
            None => self.0.push((word, value)),
        }
    }

    /// Returns the words that occur in an expression, with their values.
    fn spoken(&self, text: &str) -> impl Iterator<Item = &(&'t str, u64)> + use<'_, 't> {
        let words: Vec<String> = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
        self.0.iter().filter(move |(word, _)| !word.is_empty() && words.iter().any(|spoken| spoken == word))
    }

    /// Evaluates an expression such as `256*N up 2048`. It has numbers, words and parentheses. The operators,
    /// from the strongest, are `* / %`, then `+ -`, then `up` (round up to a multiple) and `max`.
    ///
    /// # Errors
    ///
    /// `overflow` if a value passes 64 bits. `not_expressible` for an expression without a
    /// value, such as `16/es` for elements below a byte.
    fn evaluate(&self, text: &str) -> Result<u64, Error> {
        let mut reader = Reader { values: self, rest: text };
        let value = reader.value(0)?;
        if reader.rest.trim().is_empty() { Ok(value) } else { Err(no_value(text)) }
    }
}

fn refused(reason: String) -> Error {
    Error::not_expressible("named layout", reason)
}

fn no_value(text: &str) -> Error {
    refused(format!("`{text}` has no value for this type and these sizes"))
}

/// The operators, the weakest first.
const OPERATORS: [&[&str]; 3] = [&["up ", "max "], &["+", "-"], &["*", "/", "%"]];

struct Reader<'r> {
    values: &'r Values<'r>,
    rest: &'r str,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads a value of the operators from this row of [`OPERATORS`] on.
    fn value(&mut self, row: usize) -> Result<u64, Error> {
        let Some(operators) = OPERATORS.get(row) else { return self.factor() };
        let mut value = self.value(row.saturating_add(1))?;
        while let Some(operator) = operators.iter().find(|operator| self.eat(operator)) {
            let rest = self.rest;
            let other = self.value(row.saturating_add(1))?;
            value = match *operator {
                "up " => checked::round_up(value, other.max(1), ELEMENTS)?,
                "max " => value.max(other),
                "+" => checked::add(value, other, ELEMENTS)?,
                "*" => checked::mul(value, other, ELEMENTS)?,
                "-" => value.checked_sub(other).ok_or_else(|| no_value(rest))?,
                "/" => value.checked_div(other).ok_or_else(|| no_value(rest))?,
                _ => value.checked_rem(other).ok_or_else(|| no_value(rest))?,
            };
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<u64, Error> {
        if self.eat("(") {
            let value = self.value(0)?;
            return if self.eat(")") { Ok(value) } else { Err(no_value(self.rest)) };
        }
        let rest = self.rest.trim_start();
        let (word, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()));
        self.rest = after;
        let known = || self.values.0.iter().find(|(known, _)| *known == word).map(|&(_, value)| value);
        word.parse().ok().or_else(known).ok_or_else(|| match word {
            "es" => refused("its rule counts bytes, and the elements are not whole bytes".into()),
            _ => no_value(rest),
        })
    }
}
