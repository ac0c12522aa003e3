//! `whole`: the one index map of a layout, or why there is none.

use std::borrow::Cow;

use tensor_layout::plan::counted;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::tiled::Shape;
use tensor_layout::{AnyLayout, BufferTensorDesc, Error, IndexMap, ToIndexMap};

use crate::kv::KvCache;

use super::{Kept, Layout, Plane, Role, Written};

impl Layout {
    /// Returns the one index map of the layout, for what needs one: an upload, a shader, a fingerprint.
    ///
    /// # Errors
    ///
    /// `not_expressible` if the layout has several planes or parts, or an axis that runs backwards. The
    /// sentence says what the layout has, and which commands take it.
    ///
    /// ```
    /// use tensor_layout_text::layout::Layout;
    ///
    /// assert_eq!("f32[2,3]:[5,1]".parse::<Layout>()?.whole()?.strides(), Some(vec![5, 1]));
    /// let error = "sglang.packed_vnni2:bf16[48,32]".parse::<Layout>()?.whole().unwrap_err();
    /// assert_eq!(error.to_string(), "no single index map describes this layout: it lies in 2 parts, each with a map of its \
    ///     own, which describe, offset, check, same, view, draw and convert take");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn whole(&self) -> Result<&IndexMap, Error> {
        match self.planes.as_slice() {
            [plane] if !self.is_tuple() => plane.whole(),
            planes => {
                let count = counted(planes.len(), if self.is_tuple() { "element" } else { "plane" });
                match self.frame().is_some() {
                    true => Err(Error::not_expressible(
                        "single index map",
                        format!(
                            "a frame has {count}, each with a map of its own, which describe, offset, check, same, draw and convert take"
                        ),
                    )),
                    false => Err(refused(format!("it has {count}, each with a map of its own"))),
                }
            }
        }
    }

    /// The one plane of a layout, with its layout in the crate's own types.
    ///
    /// # Errors
    ///
    /// The errors of [`whole`](Self::whole), but not for an array that is divided among memories.
    pub fn any(&self) -> Result<&AnyLayout, Error> {
        match self.planes.as_slice() {
            [Plane { written: Written::One { layout, .. }, reversed, .. }] if reversed.is_empty() => Ok(layout),
            _ => Err(self.whole().err().unwrap_or_else(|| self.values().why_without_map())),
        }
    }

    /// Whether this is a tuple, or another value of XLA that is no array.
    #[must_use]
    pub fn is_tuple(&self) -> bool {
        self.shape().is_some()
    }

    /// The tensor of blocks, if the layout is one. Its index map is that of the bytes.
    #[must_use]
    pub fn blocks(&self) -> Option<&BlockTensorDesc> {
        self.values().blocks()
    }
}

impl Plane {
    /// Returns the one index map of the plane.
    ///
    /// # Errors
    ///
    /// `not_expressible` if the plane has several parts, or an axis that runs backwards.
    pub fn whole(&self) -> Result<&IndexMap, Error> {
        match (self.part_count(), self.parts.first(), self.reversed.first()) {
            (1, Some(part), None) => Ok(&part.map),
            (1, _, Some(axis)) => Err(refused(format!("axis {axis} runs backwards"))),
            (0, ..) => Err(self.why_without_map()),
            (count, ..) => Err(refused(format!("it lies in {count} parts, each with a map of its own"))),
        }
    }

    /// The cache that the plane is, from the lowest address on.
    pub(super) fn cache(&self) -> Option<&KvCache> {
        match &self.written {
            Written::One { text: Kept::Cache(cache), .. } => Some(cache),
            Written::Table(table) => Some(&table.cache),
            _ => None,
        }
    }

    pub(super) fn why_without_map(&self) -> Error {
        let none = || Error::not_expressible("single index map", "it is a value without elements");
        match &self.written {
            Written::One { layout, .. } => layout.to_index_map().err().unwrap_or_else(none),
            Written::Parts(Kept::Text(text)) => {
                let reason = format!("{text} stores the bits of blocks in groups of rows, so no element has one place");
                Error::not_expressible("single index map", reason)
            }
            Written::Parts(_) | Written::Table(_) | Written::Shape(_) => none(),
        }
    }

    /// The layout in the crate's own types, from the lowest address on. `None` for a plane of several parts,
    /// and for a value without elements.
    #[must_use]
    pub fn any(&self) -> Option<&AnyLayout> {
        if let Written::One { layout, .. } = &self.written { Some(layout) } else { None }
    }
}

impl Plane {
    /// The shape of a value of XLA without elements, or without a size. `None` for a plane with elements.
    #[must_use]
    pub fn shape(&self) -> Option<&Shape> {
        if let Written::Shape(shape) = &self.written { Some(shape) } else { None }
    }
}

fn refused(reason: String) -> Error {
    let takers = "describe, offset, check, same, view, draw and convert take";
    Error::not_expressible("single index map", format!("{reason}, which {takers}"))
}

impl ToIndexMap for Layout {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.whole().cloned()
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        self.any().ok()?.as_descriptor()
    }

    fn as_blocks(&self) -> Option<&BlockTensorDesc> {
        self.blocks()
    }
}

/// A plane is its index map, if it has one.
impl ToIndexMap for Plane {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.whole().cloned()
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        self.any().filter(|_| self.reversed.is_empty())?.as_descriptor()
    }

    fn as_blocks(&self) -> Option<&BlockTensorDesc> {
        self.blocks.as_ref()
    }
}

impl Role {
    /// The name of a component of a frame or of a field of pages. `None` for every other role.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Role::Component { name, .. } => Some(name.to_string().into()),
            Role::Field { name } => Some(name.into()),
            _ => None,
        }
    }

    /// The word for an element of the plane: `value` or `scale`.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self {
            Role::Scales { .. } => "scale",
            Role::Component { .. } => "component",
            Role::Field { .. } => "field",
            Role::Values => "value",
            Role::Element { .. } => "element",
        }
    }
}
