//! `Layout`: a layout as one value, whatever its text is.
//!
//! Nearly every layout is one index map. Some are more: a block table has a map for each run of blocks,
//! values with scales have a map for each plane, a tuple has arrays, and an axis may run backwards. All of
//! them are planes of parts, and each question is answered over the parts:
//!
//! ```text
//! f32[2,3]:[5,1]                            1 plane, 1 part
//! sglang.packed_vnni2:bf16[48,32]           1 plane, 2 parts    0:32 | 32:48
//! kv:LBNHC:bf16[L=2,B=[3,0]/4,..]           1 plane, 2 parts    B 0:1 -> block 3 | B 1:2 -> block 0
//! f4e2m1fn[128,320] with f8e8m0fnu per 32   2 planes            values, scales of 32 values each
//! ndarray(.., strides=(-12,4))              1 plane, 1 part     axis 0 runs backwards
//! (f32[2]{0}, s8[3]{0})                     2 planes            elements {0} and {1}
//! frame.nv12:u8[1080,1920]                  3 planes            y, and u and v of [540,960]
//! kv page B=8 { conv: .., ssm: .. } to ..   2 planes            conv and ssm, by page
//! ```
//!
//! A view that no notation writes has the text of the layout that it is a view of, and the options of the
//! command `view`: `sglang.packed_vnni2:bf16[48,32] --slice 16:40,:`.
//!
//! The parts of a plane hold each index exactly once.
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::as_conversions)]

#[cfg(feature = "relayout")]
mod copies;
#[cfg(feature = "relayout")]
mod fields;
mod frame;
#[cfg(feature = "relayout")]
mod group_copy;
#[cfg(feature = "relayout")]
mod pixels;
mod places;
mod read;
mod same;
mod upload;
mod view;
mod whole;
mod write;

use core::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, OnceLock};

use smallvec::SmallVec;
use tensor_layout::strided::{BlockTensorDesc, BufferTensorDesc};
use tensor_layout::tiled::Shape;
use tensor_layout::{AnyLayout, ArrayShape, Error, IndexMap, ToIndexMap};

use crate::kv::{KvCache, PageField, Pages};
use crate::named::NamedLayout;
use crate::notation::{Notation, ViewStep};

pub use crate::part::Part;
#[cfg(feature = "relayout")]
pub use copies::{Copies, PartCopy, copies, in_own_bytes};
pub use frame::{Frame, FrameFormat, frames};
pub use places::Place;
pub use same::Difference;
pub use upload::{Bound, bound_as};
pub use view::step_of_scales;

/// A layout in any notation: planes of parts.
///
/// `FromStr` reads every notation of this crate, and `Display` writes the layout in the notation that was
/// read. The [module](self) says what has several planes or parts.
///
/// ```
/// use tensor_layout_text::layout::{Layout, Role};
///
/// let table: Layout = "kv:LBNHC:bf16[L=2,B=[3,0]/4,H=2,N=4,C=8]".parse()?;
/// assert_eq!((table.planes().len(), table.values().parts().len()), (1, 2));
/// assert_eq!(table.values().place(&[1, 1, 1, 3, 7])?.offset, 319);
///
/// let weights: Layout = "f4e2m1fn[128,320] with f8e8m0fnu per 32".parse()?;
/// assert_eq!(weights.planes()[1].role(), &Role::Scales { per: vec![1, 32] });
/// assert_eq!(weights.to_string(), "f4e2m1fn[128,320]:[320,1] with f8e8m0fnu[128,10]:[10,1] per 32");
///
/// let rows: Layout = "ndarray(shape=(2,3), dtype=float32, strides=(-12,4))".parse()?;
/// assert_eq!((rows.values().reversed(), rows.values().place(&[0, 0])?.offset), (&[0][..], 3));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The values first, then their scales; or the elements of a tuple that are no tuples.
    planes: SmallVec<[Plane; 1]>,
    /// What the planes are the planes of, if that is more than values and their scales.
    of: Option<Box<Whole>>,
}

/// What some planes are the planes of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Whole {
    /// A tuple, or a value without elements.
    Shape(Shape),
    Frame(Frame),
    Pages(Pages),
    /// The steps from a layout to a view of it that has no text of its own.
    View(Arc<Layout>, Vec<ViewStep>),
}

