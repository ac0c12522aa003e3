//! The tiles a TPU compiler picks when nobody asks for others.
//!
//! The rule was fitted to what the TPU compiler (libtpu 0.0.51, ahead of time, `jit(identity)`) chose for
//! 6,678 arrays. The further 874 of tests/data/tpu_tiles.tsv showed two cases it lacked (2-bit integers on
//! v2 and v3, and `f4e2m1fn`) and agree in all others; neither set has 1-bit types. The rule says the tiles
//! *given* the order of the dimensions; which order the compiler picks is not covered, nor what it does
//! inside a program.

use std::fmt;
use std::str::FromStr;

use crate::checked;
use crate::element::DataType;
use crate::error::Error;

use super::array::ArrayShape;
use super::layout::{Layout, Tile};

/// A generation of TPU, as far as default tiles go.
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

impl FromStr for TpuGeneration {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, generation)| generation).ok_or_else(|| Error::Parse {
            text: name.to_owned(),
            column: 1,
            expected: "a TPU generation: v2, v3, v4, v5e, v5p, v6e or v7x".into(),
            found: format!("`{name}`"),
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
    /// The shape with the tiles a TPU of this generation gives it by default, in the order of dimensions it
    /// has.
    ///
    /// With p elements to a 32-bit word (64-bit types are pairs of words; on v2 and v3 types below a byte
    /// take a byte) and m = 2 on v2 and v3, 1 later:
    ///
    /// | rank | tiles |
    /// |---|---|
    /// | 0 | `T(128pm)` |
    /// | 1 | `T(n)(128)(p,1)`, n the next power of two of the size, from 128pm to 1024 |
    /// | 2 and more, H the second-fastest size | `T(r,128)(p,1)`, r the next power of two of H, from pm to 8; but 8p on v4 and later where p is 4 or more and 8p divides H |
    ///
    /// Sub-tiles are left out where p is 1, and empty arrays have no tiles. On v2 and v3, integers of 2
    /// bits have r = 16. What is not covered: the order of dimensions the compiler would choose itself, and
    /// what it does inside a program (other tiles in VMEM and SMEM, fusions).
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedDataType`] for 128-bit types, which a TPU does not have.
    ///
    /// ```
    /// use tensor_layout::{tiled::TpuGeneration, ArrayShape, DataType};
    ///
    /// let shape = ArrayShape::row_major(DataType::BF16, &[300, 500])?.with_tpu_tiles(TpuGeneration::V5e)?;
    /// assert_eq!(shape.to_string(), "bf16[300,500]{1,0:T(8,128)(2,1)}");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_tpu_tiles(&self, generation: TpuGeneration) -> Result<ArrayShape, Error> {
        let (data_type, order) = (self.data_type(), self.layout().minor_to_major());
        let early = matches!(generation, TpuGeneration::V2 | TpuGeneration::V3);
        let bits = tiling_bits(data_type, early)?;
        let mut layout = Layout::new(order)?.with_memory_space(self.layout().memory_space());
        if bits < 8 {
            layout = layout.with_element_bits(bits);
        }
        if self.logical_elements() > 0 {
            let mut physical = order.iter().filter_map(|&dimension| self.sizes().get(dimension).copied());
            let (width, height) = (physical.next(), physical.next());
            let mut tiles = default_tiles(u64::from(32_u32.div_euclid(bits)), early, width, height)?;
            if early && data_type.bits() == 2 && height.is_some() {
                tiles = vec![Tile::new(&[16, 128])?, Tile::new(&[4, 1])?];
            }
            layout = layout.with_tiles(&tiles);
        }
        self.with_layout(layout)
    }
}

/// The width the rule counts with: 64-bit types are pairs of 32-bit words, and the first
/// generations store smaller types in bytes.
fn tiling_bits(data_type: DataType, early: bool) -> Result<u32, Error> {
    match data_type.bits() {
        128 => Err(Error::UnsupportedDataType { data_type: data_type.xla_name(), by: "a TPU" }),
        64 => Ok(32),
        bits if bits < 8 && early => Ok(8),
        bits => Ok(bits),
    }
}

/// `packing` elements share a 32-bit word.
fn default_tiles(packing: u64, early: bool, width: Option<u64>, height: Option<u64>) -> Result<Vec<Tile>, Error> {
    let rows_at_least = checked::mul(packing, if early { 2 } else { 1 }, checked::ELEMENTS)?;
    let line = checked::mul(128, rows_at_least, checked::ELEMENTS)?;
    let (Some(_), Some(height)) = (width, height) else {
        let Some(width) = width else {
            return Ok(vec![Tile::new(&[line])?]);
        };
        let mut tiles = vec![Tile::new(&[power_of_two_between(width, line, 1024)])?];
        if packing > 1 {
            tiles.extend([Tile::new(&[128])?, Tile::new(&[packing, 1])?]);
        }
        return Ok(tiles);
    };
    let large = checked::mul(8, packing, checked::ELEMENTS)?;
    let rows = if packing >= 4 && !early && height.is_multiple_of(large) {
        large
    } else {
        power_of_two_between(height, rows_at_least, 8)
    };
    let mut tiles = vec![Tile::new(&[rows, 128])?];
    if packing > 1 {
        tiles.push(Tile::new(&[packing, 1])?);
    }
    Ok(tiles)
}

/// The next power of two, but not below `least` nor (unless `least` is) above `most`.
fn power_of_two_between(value: u64, least: u64, most: u64) -> u64 {
    let power = value.checked_next_power_of_two().unwrap_or(most);
    power.min(most).max(least)
}
