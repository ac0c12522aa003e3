//! Writes a layout in the notation that was read, or in another one.

use core::fmt;

use tensor_layout::plan::counted;
use tensor_layout::{AnyLayout, Error};

use crate::notation::{Line, Notation, ggml_text_of_blocks, lines_of, to_notation, to_text};
use crate::numbers::{list, python};

use super::read::{AXES, BACKWARDS};
use super::{Kept, Layout, Plane, Role, Whole, Written};

impl fmt::Display for Layout {
    /// Writes the layout in its notation, in canonical form. If there are scales, every plane is written with
    /// its sizes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of.as_deref() {
            Some(Whole::Shape(shape)) => return shape.fmt(f),
            Some(Whole::Frame(frame)) => return frame.fmt(f),
            Some(Whole::Pages(pages)) => return pages.fmt(f),
            Some(Whole::View(source, steps)) if self.planes.iter().any(|plane| plane.own_text().is_none()) => {
                source.fmt(f)?;
                return steps.iter().try_for_each(|step| write!(f, " {step}"));
            }
            Some(Whole::View(..)) | None => {}
        }
        for (place, plane) in self.planes.iter().enumerate() {
            let Role::Scales { per } = &plane.role else {
                plane.fmt(f)?;
                continue;
            };
            f.write_str(if place == 0 { "" } else { " with " })?;
            write!(f, "{plane} per ")?;
            match per.split_last() {
                _ if per.iter().eq(self.sizes().iter().map(|size| size.max(&1))) => f.write_str("tensor")?,
                Some((last, outer)) if outer.iter().all(|&number| number == 1) => last.fmt(f)?,
                _ => f.write_str(&list(per))?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Plane {
    /// Writes the plane without what its role says. Axes that run backwards have negative strides, in NumPy's
    /// or CuTe's notation, or else are named after the layout from the lowest address on. A plane that no
    /// notation writes is described in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.own_text() {
            return f.write_str(&text);
        }
        let (name, sizes) = (self.type_name(), list(&self.sizes));
        match self.part_count() {
            1 => write!(f, "an index map of {name}{sizes}"),
            count => write!(f, "a view of {name}{sizes} in {}", counted(count, "part")),
        }
    }
}

impl Plane {
    /// Whether the text of the plane is known without making one, or is that of its strides or tiles.
    pub(super) fn is_written(&self) -> bool {
        use Written::{One, Parts};
        !matches!(self.written, One { layout: AnyLayout::Mapped(_), text: Kept::None, .. } | Parts(Kept::None))
    }

    /// Returns the text of the plane, which reads back. `None` if no notation writes it.
    pub(super) fn own_text(&self) -> Option<String> {
        let forwards = || match &self.written {
            Written::Parts(kept) => kept.text(),
            Written::Table(table) => Some(table.cache.to_string()),
            Written::Shape(shape) => Some(shape.to_string()),
            Written::One { layout, notation, text: kept } => {
                kept.text().or_else(|| to_notation(layout, *notation).or_else(|_| to_text(layout)).ok())
            }
        };
        match self.reversed.is_empty() {
            true => forwards(),
            false => self.signed().or_else(|| Some(format!("{}{AXES}{:?}{BACKWARDS}", forwards()?, self.reversed))),
        }
    }

    /// Returns the text of NumPy or CuTe with negative strides.
    fn signed(&self) -> Option<String> {
        let Written::One { layout, text: Kept::None, .. } = &self.written else { return None };
        let signed = |notation| self.signed_in(notation, &to_notation(layout, notation).ok()?);
        signed(Notation::Numpy).or_else(|| signed(Notation::CuTe))
    }

    /// Returns a text of NumPy or CuTe with negative strides. CuTe's notation has no offset, and its strides
    /// behind a swizzle have no sign.
    fn signed_in(&self, notation: Notation, text: &str) -> Option<String> {
        let is_plain = || self.parts().first().is_some_and(|part| part.map.base() == 0 && part.map.swizzle().is_none());
        match notation {
            Notation::Numpy => signed_numpy(text, &self.reversed),
            Notation::CuTe if is_plain() => signed_cute(text, &self.reversed),
            _ => None,
        }
    }

    /// Returns the text of the plane, out of the text from the lowest address on.
    fn turned(&self, notation: Notation, text: String) -> String {
        match self.reversed.as_slice() {
            [] => text,
            axes => self.signed_in(notation, &text).unwrap_or_else(|| format!("{text}{AXES}{axes:?}{BACKWARDS}")),
        }
    }

    /// The notation of the text that was read.
    #[must_use]
    pub fn notation(&self) -> Notation {
        match &self.written {
            Written::One { notation, .. } => *notation,
            Written::Parts(_) | Written::Table(_) => Notation::Named,
            Written::Shape(_) => Notation::Xla,
        }
    }

    /// Returns the plane in one notation. In its own notation, the result is the text that was read, in
    /// canonical form. Axes that run backwards are named behind a text that has no negative strides.
    ///
    /// # Errors
    ///
    /// `not_expressible` or `unsupported_data_type` if the notation cannot express the plane.
    pub fn to_notation(&self, notation: Notation) -> Result<String, Error> {
        self.forwards_in(notation).map(|text| self.turned(notation, text))
    }

