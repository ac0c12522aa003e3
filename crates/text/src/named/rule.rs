//! Evaluates the rule of a row, `[N/32]{[K/4][n%32][k%4] + 128}`, for a type and sizes.

use core::cmp::Reverse;

use tensor_layout::Error;
use tensor_layout::checked::{self, ELEMENTS, OFFSET, PHYSICAL};
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, Mode};
use tensor_layout::strided::Slice;

use super::{Row, Values, refused};

/// Some indices of a tensor, with the offsets of their elements.
///
/// Nearly every layout has one part that holds all indices. A layout has several parts if its last block is
/// narrower instead of padded, or if its rows are rotated, because no single index map can express such a
/// layout.
///
/// ```
/// use tensor_layout_text::named::NamedLayout;
///
/// let layout: NamedLayout = "sglang.packed_vnni2:bf16[48,32]".parse()?;
/// let [blocks, rest] = layout.parts.as_slice() else { panic!("32 rows, and 16 in a narrower block") };
/// assert_eq!((rest.slices[0].start, rest.map.sizes(), rest.map.base()), (32, &[16, 32][..], 1024));
/// assert_eq!(blocks.map.sizes(), [32, 32]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayoutPart {
    /// The indices of the part: one slice for each axis, as [`IndexMap::slice`] takes them.
    pub slices: Vec<Slice>,
    /// The offsets of the part's elements in the buffer of the whole layout.
    pub map: IndexMap,
}

impl LayoutPart {
    /// Returns the one part of a layout that an index map describes.
    #[must_use]
    pub fn whole(map: IndexMap) -> LayoutPart {
        LayoutPart { slices: vec![Slice::ALL; map.sizes().len()], map }
    }
}

/// A rule of the table, which is evaluated for a type and sizes.
pub(super) struct Rule<'r> {
    pub(super) row: &'r Row,
    pub(super) values: Values<'r>,
    pub(super) data_type: DataType,
    pub(super) sizes: Vec<u64>,
}

/// A digit with the value `(index / divisor) % extent`. Each step of the digit adds the stride to the offset.
#[derive(Debug, Clone)]
struct Digit {
    axis: usize,
    divisor: u64,
    extent: u64,
    stride: u64,
    /// The axis whose index is subtracted, for a digit such as `[(k-n)%4]`.
    minus: Option<usize>,
    /// Whether the digit counts down, as in `[-k%2]`.
    is_reversed: bool,
}

/// The digits of a rule, in memory order, and the number of elements that they span.
struct Digits {
    list: Vec<Digit>,
    base: u64,
    elements: u64,
    /// Whether the digits belong to a record, which also holds data that are not elements of the tensor.
    is_record: bool,
}

