//! `ViewStep`: views of a layout, read from text that a person typed.

use core::cell::Cell;
use core::fmt;

use tensor_layout::checked::{self, Proven};
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::counted;
use tensor_layout::strided::{BlockTensorDesc, Slices};
use tensor_layout::{AnyLayout, Error, ToIndexMap};

use crate::spell::view_to_xla;

use crate::numbers::{joined, read_list, whole_list};

/// One step from a layout to a view of the layout, for tools that read views as text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// These axes of the view run backwards.
    Reverse(Vec<usize>),
}

/// Writes the step as an option of the command `view`, as [`ViewStep::read_all_on`] reads it: `--slice 0:2`,
/// or `--slice ::-1,...` for an axis that runs backwards.
impl fmt::Display for ViewStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = |numbers: &[u64]| if numbers.is_empty() { "[]".to_owned() } else { joined(numbers) };
        match self {
            ViewStep::Reshape(sizes) => write!(f, "--reshape {}", numbers(sizes)),
            ViewStep::Permute(axes) => {
                write!(f, "--permute {}", numbers(&axes.iter().map(|&axis| checked::len_u64(axis)).collect::<Vec<_>>()))
            }
            ViewStep::Slice(slices) => {
                let slices: Vec<String> = slices.iter().map(ToString::to_string).collect();
                write!(f, "--slice {}", slices.join(","))
            }
            ViewStep::Broadcast(sizes) => write!(f, "--broadcast {}", numbers(sizes)),
            ViewStep::Reverse(axes) => {
                let rank = axes.iter().max().map_or(0, |&axis| axis.saturating_add(1));
                let slice = |axis| if axes.contains(&axis) { "::-1" } else { ":" };
                let slices: Vec<&str> = (0..rank).map(slice).chain(["..."]).collect();
                write!(f, "--slice {}", slices.join(","))
            }
        }
    }
}

