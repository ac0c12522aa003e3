//! The default layout of a TPU compiler: the tiles and the dimension order of parameters and results for
//! which nothing else is requested.
//!
//! Both rules are observations of libtpu 0.0.51, compiled ahead of time (`jit(identity)`). docs/XLA.md
//! gives the number of arrays. tests/data holds arrays that were not used to find the rules
//! (tpu_tiles.tsv, tpu_orders.tsv). The rules do not describe the layouts inside a program, and 1-bit
//! types were not observed.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use smallvec::SmallVec;

use crate::checked::{self, Proven};
use crate::element::DataType;
use crate::error::Error;

use super::array::ArrayShape;
use super::layout::{Layout, Tile};
use super::shape::Shape;

/// A generation of TPU, which determines the default tiles.
///
/// ```
/// use tensor_layout::{tiled::TpuGeneration, ArrayShape};
///
/// let generation: TpuGeneration = "v5e".parse()?;
/// let shape = "bf16[300,500]".parse::<ArrayShape>()?.with_tpu_layout(generation)?;
/// assert_eq!(shape.to_string(), "bf16[300,500]{1,0:T(8,128)(2,1)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TpuGeneration {
    /// TPU v2.
    V2,
    /// TPU v3.
    V3,
    /// TPU v4.
    V4,
    /// TPU v5e.
    V5e,
    /// TPU v5p.
    V5p,
    /// TPU v6e.
    V6e,
    /// TPU7x.
    V7x,
}

const NAMES: [(&str, TpuGeneration); 7] = [
    ("v2", TpuGeneration::V2),
    ("v3", TpuGeneration::V3),
    ("v4", TpuGeneration::V4),
    ("v5e", TpuGeneration::V5e),
    ("v5p", TpuGeneration::V5p),
    ("v6e", TpuGeneration::V6e),
    ("v7x", TpuGeneration::V7x),
];

/// The rule by which a compiler chooses tiles. Several generations share a rule.
///
/// ```
/// use tensor_layout::{tiled::TpuTiles, ArrayShape};
///
/// let shape: ArrayShape = "bf16[16,300]{1,0}".parse()?;
/// for rule in TpuTiles::ALL {
///     assert_eq!(shape.tpu_tiles(rule)?.last().map(ToString::to_string).as_deref(), Some("(2,1)"));
/// }
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[cfg(feature = "plan")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TpuTiles {
    /// The rule from v4 on, inside programs: tiles never have more than 8 rows.
    LateInside,
    /// The rule from v4 on, for parameters and results.
    Late,
    /// The rule on v2 and v3.
    Early,
}

#[cfg(feature = "plan")]
impl TpuTiles {
    /// Every rule.
    pub const ALL: [TpuTiles; 3] = [TpuTiles::LateInside, TpuTiles::Late, TpuTiles::Early];
}

impl FromStr for TpuGeneration {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, generation)| generation).ok_or_else(|| {
            Error::parse(name.to_owned(), 1, "a TPU generation: v2, v3, v4, v5e, v5p, v6e or v7x", format!("`{name}`"))
        })
    }
}

impl fmt::Display for TpuGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, generation)| generation == self).map_or("", |&(name, _)| name);
        f.pad(name)
    }
}

impl ArrayShape {
    /// Returns this shape with the tiles that a TPU of this generation gives it by default. The order of its
    /// dimensions does not change; [`with_tpu_layout`](ArrayShape::with_tpu_layout) also chooses the order.
    ///
    /// In the table, p is the number of elements in a 32-bit word. Types of 64 and 128 bits are
    /// several words, and on v2 and v3, types below a byte take a byte. m is 2 on v2 and v3, and 1 on
    /// later generations.
    ///
    /// | rank | tiles |
    /// |---|---|
    /// | 0 | `T(128pm)` |
    /// | 1 | `T(n)(128)(p,1)`, n the next power of two of the size, from 128pm to 1024 |
    /// | 2 and more, H the second-fastest size | `T(r,128)(p,1)`, r the next power of two of H, from pm to 8; but 8p on v4 and later where p is 4 or more and 8p divides H |
    ///
    /// The sub-tiles `(128)(p,1)` and `(p,1)` are left out if p is 1. Empty arrays have no tiles. On v2 and
    /// v3, integers of 2 bits have r = 16. The rule does not cover the layouts inside a program (other tiles
    /// in VMEM and SMEM, fusions). The result keeps the dimension order and the memory space of the layout,
    /// and no other attributes.
    ///
    /// # Errors
    ///
    /// `unsupported_data_type` for types of 6 bits, which a TPU does not have.
    pub fn with_tpu_tiles(self, generation: TpuGeneration) -> Result<ArrayShape, Error> {
        let rule = TileRule::of(self.data_type(), generation)?;
        let order = self.layout().minor_to_major();
        let mut layout = Layout::new(order)?;
        layout.memory_space = self.layout().memory_space;
        if rule.bits < 8 {
            layout = layout.with_element_bits(rule.bits);
        }
        layout = layout.with_tiles(&self.tiles_by(&rule)?);
        self.with_layout(layout)
    }

