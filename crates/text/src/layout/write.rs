//! Writes a layout in the notation that was read, or in another one.

use core::fmt;

use tensor_layout::Error;
use tensor_layout::plan::counted;

use crate::notation::{Line, Notation, ggml_text_of_blocks, lines_of, signed_cute, signed_numpy, text, text_in};

use crate::numbers::list;

use super::read::{AXES, BACKWARDS};
use super::{Layout, Plane, Role, Whole, Written};

impl fmt::Display for Layout {
    /// Writes the layout in its notation, in canonical form. If there are scales, every plane is written with
    /// its sizes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of.as_deref() {
            Some(Whole::Shape(shape)) => return shape.fmt(f),
            Some(Whole::Frame(frame)) => return frame.fmt(f),
            Some(Whole::Pages(pages)) => return pages.fmt(f),
            Some(Whole::Cache(_)) | None => {}
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
    /// or CuTe's notation, or else are named after the layout from the lowest address on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reversed.is_empty() {
            return self.write_forwards(f);
        }
        if let Some(text) = self.signed() {
            return f.write_str(&text);
        }
        self.write_forwards(f)?;
        write!(f, "{AXES}{:?}{BACKWARDS}", self.reversed)
    }
}

impl Plane {
    /// Writes the plane from the lowest address on.
    fn write_forwards(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, notation) = match &self.written {
            // A view of several parts has no text of its own.
            Written::Parts(text) if text.is_empty() => {
                let (name, sizes) = (self.type_name(), list(&self.sizes));
                return write!(f, "{name}{sizes} in {}", counted(self.parts.len(), "part"));
            }
            Written::Parts(text) | Written::One { text: Some(text), .. } => return f.write_str(text),
            Written::Cache(cache) => return write!(f, "{cache}"),
            Written::Shape(shape) => return write!(f, "{shape}"),
            Written::One { layout, notation, .. } => (layout, *notation),
        };
        match text_in(layout, notation).or_else(|_| text(layout)) {
            Ok(text) => f.write_str(&text),
            Err(_) => {
                write!(f, "{}{} from element {}", self.type_name(), list(&self.sizes), self.first_element())
            }
        }
    }

    /// Returns the text of NumPy or CuTe with negative strides. CuTe's notation has no offset, and its
    /// strides behind a swizzle have no sign.
    fn signed(&self) -> Option<String> {
        let Written::One { layout, text: None, .. } = &self.written else { return None };
        let is_swizzled = self.parts.first().is_some_and(|part| part.map.swizzle().is_some());
        let numpy = || signed_numpy(&text_in(layout, Notation::Numpy).ok()?, &self.reversed);
        let cute = || {
            let text = text_in(layout, Notation::CuTe).ok().filter(|_| self.first_element() == 0 && !is_swizzled)?;
            signed_cute(&text, &self.reversed)
        };
        numpy().or_else(cute)
    }

    /// The lowest offset of an element, in elements.
    fn first_element(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.map.base())
    }

    /// The notation of the text that was read.
    #[must_use]
    pub fn notation(&self) -> Notation {
        match &self.written {
            Written::One { notation, .. } => *notation,
            Written::Parts(_) | Written::Cache(_) => Notation::Named,
            Written::Shape(_) => Notation::Xla,
        }
    }

    /// Returns the plane in one notation. In its own notation, the result is the text that was read, in
    /// canonical form. Axes that run backwards are written from the lowest address on.
    ///
    /// # Errors
    ///
    /// `not_expressible` or `unsupported_data_type` if the notation cannot express the plane.
    pub fn text_in(&self, notation: Notation) -> Result<String, Error> {
        if let (Some(blocks), Written::One { .. }, Notation::Ggml) = (&self.blocks, &self.written, notation)
            && self.reversed.is_empty()
        {
            return ggml_text_of_blocks(blocks);
        }
        match &self.written {
            Written::One { notation: own, text: Some(text), .. } if *own == notation => Ok(text.clone()),
            Written::Parts(text) if notation == Notation::Named => Ok(text.clone()),
            Written::Cache(cache) if notation == Notation::Named => Ok(cache.to_string()),
            Written::Shape(shape) if notation == Notation::Xla => Ok(shape.to_string()),
            Written::One { layout, .. } => text_in(layout, notation),
            _ => Err(self.whole().err().unwrap_or_else(|| self.why_without_map())),
        }
    }

    /// Returns the plane in some notations, one line each; see [`lines`](crate::lines). Looking up names
    /// takes far longer than all other notations together.
    #[must_use]
    pub fn lines_in(&self, notations: &[Notation]) -> Vec<Line> {
        let Written::One { layout, notation, text } = &self.written else { return Vec::new() };
        let own = text.clone().or_else(|| text_in(layout, *notation).ok());
        lines_of(layout.clone(), notations, own.map(|own| (*notation, own)))
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
            Some(Whole::Cache(_)) | None => self.values().notation(),
        }
    }

    /// Returns the layout in one notation, as [`Plane::text_in`] does.
    ///
    /// # Errors
    ///
    /// `not_expressible` or `unsupported_data_type` if the notation cannot express the layout.
    pub fn text_in(&self, notation: Notation) -> Result<String, Error> {
        match (self.planes(), self.shape()) {
            _ if self.has_names() && notation == Notation::Named => Ok(self.to_string()),
            (_, Some(shape)) if notation == Notation::Xla => Ok(shape.to_string()),
            ([plane], None) => plane.text_in(notation),
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

    /// Returns the layout in every notation, as [`lines`](crate::lines) does. The line of its own notation is
    /// the text that was read, in canonical form.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.values().lines_in(Notation::LISTED)
    }
}
