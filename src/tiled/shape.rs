//! `Shape`: the shape of any XLA value.

use alloc::vec;
use alloc::vec::Vec;

use crate::element::DataType;

use super::array::ArrayShape;
use super::layout::Layout;

/// The shape of any XLA value: an array, a tuple of shapes, or one of the shapes without elements.
///
/// Shapes are read and printed as in XLA, with a comment in front of every fifth element of a tuple.
///
/// ```
/// use tensor_layout::tiled::Shape;
///
/// let shape: Shape = "(f32[3,5]{1,0:T(8,128)}, token[], (), b(u8[16]{0}))".parse()?;
/// let Shape::Tuple(elements) = &shape else { panic!() };
/// assert_eq!(elements.len(), 4);
/// assert_eq!(shape.to_string(), "(f32[3,5]{1,0:T(8,128)}, token[], (), b(u8[16]{0}))");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// `f32[3,5]{1,0}`: an array whose elements have known offsets.
    Array(ArrayShape),
    /// `f32[?,5]{1,0}`: an array with a dimension that has no bound, and therefore without a size.
    Unbounded(UnboundedArray),
    /// `(f32[], s32[])`: a tuple of several values.
    Tuple(Vec<Shape>),
    /// `token[]`: a value that orders side effects.
    Token,
    /// `opaque[]`: a value that only the backend understands.
    Opaque,
    /// `b(f32[3,5]{1,0})`: a buffer that holds an array.
    Buffer(ArrayShape),
}

impl Shape {
    /// Returns the arrays inside this shape that are stored in memory, each with the tuple indices
    /// that lead to it.
    #[must_use]
    pub fn arrays(&self) -> Vec<(Vec<usize>, &ArrayShape)> {
        let mut found = Vec::new();
        // The shapes that are still to be visited. The next shape is the last one of the stack.
        let mut stack = vec![(Vec::new(), self)];
        while let Some((path, shape)) = stack.pop() {
            match shape {
                Shape::Array(array) | Shape::Buffer(array) => found.push((path, array)),
                Shape::Tuple(elements) => {
                    for (index, element) in elements.iter().enumerate().rev() {
                        let mut inner = path.clone();
                        inner.push(index);
                        stack.push((inner, element));
                    }
                }
                Shape::Unbounded(_) | Shape::Token | Shape::Opaque => {}
            }
        }
        found
    }
}

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Shape {
        Shape::Array(array)
    }
}

/// The size of a dimension, which may have no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// `5`: a size that is known when the program is compiled.
    Static(u64),
    /// `<=5`: a size that is known when the program runs, with an upper bound.
    Bounded(u64),
    /// `?`: a size that is known when the program runs, without a bound.
    Unbounded,
}

impl Extent {
    pub(super) fn bound(&self) -> Option<u64> {
        match *self {
            Extent::Static(size) | Extent::Bounded(size) => Some(size),
            Extent::Unbounded => None,
        }
    }
}

/// An array with at least one dimension that has no bound. It has a layout, but no size and no offsets, so it
/// is another type than [`ArrayShape`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnboundedArray {
    /// The type of an element.
    pub data_type: DataType,
    /// For each dimension, its size, its bound, or the fact that it has no bound.
    pub extents: Vec<Extent>,
    /// The layout: the order of the dimensions in memory, and the tiles.
    pub layout: Layout,
}
