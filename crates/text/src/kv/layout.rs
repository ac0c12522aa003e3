//! The layout of a cache: the digits of an offset, their strides, and the parts that belong to the cache.

use core::fmt;

use tensor_layout::Error;
use tensor_layout::checked::{self, BYTES, PHYSICAL};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;

use crate::numbers::joined;

pub(super) fn refused(reason: impl Into<String>) -> Error {
    Error::not_expressible("KV cache", reason.into())
}

/// One field of the text of a cache, such as `L=32`: the size of an axis, or the size of a page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) size: u64,
    /// The first and the end of the indices that belong to the cache. `None` for the whole axis.
    pub(super) part: Option<(u64, u64)>,
    /// The blocks that belong to the cache, in the order of the sequence.
    pub(super) table: Vec<u64>,
    /// The distance between neighbouring indices, in bytes. `None` if it follows from the axes further
    /// inside.
    pub(super) bytes: Option<u64>,
}

/// The names of fields, in the order in which they are written.
pub(super) const FIELDS: [&str; 10] = ["L", "B", "T", "H", "N", "C", "D", "2", "page", "kernel"];

impl Field {
    pub(super) fn new(name: &str, size: u64) -> Result<Field, Error> {
        let name = FIELDS.into_iter().find(|known| *known == name);
        let name = name.ok_or_else(|| refused("its sizes are L, B, T, H, N, C, D, 2, page and kernel"))?;
        Ok(Field { name, size, part: None, table: Vec::new(), bytes: None })
    }

    /// Reads a field, and returns its column as well.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<(usize, Field), Error> {
        let column = cursor.position();
        let field = Field::new(cursor.word(), 0);
        let sentence = "a size such as L=32: L, B, T, H, N, C, D, 2, page or kernel";
        let mut field = field.map_err(|_| cursor.error_at(column, sentence))?;
        cursor.expect("=", "`=` and a number")?;
        let of_whole = "`/` and the size of the whole axis";
        if field.name == "B" && cursor.eat("[") {
            let at = cursor.position();
            field.table = cursor.list("]", |cursor| cursor.number("the number of a block"))?;
            if field.table.is_empty() {
                return Err(cursor.error_at(at, "the number of a block"));
            }
            cursor.expect("/", of_whole)?;
            field.size = cursor.number("the number of all blocks")?;
        } else {
            field.size = cursor.number("a number")?;
            if cursor.eat(":") {
                field.part = Some((field.size, cursor.number("the end of the range")?));
                cursor.expect("/", of_whole)?;
                field.size = cursor.number("the size of the whole axis")?;
            }
        }
        if ["L", "B"].contains(&field.name) && cursor.eat("@") {
            field.bytes = Some(cursor.number("the distance in bytes")?);
        }
        Ok((column, field))
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.name)?;
        if let Some((start, end)) = self.part {
            write!(f, "{start}:{end}/")?;
        } else if !self.table.is_empty() {
            write!(f, "[{}]/", joined(&self.table))?;
        }
        write!(f, "{}", self.size)?;
        self.bytes.map_or(Ok(()), |bytes| write!(f, "@{bytes}"))
    }
}

/// The text of a cache, field by field. Everything else follows from these fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Written {
    pub(super) data_type: DataType,
    pub(super) name: String,
    pub(super) letters: String,
    /// Each layer begins at a multiple of this number of bytes.
    pub(super) layers: u64,
    pub(super) fields: Vec<Field>,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.fields.iter().map(Field::to_string).collect();
        write!(f, "kv:{}:{}[{}]", self.name, self.data_type, sizes.join(","))
    }
}

/// Returns the letters of an order, the slowest first. A lower-case letter stands for a block and has the
/// size of the block.
pub(super) fn items(order: &str) -> Vec<(char, Option<u64>)> {
    let (mut items, mut rest) = (Vec::new(), order);
    while let Some(axis) = rest.chars().next() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = rest.strip_suffix(after).and_then(|digits| digits.parse::<u64>().ok());
        let block = after.chars().next().filter(char::is_ascii_lowercase).zip(number);
        let width = if block.is_some() { rest.len().saturating_sub(after.len()) } else { 0 };
        rest = rest.get(width.saturating_add(1)..).unwrap_or("");
        items.push(block.map_or((axis, None), |(letter, size)| (letter, Some(size))));
    }
    items
}

fn is_outer(letter: char) -> bool {
    letter == 'L' || letter == 'B'
}

