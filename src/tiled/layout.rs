//! `Layout` and `Tile`: in which order the dimensions are stored, and how they are cut into blocks.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked;
use crate::element::{DataType, ElementKind};
use crate::error::{ArgumentRule, Error};

/// The largest memory space: XLA keeps it in 8 bits with a sign.
const MAX_MEMORY_SPACE: u64 = 127;

/// One entry of a tile.
///
/// ```
/// use tensor_layout::tiled::{Tile, TileSize};
///
/// // `*` joins a dimension with the next.
/// let tile: Tile = "(*,128)".parse()?;
/// assert_eq!(tile.entries()[0], TileSize::Combine);
/// assert_eq!(Tile::from_entries(tile.entries())?, tile);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TileSize {
    /// The dimension is cut into blocks of this many elements.
    Size(NonZeroU64),
    /// `*`: the dimension is joined with the next more minor one before that one is cut.
    Combine,
}

/// One tile: how the minor-most dimensions are cut into blocks, major to minor.
///
/// ```
/// use tensor_layout::tiled::Tile;
///
/// assert_eq!(Tile::new(&[8, 128])?.to_string(), "(8,128)");
/// // XLA's own numbers for `*` are i64::MIN today and -1 in its documents.
/// assert_eq!(Tile::from_xla(&[-1, i64::MIN, 2])?.to_string(), "(*,*,2)");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tile(SmallVec<[TileSize; 3]>);

impl Tile {
    /// A tile of plain sizes.
    ///
    /// # Errors
    ///
    /// [`ArgumentRule::ZeroTile`](crate::ArgumentRule::ZeroTile).
    pub fn new(sizes: &[u64]) -> Result<Tile, Error> {
        let entry = |(entry, &size)| NonZeroU64::new(size).map(TileSize::Size).ok_or(Error::zero_tile(0, entry));
        sizes.iter().enumerate().map(entry).collect::<Result<_, _>>().map(Tile)
    }

    /// A tile of any entries; the last may not be [`TileSize::Combine`].
    ///
    /// # Errors
    ///
    /// [`ArgumentRule::TrailingCombine`](crate::ArgumentRule::TrailingCombine).
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use tensor_layout::tiled::{Tile, TileSize};
    ///
    /// let tile = Tile::from_entries(&[TileSize::Combine, TileSize::Size(NonZeroU64::new(128).unwrap())])?;
    /// assert_eq!((tile.to_string().as_str(), tile.entries().len()), ("(*,128)", 2));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn from_entries(entries: &[TileSize]) -> Result<Tile, Error> {
        match entries.last() {
            Some(TileSize::Combine) => Err(ArgumentRule::TrailingCombine.by(0, 0)),
            _ => Ok(Tile(SmallVec::from_slice(entries))),
        }
    }

    /// A tile in XLA's numbers, where -1 and `i64::MIN` both mean `*`.
    ///
    /// # Errors
    ///
    /// [`ArgumentRule::ZeroTile`](crate::ArgumentRule::ZeroTile),
    /// [`ArgumentRule::TrailingCombine`](crate::ArgumentRule::TrailingCombine), or [`Error::Overflow`] for
    /// other negative numbers.
    pub fn from_xla(dimensions: &[i64]) -> Result<Tile, Error> {
        let mut entries = SmallVec::<[TileSize; 3]>::new();
        for (entry, &dimension) in dimensions.iter().enumerate() {
            entries.push(if dimension == -1 || dimension == i64::MIN {
                TileSize::Combine
            } else {
                let size = checked::narrow(dimension, "a tile size")?;
                TileSize::Size(NonZeroU64::new(size).ok_or(Error::zero_tile(0, entry))?)
            });
        }
        Tile::from_entries(&entries)
    }

    /// The entries, major to minor.
    #[must_use]
    pub fn entries(&self) -> &[TileSize] {
        &self.0
    }
}

/// `SC(1:50,200)`: one dimension divided among several memories.
///
/// ```
/// use tensor_layout::tiled::{Layout, SplitConfig};
///
/// // Dimension 1 is divided among three memories, before the indices 4 and 8.
/// let split = SplitConfig::new(1, &[4, 8]);
/// assert_eq!((split.dimension(), split.indices()), (1, &[4, 8][..]));
/// let layout = Layout::row_major(2).with_split_configs(&[split]);
/// assert_eq!(layout.split_configs().len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    dimension: u64,
    indices: Vec<u64>,
}

