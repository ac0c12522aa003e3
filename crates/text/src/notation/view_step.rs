//! `ViewStep`: views of a layout, and lists of numbers, read from text that a person typed.

use crate::spell::spell_view;
use tensor_layout::checked::Exact;
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::counted;
use tensor_layout::strided::{BlockTensorDesc, Slices};
use tensor_layout::{AnyLayout, Error, ToIndexMap};

/// One step from a layout to a view of the layout, for tools that read views as text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewStep {
    /// The view has other sizes for the same elements in the same order.
    Reshape(Vec<u64>),
    /// Axis `i` of the view is axis `axes[i]` of the layout, where `axes` is this list.
    Permute(Vec<usize>),
    /// The view has a part of every axis.
    Slice(Slices),
    /// The view repeats axes of size 1, and new axes in front, up to these sizes.
    Broadcast(Vec<u64>),
}

impl ViewStep {
    /// Reads `reshape 6,4`, `permute 1,0`, `slice 0:2,:,1:9:2` or `broadcast 8,3,4`. Lists may be in
    /// brackets.
    ///
    /// # Errors
    ///
    /// `parse` with the column of the first part that cannot be read.
    ///
    /// ```
    /// use tensor_layout_text::ViewStep;
    ///
    /// assert_eq!(ViewStep::read("permute", "1,0")?, ViewStep::Permute(vec![1, 0]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn read(name: &str, argument: &str) -> Result<ViewStep, Error> {
        Ok(match name {
            "reshape" => ViewStep::Reshape(read_list(argument, "a size")?),
            "permute" => {
                let axes = read_list(argument, "an axis")?;
                ViewStep::Permute(axes.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect())
            }
            "slice" => ViewStep::Slice(argument.parse()?),
            "broadcast" => ViewStep::Broadcast(read_list(argument, "a size")?),
            _ => {
                return Err(Error::parse(
                    name.to_owned(),
                    1,
                    "a view: reshape, permute, slice or broadcast",
                    format!("`{name}`"),
                ));
            }
        })
    }

    /// Reads a step like [`read`](Self::read), for a layout of these sizes. `reshape 2,-1` infers the size
    /// that is written as -1. A negative axis, or a negative start or end of a slice, counts from the end, as
    /// in NumPy.
    ///
    /// # Errors
    ///
    /// `parse` with the column of the first part that cannot be read, or of a slice that leaves its
    /// axis.
    ///
    /// ```
    /// use tensor_layout_text::ViewStep;
    ///
    /// assert_eq!(ViewStep::read_on("reshape", "4,-1", &[2, 6])?, ViewStep::Reshape(vec![4, 3]));
    /// assert_eq!(ViewStep::read_on("slice", "-2:", &[6])?, ViewStep::read("slice", "4:")?);
    /// let error = ViewStep::read_on("slice", "0:20", &[10]).unwrap_err();
    /// assert_eq!(error.to_string(), "column 1 of `0:20`: expected a slice of axis 0, whose size is 10, found `0:20`");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn read_on(name: &str, argument: &str, sizes: &[u64]) -> Result<ViewStep, Error> {
        let refuse = |column: usize, expected: String, found: &str| {
            Error::parse(argument.to_owned(), column.plus(1), expected, format!("`{}`", found.trim()))
        };
        let (mut text, mut inferred, mut axis, mut colons) = (String::new(), None, 0_usize, 0_usize);
        let mut column = 0_usize;
        for token in argument.split_inclusive([',', ':', '[', ']', '(', ')']) {
            let number = token.trim_end_matches([',', ':', '[', ']', '(', ')']);
            let from_end = number.trim().strip_prefix('-').and_then(|digits| digits.parse::<u64>().ok());
            let size = match name {
                "permute" => u64::try_from(sizes.len()).ok(),
                "slice" if colons < 2 => sizes.get(axis).copied(),
                _ => None,
            };
            match (from_end, size) {
                (Some(1), _) if name == "reshape" && inferred.is_none() => inferred = Some(text.len()),
                (Some(_), _) if name == "reshape" => {
                    return Err(refuse(column, "a size, or -1 for one of them".into(), number));
                }
                (Some(_), None) if name == "slice" && colons == 2 => {
                    return Err(refuse(column, "a step of 1 or more: a view does not run backwards".into(), number));
                }
                (Some(back), Some(size)) => {
                    let place = size.checked_sub(back).filter(|_| back > 0);
                    let place = place.ok_or_else(|| refuse(column, format!("a number down to -{size}"), number))?;
                    text.push_str(&place.to_string());
                }
                _ => text.push_str(number),
            }
            text.push_str(token.get(number.len()..).unwrap_or(""));
            match token.bytes().last() {
                Some(b',') => (axis, colons) = (axis.plus(1), 0),
                Some(b':') => colons = colons.plus(1),
                _ => {}
            }
            column = column.plus(token.len());
        }
        if let Some(at) = inferred {
            text.insert(at, '1');
            let product = |sizes: &[u64]| sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
            let (all, others) = (product(sizes), product(&read_list(&text, "a size")?));
            let missing = all.zip(others).filter(|(all, others)| all.checked_rem(*others) == Some(0));
            let missing = missing.and_then(|(all, others)| all.checked_div(others)).ok_or_else(|| {
                refuse(
                    0,
                    format!("sizes whose product divides {}", counted(all.unwrap_or(u64::MAX), "element")),
                    argument,
                )
            })?;
            text.replace_range(at..at.plus(1), &missing.to_string());
        }
        let step = ViewStep::read(name, &text)?;
        if let ViewStep::Slice(slices) = &step {
            for (axis, (slice, &size)) in slices.iter().zip(sizes).enumerate() {
                if slice.step > 0 && (slice.start > size || slice.end.is_some_and(|end| end > size)) {
                    let before: usize = argument.split(',').take(axis).map(|part| part.len().plus(1)).sum();
                    let part = argument.split(',').nth(axis).unwrap_or("").trim_matches(['[', ']', ' ']);
                    return Err(refuse(before, format!("a slice of axis {axis}, whose size is {size}"), part));
                }
            }
        }
        Ok(step)
    }
}