impl ViewStep {
    /// Reads `reshape 6,4`, `permute 1,0`, `slice 0:2,:,1:9:2` or `broadcast 8,3,4`. Lists may be in
    /// brackets.
    ///
    /// # Errors
    ///
    /// `parse` with the column of the first part that cannot be read.
    pub fn read(name: &str, argument: &str) -> Result<ViewStep, Error> {
        Ok(match name {
            "reshape" => ViewStep::Reshape(read_list(argument, "a size")?),
            "permute" => ViewStep::Permute(read_list(argument, "an axis")?.into_iter().map(place).collect()),
            "slice" => ViewStep::Slice(argument.parse()?),
            "broadcast" => ViewStep::Broadcast(read_list(argument, "a size")?),
            _ => {
                let expected = "a view: reshape, permute, slice or broadcast";
                return Err(Error::parse(name.to_owned(), 1, expected, format!("`{name}`")));
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
        match name {
            "reshape" => Ok(ViewStep::Reshape(reshaped(argument, sizes)?)),
            "permute" => {
                let rank = checked::len_u64(sizes.len());
                let axes = whole_list(argument, "an axis", |cursor| {
                    maybe_negative(cursor, "an axis", |at, back| from_end(argument, at, back, rank))
                })?;
                Ok(ViewStep::Permute(axes.into_iter().map(place).collect()))
            }
            "slice" => sliced(argument, sizes),
            _ => ViewStep::read(name, argument),
        }
    }
}

impl ViewStep {
    /// Reads the steps of an option like [`read_on`](Self::read_on). A negative step of a slice makes two
    /// steps, the part and the axes that run backwards: `5:1:-2` is `3:6:2`, reversed. `...` are as many
    /// whole axes as the other parts leave, as in NumPy.
    ///
    /// # Errors
    ///
    /// The errors of [`read_on`](Self::read_on).
    ///
    /// ```
    /// use tensor_layout_text::ViewStep;
    ///
    /// let steps = ViewStep::read_all_on("slice", "5:1:-2", &[8])?;
    /// assert_eq!(steps, [ViewStep::read("slice", "3:6:2")?, ViewStep::Reverse(vec![0])]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn read_all_on(name: &str, argument: &str, sizes: &[u64]) -> Result<Vec<ViewStep>, Error> {
        let (text, reversed) = if name == "slice" { forwards(argument, sizes) } else { (argument.into(), Vec::new()) };
        let step = ViewStep::read_on(name, &text, sizes)?;
        let turn = (!reversed.is_empty()).then_some(ViewStep::Reverse(reversed));
        Ok(core::iter::once(step).chain(turn).collect())
    }
}

/// Turns the negative steps of a slice around: `5:1:-2` becomes `3:6:2`. Returns the slice and the axes that
/// run backwards.
fn forwards(slice: &str, sizes: &[u64]) -> (String, Vec<usize>) {
    let mut reversed = Vec::new();
    let part = |(axis, part): (usize, &str)| {
        let fields: Vec<&str> = part.split(':').map(str::trim).collect();
        let (Some(&size), [start, stop, step]) = (sizes.get(axis), fields.as_slice()) else { return part.to_owned() };
        let Some(step) = step.parse::<i64>().ok().filter(|&step| step < 0) else { return part.to_owned() };
        let (size, step) = (i128::from(size), -i128::from(step));
        let place = |text: &str, otherwise: i128| match text.parse::<i64>() {
            Ok(place) if place < 0 => Some((size + i128::from(place)).max(-1)),
            Ok(place) => Some(i128::from(place).min(size - 1)),
            Err(_) => Some(otherwise).filter(|_| text.is_empty()),
        };
        let (Some(start), Some(stop)) = (place(start, size - 1), place(stop, -1)) else { return part.to_owned() };
        if start <= stop {
            return "0:0".into();
        }
        let steps = (start - stop - 1) / step;
        if steps > 0 {
            reversed.push(axis);
        }
        format!("{}:{}:{step}", start - steps * step, start + 1)
    };
    let written = slice.trim();
    let written = written.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(written);
    // NumPy's `...` is as many whole axes as the other parts leave.
    let others = written.split(',').count().saturating_sub(1);
    let left = sizes.len().checked_sub(others).filter(|_| written.matches("...").count() == 1);
    let filled = |part| if part == "..." { vec![":"; left.unwrap_or(0)] } else { vec![part] };
    let whole = match left {
        Some(_) => written.split(',').map(str::trim).flat_map(filled).collect::<Vec<_>>().join(","),
        None => written.to_owned(),
    };
    let text = whole.split(',').enumerate().map(part).collect::<Vec<_>>().join(",");
    (if text == written { slice.to_owned() } else { text }, reversed)
}

/// Converts a number to an axis. A number that does not fit becomes the largest one, which is no axis of any
/// layout.
fn place(axis: u64) -> usize {
    usize::try_from(axis).unwrap_or(usize::MAX)
}

/// Returns an error at a number or a slice of the argument of a view.
fn wrong(argument: &str, at: usize, found: &str, expected: &str) -> Error {
    Error::parse(argument.to_owned(), at.plus(1), expected.to_owned(), format!("`{}`", found.trim()))
}

/// Reads a natural number, or a negative one by `negative`, which gets the column and the digits after `-`.
fn maybe_negative(
    cursor: &mut Cursor<'_>,
    what: &str,
    negative: impl Fn(usize, &str) -> Result<u64, Error>,
) -> Result<u64, Error> {
    let at = cursor.position();
    if cursor.eat("-") { negative(at, cursor.word()) } else { cursor.number(what) }
}

/// Returns the index that is `back` indices before the end of an axis.
fn from_end(argument: &str, at: usize, back: &str, size: u64) -> Result<u64, Error> {
    let index = back.parse().ok().filter(|&back| back > 0).and_then(|back| size.checked_sub(back));
    index.ok_or_else(|| wrong(argument, at, &format!("-{back}"), &format!("a number down to -{size}")))
}

/// Reads sizes. One of them may be -1, and is then inferred from the number of elements.
fn reshaped(argument: &str, sizes: &[u64]) -> Result<Vec<u64>, Error> {
    let has_inferred = Cell::new(false);
    let numbers = whole_list(argument, "a size", |cursor| {
        maybe_negative(cursor, "a size", |at, digits| match digits {
            "1" if !has_inferred.replace(true) => Ok(u64::MAX),
            _ => Err(wrong(argument, at, &format!("-{digits}"), "a size, or -1 for one of them")),
        })
    })?;
    if !has_inferred.get() {
        return Ok(numbers);
    }
    let product = |sizes: &[u64]| sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
    let others: Vec<u64> = numbers.iter().copied().filter(|&size| size != u64::MAX).collect();
    let all = product(sizes);
    let missing = all.zip(product(&others)).filter(|(all, others)| all.checked_rem(*others) == Some(0));
    let missing = missing.and_then(|(all, others)| all.checked_div(others)).ok_or_else(|| {
        let all = counted(all.unwrap_or(u64::MAX), "element");
        wrong(argument, 0, argument, &format!("sizes whose product divides {all}"))
    })?;
    Ok(numbers.into_iter().map(|size| if size == u64::MAX { missing } else { size }).collect())
}

/// Reads slices. A negative start or end counts from the end of its axis.
fn sliced(argument: &str, sizes: &[u64]) -> Result<ViewStep, Error> {
    let before = |text: &str, separator: char, place: usize| -> usize {
        text.split(separator).take(place).map(|part| part.len().plus(1)).sum()
    };
    let mut text = Vec::new();
    for (axis, part) in argument.split(',').enumerate() {
        let from_start = |(place, word): (usize, &str)| {
            let number = word.trim_matches(['[', ']', ' ']);
            let at = before(argument, ',', axis).plus(before(part, ':', place));
            match (number.strip_prefix('-'), sizes.get(axis)) {
                (Some(_), _) if place == 2 => Err(wrong(
                    argument,
                    at,
                    number,
                    "a step of 1 or more, or `::-1` alone, by which an axis runs backwards",
                )),
                (Some(back), Some(&size)) => Ok(word.replace(number, &from_end(argument, at, back, size)?.to_string())),
                _ => Ok(word.to_owned()),
            }
        };
        text.push(part.split(':').enumerate().map(from_start).collect::<Result<Vec<_>, _>>()?.join(":"));
    }
    let slices: Slices = text.join(",").parse()?;
    for (axis, (slice, &size)) in slices.iter().zip(sizes).enumerate() {
        if slice.step > 0 && (slice.start > size || slice.end.is_some_and(|end| end > size)) {
            let part = argument.split(',').nth(axis).unwrap_or("").trim_matches(['[', ']', ' ']);
            let expected = format!("a slice of axis {axis}, whose size is {size}");
            return Err(wrong(argument, before(argument, ',', axis), part, &expected));
        }
    }
    Ok(ViewStep::Slice(slices))
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
    /// use tensor_layout_text::{to_text, ViewStep};
    ///
    /// let tiled = "f32[16,256]{1,0:T(8,128)}".parse()?;
    /// let turned = ViewStep::read("permute", "1,0")?.apply(&tiled)?;
    /// assert_eq!(to_text(turned)?, "f32[256,16]{0,1:T(8,128)}");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn apply(&self, layout: &AnyLayout) -> Result<AnyLayout, Error> {
        if let AnyLayout::Strided(desc) = layout {
            return Ok(AnyLayout::Strided(match self {
                ViewStep::Reshape(sizes) => desc.reshape(sizes),
                ViewStep::Permute(axes) => desc.permute(axes),
                ViewStep::Slice(slices) => desc.slice(slices),
                ViewStep::Broadcast(sizes) => desc.broadcast_to(sizes),
                ViewStep::Reverse(_) => Err(backwards()),
            }?));
        }
        let map = layout.to_index_map()?;
        let view = match self {
            ViewStep::Reshape(sizes) => map.reshape(sizes),
            ViewStep::Permute(axes) => map.permute(axes),
            ViewStep::Slice(slices) => map.slice(slices),
            ViewStep::Broadcast(sizes) => map.broadcast_to(sizes),
            ViewStep::Reverse(_) => Err(backwards()),
        }?;
        Ok(match (layout, self) {
            (AnyLayout::Tiled(shape), ViewStep::Permute(axes)) => AnyLayout::Tiled(shape.permute(axes)?),
            (AnyLayout::Tiled(shape), _) => view_to_xla(&view, shape).map_or(AnyLayout::Mapped(view), AnyLayout::Tiled),
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
    pub fn apply_to_blocks(&self, blocks: &BlockTensorDesc) -> Result<BlockTensorDesc, Error> {
        match self {
            ViewStep::Reshape(sizes) => blocks.reshape(sizes),
            ViewStep::Permute(axes) => blocks.permute(axes),
            ViewStep::Slice(slices) => blocks.slice(slices),
            ViewStep::Broadcast(_) => {
                let (axis, values) = (blocks.sizes().len().saturating_sub(1), blocks.block_type().values());
                let reason = format!("axis {axis} is stored in blocks of {values} values");
                Err(Error::not_expressible("broadcast", reason))
            }
            ViewStep::Reverse(_) => Err(backwards()),
        }
    }
}

/// A layout of one tensor has only strides that go forwards. [`Layout::view`](crate::Layout::view) keeps the
/// axes that a view walks backwards in a list beside the layout.
fn backwards() -> Error {
    Error::not_expressible("view", "an axis would run backwards, which no single layout says")
}