    fn forwards_in(&self, notation: Notation) -> Result<String, Error> {
        if let (Some(blocks), Written::One { .. }, Notation::Ggml) = (&self.blocks, &self.written, notation) {
            return ggml_text_of_blocks(blocks);
        }
        match &self.written {
            Written::One { layout, notation: own, text } => {
                text.text().filter(|_| *own == notation).map_or_else(|| to_notation(layout, notation), Ok)
            }
            Written::Parts(Kept::Text(text)) if notation == Notation::Named => Ok(text.clone()),
            Written::Table(table) if notation == Notation::Named => Ok(table.cache.to_string()),
            Written::Shape(shape) if notation == Notation::Xla => Ok(shape.to_string()),
            _ => Err(self.whole().err().unwrap_or_else(|| self.why_without_map())),
        }
    }

    /// Returns the plane in some notations, one line each; see [`all_notations`](crate::all_notations).
    /// Looking up names takes far longer than all other notations together.
    #[must_use]
    pub fn in_notations(&self, notations: &[Notation]) -> Vec<Line> {
        let Written::One { layout, notation, text } = &self.written else { return Vec::new() };
        let own = text.text().or_else(|| to_notation(layout, *notation).ok());
        let mut lines = lines_of(layout.clone(), notations, own.map(|own| (*notation, own)));
        for Line { notation, text } in &mut lines {
            *text = text.clone().map(|text| self.turned(*notation, text));
        }
        lines
    }
}

impl Layout {
    /// Whether the planes have names, as those of a frame and of pages.
    fn has_names(&self) -> bool {
        matches!(self.of.as_deref(), Some(Whole::Frame(_) | Whole::Pages(_)))
    }

    /// The notation of the text that was read, or of its first plane.
    #[must_use]
    pub fn notation(&self) -> Notation {
        match self.of.as_deref() {
            Some(Whole::Shape(_)) => Notation::Xla,
            Some(Whole::Frame(_) | Whole::Pages(_)) => Notation::Named,
            Some(Whole::View(..)) | None => self.values().notation(),
        }
    }

    /// Returns the layout in one notation, as [`Plane::to_notation`] does.
    ///
    /// # Errors
    ///
    /// `not_expressible` or `unsupported_data_type` if the notation cannot express the layout.
    pub fn to_notation(&self, notation: Notation) -> Result<String, Error> {
        match (self.planes(), self.shape()) {
            _ if self.has_names() && notation == Notation::Named => Ok(self.to_string()),
            (_, Some(shape)) if notation == Notation::Xla => Ok(shape.to_string()),
            ([plane], None) => plane.to_notation(notation),
            (_, Some(_)) => {
                let reason =
                    "it is not one array with a size for each dimension, and only XLA's notation has such shapes";
                Err(Error::not_expressible(notation.noun(), reason))
            }
            _ => {
                let reason = match self.of.as_deref() {
                    Some(Whole::Frame(_)) => "it is a frame of several planes, each with a layout",
                    Some(Whole::Pages(_)) => "it is pages of several fields, each with a layout",
                    _ => "it has planes of values and of scales, each with a layout",
                };
                Err(Error::not_expressible(notation.noun(), reason))
            }
        }
    }

    /// Returns the layout in every notation, as [`all_notations`](crate::all_notations) does. The line of its
    /// own notation is the text that was read, in canonical form.
    #[must_use]
    pub fn all_notations(&self) -> Vec<Line> {
        self.values().in_notations(Notation::LISTED)
    }
}

/// Returns NumPy's text of a layout with negative strides for these axes. `text` is its text without signs.
fn signed_numpy(text: &str, reversed: &[usize]) -> Option<String> {
    let numbers = |key: &str| -> Option<Vec<i128>> {
        let list = text.split_once(key)?.1.split_once(')')?.0;
        let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
        numbers.map(|number| number.parse().ok()).collect()
    };
    let (sizes, mut strides) = (numbers("shape=(")?, numbers("strides=(")?);
    let mut offset = numbers("offset=").map_or(Some(0), |offset| offset.first().copied())?;
    for &axis in reversed {
        let stride = strides.get_mut(axis)?;
        offset = offset.saturating_add(sizes.get(axis)?.saturating_sub(1).saturating_mul(*stride));
        *stride = stride.saturating_neg();
    }
    Some(format!("{}strides={}, offset={offset})", text.split_once("strides=(")?.0, python(&strides)))
}

/// Returns CuTe's text of a layout with negative strides for these modes. `text` is its text without signs.
fn signed_cute(text: &str, reversed: &[usize]) -> Option<String> {
    let (head, strides) = text.split_once("):(")?;
    let (mut mode, mut depth, mut begins, mut written) = (0_usize, 0_usize, true, String::new());
    for c in strides.chars() {
        if begins && c.is_ascii_digit() && reversed.contains(&mode) {
            written.push('-');
        }
        begins = !c.is_ascii_digit();
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => mode = mode.saturating_add(1),
            _ => {}
        }
        written.push(c);
    }
    Some(format!("{head}):({written}"))
}
