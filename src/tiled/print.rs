//! Writes the canonical text of shapes and layouts, as XLA prints it (Layout::Print,
//! PrintHumanStringWithLayout).

use core::fmt::{self, Display, Formatter};

use crate::typed_sizes::{comma_separated, write_list};

use super::array::ArrayShape;
use super::layout::{Layout, SplitConfig, Tile, TileSize};
use super::shape::{Extent, Shape, UnboundedArray};

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

impl Display for SplitConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}:", self.dimension)?;
        comma_separated(f, &self.indices)?;
        f.write_str(")")
    }
}

impl Layout {
    /// Whether all attributes but the order have their defaults. Then the text has no colon.
    fn is_plain(&self) -> bool {
        self.tiles().is_empty()
            && self.tail_padding_alignment == 1
            && self.index_type.is_none()
            && self.pointer_type.is_none()
            && self.element_bits.is_none()
            && self.memory_space == 0
            && self.split_configs.is_empty()
            && self.metadata_prefix_bytes == 0
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
        if self.tail_padding_alignment != 1 {
            write!(f, "L({})", self.tail_padding_alignment)?;
        }
        if let Some(index_type) = self.index_type {
            write!(f, "#({index_type})")?;
        }
        if let Some(pointer_type) = self.pointer_type {
            write!(f, "*({pointer_type})")?;
        }
        if let Some(bits) = self.element_bits {
            write!(f, "E({bits})")?;
        }
        if self.memory_space != 0 {
            write!(f, "S({})", self.memory_space)?;
        }
        if !self.split_configs.is_empty() {
            f.write_str("SC")?;
            self.split_configs.iter().try_for_each(|split| split.fmt(f))?;
        }
        if self.metadata_prefix_bytes != 0 {
            write!(f, "M({})", self.metadata_prefix_bytes)?;
        }
        f.write_str("}")
    }
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Static(size) => write!(f, "{size}"),
            Extent::Bounded(bound) => write!(f, "<={bound}"),
            Extent::Unbounded => f.write_str("?"),
        }
    }
}

fn write_layout(f: &mut Formatter<'_>, layout: &Layout) -> fmt::Result {
    if layout.minor_to_major().is_empty() && layout.is_plain() { Ok(()) } else { write!(f, "{layout}") }
}

impl Display for ArrayShape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.data_type())?;
        let extent = |(&size, &dynamic)| if dynamic { Extent::Bounded(size) } else { Extent::Static(size) };
        write_list(f, self.sizes().iter().zip(self.dynamic()).map(extent))?;
        write_layout(f, self.layout())
    }
}

impl Display for UnboundedArray {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.data_type)?;
        write_list(f, &self.extents)?;
        write_layout(f, &self.layout)
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Array(array) => array.fmt(f),
            Shape::Unbounded(array) => array.fmt(f),
            Shape::Token => f.write_str("token[]"),
            Shape::Opaque => f.write_str("opaque[]"),
            Shape::Buffer(array) => write!(f, "b({array})"),
            Shape::Tuple(elements) => {
                f.write_str("(")?;
                for (index, element) in elements.iter().enumerate() {
                    match index {
                        0 => {}
                        _ if index.is_multiple_of(5) => write!(f, ", /*index={index}*/")?,
                        _ => f.write_str(", ")?,
                    }
                    element.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}