    /// Returns the tiles that a rule gives this shape, in the dimension order that the shape has.
    /// # Errors
    ///
    /// `unsupported_data_type` for types of 6 bits, which a TPU does not have.
    #[cfg(feature = "plan")]
    pub fn tpu_tiles(&self, tiles: TpuTiles) -> Result<Vec<Tile>, Error> {
        let generation = if tiles == TpuTiles::Early { TpuGeneration::V3 } else { TpuGeneration::V5e };
        let mut rule = TileRule::of(self.data_type(), generation)?;
        rule.has_large_tiles &= tiles == TpuTiles::Late;
        self.tiles_by(&rule)
    }

    fn tiles_by(&self, rule: &TileRule) -> Result<Vec<Tile>, Error> {
        if self.element_count() == 0 {
            return Ok(Vec::new());
        }
        let order = self.layout().minor_to_major();
        let mut physical = order.iter().filter_map(|&dimension| self.sizes().get(dimension).copied());
        let (width, height) = (physical.next(), physical.next());
        rule.tiles(width, height)
    }

    /// Returns this shape with the layout that a TPU of this generation gives it by default: the order of
    /// the dimensions and the [tiles](ArrayShape::with_tpu_tiles). The current order of the dimensions
    /// does not matter.
    ///
    /// The compiler takes the order whose buffer, with the padding of its tiles, is the smallest. Among
    /// several orders of equal size, it takes the order nearest to row-major, which has the
    /// lexicographically largest `minor_to_major`. Empty arrays are row-major. Tiles of 2-bit types have at
    /// least 16 rows. For these types, an order without padding comes first, and the other orders are
    /// compared as if tiles had 8 rows.
    ///
    /// # Errors
    ///
    /// `unsupported_data_type` for types of 6 bits, which a TPU does not have.
    ///
    /// ```
    /// use tensor_layout::{tiled::TpuGeneration, ArrayShape, DataType};
    ///
    /// let column = ArrayShape::row_major(DataType::F32, &[5000, 1])?.with_tpu_layout(TpuGeneration::V5e)?;
    /// assert_eq!(column.to_string(), "f32[5000,1]{0,1:T(1,128)}");
    /// let filters = ArrayShape::row_major(DataType::F32, &[64, 32, 3, 3])?.with_tpu_layout(TpuGeneration::V5e)?;
    /// assert_eq!(filters.to_string(), "f32[64,32,3,3]{0,1,3,2:T(8,128)}");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_tpu_layout(self, generation: TpuGeneration) -> Result<ArrayShape, Error> {
        let order = TileRule::of(self.data_type(), generation)?.compact_order(self.sizes(), self.element_count());
        let layout = self.layout().clone().with_minor_to_major(&order)?;
        self.with_layout(layout)?.with_tpu_tiles(generation)
    }
}

impl Shape {
    /// Returns this shape with every array laid out by [`ArrayShape::with_tpu_layout`]. Arrays with a
    /// dimension without a bound do not change.
    ///
    /// # Errors
    ///
    /// The errors of [`ArrayShape::with_tpu_layout`].
    ///
    /// ```
    /// use tensor_layout::tiled::{Shape, TpuGeneration};
    ///
    /// let shape = "(f32[13,1], token[])".parse::<Shape>()?.with_tpu_layout(TpuGeneration::V5e)?;
    /// assert_eq!(shape.to_string(), "(f32[13,1]{0,1:T(1,128)}, token[])");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_tpu_layout(self, generation: TpuGeneration) -> Result<Shape, Error> {
        Ok(match self {
            Shape::Array(array) => Shape::Array(array.with_tpu_layout(generation)?),
            Shape::Buffer(array) => Shape::Buffer(array.with_tpu_layout(generation)?),
            Shape::Tuple(elements) => Shape::Tuple(
                elements.into_iter().map(|element| element.with_tpu_layout(generation)).collect::<Result<_, _>>()?,
            ),
            other @ (Shape::Unbounded(_) | Shape::Token | Shape::Opaque) => other,
        })
    }
}

/// The numbers that determine the tiles of a data type on a generation, besides the sizes.
struct TileRule {
    /// The number of bits of an element in a tile. Types of 64 and 128 bits are several words of 32 bits. On
    /// v2 and v3, smaller types take a byte.
    bits: u32,
    /// The number of elements in a 32-bit word of a tile.
    packing: u64,
    /// The number of rows of the smallest tile.
    least_rows: u64,
    /// The number of rows of every tile. `None` if the number depends on the size. Only 2-bit types on v2 and
    /// v3 have a fixed number.
    fixed_rows: Option<u64>,
    /// Whether tiles are 8 words high wherever this height divides the second-fastest size.
    has_large_tiles: bool,
}