impl ViewStep {
    /// Returns the layout of the view that this step makes of `layout`. The result is of the same kind as
    /// the layout if that kind can express the view. Otherwise the result is an index map.
    ///
    /// # Errors
    ///
    /// The errors of the view: [`IndexMap::reshape`](tensor_layout::IndexMap::reshape),
    /// [`permute`](tensor_layout::IndexMap::permute), [`slice`](tensor_layout::IndexMap::slice) and
    /// [`broadcast_to`](tensor_layout::IndexMap::broadcast_to).
    ///
    /// ```
    /// use tensor_layout_text::{text, ViewStep};
    ///
    /// let tiled = "f32[16,256]{1,0:T(8,128)}".parse()?;
    /// let turned = ViewStep::read("permute", "1,0")?.apply(&tiled)?;
    /// assert_eq!(text(turned)?, "f32[256,16]{0,1:T(8,128)}");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn apply(&self, layout: &AnyLayout) -> Result<AnyLayout, Error> {
        if let AnyLayout::Strided(desc) = layout {
            return Ok(AnyLayout::Strided(match self {
                ViewStep::Reshape(sizes) => desc.reshape(sizes),
                ViewStep::Permute(axes) => desc.permute(axes),
                ViewStep::Slice(slices) => desc.slice(slices),
                ViewStep::Broadcast(sizes) => desc.broadcast_to(sizes),
            }?));
        }
        let map = layout.to_index_map()?;
        let view = match self {
            ViewStep::Reshape(sizes) => map.reshape(sizes),
            ViewStep::Permute(axes) => map.permute(axes),
            ViewStep::Slice(slices) => map.slice(slices),
            ViewStep::Broadcast(sizes) => map.broadcast_to(sizes),
        }?;
        Ok(match (layout, self) {
            (AnyLayout::Tiled(shape), ViewStep::Permute(axes)) => AnyLayout::Tiled(shape.permute(axes)?),
            (AnyLayout::Tiled(shape), _) => spell_view(&view, shape).map_or(AnyLayout::Mapped(view), AnyLayout::Tiled),
            _ => AnyLayout::Mapped(view),
        })
    }
}

