//! `Drawn`: what a picture is drawn of.

use tensor_layout::plan::Digit;
use tensor_layout::{Error, IndexMap};

use crate::layout::Plane;

/// What a picture is drawn of: an index map, or a plane of a layout, which may have several maps. A tensor of
/// blocks is drawn as its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a>(Of<'a>);

#[derive(Debug, Clone, Copy)]
enum Of<'a> {
    Map(&'a IndexMap),
    Plane(&'a Plane),
}

impl<'a> From<&'a IndexMap> for Drawn<'a> {
    fn from(map: &'a IndexMap) -> Drawn<'a> {
        Drawn(Of::Map(map))
    }
}

impl<'a> From<&'a Plane> for Drawn<'a> {
    fn from(plane: &'a Plane) -> Drawn<'a> {
        Drawn(plane.whole().map_or(Of::Plane(plane), Of::Map))
    }
}

impl<'a> Drawn<'a> {
    /// The map, if one map without axes that run backwards says where the elements are.
    pub(super) fn map(self) -> Option<&'a IndexMap> {
        if let Of::Map(map) = self.0 { Some(map) } else { None }
    }

    pub(super) fn maps(self) -> Vec<&'a IndexMap> {
        match self.0 {
            Of::Map(map) => vec![map],
            Of::Plane(plane) => plane.parts().iter().map(|part| &part.map).collect(),
        }
    }

    pub(super) fn sizes(self) -> &'a [u64] {
        match self.0 {
            Of::Map(map) => map.sizes(),
            Of::Plane(plane) => plane.map_sizes(),
        }
    }

    pub(super) fn element_count(self) -> u64 {
        self.maps().iter().map(|map| map.element_count()).fold(0, u64::saturating_add)
    }

    pub(super) fn element_bits(self) -> u32 {
        self.maps().first().map_or(8, |map| map.element_bits())
    }

    pub(super) fn base(self) -> u64 {
        self.maps().iter().map(|map| map.base()).min().unwrap_or(0)
    }

    pub(super) fn physical_elements(self) -> u64 {
        self.maps().iter().map(|map| map.physical_elements()).max().unwrap_or(0)
    }

    pub(super) fn digits(self) -> impl Iterator<Item = &'a Digit> {
        let components = self.maps().into_iter().flat_map(IndexMap::components);
        components.flat_map(|component| component.chain.digits())
    }

    pub(super) fn offset(self, index: &[u64]) -> Result<u64, Error> {
        match self.0 {
            Of::Map(map) => map.offset(index),
            Of::Plane(plane) => plane.offset_in_map(index),
        }
    }

    pub(super) fn inverse(self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        match self.0 {
            Of::Map(map) => map.inverse(offset),
            Of::Plane(plane) => plane.index_at(offset),
        }
    }
}
