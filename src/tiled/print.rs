//! The canonical text of shapes and layouts, as XLA prints it (Layout::Print, PrintHumanStringWithLayout).

use std::fmt::{self, Display, Formatter};

use super::layout::{Layout, Tile, TileSize};
use super::shape::ArrayShape;

fn comma_separated(f: &mut Formatter<'_>, items: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            f.write_str(",")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for TileSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TileSize::Size(size) => write!(f, "{size}"),
            TileSize::Combine => f.write_str("*"),
        }
    }
}

impl Display for Tile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        comma_separated(f, self.entries())?;
        f.write_str(")")
    }
}

impl Layout {
    /// Is every part but the order at its default, so that there is nothing behind a colon?
    fn is_plain(&self) -> bool {
        self.tiles().is_empty()
            && self.tail_padding_alignment() == 1
            && self.element_bits().is_none()
            && self.memory_space() == 0
    }
}

impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        comma_separated(f, self.minor_to_major())?;
        if !self.is_plain() {
            f.write_str(":")?;
        }
        if !self.tiles().is_empty() {
            f.write_str("T")?;
            self.tiles().iter().try_for_each(|tile| tile.fmt(f))?;
        }
        if self.tail_padding_alignment() != 1 {
            write!(f, "L({})", self.tail_padding_alignment())?;
        }
        if let Some(bits) = self.element_bits() {
            write!(f, "E({bits})")?;
        }
        if self.memory_space() != 0 {
            write!(f, "S({})", self.memory_space())?;
        }
        f.write_str("}")
    }
}

impl Display for ArrayShape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.data_type())?;
        comma_separated(f, self.sizes())?;
        f.write_str("]")?;
        if self.rank() > 0 || !self.layout().is_plain() { write!(f, "{}", self.layout()) } else { Ok(()) }
    }
}