impl TileRule {
    fn of(data_type: DataType, generation: TpuGeneration) -> Result<TileRule, Error> {
        let early = matches!(generation, TpuGeneration::V2 | TpuGeneration::V3);
        let bits = match data_type.bits() {
            6 => return Err(Error::unsupported_data_type(data_type.xla_name(), "a TPU")),
            64 | 128 => 32,
            bits if bits < 8 && early => 8,
            bits => bits,
        };
        let packing = u64::from(32_u32.div_euclid(bits));
        Ok(TileRule {
            bits,
            packing,
            least_rows: checked::mul(packing, if early { 2 } else { 1 }, checked::ELEMENTS)?,
            fixed_rows: (early && data_type.bits() == 2).then_some(16),
            has_large_tiles: packing >= 4 && !early,
        })
    }

    /// Returns the tiles of a shape. `width` is its fastest size and `height` its second-fastest size. `None`
    /// stands for a dimension that the shape does not have.
    fn tiles(&self, width: Option<u64>, height: Option<u64>) -> Result<Vec<Tile>, Error> {
        let line = checked::mul(128, self.least_rows, checked::ELEMENTS)?;
        let mut tiles = match (width, height) {
            (Some(_), Some(height)) => vec![Tile::new(&[self.rows(height), 128])?],
            (Some(width), None) => vec![Tile::new(&[power_of_two_between(width, line, 1024)])?],
            _ => return Ok(vec![Tile::new(&[line])?]),
        };
        if self.packing > 1 {
            if height.is_none() {
                tiles.push(Tile::new(&[128])?);
            }
            tiles.push(Tile::new(&[self.packing, 1])?);
        }
        Ok(tiles)
    }

    fn rows(&self, height: u64) -> u64 {
        let large = self.packing.times(8);
        match self.fixed_rows {
            Some(rows) => rows,
            None if self.has_large_tiles && height.is_multiple_of(large) => large,
            None => power_of_two_between(height, self.least_rows, 8),
        }
    }

    /// Returns the `minor_to_major` of the smallest buffer. Among several orders of equal size, returns the
    /// lexicographically largest.
    ///
    /// Only the two fastest dimensions are padded. The search therefore tries every pair of dimensions there,
    /// and keeps the other dimensions row-major. Without elements, no pair needs less than the first pair,
    /// which is row-major.
    fn compact_order(&self, sizes: &[u64], elements: u64) -> SmallVec<[usize; 8]> {
        let descending = || (0..sizes.len()).rev();
        let mut least: Option<(u128, usize, usize)> = None;
        for (minor, &width) in sizes.iter().enumerate().rev() {
            for (next, &height) in sizes.iter().enumerate().rev().filter(|&(next, _)| next != minor) {
                let compared = self.compared_size(width, height, elements);
                if least.is_none_or(|(least, ..)| compared < least) {
                    least = Some((compared, minor, next));
                }
            }
        }
        match least {
            Some((_, minor, next)) => {
                let rest = descending().filter(|&dimension| dimension != minor && dimension != next);
                [minor, next].into_iter().chain(rest).collect()
            }
            None => descending().collect(),
        }
    }

    /// The number by which the compiler compares orders. The number is 0 for an order without padding.
    /// Otherwise the result is the number of elements in the buffer with padding, for tiles of at most 8
    /// rows. `width` and `height` are the two fastest sizes, and `elements` is the product of all sizes.
    ///
    /// Only 2-bit types have smallest tiles of more than 8 rows: 16. For all other types, this is the size of
    /// the buffer, because tiles of 8 words in height are used only where they add no padding.
    fn compared_size(&self, width: u64, height: u64, elements: u64) -> u128 {
        if width.is_multiple_of(128) && height.is_multiple_of(self.rows(height)) {
            return 0;
        }
        let rest = elements.checked_div(width).and_then(|rest| rest.checked_div(height)).unwrap_or(0);
        let rows = power_of_two_between(height, self.least_rows.min(8), 8);
        // The product is below 2^74: padding makes a width at most 128 times as large, and a height
        // at most 8 times.
        let padded = |size: u64, multiple: u64| u128::from(size).next_multiple_of(u128::from(multiple));
        u128::from(rest).times(padded(width, 128)).times(padded(height, rows))
    }
}

/// The next power of two, limited to `least..=most`. If `least` is above `most`, the result is `least`.
fn power_of_two_between(value: u64, least: u64, most: u64) -> u64 {
    let power = value.checked_next_power_of_two().unwrap_or(most);
    power.min(most).max(least)
}
