//! Evaluates the rule of a row, `[N/32]{[K/4][n%32][k%4] + 128}`, for a type and sizes.
//!
//! A rule lists the digits of an offset in memory order, the slowest first. The head of `layouts.txt`
//! explains its words. The strides are found from the last digit to the first: each is the number of elements
//! that the digits behind it span.
//!
//! ```text
//! [C/4][H][W][c%4]  for C=6, H=5, W=7
//!
//! digit    values    stride
//! c % 4       4          1
//! W           7          4
//! H           5         28
//! C / 4       2        140      6 channels in blocks of 4: the last block is padded
//! ```
//!
//! The digits of an axis are the chain of that axis in an index map. Three words cannot be said by one map,
//! so the layout gets several parts. `then` gives the indices from some index on a rule of their own.
//! `[(k-n)%4]` rotates a digit, and `[-k%2]` counts a digit down. The indices of such an axis are divided by
//! their remainder modulo the digit's number of values. In each part the digit is then constant, and only
//! moves the start.

use core::cmp::Reverse;

use tensor_layout::Error;
use tensor_layout::checked::{self, ELEMENTS, OFFSET, PHYSICAL};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::IndexMap;
use tensor_layout::short_sort::sort_by_key;
use tensor_layout::strided::{GapOwner, Slice};

use crate::part::Part;
use crate::swizzle;

use super::{Row, Values, refused};

pub(super) struct Rule<'r> {
    pub(super) row: &'r Row,
    pub(super) values: Values<'r>,
    pub(super) data_type: DataType,
    pub(super) sizes: Vec<u64>,
}

/// A digit with the value `(index / divisor) % extent`. Each step of the digit adds the stride to the offset.
#[derive(Clone, Copy)]
struct Digit {
    axis: usize,
    divisor: u64,
    extent: u64,
    stride: u64,
    turn: Turn,
}

#[derive(Clone, Copy, PartialEq)]
enum Turn {
    None,
    /// The index of this axis is subtracted first, as in `[(k-n)%4]`.
    Minus(usize),
    /// The digit counts down, as in `[-k%2]`.
    Reversed,
}

/// The digits of a rule, in memory order, and the number of elements that they span.
#[derive(Clone)]
struct Digits {
    list: Vec<Digit>,
    base: u64,
    elements: u64,
    /// Whether the digits belong to a record, which also holds data that are not elements of the tensor.
    is_record: bool,
}