impl SplitConfig {
    /// A division of the *physical* dimension `dimension` (0 is the major-most), in front of each
    /// of these indices.
    #[must_use]
    pub fn new(dimension: u64, indices: &[u64]) -> SplitConfig {
        SplitConfig { dimension, indices: indices.to_vec() }
    }

    /// Which physical dimension is divided; 0 is the major-most.
    #[must_use]
    pub fn dimension(&self) -> u64 {
        self.dimension
    }

    /// The indices at which a new part begins.
    #[must_use]
    pub fn indices(&self) -> &[u64] {
        &self.indices
    }
}

/// How the dimensions of an array are in memory: their order, tiles, and what goes with them.
///
/// Every part has XLA's default until set: no tiles, a tail alignment of 1, the data type's own
/// storage width, memory space 0, no divisions among memories, no bytes in front of the data.
///
/// ```
/// use tensor_layout::tiled::{Layout, Tile};
///
/// let layout = Layout::new(&[1, 0])?.with_tiles(&[Tile::new(&[8, 128])?, Tile::new(&[2, 1])?]);
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    minor_to_major: SmallVec<[usize; 8]>,
    tiles: SmallVec<[Tile; 2]>,
    tail_padding_alignment: u64,
    element_bits: Option<u32>,
    memory_space: u64,
    split_configs: Vec<SplitConfig>,
    metadata_prefix_bytes: u64,
    index_type: Option<DataType>,
    pointer_type: Option<DataType>,
}