impl Written {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    pub(super) fn axis(&self, letter: char) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.chars().eq([letter]))
    }

    pub(super) fn size(&self, name: &str) -> Option<u64> {
        self.field(name).map(|field| field.size)
    }

    /// Returns the digits of an offset in memory order, the slowest first: the letter of the axis, and the
    /// number of values of the digit.
    pub(super) fn digits(&self) -> Result<Vec<(char, u64)>, Error> {
        let order = self.letters.as_str();
        let items = items(order);
        let mut axes = Vec::new();
        for &(letter, block) in &items {
            match block {
                Some(_) if axes.contains(&letter.to_ascii_uppercase()) => {}
                None if "LBHN2CD".contains(letter) && !axes.contains(&letter) => axes.push(letter),
                _ => {
                    return Err(refused(format!("`{order}` is no order: each of L, B, H, N, C or 2, D is there once")));
                }
            }
        }
        let (tokens, kernel) = (self.size("T"), self.size("kernel"));
        if axes.contains(&'C') == axes.contains(&'D') || axes.contains(&'2') && axes.contains(&'C') {
            return Err(refused(format!("`{order}` needs C, the content, or D, the size of a head, perhaps with 2")));
        }
        let place = |axis: char| axes.iter().position(|&other| other == axis);
        if tokens.or(kernel).is_some() && (place('B').is_none() || place('N').is_none()) {
            return Err(refused(format!("`{order}` needs B and N for tokens and for a kernel's blocks")));
        }
        if kernel.is_some()
            && (place('L') > place('B')
                || place('H').is_some_and(|heads| Some(heads) < place('B'))
                || self.field("page").is_some())
        {
            return Err(refused(format!(
                "vLLM refuses kernel blocks unless a block of a layer is one dense page, as in LBNHC and LBHNC, and not in {order}{}",
                if self.field("page").is_some() { " with padded pages" } else { "" }
            )));
        }
        let missing = |axis: char| refused(format!("the size {axis}= is missing, which {order} has"));
        let parts = |axis: char, size: u64, of: u64| {
            let parts = size.checked_div(of).filter(|_| size.checked_rem(of) == Some(0));
            parts.ok_or_else(|| refused(format!("{axis} is {size}, which is no multiple of its blocks of {of}")))
        };
        let mut digits = Vec::new();
        for &(axis, block) in &items {
            if let Some(size) = block {
                digits.push((axis.to_ascii_uppercase(), size));
                continue;
            }
            let given = self.axis(axis).map(|field| field.size);
            let per_block = self.size("N").unwrap_or(0);
            let size = match (axis, given, tokens) {
                ('2', None, _) => 2,
                ('B', None, Some(tokens)) if per_block > 0 => tokens.div_ceil(per_block),
                (_, given, _) => given.ok_or_else(|| missing(axis))?,
            };
            let own = items.iter().filter(|item| item.0.to_ascii_uppercase() == axis).filter_map(|item| item.1);
            let inner = own.fold(1, u64::saturating_mul);
            match (axis, kernel) {
                ('B', Some(kernel)) => digits.extend([(axis, size), ('N', parts('N', per_block, kernel)?)]),
                ('N', Some(kernel)) => digits.push((axis, parts('N', kernel, inner)?)),
                _ => digits.push((axis, parts(axis, size, inner)?)),
            }
        }
        Ok(digits)
    }

    /// Returns the number of the innermost of L and B. A page is what is further inside. `None` for an order
    /// without L and B, and for one that has other axes around it.
    fn page_digit(&self, digits: &[(char, u64)]) -> Option<usize> {
        let innermost = digits.iter().rposition(|digit| is_outer(digit.0))?;
        let is_outside = |digit: &(char, u64)| !is_outer(digit.0) && digit.1 > 1;
        (!digits.iter().take(innermost).any(is_outside)).then_some(innermost)
    }

    /// Returns the distance of pages and the bytes that each of them stores.
    pub(super) fn page_bytes(&self) -> Option<(u64, u64)> {
        let digits = self.digits().ok()?;
        let (strides, _) = self.strides(&digits).ok()?;
        let page = self.page_digit(&digits)?;
        let inside = digits.iter().skip(page.saturating_add(1)).map(|digit| digit.1);
        let bytes = |elements| checked::bytes_for(elements, self.data_type.bits()).ok();
        Some((bytes(*strides.get(page)?)?, bytes(inside.fold(1, u64::saturating_mul))?))
    }

    pub(super) fn strides(&self, digits: &[(char, u64)]) -> Result<(Vec<u64>, u64), Error> {
        let bits = u64::from(self.data_type.bits());
        let elements = |bytes: u64, of: &str| {
            let whole = checked::mul(bytes, 8, BYTES)?;
            let elements = whole.checked_div(bits).filter(|_| whole.checked_rem(bits) == Some(0));
            elements
                .ok_or_else(|| refused(format!("{bytes} bytes of {of} are no whole elements of {}", self.data_type)))
        };
        let page = self.size("page").map(|bytes| elements(bytes, "a page")).transpose()?;
        let innermost = digits.iter().rposition(|digit| is_outer(digit.0));
        let between = digits.iter().take(innermost.unwrap_or(0)).find(|digit| !is_outer(digit.0) && digit.1 > 1);
        if let Some((axis, _)) = between.filter(|_| page.is_some()) {
            let order = self.letters.as_str();
            return Err(refused(format!("vLLM refuses padded pages where {axis} is outside a page, as in {order}")));
        }
        let (mut strides, mut next, mut end) = (vec![0; digits.len()], 1, 1);
        for (place, (&(axis, size), stride)) in digits.iter().zip(&mut strides).enumerate().rev() {
            let given = self.axis(axis).and_then(|field| field.bytes);
            *stride = match (given, page) {
                (Some(bytes), _) => elements(bytes, "a distance")?,
                (None, Some(page)) if Some(place) == innermost => page,
                (None, _) if axis == 'L' && self.layers > 1 => {
                    checked::round_up(next, elements(self.layers, "a multiple of a layer")?, PHYSICAL)?
                }
                _ => next,
            };
            if *stride < end {
                return Err(refused(format!(
                    "{axis} is {stride} elements apart, and {end} elements are stored in each"
                )));
            }
            end = if page == Some(*stride) && Some(place) == innermost { *stride } else { end };
            // An axis of size 0 counts as one index, so that the strides further outside do not become 0.
            next = checked::mul(*stride, size.max(1), PHYSICAL)?;
            end = checked::add(checked::mul(*stride, size.saturating_sub(1), PHYSICAL)?, end, PHYSICAL)?;
        }
        Ok((strides, end))
    }
}