impl Rule<'_> {
    pub(super) fn parts(mut self) -> Result<Vec<Part>, Error> {
        if let Some((text, flips)) = self.row.memory.split_once(" xor<") {
            let all = vec![Slice::ALL; self.sizes.len()];
            let mut parts = self.piece(text, &all, 0, false)?;
            for part in &mut parts {
                let swizzle = swizzle::read(&mut Cursor::new(flips), part.map.element_bits())?;
                part.map = part.map.clone().with_swizzle(&swizzle)?;
            }
            return Ok(parts);
        }
        let (text, ends) = match self.row.memory.strip_suffix(" ends") {
            Some(text) => (text, true),
            None => (self.row.memory, false),
        };
        let all = vec![Slice::ALL; self.sizes.len()];
        // A rule may have several parts. In `A then N from 32: B`, part B follows part A in memory. In `A
        // then again N from 32: B`, both parts are in the same records.
        let mut texts = text.split(" then ");
        let (mut rules, mut cut) = (vec![(0, texts.next().unwrap_or(""), false)], None);
        for text in texts {
            let (from, rule) = text.split_once(": ").ok_or_else(|| refused("`:` is missing".into()))?;
            let (word, start) = from.split_once(" from ").ok_or_else(|| refused("`from` is missing".into()))?;
            let again = word.strip_prefix("again ");
            let word = again.unwrap_or(word);
            cut = Some((self.axis(word)?, word));
            rules.push((self.values.evaluate(start)?, rule, again.is_some()));
        }
        let Some((axis, word)) = cut else { return self.piece(text, &all, 0, ends) };
        let size = self.sizes.get(axis).copied().unwrap_or(0);
        let ends_of_parts: Vec<u64> = rules.iter().skip(1).map(|rule| rule.0).chain([size]).collect();
        let mut parts = Vec::new();
        for ((start, rule, again), end) in rules.into_iter().zip(ends_of_parts) {
            let before = parts.last().filter(|_| !again).map_or(0, |part: &Part| part.map.physical_elements());
            let length = end.saturating_sub(start);
            if let Some(size) = self.sizes.get_mut(axis) {
                *size = length;
            }
            self.values.set(word_of(self.row, word), length);
            let mut slices = all.clone();
            if let Some(slice) = slices.get_mut(axis) {
                *slice = (start..end).into();
            }
            if length > 0 {
                parts.extend(self.piece(rule, &slices, before, ends)?);
            }
        }
        Ok(parts)
    }

    /// Returns the parts of a layout from one rule, the text between two `then`. The elements of the rule
    /// begin `before` elements into the buffer.
    ///
    /// No index map has a digit that is turned, `[(k-n)%4]` or `[-k%2]`. The layout has a part for each value
    /// of its indices modulo its extent: in a part the digit is constant.
    fn piece(&self, text: &str, slices: &[Slice], before: u64, ends: bool) -> Result<Vec<Part>, Error> {
        let mut digits = self.digits(text)?;
        digits.base = checked::add(digits.base, before, OFFSET)?;
        digits.elements = checked::add(digits.elements, before, PHYSICAL)?;
        let Some(turned) = digits.list.iter().find(|digit| digit.turn != Turn::None).copied() else {
            let map = Self::map(self.data_type, &digits, &self.sizes, ends)?;
            return Ok(vec![Part { indices: slices.to_vec(), map, flip: 0 }]);
        };
        digits.is_record = true;
        digits.list.retain(|digit| digit.turn == Turn::None);
        let (axis, modulus) = (turned.axis, turned.extent);
        let (other, others) = match turned.turn {
            Turn::Minus(other) => (other, modulus),
            _ => (axis, 1),
        };
        let mut parts = Vec::new();
        for (n, k) in (0..others).flat_map(|n| (0..modulus).map(move |k| (n, k))) {
            let value = match turned.turn {
                Turn::Minus(_) => k.saturating_add(modulus).saturating_sub(n).checked_rem(modulus).unwrap_or(0),
                _ => modulus.saturating_sub(1).saturating_sub(k),
            };
            let (mut sizes, mut slices, mut part) = (self.sizes.clone(), slices.to_vec(), digits.clone());
            part.base = checked::add(part.base, checked::mul(value, turned.stride, OFFSET)?, OFFSET)?;
            for (axis, start) in if other == axis { vec![(axis, k)] } else { vec![(other, n), (axis, k)] } {
                if let (Some(size), Some(slice)) = (sizes.get_mut(axis), slices.get_mut(axis)) {
                    *size = size.saturating_sub(start).div_ceil(modulus);
                    *slice = Slice { start, end: None, step: modulus };
                }
                for digit in part.list.iter_mut().filter(|digit| digit.axis == axis) {
                    if digit.divisor.is_multiple_of(modulus) {
                        digit.divisor = digit.divisor.div_ceil(modulus);
                    } else {
                        part.base = checked::add(part.base, checked::mul(start, digit.stride, OFFSET)?, OFFSET)?;
                        digit.extent = digit.extent.div_ceil(modulus);
                        digit.stride = checked::mul(digit.stride, modulus, OFFSET)?;
                    }
                }
            }
            if !sizes.contains(&0) {
                let map = Self::map(self.data_type, &part, &sizes, ends)?;
                parts.push(Part { indices: slices, map, flip: 0 });
            }
        }
        Ok(parts)
    }

    /// Returns the index map of digits that all count forwards.
    fn map(data_type: DataType, digits: &Digits, sizes: &[u64], ends: bool) -> Result<IndexMap, Error> {
        let mut dimensions: Vec<Vec<&Digit>> = vec![Vec::new(); sizes.len()];
        for digit in &digits.list {
            if let Some(dimension) = dimensions.get_mut(digit.axis) {
                dimension.push(digit);
            }
        }
        let major_first = |dimension: &mut Vec<&Digit>| {
            sort_by_key(dimension, |digit| Reverse(digit.divisor));
            dimension.iter().map(|digit| (digit.extent, digit.stride)).collect()
        };
        let dimensions: Vec<Vec<(u64, u64)>> = dimensions.iter_mut().map(major_first).collect();
        let slices: Vec<Slice> = sizes.iter().map(|&size| (0..size).into()).collect();
        let map = IndexMap::from_digits(data_type, data_type.bits(), &dimensions)?.slice(&slices)?;
        let map = map.with_base(digits.base)?;
        let elements = if ends { map.span_elements() } else { digits.elements };
        let map = map.with_physical_elements(elements)?;
        Ok(if digits.is_record { map.with_gap_owner(GapOwner::Others) } else { map })
    }

    /// Reads digits, and the record after them if there is one.
    fn digits(&self, text: &str) -> Result<Digits, Error> {
        let (outer, record) = text.split_once('{').map_or((text, None), |(outer, record)| (outer, Some(record)));
        let mut digits = match record {
            Some(record) => self.record(record.strip_suffix('}').unwrap_or(record))?,
            None => Digits { list: Vec::new(), base: 0, elements: 1, is_record: false },
        };
        let mut list = Vec::new();
        for text in outer.split_inclusive(']') {
            let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            list.extend(self.digit(inside.ok_or_else(|| refused(format!("`{text}` is not a digit")))?)?);
        }
        for digit in list.iter_mut().rev() {
            digit.stride = digits.elements;
            digits.elements = checked::mul(digits.elements, digit.extent, PHYSICAL)?;
        }
        list.append(&mut digits.list);
        Ok(Digits { list, ..digits })
    }

    /// Reads the digits of a record: a list in brackets with a number of bytes before or after it (`8 +
    /// [..]`, `[..] + 128`), or a padded list (`[..] to 4`).
    fn record(&self, text: &str) -> Result<Digits, Error> {
        let start = text.find('[').unwrap_or(0);
        let end = text.rfind([']', '}']).map_or(text.len(), |end| end.saturating_add(1));
        let (before, inside, after) =
            (text.get(..start).unwrap_or(""), text.get(start..end).unwrap_or(""), text.get(end..).unwrap_or(""));
        let mut digits = self.digits(inside)?;
        if let Some(before) = before.trim_end().strip_suffix('+') {
            let before = self.values.evaluate(before)?;
            digits.base = checked::add(digits.base, before, OFFSET)?;
            digits.elements = checked::add(digits.elements, before, PHYSICAL)?;
            digits.is_record = true;
        }
        if let Some(after) = after.trim_start().strip_prefix('+') {
            digits.elements = checked::add(digits.elements, self.values.evaluate(after)?, PHYSICAL)?;
            digits.is_record = true;
        } else if let Some(multiple) = after.trim_start().strip_prefix("to ") {
            let multiple = self.values.evaluate(multiple)?.max(1);
            digits.elements = checked::round_up(digits.elements, multiple, PHYSICAL)?;
        }
        Ok(digits)
    }

    /// Reads a digit: `C`, `C/4`, `c%4`, `(c%32)/8`, `W to 8`, `..`, `(k-n)%4` or `-k%2`.
    fn digit(&self, text: &str) -> Result<Vec<Digit>, Error> {
        let whole = |axis: usize| {
            let extent = self.sizes.get(axis).copied().unwrap_or(1);
            Digit { axis, divisor: 1, extent, stride: 0, turn: Turn::None }
        };
        if text == ".." {
            return Ok((0..self.row.leading(self.sizes.len())).map(whole).collect());
        }
        let (is_reversed, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (inner, outer) = match text.strip_prefix('(').and_then(|text| text.rsplit_once(')')) {
            Some((inner, outer)) => (inner, outer),
            None => (text, ""),
        };
        let (word, rest) = inner.split_at(inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len()));
        let mut digit = whole(self.axis(word)?);
        if is_reversed {
            digit.turn = Turn::Reversed;
        }
        if let Some(minus) = rest.strip_prefix('-') {
            digit.turn = Turn::Minus(self.axis(minus)?);
        } else if let Some(multiple) = rest.strip_prefix(" to ") {
            digit.extent = checked::round_up(digit.extent, self.values.evaluate(multiple)?.max(1), ELEMENTS)?;
        }
        if let Some(extent) = outer.strip_prefix('%').or(rest.strip_prefix('%')) {
            digit.extent = self.values.evaluate(extent)?;
        }
        if let Some(divisor) = outer.strip_prefix('/').or(rest.strip_prefix('/')) {
            digit.divisor = self.values.evaluate(divisor)?.max(1);
            digit.extent = digit.extent.div_ceil(digit.divisor);
        }
        Ok(vec![digit])
    }

    /// Returns the axis with this name, in upper or lower case.
    pub(super) fn axis(&self, word: &str) -> Result<usize, Error> {
        let place = self.row.axes().position(|axis| axis.eq_ignore_ascii_case(word));
        let place = place.ok_or_else(|| refused(format!("`{word}` is not an axis of {}", self.row.name)))?;
        Ok(place.saturating_add(self.row.leading(self.sizes.len())))
    }
}

fn word_of<'r>(row: &'r Row, word: &str) -> &'r str {
    row.axes().find(|axis| axis.eq_ignore_ascii_case(word)).unwrap_or_default()
}