/// One plane of a [`Layout`]: a tensor in a buffer of its own, or in a place of its own in one buffer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plane {
    /// The sizes, in values.
    sizes: Vec<u64>,
    /// Empty for a plane that no index map describes: a divided array, or a value without elements. A block
    /// table makes its parts when they are needed.
    parts: SmallVec<[Part; 1]>,
    blocks: Option<BlockTensorDesc>,
    reversed: Vec<usize>,
    role: Role,
    /// The name of the records that hold this plane and others, `ggml.q8_0x4` of `ggml.q8_0x4.qs`.
    records: Option<String>,
    /// The four numbers of groups of scales and then values, and the bits that are flipped in the values.
    groups: Option<([u64; 4], u8)>,
    written: Written,
}

/// What a plane holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The values of the tensor.
    Values,
    /// The scales of the values.
    Scales {
        /// The number of values of each axis that have one scale.
        per: Vec<u64>,
    },
    /// One component of the pixels of a [frame](Frame).
    Component {
        /// The name: y, u, v or a.
        name: char,
        /// The number of rows and columns of pixels that have one element.
        per: Vec<u64>,
    },
    /// One kind of state of [pages](Pages).
    Field {
        /// The name of the field.
        name: String,
    },
    /// An element of a tuple.
    Element {
        /// The index of the element, with a number for each tuple around it.
        path: Vec<usize>,
    },
}

/// What the text of a plane is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Written {
    /// A layout in a notation, which makes the text unless it is kept.
    One {
        layout: AnyLayout,
        notation: Notation,
        text: Kept,
    },
    /// A name of several parts, or a view without a text of its own.
    Parts(Kept),
    Table(Box<Table>),
    /// A value without elements, or without a size.
    Shape(Shape),
}

/// A cache whose blocks lie in several places. Its parts follow from it, and a copy between two caches needs
/// none of them.
#[derive(Debug, Clone)]
struct Table {
    cache: KvCache,
    parts: OnceLock<Vec<Part>>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.cache == other.cache
    }
}

impl Eq for Table {}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cache.hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kept {
    None,
    Text(String),
    /// A cache, whose text is written when it is asked for.
    Cache(Box<KvCache>),
}

impl Kept {
    fn text(&self) -> Option<String> {
        match self {
            Kept::None => None,
            Kept::Text(text) => Some(text.clone()),
            Kept::Cache(cache) => Some(cache.to_string()),
        }
    }
}

impl From<Option<String>> for Kept {
    fn from(text: Option<String>) -> Kept {
        text.map_or(Kept::None, Kept::Text)
    }
}

impl Layout {
    /// The planes: the values first, then their scales; or the elements of a tuple that are no tuples.
    #[must_use]
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The plane of the values. Of a tuple it is the first element.
    #[must_use]
    pub fn values(&self) -> &Plane {
        static OF_AN_EMPTY_TUPLE: LazyLock<Plane> = LazyLock::new(Plane::default);
        self.planes.first().unwrap_or(&OF_AN_EMPTY_TUPLE)
    }

    /// The sizes, in values.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        self.values().sizes()
    }

    /// The shape of a tuple, or of a value of XLA without elements. `None` for every other layout.
    #[must_use]
    pub fn shape(&self) -> Option<&Shape> {
        if let Some(Whole::Shape(shape)) = self.of.as_deref() { Some(shape) } else { None }
    }

    /// Returns a layout along some axes of which the tensor runs backwards, in ascending order. `layout`
    /// describes the elements from the lowest address on, as [`Plane::reversed`] says.
    #[must_use]
    pub fn turned(layout: AnyLayout, reversed: Vec<usize>) -> Layout {
        let mut turned = Layout::from(layout);
        turned.planes.iter_mut().for_each(|plane| plane.reversed.clone_from(&reversed));
        turned
    }

    /// The plane of a component of a frame, or of a field of pages, by its name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&Plane> {
        self.planes.iter().find(|plane| plane.role.name().is_some_and(|own| own == name))
    }

    /// The frame whose planes these are. `None` for every other layout, and for a view of a frame.
    #[must_use]
    pub fn frame(&self) -> Option<&Frame> {
        if let Some(Whole::Frame(frame)) = self.of.as_deref() { Some(frame) } else { None }
    }

    /// The pages whose fields these planes are. `None` for every other layout.
    #[must_use]
    pub fn pages(&self) -> Option<&Pages> {
        if let Some(Whole::Pages(pages)) = self.of.as_deref() { Some(pages) } else { None }
    }

    /// The cache of one order that this layout is. `None` for every other layout, and for a view of a cache.
    #[must_use]
    pub fn cache(&self) -> Option<&KvCache> {
        match self.planes.as_slice() {
            [plane] if plane.reversed.is_empty() => plane.cache(),
            _ => None,
        }
    }

    pub(crate) fn of(plane: Plane) -> Layout {
        Layout { planes: SmallVec::from_iter([plane]), of: None }
    }

    fn with(planes: SmallVec<[Plane; 1]>, of: Whole) -> Layout {
        Layout { planes, of: Some(Box::new(of)) }
    }
}

