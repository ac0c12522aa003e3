//! `Layout` and `Tile`: the order of the dimensions in memory, and the blocks that tiles cut them into.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use smallvec::SmallVec;

use crate::checked;
use crate::element::{DataType, ElementKind};
use crate::error::{Code, Error};

/// The largest number of a memory space. XLA stores the number in a signed integer of 8 bits.
pub(super) const MAX_MEMORY_SPACE: u64 = 127;

/// Returns the name of the memory space `S(n)` in TPU dumps, or `None` for an unknown memory space.
/// | n | name | holds | source |
/// |---|---|---|---|
/// | 0 | HBM | everything without an `S`; on other devices, simply their memory | XLA's page *Shapes and layout* |
/// | 1 | VMEM | the vector units' memory | the same page |
/// | 2 | SFLAG | flags that asynchronous copies wait for (JAX: `SEMAPHORE_MEM`) | JAX's `tpu_custom_call`, libtpu 0.0.51 |
/// | 3 | CMEM | v4's common memory of 128 MiB, where others use VMEM | what libtpu 0.0.52 writes for v4; XProf's *Memory Viewer* has the name |
/// | 4 | SMEM | the scalar unit's memory | JAX's `tpu_custom_call` |
/// | 5 | host | the host's memory | XLA's page |
/// | 6 | SREG | scalars that stay in the scalar unit's registers: no memory | what libtpu 0.0.51 generates for them |
/// | 8 | SparseCore SFLAG | the flags of a SparseCore's scalar unit (JAX: `SC_SCALAR_SEMAPHORE_MEM`) | JAX's `tpu_custom_call` |
/// | 10, 11, 15 | SparseCore offload | operands and results of operations that a SparseCore runs | what libtpu 0.0.52 writes |
///
/// ```
/// use tensor_layout::tiled::memory_space_name;
///
/// assert_eq!(memory_space_name(1), Some("VMEM"));
/// assert_eq!((memory_space_name(2), memory_space_name(6)), (Some("SFLAG"), Some("SREG")));
/// assert_eq!((memory_space_name(3), memory_space_name(7)), (Some("CMEM"), None));
/// ```
#[cfg(feature = "plan")]
#[doc(hidden)]
#[must_use]
pub fn memory_space_name(memory_space: u64) -> Option<&'static str> {
    match memory_space {
        0 => Some("HBM"),
        1 => Some("VMEM"),
        2 => Some("SFLAG"),
        3 => Some("CMEM"),
        4 => Some("SMEM"),
        5 => Some("host"),
        6 => Some("SREG"),
        8 => Some("SparseCore SFLAG"),
        10 | 11 | 15 => Some("SparseCore offload"),
        _ => None,
    }
}

/// One entry of a tile: the size of a block, or `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TileSize {
    /// The dimension is cut into blocks of this many elements.
    Size(NonZeroU64),
    /// `*`: the dimension is joined with the next minor dimension, before the next dimension is cut.
    Combine,
}

/// One tile: the sizes of the blocks that the minor-most dimensions are cut into, major to minor.
///
/// ```
/// use tensor_layout::tiled::Tile;
///
/// let tile = Tile::new(&[8, 128])?;
/// assert_eq!((tile.to_string().as_str(), tile.entries().len()), ("(8,128)", 2));
/// // XLA's own numbers for `*` are i64::MIN today and -1 in its documents.
/// assert_eq!(Tile::try_from(&[-1, i64::MIN, 2][..])?.to_string(), "(*,*,2)");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tile(SmallVec<[TileSize; 3]>);

impl Tile {
    /// Returns a tile of blocks of these sizes, without `*`.
    ///
    /// # Errors
    ///
    /// `zero_tile` if a size is 0.
    pub fn new(sizes: &[u64]) -> Result<Tile, Error> {
        let entry = |(entry, &size)| {
            NonZeroU64::new(size).map(TileSize::Size).ok_or_else(|| Code::ZeroTile.on_axis(entry, 0, 0))
        };
        sizes.iter().enumerate().map(entry).collect::<Result<_, _>>().map(Tile)
    }

    pub(crate) fn from_entries(entries: &[TileSize]) -> Result<Tile, Error> {
        match entries.last() {
            Some(TileSize::Combine) => Err(Code::TrailingCombine.for_value(0, 0)),
            _ => Ok(Tile(SmallVec::from_slice(entries))),
        }
    }

    /// The entries of the tile, major to minor.
    #[must_use]
    pub fn entries(&self) -> &[TileSize] {
        &self.0
    }
}

impl TryFrom<&[i64]> for Tile {
    type Error = Error;

    /// Converts a tile from XLA's numbers, where -1 and `i64::MIN` both mean `*`.
    ///
    /// # Errors
    ///
    /// `zero_tile` for a 0, `trailing_combine` for `*` at the end, `overflow` for other negative numbers.
    fn try_from(dimensions: &[i64]) -> Result<Tile, Error> {
        let mut entries = SmallVec::<[TileSize; 3]>::new();
        for (entry, &dimension) in dimensions.iter().enumerate() {
            entries.push(if dimension == -1 || dimension == i64::MIN {
                TileSize::Combine
            } else {
                let size = checked::narrow(dimension, "a tile size")?;
                TileSize::Size(NonZeroU64::new(size).ok_or_else(|| Code::ZeroTile.on_axis(entry, 0, 0))?)
            });
        }
        Tile::from_entries(&entries)
    }
}