impl Layout {
    /// An untiled layout: `minor_to_major` lists the dimensions, the fastest first.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`] or [`ArgumentRule::NotAPermutation`](crate::ArgumentRule::NotAPermutation).
    ///
    /// ```
    /// use tensor_layout::{tiled::{Layout, Tile}, DataType};
    ///
    /// let layout = Layout::row_major(2)
    ///     .with_minor_to_major(&[0, 1])?
    ///     .with_tiles(&[Tile::new(&[8, 128])?])
    ///     .with_tail_padding_alignment(1024)?
    ///     .with_element_bits(4)
    ///     .with_memory_space(1)?
    ///     .with_metadata_prefix_bytes(4)
    ///     .with_index_type(Some(DataType::U32))?
    ///     .with_pointer_type(Some(DataType::U32))?;
    /// assert_eq!((layout.minor_to_major(), layout.tiles().len()), (&[0, 1][..], 1));
    /// assert_eq!((layout.tail_padding_alignment(), layout.element_bits(), layout.memory_space()), (1024, Some(4), 1));
    /// assert_eq!(layout.metadata_prefix_bytes(), 4);
    /// assert_eq!((layout.index_type(), layout.pointer_type()), (Some(DataType::U32), Some(DataType::U32)));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn new(minor_to_major: &[usize]) -> Result<Layout, Error> {
        let rank = minor_to_major.len();
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
        for (position, &axis) in minor_to_major.iter().enumerate() {
            match seen.get_mut(axis) {
                None => return Err(Error::AxisOutOfRange { axis, rank }),
                Some(true) => return Err(Error::not_a_permutation("minor_to_major", position, axis)),
                Some(seen) => *seen = true,
            }
        }
        Ok(Self::unchecked(SmallVec::from_slice(minor_to_major)))
    }

    /// XLA's default: the last dimension is the fastest, no tiles.
    #[must_use]
    pub fn row_major(rank: usize) -> Layout {
        Self::unchecked((0..rank).rev().collect())
    }

    fn unchecked(minor_to_major: SmallVec<[usize; 8]>) -> Layout {
        Layout {
            minor_to_major,
            tiles: SmallVec::new(),
            tail_padding_alignment: 1,
            element_bits: None,
            memory_space: 0,
            split_configs: Vec::new(),
            metadata_prefix_bytes: 0,
            index_type: None,
            pointer_type: None,
        }
    }

    /// The same layout with the dimensions in another order.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`] or [`ArgumentRule::NotAPermutation`](crate::ArgumentRule::NotAPermutation).
    pub fn with_minor_to_major(self, minor_to_major: &[usize]) -> Result<Layout, Error> {
        let minor_to_major = Self::new(minor_to_major)?.minor_to_major;
        Ok(Layout { minor_to_major, ..self })
    }

    /// The same layout with these tiles, the outermost first: `T(8,128)(2,1)`.
    #[must_use]
    pub fn with_tiles(self, tiles: &[Tile]) -> Layout {
        Layout { tiles: tiles.iter().cloned().collect(), ..self }
    }

    /// The same layout with its end padded to a multiple of `elements`: `L(n)`.
    ///
    /// # Errors
    ///
    /// [`ArgumentRule::ZeroTailAlignment`](crate::ArgumentRule::ZeroTailAlignment).
    pub fn with_tail_padding_alignment(self, elements: u64) -> Result<Layout, Error> {
        if elements == 0 {
            return Err(ArgumentRule::ZeroTailAlignment.by(0, 0));
        }
        Ok(Layout { tail_padding_alignment: elements, ..self })
    }

    /// The same layout with `bits` bits for each element: `E(n)`; 0 for the data type's own width.
    #[must_use]
    pub fn with_element_bits(self, bits: u32) -> Layout {
        Layout { element_bits: (bits != 0).then_some(bits), ..self }
    }

    /// The same layout in another memory: `S(n)`; 0 is the default memory, 1 a TPU's VMEM, 5 the host's.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfLimits`] above 127: XLA keeps the number in 8 bits with a sign.
    pub fn with_memory_space(self, memory_space: u64) -> Result<Layout, Error> {
        if memory_space > MAX_MEMORY_SPACE {
            let (value, max) = (memory_space, MAX_MEMORY_SPACE);
            return Err(Error::OutOfLimits { what: "the memory space", value, min: 0, max });
        }
        Ok(Layout { memory_space, ..self })
    }

    /// The same layout with dimensions divided among memories: `SC(1:50,200)`.
    ///
    /// ```
    /// use tensor_layout::tiled::{Layout, SplitConfig};
    ///
    /// let layout = Layout::row_major(2).with_split_configs(&[SplitConfig::new(1, &[4])]);
    /// assert_eq!(layout.split_configs()[0].indices(), [4]);
    /// ```
    #[must_use]
    pub fn with_split_configs(self, split_configs: &[SplitConfig]) -> Layout {
        Layout { split_configs: split_configs.to_vec(), ..self }
    }

    /// The same layout with `bytes` in front of the data for the sizes of its dynamic dimensions: `M(n)`.
    #[must_use]
    pub fn with_metadata_prefix_bytes(self, bytes: u64) -> Layout {
        Layout { metadata_prefix_bytes: bytes, ..self }
    }

    /// The same layout with a type for the indices of a sparse array, `#(u32)`. A dense array
    /// carries it without any meaning.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedDataType`] unless it is an unsigned integer.
    pub fn with_index_type(self, data_type: Option<DataType>) -> Result<Layout, Error> {
        unsigned(data_type).map(|index_type| Layout { index_type, ..self })
    }

    /// The same layout with a type for the pointers of a sparse array, `*(u32)`. A dense array
    /// carries it without any meaning.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedDataType`] unless it is an unsigned integer.
    pub fn with_pointer_type(self, data_type: Option<DataType>) -> Result<Layout, Error> {
        unsigned(data_type).map(|pointer_type| Layout { pointer_type, ..self })
    }

    /// The dimensions, the fastest first.
    #[must_use]
    pub fn minor_to_major(&self) -> &[usize] {
        &self.minor_to_major
    }

    /// The tiles, the outermost first.
    #[must_use]
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// The number of elements the end of the buffer is padded to a multiple of: 1 by default.
    #[must_use]
    pub fn tail_padding_alignment(&self) -> u64 {
        self.tail_padding_alignment
    }

    /// The bits of an element where the layout sets them.
    #[must_use]
    pub fn element_bits(&self) -> Option<u32> {
        self.element_bits
    }

    /// The memory the buffer is in: 0 by default.
    #[must_use]
    pub fn memory_space(&self) -> u64 {
        self.memory_space
    }

    /// The dimensions divided among memories: none by default.
    #[must_use]
    pub fn split_configs(&self) -> &[SplitConfig] {
        &self.split_configs
    }

    /// The bytes in front of the data: 0 by default.
    #[must_use]
    pub fn metadata_prefix_bytes(&self) -> u64 {
        self.metadata_prefix_bytes
    }

    /// The type of a sparse array's indices, where the layout names one.
    #[must_use]
    pub fn index_type(&self) -> Option<DataType> {
        self.index_type
    }

    /// The type of a sparse array's pointers, where the layout names one.
    #[must_use]
    pub fn pointer_type(&self) -> Option<DataType> {
        self.pointer_type
    }
}

fn unsigned(data_type: Option<DataType>) -> Result<Option<DataType>, Error> {
    match data_type {
        Some(data_type) if data_type.kind() != ElementKind::Unsigned => {
            Err(Error::UnsupportedDataType { data_type: data_type.xla_name(), by: "an index or pointer type".into() })
        }
        _ => Ok(data_type),
    }
}