impl Default for Plane {
    fn default() -> Plane {
        let (sizes, parts, blocks, reversed) = (Vec::new(), SmallVec::new(), None, Vec::new());
        let (role, written) = (Role::Values, Written::Parts(Kept::None));
        Plane { sizes, parts, blocks, reversed, role, records: None, groups: None, written }
    }
}

impl Plane {
    /// Returns a plane with one layout, which `text` writes in a notation.
    fn one(layout: AnyLayout, notation: Notation, text: impl Into<Kept>) -> Plane {
        let map = layout.to_index_map().ok();
        let sizes = match (&map, &layout) {
            (Some(map), _) => map.sizes().to_vec(),
            (None, AnyLayout::Tiled(shape)) => shape.sizes().to_vec(),
            (None, AnyLayout::Strided(desc)) => desc.sizes().to_vec(),
            (None, AnyLayout::Mapped(map)) => map.sizes().to_vec(),
        };
        let written = Written::One { layout, notation, text: text.into() };
        let parts = map.map(Part::whole).into_iter().collect();
        Plane { sizes, parts, written, ..Plane::default() }
    }

    /// Returns a plane with one layout that has a name, which `text` begins with.
    fn named(layout: AnyLayout, text: String) -> Plane {
        Plane { records: records(&text), ..Plane::one(layout, Notation::Named, Some(text)) }
    }

    fn in_parts(sizes: Vec<u64>, parts: impl Into<SmallVec<[Part; 1]>>, text: impl Into<Kept>) -> Plane {
        Plane { sizes, parts: parts.into(), written: Written::Parts(text.into()), ..Plane::default() }
    }

    /// The sizes, in values.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The parts, which hold each index once: one, unless no single index map describes the plane. There is
    /// none for an array that is divided among memories, and for a value without elements.
    ///
    /// The part of a tensor of blocks is that of its bytes.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        match &self.written {
            Written::Table(table) => table.parts.get_or_init(|| table.cache.parts()),
            _ => &self.parts,
        }
    }

    fn part_count(&self) -> usize {
        if let Written::Table(table) = &self.written { table.cache.run_count() } else { self.parts.len() }
    }

    /// The maps of the parts, or the map of all blocks of a block table, which has the same buffer.
    fn maps(&self) -> impl Iterator<Item = &IndexMap> {
        let of_table = if let Written::Table(table) = &self.written { Some(table.cache.all_blocks()) } else { None };
        of_table.into_iter().chain(self.parts.iter().map(|part| &part.map))
    }

    /// The tensor of blocks whose bytes the parts have.
    #[must_use]
    pub fn blocks(&self) -> Option<&BlockTensorDesc> {
        self.blocks.as_ref()
    }

    /// The axes that run backwards, in ascending order. The parts describe the elements from the lowest
    /// address on: index 0 of such an axis is stored where the part has the last index.
    #[must_use]
    pub fn reversed(&self) -> &[usize] {
        &self.reversed
    }

    /// What the plane holds.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// The start of the plane's buffer must be a multiple of this number, in bytes. The number is 1 except
    /// for some named layouts.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.maps().map(IndexMap::alignment).max().unwrap_or(1)
    }

    /// Whether the plane has elements: a token, an opaque value and an array without a size have none.
    #[must_use]
    pub fn has_elements(&self) -> bool {
        !matches!(self.written, Written::Shape(_))
    }

    /// The name of the type of an element, or of the block type. Empty for a value without elements.
    #[must_use]
    pub fn type_name(&self) -> String {
        match (&self.blocks, &self.written, self.maps().next()) {
            (Some(blocks), ..) => blocks.block_type().to_string(),
            (None, _, Some(map)) => map.data_type().to_string(),
            (None, Written::One { layout: AnyLayout::Tiled(shape), .. }, _) => shape.data_type().to_string(),
            (None, Written::One { layout: AnyLayout::Strided(desc), .. }, _) => desc.data_type().to_string(),
            _ => String::new(),
        }
    }

    /// The size of the buffer in bytes, with everything that is stored beside the elements.
    ///
    /// # Errors
    ///
    /// `overflow` if the size passes 64 bits.
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        match &self.written {
            Written::One { layout: AnyLayout::Tiled(shape), .. } => shape.physical_size_in_bytes(),
            Written::One { layout, .. } => Ok(layout.to_index_map()?.physical_size_in_bytes()),
            _ => {
                let blocks = self.blocks.as_ref().map_or(0, |blocks| blocks.bytes().exact_size_in_bytes());
                Ok(self.maps().map(IndexMap::physical_size_in_bytes).max().unwrap_or(blocks))
            }
        }
    }
}