/// One dimension that is divided among several memories, with the text `SC(1:50,200)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The number of the *physical* dimension that is divided. 0 is the major-most dimension.
    pub dimension: u64,
    /// The indices where a new part begins, in ascending order.
    pub indices: Vec<u64>,
}

/// The layout of an array in memory: the order of its dimensions, its tiles, and further attributes.
///
/// Every attribute has XLA's default until the attribute is set. The constructors of
/// [`ArrayShape`](super::ArrayShape) check the attributes.
///
/// ```
/// use tensor_layout::{tiled::{Layout, Tile}, DataType};
///
/// let mut layout = Layout::new(&[1, 0])?.with_tiles(&[Tile::new(&[8, 128])?, Tile::new(&[2, 1])?]);
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)}");
/// layout.tail_padding_alignment = 1024;
/// layout.memory_space = 1;
/// layout.metadata_prefix_bytes = 4;
/// layout.index_type = Some(DataType::U32);
/// layout.pointer_type = Some(DataType::U32);
/// layout.element_bits = Some(4);
/// assert_eq!((layout.minor_to_major(), layout.tiles().len()), (&[1, 0][..], 2));
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)L(1024)#(u32)*(u32)E(4)S(1)M(4)}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    minor_to_major: SmallVec<[usize; 8]>,
    tiles: SmallVec<[Tile; 2]>,
    /// `L(n)`: the end of the buffer is padded to a multiple of this many elements. 1 by default, never 0.
    pub tail_padding_alignment: u64,
    /// `E(n)`: the number of bits that an element takes, never 0. `None` stands for the bits of the data
    /// type, rounded up to whole bytes.
    pub element_bits: Option<u32>,
    /// `S(n)`: the memory space of the buffer. The number is at most 127, because XLA stores it in 8 bits
    /// with a sign. 0 is the default memory, 1 is a TPU's VMEM, 5 is the host's memory.
    pub memory_space: u64,
    /// `SC(1:50,200)`: the dimensions that are divided among several memories. Empty by default.
    pub split_configs: Vec<SplitConfig>,
    /// `M(n)`: the number of bytes in front of the data, which hold the sizes of dynamic
    /// dimensions. 0 by default.
    pub metadata_prefix_bytes: u64,
    /// `#(u32)`: the type of a sparse array's indices, an unsigned integer. It has no meaning
    /// for a dense array.
    pub index_type: Option<DataType>,
    /// `*(u32)`: the type of a sparse array's pointers, an unsigned integer.
    pub pointer_type: Option<DataType>,
}

impl Layout {
    /// Returns an untiled layout. `minor_to_major` lists the dimensions, the fastest dimension first.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` or `not_a_permutation` if it does not name every dimension once.
    pub fn new(minor_to_major: &[usize]) -> Result<Layout, Error> {
        Self::row_major(0).with_minor_to_major(minor_to_major)
    }

    /// Returns XLA's default layout: the last dimension is the fastest, and there are no tiles.
    #[must_use]
    pub fn row_major(rank: usize) -> Layout {
        Layout {
            minor_to_major: (0..rank).rev().collect(),
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

    /// Returns this layout with the dimensions in another order, the fastest dimension first.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn with_minor_to_major(self, minor_to_major: &[usize]) -> Result<Layout, Error> {
        checked::check_permutation("minor_to_major", minor_to_major, minor_to_major.len())?;
        Ok(Layout { minor_to_major: SmallVec::from_slice(minor_to_major), ..self })
    }

    /// Returns this layout with other tiles, the outermost tile first: `T(8,128)(2,1)`.
    #[must_use]
    pub fn with_tiles(self, tiles: &[Tile]) -> Layout {
        Layout { tiles: tiles.iter().cloned().collect(), ..self }
    }

    /// `E(n)`, where 0 stands for the data type's own width.
    pub(crate) fn with_element_bits(self, bits: u32) -> Layout {
        Layout { element_bits: (bits != 0).then_some(bits), ..self }
    }

    /// The order of the dimensions in memory: their numbers, the fastest dimension first.
    #[must_use]
    pub fn minor_to_major(&self) -> &[usize] {
        &self.minor_to_major
    }

    /// The tiles, the outermost tile first.
    #[must_use]
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Fails unless the layout has `rank` dimensions and XLA accepts all its attributes.
    pub(super) fn checked(self, rank: usize) -> Result<Layout, Error> {
        let out_of_limits = |what, value, min, max| Err(Error::out_of_limits(what, value, min, max));
        if self.minor_to_major.len() != rank {
            return Err(Error::rank_mismatch("dimensions in minor_to_major", rank, self.minor_to_major.len()));
        }
        if self.tail_padding_alignment == 0 {
            return Err(Code::ZeroTailAlignment.for_value(0, 0));
        }
        if self.element_bits == Some(0) {
            return out_of_limits("the bits of an element", 0, 1, u32::MAX.into());
        }
        if self.memory_space > MAX_MEMORY_SPACE {
            return out_of_limits("the memory space", self.memory_space, 0, MAX_MEMORY_SPACE);
        }
        let types = [self.index_type, self.pointer_type];
        let is_no_index = |data_type: &DataType| data_type.kind() != ElementKind::Unsigned || data_type.is_stream();
        match types.into_iter().flatten().find(is_no_index) {
            Some(other) => Err(Error::unsupported_data_type(other.xla_name(), "an index or pointer type")),
            None => Ok(self),
        }
    }
}