impl Rule<'_> {
    /// Evaluates the rule and returns its parts.
    pub(super) fn parts(mut self) -> Result<Vec<LayoutPart>, Error> {
        let (text, ends) = match self.row.memory.strip_suffix(" ends") {
            Some(text) => (text, true),
            None => (self.row.memory, false),
        };
        let all = vec![Slice::ALL; self.sizes.len()];
        // Rules of several parts: `A then N from 32: B` has B behind A.
        let mut texts = text.split(" then ");
        let (mut rules, mut cut) = (vec![(0, texts.next().unwrap_or(""))], None);
        for text in texts {
            let (from, rule) = text.split_once(": ").ok_or_else(|| refused("`:` is missing".into()))?;
            let (word, start) = from.split_once(" from ").ok_or_else(|| refused("`from` is missing".into()))?;
            cut = Some((self.axis(word)?, word));
            rules.push((self.values.evaluate(start)?, rule));
        }
        let Some((axis, word)) = cut else { return self.piece(text, &all, 0, ends) };
        let size = self.sizes.get(axis).copied().unwrap_or(0);
        let ends_of_parts: Vec<u64> = rules.iter().skip(1).map(|(start, _)| *start).chain([size]).collect();
        let mut parts = Vec::new();
        for ((start, rule), end) in rules.into_iter().zip(ends_of_parts) {
            let before = parts.last().map_or(0, |part: &LayoutPart| part.map.physical_elements());
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
    /// begin
    /// `before` elements into the buffer.
    fn piece(&self, text: &str, slices: &[Slice], before: u64, ends: bool) -> Result<Vec<LayoutPart>, Error> {
        let mut digits = self.digits(text)?;
        digits.base = checked::add(digits.base, before, OFFSET)?;
        digits.elements = checked::add(digits.elements, before, PHYSICAL)?;
        if let Some(reversed) = digits.list.iter().find(|digit| digit.is_reversed) {
            return self.reversed(&digits, reversed, slices, ends);
        }
        let rotation = digits.list.iter().find_map(|digit| Some((digit.clone(), digit.minus?)));
        let Some((turned, minus)) = rotation else {
            let map = self.map(&digits, &self.sizes, ends)?;
            return Ok(vec![LayoutPart { slices: slices.to_vec(), map }]);
        };
        // There is one part for each pair of remainders of the two axes. Within a part, the rotated digit is
        // constant.
        let mut parts = Vec::new();
        let modulus = turned.extent;
        for (n, k) in (0..modulus).flat_map(|n| (0..modulus).map(move |k| (n, k))) {
            let (mut sizes, mut slices, mut part) = (self.sizes.clone(), slices.to_vec(), Vec::new());
            for (axis, start) in [(minus, n), (turned.axis, k)] {
                if let (Some(size), Some(slice)) = (sizes.get_mut(axis), slices.get_mut(axis)) {
                    *size = size.saturating_sub(start).div_ceil(modulus);
                    *slice = Slice { start, end: None, step: modulus };
                }
            }
            if sizes.contains(&0) {
                continue;
            }
            let moved = k.saturating_add(modulus).saturating_sub(n).checked_rem(modulus).unwrap_or(0);
            let mut base = checked::add(digits.base, checked::mul(moved, turned.stride, OFFSET)?, OFFSET)?;
            for digit in digits.list.iter().filter(|digit| digit.minus.is_none()) {
                let mut digit = digit.clone();
                if digit.axis == minus && digit.divisor == 1 {
                    base = checked::add(base, checked::mul(n, digit.stride, OFFSET)?, OFFSET)?;
                    digit.extent = digit.extent.div_ceil(modulus);
                    digit.stride = checked::mul(digit.stride, modulus, OFFSET)?;
                }
                part.push(digit);
            }
            let part = Digits { list: part, base, elements: digits.elements, is_record: true };
            parts.push(LayoutPart { slices, map: self.map(&part, &sizes, ends)? });
        }
        Ok(parts)
    }

    /// Returns one part for each value of the digit that counts down, because strides are not negative. It
    /// is the last digit of its axis.
    fn reversed(&self, digits: &Digits, last: &Digit, slices: &[Slice], ends: bool) -> Result<Vec<LayoutPart>, Error> {
        let mut parts = Vec::new();
        for value in 0..last.extent {
            let (mut sizes, mut slices) = (self.sizes.clone(), slices.to_vec());
            if let (Some(size), Some(slice)) = (sizes.get_mut(last.axis), slices.get_mut(last.axis)) {
                *size = size.saturating_sub(value).div_ceil(last.extent);
                *slice = Slice { start: value, end: None, step: last.extent };
            }
            if sizes.contains(&0) {
                continue;
            }
            let down = last.extent.saturating_sub(1).saturating_sub(value);
            let base = checked::add(digits.base, checked::mul(down, last.stride, OFFSET)?, OFFSET)?;
            let higher = |digit: &Digit| match digit.axis == last.axis {
                true => Digit { divisor: digit.divisor.div_ceil(last.extent), ..digit.clone() },
                false => digit.clone(),
            };
            let list = digits.list.iter().filter(|digit| !digit.is_reversed).map(higher).collect();
            let part = Digits { list, base, elements: digits.elements, is_record: true };
            parts.push(LayoutPart { slices, map: self.map(&part, &sizes, ends)? });
        }
        Ok(parts)
    }

    /// Returns the index map of digits without a rotation.
    fn map(&self, digits: &Digits, sizes: &[u64], ends: bool) -> Result<IndexMap, Error> {
        let mut dimensions: Vec<Vec<&Digit>> = vec![Vec::new(); sizes.len()];
        for digit in &digits.list {
            if let Some(dimension) = dimensions.get_mut(digit.axis) {
                dimension.push(digit);
            }
        }
        let major_first = |dimension: &mut Vec<&Digit>| {
            dimension.sort_by_key(|digit| Reverse(digit.divisor));
            dimension.iter().map(|digit| Mode::new(digit.extent, digit.stride)).collect()
        };
        let dimensions: Vec<Vec<Mode>> = dimensions.iter_mut().map(major_first).collect();
        let slices: Vec<Slice> = sizes.iter().map(|&size| (0..size).into()).collect();
        let map = IndexMap::from_digits(self.data_type, self.data_type.bits(), &dimensions)?.slice(&slices)?;
        let map = map.with_base(digits.base)?;
        let elements = if ends { map.span_elements() } else { digits.elements };
        map.in_buffer_of(elements, digits.is_record)
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
        if let Some(text) = text.strip_prefix('-') {
            let digits = self.digit(text)?.into_iter();
            return Ok(digits.map(|digit| Digit { is_reversed: true, ..digit }).collect());
        }
        if text == ".." {
            let whole =
                |(axis, &extent)| Digit { axis, divisor: 1, extent, stride: 0, minus: None, is_reversed: false };
            return Ok(self.sizes.iter().take(self.row.leading(self.sizes.len())).enumerate().map(whole).collect());
        }
        let (inner, outer) = match text.strip_prefix('(').and_then(|text| text.rsplit_once(')')) {
            Some((inner, outer)) => (inner, outer),
            None => (text, ""),
        };
        let (word, rest) = inner.split_at(inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len()));
        let axis = self.axis(word)?;
        let mut digit = Digit {
            axis,
            divisor: 1,
            extent: self.sizes.get(axis).copied().unwrap_or(1),
            stride: 0,
            minus: None,
            is_reversed: false,
        };
        if let Some(minus) = rest.strip_prefix('-') {
            digit.minus = Some(self.axis(minus)?);
        } else if let Some(extent) = rest.strip_prefix('%') {
            digit.extent = self.values.evaluate(extent)?;
        } else if let Some(multiple) = rest.strip_prefix(" to ") {
            digit.extent = checked::round_up(digit.extent, self.values.evaluate(multiple)?.max(1), ELEMENTS)?;
        }
        if let Some(extent) = outer.strip_prefix('%') {
            digit.extent = self.values.evaluate(extent)?;
        } else if let Some(divisor) = outer.strip_prefix('/').or(rest.strip_prefix('/')) {
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

/// Returns the name of an axis in the spelling of the row.
fn word_of<'r>(row: &'r Row, word: &str) -> &'r str {
    row.axes().find(|axis| axis.eq_ignore_ascii_case(word)).unwrap_or_default()
}