/// Returns the name of the records of a named layout: `ggml.q8_0x4` of `ggml.q8_0x4.qs<8>:s8[4,64]`.
fn records(text: &str) -> Option<String> {
    let (records, _) = text.split(':').next()?.rsplit_once('.')?;
    records.contains('.').then(|| records.to_owned())
}

impl From<AnyLayout> for Layout {
    /// Returns the layout in the notation of its kind. An index map has no text unless a notation writes it.
    fn from(layout: AnyLayout) -> Layout {
        let notation = match &layout {
            AnyLayout::Tiled(_) => Notation::Xla,
            AnyLayout::Strided(_) | AnyLayout::Mapped(_) => Notation::Strides,
        };
        Layout::of(Plane::one(layout, notation, None))
    }
}

impl From<BufferTensorDesc> for Layout {
    fn from(desc: BufferTensorDesc) -> Layout {
        AnyLayout::from(desc).into()
    }
}

impl From<ArrayShape> for Layout {
    fn from(shape: ArrayShape) -> Layout {
        AnyLayout::from(shape).into()
    }
}

impl From<BlockTensorDesc> for Layout {
    fn from(desc: BlockTensorDesc) -> Layout {
        let (sizes, text) = (desc.sizes().to_vec(), Some(desc.to_string()));
        let bytes = Plane::one(desc.bytes().clone().into(), Notation::Strides, text);
        Layout::of(Plane { sizes, blocks: Some(desc), ..bytes })
    }
}

/// Converts a named layout to the layout that its text is read as.
impl TryFrom<NamedLayout> for Layout {
    type Error = Error;

    fn try_from(named: NamedLayout) -> Result<Layout, Error> {
        let text = named.to_string();
        if named.has_map() {
            let layout =
                named.as_descriptor().map_or_else(|| named.to_index_map().map(AnyLayout::from), |desc| Ok(desc.into()));
            return Ok(Layout::of(Plane::named(layout?, text)));
        }
        let (sizes, blocks, groups) = (named.logical_sizes().to_vec(), named.blocks().cloned(), named.groups());
        Ok(Layout::of(Plane { blocks, groups, ..Plane::in_parts(sizes, named.parts, Some(text)) }))
    }
}

/// Converts the cache as if its text had been read.
impl From<KvCache> for Layout {
    fn from(cache: KvCache) -> Layout {
        Layout::of(match cache.to_index_map() {
            Ok(map) => Plane::one(map.into(), Notation::Named, Kept::Cache(Box::new(cache))),
            Err(_) => {
                let (sizes, parts) = (cache.sizes(), OnceLock::new());
                Plane { sizes, written: Written::Table(Box::new(Table { cache, parts })), ..Plane::default() }
            }
        })
    }
}

/// Converts the pages as if their text had been read: a plane for each field, all in one buffer.
impl TryFrom<Pages> for Layout {
    type Error = Error;

    fn try_from(pages: Pages) -> Result<Layout, Error> {
        let records = Some(pages.to_string());
        let plane = |field: &PageField| {
            let role = Role::Field { name: field.name.clone() };
            let parts = pages.parts(field)?;
            let plane = match parts.as_slice() {
                [part] => Plane::one(AnyLayout::Mapped(part.map.clone()), Notation::Strides, None),
                _ => {
                    let sizes = core::iter::once(pages.count()).chain(field.sizes.iter().copied()).collect();
                    Plane::in_parts(sizes, parts, Some(pages.alone(field).to_string()))
                }
            };
            Ok(Plane { role, records: records.clone(), ..plane })
        };
        let planes = pages.fields().iter().map(plane).collect::<Result<_, Error>>()?;
        Ok(Layout::with(planes, Whole::Pages(pages)))
    }
}