impl ViewStep {
    /// Returns the view that this step makes of a tensor of blocks, which keeps whole blocks.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a broadcast, and the errors of the view: [`BlockTensorDesc::reshape`],
    /// [`permute`](BlockTensorDesc::permute) and [`slice`](BlockTensorDesc::slice).
    ///
    /// ```
    /// use tensor_layout_text::ViewStep;
    ///
    /// let experts = "q4_0[8,64,256]".parse()?;
    /// let two = ViewStep::read("slice", "2:4,:,:")?.apply_to_blocks(&experts)?;
    /// assert_eq!(two.to_string(), "q4_0[2,64,256]:[9216,144,18]+18432");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn apply_to_blocks(&self, blocks: &BlockTensorDesc) -> Result<BlockTensorDesc, Error> {
        match self {
            ViewStep::Reshape(sizes) => blocks.reshape(sizes),
            ViewStep::Permute(axes) => blocks.permute(axes),
            ViewStep::Slice(slices) => blocks.slice(slices),
            ViewStep::Broadcast(_) => Err(Error::not_expressible("broadcast", "it is a tensor of blocks")),
        }
    }
}

/// Reads a list of natural numbers, in brackets or without: `[2,3]`, `(2,3)`, `2,3`, `[]`. `what` names one
/// number of the list in errors: "a size".
///
/// # Errors
///
/// `parse` with the column if the text is not a list of numbers, or a number exceeds 64 bits.
///
/// ```
/// use tensor_layout_text::read_list;
///
/// assert_eq!(read_list("[2, 3]", "a size")?, [2, 3]);
/// assert_eq!(read_list("2,x", "a size").unwrap_err().to_string(), "column 3 of `2,x`: expected a size, found `x`");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn read_list(text: &str, what: &str) -> Result<Vec<u64>, Error> {
    let refuse = |at: usize, expected: String| {
        let found = text.get(at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "the end of the text".into(), |c| format!("`{c}`"));
        Err(Error::parse(text.to_owned(), at.plus(1), expected, found))
    };
    let end = text.trim_end().len();
    let mut at = text.len().minus(text.trim_start().len());
    let closing = match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some('[') => Some(']'),
        Some('(') => Some(')'),
        _ => None,
    };
    let bracketed = closing.is_some();
    let mut end = end;
    if let Some(closing) = closing {
        at = at.plus(1);
        match text.get(..end).and_then(|text| text.strip_suffix(closing)) {
            Some(inner) => end = inner.len(),
            None => return refuse(end, format!("`{closing}`")),
        }
    }
    let mut numbers = Vec::new();
    let inner = text.get(at..end).unwrap_or("");
    if inner.trim().is_empty() {
        return if bracketed { Ok(numbers) } else { refuse(at, format!("{what}, or `[]` for none")) };
    }
    for part in inner.split(',') {
        let number = part.trim();
        let blank = part.len().minus(part.trim_start().len());
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits < number.len() {
            return refuse(at.plus(blank).plus(digits), what.to_owned());
        }
        match number.parse() {
            Ok(number) => numbers.push(number),
            Err(_) => return refuse(at.plus(blank), format!("{what} below 2^64")),
        }
        at = at.plus(part.len()).plus(1);
    }
    Ok(numbers)
}

/// Reads a whole number with or without a sign.
pub(super) fn signed(cursor: &mut Cursor<'_>) -> Result<i128, Error> {
    let negative = cursor.eat("-");
    let number = i128::from(cursor.number("a whole number")?);
    Ok(if negative { 0_i128.minus(number) } else { number })
}
